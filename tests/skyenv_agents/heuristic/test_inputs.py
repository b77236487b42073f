"""What networks are told of a position: of every seat, the deciding one first, and no more than it
may know.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from positions import positions
from skyenv.agents import decisions_in
from skyenv.engine.games import Games
from skyenv.rules.components import BLACK, LOWEST_CARD, MAX_PLAYERS, NUM_DISTRICTS, NUM_RANKS
from skyenv.rules.state import NONE
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, NUM_POSITION_INPUTS, SEAT_INPUTS

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]


def told(games: Games) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Of seats, (n, 4, SEAT_INPUTS), and of districts, (n, 4, 7, DISTRICT_INPUTS)."""
    greedy = GreedyAgent()
    inputs = greedy.inputs(decisions_in(games, greedy))
    assert inputs.dtype == np.float32
    assert inputs.shape == (games.num_games, NUM_POSITION_INPUTS)
    seats = inputs.reshape(games.num_games, MAX_PLAYERS, -1)
    return seats[..., :SEAT_INPUTS], seats[..., SEAT_INPUTS:].reshape(
        games.num_games, MAX_PLAYERS, NUM_DISTRICTS, DISTRICT_INPUTS
    )


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_seats_are_told_of_in_turn_from_the_one_that_decides(players: int, side: str) -> None:
    """SCO-2: their scores beside the best other one, and what each district would bring them."""
    games = positions(players, side)
    seats, districts = told(games)
    assert not seats[:, players:].any()
    assert not districts[:, players:].any()
    for row in range(games.num_games):
        game = games.state[row]
        for k in range(players):
            seat = (int(games.seat[row]) + k) % players
            best = max(int(game["score"][other]) for other in range(players) if other != seat)
            assert seats[row, k, 2] == pytest.approx(
                (int(game["score"][seat]) - best) / 20, abs=1e-6
            )
            for district in range(NUM_DISTRICTS):
                stopped = bool(game["stopped"][district])
                assert districts[row, k, district].any() != stopped
                own = game["owner"][district] == seat
                vp = int(
                    (game["floors"][district].astype(int) * game["value"][district])[own].sum()
                )
                assert stopped or districts[row, k, district, 1] == pytest.approx(vp / 10, abs=1e-6)
    assert districts[..., 1].any()


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_the_seat_that_decides_is_told_of_its_hand_its_supply_and_its_bid(
    players: int, side: str
) -> None:
    """COM-1, TURN-2, AUC-3: as they are."""
    games = positions(players, side)
    own = told(games)[0][:, 0]
    state, rows = games.state, np.arange(games.num_games)
    hand = state["hand"][rows, games.seat]
    points = hand @ (np.arange(NUM_RANKS) + LOWEST_CARD)
    assert own[:, 13] == pytest.approx(points[:, :BLACK].sum(axis=1) / 40, abs=1e-5)
    assert own[:, 14] == pytest.approx(points[:, BLACK] / 40, abs=1e-5)
    assert own[:, 15] == pytest.approx(hand.sum(axis=(1, 2)) / 10, abs=1e-5)
    assert own[:, 9] == pytest.approx(state["supply"][rows, games.seat] / 6, abs=1e-5)
    assert own[:, 12] == pytest.approx(state["general"][rows, games.seat] / 12, abs=1e-5)
    bidding = state["auction_place"] != NONE
    assert np.array_equal(own[:, 54] == 1, bidding)
    assert own[bidding, 56] == pytest.approx(
        state["bid_total"][rows, games.seat][bidding] / 20, abs=1e-5
    )
    assert own[bidding, 57] == pytest.approx(state["highest"][bidding] / 20, abs=1e-5)
    assert not own[~bidding, 54:].any()
    assert bidding.any()
    assert not bidding.all()
