"""Training: it learns, it goes on after an interruption as if there had been none, and it says what is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.policy import PolicyAgent
from experiments import train
from experiments.train import Config, Episodes, Training, read_checkpoint
from skyenv.errors import CheckpointError, OptionError

ROOT = Path(__file__).resolve().parent.parent.parent
TINY = ["--environments", "8", "--steps", "8", "--batch", "32", "--hidden", "16", "--threads", "1", "--minutes", "0"]


def tiny(folder: Path, **changes: Any) -> Config:
    """A run of a few seconds."""
    settings: dict[str, Any] = {
        "run": str(folder), "environments": 8, "steps": 8, "batch": 32, "hidden": 16, "threads": 1, "minutes": 0.0,
        "decisions": 6 * 64, "snapshot": 2, "selves": 2, "checkpoint_seconds": 1e9, "deals": 0,
    }  # fmt: skip
    return Config(**{**settings, **changes})


def weights(training: Training) -> bytes:
    """All parameters of the policy as bytes."""
    return b"".join(parameter.detach().numpy().tobytes() for parameter in training.model.policy.parameters())


def begun(config: Config) -> Training:
    """A training that has begun, its folder made."""
    Path(config.run).mkdir(parents=True, exist_ok=True)
    training = Training(config)
    training.begin()
    return training


def test_interrupted_and_resumed_is_the_same_as_never_interrupted(tmp_path: Path) -> None:
    straight = begun(tiny(tmp_path / "straight"))
    assert straight.run()

    first = begun(tiny(tmp_path / "resumed", decisions=3 * 64))
    assert first.run()
    second = Training(tiny(tmp_path / "resumed"))
    torch.manual_seed(99)
    np.random.seed(99)  # what an unrelated process may have done to the generators SB3 uses
    second.load()
    assert second.run()

    assert weights(second) == weights(straight)
    assert [point["decisions"] for point in second.curve] == [64 * update for update in range(1, 7)]
    assert [point["entropy"] for point in second.curve] == [point["entropy"] for point in straight.curve]
    assert [agent.name for agent in second.pool] == ["self-4", "self-6"]


def test_same_seed_same_policy_other_seed_other_policy(tmp_path: Path) -> None:
    found = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        training = begun(tiny(tmp_path / name, seed=seed, decisions=2 * 64))
        training.run()
        found.append(weights(training))
    assert found[0] == found[1] != found[2]


def test_command_leaves_policy_curves_evaluation_and_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert train.main(["--run", str(folder), *TINY, "--decisions", "128", "--deals", "2"]) == 0
    assert "greedy" in capsys.readouterr().out
    for name in ("config.json", "model.zip", "curves.png", "evaluation.json", "evaluation.png", "games.jsonl"):
        assert (folder / name).stat().st_size > 0, name
    assert PolicyAgent(folder / "model.zip").name == "run"
    assert len((folder / "curve.jsonl").read_text().splitlines()) == 2
    assert list((folder / "tensorboard").iterdir())
    assert not list(folder.glob("*.part"))


def test_a_run_is_not_overwritten_by_accident(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--run", str(tmp_path), *TINY, "--decisions", "64", "--deals", "0"]
    assert train.main(arguments) == 0
    assert train.main(arguments) == 2
    assert "--resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--players", "5"], "players must be a whole number from 2 to 4"),
        (["--side", "top"], "side must be one of front, back"),
        (["--batch", "1000"], "batch must divide"),
        (["--gamma", "2"], "gamma must be above 0 and at most 1"),
        (["--seed", "5000000000"], "seed must be a whole number from 0 to 4294967295"),
        (["--random-share", "0.8", "--greedy-share", "0.3"], "must not exceed 1"),
    ],
)
def test_wrong_options_are_named(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train.main(["--run", str(tmp_path / "run"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_damaged_foreign_and_missing_checkpoints_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.bin"
    with pytest.raises(CheckpointError, match="no checkpoint to go on from"):
        read_checkpoint(path)
    path.write_bytes(b"something else")
    with pytest.raises(CheckpointError, match="no training checkpoint"):
        read_checkpoint(path)
    begun(tiny(tmp_path)).save()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(CheckpointError, match="damaged"):
        read_checkpoint(path)
    path.write_bytes(bytes(data[:-100]))
    with pytest.raises(CheckpointError, match="damaged"):
        read_checkpoint(path)


def test_resuming_with_other_options_is_refused(tmp_path: Path) -> None:
    begun(tiny(tmp_path)).save()
    with pytest.raises(CheckpointError, match=r"trained with gamma = 0\.999, not 0\.9"):
        Training(tiny(tmp_path, gamma=0.9)).load()


def test_config_checks_itself() -> None:
    Config().check()
    assert Config().minutes == 5
    assert Config(decisions=10**9).minutes == 0  # decisions alone limit the run
    with pytest.raises(OptionError, match="reward must be one of"):
        Config(reward="fame").check()


def test_episodes_count_shares_by_kind_of_opponent() -> None:
    episodes = Episodes()
    for scores, opponents, times in (
        ([9, 3], [None, "random"], 30),
        ([3, 9], [None, "random"], 90),
        ([5, 5], [None, "self-10"], 30),
        ([5, 5], [None, "self-20"], 30),
        ([5, 4, 3], [None, "random", "greedy"], 70),
        ([5, 4], [None, "greedy"], 49),
    ):
        for _ in range(times):
            episodes.note({"episode": {"l": 10}, "scores": scores, "seat": 0, "opponents": opponents})
    assert episodes.means() == {"random": 0.25, "self": 0.5}
    assert episodes.count == 299


def test_ctrl_c_keeps_everything_and_resume_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "experiments.train", "--run", str(tmp_path), *TINY, "--deals", "0"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen([*command, "--decisions", "100000000"], env=env, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    assert running.stderr is not None
    while "decisions" not in running.stderr.read(200):
        assert time.monotonic() < deadline, "training has not begun"
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    done = read_checkpoint(tmp_path / "checkpoint.bin")["curve"][-1]["decisions"]
    assert done > 0
    assert train.main(["--run", str(tmp_path), *TINY, "--deals", "0", "--decisions", str(done + 64), "--resume"]) == 0
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert [point["decisions"] for point in curve] == [64 * (i + 1) for i in range(len(curve))]


@pytest.mark.long
def test_five_minutes_beat_random_in_nine_games_of_ten(tmp_path: Path) -> None:
    """What `make train` does."""
    assert train.main(["--run", str(tmp_path / "first"), "--players", "2", "--minutes", "5"]) == 0
    against_random = json.loads((tmp_path / "first" / "evaluation.json").read_text())[0]
    assert against_random["opponent"] == "random"
    assert against_random["share"]["low"] > 0.9
