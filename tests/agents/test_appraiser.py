"""The appraiser: as strong as greedy, and right where that is plain; see test_judging.py as well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from positions import auction, blank, choose, stand

from agents import AppraiserAgent, GreedyAgent, agent, greedy
from agents.appraiser import WEIGHTS, Weights
from experiments.matches import play_games, rotations
from skyenv.errors import AgentError
from skyenv.rules.components import BLACK, CENTRAL_PARK

APPRAISER = AppraiserAgent()


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_holds_its_own_against_greedy(num_players: int) -> None:
    deals = 150
    seating = rotations(num_players, deals)
    played = play_games([APPRAISER, GreedyAgent()], seating, np.repeat(np.arange(deals), num_players))
    assert played.shares[seating == 0].mean() > 0.75 / num_players
    assert not played.truncated.any()


# ---- judgement ----


def test_does_not_bid_for_what_it_cannot_use() -> None:
    game = blank()
    game.state.supply[0] = 0  # nothing to build, and nobody else is in the way
    auction(game, CENTRAL_PARK, 6, 1)
    game.state.supply[1] = 0
    game.state.hand[0, 4], game.state.hand[0, BLACK] = [1, 1, 1], [2, 2, 2]
    game.state.park_colour = 4
    assert choose(game, APPRAISER) == "pass"


def test_bids_the_cheapest_adequate_cards_and_not_more() -> None:
    game = blank()
    stand(game, 3, 1, 0, 1)  # value 8
    game.state.tiles[3, 0] = [1, 1, 0, 0]
    game.state.tiles[3, 2] = [0, 0, 1, 1]
    auction(game, 3, 6, 1)
    state: Any = game.state
    state.hand[0, 1] = [3, 1, 1]
    assert choose(game, APPRAISER) == "bid violet 4"
    state.laid, state.bid_total[0], state.bid_colour[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 8, 1, [1, 1, 1], [2, 0, 0]
    assert choose(game, APPRAISER) == "bid done"


def test_saves_black_cards_where_coloured_ones_do() -> None:
    game = blank()
    stand(game, 3, 1, 0, 1)
    game.state.tiles[3, 0] = [1, 1, 0, 0]
    game.state.tiles[3, 2] = [0, 0, 1, 1]
    auction(game, 3, 6, 1)
    game.state.hand[0, 1], game.state.hand[0, BLACK] = [2, 0, 0], [3, 3, 3]
    state: Any = game.state
    assert choose(game, APPRAISER) == "bid violet 4"
    state.laid, state.bid_total[0], state.bid_colour[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 4, 1, [1, 0, 0], [1, 0, 0]
    assert choose(game, APPRAISER) == "bid violet 4"


def test_passes_when_the_price_exceeds_the_worth() -> None:
    game = blank(placed=6)
    stand(game, 3, 1, 0, 1)  # value 1
    auction(game, 3, 30, 1)
    game.state.hand[0, 1], game.state.hand[0, BLACK] = [0, 3, 2], [0, 2, 2]
    assert choose(game, APPRAISER) == "pass"


@pytest.mark.parametrize(("lead", "wanted"), [(25, True), (-25, False)])
def test_ends_the_game_ahead_and_not_behind(lead: int, wanted: bool) -> None:
    game = blank(placed=11, score=[50 + lead, 50, 50, 0])
    game.state.row[:] = -1
    game.state.row[18:20] = 0
    assert choose(game, APPRAISER).startswith("option B") == wanted


@pytest.mark.parametrize(("mine", "wanted"), [(60, True), (10, False)])
def test_declares_the_stop_that_ends_the_game_ahead_and_not_behind(mine: int, wanted: bool) -> None:
    game = blank(score=[mine, 35, 35, 0], stops=1, phase=6, auction_place=3, auction_commissioner=0)
    for plot in range(5):
        stand(game, 3, plot, plot % 3, 1)
    state: Any = game.state
    state.bid_colour[0], state.bid_total[0], state.bid_cards[0, 0] = 0, 4, [1, 0, 0]
    state.highest, state.highest_bidder = 4, 0
    assert (choose(game, APPRAISER) == "stop") == wanted


def test_outbids_whoever_would_end_the_game_by_a_stop() -> None:
    game = blank(score=[40, 48, 20, 0], stops=1, placed=3)
    for plot, seat in enumerate((1, 0, 2, 2, 2)):
        stand(game, 3, plot, seat, 1)
    auction(game, 3, 18, 1)
    game.state.bid_colour[1] = 0
    game.state.out[2] = 1
    game.state.hand[0, 1], game.state.hand[0, BLACK] = [2, 1, 0], [0, 1, 1]
    assert choose(game, APPRAISER).startswith("bid")


def test_is_an_agent_with_a_name() -> None:
    assert isinstance(agent("appraiser"), AppraiserAgent)


def test_weights() -> None:
    assert sorted(WEIGHTS) == [2, 3, 4]
    assert all(np.isfinite(value) and value >= 0 for weights in WEIGHTS.values() for value in vars(weights).values())
    assert AppraiserAgent(replace(WEIGHTS[2], point=1.5)).name == "appraiser"
    assert isinstance(WEIGHTS[3], Weights)
    with pytest.raises(AgentError, match="must be its Weights"):
        AppraiserAgent(greedy.WEIGHTS[2])
