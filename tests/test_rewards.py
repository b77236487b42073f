"""Custom reward functions."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import Game, Games, OptionError
from skyenv.engine.rewards import RewardFunction, Transition, outcome_of, share_of


def margin(step: Transition) -> npt.NDArray[np.float64]:
    """The reward "margin", written by a user."""

    def ahead(score: npt.NDArray[np.int32]) -> Any:
        others = [np.delete(score[:, :3], seat, axis=1).max(axis=1) for seat in range(3)]
        return score[:, :3] - np.stack(others, axis=1)

    gained: npt.NDArray[np.float64] = ahead(step.after.score) - ahead(step.before.score)
    return gained / 50


NAMED: dict[str, RewardFunction] = {
    "points": lambda step: step.vp,
    "margin": margin,
    "outcome": lambda step: step.outcome,
}


def paid(reward: Any, max_turns: int) -> list[Any]:
    """The rewards of 400 random steps of a batch, which all environments pay."""
    games, random = (
        Games(5, 3, seed=1, reward=reward, max_turns=max_turns),
        np.random.default_rng(4),
    )
    rewards: list[Any] = []
    for _ in range(400):
        games.step([random.choice(np.flatnonzero(mask)) for mask in games.mask])
        rewards.append(games.reward.tolist())
    return rewards


@pytest.mark.compiled
@pytest.mark.parametrize("name", NAMED)
def test_custom_reward_functions_equal_the_named_rewards(name: str) -> None:
    """In short games, so that many end; truncated games have no outcome."""
    max_turns = 500 if name == "outcome" else 6
    rewards = paid(NAMED[name], max_turns)
    assert rewards == paid(name, max_turns)
    assert any(row[-1] for row in rewards)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_shares_of_the_win_follow_from_outcomes(players: int) -> None:
    shares = np.linspace(0, 1, 7)
    assert share_of(outcome_of(shares, players), players) == pytest.approx(shares)


def test_steps_hold_the_prices_of_auctions() -> None:
    """AUC-8: winners and prices are those of the record."""
    steps: list[Transition] = []

    def note(step: Transition) -> npt.NDArray[np.int64]:
        steps.append(step)
        return -step.price

    game = Game(3, seed=2, reward=note, max_turns=40)
    told = []
    while not game.is_over:
        games = Games(1, options=game.options, autoreset=False)
        games.state[:] = game.state
        games.refresh()
        action = game.legal_actions[-1]
        games.step([action])
        won = [event for event in game.play(action) if event["event"] == "won"]
        step, seats = steps[-1], np.arange(3)
        if won and won[0]["seat"] is not None:
            told.append(won[0]["total"])
            assert step.won[0].tolist() == (seats == won[0]["seat"]).tolist()
            assert step.price[0].max() == won[0]["total"] == -games.reward[0].min()
            assert 4 <= won[0]["total"] / step.cards_paid[0].max() <= 6
        else:
            assert not step.won.any()
            assert not step.price.any()
            assert not step.cards_paid.any()
    assert len(told) > 5


@pytest.mark.parametrize("autoreset", [True, False])
def test_random_play_returns_the_last_steps_reward(autoreset: bool) -> None:
    games = [
        Games(6, 3, seed=3, max_turns=3, reward=reward, autoreset=autoreset)
        for reward in ("points", NAMED["points"])
    ]
    for steps in (1, 7, 60, 200):
        for one in games:
            one.play_random(steps)
        assert (games[0].reward == games[1].reward).all()
        assert (games[0].state == games[1].state).all()


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (lambda step: step.vp[:, 0], r"shape \(2, 3\), not int32 \(2,\)"),
        (lambda step: np.full(step.vp.shape, np.nan), "not finite"),
        (lambda step: [["much"] * 3] * 2, "must return numbers"),
    ],
)
def test_an_invalid_reward_is_an_error(reward: RewardFunction, message: str) -> None:
    games = Games(2, 3, seed=1, reward=reward)
    with pytest.raises(OptionError, match=message):
        games.step(games.mask.argmax(axis=1))
    assert not games.reward.any()
