"""The index of games in files: one SQLite file, brought up to date by a job of the page's workers.

A file whose size or time has changed is read again as a whole; what is damaged in it costs the game
in which it stands. Games aren't replayed: one that is opened is checked then. The index can be
deleted at any time; it is made anew.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Final, NamedTuple

from skyenv.engine.events import Event
from skyenv.errors import RecordError
from skyenv.files import is_hidden
from skyenv.page.errors import PageError
from skyenv.page.roots import LONGEST_NAME, Root, named, one_line
from skyenv.page.workers import Report
from skyenv.records import GameLines, iter_games
from skyenv.records.reader import MAX_LINE

UNFINISHED: Final = "unfinished"
"""How a game has ended that hasn't."""
MOST_FILES: Final = 10_000
"""So many files of the folders are read."""
MOST_RECORD: Final = 8 << 20
"""Bytes of a game."""
TURN: Final = 2.0
"""Seconds after which a job lets others begin, before it reads the next file."""
WAITING: Final = 20.0
"""Seconds that a writer waits for another one."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS file (
    key TEXT PRIMARY KEY, path BLOB NOT NULL, label TEXT NOT NULL, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, skipped INTEGER NOT NULL, complaint TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS game (
    file TEXT NOT NULL REFERENCES file ON DELETE CASCADE, number INTEGER NOT NULL,
    start INTEGER NOT NULL, length INTEGER NOT NULL, players INTEGER NOT NULL, side TEXT NOT NULL,
    names TEXT NOT NULL, winners TEXT NOT NULL, won TEXT NOT NULL, scores TEXT NOT NULL,
    margin INTEGER NOT NULL, actions INTEGER NOT NULL, ending TEXT NOT NULL, swing INTEGER NOT NULL,
    swing_step INTEGER, date REAL NOT NULL, PRIMARY KEY (file, number)
) STRICT, WITHOUT ROWID;
"""


class File(NamedTuple):
    """A file as it was when it was looked at."""

    path: Path
    size: int
    mtime: int
    """In nanoseconds."""


def connect(path: Path) -> sqlite3.Connection:
    """The index, made if it isn't there, readable by this user alone.

    Raises:
        PageError: it can't be made, or the file is something else.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, WAITING)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(_TABLES)
    except (OSError, sqlite3.Error) as error:
        raise PageError(f"{path.name} can't be the index of games ({error}); delete it") from error
    return connection


def bring_up_to_date(path: Path, roots: Sequence[Root], report: Report) -> bool:
    """Look at all folders, and read what has changed, for some seconds; whether that was all.

    `report` is told how many bytes are to be read.

    Raises:
        PageError: the index can't be written.
    """
    there = {named(file.path, roots): file for file in _files(roots)}
    try:
        with closing(connect(path)) as index:
            rows = index.execute("SELECT key, size, mtime FROM file")
            known = {key: stamp for key, *stamp in rows}
            gone = known.keys() - {key for key, _ in there}
            with index:
                index.executemany("DELETE FROM file WHERE key = ?", [(key,) for key in gone])
            changed = {name: one for name, one in there.items() if known.get(name[0]) != [*one[1:]]}
            size, until = sum(file.size for file in changed.values()), time.monotonic() + TURN
            for name, file in changed.items():
                report(size)
                with index:
                    _read(index, *name, file)
                size -= file.size
                if time.monotonic() > until:
                    return False
            report(size)
            return True
    except sqlite3.Error as error:
        raise PageError(f"the index of games can't be written ({error})", 503) from error


def _files(roots: Sequence[Root]) -> Iterator[File]:
    """The files that may hold games; links aren't followed, and files that are still being written
    under a hidden name are left out.
    """
    number = 0
    for root in roots:
        alone = root.path.parent, list[str](), [root.path.name]
        walk = os.walk(root.path) if root.path.is_dir() else iter([alone])
        for folder, inside, names in walk:
            inside.sort()
            for name in sorted(names):
                path = Path(folder, name)
                is_named_so = path.suffix == ".jsonl" and not is_hidden(name)
                with suppress(OSError):  # removed just now
                    stat = path.lstat()
                    if number < MOST_FILES and is_named_so and S_ISREG(stat.st_mode):
                        number += 1
                        yield File(path, stat.st_size, stat.st_mtime_ns)


def _read(index: sqlite3.Connection, key: str, label: str, file: File) -> None:
    """Put the games of a file in the place of those that are known of it."""
    skipped, complaint, rows = 0, "", []
    try:
        with open(file.path, "rb") as stream:
            for number, (line, start, content) in enumerate(_parts(stream), 1):
                try:
                    game = _game(content, line)
                    rows.append((key, number, start, len(content), *game, file.mtime / 1e9))
                except RecordError as error:
                    skipped, complaint = skipped + 1, complaint or one_line(str(error), 200)
    except OSError as error:
        skipped, complaint = 1, f"can't be read: {error.strerror}"
    index.execute("DELETE FROM file WHERE key = ?", (key,))
    stored = key, os.fsencode(file.path), label, file.size, file.mtime, skipped, complaint
    index.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)", stored)
    index.executemany(f"INSERT INTO game VALUES ({', '.join('?' * 16)})", rows)


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


def _game(content: bytes, line: int) -> tuple[Any, ...]:
    """What the index tells of a game, in the order of its columns.

    Raises:
        RecordError: something is wrong in it.
    """
    if len(content) > MOST_RECORD:
        raise RecordError(f"line {line}: a game of more than {MOST_RECORD} bytes", line)
    lines = next(iter_games(io.BytesIO(content), line))
    header = lines.header.value
    names = [one_line(name, LONGEST_NAME) for name in header["agents"] or [""] * header["players"]]
    course = _Course(lines)
    first, second = sorted(course.scores, reverse=True)[:2]
    winners = course.end.get("winners", [])
    return (
        header["players"],
        header["side"],
        json.dumps(names, ensure_ascii=False),
        json.dumps(winners),
        json.dumps([names[seat] for seat in winners], ensure_ascii=False),
        json.dumps(course.scores),
        first - second,
        course.actions,
        course.end.get("reason", UNFINISHED),
        course.swing,
        course.swing_step,
    )


class _Course:
    """What has come of a game.

    Attributes:
        actions: decisions in all.
        scores: VP of each seat, at the end or so far.
        end: the last event; empty if the game isn't over.
        swing: by how much VP the lead of a seat over its best other changed the most, by one
            scoring, special points or one building stop in play; the final scoring doesn't count.
        swing_step: after how many actions that was; None: nothing was scored.
    """

    def __init__(self, lines: GameLines) -> None:
        self.actions = self.swing = 0
        self.swing_step: int | None = None
        self.scores = [0] * lines.header.value["players"]
        self.end: Event = {}
        for line in lines.events:
            event = line.value
            self.actions += event["event"] == "action"
            if event["event"] == "vp":
                self._score(event)
            elif event["event"] == "end":
                self.end, self.scores = event, event["scores"]

    def _score(self, event: Event) -> None:
        before = leads(self.scores)
        self.scores = [score + vp for score, vp in zip(self.scores, event["vp"], strict=True)]
        swing = max(abs(now - then) for now, then in zip(leads(self.scores), before, strict=True))
        if swing > self.swing and event["why"] not in ("final", "park"):
            self.swing, self.swing_step = swing, self.actions


def leads(scores: Sequence[int]) -> list[int]:
    """How far each seat is ahead of its best other; below 0 if it is behind."""
    first, second = sorted(scores, reverse=True)[:2]
    return [score - (second if score == first else first) for score in scores]
