"""Inputs of networks from the heuristics: per seat, the deciding one first."""

from typing import Any

import numpy as np
import pytest

from positions import positions
from skyenv.agents import decisions_in
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_DISTRICTS
from skyenv.rules.state import NONE
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, NUM_POSITION_INPUTS, SEAT_INPUTS
from skyenv_agents.learned.layout import POSITION_PARTS
from skyenv_agents.learned.prior import prior_codes


def coded(values: Any) -> Any:
    """Values as codes give them."""
    return pytest.approx(np.rint(values * POSITION_PARTS) / POSITION_PARTS)


@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_position_inputs_agree_with_the_position(players: int, side: str) -> None:
    """SCO-2, COM-1, TURN-2, AUC-3: scores beside the best other one, districts' VP, the own hand,
    supply and bid.
    """
    games, greedy = positions(players, side), GreedyAgent()
    codes = prior_codes(greedy, decisions_in(games, greedy), True)
    inputs = codes[:, NUM_ACTIONS + 1 :] / POSITION_PARTS
    assert inputs.shape == (games.num_games, NUM_POSITION_INPUTS)
    told = inputs.reshape(len(inputs), MAX_PLAYERS, -1)
    assert not told[:, players:].any()
    seats, of_districts = told[:, :players, :SEAT_INPUTS], told[:, :players, SEAT_INPUTS:]
    districts = of_districts.reshape(len(inputs), players, NUM_DISTRICTS, DISTRICT_INPUTS)
    state, rows = games.state, np.arange(len(inputs))[:, None]
    order = (games.seat[:, None] + np.arange(players)) % players

    score = state["score"][rows, order].astype(float)
    for k in range(players):
        ahead = score[:, k] - np.delete(score, k, axis=1).max(axis=1)
        assert seats[:, k, 2] == coded(ahead / 20)
    going = state["stopped"] == 0
    assert (districts.any(axis=3) == going[:, None]).all()
    owned = state["owner"][:, None] == order[:, :, None, None]
    plots = state["floors"].astype(float) * state["value"]
    vp = (owned * plots[:, None]).sum(axis=3) * going[:, None]
    assert districts[..., 1] == coded(vp / 10)
    assert vp.any()

    own, mine = seats[:, 0], games.seat
    row = rows[:, 0]
    points = state["hand"][row, mine] @ np.array([4.0, 5.0, 6.0])
    bidding = state["auction_place"] != NONE
    for column, wanted in {
        9: state["supply"][row, mine] / 6,
        12: state["general"][row, mine] / 12,
        13: points[:, :BLACK].sum(axis=1) / 40,
        14: points[:, BLACK] / 40,
        15: state["hand"][row, mine].sum(axis=(1, 2)) / 10,
        54: bidding * 1.0,
        56: bidding * state["bid_total"][row, mine] / 20,
        57: bidding * state["highest"] / 20,
    }.items():
        assert own[:, column] == coded(wanted)
    assert 0 < bidding.sum() < len(bidding)
