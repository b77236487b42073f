"""Information states.

INF: a seat's *information state* is everything that it has seen since the setup, for players with
perfect recall.

An observation describes the current position as the seat sees it. An information state describes
the history: the setup, the seat's own hand, and every event in order, without other hands' hidden
cards. Two games have the same information state for a seat exactly if the seat can't tell them
apart.

As a text (:func:`information_state`) it is a key for tables. As a vector
(:func:`information_tensor`) it has one length for all games, :func:`information_size`; it holds
integer codes, or with ``scaled=True`` codes times constants, about −1 to 1:

    0         the seat whose it is
    1         number of players
    2         side of the board: 0 front, 1 back
    3         turns after which the game is truncated (END-5)
    4–45      rings (COM-6): 7 districts · 6 positions → plot 0–5; on the front side the sixth is −1
    46–59     SET-1, SET-2: 7 districts · (plot, type of its business)
    60–79     SET-3: 20 spaces of the supply row → type
    80–97     SET-4, SET-5: the seat's first hand: 6 card colours · 3 values → number of cards
    98–102    SET-4: value of the first visible card of each colour
              of a bidding task instead: 46 its place in TASKS, 47 the number of its opening, then
              −1; 80–97 the cards that the seat was dealt unseen; 98–102 0
    103 …     the events, EVENT_SIZE numbers each: what happened (KINDS), then its numbers
              (:data:`FIELDS`); 0 behind the last
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_seat
from skyenv.engine.events import Event, seen_by
from skyenv.engine.game import Game
from skyenv.engine.openings import TASKS
from skyenv.engine.options import GameOptions
from skyenv.errors import OptionError
from skyenv.rules.components import (
    BLACK_CARDS,
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    COLOURED_CARDS,
    COLOURS,
    DISTRICTS,
    MAX_PLAYERS,
    NUM_DISTRICTS,
    NUM_PLOTS,
    PLACES,
    PLOTS,
    ROW_SIZE,
    SIDES,
)
from skyenv.rules.event_log import NOBODY, WHYS
from skyenv.rules.state import END_REASONS

EVENT_SIZE: Final = 3 + MAX_PLAYERS
HEADER_SIZE: Final = 103
DEFAULT_EVENTS: Final = 2048
"""Default room for events; games between strong players have 300 to 900."""
EVENTS_PER_AUCTION: Final = 24
"""Besides cards and ends of bids: the auction's begin and end, passes, tops, Alea's cards and
shuffle, what is built or scored.
"""
_NAMES: Final = ("name", "legal")  # redundant fields, and fields about the position alone

FIELDS: Final[dict[str, str]] = {
    "action": "seat, action (INTERFACE.md)",
    "top": "colour, value of the card that became visible (0: the stack is empty)",
    "shuffle": "",
    "black": "seat, value of the black card that it drew (0: hidden from this seat)",
    "alea": "number of cards that Alea turned up, their values (up to 4)",
    "alea builds": "district, plots as bits "
    "(1: green, 2: violet, 4: brown, 8: orange, 16: gray, 32: the sixth)",
    "tile to park": "type",
    "auction": "place (0–6 districts, 7 Central Park), seat that starts",
    "won": f"seat (-1: Alea, {NOBODY}: nobody), its total",
    "stop": "district, seat (-1: Alea)",
    "vp": "why (0 district, 1 stop, 2 bonus, 3 final, 4 park), place (−1: none), VP of every seat",
    "park": "number of businesses turned up, their types (up to 3)",
    "end": "why (1 businesses, 2 stops, 3 truncated), cards in every seat's hand",
}
"""The numbers of each kind of event in the vector, after the kind itself; 0 behind them."""
KINDS: Final = tuple(FIELDS)
"""Kinds of events (INTERFACE.md); in the vector they are numbered from 1."""


_VP: Final = 20  # victory points of an event that are scaled to 1
_LARGEST: Final[dict[str, tuple[int, ...]]] = {
    "action": (3, 102),
    "top": (4, 6),
    "shuffle": (),
    "black": (3, 6),
    "alea": (4, 6, 6, 6, 6),
    "alea builds": (6, 63),
    "tile to park": (3,),
    "auction": (7, 3),
    "won": (3, 20),
    "stop": (6, 3),
    "vp": (4, 7, _VP, _VP, _VP, _VP),
    "park": (3, 3, 3, 3),
    "end": (3, 20, 20, 20, 20),
}
"""For each of :data:`FIELDS` the value that is scaled to 1: the maximum, or a large value if there
is none.
"""
_LARGEST_OF_HEADER: Final = (3, 4, 1, 500, *[5] * 42, *[5, 3] * 7, *[3] * 20, *[4] * 18, *[6] * 5)


def _scales(largest: Iterable[int], size: int) -> list[float]:
    scales = [1 / number for number in largest]
    return scales + [1.0] * (size - len(scales))


_HEADER_SCALE: Final = np.array(_scales(_LARGEST_OF_HEADER, HEADER_SIZE), np.float32)
_EVENT_SCALES: Final = np.array(
    [_scales((len(KINDS), *_LARGEST[kind]), EVENT_SIZE) for kind in KINDS], np.float32
)


# ---- as a text ----


def information_state(game: Game, seat: int) -> str:
    """Return a seat's information state as text: a line for the table, one for the setup, one for
    each event.

    Args:
        game: the game; its events must tell the whole of it.
        seat: 0 … N−1.

    Raises:
        OptionError: there is no such seat.
    """
    return "\n".join([first_line(game.options, seat), *map(event_line, seen_by(game.events, seat))])


def first_line(options: GameOptions, seat: int) -> str:
    """Return the first line of an information state: the kind of game and the seat.

    Raises:
        OptionError: there is no such seat.
    """
    table = {
        "seat": check_seat(seat, options.num_players),
        "players": options.num_players,
        "side": options.side,
        "max_turns": options.max_turns,
    }
    task = {} if options.task is None else {"task": options.task}
    return event_line({**table, **task, "rings": options.board.rings})


def event_line(event: Event) -> str:
    """Return an event (as returned by :func:`seen_by`) as a line of an information state."""
    return json.dumps(
        {name: value for name, value in event.items() if name not in _NAMES}, separators=(",", ":")
    )


# ---- as a vector ----


def most_events(num_players: int, max_turns: int) -> int:
    """Return an upper bound of a game's events, without the setup.

    A turn has at most 24 events outside of auctions.
    """
    auctions, bids = _most_bidding(num_players, max_turns)
    return 2 * num_players + 24 * max_turns + auctions * EVENTS_PER_AUCTION + bids + 16


def most_decisions(num_players: int, max_turns: int) -> int:
    """Return an upper bound of a game's decisions, all seats together.

    A seat places two starting skyscrapers. Outside of auctions a turn has at most six decisions: an
    option, a plot, two cards and two moves. In an auction every seat passes at most once, and the
    winner decides once what to build.
    """
    auctions, bids = _most_bidding(num_players, max_turns)
    return 2 * num_players + 6 * max_turns + auctions * (num_players + 1) + bids


def _most_bidding(num_players: int, max_turns: int) -> tuple[int, int]:
    """Return upper bounds of the auctions and of the decisions in them.

    A turn has at most two moves, and a commissioner that starts k + 1 auctions has made at least
    k + 2 moves, k ≤ 3. In an auction a seat lays down cards of one colour or black (AUC-4), each
    once, and a bid has at least one card.
    """
    auctions = max_turns * 2 * 4 // 5 + 1
    cards = num_players * sum(COLOURED_CARDS) + sum(BLACK_CARDS)
    return auctions, auctions * 2 * cards


def information_size(events: int = DEFAULT_EVENTS) -> int:
    """Return the length of the vector with room for this many events."""
    return HEADER_SIZE + EVENT_SIZE * events


def information_tensor(
    game: Game, seat: int, events: int = DEFAULT_EVENTS, scaled: bool = False
) -> npt.NDArray[np.float32]:
    """Return a seat's information state as a vector, float32 (information_size(events),), as the
    module's docstring defines it.

    Args:
        game: the game; its events must tell the whole of it.
        seat: 0 … N−1.
        events: room for events, without the setup.
        scaled: whether codes are multiplied by constants, for networks; otherwise integers.

    Raises:
        OptionError: there is no such seat, or there are more events than room.
    """
    setup, *happened = seen_by(game.events, check_seat(seat, game.num_players))
    header = information_header(game.options, seat, setup, scaled)
    return in_one_vector([header, information_rows(happened, scaled)], events)


def in_one_vector(parts: Sequence[npt.NDArray[np.float32]], events: int) -> npt.NDArray[np.float32]:
    """Return an information state's vector: header, events, and zeros.

    Raises:
        OptionError: there are more than `events` events.
    """
    filled = np.concatenate(parts)
    happened = (filled.size - HEADER_SIZE) // EVENT_SIZE
    if happened > events:
        raise OptionError(f"{happened} events have happened, but there is room for {events}")
    vector = np.zeros(information_size(events), np.float32)
    vector[: filled.size] = filled
    return vector


def information_rows(events: Sequence[Event], scaled: bool) -> npt.NDArray[np.float32]:
    """Return the numbers of events that a seat has seen, float32 (EVENT_SIZE · k,)."""
    rows = np.zeros((len(events), EVENT_SIZE), np.float32)
    for row, event in zip(rows, events, strict=True):
        numbers = _NUMBERS[event["event"]](event)
        kind = KINDS.index(event["event"])
        row[: 1 + len(numbers)] = [1 + kind, *numbers]
        if scaled:
            row *= _EVENT_SCALES[kind]
    return rows.reshape(-1)


def information_header(
    options: GameOptions, seat: int, setup: Event, scaled: bool
) -> npt.NDArray[np.float32]:
    """Return the numbers before the events, float32 (HEADER_SIZE,); `setup` as the seat has seen
    it.
    """
    positions = [
        plot
        for ring in options.board.rings
        for plot in [*map(PLOTS.index, ring), *[-1] * (NUM_PLOTS - len(ring))]
    ]
    if options.task is None:
        laid_out = [
            code
            for plot, business in map(setup["plots"].get, DISTRICTS)
            for code in (PLOTS.index(plot), BUSINESSES.index(business))
        ] + [BUSINESSES.index(business) for business in setup["row"]]
        tops = [setup["tops"][colour] for colour in COLOURS]
    else:
        task, _, number = options.task.partition("/")
        laid_out = [[*TASKS].index(task), int(number)] + [-1] * (2 * NUM_DISTRICTS + ROW_SIZE - 2)
        tops = [0] * len(COLOURS)
    hand = [
        setup["hands"][seat][colour].count(value)
        for colour in CARD_COLOURS
        for value in CARD_VALUES
    ]
    table = [seat, options.num_players, SIDES.index(options.side), options.max_turns]
    numbers = np.array([*table, *positions, *laid_out, *hand, *tops], np.float32)
    return numbers * _HEADER_SCALE if scaled else numbers


def _place(name: str | None) -> int:
    return -1 if name is None else PLACES.index(name)


_NUMBERS: Final[dict[str, Callable[[Event], list[Any]]]] = {
    "action": lambda event: [event["seat"], event["action"]],
    "top": lambda event: [COLOURS.index(event["color"]), event["card"] or 0],
    "shuffle": lambda event: [],
    "black": lambda event: [event["seat"], event.get("card", 0)],
    "alea": lambda event: [len(event["cards"]), *event["cards"]],
    "alea builds": lambda event: [
        _place(event["district"]),
        sum(1 << PLOTS.index(plot) for plot in event["plots"]),
    ],
    "tile to park": lambda event: [BUSINESSES.index(event["business"])],
    "auction": lambda event: [_place(event["place"]), event["starter"]],
    "won": lambda event: [NOBODY if event["seat"] is None else event["seat"], event["total"]],
    "stop": lambda event: [_place(event["district"]), event["seat"]],
    "vp": lambda event: [WHYS.index(event["why"]), _place(event["place"]), *event["vp"]],
    "park": lambda event: [len(event["tiles"]), *map(BUSINESSES.index, event["tiles"])],
    "end": lambda event: [END_REASONS.index(event["reason"]), *event["cards"]],
}
