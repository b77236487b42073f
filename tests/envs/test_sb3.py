"""The Stable-Baselines3 environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import A2C, DQN
from stable_baselines3.common.evaluation import evaluate_policy as evaluate_without_masks
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from skyenv.agents import RandomAgent
from skyenv.engine.games import results
from skyenv.envs.registration import ENV_ID
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import AgentError, IllegalActionError, OptionError

NUM_ENVS = 6


def choose(env: Any, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Random legal actions."""
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in get_action_masks(env)])


def run(env: Any, steps: int, seed: int = 0) -> list[tuple[Any, ...]]:
    """Step at random and return what the steps told."""
    rng = np.random.default_rng(seed)
    return [env.step(choose(env, rng)) for _ in range(steps)]


@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_maskable_ppo_learns_in_it(num_players: int, side: str) -> None:
    env = SkyenvVecEnv(
        NUM_ENVS, num_players, side, opponents=("random", "crowd"), pool=True, seed=1, max_turns=8
    )
    assert is_masking_supported(env)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=40, batch_size=60, n_epochs=1, seed=1, device="cpu"
    )
    model.learn(480)
    assert model.ep_info_buffer is not None
    assert len(model.ep_info_buffer) > 0
    assert all(-1 <= episode["r"] <= 1 for episode in model.ep_info_buffer)


def test_sb3_contrib_finds_the_masks_of_the_gymnasium_environment() -> None:
    env = gymnasium.make(ENV_ID)
    _, info = env.reset(seed=1)
    assert is_masking_supported(env)
    assert (get_action_masks(env) == info["action_mask"]).all()


def test_episodes_are_reported() -> None:
    env = SkyenvVecEnv(NUM_ENVS, 3, seed=1, reward="points", max_turns=15)
    env.reset()
    returns, lengths, ended = np.zeros(NUM_ENVS), np.zeros(NUM_ENVS, int), 0
    for observations, rewards, dones, infos in run(env, 150):
        assert env.observation_space.contains(observations[0])
        assert observations.dtype == rewards.dtype == np.float32
        returns += rewards
        lengths += 1
        for row in np.flatnonzero(dones):
            info = infos[row]
            assert info["episode"]["r"] == returns[row] == info["scores"][info["seat"]]
            assert info["episode"]["l"] == lengths[row]
            assert info["episode"]["t"] >= 0
            assert env.observation_space.contains(info["terminal_observation"])
            assert (info["terminal_observation"] != observations[row]).any()
            assert info["opponents"] == [
                None if seat == info["seat"] else "random" for seat in range(3)
            ]
            assert info["decisions"] > info["episode"]["l"]
            if info["scores"][info["seat"]] < max(info["scores"]):
                assert info["win_share"] == 0
            ended += 1
        for row in np.flatnonzero(~dones):
            assert infos[row] == {"TimeLimit.truncated": False}
        returns[dones], lengths[dones] = 0, 0
    assert ended > NUM_ENVS


def test_truncations_are_told_from_ends() -> None:
    env = SkyenvVecEnv(NUM_ENVS, 2, seed=1, max_turns=2)
    env.reset()
    infos = [
        info
        for _, _, dones, infos in run(env, 30)
        for done, info in zip(dones, infos, strict=True)
        if done
    ]
    assert infos
    assert all(info["TimeLimit.truncated"] and info["episode"]["r"] == 0 for info in infos)
    env = SkyenvVecEnv(NUM_ENVS, 2, seed=1)
    env.reset()
    infos = [
        info
        for _, _, dones, infos in run(env, 200)
        for done, info in zip(dones, infos, strict=True)
        if done
    ]
    assert infos
    assert not any(info["TimeLimit.truncated"] for info in infos)


def test_the_learners_seat_rotates() -> None:
    env = SkyenvVecEnv(4, 3, seed=1, max_turns=3)
    env.reset()
    assert env.get_attr("seat") == [1, 2, 0, 1]
    seats: list[list[int]] = [[], [], [], []]
    for _, _, dones, infos in run(env, 60):
        for row in np.flatnonzero(dones).tolist():
            seats[row].append(infos[row]["seat"])
    for row in range(4):
        assert len(seats[row]) > 3
        assert seats[row] == [(1 + row + episode) % 3 for episode in range(len(seats[row]))]


def test_the_share_of_a_win_is_that_of_the_result() -> None:
    env = SkyenvVecEnv(NUM_ENVS, 3, seed=1, max_turns=15)
    env.reset()
    rng = np.random.default_rng(2)
    shares = []
    for _ in range(150):
        env.core.step(choose(env, rng))
        rows = np.flatnonzero(env.core.done)
        expected = results(env.core.games.state[rows].view(np.recarray))[0]
        told = [info["win_share"] for info in env.core.episode_infos(rows)]
        assert told == expected[np.arange(rows.size), env.core.learner[rows]].tolist()
        shares += told
        env.core.reset(rows=rows)
    assert {0.0, 1.0} <= set(shares)


