"""What happened, in the words of INTERFACE.md: numbers of compiled code as the events of a game
record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.engine.games import results
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.board import Board
from skyenv.rules.components import (
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    COLOURS,
    DISTRICTS,
    LOWEST_CARD,
    NUM_DISTRICTS,
    PLACES,
    PLOTS,
)
from skyenv.rules.event_log import (
    EVENT_ALEA,
    EVENT_ALEA_BUILDS,
    EVENT_AUCTION,
    EVENT_BLACK,
    EVENT_END,
    EVENT_PARK,
    EVENT_SHUFFLE,
    EVENT_STOP,
    EVENT_TILE_TO_PARK,
    EVENT_TOP,
    EVENT_VP,
    EVENT_WON,
    NOBODY,
    WHYS,
)
from skyenv.rules.state import ALEA, END_REASONS

Event = dict[str, Any]
ChanceOutcome = int | str
"""A chance outcome as people say it: a card's value, or the name of a business or of a plot's
colour.
"""


_SEATS = {ALEA: -1, NOBODY: None}  # what isn't a seat's own number


def _alea_builds(row: Sequence[int], board: Board, players: int) -> Event:
    plots = [plot for plot in board.rings[row[1]] if row[2] >> PLOTS.index(plot) & 1]
    return {"event": "alea builds", "district": DISTRICTS[row[1]], "plots": plots}


def _vp(row: Sequence[int], board: Board, players: int) -> Event:
    place = None if row[2] < 0 else PLACES[row[2]]
    return {"event": "vp", "why": WHYS[row[1]], "place": place, "vp": list(row[3 : 3 + players])}


_EVENTS: dict[int, Callable[[Sequence[int], Board, int], Event]] = {
    EVENT_ALEA_BUILDS: _alea_builds,
    EVENT_VP: _vp,
    EVENT_TOP: lambda r, *_: {
        "event": "top",
        "color": COLOURS[r[1]],
        "card": r[2] if r[2] >= LOWEST_CARD else None,
    },
    EVENT_SHUFFLE: lambda r, *_: {"event": "shuffle"},
    EVENT_BLACK: lambda r, *_: {"event": "black", "seat": r[1], "card": r[2]},
    EVENT_ALEA: lambda r, *_: {"event": "alea", "cards": list(r[2 : 2 + r[1]])},
    EVENT_TILE_TO_PARK: lambda r, *_: {"event": "tile to park", "business": BUSINESSES[r[1]]},
    EVENT_AUCTION: lambda r, *_: {"event": "auction", "place": PLACES[r[1]], "starter": r[2]},
    EVENT_WON: lambda r, *_: {"event": "won", "seat": _SEATS.get(r[1], r[1]), "total": r[2]},
    EVENT_STOP: lambda r, *_: {
        "event": "stop",
        "district": DISTRICTS[r[1]],
        "seat": _SEATS.get(r[2], r[2]),
    },
    EVENT_PARK: lambda r, *_: {
        "event": "park",
        "tiles": [BUSINESSES[tile] for tile in r[2 : 2 + r[1]]],
    },
}


def action_event(seat: int, action: int) -> Event:
    """The event of a decision."""
    return {"event": "action", "seat": seat, "action": action, "name": ACTION_NAMES[action]}


def events_of(
    rows: Iterable[Sequence[int]], state: npt.NDArray[np.void], board: Board
) -> list[Event]:
    """The events that rows of :mod:`skyenv.rules.event_log` tell of the game in `state`, GAME_DTYPE
    (1,), into which they have led.
    """
    players = int(state["num_players"][0])
    return [
        end_event(state) if row[0] == EVENT_END else _EVENTS[row[0]](row, board, players)
        for row in rows
    ]


def end_event(state: npt.NDArray[np.void]) -> Event:
    """END: the event that closes a game, of the game in `state`, GAME_DTYPE (1,)."""
    players = int(state["num_players"][0])
    shares, cards = results(state)
    return {
        "event": "end",
        "reason": END_REASONS[int(state["end"][0])],
        "scores": state["score"][0, :players].tolist(),
        "cards": cards[0, :players].tolist(),
        "winners": np.flatnonzero(shares[0, :players]).tolist(),
    }


def setup_event(game: np.record) -> Event:
    """SET-1 to SET-5: what chance decided before the first decision, of a game in its first
    position.
    """
    plots = {}
    for district in range(NUM_DISTRICTS):
        plot, business = np.argwhere(game["tiles"][district])[0]
        plots[DISTRICTS[district]] = [PLOTS[plot], BUSINESSES[business]]
    hands = [
        {colour: cards_listed(game["hand"][seat, i]) for i, colour in enumerate(CARD_COLOURS)}
        for seat in range(int(game["num_players"]))
    ]
    return {
        "event": "setup",
        "plots": plots,
        "row": [BUSINESSES[business] for business in game["row"]],
        "hands": hands,
        "tops": {colour: int(game["top"][i]) + LOWEST_CARD for i, colour in enumerate(COLOURS)},
    }


def cards_listed(counts: npt.NDArray[np.int8]) -> list[int]:
    """Counts by rank as card values in ascending order."""
    return [
        value for value, number in zip(CARD_VALUES, counts, strict=True) for _ in range(int(number))
    ]


def setup_outcomes(setup: Event, side: str) -> list[ChanceOutcome]:
    """The chance outcomes of a setup event in the order in which the setup needs them.

    For every district the colour of its plot with a business (front side only) and the business;
    the supply row; for every seat one card of each colour and four black ones; the visible tops.
    """
    outcomes: list[ChanceOutcome] = []
    for district in DISTRICTS:
        plot, business = setup["plots"][district]
        outcomes += [plot, business] if side == "front" else [business]
    outcomes += setup["row"]
    for hand in setup["hands"]:
        for colour in CARD_COLOURS:
            outcomes += hand[colour]
    outcomes += [setup["tops"][colour] for colour in COLOURS]
    return outcomes
