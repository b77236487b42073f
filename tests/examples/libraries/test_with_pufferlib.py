"""PufferLib's environments play the games that anybody else would play, side by side too; its
policy keeps to the masks.
"""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.envs.learner import LearnerGames

# PufferLib leaves a link to its pictures in the folder that it is imported in.
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    pytest.importorskip("pufferlib")

GAMES, STEPS = 4, 150


def draw(observations: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Random legal actions, by the mask in the observations."""
    mask = observations[:, OBSERVATION_SIZE:]
    drawn: npt.NDArray[np.int64] = (mask * rng.random(mask.shape)).argmax(axis=1)
    return drawn


def test_the_learner_plays_among_agents(example: Any) -> None:
    """Its rows are those of `LearnerGames` that is stepped by hand; infos tell what games came
    to.
    """
    options: dict[str, Any] = {
        "num_players": 3,
        "opponents": "crowd",
        "max_turns": 12,
        "illegal": "raise",
    }
    env = example.FifthAvenueGames(GAMES, **options)
    observations, _ = env.reset(5)
    twin = LearnerGames(GAMES, **options)
    twin.reset(env.core.games.seeds.tolist())
    rng = np.random.default_rng(0)
    shares: list[float] = []
    for _ in range(STEPS):
        np.testing.assert_array_equal(observations[:, :OBSERVATION_SIZE], twin.observation())
        np.testing.assert_array_equal(observations[:, OBSERVATION_SIZE:], twin.mask())
        actions = draw(observations, rng)
        twin.step(actions)
        observations, rewards, terminals, truncations, infos = env.step(actions)
        np.testing.assert_array_equal(rewards, twin.reward.astype(np.float32))
        np.testing.assert_array_equal(terminals, twin.done & ~twin.truncated)
        np.testing.assert_array_equal(truncations, twin.truncated)
        over = np.flatnonzero(twin.done)
        told = [info["win_share"] for info in infos]
        assert told == [episode["win_share"] for episode in twin.episode_infos(over)]
        shares += told
        twin.reset(rows=over)
    assert shares
