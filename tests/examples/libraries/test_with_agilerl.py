"""AgileRL's rollouts are the games that anybody else would play, keep to the masks, and its PPO
learns from them.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("agilerl")
import torch
from agilerl.rollouts import collect_rollouts

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "libraries" / "with_agilerl.py"
GAMES, STEPS = 4, 150


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The program's names."""
    return runpy.run_path(str(EXAMPLE))


def seeded(example: dict[str, Any]) -> Any:
    """The environment after its reset with a seed: the next reset goes on from there.

    It refuses illegal actions.
    """
    envs = example["make_envs"](
        GAMES, num_players=3, max_turns=40, opponents="random", illegal="raise"
    )
    envs.reset(seed=5)
    return envs


def test_rollouts_are_the_games_own_play(example: dict[str, Any]) -> None:
    """What AgileRL's buffer holds are the games that are stepped by hand with the actions that its
    policy drew.
    """
    torch.manual_seed(0)
    envs, twin = seeded(example), seeded(example)
    agent = example["make_agent"](envs, STEPS)
    outcomes, *_ = collect_rollouts(agent, envs, STEPS)
    played = agent.rollout_buffer.buffer
    assert played.batch_size == (STEPS, GAMES)
    observation, info = twin.reset()
    ended: list[float] = []
    scores = np.zeros(GAMES)
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
        scores += reward
        ended += scores[done].tolist()
        scores[done] = 0
    assert outcomes == pytest.approx(ended)
    assert ended


def test_ppo_learns_from_its_rollouts(example: dict[str, Any]) -> None:
    """Learning changes the policy, and what it then plays is still legal, or the games would refuse
    it.
    """
    torch.manual_seed(0)
    envs = seeded(example)
    agent = example["make_agent"](envs, 32)
    before = [weights.detach().clone() for weights in agent.actor.parameters()]
    collect_rollouts(agent, envs, 32)
    assert np.isfinite(agent.learn())
    after = list(agent.actor.parameters())
    assert all(weights.isfinite().all() for weights in after)
    assert any((weights != earlier).any() for weights, earlier in zip(after, before, strict=True))
    collect_rollouts(agent, envs, 32)
