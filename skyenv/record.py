"""Game records: writing, reading, replaying and verifying them (INTERFACE.md, "A game record").

A record is text with one JSON object per line. It holds all that chance decided, so that a game is replayed from it
without any random generator, and every line of it is checked against the rules.

Reading trusts nothing: lines are bounded in length, numbers in digits, objects in depth; a file is read line by line,
and verifying one takes the same memory whatever its size. Whatever is wrong with a record is one
:class:`~skyenv.errors.RecordError` with the number of the line.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, zip_longest
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, NoReturn, Self, TypeAlias

from skyenv.errors import ChanceError, OptionError, RecordError, SkyenvError, shown
from skyenv.events import Event
from skyenv.files import hidden_neighbour
from skyenv.game import Game
from skyenv.games import HIGHEST_SEED
from skyenv.rules.actions import ACTION_NAMES, MOVE, NUM_ACTIONS, TAKE
from skyenv.rules.board import make_board
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

FORMAT: Final = "skyenv-record"
VERSION: Final = 1

MAX_LINE: Final = 1 << 16
"""A line with more characters (bytes, if read from a file) is refused; no game needs more than a few thousand."""
MAX_DIGITS: Final = 19
"""An integer with more digits is refused: 2⁶³−1, the largest seed, has 19."""
MAX_LINES_PER_ACTION: Final = 256
"""More lines than this can't follow from one action."""
MAX_INT32: Final = (1 << 31) - 1
"""Bound of ``max_turns`` and of scores."""

Source: TypeAlias = str | Path | IO[str] | IO[bytes]
"""A path, or an open text or binary stream with ``readline(size)``."""


# ---- writing ----

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def dumps(game: Game, agents: Sequence[str] | None = None) -> str:
    """The record of a game as JSON Lines text, up to the present position, ending in a newline.

    Args:
        game: the game, finished or not.
        agents: one name per seat for the header, or None.

    Raises:
        OptionError: `agents` is not one text per seat.
    """
    if isinstance(agents, str) or not _AGENTS.test(agents and list(agents), game.num_players):
        raise OptionError(f"agents must be one text for each of the {game.num_players} seats, not {shown(agents, 80)}")
    return "".join(f"{_encode(line)}\n" for line in (game.header(agents), *game.events))


def write(path: str | Path, games: Iterable[Game], agents: Sequence[str] | None = None) -> None:
    """Write the records of several games into one file, atomically (see :class:`RecordWriter`).

    Raises:
        OSError: the file can't be written.
    """
    with RecordWriter(path) as writer:
        for game in games:
            writer.write(game, agents)


