"""Games through SuperSuit's wrappers are the games without them; those that don't fit fail as the
docs say.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from skyenv import fifth_avenue_v0
from skyenv.errors import IllegalActionError

supersuit = pytest.importorskip("supersuit")

EXAMPLE: Final = (
    Path(__file__).resolve().parents[3] / "examples" / "libraries" / "with_supersuit.py"
)
PROGRAM: Final[dict[str, Any]] = runpy.run_path(str(EXAMPLE))
WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = PROGRAM["WRAPPERS"]
NEED_BOXES: Final = {
    "agent_indicator",
    "dtype",
    "flatten",
    "frame_stack",
    "max_observation",
    "normalize_obs",
    "observation_lambda",
    "pad_observations",
    "reshape",
}
"""What fails with the mask in the observation."""


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


@pytest.mark.parametrize("name", WRAPPERS)
def test_some_need_the_mask_in_the_infos(name: str) -> None:
    def play() -> None:
        env = WRAPPERS[name](fifth_avenue_v0.env(mask="observation", max_turns=2))
        env.reset(seed=1)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))

    if name in NEED_BOXES:
        with pytest.raises((AssertionError, AttributeError, IndexError)):
            play()
    else:
        play()


@pytest.mark.parametrize(
    ("wrap", "error"),
    [
        (lambda env: supersuit.clip_actions_v0(env), AttributeError),
        (lambda env: supersuit.scale_actions_v0(env, 2.0), AssertionError),
        (lambda env: supersuit.color_reduction_v0(env), AssertionError),
        (lambda env: supersuit.resize_v1(env, 2, 3), AssertionError),
        (lambda env: supersuit.black_death_v3(env), AssertionError),
        (lambda env: supersuit.frame_skip_v0(env, 2), KeyError),
    ],
    ids=["clip_actions", "scale_actions", "color_reduction", "resize", "black_death", "frame_skip"],
)
def test_what_does_not_fit_fails_before_a_game_begins(
    wrap: Callable[[Any], Any], error: type[Exception]
) -> None:
    """No box of actions, no picture, no agents that act together; frame_skip forgets the infos."""
    with pytest.raises(error):
        game(wrap(PROGRAM["make_env"](max_turns=20)))


def test_sticky_actions_are_illegal() -> None:
    env = supersuit.sticky_actions_v0(fifth_avenue_v0.raw_env(mask="info"), 0.5)
    with pytest.raises(IllegalActionError):
        game(env)


@pytest.mark.parametrize("name", ["nan_noop", "nan_random", "nan_zeros"])
def test_what_stands_for_a_nan_is_not_looked_up_in_the_mask(name: str) -> None:
    wrap = {"nan_noop": lambda env: supersuit.nan_noop_v0(env, 0)}.get(name) or getattr(
        supersuit, f"{name}_v0"
    )
    env = wrap(fifth_avenue_v0.raw_env(mask="info"))
    env.reset(seed=1)

    def play() -> None:
        for _ in range(100):  # a random one may be legal
            env.step(np.nan)

    with pytest.warns(UserWarning, match="NaN action"), pytest.raises(IllegalActionError):
        play()


def test_black_death_misses_the_end_of_a_parallel_game() -> None:
    """It waits for an end that is a termination and a truncation, and goes on asking a game that is
    over.
    """
    env = supersuit.black_death_v3(PROGRAM["make_parallel_env"](max_turns=2))
    generator = np.random.default_rng(1)
    _, infos = env.reset(seed=1)
    while env.unwrapped.agents:
        *_, infos = env.step(
            {
                agent: PROGRAM["choose"](infos[agent]["action_mask"], generator)
                for agent in env.agents
            }
        )
    assert env.agents


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


def test_the_program_says_how_fast_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    PROGRAM["main"](["--tables", "2", "--steps", "20"])
    assert capsys.readouterr().out.endswith(" steps/s\n")
