"""The PettingZoo environment: PettingZoo's own tests, and what skyenv promises beside them."""

from __future__ import annotations

import copy
import importlib.util
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pettingzoo
import pytest

from skyenv import fifth_avenue_v0
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import GameOverError, IllegalActionError, OptionError, RenderError

with warnings.catch_warnings():
    # Where pygame is installed, PettingZoo's tests import one of its own games in a way that it has
    # deprecated itself.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo import test as conformance

TABLES = [(num_players, side) for num_players in (2, 3, 4) for side in ("front", "back")]
MAKERS = [fifth_avenue_v0.env, fifth_avenue_v0.raw_env]

each_table = pytest.mark.parametrize(("num_players", "side"), TABLES)
each_maker = pytest.mark.parametrize("make", MAKERS)


def play(env: Any, rng: np.random.Generator, decisions: int = 10**9) -> list[tuple[Any, ...]]:
    """Play at random and return all that env.last() told, and the actions."""
    steps = []
    for agent in env.agent_iter(decisions):
        observation, reward, terminated, truncated, info = env.last()
        over = terminated or truncated
        action = None if over else int(rng.choice(np.flatnonzero(observation["action_mask"])))
        steps.append(
            (
                agent,
                observation["observation"].tobytes(),
                reward,
                terminated,
                truncated,
                dict(info),
                action,
            )
        )
        env.step(action)
    return steps


# ---- PettingZoo's own tests ----


@each_table
@each_maker
@pytest.mark.filterwarnings(
    # Advice for environments with image or vector observations; the classic ones that observe a
    # dict are exempt by name.
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Action mask numpy array is all zeros:UserWarning",
)
def test_pettingzoos_api_test(make: Any, num_players: int, side: str) -> None:
    conformance.api_test(make(num_players=num_players, side=side, max_turns=60), num_cycles=300)


@each_table
@each_maker
def test_pettingzoos_seed_test(make: Any, num_players: int, side: str) -> None:
    conformance.seed_test(lambda: make(num_players=num_players, side=side), num_cycles=50)


@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (4, "back")])
def test_pettingzoos_render_test(num_players: int, side: str) -> None:
    conformance.render_test(
        lambda **kwargs: fifth_avenue_v0.env(num_players=num_players, side=side, **kwargs)
    )


@each_table
def test_pettingzoos_state_test(num_players: int, side: str) -> None:
    options: dict[str, Any] = {"num_players": num_players, "side": side}
    conformance.state_test(fifth_avenue_v0.env(**options), fifth_avenue_v0.parallel_env(**options))


@pytest.mark.parametrize("mask", ["info", "both"])
@each_maker
@pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Action mask numpy array is all zeros:UserWarning",
)
def test_pettingzoos_tests_with_the_mask_elsewhere(make: Any, mask: str) -> None:
    conformance.api_test(make(mask=mask, max_turns=60), num_cycles=300)
    conformance.seed_test(lambda: make(mask=mask), num_cycles=50)


@each_table
@pytest.mark.parametrize("noop", [False, True])
def test_pettingzoos_parallel_api_test(num_players: int, side: str, noop: bool) -> None:
    env = fifth_avenue_v0.parallel_env(num_players=num_players, side=side, noop=noop, max_turns=60)
    conformance.parallel_api_test(env, num_cycles=300)


@pytest.mark.skipif(
    not hasattr(pettingzoo, "register"), reason="PettingZoo makes environments by an id since 1.27"
)
def test_pettingzoo_makes_it_by_its_id() -> None:
    env = pettingzoo.make("aec", "skyenv/fifth_avenue_v0", num_players=4)
    assert env.possible_agents == ["seat_0", "seat_1", "seat_2", "seat_3"]
    assert str(env) == "fifth_avenue_v0"
    assert not env.metadata["is_parallelizable"]
    assert pettingzoo.make("parallel", "skyenv/fifth_avenue_v0").possible_agents == [
        "seat_0",
        "seat_1",
    ]


# ---- in parallel ----


def test_in_parallel_an_illegal_action_ends_the_game() -> None:
    env = fifth_avenue_v0.parallel_env(num_players=3)
    observations, _ = env.reset(seed=6)
    _, rewards, terminations, _, _ = env.step(
        {"seat_0": int(observations["seat_0"]["action_mask"].argmin())}
    )
    assert rewards == {"seat_0": -1.0, "seat_1": 0, "seat_2": 0}
    assert all(terminations.values())
    assert env.agents == []


# ---- what is observed ----


