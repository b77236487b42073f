"""The format of game records (INTERFACE.md, "A game record"): how a game is written, and what its
lines must look like.

A record is text with one JSON object per line. It holds all that chance decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
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
from skyenv.rules.state import END_REASONS
from skyenv.rules.tape import WHYS
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
    """The first line of a game's record.

    Raises:
        OptionError: `agents` is not one text per seat.
    """
    if isinstance(agents, str) or not _AGENTS.test(agents and list(agents), num_players):
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
        "agents": None if agents is None else list(agents),
    }


def as_text(header: Event, events: Iterable[Event]) -> str:
    """A game's record as JSON Lines text, ending in a newline; the first event is the setup."""
    return "".join(f"{_encode(line)}\n" for line in (header, *events))


# ---- what a line must look like ----


class _Kind(NamedTuple):
    """What a field may hold: in words, and as a test of the value, given the number of players."""

    text: str
    test: Callable[[Any, int], bool]


def _is_int(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _is_list(value: object, test: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(test, value))


def _is_card(value: object) -> bool:
    return type(value) is int and value in CARD_VALUES


def _is_name(value: object, names: Sequence[str]) -> bool:
    return isinstance(value, str) and value in names


def _is_unicode(value: object) -> bool:
    """Whether it is a text that can be written as UTF-8; a JSON escape can name half a
    character.
    """
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _one_of(*names: str) -> _Kind:
    return _Kind(f"one of {', '.join(names)}", lambda value, players: _is_name(value, names))


def _integer(low: int, high: int) -> _Kind:
    return _Kind(
        f"an integer from {low} to {high}", lambda value, players: _is_int(value, low, high)
    )


def _ascending(value: list[int]) -> bool:
    return all(a < b for a, b in pairwise(value))


_NUMBERS: Final = _Kind(
    "a list of one integer, at least 0, per seat",
    lambda value, players: (
        _is_list(value, lambda n: _is_int(n, 0, MAX_INT32)) and len(value) == players
    ),
)
_SEAT: Final = _Kind("a seat", lambda value, players: _is_int(value, 0, players - 1))
_SEAT_OR_ALEA: Final = _Kind(
    "a seat, or -1 for Alea", lambda value, players: _is_int(value, -1, players - 1)
)
_WINNER: Final = _Kind(
    "a seat, -1 for Alea, or null",
    lambda value, players: value is None or _is_int(value, -1, players - 1),
)
_SEATS: Final = _Kind(
    "a list of ascending seats",
    lambda value, players: (
        _is_list(value, lambda seat: _is_int(seat, 0, players - 1)) and _ascending(value)
    ),
)
_CARD: Final = _Kind("4, 5 or 6", lambda value, players: _is_card(value))
_CARD_OR_NULL: Final = _Kind(
    "4, 5, 6 or null", lambda value, players: value is None or _is_card(value)
)
_CARDS: Final = _Kind(
    "a list of up to 4 cards of value 4, 5 or 6",
    lambda value, players: _is_list(value, _is_card) and len(value) <= 4,
)
_PLACE_OR_NULL: Final = _Kind(
    f"null or one of {', '.join(PLACES[:-1])}",
    lambda value, players: value is None or _is_name(value, PLACES[:-1]),
)
_PLOT_NAMES: Final = _Kind(
    f"a list of up to 5 of {', '.join(COLOURS)}",
    lambda value, players: (
        _is_list(value, lambda name: _is_name(name, COLOURS)) and len(value) <= len(COLOURS)
    ),
)
_TILES: Final = _Kind(
    f"a list of up to 3 of {', '.join(BUSINESSES)}",
    lambda value, players: (
        _is_list(value, lambda name: _is_name(name, BUSINESSES)) and len(value) <= 3
    ),
)
_LEGAL: Final = _Kind(
    "a list of ascending action numbers",
    lambda value, players: (
        _is_list(value, lambda n: _is_int(n, 0, NUM_ACTIONS - 1)) and _ascending(value)
    ),
)
_AGENTS: Final = _Kind(
    "null or a list of one text per seat",
    lambda value, players: (
        value is None or (_is_list(value, _is_unicode) and len(value) == players)
    ),
)
_SEED: Final = _Kind(
    "null or an integer from 0 to 2^63 - 1",
    lambda value, players: value is None or _is_int(value, 0, HIGHEST_SEED),
)
_RINGS: Final = _Kind(
    "a list of the rings of the seven districts",
    lambda value, players: (
        _is_list(value, lambda ring: isinstance(ring, list)) and len(value) == len(DISTRICTS)
    ),
)
_OBJECT: Final = _Kind("an object", lambda value, players: isinstance(value, dict))

_HEADER_FIELDS: Final = {
    "format": _one_of(FORMAT),
    "version": _integer(VERSION, VERSION),
    "players": _integer(MIN_PLAYERS, MAX_PLAYERS),
    "side": _one_of(*SIDES),
    "rings": _RINGS,
    "max_turns": _integer(1, MAX_INT32),
    "seed": _SEED,
    "agents": _AGENTS,
}

_SETUP_FIELDS: Final = {
    "event": _one_of("setup"),
    "plots": _OBJECT,
    "row": _Kind(
        f"a list of {ROW_SIZE} of {', '.join(BUSINESSES)}",
        lambda value, players: (
            _is_list(value, lambda name: _is_name(name, BUSINESSES)) and len(value) == ROW_SIZE
        ),
    ),
    "hands": _Kind(
        "a list of one hand per seat",
        lambda value, players: (
            _is_list(value, lambda hand: isinstance(hand, dict)) and len(value) == players
        ),
    ),
    "tops": _OBJECT,
}

_EVENT_FIELDS: Final[dict[str, dict[str, _Kind]]] = {
    kind: {"event": _one_of(kind), **fields}
    for kind, fields in {
        "action": {
            "seat": _SEAT,
            "action": _integer(0, NUM_ACTIONS - 1),
            "name": _one_of(*ACTION_NAMES),
        },
        "top": {"color": _one_of(*COLOURS), "card": _CARD_OR_NULL},
        "shuffle": {},
        "black": {"seat": _SEAT, "card": _CARD},
        "alea": {"cards": _CARDS},
        "alea builds": {"district": _one_of(*DISTRICTS), "plots": _PLOT_NAMES},
        "tile to park": {"business": _one_of(*BUSINESSES)},
        "auction": {"place": _one_of(*PLACES[:-1]), "starter": _SEAT},
        "won": {"seat": _WINNER, "total": _integer(0, 1000)},
        "stop": {"district": _one_of(*DISTRICTS), "seat": _SEAT_OR_ALEA},
        "vp": {"why": _one_of(*WHYS), "place": _PLACE_OR_NULL, "vp": _NUMBERS},
        "park": {"tiles": _TILES},
        "end": {
            "reason": _one_of(*END_REASONS[1:]),
            "scores": _NUMBERS,
            "cards": _NUMBERS,
            "winners": _SEATS,
        },
    }.items()
}
_ACTION_WITH_LEGAL: Final = _EVENT_FIELDS["action"] | {"legal": _LEGAL}


def fail(line: int, message: str, cause: BaseException | None = None) -> NoReturn:
    """Raise RecordError for a line."""
    raise RecordError(f"line {line}: {message}", line) from cause


def quoted(value: object) -> str:
    """A value for a message: as JSON, and not more of it than a reader wants."""
    try:
        return shortened(json.dumps(value))
    except RecursionError:  # reading it just went well, where fewer calls were open
        return "something nested too deeply"


def shortened(text: str) -> str:
    """A text for a message: not more of it than a reader wants."""
    return text if len(text) <= 200 else f"{text[:197]}..."


def _check_names(line: int, what: str, value: Event, names: Iterable[str]) -> None:
    """Exactly these names stand in the object."""
    wanted = list(names)
    for name in wanted:
        if name not in value:
            fail(line, f'{what} lacks "{name}"')
    for name in value:
        if name not in wanted:
            fail(line, f"{what} has no {quoted(name)}; it has {', '.join(wanted)}")


def _check_fields(
    line: int, what: str, value: Event, fields: dict[str, _Kind], players: int
) -> None:
    """Exactly these fields, each with a value of its kind."""
    if value.keys() != fields.keys():
        _check_names(line, what, value, fields)
    for name, kind in fields.items():
        if not kind.test(value[name], players):
            fail(line, f'"{name}" must be {kind.text}, not {quoted(value[name])}')


def checked_header(line: int, value: Event) -> Event:
    """A header with its fields in the format's order."""
    if "format" not in value:
        fail(line, f'a game must begin with its header, the line with "format": "{FORMAT}"')
    if value["format"] != FORMAT or not _is_int(value.get("version"), VERSION, VERSION):
        kind, version = quoted(value["format"]), quoted(value.get("version"))
        fail(
            line, f'the format must be "{FORMAT}", version {VERSION}, not {kind}, version {version}'
        )
    players = value.get("players")
    _check_fields(
        line, "a header", value, _HEADER_FIELDS, players if isinstance(players, int) else 0
    )
    try:
        make_board(value["side"], dict(zip(DISTRICTS, value["rings"], strict=True)))
    except OptionError as error:
        fail(line, f'"rings": {error}', error)
    return {name: value[name] for name in _HEADER_FIELDS}


def checked_setup(line: int, value: Event, header: Event) -> Event:
    """A setup with all names in the format's order.

    Whether there are so many cards and tiles is not looked at here.
    """
    if value.get("event") != "setup":
        fail(line, f"the setup is due here, the record says {quoted(value)}")
    _check_fields(line, "a setup", value, _SETUP_FIELDS, header["players"])
    _check_names(line, '"plots"', value["plots"], DISTRICTS)
    places = COLOURS if header["side"] == "front" else PLOTS[-1:]
    for district, tile in value["plots"].items():
        if not (_is_list(tile, lambda name: isinstance(name, str)) and len(tile) == 2):
            fail(line, f'"plots" of {district} must be a plot and a business, not {quoted(tile)}')
        if tile[0] not in places or tile[1] not in BUSINESSES:
            fail(
                line,
                f'"plots" of {district}: on this side, {quoted(tile)} is no plot with a business to begin with',
            )
    for hand in value["hands"]:
        _check_hand(line, hand)
    _check_fields(line, '"tops"', value["tops"], dict.fromkeys(COLOURS, _CARD), header["players"])
    return {
        "event": "setup",
        "plots": {district: value["plots"][district] for district in DISTRICTS},
        "row": value["row"],
        "hands": [{colour: hand[colour] for colour in CARD_COLOURS} for hand in value["hands"]],
        "tops": {colour: value["tops"][colour] for colour in COLOURS},
    }


def _check_hand(line: int, hand: Event) -> None:
    """SET-4, SET-5: one card of each colour and four black ones, in ascending order."""
    _check_names(line, "a hand", hand, CARD_COLOURS)
    for colour, cards in hand.items():
        number = STARTING_BLACK_CARDS if colour == "black" else 1
        if not _is_list(cards, _is_card) or len(cards) != number or cards != sorted(cards):
            fail(
                line,
                f'"hands": {colour} must be {number} of 4, 5, 6, ascending, not {quoted(cards)}',
            )


def check_event(line: int, value: Event, players: int) -> None:
    """An event behind the setup has exactly its fields, each with a value of its kind."""
    kind = value.get("event")
    if not isinstance(kind, str) or kind not in _EVENT_FIELDS:
        fail(line, f'"event" must be one of {", ".join(_EVENT_FIELDS)}, not {quoted(kind)}')
    fields = _ACTION_WITH_LEGAL if kind == "action" and "legal" in value else _EVENT_FIELDS[kind]
    _check_fields(line, f'"{kind}"', value, fields, players)