class RecordWriter:
    """A record file that comes into being all at once: as a context manager, on leaving it without an exception.

    Until then the lines are in a hidden file next to it, which is removed if anything goes wrong, so that the file
    at `path` is never half-written. A target that is no regular file (a pipe, ``/dev/stdout``) is written directly.

    Raises:
        OSError: the file can't be written.
    """

    def __init__(self, path: str | Path) -> None:
        self._target = Path(path)
        self._part: Path | None = None
        if not self._target.exists() or self._target.is_file():
            self._target = Path(os.path.realpath(path))  # a link stays a link
            self._part = hidden_neighbour(self._target)
        try:
            self._stream = open(self._part or self._target, "xb" if self._part else "wb")  # noqa: SIM115 (closed in __exit__)
        except OSError as error:
            # The caller doesn't know the hidden file's name.
            raise OSError(error.errno, error.strerror, str(path)) from error

    def write(self, game: Game, agents: Sequence[str] | None = None) -> None:
        """Append one game (see :func:`dumps`)."""
        self._stream.write(dumps(game, agents).encode("utf-8"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._discard()

    def _finish(self) -> None:
        self._stream.flush()
        if self._part is not None:
            os.fsync(self._stream.fileno())
            self._stream.close()
            os.replace(self._part, self._target)
            self._part = None

    def _discard(self) -> None:
        # Closing flushes, which fails once more on a full disk or a closed pipe; the first error is the one to tell.
        with contextlib.suppress(OSError):
            self._stream.close()
        if self._part is not None:
            self._part.unlink(missing_ok=True)


def play_with_legal(game: Game, action: int | str, chance: Sequence[int | str] = ()) -> list[Event]:
    """``game.play(action, chance)``, with the legal actions noted in the action's line (the field ``legal``).

    Raises:
        IllegalActionError, GameOverError, ChanceError: as for :meth:`Game.play`.
    """
    legal = game.legal_actions
    events = game.play(action, chance)
    events[0]["legal"] = legal
    return events


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
    """Whether it is a text that can be written as UTF-8; a JSON escape can name half a character."""
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
    return _Kind(f"an integer from {low} to {high}", lambda value, players: _is_int(value, low, high))


def _ascending(value: list[int]) -> bool:
    return all(a < b for a, b in pairwise(value))


_NUMBERS: Final = _Kind(
    "a list of one integer, at least 0, per seat",
    lambda value, players: _is_list(value, lambda n: _is_int(n, 0, MAX_INT32)) and len(value) == players,
)
_SEAT: Final = _Kind("a seat", lambda value, players: _is_int(value, 0, players - 1))
_SEAT_OR_ALEA: Final = _Kind("a seat, or -1 for Alea", lambda value, players: _is_int(value, -1, players - 1))
_WINNER: Final = _Kind("a seat, -1 for Alea, or null", lambda value, players: value is None or _is_int(value, -1, players - 1))
_SEATS: Final = _Kind(
    "a list of ascending seats",
    lambda value, players: _is_list(value, lambda seat: _is_int(seat, 0, players - 1)) and _ascending(value),
)
_CARD: Final = _Kind("4, 5 or 6", lambda value, players: _is_card(value))
_CARD_OR_NULL: Final = _Kind("4, 5, 6 or null", lambda value, players: value is None or _is_card(value))
_CARDS: Final = _Kind(
    "a list of up to 4 cards of value 4, 5 or 6", lambda value, players: _is_list(value, _is_card) and len(value) <= 4
)
_PLACE_OR_NULL: Final = _Kind(
    f"null or one of {', '.join(PLACES[:-1])}", lambda value, players: value is None or _is_name(value, PLACES[:-1])
)
_PLOT_NAMES: Final = _Kind(
    f"a list of up to 5 of {', '.join(COLOURS)}",
    lambda value, players: _is_list(value, lambda name: _is_name(name, COLOURS)) and len(value) <= len(COLOURS),
)
_TILES: Final = _Kind(
    f"a list of up to 3 of {', '.join(BUSINESSES)}",
    lambda value, players: _is_list(value, lambda name: _is_name(name, BUSINESSES)) and len(value) <= 3,
)
_LEGAL: Final = _Kind(
    "a list of ascending action numbers",
    lambda value, players: _is_list(value, lambda n: _is_int(n, 0, NUM_ACTIONS - 1)) and _ascending(value),
)
_AGENTS: Final = _Kind(
    "null or a list of one text per seat",
    lambda value, players: value is None or (_is_list(value, _is_unicode) and len(value) == players),
)
_SEED: Final = _Kind(
    "null or an integer from 0 to 2^63 - 1", lambda value, players: value is None or _is_int(value, 0, HIGHEST_SEED)
)
_RINGS: Final = _Kind(
    "a list of the rings of the seven districts",
    lambda value, players: _is_list(value, lambda ring: isinstance(ring, list)) and len(value) == len(DISTRICTS),
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
        lambda value, players: _is_list(value, lambda name: _is_name(name, BUSINESSES)) and len(value) == ROW_SIZE,
    ),
    "hands": _Kind(
        "a list of one hand per seat",
        lambda value, players: _is_list(value, lambda hand: isinstance(hand, dict)) and len(value) == players,
    ),
    "tops": _OBJECT,
}

_EVENT_FIELDS: Final[dict[str, dict[str, _Kind]]] = {
    kind: {"event": _one_of(kind), **fields}
    for kind, fields in {
        "action": {"seat": _SEAT, "action": _integer(0, NUM_ACTIONS - 1), "name": _one_of(*ACTION_NAMES)},
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
        "end": {"reason": _one_of(*END_REASONS[1:]), "scores": _NUMBERS, "cards": _NUMBERS, "winners": _SEATS},
    }.items()
}
_ACTION_WITH_LEGAL: Final = _EVENT_FIELDS["action"] | {"legal": _LEGAL}


def _fail(line: int, message: str, cause: BaseException | None = None) -> NoReturn:
    raise RecordError(f"line {line}: {message}", line) from cause


def _shown(value: object) -> str:
    """A value for a message: as JSON, and not more of it than a reader wants."""
    try:
        return _cut(json.dumps(value))
    except RecursionError:  # reading it just went well, where fewer calls were open
        return "something nested too deeply"


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."


def _check_names(line: int, what: str, value: Event, names: Iterable[str]) -> None:
    """Exactly these names stand in the object."""
    wanted = list(names)
    for name in wanted:
        if name not in value:
            _fail(line, f'{what} lacks "{name}"')
    for name in value:
        if name not in wanted:
            _fail(line, f"{what} has no {_shown(name)}; it has {', '.join(wanted)}")


def _check_fields(line: int, what: str, value: Event, fields: dict[str, _Kind], players: int) -> None:
    """Exactly these fields, each with a value of its kind."""
    if value.keys() != fields.keys():
        _check_names(line, what, value, fields)
    for name, kind in fields.items():
        if not kind.test(value[name], players):
            _fail(line, f'"{name}" must be {kind.text}, not {_shown(value[name])}')


def _checked_header(line: int, value: Event) -> Event:
    """A header with its fields in the format's order."""
    if "format" not in value:
        _fail(line, f'a game must begin with its header, the line with "format": "{FORMAT}"')
    if value["format"] != FORMAT or not _is_int(value.get("version"), VERSION, VERSION):
        kind, version = _shown(value["format"]), _shown(value.get("version"))
        _fail(line, f'the format must be "{FORMAT}", version {VERSION}, not {kind}, version {version}')
    players = value.get("players")
    _check_fields(line, "a header", value, _HEADER_FIELDS, players if isinstance(players, int) else 0)
    try:
        make_board(value["side"], dict(zip(DISTRICTS, value["rings"], strict=True)))
    except OptionError as error:
        _fail(line, f'"rings": {error}', error)
    return {name: value[name] for name in _HEADER_FIELDS}


def _checked_setup(line: int, value: Event, header: Event) -> Event:
    """A setup with all names in the format's order. Whether there are so many cards and tiles is not looked at here."""
    if value.get("event") != "setup":
        _fail(line, f"the setup is due here, the record says {_shown(value)}")
    _check_fields(line, "a setup", value, _SETUP_FIELDS, header["players"])
    _check_names(line, '"plots"', value["plots"], DISTRICTS)
    places = COLOURS if header["side"] == "front" else PLOTS[-1:]
    for district, tile in value["plots"].items():
        if not (_is_list(tile, lambda name: isinstance(name, str)) and len(tile) == 2):
            _fail(line, f'"plots" of {district} must be a plot and a business, not {_shown(tile)}')
        if tile[0] not in places or tile[1] not in BUSINESSES:
            _fail(line, f'"plots" of {district}: on this side, {_shown(tile)} is no plot with a business to begin with')
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
            _fail(line, f'"hands": {colour} must be {number} of 4, 5, 6, ascending, not {_shown(cards)}')


def _check_event(line: int, value: Event, players: int) -> None:
    kind = value.get("event")
    if not isinstance(kind, str) or kind not in _EVENT_FIELDS:
        _fail(line, f'"event" must be one of {", ".join(_EVENT_FIELDS)}, not {_shown(kind)}')
    fields = _ACTION_WITH_LEGAL if kind == "action" and "legal" in value else _EVENT_FIELDS[kind]
    _check_fields(line, f'"{kind}"', value, fields, players)


# ---- reading ----


class Line(NamedTuple):
    """One line of a record: its number, counted from 1, and its JSON object."""

    number: int
    value: Event


@dataclass
class GameLines:
    """One game of a record, as :func:`iter_games` reads it.

    Attributes:
        number: which game of the record it is, counted from 1.
        header: the header's line.
        setup: the setup's line.
        events: the lines behind the setup, each read from the stream when it is asked for.

    All objects have been checked for their fields, types and ranges, but not yet against the rules.
    """

    number: int
    header: Line
    setup: Line
    events: Iterator[Line]


def iter_games(source: Source) -> Iterator[GameLines]:
    """Read a record, one game after the other, in bounded memory.

    The events of a game are read while they are iterated; what is left of them is skipped when the next game is asked
    for.

    Raises:
        RecordError: a line is wrong in itself. The lines before it have been handed out.
        OSError: the file can't be read.
    """
    if isinstance(source, (str, Path)):
        with open(source, "rb") as stream:
            yield from _games(_Reader(stream))
    else:
        yield from _games(_Reader(source))


def _games(reader: _Reader) -> Iterator[GameLines]:
    number = 0
    while reader.next is not None:
        number += 1
        header = Line(reader.next.number, _checked_header(*reader.next))
        reader.advance()
        if reader.next is None:
            _fail(header.number + 1, "the record ends where the setup is due")
        setup = Line(reader.next.number, _checked_setup(*reader.next, header.value))
        reader.advance()
        events = _events(reader, header.value["players"])
        yield GameLines(number, header, setup, events)
        for _ in events:
            pass
    if number == 0:
        _fail(1, "the record is empty")


def _events(reader: _Reader, players: int) -> Iterator[Line]:
    """The lines up to the next header."""
    ended = False
    while reader.next is not None and "format" not in reader.next.value:
        line = reader.next
        if ended:
            _fail(line.number, "the game has ended; only the header of another one can follow")
        _check_event(*line, players)
        ended = line.value["event"] == "end"
        yield line
        reader.advance()


class _Reader:
    """The lines of a stream as JSON objects, with one line of look-ahead: `next`, None at the end."""

    def __init__(self, stream: IO[str] | IO[bytes]) -> None:
        self._stream = stream
        self._number = 0
        self.next: Line | None = None
        self.advance()

    def advance(self) -> None:
        """Read the next line into `next`."""
        self._number += 1
        try:
            raw = self._stream.readline(MAX_LINE + 1)
            text = raw if isinstance(raw, str) else str(raw, "utf-8")
        except UnicodeDecodeError as error:
            _fail(self._number, f"not UTF-8 text: {error.reason}", error)
        if len(raw) > MAX_LINE:
            _fail(self._number, f"longer than {MAX_LINE} characters")
        self.next = Line(self._number, _parse(text, self._number)) if text else None


def _parse(text: str, line: int) -> Event:
    if text.isspace():
        _fail(line, "an empty line")
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        _fail(line, f"not JSON: {error.msg} at column {error.colno}", error)
    except _RefusedError as error:
        _fail(line, str(error), error)
    except RecursionError as error:
        _fail(line, "nested too deeply", error)
    if not isinstance(value, dict):
        _fail(line, f"a line must be one JSON object, not {_shown(value)}")
    return value


class _RefusedError(ValueError):
    """JSON that no record has: a number that is no modest integer, or a name that stands twice."""


def _checked_pairs(pairs: list[tuple[str, Any]]) -> Event:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in value if names.count(name) > 1)
        raise _RefusedError(f"{_shown(twice)} stands twice in one object")
    return value


