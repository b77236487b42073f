"""The PettingZoo environment: PettingZoo's own tests and skyenv's further guarantees."""

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.env_logger import EnvLogger

from positions import deal_anew
from skyenv import fifth_avenue_v0
from skyenv.engine.observation import codes_of, offsets
from skyenv.envs.aec import TerminateIllegal
from skyenv.envs.episodes import END_REASONS
from skyenv.errors import GameOverError, IllegalActionError, OptionError
from skyenv.seeds import TRAINING

with warnings.catch_warnings():
    # Where pygame is installed, PettingZoo's tests import one of its own games in a deprecated way.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo import test as conformance

OPTIONS: list[dict[str, Any]] = [
    {"num_players": 2, "side": "back", "mask": "observation"},
    {"num_players": 3, "side": "front", "mask": "info", "reward": "margin"},
    {"num_players": 4, "side": "back", "mask": "rllib", "noop": True},
    {"num_players": 3, "mask": "info", "state_shows_hidden_cards": True},
]
# The vector's key in observations that are dicts.
MASK_KEYS = {"observation": "observation", "rllib": "observations"}
each_maker = pytest.mark.parametrize("make", [fifth_avenue_v0.env, fifth_avenue_v0.raw_env])
each_option = pytest.mark.parametrize("options", OPTIONS)


def choose(env: Any, rng: np.random.Generator) -> int | None:
    """A random legal action; None after the end."""
    mask = env.unwrapped.games.mask[0]
    over = any(env.terminations.values()) or any(env.truncations.values())
    return None if over else int(rng.choice(np.flatnonzero(mask)))


def started(make: Any = fifth_avenue_v0.raw_env, decisions: int = 30, **options: Any) -> Any:
    """An environment after some decisions."""
    env, rng = make(**options), np.random.default_rng(4)
    env.reset(seed=4)
    for _ in range(decisions):
        env.step(choose(env, rng))
    return env


# ---- PettingZoo's own tests ----


@each_option
@each_maker
@pytest.mark.filterwarnings(
    # Advice for environments with image or vector observations; the classic ones that observe a
    # dict are exempt by name.
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Action mask numpy array is all zeros:UserWarning",
)
def test_pettingzoos_api_tests_pass(make: Any, options: dict[str, Any]) -> None:
    conformance.api_test(make(**options, max_turns=8), num_cycles=100)
    conformance.seed_test(lambda: make(**options), num_cycles=20)


def test_pettingzoos_other_tests_pass() -> None:
    conformance.parallel_api_test(fifth_avenue_v0.parallel_env(3, max_turns=8), num_cycles=60)
    conformance.render_test(lambda **more: fifth_avenue_v0.env(**more))
    makers = (fifth_avenue_v0.env, fifth_avenue_v0.parallel_env)
    conformance.state_test(*(make(state_shows_hidden_cards=True) for make in makers))


# ---- observations and masks ----


@pytest.mark.parametrize(
    ("mask", "noop"), [("observation", False), ("info", False), ("info", True), ("rllib", True)]
)
def test_every_agent_can_be_observed_at_any_time(mask: str, noop: bool) -> None:
    """The mask is where it should be and nowhere else; int8, 0 or action 0 for all but the agent to
    act, also after the end.
    """
    env = started(fifth_avenue_v0.env, 0, num_players=3, mask=mask, noop=noop, max_turns=4)
    rng = np.random.default_rng(3)
    games = env.unwrapped.games
    nothing = np.zeros(103, np.int8)
    nothing[0] = noop
    while env.agents:
        action = choose(env, rng)
        for seat, agent in enumerate(env.possible_agents):
            observation, info = env.observe(agent), env.infos.get(agent, {})
            assert env.observation_space(agent) is env.observation_space(agent)
            assert env.observation_space(agent).contains(observation)
            shown = info.get("action_mask", nothing if agent not in env.agents else None)
            assert mask == "info" or "action_mask" not in info
            if mask != "info":
                assert set(observation) == {MASK_KEYS[mask], "action_mask"}
                shown, observation = observation["action_mask"], observation[MASK_KEYS[mask]]
            assert (observation == games.observe(seat)[0]).all()
            is_to_act = agent == env.agent_selection and action is not None
            assert shown.dtype == np.int8
            assert (shown == (games.mask[0] if is_to_act else nothing)).all()
        env.step(action)


def test_observed_arrays_are_copies() -> None:
    env = started()
    seen = env.observe(env.agent_selection)
    kept = {name: array.copy() for name, array in seen.items()}
    for array in seen.values():
        array[:] = 0
    again = env.observe(env.agent_selection)
    assert all((again[name] == kept[name]).all() for name in kept)


