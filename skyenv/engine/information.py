"""Information states.

INF: a seat's *information state* is everything that it has seen since the setup, for players with
perfect recall.

An observation describes the current position as the seat sees it. An information state describes
the history: the setup, the seat's own hand, and every event in order, without other hands' hidden
cards. Two games have the same information state for a seat exactly if the seat can't tell them
apart.

As a text (:func:`information_state`) it is a key for tables. As a vector
(:func:`information_tensor`) it has one length for all games, :func:`information_size`. It holds
codes, each divided by its largest value (or by a large one, if there is none), about −1 to 1:

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
    103 …     the events, EVENT_SIZE numbers each: the kind, counted from 1, then its numbers
              (:data:`skyenv.engine.events.EVENTS`); 0 behind the last
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from skyenv.array_types import Float32
from skyenv.checks import check_seat
from skyenv.engine.events import CODES, EVENTS, Event, EventField, row_of, seen_by
from skyenv.engine.game import Game
from skyenv.engine.openings import NUM_OPENINGS, TASKS
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
    PLOTS,
    ROW_SIZE,
    SIDES,
)
from skyenv.rules.event_log import EVENT_BLACK

EVENT_SIZE: Final = 3 + MAX_PLAYERS
HEADER_SIZE: Final = 103
DEFAULT_EVENTS: Final = 2048
"""Default room for events; games between strong players have 300 to 900."""
# Besides cards and ends of bids: the auction's begin and end, passes, tops, Alea's cards and
# shuffle, what is built or scored.
EVENTS_PER_AUCTION: Final = 24
_NAMES: Final = ("name", "legal")  # redundant fields, and fields about the position alone


def _scales(largest: Sequence[int]) -> Float32:
    return (1 / np.array(largest)).astype(np.float32)


def _event_scales(fields: Sequence[EventField]) -> Float32:
    largest = [len(EVENTS), *(number for field in fields for number in field.scaled_to_1)]
    return _scales(largest + [1] * (EVENT_SIZE - len(largest)))


# [kind] → factors of an event's numbers, float32 (13, EVENT_SIZE).
_EVENT_SCALES: Final = np.array([_event_scales(fields) for fields in EVENTS.values()])
_LAID_OUT: Final = [5, 3] * NUM_DISTRICTS + [3] * ROW_SIZE
_OPENING: Final = [len(TASKS) - 1, NUM_OPENINGS - 1] + [1] * (len(_LAID_OUT) - 2)
# Factors of the numbers before the events: of a whole game, and of a task.
_HEADER_SCALES: Final = [
    _scales([3, 4, 1, 500, *[5] * 42, *places, *[cards] * 18, *[6] * 5])
    for places, cards in ((_LAID_OUT, 4), (_OPENING, 6))
]


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


def information_tensor(game: Game, seat: int, events: int = DEFAULT_EVENTS) -> Float32:
    """Return a seat's information state as a vector, float32 (information_size(events),), as the
    module's docstring defines it.

    Args:
        game: the game; its events must tell the whole of it.
        seat: 0 … N−1.
        events: room for events, without the setup.

    Raises:
        OptionError: there is no such seat, or there are more events than room.
    """
    check_seat(seat, game.num_players)
    setup, *happened = game.events
    header = information_header(game.options, seat, setup)
    return in_one_vector([header, information_rows(map(row_of, happened), seat)], events)


def in_one_vector(parts: Sequence[Float32], events: int) -> Float32:
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


def information_rows(rows: Iterable[Sequence[int]], seat: int | None) -> Float32:
    """Return the numbers of events that a seat has seen, float32 (EVENT_SIZE · k,).

    Args:
        rows: the events; see :data:`skyenv.engine.events.EVENTS`.
        seat: the seat; others' black cards are 0.
    """
    kinds, numbers = list[int](), list[int]()
    for row in rows:
        kind, *event = row[:EVENT_SIZE]
        for at, codes in CODES[kind]:
            event[at - 1] = codes.get(event[at - 1], event[at - 1])
        if kind == EVENT_BLACK and event[0] != seat:
            event[1] = 0
        kinds.append(kind)
        numbers += [kind + 1, *event]
    scales = _EVENT_SCALES[np.array(kinds, np.int64)].reshape(-1)
    return np.array(numbers, np.float32) * scales


def information_header(options: GameOptions, seat: int, setup: Event) -> Float32:
    """Return the numbers before the events, float32 (HEADER_SIZE,)."""
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
    return numbers * _HEADER_SCALES[options.task is not None]
