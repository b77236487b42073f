"""The format of game records (INTERFACE.md, "A game record"): writing a game, and the schema of its
lines.

A record is text with one JSON object per line. It holds every chance outcome.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, NoReturn

from skyenv.engine.events import Event
from skyenv.errors import OptionError, RecordError, shown
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.board import Board, make_board
from skyenv.rules.components import (
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    COLOURS,
    DISTRICTS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    PLACES,
    PLOTS,
    ROW_SIZE,
    SIDES,
    STARTING_BLACK_CARDS,
)
from skyenv.rules.event_log import WHYS
from skyenv.rules.state import END_REASONS
from skyenv.seeds import HIGHEST_SEED

FORMAT: Final = "skyenv-record"
VERSION: Final = 1
MAX_INT32: Final = (1 << 31) - 1
"""Bound of ``max_turns`` and of scores."""


# ---- writing ----

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def header_of(
    board: Board,
    num_players: int,
    max_turns: int,
    seed: int | None,
    agents: Sequence[str] | None = None,
) -> Event:
    """Return the first line of a game's record.

    Raises:
        OptionError: `agents` is not one text per seat.
    """
    names = agents if agents is None or isinstance(agents, str) else list(agents)
    if not _fits(names, header_fields(num_players)["agents"]):
        raise OptionError(
            f"agents must be one text for each of the {num_players} seats, not {shown(agents, 80)}"
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "players": num_players,
        "side": board.side,
        "rings": [list(ring) for ring in board.rings],
        "max_turns": max_turns,
        "seed": seed,
        "agents": names,
    }


def as_text(header: Event, events: Iterable[Event]) -> str:
    """Return a game's record as JSON Lines text, ending in a newline; the first event is the
    setup.
    """
    return "".join(f"{_encode(line)}\n" for line in (header, *events))


# ---- the schema ----


_TYPE_NAMES: Final[dict[type, str]] = {str: "a text", dict: "an object", list: "a list"}
_SURROGATES: Final = frozenset(map(chr, range(0xD800, 0xE000)))


class Field(NamedTuple):
    """The values that a field may hold.

    Attributes:
        values: a range of integers, the names allowed, or a type.
        null: whether null is allowed, too.
        many: None: one value; else the lengths allowed of a list of them.
        order: of two neighbours in such a list.
    """

    values: range | Sequence[str] | type
    null: bool = False
    many: range | None = None
    order: Callable[[Any, Any], bool] | None = None

    def __str__(self) -> str:
        if isinstance(self.values, range):
            text = f"an integer from {self.values.start} to {self.values.stop - 1}"
        elif isinstance(self.values, type):
            text = _TYPE_NAMES[self.values]
        else:
            text = f"one of {', '.join(self.values)}"
        if self.many is not None:
            least, most = self.many.start, self.many.stop - 1
            number = f"{least}" if least == most else f"{least} to {most}"
            order = "" if self.order is None else " ascending"
            text = f"a list of {number}{order} entries, each {text}"
        return f"null or {text}" if self.null else text


def _exactly(number: int) -> range:
    return range(number, number + 1)


_CARD: Final = Field(range(CARD_VALUES[0], CARD_VALUES[-1] + 1))
_HAND: Final = {
    colour: _CARD._replace(
        many=_exactly(STARTING_BLACK_CARDS if colour == "black" else 1), order=operator.le
    )
    for colour in CARD_COLOURS
}
_TOPS: Final = dict.fromkeys(COLOURS, _CARD)


def header_fields(players: int) -> dict[str, Field]:
    """Return the fields of a header of games of so many players."""
    return {
        "format": Field((FORMAT,)),
        "version": Field(_exactly(VERSION)),
        "players": Field(range(MIN_PLAYERS, MAX_PLAYERS + 1)),
        "side": Field(SIDES),
        "rings": Field(list, many=_exactly(len(DISTRICTS))),
        "max_turns": Field(range(1, MAX_INT32 + 1)),
        "seed": Field(range(HIGHEST_SEED + 1), null=True),
        "agents": Field(str, null=True, many=_exactly(players)),
    }


def setup_fields(players: int) -> dict[str, Field]:
    """Return the fields of a setup of games of so many players."""
    return {
        "event": Field(("setup",)),
        "plots": Field(dict),
        "row": Field(BUSINESSES, many=_exactly(ROW_SIZE)),
        "hands": Field(dict, many=_exactly(players)),
        "tops": Field(dict),
    }


@lru_cache(maxsize=MAX_PLAYERS)
def event_fields(players: int) -> dict[str, dict[str, Field]]:
    """Return the fields of every other event of games of so many players, by event."""
    seat = Field(range(players))
    seat_or_alea = Field(range(-1, players))
    counts = Field(range(MAX_INT32 + 1), many=_exactly(players))
    numbers = Field(range(NUM_ACTIONS))
    fields = {
        "action": {"seat": seat, "action": numbers, "name": Field(ACTION_NAMES)},
        "top": {"color": Field(COLOURS), "card": _CARD._replace(null=True)},
        "shuffle": {},
        "black": {"seat": seat, "card": _CARD},
        "alea": {"cards": _CARD._replace(many=range(5))},
        "alea builds": {
            "district": Field(DISTRICTS),
            "plots": Field(COLOURS, many=range(len(COLOURS) + 1)),
        },
        "tile to park": {"business": Field(BUSINESSES)},
        "auction": {"place": Field(PLACES[:-1]), "starter": seat},
        "won": {"seat": seat_or_alea._replace(null=True), "total": Field(range(1001))},
        "stop": {"district": Field(DISTRICTS), "seat": seat_or_alea},
        "vp": {"why": Field(WHYS), "place": Field(PLACES[:-1], null=True), "vp": counts},
        "park": {"tiles": Field(BUSINESSES, many=range(4))},
        "end": {
            "reason": Field(END_REASONS[1:]),
            "scores": counts,
            "cards": counts,
            "winners": seat._replace(many=range(players + 1), order=operator.lt),
        },
    }
    return {kind: {"event": Field((kind,)), **more} for kind, more in fields.items()}


_LEGAL: Final = Field(range(NUM_ACTIONS), many=range(NUM_ACTIONS + 1), order=operator.lt)
"""The field that an action may have besides."""


def _fits(value: object, field: Field) -> bool:
    if value is None or field.many is None:
        return field.null if value is None else _is_one(value, field.values)
    return (
        isinstance(value, list)
        and len(value) in field.many
        and all(_is_one(entry, field.values) for entry in value)
        and (field.order is None or all(map(field.order, value, value[1:])))
    )


def _is_one(value: Any, values: range | Sequence[str] | type) -> bool:
    if isinstance(values, range):
        return type(value) is int and value in values
    if not isinstance(values, type):
        return isinstance(value, str) and value in values
    # A JSON escape can name half a character, which no text has.
    is_text = not isinstance(value, str) or _SURROGATES.isdisjoint(value)
    return isinstance(value, values) and is_text


# ---- checking lines ----


def fail(line: int, message: str, cause: BaseException | None = None) -> NoReturn:
    """Raise RecordError for a line."""
    raise RecordError(f"line {line}: {message}", line) from cause


def quoted(value: object) -> str:
    """Return a value for a message: at most 200 characters of it as JSON."""
    try:
        text = json.dumps(value)
    except RecursionError:  # reading it just went well, where fewer calls were open
        return "something nested too deeply"
    return text if len(text) <= 200 else f"{text[:197]}..."


def _check(line: int, what: str, value: Event, fields: dict[str, Field]) -> None:
    """Check that an object has exactly these fields, each with a value that fits."""
    for name, field in fields.items():
        if name not in value:
            fail(line, f'{what} lacks "{name}"')
        if not _fits(value[name], field):
            fail(line, f'{what}: "{name}" must be {field}, not {quoted(value[name])}')
    for name in value:
        if name not in fields:
            fail(line, f"{what} has no {quoted(name)}; it has {', '.join(fields)}")


def checked_header(line: int, value: Event) -> Event:
    """Return a header with its fields in the format's order."""
    players = value.get("players")
    fields = header_fields(players if isinstance(players, int) else 0)
    _check(line, "the header due here", value, fields)
    try:
        make_board(value["side"], dict(zip(DISTRICTS, value["rings"], strict=True)))
    except OptionError as error:
        fail(line, f'"rings": {error}', error)
    return {name: value[name] for name in fields}


