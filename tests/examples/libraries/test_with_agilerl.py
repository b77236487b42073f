"""AgileRL's rollouts are the games that anybody else would play, and keep to the masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("agilerl")
import torch
from agilerl.rollouts import collect_rollouts

GAMES, STEPS = 4, 150


def test_rollouts_are_the_games_own_play(example: Any) -> None:
    """What AgileRL's buffer holds are the games that are stepped by hand with the actions that its
    policy drew.
    """
    torch.manual_seed(0)
    options = {"num_players": 3, "max_turns": 40, "opponents": "random", "illegal": "raise"}
    envs, twin = (example.make_envs(GAMES, **options) for _ in range(2))
    for one in (envs, twin):
        one.reset(seed=5)  # the next reset goes on from there
    agent = example.make_agent(envs, STEPS)
    outcomes, *_ = collect_rollouts(agent, envs, STEPS)
    played = agent.rollout_buffer.buffer
    assert played.batch_size == (STEPS, GAMES)
    observation, info = twin.reset()
    ends = 0
    for number in range(STEPS):
        now = played[number]
        mask = info["action_mask"] != 0
        np.testing.assert_array_equal(now["observations"].numpy(), observation)
        np.testing.assert_array_equal(now["action_masks"].numpy(), mask)
        actions = now["actions"].numpy().reshape(GAMES).astype(np.int64)
        assert mask[np.arange(GAMES), actions].all()
        observation, reward, terminated, truncated, info = twin.step(actions)
        np.testing.assert_allclose(now["rewards"].numpy().reshape(GAMES), reward)
        done = terminated | truncated
        np.testing.assert_array_equal(now["dones"].numpy().reshape(GAMES) != 0, done)
        ends += int(done.sum())
    assert ends == len(outcomes) > 0
