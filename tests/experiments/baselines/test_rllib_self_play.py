"""RLlib: training in both environments, masked policies, and its checkpoint as an agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clusters import tried
from experiments.baselines.rllib_agent import MODULES, RllibAgent
from skyenv.agents import decide
from skyenv.engine.games import Games
from skyenv.errors import CheckpointError
from skyenv.work.on_ray import LOCAL, connect

ray = pytest.importorskip("ray")
pytest.importorskip(
    "ray.rllib",
    exc_type=ImportError,
    reason="RLlib has an environment of its own: make test-libraries",
)

GAMES = 8
PROGRAM = "experiments.baselines.rllib_self_play"


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[None]:
    """Ray."""
    tried(lambda: connect(LOCAL, 1))
    yield
    ray.shutdown()


def built(config: Any, **sizes: int) -> Any:
    """PPO that plays in this process."""
    here = config.env_runners(num_env_runners=0).training(num_epochs=1, **sizes)
    return here.debugging(seed=1).build_algo()


def test_whole_episodes_are_sampled() -> None:
    """Every action is legal, and reset steps belong to no episode."""
    rllib_self_play = pytest.importorskip(PROGRAM)
    config = rllib_self_play.vector_config(GAMES, opponents="random", illegal="raise")
    algorithm = built(config, train_batch_size_per_learner=512, minibatch_size=128)
    episodes = algorithm.env_runner.sample(num_episodes=2 * GAMES)
    algorithm.stop()
    assert len(episodes) >= 2 * GAMES
    for episode in episodes:
        masks, actions = episode.get_observations()["action_mask"], episode.get_actions()
        assert len(actions) == len(masks) - 1 == len(episode)
        assert masks[np.arange(len(actions)), actions].all()
        assert episode.is_terminated
        assert masks[-1].sum() == masks[-1][0] == 1  # the end: `noop`
        share = episode.get_infos(-1)["win_share"]
        assert episode.get_return() == pytest.approx(2 * share - 1)
        assert episode.get_infos(0)["end_reason"] == 0


@pytest.mark.parametrize("environment", ["vector", "pettingzoo"])
def test_the_program_saves_an_agent(
    environment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged checkpoint is one clear error."""
    run = tmp_path / "mine"
    command = ["--games=4", "--steps=32", "--iterations=2", f"--run={run}"]
    pytest.importorskip(PROGRAM).main([*command, f"--environment={environment}"])
    said = capsys.readouterr().out
    assert said.endswith(" steps/s\n")
    assert f"the agent is RllibAgent({str(run / 'model')!r})" in said
    player, games = RllibAgent(run / "model"), Games(8, 2, seed=2)
    assert player.name == "mine"
    together = decide(games, player)
    assert together.tolist() == [decide(games, player, [row])[0] for row in range(games.num_games)]
    (weights,) = (run / "model" / MODULES[0]).glob("*/module_state.pkl")
    weights.write_bytes(b"no weights")
    with pytest.raises(CheckpointError, match=r"RLlib checkpoint .*model is damaged"):
        RllibAgent(run / "model")
