"""Reading game records: line by line, in bounded memory, every line checked for its form.

Reading trusts nothing: lines are bounded in length, numbers in digits, objects in depth. Whatever
is wrong is one :class:`~skyenv.errors.RecordError` with the number of the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, NoReturn, TypeAlias

from skyenv.checks import MOST_DIGITS
from skyenv.engine.events import Event
from skyenv.errors import OptionError, RecordError
from skyenv.records.format import (
    check_event,
    checked_header,
    checked_setup,
    fail,
    quoted,
    shortened,
)

MAX_LINE: Final = 1 << 16
"""A line with more characters (bytes, if read from a file) is refused; no game needs more than a
few thousand.
"""

Source: TypeAlias = str | Path | IO[str] | IO[bytes]
"""A path, or an open text or binary stream with ``readline(size)``."""


class Line(NamedTuple):
    """One line of a record: its number, counted from 1, and its JSON object."""

    number: int
    value: Event


@dataclass
class GameLines:
    """One game of a record, as :func:`iter_games` and :func:`nth_game` read it.

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
    _games: Iterator[GameLines] | None = field(
        default=None, repr=False
    )  # closes the file when it is forgotten


@contextmanager
def named(file: str | Path) -> Iterator[None]:
    """Mistakes in a record are told with the file's name, in what the block does."""
    try:
        yield
    except RecordError as error:
        raise RecordError(f"{file}: {error}", error.line) from error


def iter_games(source: Source, first_line: int = 1) -> Iterator[GameLines]:
    """Read a record, one game after the other, in bounded memory.

    The events of a game are read while they are iterated; what is left of them is skipped when the
    next game is asked for.

    Args:
        source: the record.
        first_line: the number of its first line, if it is a part of a longer one.

    Raises:
        RecordError: a line is wrong in itself. The lines before it have been handed out.
        OSError: the file can't be read.
    """
    if isinstance(source, (str, Path)):
        with open(source, "rb") as stream:
            yield from _games(_Reader(stream, first_line))
    else:
        yield from _games(_Reader(source, first_line))


def nth_game(source: Source, number: int = 1) -> GameLines:
    """One game of a record, counted from 1; those before it are read, but not replayed.

    Raises:
        RecordError: a line up to there is wrong in itself.
        OptionError: there is no such game.
        OSError: the file can't be read.
    """
    if number < 1:
        raise OptionError(f"game must be 1 or more, not {number}")
    games = iter_games(source)
    last = 0
    for lines in games:
        last = lines.number
        if last == number:
            lines._games = games
            return lines
    raise OptionError(f"there is no game {number}: the record has {last}")


def _games(reader: _Reader) -> Iterator[GameLines]:
    number = 0
    while reader.next is not None:
        number += 1
        header = Line(reader.next.number, checked_header(*reader.next))
        reader.advance()
        if reader.next is None:
            fail(header.number + 1, "the record ends where the setup is due")
        setup = Line(reader.next.number, checked_setup(*reader.next, header.value))
        reader.advance()
        events = _events(reader, header.value["players"])
        yield GameLines(number, header, setup, events)
        for _ in events:
            pass
    if number == 0:
        fail(1, "the record is empty")


def _events(reader: _Reader, players: int) -> Iterator[Line]:
    """The lines up to the next header."""
    ended = False
    while reader.next is not None and "format" not in reader.next.value:
        line = reader.next
        if ended:
            fail(line.number, "the game has ended; only the header of another one can follow")
        check_event(*line, players)
        ended = line.value["event"] == "end"
        yield line
        reader.advance()


class _Reader:
    """The lines of a stream as JSON objects, with one line of look-ahead: `next`, None at the
    end.
    """

    def __init__(self, stream: IO[str] | IO[bytes], first_line: int) -> None:
        self._stream = stream
        self._number = first_line - 1
        self.next: Line | None = None
        self.advance()

    def advance(self) -> None:
        """Read the next line into `next`."""
        self._number += 1
        try:
            raw = self._stream.readline(MAX_LINE + 1)
            text = raw if isinstance(raw, str) else str(raw, "utf-8")
        except UnicodeDecodeError as error:
            fail(self._number, f"not UTF-8 text: {error.reason}", error)
        if len(raw) > MAX_LINE:
            fail(self._number, f"longer than {MAX_LINE} characters")
        self.next = Line(self._number, _parse(text, self._number)) if text else None


def _parse(text: str, line: int) -> Event:
    if text.isspace():
        fail(line, "an empty line")
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        fail(line, f"not JSON: {error.msg} at column {error.colno}", error)
    except _RefusedError as error:
        fail(line, str(error), error)
    except RecursionError as error:
        fail(line, "nested too deeply", error)
    if not isinstance(value, dict):
        fail(line, f"a line must be one JSON object, not {quoted(value)}")
    return value


class _RefusedError(ValueError):
    """JSON that no record has: a number that is no modest integer, or a name that stands twice."""


def _checked_pairs(pairs: list[tuple[str, Any]]) -> Event:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in value if names.count(name) > 1)
        raise _RefusedError(f"{quoted(twice)} stands twice in one object")
    return value


def _checked_integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise _RefusedError(
            f"a number of {len(digits)} digits; no number in a record has more than {MOST_DIGITS}"
        )
    return int(digits)


def _refuse_number(digits: str) -> NoReturn:
    raise _RefusedError(f"{shortened(digits)} is no integer")


_decode: Final = json.JSONDecoder(
    object_pairs_hook=_checked_pairs,
    parse_int=_checked_integer,
    parse_float=_refuse_number,
    parse_constant=_refuse_number,
).decode
