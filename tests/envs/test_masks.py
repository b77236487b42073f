"""Where the mask stands: the same game whatever it is, and what each library reads is there."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from skyenv import fifth_avenue_v0
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.envs.registration import ENV_ID
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.spaces import MaskPlace
from skyenv.envs.vector import FifthAvenueVectorEnv
from skyenv.errors import OptionError

KEYS: dict[str, str | None] = {
    "observation": "observation",
    "info": None,
    "both": "observation",
    "rllib": "observations",
}
"""The key of the vector in an observation that is a dict."""
IN_INFO = ("info", "both")
NUM_ENVS = 4

each_place = pytest.mark.parametrize("mask", KEYS)


def vector_of(mask: str, observation: Any) -> Any:
    """The vector in an observation, whose form is checked."""
    key = KEYS[mask]
    if key is None:
        assert isinstance(observation, np.ndarray)
        return observation
    assert set(observation) == {key, "action_mask"}
    return observation[key]


def mask_of(mask: str, observation: Any, info: dict[str, Any]) -> Any:
    """The mask, which is where it should be and nowhere else."""
    assert ("action_mask" in info) == (mask in IN_INFO)
    if mask == "both":
        assert (info["action_mask"] == observation["action_mask"]).all()
    return info["action_mask"] if mask in IN_INFO else observation["action_mask"]


@each_place
def test_pettingzoo(mask: str) -> None:
    env, plain = (
        fifth_avenue_v0.env(3, mask=mask, max_turns=8),
        fifth_avenue_v0.raw_env(3, max_turns=8),
    )
    env.reset(seed=3)
    plain.reset(seed=3)
    assert isinstance(
        env.observation_space("seat_0"), spaces.Box if KEYS[mask] is None else spaces.Dict
    )
    rng = np.random.default_rng(3)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(observation)
        expected = plain.observe(agent)
        assert (vector_of(mask, observation) == expected["observation"]).all()
        assert (mask_of(mask, observation, info) == expected["action_mask"]).all()
        for other in env.agents:
            assert mask_of(mask, env.observe(other), env.infos[other]).any() == (
                other == agent and not (terminated or truncated)
            )
        action = (
            None
            if terminated or truncated
            else int(rng.choice(np.flatnonzero(expected["action_mask"])))
        )
        env.step(action)
        plain.step(action)


def test_infos_hold_the_same_arrays_until_the_next_step_and_keep_them() -> None:
    env = fifth_avenue_v0.env(mask="info")
    env.reset(seed=1)
    first = env.last()[4]["action_mask"]
    assert env.last()[4]["action_mask"] is first is env.infos["seat_0"]["action_mask"]
    before = first.copy()
    env.step(int(first.argmax()))
    assert env.infos["seat_1"]["action_mask"].any()
    assert not env.infos["seat_0"]["action_mask"].any()
    assert (first == before).all()


@each_place
def test_what_is_legal_is_not_what_somebody_wrote_into_a_mask(mask: str) -> None:
    env = fifth_avenue_v0.env(mask=mask)
    env.reset(seed=1)
    observation, _, _, _, info = env.last()
    shown = mask_of(mask, observation, info)
    action = int(shown.argmax())
    shown[:] = 0
    env.step(action)
    assert not any(env.terminations.values())
    assert env.unwrapped.games.state["decisions"][0] == 1


def test_nobody_has_legal_actions_after_an_illegal_one() -> None:
    env = fifth_avenue_v0.env(mask="both")
    env.reset(seed=1)
    env.step(int(env.last()[4]["action_mask"].argmin()))
    for agent in env.agents:
        assert not env.infos[agent]["action_mask"].any()
        assert not env.observe(agent)["action_mask"].any()


@each_place
def test_gymnasium(mask: str) -> None:
    env, plain = FifthAvenueEnv(mask=mask, max_turns=6), FifthAvenueEnv(max_turns=6)
    observation, info = env.reset(seed=2)
    expected, shown = plain.reset(seed=2)
    ended = False
    while not ended:
        assert env.observation_space.contains(observation)
        assert (vector_of(mask, observation) == expected).all()
        legal = mask_of(mask, observation, info)
        assert (legal == shown["action_mask"]).all()
        assert (legal == env.action_masks()).all()
        action = int(legal.argmax())
        observation, _, terminated, truncated, info = env.step(action)
        expected, _, _, _, shown = plain.step(action)
        ended = terminated or truncated
    assert not mask_of(mask, observation, info).any()


@each_place
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_gymnasiums_own_check(mask: str) -> None:
    check_env(gymnasium.make(ENV_ID, mask=mask, max_turns=6).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("noop", [False, True])
@each_place
def test_the_vector_environment(mask: str, noop: bool, mode: AutoresetMode) -> None:
    """As Gymnasium makes it of single ones, and a row's last observation in SAME_STEP as well."""
    options: dict[str, Any] = {"num_players": 3, "mask": mask, "noop": noop, "max_turns": 4}
    env: Any = FifthAvenueVectorEnv(NUM_ENVS, autoreset_mode=mode, **options)
    single: Any = SyncVectorEnv([lambda: FifthAvenueEnv(**options)] * NUM_ENVS, autoreset_mode=mode)
    assert env.observation_space == single.observation_space
    mine, theirs = env.reset(seed=5), single.reset(seed=5)
    ended = 0
    for _ in range(40):
        assert data_equivalence(mine, theirs, exact=True)
        assert vector_of(mask, mine[0]).shape == (NUM_ENVS, OBSERVATION_SIZE)
        assert (mask_of(mask, mine[0], mine[-1]) == env.action_masks()).all()
        actions = env.action_masks().argmax(axis=1)
        mine, theirs = env.step(actions), single.step(actions)
        over = mine[2] | mine[3]
        ended += int(over.sum())
        if mode is AutoresetMode.SAME_STEP and over.any():
            row = int(np.argmax(over))
            assert env.single_observation_space.contains(mine[-1]["final_obs"][row])
        elif over.any():
            legal = env.action_masks()[over]
            assert legal.sum() == (over.sum() if noop else 0)
            assert (legal[:, 0] == noop).all()
        if mode is AutoresetMode.DISABLED and over.any():
            mine, theirs = (one.reset(options={"reset_mask": over.copy()}) for one in (env, single))
            theirs[1].update(
                {name: mine[1][name] for name in mine[1]}
            )  # Gymnasium's tells of these rows alone
    assert ended > NUM_ENVS


def test_a_noop_for_agents_that_are_not_to_act() -> None:
    env = fifth_avenue_v0.raw_env(3, mask="both", noop=True)
    env.reset(seed=1)
    for agent in ("seat_1", "seat_2"):
        assert np.flatnonzero(env.infos[agent]["action_mask"]).tolist() == [0]
        assert np.flatnonzero(env.observe(agent)["action_mask"]).tolist() == [0]
    assert (env.infos["seat_0"]["action_mask"] == env.games.mask[0]).all()
    assert not env.games.mask[0, 0]


@pytest.mark.parametrize(
    "make",
    [fifth_avenue_v0.env, fifth_avenue_v0.parallel_env, FifthAvenueEnv, FifthAvenueVectorEnv],
)
def test_wrong_places_are_named(make: Any) -> None:
    with pytest.raises(
        OptionError, match="mask must be one of observation, info, both, rllib, not 'infos'"
    ):
        make(mask="infos")
    with pytest.raises(OptionError, match="noop must be True or False"):
        make(noop="yes")
    with pytest.raises(OptionError, match="mask must be one of"):
        MaskPlace(None)  # type: ignore[arg-type]