def _checked_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _RefusedError(f"a number of {len(digits)} digits; no number in a record has more than {MAX_DIGITS}")
    return int(digits)


def _refuse_number(digits: str) -> NoReturn:
    raise _RefusedError(f"{_cut(digits)} is no integer")


_decode: Final = json.JSONDecoder(
    object_pairs_hook=_checked_pairs,
    parse_int=_checked_integer,
    parse_float=_refuse_number,
    parse_constant=_refuse_number,
).decode


# ---- replaying ----


def replay(lines: GameLines, step: int | None = None) -> Game:
    """The game that the lines tell of, played again with the chance that they record, every line checked.

    Args:
        lines: one game of :func:`iter_games`, none of whose events have been read yet.
        step: stop after this many actions; what comes behind them is not looked at. None: play all there are.

    Returns:
        The game in the position reached. With `step` None that needn't be its end: an unfinished game has a record too.

    Raises:
        RecordError: a line is wrong in itself or differs from what the rules give; it says which and how.
        OptionError: `step` is negative or more than the actions of the game.
    """
    if step is not None and step < 0:
        raise OptionError(f"step must be 0 or more, not {step}")
    reached = islice(positions(lines), None if step is None else step + 1)
    game = next(reached)
    actions = sum(1 for _ in reached)
    if step is not None and actions < step:
        raise OptionError(f"there is no step {step}: the game has {actions} actions")
    return game


