"""The Tianshou example plays the games of the engine with masks, and its DQN trains."""

from typing import Any

import numpy as np
import pytest

from skyenv.envs.learner import LearnerGames

pytest.importorskip("tianshou")
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer

GAMES, STEPS = 4, 150


def test_a_collector_equals_play_in_games(example: Any) -> None:
    """What Tianshou's random policy collected are the games that are stepped by hand with what it
    drew; nothing was illegal.
    """
    np.random.seed(0)
    options: dict[str, Any] = {"num_players": 3, "max_turns": 40, "illegal": "raise"}
    twin, envs = LearnerGames(GAMES, **options), example.FifthAvenueEnvs(GAMES, **options)
    twin.reset(5)
    envs.seed(5)
    policy = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=envs.action_space[0])
    buffer = VectorReplayBuffer(GAMES * STEPS, GAMES)
    collector = Collector(policy, envs, buffer)
    collector.reset()
    collected = collector.collect(n_step=GAMES * STEPS)
    assert collected.n_collected_steps == len(buffer) == GAMES * STEPS
    ends = 0
    for number in range(STEPS):
        now = buffer[np.arange(GAMES) * STEPS + number]
        np.testing.assert_array_equal(now.obs.obs, twin.observation())
        np.testing.assert_array_equal(now.obs.mask, twin.mask() != 0)
        assert now.obs.mask[np.arange(GAMES), now.act].all()
        twin.step(now.act.astype(np.int64))
        np.testing.assert_array_equal(now.rew, twin.reward)
        np.testing.assert_array_equal(now.terminated, twin.done & ~twin.truncated)
        np.testing.assert_array_equal(now.truncated, twin.truncated)
        np.testing.assert_array_equal(now.obs_next.obs, twin.observation())
        np.testing.assert_array_equal(now.obs_next.mask, twin.mask() != 0)
        ends += int(twin.done.sum())
        twin.reset(rows=np.flatnonzero(twin.done))
    assert ends == collected.n_collected_episodes > 0
