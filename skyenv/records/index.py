"""The index of a record file: where its games lie, found without parsing the lines."""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, NamedTuple

from skyenv.records.reader import MAX_LINE


class Part(NamedTuple):
    """The lines of one game.

    Attributes:
        line: the number of the first line, counted from 1.
        start: its offset in bytes.
        content: the lines.
    """

    line: int
    start: int
    content: bytes


def parts(stream: BinaryIO, most: int | None = None) -> Iterator[Part]:
    """Yield the games of a record file.

    A file that doesn't begin with a header has none. An incomplete last line is skipped, as it is
    being written.

    Args:
        stream: the file.
        most: lines of a game beyond so many bytes are left out; None: none.
    """
    lines: list[bytes] = []
    first, start, place = 1, 0, 0
    for number, line in enumerate(iter(partial(stream.readline, MAX_LINE + 1), b""), 1):
        # Only headers contain the word "format".
        if b'"format"' in line:
            if lines:
                yield Part(first, start, b"".join(lines))
            lines, first, start = [], number, place
        elif number == 1:
            return
        place += len(line)
        if most is None or place - start <= most:
            lines.append(line)
    if lines and not lines[-1].endswith((b"\n", b"}")):
        lines.pop()
    if lines:
        yield Part(first, start, b"".join(lines))
