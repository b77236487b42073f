"""Positions at a phase, in which words and reasons are tried."""

from __future__ import annotations

from typing import Any

from skyenv import Game
from skyenv.rules.components import DISTRICTS
from skyenv.rules.state import NONE, PHASE_BID, PHASE_BUILD

TSQ = DISTRICTS.index("TSQ")


def table(**fields: Any) -> Game:
    """A 3-player game, seat 0 on turn, with an empty board, no businesses and no cards."""
    game = Game(3, seed=1)
    while game.phase == "start":
        game.play(game.legal_actions[0])
    state = game.state
    state["owner"][:], state["floors"][:], state["tiles"][:] = NONE, 0, 0
    state["hand"][:], state["known"][:] = 0, 0
    for name, value in fields.items():
        state[name] = value
    return game


def bidding(place: int = TSQ, **fields: Any) -> Game:
    game = table(phase=PHASE_BID, auction_place=place, auction_commissioner=0, laid=NONE, **fields)
    game.state["hand"][0, :, 0] = 1
    return game


def building(place: int, colour: int, rank: int, supply: int = 3) -> Game:
    game = table(phase=PHASE_BUILD, auction_place=place, auction_commissioner=0, highest_bidder=0)
    game.state["bid_colour"][0], game.state["supply"][0] = colour, supply
    game.state["bid_cards"][0, 0, rank] = 1
    return game
