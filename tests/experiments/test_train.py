"""Training with MaskablePPO: it goes on after an interruption as if there had been none, and tells how it goes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from agents.policy import PolicyAgent
from experiments import train
from experiments.runs import parse
from experiments.train import Config, Training
from skyenv.envs.sb3 import MixedVecEnv, SkyenvVecEnv
from skyenv.errors import OptionError
from skyenv.rules.actions import NUM_ACTIONS, PASS

ROOT = Path(__file__).resolve().parent.parent.parent
TINY = {"environments": 8, "steps": 8, "batch": 32, "hidden": 16, "deals": 0, "snapshot": 2, "selves": 2, "max_turns": 12}
FLAGS = [word for name, value in TINY.items() for word in (f"--{name.replace('_', '-')}", str(value))]


def tiny(folder: Path, **changes: Any) -> Config:
    """A run of a few seconds."""
    settings: dict[str, Any] = {"run": str(folder), **TINY, "decisions": 6 * 64, "checkpoint_seconds": 1e9}
    return Config(**{**settings, **changes})


def weights(training: Training) -> bytes:
    """All parameters of the policy as bytes."""
    return b"".join(parameter.detach().numpy().tobytes() for parameter in training.learner.policy.parameters())


def told(training: Training) -> list[dict[str, Any]]:
    """The curve, less the time that it took."""
    return [{name: value for name, value in point.items() if name not in ("seconds", "pace")} for point in training.curve]


def begun(config: Config) -> Training:
    """A training that has begun, its folder made."""
    Path(config.run).mkdir(parents=True, exist_ok=True)
    training = Training(config)
    training.begin()
    return training


def parts(training: Training) -> list[SkyenvVecEnv]:
    """The environments of each kind of table."""
    return training.env.parts if isinstance(training.env, MixedVecEnv) else [training.env]


@pytest.mark.parametrize(("players", "side"), [("2", "front"), ("2,3", "front,back")])
def test_interrupted_and_resumed_is_the_same_as_never_interrupted(players: str, side: str, tmp_path: Path) -> None:
    tables: dict[str, Any] = {"players": players, "side": side}
    straight = begun(tiny(tmp_path / "straight", **tables))
    assert straight.run()

    first = begun(tiny(tmp_path / "resumed", decisions=3 * 64, **tables))
    assert first.run()
    second = Training(tiny(tmp_path / "resumed", **tables))
    torch.manual_seed(99)
    np.random.seed(99)  # what an unrelated process may have done to the generators SB3 uses
    second.load()
    guests = [agent for part in parts(second) for agent in part.core._agents]
    assert {guest.name for guest in guests} >= {"random", "greedy"}
    assert all(any(guest is member for member in second.pool.agents) for guest in guests)
    assert second.run()

    assert weights(second) == weights(straight)
    assert told(second) == told(straight)
    assert [point["decisions"] for point in second.curve] == [64 * update for update in range(1, 7)]
    assert [agent.name for agent in second.pool.selves] == ["self-4", "self-6"]
    assert second.pool.weights().tolist() == straight.pool.weights().tolist()


def test_same_seed_same_policy_other_seed_other_policy(tmp_path: Path) -> None:
    found = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        training = begun(tiny(tmp_path / name, seed=seed, decisions=2 * 64))
        training.run()
        found.append(weights(training))
    assert found[0] == found[1] != found[2]


def test_command_leaves_policy_curves_evaluation_and_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    (tmp_path / "run.toml").write_text('players = "2,3"\nhidden = 16\nlearning-rate = 1\nmax_turns = 12\ndeals = 2\n')
    arguments = ["--run", str(folder), *FLAGS, "--config", str(tmp_path / "run.toml"), "--decisions", "128", "--deals", "1"]
    assert train.main(arguments) == 0
    assert "greedy" in capsys.readouterr().out
    for name in ("model.zip", "curves.png", "evaluation.json", "evaluation-3-front.png", "games-2-front.jsonl"):
        assert (folder / name).stat().st_size > 0, name
    assert PolicyAgent(folder / "model.zip").name == "run"
    assert len((folder / "curve.jsonl").read_text().splitlines()) == 2
    assert list((folder / "tensorboard").iterdir())
    results = json.loads((folder / "evaluation.json").read_text())
    assert [(result["num_players"], result["opponent"], result["deals"]) for result in results] == [
        (players, rival, 1) for players in (2, 3) for rival in ("random", "greedy")
    ]
    config = json.loads((folder / "config.json").read_text())
    assert (config["players"], config["learning_rate"], config["deals"]) == ("2,3", 1.0, 1)
    assert not list(folder.glob("*.part"))


def test_a_killed_run_goes_on_from_its_checkpoint_on_the_same_curve(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "experiments.train", "--run", str(folder), *FLAGS, "--checkpoint-seconds", "0"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen([*command, "--decisions", "1000000000"], env=env, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not (folder / "curve.jsonl").exists() or len((folder / "curve.jsonl").read_text().splitlines()) < 3:
            assert time.monotonic() < deadline, "training has not begun"
            assert running.poll() is None, "training has ended"
            time.sleep(0.02)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == -signal.SIGKILL

    resumed = Training(tiny(folder))
    resumed.load()
    before = told(resumed)
    resumed.config = tiny(folder, decisions=64 * (len(before) + 2))
    assert len(before) >= 3
    assert resumed.run()
    straight = begun(tiny(tmp_path / "straight", decisions=64 * (len(before) + 2)))
    assert straight.run()
    assert told(resumed) == told(straight)
    assert told(resumed)[: len(before)] == before
    assert weights(resumed) == weights(straight)


def test_the_curve_tells_of_everything(tmp_path: Path) -> None:
    training = begun(tiny(tmp_path, players="2,4", decisions=20 * 64))
    assert training.run()
    point = training.curve[-1]
    for name in ("entropy", "passes", "explained_variance", "policy_loss", "value_loss", "change", "length", "points", "pace"):
        assert np.isfinite(point[name]), name
    assert point["illegal"] == 0
    assert 0 < point["entropy"] < np.log(NUM_ACTIONS)
    assert 0 < point["passes"] < 1
    assert point["episodes"] == training.episodes.count > 8
    assert point["length"] > 12  # decisions of all seats in 12 turns
    assert set(training.episodes.shares) <= {
        f"{name}, {players} players, front" for name in ("random", "greedy") for players in (2, 4)
    } | {"self"}


def test_passes_and_illegal_actions_are_counted_in_the_buffer(tmp_path: Path) -> None:
    training = begun(tiny(tmp_path))
    training.update()
    masks = np.zeros((5, NUM_ACTIONS), np.float32)
    masks[:, 3] = 1
    masks[:4, PASS] = 1
    actions = np.array([[PASS], [3], [3], [4], [3]], np.float32)
    training.learner.rollout_buffer = SimpleNamespace(action_masks=masks, actions=actions)  # type: ignore[assignment]
    point = training._told()
    assert point["passes"] == 1 / 4
    assert point["illegal"] == 1


def test_episodes_are_noted_by_opponent_and_table(tmp_path: Path) -> None:
    training = begun(tiny(tmp_path, players="2,3", side="back"))
    two = {"seat": 1, "opponents": ["greedy", None], "scores": [9, 4], "decisions": 80, "share": 0.0}
    three = {"seat": 0, "opponents": [None, "random", "random"], "scores": [9, 9, 4], "decisions": 120, "share": 0.5}
    for _ in range(60):
        training._note(3, two)
        training._note(4, three)
    assert training.episodes.means() == {"greedy, 2 players, back": 0.0, "random, 3 players, back": 0.5}
    assert training.episodes.count == 120
    assert np.mean(training.episodes.points) == (4 + 9) / 2
    assert np.mean(training.episodes.lengths) == 100
    assert (training.pool.share("greedy"), training.pool.share("random")) == (0.0, 0.5)


def test_hard_opponents_come_more_often_at_once(tmp_path: Path) -> None:
    training = begun(tiny(tmp_path, environments=32, batch=256, max_turns=2, selves=0, sampling="hard"))
    for _ in range(300):
        training.pool.note("random", 1.0)
        training.pool.note("greedy", 0.0)
    names: Counter[str] = Counter()
    training._note = lambda row, info: names.update(name for name in info["opponents"] if name)  # type: ignore[method-assign]
    for _ in range(6):
        training.update()
    assert names["greedy"] > 8 * names["random"] > 0
    for _ in range(300):
        training.pool.note("random", 0.0)
        training.pool.note("greedy", 1.0)
    training.update()  # games under way go on with whom they have
    names.clear()
    for _ in range(6):
        training.update()
    assert names["random"] > 8 * names["greedy"]


def test_one_opponent_has_all_other_seats_and_without_anchors_it_is_the_beginner(tmp_path: Path) -> None:
    training = begun(tiny(tmp_path, players="4", anchors="", decisions=4 * 64))
    assert [agent.name for agent in training.pool.agents] == ["self-0"]
    assert training.run()
    assert [agent.name for agent in training.pool.agents] == ["self-2", "self-4"]
    assert isinstance(training.env, SkyenvVecEnv)
    for row in range(8):
        assert len(set(training.env.core.opponents(row))) == 2  # one of them None, the learner


def test_environments_are_shared_out_among_the_tables() -> None:
    config = Config(players="2,3,4", side="front,back", environments=256)
    assert [size for size, _, _ in config.shares(config.environments)] == [43, 43, 43, 43, 42, 42]
    env = train.tables(config)
    assert isinstance(env, MixedVecEnv)
    assert [(part.num_envs, part.core.games.num_players) for part in env.parts] == [
        (43, 2), (43, 2), (43, 3), (43, 3), (42, 4), (42, 4)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": "5"}, "players must be 2, 3 or 4"),
        ({"batch": 1000}, "batch must divide environments · steps = 64, which 1000 doesn't"),
        ({"gamma": 2.0}, "gamma must be above 0, at most 1"),
        ({"anchor_share": 1.5}, "anchor_share must be at least 0, at most 1"),
        ({"anchors": "", "selves": 0}, "there must be opponents: anchors or selves"),
        ({"players": "2,3,4", "environments": 2}, "environments must be at least 3"),
        ({"reward": "fame"}, "reward must be one of"),
        ({"sampling": "often"}, "sampling must be one of"),
    ],
)
def test_wrong_options_are_named(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        tiny(tmp_path, **changes).check()


def test_the_defaults_are_right_and_unknown_anchors_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, resume = parse(Config, "train", "", [])
    assert (config, resume) == (Config(), False)
    config.check()
    assert train.main(["--run", str(tmp_path), *FLAGS, "--anchors", "nobody"]) == 2
    assert "unknown agent 'nobody'" in capsys.readouterr().err


@pytest.mark.long
def test_five_minutes_beat_random_in_nine_games_of_ten(tmp_path: Path) -> None:
    """What `make train` does."""
    assert train.main(["--run", str(tmp_path / "first"), "--players", "2", "--minutes", "5"]) == 0
    against_random = json.loads((tmp_path / "first" / "evaluation.json").read_text())[0]
    assert against_random["opponent"] == "random"
    assert against_random["share"]["low"] > 0.9
