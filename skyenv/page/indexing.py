"""The index of games in files, as a job of the page's workers reads it.

Of each game the first lines and the last one are read; a game that is opened is checked as a whole.
What is damaged in a file costs the game in which it stands.
"""

from __future__ import annotations

import io
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, Final, TypeAlias

from skyenv.engine.events import Event
from skyenv.errors import RecordError
from skyenv.page.roots import LONGEST_LABEL, LONGEST_NAME, File, Root, files_in, one_line
from skyenv.page.workers import Report
from skyenv.records import iter_games
from skyenv.records.reader import MAX_LINE

UNFINISHED: Final = "unfinished"
"""How a game has ended that hasn't."""
MOST_FILES: Final = 10_000
"""So many files of the folders are read."""
MOST_RECORD: Final = 8 << 20
"""Bytes of a game."""
NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
"""Opens no link, where the system knows that."""
ACTION: Final = b'"event": "action"'
Game: TypeAlias = dict[str, Any]
"""What the table tells of a game: `file`, `label` and `number` say where it is, `start` and
`length` which bytes of the file; `players`, `side`, `names`, `winners` (seats), `scores` (VP by
seat; none before the end), `margin` (VP between the first two), `actions`, `ending`, and `date`,
when the file was changed, in seconds.
"""


@dataclass(frozen=True)
class IndexedFile:
    """What is known of a file.

    Attributes:
        file: the file as it was when it was read.
        games: those of it that aren't damaged.
        complaints: what is wrong in it, a line for each damaged game.
    """

    file: File
    games: Sequence[Game]
    complaints: Sequence[str]


def read_changed(
    roots: Sequence[Root], known: Mapping[str, File], report: Report
) -> dict[str, IndexedFile | None]:
    """A job: look at all folders, and read the files that are new or have changed.

    Args:
        roots: the folders and files.
        known: by their keys, the files that have been read already.
        report: is told how many bytes are to be read.

    Returns:
        All files that are there, by their keys; None: it is known already.
    """
    there = {file.key: file for file in islice(files_in(roots, ".jsonl"), MOST_FILES)}
    found: dict[str, IndexedFile | None] = dict.fromkeys(there)
    changed = [file for key, file in there.items() if known.get(key) != file]
    left = sum(file.size for file in changed)
    for file in changed:
        report(left)
        found[file.key] = _read(file)
        left -= file.size
    report(left)
    return found


def open_plain(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file, but no link that has just taken its place.

    Raises:
        OSError: it can't be read, or is a link.
    """
    return open(os.open(path, os.O_RDONLY | NO_LINKS), "rb")


def _read(file: File) -> IndexedFile:
    complaints, games = list[str](), list[Game]()
    place = {"file": file.key, "label": one_line(file.way, LONGEST_LABEL), "date": file.mtime / 1e9}
    try:
        with open_plain(file.path) as stream:
            for number, (line, start, content) in enumerate(_parts(stream), 1):
                where = {**place, "number": number, "start": start, "length": len(content)}
                try:
                    games.append(where | _game(content, line))
                except RecordError as error:
                    complaints.append(one_line(str(error), 200))
    except OSError as error:
        complaints.append(f"can't be read: {error.strerror}")
    return IndexedFile(file, games, complaints)


def _parts(stream: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """The games of a record: the number of the first line, where it begins, all lines.

    A file that doesn't begin with a header has none. A last line that isn't whole is about to be
    written.
    """
    part: list[bytes] = []
    first, start, place = 1, 0, 0
    for number, line in enumerate(iter(partial(stream.readline, MAX_LINE + 1), b""), 1):
        if b'"format"' in line:
            if part:
                yield first, start, b"".join(part)
            part, first, start = [], number, place
        elif number == 1:
            return
        place += len(line)
        if place - start <= MOST_RECORD + MAX_LINE:
            part.append(line)
    if part and not part[-1].endswith((b"\n", b"}")):
        part.pop()
    if part:
        yield first, start, b"".join(part)


def _game(content: bytes, line: int) -> Game:
    """What is told of a game, without where it is.

    Raises:
        RecordError: its beginning or its end is wrong, or it is too long.
    """
    if len(content) > MOST_RECORD:
        raise RecordError(f"line {line}: a game of more than {MOST_RECORD} bytes", line)
    header, *rest = content.splitlines(keepends=True)
    try:
        lines = next(iter_games(io.BytesIO(b"".join([header, *rest[:1], *rest[1:][-1:]])), line))
        last = [line.value for line in lines.events]
    except RecordError:
        # Reading all of it names the right line.
        deque(next(iter_games(io.BytesIO(content), line)).events, maxlen=0)
        raise
    end: Event = last[0] if last and last[0]["event"] == "end" else Event()
    told, scores = lines.header.value, end.get("scores", [])
    names = told["agents"] or [""] * told["players"]
    first, second = sorted(scores or [0, 0], reverse=True)[:2]
    return {
        "players": told["players"],
        "side": told["side"],
        "names": [one_line(name, LONGEST_NAME) for name in names],
        "winners": end.get("winners", []),
        "scores": scores,
        "margin": first - second,
        "actions": content.count(ACTION),
        "ending": end.get("reason", UNFINISHED),
    }
