"""Games through SuperSuit's wrappers are the games without them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

supersuit = pytest.importorskip("supersuit")

EXAMPLE: Final = (
    Path(__file__).resolve().parents[3] / "examples" / "libraries" / "with_supersuit.py"
)
PROGRAM: Final[dict[str, Any]] = runpy.run_path(str(EXAMPLE))
WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = PROGRAM["WRAPPERS"]


def game(env: Any) -> list[tuple[str, bytes, Any]]:
    """A random game: who was to act, the mask, and the observation, which is as the space says."""
    generator = np.random.default_rng(1)
    env.reset(seed=1)
    seen = []
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        space = env.observation_space(agent)
        assert (observation.dtype, observation.shape) == (space.dtype, space.shape)
        seen.append((agent, info["action_mask"].tobytes(), np.array(observation)))
        env.step(
            None if terminated or truncated else PROGRAM["choose"](info["action_mask"], generator)
        )
    return seen


@pytest.fixture(scope="module")
def bare() -> list[tuple[str, bytes, Any]]:
    """The game without a wrapper."""
    return game(PROGRAM["make_env"](max_turns=20))


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapped_game_is_the_game(bare: list[tuple[str, bytes, Any]], name: str) -> None:
    wrapped = game(WRAPPERS[name](PROGRAM["make_env"](max_turns=20)))
    assert [step[:2] for step in wrapped] == [step[:2] for step in bare]
    for (*_, changed), (*_, plain) in zip(wrapped, bare, strict=True):
        if name in ("flatten", "pad_observations", "clip_reward"):
            np.testing.assert_array_equal(changed, plain)
        if name == "frame_stack":  # the newest one comes last
            np.testing.assert_array_equal(changed[-len(plain) :], plain)
        if name == "normalize_obs":
            assert 0 <= changed.min() <= changed.max() <= 1


def test_tables_side_by_side_are_parallel_environments() -> None:
    """A row for each seat; when a table is over, its next game begins in the same step, with the
    new game's masks.
    """
    envs = PROGRAM["side_by_side"](1, num_players=3, max_turns=6)
    twin = PROGRAM["make_parallel_env"](num_players=3, max_turns=6)
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
        actions = [PROGRAM["choose"](info["action_mask"], generator) for info in infos]
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
