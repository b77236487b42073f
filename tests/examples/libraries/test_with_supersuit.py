"""Games through SuperSuit's wrappers are the games without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

supersuit = pytest.importorskip("supersuit")


def game(example: Any, env: Any) -> list[tuple[str, bytes, Any]]:
    """A random game: who was to act, the mask, and the observation, which is as the space says."""
    generator = np.random.default_rng(1)
    env.reset(seed=1)
    seen = []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        space, mask = env.observation_space(agent), info["action_mask"]
        assert (observation.dtype, observation.shape) == (space.dtype, space.shape)
        seen.append((agent, mask.tobytes(), np.array(observation)))
        env.step(None if terminated or truncated else example.choose(mask, generator))
    return seen


def test_a_wrapped_game_is_the_game(example: Any) -> None:
    bare = game(example, example.make_env(max_turns=20))
    for name, wrapper in example.WRAPPERS.items():
        wrapped = game(example, wrapper(example.make_env(max_turns=20)))
        assert [step[:2] for step in wrapped] == [step[:2] for step in bare]
        for (*_, changed), (*_, plain) in zip(wrapped, bare, strict=True):
            if name in ("flatten", "pad_observations", "clip_reward"):
                np.testing.assert_array_equal(changed, plain)
            if name == "frame_stack":  # the newest one comes last
                np.testing.assert_array_equal(changed[-len(plain) :], plain)
            if name == "normalize_obs":
                assert 0 <= changed.min() <= changed.max() <= 1


def test_tables_side_by_side_are_parallel_environments(example: Any) -> None:
    """A row for each seat; when a table is over, its next game begins in the same step, with the
    new game's masks.
    """
    envs = example.side_by_side(1, num_players=3, max_turns=6)
    twin = example.make_parallel_env(num_players=3, max_turns=6)
    generator = np.random.default_rng(1)
    observations, infos = envs.reset(seed=1)
    theirs, their_infos = twin.reset(seed=1)
    assert envs.num_envs == 3
    games = 0
    while games < 2:
        for row, agent in enumerate(twin.possible_agents):
            np.testing.assert_array_equal(observations[row], theirs[agent])
            np.testing.assert_array_equal(
                infos[row]["action_mask"], their_infos[agent]["action_mask"]
            )
        actions = [example.choose(info["action_mask"], generator) for info in infos]
        observations, rewards, terminated, truncated, infos = envs.step(np.array(actions))
        theirs, their_rewards, _, their_ends, their_infos = twin.step(
            dict(zip(twin.possible_agents, actions, strict=True))
        )
        np.testing.assert_allclose(
            rewards, [their_rewards[agent] for agent in twin.possible_agents]
        )
        assert not terminated.any()  # as an illegal action would
        assert truncated.tolist() == [their_ends[agent] for agent in twin.possible_agents]
        if truncated.any():
            assert {info["end_reason"] for info in infos} == {"truncated"}
            theirs, their_infos = twin.reset()
            games += 1