@each_table
@each_maker
def test_every_agent_can_be_observed_at_any_time(make: Any, num_players: int, side: str) -> None:
    env = make(num_players=num_players, side=side)
    env.reset(seed=3)
    rng = np.random.default_rng(3)
    while env.agents:
        over = any(env.terminations.values())
        for agent in env.possible_agents:
            observed = env.observe(agent)
            assert env.observation_space(agent).contains(observed)
            assert observed["action_mask"].any() == (agent == env.agent_selection and not over)
        assert env.state().shape == (num_players * OBSERVATION_SIZE,)
        assert env.state_space.contains(env.state())
        env.step(
            None
            if over
            else int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))
        )
    for agent in env.possible_agents:
        assert env.observation_space(agent).contains(env.observe(agent))
        assert not env.observe(agent)["action_mask"].any()


def test_the_state_holds_every_seats_observation_in_seat_order() -> None:
    env = fifth_avenue_v0.raw_env(num_players=3)
    env.reset(seed=1)
    play(env, np.random.default_rng(1), 50)
    observations = [env.observe(agent)["observation"] for agent in env.possible_agents]
    assert (env.state() == np.concatenate(observations)).all()


def test_what_was_observed_does_not_change_later() -> None:
    env = fifth_avenue_v0.raw_env()
    env.reset(seed=1)
    first = env.last()[0]
    kept = copy.deepcopy(first)
    play(env, np.random.default_rng(1), 20)
    assert (first["observation"] == kept["observation"]).all()
    assert (first["action_mask"] == kept["action_mask"]).all()


def test_spaces_are_the_same_object_on_every_call() -> None:
    env = fifth_avenue_v0.env(num_players=3)
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)


# ---- rewards and the end ----


@each_table
@pytest.mark.parametrize("reward", ["outcome", "margin", "points"])
def test_what_last_tells_sums_up_to_all_rewards(num_players: int, side: str, reward: str) -> None:
    env = fifth_avenue_v0.raw_env(num_players=num_players, side=side, reward=reward)
    env.reset(seed=5)
    rng = np.random.default_rng(5)
    sums = dict.fromkeys(env.possible_agents, 0.0)
    given = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, collected, terminated, truncated, _ = env.last()
        sums[agent] += collected
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        for seat, value in env.rewards.items():
            given[seat] += value
    assert sums == pytest.approx(given)
    if reward == "outcome":
        assert sum(sums.values()) == pytest.approx(0.0, abs=1e-6)
        assert max(sums.values()) > 0
    if reward == "points":
        assert list(sums.values()) == env.games.state["score"][0, :num_players].tolist()


