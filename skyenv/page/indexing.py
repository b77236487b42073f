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
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from skyenv.engine.events import Event
from skyenv.errors import RecordError
from skyenv.page.errors import PageError
from skyenv.page.roots import (
    LONGEST_LABEL,
    LONGEST_NAME,
    File,
    Root,
    files_in,
    one_line,
)
from skyenv.page.workers import Report
from skyenv.records import iter_games
from skyenv.records.reader import MAX_LINE

UNFINISHED: Final = "unfinished"
"""How a game has ended that hasn't."""
MOST_FILES: Final = 10_000
"""So many files of the folders are read."""
MOST_RECORD: Final = 8 << 20
"""Bytes of a game."""
TURN: Final = 2.0
"""Seconds after which a job lets others begin, before it reads the next file."""
NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
"""Opens no link, where the system knows that."""
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
    there = {file.key: file for file in islice(files_in(roots, ".jsonl"), MOST_FILES)}
    try:
        with closing(connect(path)) as index:
            rows = index.execute("SELECT key, size, mtime FROM file")
            known = {key: stamp for key, *stamp in rows}
            with index:
                gone = [(key,) for key in known.keys() - there]
                index.executemany("DELETE FROM file WHERE key = ?", gone)
            changed = [
                file for key, file in there.items() if known.get(key) != [file.size, file.mtime]
            ]
            left, until = sum(file.size for file in changed), time.monotonic() + TURN
            for file in changed:
                report(left)
                with index:
                    _read(index, file)
                left -= file.size
                if time.monotonic() > until:
                    return False
            report(left)
            return True
    except sqlite3.Error as error:
        raise PageError(f"the index of games can't be written ({error})", 503) from error


def _read(index: sqlite3.Connection, file: File) -> None:
    """Put the games of a file in the place of those that are known of it."""
    complaints, rows = list[str](), list[tuple[Any, ...]]()
    try:
        # A link that takes the file's place just now isn't followed.
        with open(os.open(file.path, os.O_RDONLY | NO_LINKS), "rb") as stream:
            for number, (line, start, content) in enumerate(_parts(stream), 1):
                place = file.key, number, start, len(content)
                try:
                    rows.append((*place, *_game(content, line), file.mtime / 1e9))
                except RecordError as error:
                    complaints.append(one_line(str(error), 200))
    except OSError as error:
        complaints.append(f"can't be read: {error.strerror}")
    index.execute("DELETE FROM file WHERE key = ?", (file.key,))
    label, complaint = one_line(file.way, LONGEST_LABEL), "".join(complaints[:1])
    stored = file.key, os.fsencode(file.path), label, file.size, file.mtime
    index.execute("INSERT INTO file VALUES (?,?,?,?,?,?,?)", (*stored, len(complaints), complaint))
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

    `swing` is by how much VP the lead of a seat over its best other changed the most, by one
    scoring, special points or one building stop in play; `swing_step`: after how many actions that
    was (None: nothing was scored). The final scoring doesn't count.

    Raises:
        RecordError: something is wrong in it.
    """
    if len(content) > MOST_RECORD:
        raise RecordError(f"line {line}: a game of more than {MOST_RECORD} bytes", line)
    lines = next(iter_games(io.BytesIO(content), line))
    header = lines.header.value
    names = [one_line(name, LONGEST_NAME) for name in header["agents"] or [""] * header["players"]]
    actions, swing, step, end = 0, 0, None, Event()
    scores = [0] * header["players"]
    for event in (line.value for line in lines.events):
        if event["event"] == "action":
            actions += 1
        elif event["event"] == "vp":
            before = leads(scores)
            scores = [score + vp for score, vp in zip(scores, event["vp"], strict=True)]
            moved = max(abs(now - then) for now, then in zip(leads(scores), before, strict=True))
            if moved > swing and event["why"] not in ("final", "park"):
                swing, step = moved, actions
        elif event["event"] == "end":
            end, scores = event, event["scores"]
    first, second = sorted(scores, reverse=True)[:2]
    winners = end.get("winners", [])
    won = [names[seat] for seat in winners]
    shown = [json.dumps(one, ensure_ascii=False) for one in (names, winners, won, scores)]
    ending = end.get("reason", UNFINISHED)
    return (
        *(header["players"], header["side"], *shown),
        *(first - second, actions, ending, swing, step),
    )


def leads(scores: Sequence[int]) -> list[int]:
    """How far each seat is ahead of its best other; below 0 if it is behind."""
    first, second = sorted(scores, reverse=True)[:2]
    return [score - (second if score == first else first) for score in scores]
