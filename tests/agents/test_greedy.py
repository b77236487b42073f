"""The greedy agent: right where that is plain; see test_judging.py as well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from positions import auction, blank, choose, stand

from agents import GreedyAgent
from agents.greedy import WEIGHTS, Weights
from skyenv.errors import AgentError
from skyenv.rules.components import BLACK

GREEDY = GreedyAgent()


# ---- judgement ----


def test_places_businesses_next_to_its_own_skyscrapers() -> None:
    game = blank(phase=2, option=1, business=2)
    stand(game, 3, 1, 0, 3)  # violet, between green and brown
    stand(game, 4, 1, 1, 3)
    assert choose(game, GREEDY) in ("plot TSQ green", "plot TSQ brown")


def test_scores_where_it_stands_well() -> None:
    game = blank(place=[3, 4])
    stand(game, 3, 1, 0, 4)
    stand(game, 4, 1, 1, 4)
    game.state.tiles[3:5, 0] = [1, 1, 0, 0]
    game.state.tiles[3:5, 2] = [0, 0, 1, 1]
    assert choose(game, GREEDY) == "option D TSQ"


def test_bids_the_cheapest_adequate_cards_and_not_more() -> None:
    game = blank()
    stand(game, 3, 1, 0, 1)  # value 8
    game.state.tiles[3, 0] = [1, 1, 0, 0]
    game.state.tiles[3, 2] = [0, 0, 1, 1]
    auction(game, 3, 6, 1)
    state: Any = game.state
    state.hand[0, 1] = [3, 1, 1]
    assert choose(game, GREEDY) == "bid violet 4"
    state.laid, state.bid_total[0], state.bid_colour[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 4, 1, [2, 1, 1], [1, 0, 0]
    assert choose(game, GREEDY) == "bid violet 4"
    state.laid, state.bid_total[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 8, [1, 1, 1], [2, 0, 0]
    assert choose(game, GREEDY) == "bid done"


def test_passes_when_the_price_exceeds_the_worth() -> None:
    game = blank(placed=6)
    stand(game, 3, 1, 0, 1)  # value 1
    auction(game, 3, 30, 1)
    state: Any = game.state
    state.hand[0, 1], state.hand[0, BLACK] = [0, 3, 2], [0, 2, 2]
    assert choose(game, GREEDY) == "pass"


def test_ends_the_game_ahead_and_not_behind() -> None:
    for lead, wanted in ((25, True), (-25, False)):
        game = blank(placed=11, score=[50 + lead, 50, 50, 0])
        game.state.row[:] = -1
        game.state.row[18:20] = 0
        assert choose(game, GREEDY).startswith("option B") == wanted


def test_declares_the_stop_that_wins() -> None:
    game = blank(score=[60, 10, 10, 0], stops=1, phase=6, auction_place=3, auction_commissioner=0)
    for plot in range(5):
        stand(game, 3, plot, plot % 3, 1)
    state: Any = game.state
    state.bid_colour[0], state.bid_total[0], state.bid_cards[0, 0] = 0, 4, [1, 0, 0]
    state.highest, state.highest_bidder = 4, 0
    assert choose(game, GREEDY) == "stop"


def test_weights() -> None:
    assert sorted(WEIGHTS) == [2, 3, 4]
    assert GreedyAgent(replace(WEIGHTS[2], point=1.5)).name == "greedy"
    with pytest.raises(AgentError, match="must be its Weights"):
        GreedyAgent({"point": 1})
    assert all(np.isfinite(value) for weights in WEIGHTS.values() for value in vars(weights).values())
    assert isinstance(WEIGHTS[3], Weights)