@each_maker
def test_all_agents_end_in_the_same_step(make: Any) -> None:
    env = make(num_players=3)
    env.reset(seed=2)
    rng = np.random.default_rng(2)
    while not any(env.terminations.values()):
        assert not any(env.rewards.values())
        env.step(int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert set(env.rewards) == set(env.possible_agents)
    assert max(env.rewards.values()) > 0
    assert env.agents == env.possible_agents
    removed = [agent for agent, *_ in play(env, rng)]
    assert sorted(removed) == env.possible_agents
    assert not env.agents


@each_maker
def test_a_truncation_is_a_truncation(make: Any) -> None:
    env = make(num_players=2, max_turns=3)
    env.reset(seed=2)
    steps = play(env, np.random.default_rng(2))
    ends = [
        (terminated, truncated)
        for _, _, _, terminated, truncated, _, action in steps
        if action is None
    ]
    assert ends == [(False, True), (False, True)]
    assert sum(reward for _, _, reward, *_ in steps) == 0


# ---- seeds and copies ----


def test_without_a_seed_the_private_stream_goes_on() -> None:
    env, twin = fifth_avenue_v0.raw_env(), fifth_avenue_v0.raw_env()
    np.random.seed(0)  # a global generator must not matter
    env.reset(seed=8)
    env.reset()
    np.random.seed(1)
    twin.reset(seed=8)
    twin.reset()
    assert env.games.seeds[0] == twin.games.seeds[0] != 8
    fresh = fifth_avenue_v0.raw_env()
    fresh.reset()
    np.random.seed(1)
    twin = fifth_avenue_v0.raw_env()
    twin.reset()
    assert fresh.games.seeds[0] != twin.games.seeds[0]


# ---- mistakes ----


def snapshot(env: Any) -> tuple[Any, ...]:
    rewards = (
        dict(env.rewards),
        dict(env._cumulative_rewards),
        dict(env.terminations),
        dict(env.truncations),
    )
    return (
        env.games.state.tobytes(),
        env.games.mask.tobytes(),
        env.state().tobytes(),
        env.agent_selection,
        rewards,
    )


@pytest.mark.parametrize(
    "action", ["illegal", 103, -1, 2**70, None, 1.0, "option A", np.array([1, 2])]
)
def test_raw_env_refuses_what_is_no_legal_action_and_changes_nothing(action: Any) -> None:
    env = fifth_avenue_v0.raw_env(reward="margin")
    env.reset(seed=4)
    play(env, np.random.default_rng(4), 30)
    before = snapshot(env)
    if isinstance(action, str) and action == "illegal":
        action = int(np.argmin(env.last()[0]["action_mask"]))
    with pytest.raises(IllegalActionError):
        env.step(action)
    assert snapshot(env) == before


def test_raw_env_refuses_actions_after_the_end() -> None:
    env = fifth_avenue_v0.raw_env()
    with pytest.raises(GameOverError):
        env.step(0)
    env.reset(seed=4)
    while not any(env.terminations.values()):
        env.step(int(np.argmax(env.last()[0]["action_mask"])))
    before = snapshot(env)
    with pytest.raises(GameOverError):
        env.step(0)
    assert snapshot(env) == before
    play(env, np.random.default_rng(0))
    for action in (0, None):
        with pytest.raises(GameOverError):
            env.step(action)


def test_env_ends_the_game_after_an_illegal_action(capsys: pytest.CaptureFixture[str]) -> None:
    env = fifth_avenue_v0.env(num_players=3)
    env.reset(seed=4)
    play(env, np.random.default_rng(4), 30)
    loser = env.agent_selection
    env.step(int(np.argmin(env.last()[0]["action_mask"])))
    assert env.rewards == {agent: -1.0 if agent == loser else 0 for agent in env.possible_agents}
    assert all(env.terminations.values())
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
    steps = play(env, np.random.default_rng(4))
    assert len(steps) == 3
    assert not env.agents
    env.reset(seed=4)
    assert env.agents == env.possible_agents
    assert not any(env.terminations.values())


def test_env_asserts_the_action_space() -> None:
    env = fifth_avenue_v0.env()
    env.reset(seed=4)
    with pytest.raises(AssertionError):
        env.step(103)


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 1},
        {"num_players": 5},
        {"side": "top"},
        {"max_turns": 0},
        {"reward": "money"},
        {"render_mode": "video"},
        {"board": "no such file.toml"},
    ],
)
def test_wrong_options_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        fifth_avenue_v0.raw_env(**options)


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_wrong_seeds_are_named_and_change_nothing(seed: Any) -> None:
    env = fifth_avenue_v0.raw_env()
    env.reset(seed=4)
    before = snapshot(env)
    with pytest.raises(OptionError):
        env.reset(seed=seed)
    assert snapshot(env) == before


# ---- pictures ----


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    text = fifth_avenue_v0.env(render_mode="ansi")
    text.reset(seed=1)
    assert "TSQ" in text.render()
    assert capsys.readouterr().out == ""
    pixels = fifth_avenue_v0.env(render_mode="rgb_array", num_players=3)
    pixels.reset(seed=1)
    first = pixels.render()
    assert first.shape == (first.shape[0], 1200, 3)
    play(pixels, np.random.default_rng(1), 1)
    assert pixels.render().shape == first.shape
    assert (pixels.render() != first).any()
    silent = fifth_avenue_v0.env()
    silent.reset(seed=1)
    assert silent.render() is None
    assert capsys.readouterr().out == ""


def test_the_window_shows_every_position() -> None:
    """In the mode "human": what render() would return as pixels."""
    env = fifth_avenue_v0.raw_env(render_mode="human")
    pictures: list[npt.NDArray[np.uint8]] = []
    env._renderer.window.show = pictures.append  # type: ignore[assignment, method-assign]
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    assert len(pictures) == 2
    twin = fifth_avenue_v0.raw_env(render_mode="rgb_array")
    twin.reset(seed=1)
    pixels = twin.render()
    assert isinstance(pixels, np.ndarray)
    assert (pixels == pictures[0]).all()
    assert (pictures[0] != pictures[1]).any()


def test_an_environment_with_a_window_can_be_copied_and_closed() -> None:
    env = fifth_avenue_v0.raw_env(render_mode="human")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    twin.render()
    env.close()
    assert env._renderer.window.is_closed
    assert not twin._renderer.window.is_closed
    env.render()
    twin.close()


def test_without_the_extra_pictures_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "skyenv.render.extras.find_spec",
        lambda name: None if name == "thorvg_python" else find(name),
    )
    assert fifth_avenue_v0.raw_env(render_mode="ansi").render_mode == "ansi"
    for mode in ("human", "rgb_array"):
        with pytest.raises(RenderError, match="pip install"):
            fifth_avenue_v0.raw_env(render_mode=mode)
