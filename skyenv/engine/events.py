"""Events of a game (INTERFACE.md): as dictionaries, from compiled code's numbers, and as a seat
sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.engine.results import results
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
from skyenv.rules.state import ALEA, END_REASONS, PHASES

Event = dict[str, Any]
ChanceOutcome = int | str
"""A chance outcome: a card's value, or the name of a business or of a plot's colour."""


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
    """Return the event of a decision."""
    return {"event": "action", "seat": seat, "action": action, "name": ACTION_NAMES[action]}


def events_of(
    rows: Iterable[Sequence[int]], state: npt.NDArray[np.void], board: Board
) -> list[Event]:
    """Return the events of some rows of :mod:`skyenv.rules.event_log`; `state`: the position after
    them, GAME_DTYPE (1,).
    """
    players = int(state["num_players"][0])
    return [
        end_event(state) if row[0] == EVENT_END else _EVENTS[row[0]](row, board, players)
        for row in rows
    ]


def end_event(state: npt.NDArray[np.void]) -> Event:
    """Return the event that ends the game in `state`, GAME_DTYPE (1,) (END)."""
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
    """Return the setup event of a game in its first position (SET-1 to SET-5); of a task's
    opening, the hidden cards dealt.
    """
    if PHASES[game["phase"]] != "start":
        hidden = game["hand"] - game["known"]
        return {"event": "deal", "hands": _hands(hidden[: game["num_players"]])}
    plots = {}
    for district in range(NUM_DISTRICTS):
        plot, business = np.argwhere(game["tiles"][district])[0]
        plots[DISTRICTS[district]] = [PLOTS[plot], BUSINESSES[business]]
    return {
        "event": "setup",
        "plots": plots,
        "row": [BUSINESSES[business] for business in game["row"]],
        "hands": _hands(game["hand"][: game["num_players"]]),
        "tops": {colour: int(game["top"][i]) + LOWEST_CARD for i, colour in enumerate(COLOURS)},
    }


def _hands(counts: npt.NDArray[np.int8]) -> list[dict[str, list[int]]]:
    """Return the values of cards by seat and colour, ascending; `counts`: int8 (seats, 6, 3)."""
    return [
        {
            colour: np.repeat(CARD_VALUES, cards).tolist()
            for colour, cards in zip(CARD_COLOURS, hand, strict=True)
        }
        for hand in counts
    ]


def setup_outcomes(setup: Event, side: str) -> list[ChanceOutcome]:
    """Return the chance outcomes of a game's first event, in the order of the setup.

    For every district the colour of its plot with a business (front side only) and the business;
    the supply row; for every seat one card of each colour and four black ones; the visible tops.
    Of a task for every seat the hidden cards by colour.
    """
    hands = [card for hand in setup["hands"] for colour in CARD_COLOURS for card in hand[colour]]
    if setup["event"] == "deal":
        return hands
    outcomes: list[ChanceOutcome] = []
    for district in DISTRICTS:
        plot, business = setup["plots"][district]
        outcomes += [plot, business] if side == "front" else [business]
    return [*outcomes, *setup["row"], *hands, *(setup["tops"][colour] for colour in COLOURS)]


def seen_by(events: Iterable[Event], seat: int | None) -> list[Event]:
    """Return events as a seat sees them: without others' first hands, black cards and legal
    actions.

    Args:
        events: as in ``Game.events``.
        seat: the seat; None: nothing is hidden.
    """
    return list(events) if seat is None else [_seen(event, seat) for event in events]


def _seen(event: Event, seat: int) -> Event:
    if event["event"] in ("setup", "deal"):
        return {
            **event,
            "hands": [hand if number == seat else {} for number, hand in enumerate(event["hands"])],
        }
    if event["event"] == "black" and event["seat"] != seat:
        return {"event": "black", "seat": event["seat"]}
    if event["event"] == "action" and event["seat"] != seat:
        return {name: value for name, value in event.items() if name != "legal"}
    return event
