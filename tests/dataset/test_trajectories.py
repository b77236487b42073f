"""Trajectories of games, decision by decision."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_datasets import matches

from skyenv.dataset.sources import Trajectories
from skyenv.engine.game import Game
from skyenv.engine.observation import SCALE
from skyenv.engine.results import results
from skyenv.rules.state import END_REASONS
from skyenv.seeds import DATASETS


@pytest.mark.parametrize(("players", "side", "max_turns"), [(2, "front", 500), (3, "back", 9)])
def test_trajectories_replay_to_the_games_of_their_seeds(
    players: int, side: str, max_turns: int
) -> None:
    source = matches("random", "crowd", players=players, side=side, games=3, max_turns=max_turns)
    kept = source.trajectories("outcome")
    row = 0
    for number in range(3):
        assert int(kept.seeds[number]) in DATASETS
        assert list(kept.agents[number] or ()) == [
            ("random", "crowd")[index] for index in source.seating()[number]
        ]
        game = Game(players, side, int(kept.seeds[number]), max_turns=max_turns)
        while game.seat is not None:
            assert (kept.game[row], kept.seat[row]) == (number, game.seat)
            assert np.array_equal(kept.mask[row], game.mask)
            assert np.array_equal(kept.codes[row] * SCALE, game.observation())
            assert (
                np.array_equal(kept.rewards[row - 1], np.zeros(4)) or kept.game[row - 1] != number
            )
            game.play(int(kept.action[row]))
            row += 1
        assert np.array_equal(kept.scores[number, :players], game.scores)
        assert np.array_equal(kept.shares[[number]], results(game.batch.state)[0])
        assert np.array_equal(kept.rewards[row - 1, :players], game.batch.reward[0])
        assert game.outcome is not None
        assert END_REASONS[kept.ends[number]] == game.outcome.reason
        assert (game.outcome.reason == "truncated") == (max_turns == 9)
        for seat in range(players):
            assert np.array_equal(kept.last[number, seat] * SCALE, game.observation(seat))
    assert row == len(kept)


# Of some games, who decides when.
ORDERS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=4)


@cache
def one_game() -> Trajectories:
    """To put other numbers into."""
    return matches(games=1).trajectories("outcome")


@given(ORDERS)
def test_rewards_and_ends_per_seat_agree_with_a_plain_loop(orders: list[list[int]]) -> None:
    number = len(orders)
    seat = np.array([seat for order in orders for seat in order])
    rng = np.random.default_rng(len(seat))
    kept = replace(
        one_game(),
        game=np.repeat(np.arange(number), [len(order) for order in orders]),
        seat=seat,
        rewards=rng.integers(-9, 9, size=(len(seat), 4)).astype(np.float32),
        players=np.full(number, 4),
    )
    step, summed, is_last = [], [], []
    for row in range(len(seat)):
        game = kept.game[row]
        step.append(sum(kept.game[:row] == game))
        later = [
            after
            for after in range(row + 1, len(seat))
            if kept.game[after] == game and seat[after] == seat[row]
        ]
        end = later[0] if later else max(np.flatnonzero(kept.game == game)) + 1
        summed.append(kept.rewards[row:end, seat[row]].sum())
        is_last.append(not later)
    assert kept.step().tolist() == step
    assert kept.reward().tolist() == summed
    assert kept.is_last().tolist() == is_last


def test_the_margin_is_relative_to_the_best_other_seat() -> None:
    kept = replace(
        one_game(),
        players=np.array([2, 4]),
        scores=np.array([[7, 9, 0, 0], [1, 5, 5, 2]]),
    )
    assert kept.margin().tolist() == [[-2, 2, 0, 0], [-4, 0, 0, -3]]