def positions(lines: GameLines) -> Iterator[Game]:
    """The game that the lines tell of, replayed step by step: always the same object, after its setup and after every action.

    Args:
        lines: one game of :func:`iter_games`, none of whose events have been read yet.

    Raises:
        RecordError: as for :func:`replay`, when the line is reached.
    """
    game = _new_game(lines)
    yield game
    for block in _blocks(lines.events):
        _check_action(game, block.action)
        _play(game, block)
        yield game


def _new_game(lines: GameLines) -> Game:
    """The game right after its setup."""
    try:
        return Game.from_setup(lines.header.value, lines.setup.value)
    except ChanceError as error:
        _fail(lines.setup.number, f"there is no such setup: {error}", error)
    except SkyenvError as error:
        _fail(lines.header.number, str(error), error)


class _Block(NamedTuple):
    """The line of an action, the lines that follow from it, and the error that cut them short, if one did."""

    action: Line
    lines: list[Line]
    error: RecordError | None


def _blocks(events: Iterator[Line]) -> Iterator[_Block]:
    """The events of a game, action by action.

    The chance in the lines behind an action must be known when it is played. So an error in one of them is held back
    until the lines before it have been compared with the rules: the first mistake is the one to tell.
    """
    action = next(events, None)
    while action is not None:
        lines: list[Line] = []
        following, error = None, None
        try:
            while (following := next(events, None)) is not None and following.value["event"] != "action":
                if len(lines) == MAX_LINES_PER_ACTION:
                    _fail(following.number, f"more than {MAX_LINES_PER_ACTION} lines can't follow from one action")
                lines.append(following)
        except RecordError as held_back:
            error = held_back
        yield _Block(action, lines, error)
        if error is not None:
            raise error
        action = following


