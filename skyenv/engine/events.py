"""Events of a game (INTERFACE.md), as dictionaries and as rows of numbers.

:data:`EVENTS` defines every kind of event. Dictionaries, rows, information states
(:mod:`skyenv.engine.information`), the schema of records and the documents follow from it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

import numpy as np

from skyenv.array_types import Int8, RecordArray
from skyenv.engine.results import results
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.board import Board
from skyenv.rules.components import (
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    CENTRAL_PARK,
    COLOURS,
    DISTRICTS,
    LOWEST_CARD,
    MAX_PLAYERS,
    NUM_DISTRICTS,
    PLACES,
    PLOTS,
)
from skyenv.rules.event_log import EVENT_END, EVENT_WIDTH, NOBODY, WHYS
from skyenv.rules.state import ALEA, END_REASONS, NONE, PHASES

Event = dict[str, Any]
ChanceOutcome = int | str
"""A chance outcome: a card's value, or the name of a business or of a plot's colour."""


# ---- the table of events ----


@dataclass(frozen=True)
class EventField:
    """A field of an event: one number in a row.

    Attributes:
        name: its name in dictionaries.
        text: what it is, for documents.
        values: number → value in dictionaries; none: numbers from 0 stand for themselves.
        largest: the number that information states scale to 1: the maximum, or a large number if
            there is none.
        codes: number → what information states have instead.
        is_seat: whether it is a seat.
        is_chance: whether chance decides it.
    """

    name: str
    text: str
    values: Mapping[int, int | str | None]
    largest: int
    codes: Mapping[int, int] = field(default_factory=dict)
    is_seat: bool = False
    is_chance: bool = False

    @property
    def scaled_to_1(self) -> list[int]:
        """For each of its numbers the one that is scaled to 1."""
        return [self.largest]

    @cached_property
    def _numbers(self) -> dict[int | str | None, int]:
        return {value: number for number, value in self.values.items()}

    def lengths(self, players: int) -> Sequence[int] | None:
        """Return the lengths of a list of values; None: it is a single value."""
        return None

    def read(self, numbers: Sequence[int], players: int) -> Any:
        """Return the value that numbers of a row stand for."""
        return self.values[numbers[0]]

    def write(self, value: Any) -> list[int]:
        """Return the numbers that stand for a value."""
        return [self._numbers[value]]


@dataclass(frozen=True)
class _List(EventField):
    """A list: its length, then up to `most` numbers."""

    most: int = 0

    @property
    def scaled_to_1(self) -> list[int]:
        return [self.most, *[self.largest] * self.most]

    def lengths(self, players: int) -> Sequence[int] | None:
        return range(self.most + 1)

    def read(self, numbers: Sequence[int], players: int) -> Any:
        return [self.values[number] for number in numbers[1 : 1 + numbers[0]]]

    def write(self, value: Any) -> list[int]:
        return [len(value), *map(self._numbers.__getitem__, value), *[0] * (self.most - len(value))]


class _Set(EventField):
    """A set: a number with a bit for each value."""

    def lengths(self, players: int) -> Sequence[int] | None:
        return range(len(self.values) + 1)

    def read(self, numbers: Sequence[int], players: int) -> Any:
        return [value for number, value in self.values.items() if numbers[0] >> number & 1]

    def write(self, value: Any) -> list[int]:
        return [sum(1 << self._numbers[one] for one in value)]


class _Seats(EventField):
    """A count for every seat."""

    @property
    def scaled_to_1(self) -> list[int]:
        return [self.largest] * MAX_PLAYERS

    def lengths(self, players: int) -> Sequence[int] | None:
        return (players,)

    def read(self, numbers: Sequence[int], players: int) -> Any:
        return list(numbers[:players])

    def write(self, value: Any) -> list[int]:
        return [*value, *[0] * (MAX_PLAYERS - len(value))]


def _seat(name: str, text: str, others: Mapping[int, int | None] | None = None) -> EventField:
    """Return a field that is a seat, or one of others: Alea, nobody."""
    values = {**_themselves(range(MAX_PLAYERS)), **(others or {})}
    return EventField(name, text, values, MAX_PLAYERS - 1, {ALEA: ALEAS_SEAT}, is_seat=True)


def _themselves(numbers: Iterable[int]) -> dict[int, int | str | None]:
    return {number: number for number in numbers}


def _numbered(names: Sequence[str], first: int = 0) -> str:
    """Return names with their numbers, for documents."""
    return ", ".join(f"{number} {name}" for number, name in enumerate(names[first:], first))


# Alea as a seat, outside compiled code.
ALEAS_SEAT: Final = -1
# Totals, VP and cards that are scaled to 1.
LARGE: Final = 20
_CARDS: Final = _themselves(CARD_VALUES)
_DISTRICT: Final = EventField(
    "district", "district", dict(enumerate(DISTRICTS)), len(DISTRICTS) - 1
)
_PLACES: Final = dict[int, int | str | None](enumerate(PLACES[: CENTRAL_PARK + 1]))
_BUSINESSES: Final = dict[int, int | str | None](enumerate(BUSINESSES))
_MOST_CARDS: Final = CARD_VALUES[-1]
_MOST_BUSINESS: Final = len(BUSINESSES) - 1

EVENTS: Final[dict[str, tuple[EventField, ...]]] = {
    "action": (
        _seat("seat", "seat"),
        EventField(
            "action", "action (INTERFACE.md)", _themselves(range(NUM_ACTIONS)), NUM_ACTIONS - 1
        ),
    ),
    "top": (
        EventField("color", "colour", dict(enumerate(COLOURS)), len(COLOURS) - 1),
        EventField(
            "card",
            "value of the card that became visible (0: the stack is empty)",
            {**_CARDS, NONE: None},
            _MOST_CARDS,
            {NONE: 0},
            is_chance=True,
        ),
    ),
    "shuffle": (),
    "black": (
        _seat("seat", "seat"),
        EventField(
            "card",
            "value of the black card that it drew (0: hidden from this seat)",
            _CARDS,
            _MOST_CARDS,
            is_chance=True,
        ),
    ),
    "alea": (
        _List(
            "cards",
            "number of cards that Alea turned up, their values (up to 4)",
            _CARDS,
            _MOST_CARDS,
            is_chance=True,
            most=4,
        ),
    ),
    "alea builds": (
        _DISTRICT,
        _Set(
            "plots",
            f"plots as bits ({', '.join(f'{1 << i}: {one}' for i, one in enumerate(COLOURS))})",
            dict(enumerate(COLOURS)),
            (1 << len(COLOURS)) - 1,
        ),
    ),
    "tile to park": (EventField("business", "type", _BUSINESSES, _MOST_BUSINESS),),
    "auction": (
        EventField("place", "place (0–6 districts, 7 Central Park)", _PLACES, CENTRAL_PARK),
        _seat("starter", "seat that starts"),
    ),
    "won": (
        _seat(
            "seat",
            f"seat ({ALEAS_SEAT}: Alea, {NOBODY}: nobody)",
            {ALEA: ALEAS_SEAT, NOBODY: None},
        ),
        EventField("total", "its total", _themselves(range(1001)), LARGE),
    ),
    "stop": (_DISTRICT, _seat("seat", f"seat ({ALEAS_SEAT}: Alea)", {ALEA: ALEAS_SEAT})),
    "vp": (
        EventField("why", f"why ({_numbered(WHYS)})", dict(enumerate(WHYS)), len(WHYS) - 1),
        EventField("place", "place (−1: none)", {**_PLACES, NONE: None}, CENTRAL_PARK),
        _Seats("vp", "VP of every seat", {}, LARGE),
    ),
    "park": (
        _List(
            "tiles",
            "number of businesses turned up, their types (up to 3)",
            _BUSINESSES,
            _MOST_BUSINESS,
            is_chance=True,
            most=3,
        ),
    ),
    "end": (
        EventField(
            "reason",
            f"why ({_numbered(END_REASONS, 1)})",
            dict(enumerate(END_REASONS)),
            len(END_REASONS) - 1,
        ),
        _Seats("cards", "cards in every seat's hand", {}, LARGE),
    ),
}
"""The fields of each kind of event; in a row their numbers follow the kind's in this order.

