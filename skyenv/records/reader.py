"""The reader of game records: line by line, in bounded memory, with a check of every line's
form.

Input is untrusted: length of lines, digits of numbers and depth of objects are limited. Every fault
is a :class:`~skyenv.errors.RecordError` with the number of the line.
"""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count, groupby
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias

from skyenv.engine.events import Event
from skyenv.errors import OptionError, RecordError
from skyenv.files import check_characters, fault_of
from skyenv.records.format import Schema, check_event, check_header, fail, quoted

# A line with more characters (bytes, if read from a file) is refused; no game needs more than a
# few thousand.
MAX_LINE: Final = 1 << 16

BYTE_ORDER_MARK: Final = "\ufeff"

# A path, or an open text or binary stream with readline(size).
Source: TypeAlias = str | Path | IO[str] | IO[bytes]


class Line(NamedTuple):
    """One line of a record: its number, its JSON object, and the number of its game; both are
    counted from 1.
    """

    number: int
    value: Event
    game: int


@dataclass
class GameLines:
    """One game of a record, as :func:`iter_games` and :func:`nth_game` read it.

    Attributes:
        number: number of the game in the record, counted from 1.
        header: the header's line.
        setup: the setup's line; of a task its deal's.
        events: an iterator over the lines after the setup, which reads the stream lazily.
        source: the reader of the record, which closes the file when it is garbage-collected.

    All objects have been checked for their fields, types and ranges, but not yet against the rules.
    """

    number: int
    header: Line
    setup: Line
    events: Iterator[Line]
    source: "Iterator[GameLines] | None" = field(default=None, repr=False)


@contextmanager
def named(file: str | Path) -> Iterator[None]:
    """Add the file's name to the errors of a block that reads a record."""
    try:
        yield
    except RecordError as error:
        raise RecordError(f"{file}: {error}", error.line) from error


def iter_games(source: Source, first_line: int = 1) -> Iterator[GameLines]:
    """Yield the games of a record one by one, in bounded memory.

    The events of a game are read lazily; unread ones are skipped when the next game is requested.

    Args:
        source: the record.
        first_line: the number of its first line, for a part of a longer record.

    Raises:
        RecordError: a line is invalid. The lines before it have been yielded.
        OSError: the file can't be read.
    """
    with open(source, "rb") if isinstance(source, (str, Path)) else nullcontext(source) as stream:
        yield from _games(_lines(stream, first_line))


def nth_game(source: Source, number: int = 1) -> GameLines:
    """Return one game of a record, counted from 1; those before it are read, but not replayed.

    Raises:
        RecordError: a line up to there is invalid.
        OptionError: there is no such game.
        OSError: the file can't be read.
    """
    games = iter_games(source)
    for lines in games:
        if lines.number == number:
            lines.source = games
            return lines
    raise OptionError(f"there is no game {number}: the record has {lines.number}")


def _games(lines: Iterator[Line]) -> Iterator[GameLines]:
    number = 0
    for number, group in groupby(lines, attrgetter("game")):
        rest = iter(group)
        header = next(rest)
        kinds = check_header(header.number, header.value)
        setup = next(rest, None)
        if setup is None:
            fail(header.number + 1, "the record ends where the setup is due")
        check_event(setup.number, setup.value, kinds, [*kinds][1])
        game = GameLines(number, header, setup, _events(rest, kinds))
        yield game
        deque(game.events, maxlen=0)
    if number == 0:
        fail(1, "the record is empty")


def _events(lines: Iterator[Line], kinds: Schema) -> Iterator[Line]:
    """Check and yield a game's lines after the setup."""
    ended = False
    for line in lines:
        if ended:
            fail(line.number, "the game has ended; only the header of another one can follow")
        check_event(line.number, line.value, kinds)
        ended = line.value["event"] == "end"
        yield line


def _lines(stream: IO[str] | IO[bytes], first_line: int) -> Iterator[Line]:
    """Yield the lines of a stream as JSON objects."""
    game = 0
    for number in count(first_line):
        try:
            raw = stream.readline(MAX_LINE + 1)
            if not raw:
                return
            if len(raw) > MAX_LINE:
                raise ValueError(f"longer than {MAX_LINE} characters")
            text = raw if isinstance(raw, str) else str(raw, "utf-8")
            value = _decode(text.removeprefix(BYTE_ORDER_MARK))
            if not isinstance(value, dict):
                raise ValueError(quoted(value))
            if "\\ud" in text or "\\uD" in text:
                check_characters(value)
        except (ValueError, RecursionError) as error:
            fault = fault_of(raw) or str(getattr(error, "msg", error))
            fail(number, f"no JSON object: {fault}", error)
        game = game + 1 if "format" in value else max(game, 1)
        yield Line(number, value, game)


def _object(pairs: list[tuple[str, Any]]) -> Event:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name stands twice in it")
    return value


# Python refuses integers of thousands of digits; other numbers fit no field.
_decode: Final = json.JSONDecoder(object_pairs_hook=_object).decode