def test_a_new_pool_counts_from_the_next_episode_on() -> None:
    env = SkyenvVecEnv(NUM_ENVS, 2, opponents=RandomAgent(), seed=1, max_turns=4)
    env.reset()
    env.set_opponents(["hoard", "crowd"], [1, 3])
    env.set_opponents("crowd")
    assert all("random" in env.core.opponents(row) for row in range(NUM_ENVS))
    names: list[list[str]] = [[] for _ in range(NUM_ENVS)]
    for _, _, dones, infos in run(env, 80):
        for row in np.flatnonzero(dones).tolist():
            names[row].append(next(name for name in infos[row]["opponents"] if name))
    assert all(of_row[0] == "random" and set(of_row[1:]) == {"crowd"} for of_row in names)


def test_illegal_actions_are_refused_with_the_row() -> None:
    env = SkyenvVecEnv(NUM_ENVS, seed=1, illegal="raise")
    env.reset()
    actions = env.action_masks().argmax(axis=1)
    actions[4] = env.action_masks()[4].argmin()
    state = env.core.games.state.copy()
    with pytest.raises(IllegalActionError) as refused:
        env.step(actions)
    assert refused.value.row == 4
    assert (env.core.games.state == state).all()


def test_illegal_actions_end_their_rows() -> None:
    env: Any = SkyenvVecEnv(NUM_ENVS, seed=1)
    env.reset()
    actions = env.action_masks().argmax(axis=1)
    actions[4] = env.action_masks()[4].argmin()
    _, rewards, dones, infos = env.step(actions)
    assert dones.tolist() == [row == 4 for row in range(NUM_ENVS)]
    assert rewards.tolist() == [-1.0 if row == 4 else 0.0 for row in range(NUM_ENVS)]
    assert infos[4]["illegal_action"] == actions[4]
    assert (infos[4]["end_reason"], infos[4]["win_share"], infos[4]["TimeLimit.truncated"]) == (
        "illegal",
        0,
        False,
    )
    assert not any("illegal_action" in info for row, info in enumerate(infos) if row != 4)
    assert env.action_masks()[4].any()
    with pytest.raises(IllegalActionError):
        env.step(np.full(NUM_ENVS, 103))


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [(A2C, {"n_steps": 5}), (DQN, {"learning_starts": 20, "buffer_size": 500})],
)
def test_what_knows_no_masks_learns_in_it(algorithm: Any, options: dict[str, Any]) -> None:
    model = algorithm("MlpPolicy", SkyenvVecEnv(2, seed=1), seed=1, device="cpu", **options)
    model.learn(100)
    rewards: Any
    lengths: Any
    rewards, lengths = evaluate_without_masks(
        model, SkyenvVecEnv(2, seed=1), n_eval_episodes=3, return_episode_rewards=True
    )
    assert len(rewards) == len(lengths) == 3


def test_what_sb3_asks_of_the_rows() -> None:
    env = SkyenvVecEnv(NUM_ENVS, seed=1)
    env.reset()
    assert env.get_attr("render_mode") == [None] * NUM_ENVS
    assert env.get_attr("seed", [1, 2]) == [2, 3]
    assert (env.get_attr("action_masks", 2)[0]() == env.action_masks()[2]).all()
    assert (
        np.stack(env.env_method("action_masks", indices=[3, 1])) == env.action_masks()[[3, 1]]
    ).all()
    assert env.env_is_wrapped(Monitor, indices=[0, 1]) == [True, True]
    assert env.env_is_wrapped(VecMonitor) == [False] * NUM_ENVS
    assert not env.has_attr("nonsense")
    for ask in (env.get_attr, env.env_method):
        with pytest.raises(AttributeError, match="nonsense"):
            ask("nonsense")
    with pytest.raises(AttributeError, match="nonsense"):
        env.set_attr("nonsense", 1)
    assert list(env.get_images()) == [None] * NUM_ENVS
    env.close()


def test_evaluation_counts_its_episodes() -> None:
    env = SkyenvVecEnv(2, seed=1, max_turns=6)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=1, device="cpu")
    rewards: Any
    lengths: Any
    rewards, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True)
    assert len(rewards) == len(lengths) == 4
    assert min(lengths) > 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"opponents": ()}, OptionError),
        ({"opponents": ("random", "crowd"), "opponent_weights": (1,)}, OptionError),
        ({"opponents": ("random", "crowd"), "opponent_weights": (0, 0)}, OptionError),
        ({"opponents": ("random", "crowd"), "opponent_weights": (2, -1)}, OptionError),
        ({"opponents": ("random", "crowd"), "opponent_weights": (float("nan"), 1)}, OptionError),
        ({"opponents": ("nobody",)}, AgentError),
        ({"num_players": 1}, OptionError),
        ({"seat": 2}, OptionError),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        SkyenvVecEnv(2, **options)
