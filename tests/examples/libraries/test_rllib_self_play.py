"""RLlib's PPO learns in both environments, its masked policy takes legal actions alone, and its
checkpoints play.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import printed, python
from skyenv.agents import decide, make_agent
from skyenv.engine.games import Games
from skyenv.errors import CheckpointError
from skyenv.work.on_ray import LOCAL, connect
from skyenv_agents.learned.policy import MODULES, RllibAgent

ray = pytest.importorskip("ray")
pytest.importorskip(
    "ray.rllib",
    exc_type=ImportError,
    reason="RLlib has an environment of its own: make test-libraries",
)

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "rllib_self_play.py"
GAMES = 8


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The program's names."""
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[None]:
    """Ray; it gives its own processes 30 seconds to start, which a busy machine may not keep."""
    for left in reversed(range(5)):
        try:
            connect(LOCAL, 1)
            break
        except Exception:
            ray.shutdown()
            if not left:
                raise
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def algorithm(example: dict[str, Any]) -> Iterator[Any]:
    """PPO on games in which an illegal action would be an error."""
    config = example["vector_config"](GAMES, opponents="random", illegal="raise").env_runners(
        num_env_runners=0
    )
    built = (
        config.training(train_batch_size_per_learner=512, minibatch_size=128, num_epochs=1)
        .debugging(seed=1)
        .build_algo()
    )
    yield built
    built.stop()


def test_whole_episodes_are_sampled(algorithm: Any) -> None:
    """Every decision was legal where it was taken, and the step in which a row is reset is no part
    of an episode.
    """
    episodes = algorithm.env_runner.sample(num_episodes=2 * GAMES)
    assert len(episodes) >= 2 * GAMES
    for episode in episodes:
        masks, actions = episode.get_observations()["action_mask"], episode.get_actions()
        assert len(actions) == len(masks) - 1 == len(episode)
        assert masks[np.arange(len(actions)), actions].all()
        assert episode.is_terminated
        assert masks[-1].sum() == masks[-1][0] == 1  # the end: `noop`
        share = episode.get_infos(-1)["win_share"]
        assert episode.get_return() == pytest.approx(2 * share - 1)
        assert "win_share" not in episode.get_infos(0)


def test_one_policy_learns_from_all_seats(example: dict[str, Any]) -> None:
    """PettingZoo's games of three: every seat's decisions are an episode, legal, and rewarded at
    the end as it came out.
    """
    config = example["pettingzoo_config"](GAMES, num_players=3).env_runners(num_env_runners=0)
    built = (
        config.training(train_batch_size_per_learner=256, minibatch_size=64, num_epochs=1)
        .debugging(seed=1)
        .build_algo()
    )
    results = built.train()
    assert np.isfinite(results["learners"]["all_seats"]["total_loss"])
    episodes = [
        episode for episode in built.env_runner.sample(num_episodes=GAMES) if episode.is_done
    ]
    built.stop()
    assert episodes
    for episode in episodes:
        seats = list(episode.agent_episodes.values())
        assert episode.is_terminated
        assert set(episode.agent_ids) == {"seat_0", "seat_1", "seat_2"}
        for seat in seats:
            masks, actions = seat.get_observations()["action_mask"], seat.get_actions()
            assert masks[np.arange(len(actions)), actions].all()
            assert (seat.get_rewards()[:-1] == 0).all()
        shares = [seat.get_infos(-1)["win_share"] for seat in seats]
        assert sum(shares) == pytest.approx(1)
        assert [seat.get_return() for seat in seats] == pytest.approx(
            [1.5 * share - 0.5 for share in shares]
        )


@pytest.mark.parametrize("environment", ["vector", "pettingzoo"])
def test_the_program_leaves_an_agent(
    example: dict[str, Any], environment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It plays where agents are named; a broken one is one clear error."""
    run = tmp_path / "mine"
    example["main"](
        [
            "--games",
            "4",
            "--steps",
            "32",
            "--iterations",
            "2",
            "--environment",
            environment,
            "--run",
            str(run),
        ]
    )
    said = capsys.readouterr().out
    assert said.endswith(" steps/s\n")
    assert f"the agent is rllib:{run / 'model'}" in said
    player, games = make_agent(f"rllib:{run / 'model'}"), Games(8, 2, seed=2)
    assert isinstance(player, RllibAgent)
    assert player.name == "mine"
    together = decide(games, player)
    assert together.tolist() == [decide(games, player, [row])[0] for row in range(games.num_games)]
    command = [
        "-m",
        "skyenv",
        "evaluate",
        f"rllib:{run / 'model'}",
        "--against",
        "random",
        "--paired-seeds",
        "2",
    ]
    assert "mine" in printed("-W", "ignore", *command)
    (weights,) = (run / "model" / MODULES[0]).glob("*/module_state.pkl")
    weights.write_bytes(b"no weights")
    with pytest.raises(CheckpointError, match=r"RLlib's checkpoint .*model is damaged"):
        make_agent(f"rllib:{run / 'model'}")
    refused = python("-W", "ignore", *command)
    assert refused.returncode
    assert (
        refused.stderr.strip().splitlines()[-1].startswith("evaluate: error: RLlib's checkpoint ")
    )
