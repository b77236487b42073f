"""The native vector environment: row for row what Gymnasium makes of as many single ones."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from skyenv.agents import Decisions
from skyenv.engine.observation import OBSERVATION_SIZE, SCALE
from skyenv.envs.registration import ENV_ID
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.vector import FifthAvenueVectorEnv
from skyenv.errors import GameOverError, IllegalActionError, OptionError

NUM_ENVS = 5
MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
SETTINGS: list[dict[str, Any]] = [
    {"num_players": 2, "reward": "margin"},
    {"num_players": 3, "side": "back", "seat": "rotate", "opponents": ["crowd", "random"]},
    {"num_players": 4, "max_turns": 9, "opponents": "hoard", "seat": 3, "reward": "points"},
]
each_mode = pytest.mark.parametrize("mode", MODES)


def native(mode: AutoresetMode = AutoresetMode.NEXT_STEP, **settings: Any) -> FifthAvenueVectorEnv:
    """The native environment, made as users make it."""
    env = gymnasium.make_vec(
        "skyenv/FifthAvenue-v0", num_envs=NUM_ENVS, autoreset_mode=mode, **settings
    )
    assert isinstance(env, FifthAvenueVectorEnv)
    assert env.metadata["autoreset_mode"] is mode
    return env


def choose(
    masks: npt.NDArray[np.int8], rng: np.random.Generator, illegal: float = 0.0
) -> npt.NDArray[Any]:
    """Random legal actions; a few illegal ones; anything where nothing is legal."""
    actions = [
        rng.choice(np.flatnonzero(mask)) if mask.any() else rng.integers(103) for mask in masks
    ]
    return np.where(rng.random(len(masks)) < illegal, rng.integers(103, size=len(masks)), actions)


@each_mode
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_same_as_gymnasiums_own_vector_of_single_environments(
    mode: AutoresetMode, settings: dict[str, Any]
) -> None:
    env = native(mode, **settings)
    single = SyncVectorEnv([lambda: FifthAvenueEnv(**settings)] * NUM_ENVS, autoreset_mode=mode)
    assert env.observation_space == single.observation_space
    assert env.action_space == single.action_space
    mine: tuple[Any, ...] = env.reset(seed=20)
    theirs: tuple[Any, ...] = single.reset(seed=20)
    assert data_equivalence(mine, theirs, exact=True)
    rng = np.random.default_rng(20)
    ended = 0
    for _ in range(400):
        actions = choose(env.action_masks(), rng, illegal=0.002)
        mine, theirs = env.step(actions), single.step(actions)
        assert data_equivalence(mine, theirs, exact=True)
        over = mine[2] | mine[3]
        ended += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            mine, theirs = (
                env.reset(options={"reset_mask": over}),
                single.reset(options={"reset_mask": over}),
            )
            assert data_equivalence(mine[0], theirs[0], exact=True)
            for name in ("action_mask", "seat"):
                assert (mine[1][name][over] == theirs[1][name][over]).all()
    assert ended > NUM_ENVS


@each_mode
@pytest.mark.parametrize("settings", SETTINGS)
def test_codes_are_the_scaled_observations_without_the_scale(
    mode: AutoresetMode, settings: dict[str, Any]
) -> None:
    """Also at the end of games, which seat 0 is shown, and with the same games, infos and rewards;
    the space holds them.
    """
    scaled, codes = native(mode, **settings), native(mode, **settings, observation="codes")
    space: Any = codes.single_observation_space
    bounds: Any = scaled.single_observation_space
    assert space.dtype == np.int16
    assert codes.observation_space.shape == (NUM_ENVS, OBSERVATION_SIZE)
    assert np.array_equal(space.high * SCALE, bounds.high)
    assert not space.low.any()
    rng = np.random.default_rng(3)

    def agree(mine: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> None:
        assert mine.dtype == np.int16
        assert np.array_equal(mine * SCALE, theirs)
        assert mine in space

    (mine, info), (theirs, other) = codes.reset(seed=20), scaled.reset(seed=20)
    ended = 0
    for _ in range(300):
        for i in range(NUM_ENVS):
            agree(mine[i], theirs[i])
        assert data_equivalence(
            {**info, "final_obs": None}, {**other, "final_obs": None}, exact=True
        )
        for row in np.flatnonzero(info.get("_final_obs", [])):
            agree(info["final_obs"][row], other["final_obs"][row])
        actions = choose(codes.action_masks(), rng)
        mine, _, over, cut, info = codes.step(actions)
        theirs, _, _, _, other = scaled.step(actions)
        ended += int((over | cut).sum())
        if mode is AutoresetMode.DISABLED and (over | cut).any():
            rows = {"reset_mask": over | cut}
            (mine, info), (theirs, other) = codes.reset(options=rows), scaled.reset(options=rows)
    assert ended > 2


def test_spaces() -> None:
    env = native()
    assert env.single_observation_space.shape == (OBSERVATION_SIZE,)
    assert env.observation_space.shape == (NUM_ENVS, OBSERVATION_SIZE)
    assert env.observation_space.dtype == np.float32
    assert env.action_space == gymnasium.spaces.MultiDiscrete([103] * NUM_ENVS)
    observations, _ = env.reset(seed=1)
    assert env.observation_space.contains(observations)


def test_seeds() -> None:
    def seeds_of(env: Any, seed: Any = None) -> list[int]:
        _, info = env.reset(seed=seed)
        assert set(info) == {
            "action_mask",
            "_action_mask",
            "seat",
            "_seat",
        }  # a seed decides every hidden card
        seeds: list[int] = env.core.games.seeds.tolist()
        return seeds

    env = native()
    assert seeds_of(env, 5) == [5, 6, 7, 8, 9]
    following = seeds_of(env)
    assert np.array(seeds_of(env, [5, 6, None, 8, 9]))[[0, 1, 3, 4]].tolist() == [5, 6, 8, 9]
    assert (
        np.array(following)[[0, 1, 3, 4]].tolist() == np.array(seeds_of(env))[[0, 1, 3, 4]].tolist()
    )
    assert len({*seeds_of(native()), *seeds_of(native())}) == 2 * NUM_ENVS


@each_mode
def test_a_reset_mask_resets_its_rows_alone(mode: AutoresetMode) -> None:
    env = native(mode)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(10):
        observations, *_ = env.step(choose(env.action_masks(), rng))
    marked = np.array([False, True, False, False, True])
    state = env.core.games.state.copy()
    again, info = env.reset(seed=70, options={"reset_mask": marked})
    assert (again[~marked] == observations[~marked]).all()
    assert (again[marked] != observations[marked]).any()
    assert (env.core.games.state[~marked] == state[~marked]).all()
    assert env.core.games.seeds.tolist() == [1, 71, 3, 4, 74]
    assert (info["action_mask"] == env.action_masks()).all()
    assert info["_action_mask"].all()


@pytest.mark.parametrize("mask", [np.zeros(5, bool), np.ones(4, bool), np.ones(5, int), [True] * 5])
def test_wrong_reset_masks_are_named(mask: Any) -> None:
    env = native()
    env.reset(seed=1)
    state = env.core.games.state.copy()
    with pytest.raises(OptionError, match="reset_mask"):
        env.reset(seed=2, options={"reset_mask": mask})
    assert (env.core.games.state == state).all()


def test_disabled_autoreset_refuses_finished_rows() -> None:
    env = native(AutoresetMode.DISABLED, max_turns=2)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    over = np.zeros(NUM_ENVS, bool)
    while not over.any():
        _, rewards, terminations, truncations, _ = env.step(choose(env.action_masks(), rng))
        over = terminations | truncations
    assert truncations.any()
    assert not terminations.any()
    assert not rewards.any()
    state = env.core.games.state.copy()
    with pytest.raises(GameOverError) as refused:
        env.step(choose(env.action_masks(), rng))
    assert refused.value.row == np.argmax(over)
    assert (env.core.games.state == state).all()


def test_illegal_actions_raise_with_the_row_and_change_nothing() -> None:
    env = native(illegal="raise")
    env.reset(seed=1)
    masks = env.action_masks()
    actions = masks.argmax(axis=1)
    actions[3] = masks[3].argmin()
    state = env.core.games.state.copy()
    for wrong, row in (
        (actions, 3),
        (np.where(np.arange(5) == 2, 103, actions), 2),
        (np.full(5, -1), 0),
    ):
        with pytest.raises(IllegalActionError) as refused:
            env.step(wrong)
        assert refused.value.row == row
        assert (env.core.games.state == state).all()
    for shapeless in (actions[:4], actions.astype(float), actions[None], 3):
        with pytest.raises(IllegalActionError):
            env.step(shapeless)
        assert (env.core.games.state == state).all()


def test_wrong_options_are_named() -> None:
    for options in ({"autoreset_mode": "never"}, {"num_envs": 0}, {"threads": 0}, {"seat": 9}):
        with pytest.raises(OptionError):
            FifthAvenueVectorEnv(**options)
    with pytest.raises(
        OptionError, match="there is no max_episode_steps; max_turns truncates games"
    ):
        gymnasium.make_vec(ENV_ID, num_envs=2, max_episode_steps=9)
    env = native()
    wrong: Any
    for wrong in (-1, [1, 2], [1, 2, 3, 4, -5], "12345"):
        with pytest.raises((OptionError, gymnasium.error.Error)):
            env.reset(seed=wrong)


def test_opponents_are_asked_in_batches() -> None:
    calls: list[int] = []

    def counting(decisions: Decisions) -> npt.NDArray[np.intp]:
        calls.append(decisions.mask.shape[0])
        first: npt.NDArray[np.intp] = np.argmax(decisions.mask, axis=1)
        return first

    env = native(opponents=counting, seat=1)
    env.reset(seed=1)
    assert calls[0] == NUM_ENVS
    assert len(calls) == 1


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    env = native(render_mode="ansi")
    env.reset(seed=1)
    pictures = env.render()
    assert pictures is not None
    assert len(pictures) == NUM_ENVS
    assert all("TSQ" in text for text in pictures)
    assert capsys.readouterr().out == ""
    env = native(render_mode="rgb_array")
    env.reset(seed=1)
    frames = env.render()
    assert frames is not None
    assert [frame.dtype for frame in frames] == [np.uint8] * NUM_ENVS
    assert len({frame.shape for frame in frames}) == 1
    env = native(render_mode="human")
    shown: list[Any] = []
    env._renderer.window.show = shown.append  # type: ignore[assignment, method-assign]
    env.reset(seed=1)
    assert env.render() is None
    assert shown[0].shape[2] == 3
    env.close()
    assert env._renderer.window.is_closed
    assert native().render() is None
