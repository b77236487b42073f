"""The same seed and the same actions are the same game in every interface."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import Game, Games, fifth_avenue_v0
from skyenv.agents import Decisions
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.vector import FifthAvenueVectorEnv
from skyenv.errors import OptionError

TABLES = [(num_players, side) for num_players in (2, 3, 4) for side in ("front", "back")]
SEED = 1234


def lowest_legal(decisions: Decisions) -> npt.NDArray[np.intp]:
    """A player that always takes the lowest legal action."""
    first: npt.NDArray[np.intp] = np.argmax(decisions.mask, axis=1)
    return first


@pytest.mark.parametrize(("num_players", "side"), TABLES)
def test_game_games_and_pettingzoo(num_players: int, side: str) -> None:
    game = Game(num_players, side, seed=SEED)
    games = Games(3, num_players, side, seed=SEED - 1, autoreset=False)
    raw, env = (
        make(num_players=num_players, side=side)
        for make in (fifth_avenue_v0.raw_env, fifth_avenue_v0.env)
    )
    raw.reset(seed=SEED)
    env.reset(seed=SEED)
    rng = np.random.default_rng(SEED)
    while not game.is_over:
        assert games.seat[1] == game.seat
        assert (games.mask[1] == game.mask).all()
        assert (games.observation[1] == game.observation()).all()
        for other in (raw, env):
            observation = other.last()[0]
            assert other.agent_selection == f"seat_{game.seat}"
            assert (observation["action_mask"] == game.mask).all()
            assert (observation["observation"] == game.observation()).all()
        action = int(rng.choice(game.legal_actions))
        game.play(action)
        games.step([action], rows=[1])
        raw.step(action)
        env.step(action)
    assert games.done[1]
    assert games.state["score"][1, :num_players].tolist() == game.scores
    assert raw.games.state[0] == games.state[1] == env.unwrapped.games.state[0]
    assert list(raw.rewards.values()) == games.reward[1].tolist() == list(env.rewards.values())


@pytest.mark.parametrize(("num_players", "side"), TABLES)
@pytest.mark.parametrize("seat", [0, 1])
def test_the_learners_environments(num_players: int, side: str, seat: int) -> None:
    game = Game(num_players, side, seed=SEED)
    single = FifthAvenueEnv(num_players, side, opponents=lowest_legal, seat=seat)
    vector = FifthAvenueVectorEnv(
        3, num_players, side, opponents=lowest_legal, seat=seat, autoreset_mode="Disabled"
    )
    sb3: Any = SkyenvVecEnv(3, num_players, side, opponents=lowest_legal, seat=seat, seed=SEED - 1)
    observed = [single.reset(seed=SEED)[0], vector.reset(seed=SEED - 1)[0][1], sb3.reset()[1]]
    rng = np.random.default_rng(SEED)
    while not game.is_over:
        if game.seat != seat:
            game.play(int(game.mask.argmax()))
            continue
        assert all((observation == game.observation()).all() for observation in observed)
        action = int(rng.choice(game.legal_actions))
        game.play(action)
        actions = vector.action_masks().argmax(axis=1)
        actions[1] = action
        learner, batch, (observations, rewards, dones, infos) = (
            single.step(action),
            vector.step(actions),
            sb3.step(actions),
        )
        over = bool(dones[1])
        observed = [
            learner[0],
            batch[0][1],
            infos[1]["terminal_observation"] if over else observations[1],
        ]
        assert learner[1] == batch[1][1] == pytest.approx(rewards[1])
        assert learner[2] == batch[2][1] == over
        vector.reset(options={"reset_mask": batch[2]}) if batch[2].any() and not over else None
    assert over
    assert all((observation == game.observation(seat)).all() for observation in observed)
    assert game.outcome is not None
    for info in (learner[4], infos[1], {name: entry[1] for name, entry in batch[4].items()}):
        assert (info["scores"], info["seat"], info["end_reason"]) == (
            game.scores,
            seat,
            game.outcome.reason,
        )
        assert info["win_share"] == (
            1 / len(game.outcome.winners) if seat in game.outcome.winners else 0
        )
        assert info["own_vp"] == game.scores[seat]
        assert info["best_other_vp"] == max(
            score for other, score in enumerate(game.scores) if other != seat
        )
        assert info["opponents"] == [
            None if other == seat else "lowest_legal" for other in range(num_players)
        ]
        assert (info["decisions"], info["turns"]) == (game.state["decisions"], game.state["turns"])


@pytest.mark.parametrize(
    ("make", "option", "others"),
    [
        (
            FifthAvenueEnv,
            "threads",
            "board, illegal, max_turns, observation, one_opponent, .*pool, reward, seat",
        ),
        (FifthAvenueEnv, "observe", "num_players, side, mask, noop, render_mode, render_all_hands"),
        (FifthAvenueVectorEnv, "observe", "threads, board"),
        (
            partial(SkyenvVecEnv, 2),
            "autoreset",
            "num_envs, num_players, side, render_mode, render_all_hands, seed, threads",
        ),
        (fifth_avenue_v0.raw_env, "threads", "render_all_hands, board, max_turns, reward"),
        (fifth_avenue_v0.env, "agent_seed", "render_all_hands, board, max_turns, reward"),
    ],
)
def test_options_of_what_they_are_made_of_are_refused(
    make: Callable[..., Any], option: str, others: str
) -> None:
    with pytest.raises(OptionError, match=f"has no option '{option}'; it has .*{others}"):
        make(**{option: 1})