Kinds are numbered as in :mod:`skyenv.rules.event_log`; 0 is an action, which compiled code doesn't
report.
"""
KINDS: Final = tuple(EVENTS)
"""Kinds of events by number."""


def _places(fields: Sequence[EventField]) -> list[tuple[int, EventField]]:
    """Return the fields with the places of their first numbers in a row."""
    sizes = [len(one.scaled_to_1) for one in fields]
    return list(zip(accumulate(sizes, initial=1), fields, strict=False))


_FIELDS: Final = [(kind, _places(fields)) for kind, fields in EVENTS.items()]
CODES: Final = [[(at, one.codes) for at, one in fields if one.codes] for _, fields in _FIELDS]
"""[kind] → places of numbers in a row that information states write otherwise, and how."""


def action_event(seat: int, action: int) -> Event:
    """Return the event of a decision."""
    return {"event": "action", "seat": seat, "action": action, "name": ACTION_NAMES[action]}


def events_of(rows: Iterable[Sequence[int]], state: RecordArray, board: Board) -> list[Event]:
    """Return the events of some rows of :mod:`skyenv.rules.event_log`; `state`: the position after
    them, GAME_DTYPE (1,).
    """
    players = int(state["num_players"][0])
    return [
        end_event(state) if row[0] == EVENT_END else _event_of(row, players, board) for row in rows
    ]


def _event_of(row: Sequence[int], players: int, board: Board) -> Event:
    kind, fields = _FIELDS[row[0]]
    event: Event = {"event": kind}
    for at, one in fields:
        event[one.name] = one.read(row[at:], players)
    if kind == "alea builds":
        event["plots"].sort(key=board.rings[row[1]].index)
    return event


def row_of(event: Event) -> list[int]:
    """Return the row of an event, padded with zeros (EVENT_WIDTH,)."""
    kind = event["event"]
    row = [KINDS.index(kind)]
    for one in EVENTS[kind]:
        row += one.write(event[one.name])
    return row + [0] * (EVENT_WIDTH - len(row))


def end_event(state: RecordArray) -> Event:
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


def _hands(counts: Int8) -> list[dict[str, list[int]]]:
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
        seat: the seat; PUBLIC (−1): what every seat may see; None: nothing is hidden.
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