def checked_setup(line: int, value: Event, header: Event) -> Event:
    """Return a setup with all names in the format's order.

    Whether there are so many cards and tiles is not checked here.
    """
    _check(line, "the setup due here", value, setup_fields(header["players"]))
    _check(line, '"plots"', value["plots"], dict.fromkeys(DISTRICTS, Field(str, many=_exactly(2))))
    places = COLOURS if header["side"] == "front" else PLOTS[-1:]
    for district, (plot, business) in value["plots"].items():
        if plot not in places or business not in BUSINESSES:
            fail(
                line,
                f'"plots": "{district}" must be one of {", ".join(places)} and one of '
                f"{', '.join(BUSINESSES)}, not {quoted([plot, business])}",
            )
    for hand in value["hands"]:
        _check(line, '"hands"', hand, _HAND)
    _check(line, '"tops"', value["tops"], _TOPS)
    return {
        "event": "setup",
        "plots": {district: value["plots"][district] for district in DISTRICTS},
        "row": value["row"],
        "hands": [{colour: hand[colour] for colour in CARD_COLOURS} for hand in value["hands"]],
        "tops": {colour: value["tops"][colour] for colour in COLOURS},
    }


def check_event(line: int, value: Event, players: int) -> None:
    """Check that an event after the setup has exactly its fields, each with a value that fits."""
    kind, kinds = value.get("event"), event_fields(players)
    if not isinstance(kind, str) or kind not in kinds:
        fail(line, f'"event" must be one of {", ".join(kinds)}, not {quoted(kind)}')
    more = {"legal": _LEGAL} if kind == "action" and "legal" in value else {}
    _check(line, f'"{kind}"', value, kinds[kind] | more)
