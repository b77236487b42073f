"""Games through SuperSuit's wrappers are the games without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

supersuit = pytest.importorskip("supersuit")


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