def test_the_state_shows_all_hands_and_nothing_to_come() -> None:
    """Only on demand: equal for equal hands with another chance to come, different for others."""
    env = started(fifth_avenue_v0.env, num_players=3, state_shows_hidden_cards=True)
    told, rng = env.state(), np.random.default_rng(1)
    assert env.state_space.contains(told)
    codes = codes_of(told.reshape(3, -1))
    hands = env.unwrapped.games.state["hand"][0, :3].reshape(3, -1)
    assert (codes[:, offsets()["hand"]] == hands).all()
    assert (told.reshape(3, -1)[1] == env.observe("seat_1")["observation"]).all()
    for changed in (False, True):
        twin = copy.deepcopy(env)
        games = twin.unwrapped.games
        deal_anew(games.state[0], 0, rng)
        if not changed:  # another chance to come alone
            for name in ("hand", "face_down"):
                games.state[name] = env.unwrapped.games.state[name]
        games.refresh()
        assert (env.state() == twin.state()).all() != changed
    for make in (fifth_avenue_v0.env, fifth_avenue_v0.parallel_env):
        closed = make()
        closed.reset(seed=1)
        with pytest.raises(NotImplementedError, match="state_shows_hidden_cards=True"):
            closed.state()
        assert not hasattr(closed, "state_space")
        assert make(task="duel-3", state_shows_hidden_cards=True).state_space.shape == (1444,)


# ---- rewards and the end ----


@pytest.mark.parametrize(
    ("players", "reward", "turns"),
    [
        (2, "margin", 500),
        (3, "points", 500),
        (3, "outcome", 500),
        (4, "outcome", 500),
        (3, "outcome", 3),
    ],
)
def test_rewards_and_infos_of_a_whole_game(players: int, reward: str, turns: int) -> None:
    """The rewards of last() sum to all rewards; all agents end in the same step. After three turns
    the game is truncated.
    """
    env = fifth_avenue_v0.raw_env(players, reward=reward, max_turns=turns)
    rng = np.random.default_rng(5)
    env.reset(seed=5)
    sums, given = (dict.fromkeys(env.possible_agents, 0.0) for _ in range(2))
    for agent in env.agent_iter():
        _, collected, terminated, truncated, _ = env.last()
        sums[agent] += collected
        action = choose(env, rng)
        vp = env.games.state["score"][0, :players].tolist()
        assert all(info["scores"].tolist() == vp for info in env.infos.values())
        assert (action is None) == (terminated or truncated)
        if action is None and env.agents == env.possible_agents:
            assert env.terminations == dict.fromkeys(env.agents, turns == 500)
            assert env.truncations == dict.fromkeys(env.agents, turns == 3)
            assert sum(info["win_share"] for info in env.infos.values()) == pytest.approx(1)
            told = [(info["seat"], info["own_vp"]) for info in env.infos.values()]
            assert told == list(enumerate(vp))
        env.step(action)
        for other, value in env.rewards.items():
            given[other] += value
    assert sums == pytest.approx(given)
    assert reward != "outcome" or sum(sums.values()) == pytest.approx(0.0, abs=1e-6)
    assert reward != "points" or list(sums.values()) == vp
    assert turns == 500 or not any(sums.values())


def pettingzoos_own(**options: Any) -> Any:
    """PettingZoo's usual wrappers one in the other, with our infos after an illegal action."""
    ending = TerminateIllegal(fifth_avenue_v0.raw_env(**options), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(ending))


def answers(env: Any, calls: list[Callable[[Any], Any]]) -> list[str]:
    """What comes of each call: a value or an error; and what was logged."""
    EnvLogger.mqueue.clear()
    told = []
    for call in calls:
        try:
            told.append(repr(call(env)))
        except (KeyError, GameOverError):
            told.append("nobody is left")  # ours says so in a line
        except (AssertionError, AttributeError, ValueError) as error:
            told.append(f"{type(error)} {error}")
    return [*told, *EnvLogger.mqueue]


SHOWN: list[Callable[[Any], Any]] = [
    *(lambda env: (env.rewards, env.infos), lambda env: (env.terminations, env.truncations)),
    *(
        lambda env: (env.agents, env.agent_selection),
        lambda env: env.num_agents,
        lambda env: env._masks,
    ),
    *(lambda env: env.last(), lambda env: env.last(False), lambda env: env.observe("seat_1")),
    *(lambda env: list(zip(range(2), env.agent_iter(), strict=False)), str),
]
# Stands for the lowest legal action.
LEGAL: Any = object()