def _check_action(game: Game, line: Line) -> None:
    """The line is an action of the seat that is to act, a legal one, with its name."""
    found = line.value
    if found["event"] != "action":
        _fail(line.number, f"the rules wait for a decision of seat {game.seat}, the record says {_shown(found)}")
    action = found["action"]
    expected = {"event": "action", "seat": game.seat, "action": action, "name": ACTION_NAMES[action]}
    if "legal" in found:
        expected["legal"] = game.legal_actions
    if not game.mask[action]:
        _fail(line.number, f'"{ACTION_NAMES[action]}" is not legal here; legal: {_cut(", ".join(game.legal_names))}')
    if found != expected:
        _diverge(expected, line)


def _play(game: Game, block: _Block) -> None:
    """Play a block's action with its chance and compare all that follows."""
    action = block.action.value["action"]
    chance = _chance(game, action, block.lines)
    outcomes = [outcome for _, outcome in chance]
    refused: ChanceError | None = None
    while True:
        try:
            events = game.play(action, outcomes)
            break
        except ChanceError as error:
            # Each time fewer are left, so this ends.
            refused = error
            outcomes = outcomes[: error.index]
    if refused is not None:
        _blame(chance[refused.index][0], events[1:], block)
    _compare(events[1:], block)
    if "legal" in block.action.value:
        events[0]["legal"] = block.action.value["legal"]


def _blame(line: Line, events: list[Event], block: _Block) -> None:
    """Raise for a line whose chance the rules have refused, unless something else before or in it is wrong."""
    kind = line.value["event"]
    before = block.lines.index(line)
    due = 1
    if kind == "alea" and before > 0 and block.lines[before - 1].value["event"] == "shuffle":
        # Whether a shuffle was due depends on the very cards that were refused, so there may be one or not.
        before -= 1
        due = 2
    _compare(events[:before], block._replace(lines=block.lines[:before]))
    if any(event["event"] == kind for event in events[before : before + due]):
        _fail(line.number, f"{_IMPOSSIBLE[kind]}, the record says {_shown(line.value)}")


