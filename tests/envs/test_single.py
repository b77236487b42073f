"""The Gymnasium environment of one learner."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import check_env

from skyenv.agents import Decisions, RandomAgent
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.envs.registration import ENV_ID
from skyenv.envs.single import FifthAvenueEnv
from skyenv.errors import AgentError, GameOverError, IllegalActionError, OptionError

TABLES = [(num_players, side) for num_players in (2, 3, 4) for side in ("front", "back")]
each_table = pytest.mark.parametrize(("num_players", "side"), TABLES)


def lowest_legal(decisions: Decisions) -> npt.NDArray[np.intp]:
    """A player that always takes the lowest legal action."""
    first: npt.NDArray[np.intp] = np.argmax(decisions.mask, axis=1)
    return first


def make(**options: Any) -> Any:
    """The environment, made as users make it."""
    return gymnasium.make(ENV_ID, **options)


def play(env: Any, rng: np.random.Generator, steps: int = 10**9) -> list[tuple[Any, ...]]:
    """Play at random to the end of the episode (at most `steps`) and return all that the steps
    told.
    """
    taken: list[tuple[Any, ...]] = []
    over = False
    while not over and len(taken) < steps:
        mask = env.unwrapped.action_masks()
        observation, reward, terminated, truncated, info = env.step(
            rng.choice(np.flatnonzero(mask))
        )
        taken.append(
            (
                observation.tobytes(),
                reward,
                terminated,
                truncated,
                info["action_mask"].tobytes(),
                info["seat"],
            )
        )
        over = terminated or truncated
    return taken


@each_table
@pytest.mark.parametrize("seat", [0, "random"])
def test_gymnasiums_check_env(num_players: int, side: str, seat: int | str) -> None:
    check_env(make(num_players=num_players, side=side, seat=seat).unwrapped)


def test_spaces_and_info() -> None:
    env = make(num_players=3, seat=2)
    assert env.observation_space.shape == (OBSERVATION_SIZE,)
    assert env.observation_space.dtype == np.float32
    assert env.action_space == gymnasium.spaces.Discrete(103)
    observation, info = env.reset(seed=11)
    assert env.observation_space.contains(observation)
    assert info["seat"] == 2
    assert env.unwrapped.core.games.seeds.tolist() == [11]
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].shape == (103,)
    assert (info["action_mask"] == env.get_wrapper_attr("action_masks")()).all()
    assert info["action_mask"][env.action_space.sample(info["action_mask"])] == 1


@each_table
def test_an_episode(num_players: int, side: str) -> None:
    env = make(num_players=num_players, side=side)
    env.reset(seed=3)
    steps = play(env, np.random.default_rng(3))
    assert steps[-1][2]
    assert not steps[-1][3]
    assert not any(tuple_[2] or tuple_[3] for tuple_ in steps[:-1])
    assert all(reward == 0 for _, reward, *_ in steps[:-1])
    assert -1 <= steps[-1][1] <= 1
    assert not env.unwrapped.action_masks().any()
    assert env.observation_space.contains(env.unwrapped.core.observation()[0])
    with pytest.raises(GameOverError):
        env.step(0)


@pytest.mark.compiled
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_the_rewards_between_two_decisions_are_summed_up(seat: int) -> None:
    env = FifthAvenueEnv(num_players=3, seat=seat, reward="points")
    for seed in range(5):
        env.reset(seed=seed)
        steps = play(env, np.random.default_rng(seed))
        assert sum(reward for _, reward, *_ in steps) == env.core.games.state["score"][0, seat]
        assert steps[-1][2]


def test_a_truncation_is_a_truncation() -> None:
    env = FifthAvenueEnv(max_turns=2)
    env.reset(seed=1)
    steps = play(env, np.random.default_rng(1))
    assert [terminated for _, _, terminated, *_ in steps] == [False] * len(steps)
    assert steps[-1][3]
    assert steps[-1][1] == 0
    assert not any(truncated for *_, truncated, _, _ in steps[:-1])


def test_max_turns_ends_the_game_and_max_episode_steps_only_stops_asking() -> None:
    """Gymnasium's wrapper truncates without the account of what the episode came to, and a decision
    is left open.
    """
    for options, tells in (({"max_turns": 2}, True), ({"max_episode_steps": 3}, False)):
        env = make(**options)
        env.reset(seed=1)
        over = False
        while not over:
            *_, terminated, over, info = env.step(env.unwrapped.action_masks().argmax())
            assert not terminated
        assert ("win_share" in info, info["action_mask"].any()) == (tells, not tells)


def test_the_seat_is_drawn_anew_each_episode_from_the_environments_own_stream() -> None:
    env, twin = (
        FifthAvenueEnv(num_players=4, seat=None),
        FifthAvenueEnv(num_players=4, seat="random"),
    )
    seats = [env.reset(seed=6)[1]["seat"]] + [env.reset()[1]["seat"] for _ in range(80)]
    assert set(seats) == {0, 1, 2, 3}
    assert seats == [twin.reset(seed=6)[1]["seat"]] + [twin.reset()[1]["seat"] for _ in range(80)]
    rotating = FifthAvenueEnv(num_players=3, seat="rotate")
    assert rotating.reset(seed=7)[1]["seat"] == 1
    assert [rotating.reset()[1]["seat"] for _ in range(4)] == [2, 0, 1, 2]


def test_infos_do_not_tell_the_seed() -> None:
    """It decides every hidden card."""
    env, rng = FifthAvenueEnv(max_turns=3), np.random.default_rng(1)
    _, info = env.reset(seed=2**40 + 9)
    ended = False
    while not ended:
        assert set(info) == {"action_mask", "seat"}
        *_, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        ended = terminated or truncated
    assert not any("seed" in name for name in info)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "opponents",
    [
        lowest_legal,
        RandomAgent(),
        RandomAgent,
        "random",
        "hoard",
        f"{__name__}:lowest_legal",
        [lowest_legal, "crowd"],
        ["random", "skyenv.agents:RandomAgent"],
    ],
)
def test_opponents_are_objects_callables_and_names(opponents: Any) -> None:
    env = make(num_players=3, opponents=opponents, seat=1)
    env.reset(seed=1)
    assert play(env, np.random.default_rng(1))[-1][2]


def test_opponents_see_only_their_own_seat() -> None:
    seats: list[npt.NDArray[Any]] = []

    def watching(decisions: Decisions) -> npt.NDArray[np.intp]:
        seats.append(decisions.seat.copy())
        first: npt.NDArray[np.intp] = np.argmax(decisions.mask, axis=1)
        return first

    env = FifthAvenueEnv(num_players=3, opponents=watching, seat=1)
    env.reset(seed=1)
    play(env, np.random.default_rng(1))
    assert set(np.concatenate(seats).tolist()) == {0, 2}


def test_an_illegal_action_ends_the_episode() -> None:
    env = make(seat=0)
    _, info = env.reset(seed=1)
    state = env.unwrapped.core.games.state.tobytes()
    action = int(np.argmin(info["action_mask"]))
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["illegal_action"] == action
    assert not info["action_mask"].any()
    assert env.observation_space.contains(observation)
    assert env.unwrapped.core.games.state.tobytes() == state
    with pytest.raises(GameOverError):
        env.step(action)
    assert env.reset()[1]["action_mask"].any()


def snapshot(env: FifthAvenueEnv) -> tuple[Any, ...]:
    core = env.core
    arrays = (
        core.games.state,
        core.games.mask,
        core.reward,
        core.done,
        core.truncated,
        core.length,
        core.total,
    )
    return (core.observation().tobytes(), *(array.tobytes() for array in arrays))


@pytest.mark.parametrize("action", ["illegal", 103, -1, None, 1.0, "option A", [0, 1]])
def test_mistakes_are_named_and_change_nothing(action: Any) -> None:
    env = FifthAvenueEnv(illegal="raise", reward="margin")
    env.reset(seed=1)
    play(env, np.random.default_rng(1), 20)
    before = snapshot(env)
    with pytest.raises(IllegalActionError):
        env.step(int(np.argmin(env.action_masks())) if action == "illegal" else action)
    assert snapshot(env) == before


def test_stepping_before_reset_is_named() -> None:
    with pytest.raises(GameOverError):
        FifthAvenueEnv().step(0)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"num_players": 5}, OptionError),
        ({"side": "left"}, OptionError),
        ({"seat": 2}, OptionError),
        ({"seat": "first"}, OptionError),
        ({"seat": True}, OptionError),
        ({"reward": "money"}, OptionError),
        ({"illegal": "ignore"}, OptionError),
        ({"render_mode": "video"}, OptionError),
        ({"opponents": ["random", "random"]}, OptionError),
        ({"opponents": []}, OptionError),
        ({"opponents": "nobody"}, AgentError),
        ({"opponents": 7}, AgentError),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        FifthAvenueEnv(**options)


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    env = make(render_mode="ansi")
    env.reset(seed=1)
    assert "TSQ" in env.render()
    assert capsys.readouterr().out == ""
    env = make(render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape[1:] == (1200, 3)
    env = make(render_mode="human")
    env.reset(seed=1)
    assert env.unwrapped._renderer.window._window is not None
    assert env.render() is None
    env.close()
    assert env.unwrapped._renderer.window.is_closed