@pytest.mark.parametrize("mask", ["info", "observation"])
@pytest.mark.parametrize("action", [LEGAL, np.int8(0), 0, 102, 103, -1, None, 1.0, "pass", [0]])
def test_env_behaves_like_pettingzoos_wrappers(action: Any, mask: str) -> None:
    """Before reset, during a game, after its end, and after an illegal action."""

    def step(env: Any, action: Any = action) -> None:
        legal = int(env.unwrapped.games.mask[0].argmax())
        env.step(legal if action is LEGAL else action)

    calls: list[Callable[[Any], Any]] = [
        *SHOWN,
        step,
        *SHOWN,
        lambda env: env.reset(seed=1),
        *SHOWN,
    ]
    for _ in range(12):
        calls += [lambda env: step(env, LEGAL), *SHOWN]
    for one in (action, None, LEGAL, None, None):
        calls += [partial(step, action=one), *SHOWN]
    for turns in (1, 500):
        told = [
            answers(make(max_turns=turns, mask=mask), calls)
            for make in (fifth_avenue_v0.env, pettingzoos_own)
        ]
        assert told[0] == told[1]


@pytest.mark.parametrize("mask", ["info", "observation"])
def test_env_ends_the_game_after_an_illegal_action(mask: str) -> None:
    """Also after the caller has overwritten the masks."""
    env = started(fifth_avenue_v0.env, num_players=3, mask=mask)
    for is_legal in (1, 0):
        loser = env.agent_selection
        observation, *_, info = env.last()
        told = (info if mask == "info" else observation)["action_mask"]
        action = int((told == is_legal).argmax())
        told[:] = 1 - is_legal
        assert not any(env.terminations.values())
        env.step(action)
    assert env.rewards == {agent: -1.0 if agent == loser else 0 for agent in env.possible_agents}
    assert all(env.terminations.values())
    for agent in env.agents:
        info = env.infos[agent]
        assert not info.get("action_mask", np.zeros(103)).any()
        assert (info["win_share"], END_REASONS[info["end_reason"]]) == (0, "illegal")
    for _ in env.possible_agents:
        env.step(None)
    assert not env.agents
    with pytest.raises(IllegalActionError, match="not True"):
        started(fifth_avenue_v0.env).step(True)


# ---- seeds ----


def seeds(first: int | None) -> list[int]:
    """The seeds of four games, one after the other."""
    env, told = fifth_avenue_v0.raw_env(), []
    for seed in (first, None, None, None):
        env.reset(seed=seed)
        told.append(int(env.games.seeds[0]))
    return told


def test_reset_without_seed_continues_the_seed_stream() -> None:
    """Global generators have no effect."""
    assert seeds(8) == seeds(8)
    assert seeds(8)[0] == 8
    assert all(seed in TRAINING for seed in seeds(2**63 - 1)[1:])
    np.random.seed(0)
    fresh = seeds(None)
    np.random.seed(0)
    assert not set(fresh) & set(seeds(None))


# ---- mistakes ----


def snapshot(env: Any) -> tuple[Any, ...]:
    """Return all outputs of an environment."""
    arrays = env.games.state.tobytes(), env.games.mask.tobytes()
    told = (env.rewards, env.terminations, env.truncations, env.agents, env.infos.keys())
    return *arrays, env.agent_selection, repr(told)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        *(
            (lambda env, action=action: env.step(action), IllegalActionError, "action")
            for action in (0, 103, -1, 2**70, None, 1.0, True, "option A", [[1], [2, 3]])
        ),
        *(
            (lambda env, seed=seed: env.reset(seed=seed), OptionError, "seed")
            for seed in (-1, 1.5, "1")
        ),
    ],
)
def test_raw_env_refuses_wrong_actions_and_seeds_and_changes_nothing(
    call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    env = started(reward="margin", decisions=2)  # a starting skyscraper is due, no option
    before = snapshot(env)
    with pytest.raises(error, match=message):
        call(env)
    assert snapshot(env) == before


def test_raw_env_refuses_actions_before_and_after_the_game() -> None:
    env = fifth_avenue_v0.raw_env(max_turns=2)
    with pytest.raises(GameOverError, match="reset"):
        env.last()
    for action in (0, None):
        with pytest.raises(GameOverError):
            env.step(action)
    env = started(max_turns=2, decisions=4)
    while not any(env.truncations.values()):
        env.step(np.int8(np.argmax(env.last()[0]["action_mask"])))
    before = snapshot(env)
    with pytest.raises(GameOverError):
        env.step(0)
    assert snapshot(env) == before


@pytest.mark.parametrize(("seats", "given"), [((), "no agent"), ((0, 2), "seat_0, seat_2")])
def test_a_parallel_step_without_the_agent_to_act_says_so(seats: Any, given: str) -> None:
    env = fifth_avenue_v0.parallel_env(3)
    env.reset(seed=1)
    env.step({env.unwrapped.agent_selection: int(env.unwrapped.games.mask[0].argmax())})
    env.step({env.unwrapped.agent_selection: int(env.unwrapped.games.mask[0].argmax())})
    before = snapshot(env.unwrapped)
    with pytest.raises(IllegalActionError, match=f"seat_1 is to act, but actions has only {given}"):
        env.step({f"seat_{seat}": 0 for seat in seats})
    assert snapshot(env.unwrapped) == before