def _chance(game: Game, action: int, lines: list[Line]) -> list[tuple[Line, int | str]]:
    """The chance outcomes in the lines behind an action, in the order in which the rules need them."""
    taken = action - TAKE if TAKE <= action < MOVE else None
    # Chance decides the new top of a stack only while cards lie face down in it; returned ones come up in known order.
    new_top = COLOURS[taken] if taken is not None and game.state["face_down"][taken].any() else None
    chance: list[tuple[Line, int | str]] = []
    for line in lines:
        value = line.value
        kind = value["event"]
        if kind == "black" or (kind == "top" and value["color"] == new_top and value["card"] is not None):
            chance.append((line, value["card"]))
        elif kind in ("alea", "park"):
            chance.extend((line, outcome) for outcome in value[_CHANCE_FIELD[kind]])
    return chance


_CHANCE_FIELD: Final = {"black": "card", "top": "card", "alea": "cards", "park": "tiles"}
_IMPOSSIBLE: Final = {
    "black": "there is no such card left in the stack",
    "top": "there is no such card left in the stack",
    "alea": "Alea can't turn up these cards",
    "park": "these tiles can't be turned up in the park area",
}


def _compare(events: list[Event], block: _Block) -> None:
    """What the rules give against the lines of a block."""
    for event, line in zip_longest(events, block.lines):
        if line is None:
            if block.error is not None:
                raise block.error
            number = block.action.number + len(block.lines) + 1
            _fail(number, f"the rules give {_shown(_without_chance(event))} here, the record doesn't")
        if event is None:
            _fail(line.number, f"the rules give nothing more here, the record says {_shown(line.value)}")
        if event != line.value:
            _diverge(event, line)


def _diverge(event: Event, line: Line) -> NoReturn:
    """Raise for a line that differs from what the rules give; if it is the same event, by the fields that differ."""
    found, kind = line.value, event["event"]
    if found["event"] != kind:
        _fail(line.number, f"the rules give {_shown(_without_chance(event))}, the record says {_shown(found)}")
    different = [name for name in event if event[name] != found[name]]
    given, told = ({name: side[name] for name in different} for side in (event, found))
    if told.get("card", 0) is None:
        given = _without_chance({"event": kind, **given})
        del given["event"]
    _fail(line.number, f'in "{kind}" the rules give {_shown(given)}, the record says {_shown(told)}')


def _without_chance(event: Event) -> Event:
    """An event for a message, where the record doesn't tell what chance decided in it."""
    field = _CHANCE_FIELD.get(event["event"])
    return event if field is None else {**event, field: "?"}


def load(source: Source, game: int = 1, step: int | None = None) -> Game:
    """Replay one game of a record (see :func:`replay`).

    Args:
        source: a path or an open stream.
        game: which of its games, counted from 1.
        step: stop after this many actions; None: play all there are.

    Raises:
        RecordError: a line up to there is wrong.
        OptionError: there is no such game or step.
        OSError: the file can't be read.
    """
    if game < 1:
        raise OptionError(f"game must be 1 or more, not {game}")
    found = 0
    for lines in iter_games(source):
        found = lines.number
        if found == game:
            return replay(lines, step)
    raise OptionError(f"there is no game {game}: the record has {found}")


def loads(text: str, game: int = 1, step: int | None = None) -> Game:
    """As :func:`load`, from the record's text."""
    return load(io.StringIO(text), game, step)


# ---- verifying ----


@dataclass(frozen=True)
class VerifySummary:
    """What a record that is right throughout holds."""

    games: int
    actions: int


def verify(source: Source, progress: Callable[[VerifySummary], None] | None = None) -> VerifySummary:
    """Replay every game of a record to its end.

    Args:
        source: a path or an open stream.
        progress: called after every game with what has been verified so far.

    Raises:
        RecordError: the first line that is wrong, or that is missing because a game has no end.
        OSError: the file can't be read.
    """
    summary = VerifySummary(0, 0)
    for lines in iter_games(source):
        next_line = lines.setup.number
        for game in positions(lines):
            next_line += len(game.events)
            game.events.clear()  # a game can be as long as the file
        if not game.is_over:
            _fail(next_line, f"the game of line {lines.header.number} has not ended, but the record has no more of it")
        summary = VerifySummary(lines.number, summary.actions + int(game.state["decisions"]))
        if progress is not None:
            progress(summary)
    return summary
