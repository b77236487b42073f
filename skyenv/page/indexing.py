"""The index of games in files: one SQLite file, kept up to date by a process of its own.

Each file of the folders is read once, and on from where it ended when it grows; one that was
replaced is read anew. Several processes may keep the same index: what one has added between
another's reading and its writing is found out, and that part read again. The index can be deleted
at any time; it is made anew.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from skyenv.errors import SkyenvError
from skyenv.page.database import change_to_wal
from skyenv.page.errors import PageError
from skyenv.page.game_files import (
    MOST_FILES,
    FoundGame,
    Place,
    Reading,
    files_in,
    kind_of,
    one_line,
    read_games,
)
from skyenv.rules.components import MAX_PLAYERS
from skyenv.work.pool import begin_worker, for_a_worker

VERSION: Final = 1
"""Of the tables; the index of another one is made anew."""
PART: Final = 500
"""Games that are added at a time."""
TAIL: Final = 64
"""Bytes in front of a place by which a file that has grown is told from one that was replaced."""
APART: Final = 3.0
"""Seconds between looks at the folders."""
WAITING: Final = 60.0
"""Seconds that a writer waits for another one."""

_TABLES: Final = """
CREATE TABLE file (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, kind TEXT, offset INTEGER NOT NULL, line INTEGER NOT NULL,
    games INTEGER NOT NULL, is_lost INTEGER NOT NULL,
    tail BLOB NOT NULL, seen INTEGER NOT NULL, skipped INTEGER NOT NULL, complaint TEXT NOT NULL
) STRICT;
CREATE TABLE game (
    file INTEGER NOT NULL REFERENCES file ON DELETE CASCADE, number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL, line INTEGER NOT NULL, players INTEGER NOT NULL, side TEXT NOT NULL,
    agent_0 TEXT NOT NULL, agent_1 TEXT NOT NULL, agent_2 TEXT, agent_3 TEXT,
    actions INTEGER NOT NULL, turns INTEGER NOT NULL, winners TEXT NOT NULL, scores TEXT NOT NULL,
    margin INTEGER NOT NULL,
    ending TEXT NOT NULL, swing INTEGER, swing_step INTEGER, date REAL NOT NULL,
    PRIMARY KEY (file, number)
) STRICT, WITHOUT ROWID;
"""
_FILE: Final = (
    "id, path, inode, size, mtime, kind, offset, line, games, is_lost, tail, seen, skipped, "
    "complaint"
)
_GAME: Final = f"INSERT OR REPLACE INTO game VALUES ({', '.join('?' * (16 + MAX_PLAYERS))})"


@dataclass(frozen=True)
class IndexedFile:
    """A file of the index.

    Attributes:
        id: its number in the index. path: as bytes. kind: of game_files.KINDS; None: it holds
            nothing yet, or no games.
        inode, size, mtime: of the file, as it was when it was looked at last (nanoseconds).
        place: where to read on. tail: the bytes in front of that. seen: bytes read.
        skipped, complaint: as for :class:`skyenv.page.game_files.Reading`.
    """

    id: int
    path: bytes
    inode: int
    size: int
    mtime: int
    kind: str | None
    place: Place
    tail: bytes
    seen: int
    skipped: int
    complaint: str


def connect(path: Path) -> sqlite3.Connection:
    """The index, made if it isn't there, readable by this user alone; one of another version is
    made anew.

    Raises:
        PageError: the file is something else. OSError: it can't be made. sqlite3.OperationalError:
            the disk is full, or another program has locked it all the time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, WAITING, check_same_thread=False, isolation_level=None)
    try:
        change_to_wal(connection, WAITING)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        if _version(connection) != VERSION:
            with transaction(connection):
                if _version(connection) != VERSION:  # another process may have been faster
                    for name in ("game", "file"):
                        connection.execute(f"DROP TABLE IF EXISTS {name}")
                    for statement in filter(str.strip, _TABLES.split(";")):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {VERSION}")
    except sqlite3.OperationalError:
        connection.close()
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        raise PageError(
            f"{path.name}, beside the page's database, is no index of games ({error}); delete it"
        ) from error
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """What is written in the block is there as a whole, or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def files_of(connection: sqlite3.Connection, roots: Sequence[Path]) -> list[IndexedFile]:
    """The files of the index that lie in these folders, or are these files."""
    tops = [os.fsencode(root) for root in roots]
    files = map(_file, connection.execute(f"SELECT {_FILE} FROM file ORDER BY id"))
    return [
        file
        for file in files
        if any(file.path == top or file.path.startswith(top.rstrip(b"/") + b"/") for top in tops)
    ]


def _file(row: Sequence[Any]) -> IndexedFile:
    (
        key,
        path,
        inode,
        size,
        mtime,
        kind,
        offset,
        line,
        games,
        is_lost,
        tail,
        seen,
        skipped,
        complaint,
    ) = row
    place = Place(offset, line, games, bool(is_lost))
    return IndexedFile(key, path, inode, size, mtime, kind, place, tail, seen, skipped, complaint)


# ---- bringing it up to date ----


class Indexer:
    """Keeps the games of some folders in the index.

    Args:
        path: the index.
        roots: absolute paths of the folders and files.

    Raises:
        PageError, OSError, sqlite3.OperationalError: as for :func:`connect`.
    """

    def __init__(self, path: Path, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._connection = connect(path)

    def close(self) -> None:
        """Close the index."""
        self._connection.close()

    def update(self) -> None:
        """Look at all folders once, and read what is new.

        Raises:
            sqlite3.Error: the index can't be written.
        """
        there = self._look()
        known = files_of(self._connection, self._roots)
        gone = [(file.id,) for file in known if file.path not in there]
        if gone:
            with transaction(self._connection):
                self._connection.executemany("DELETE FROM file WHERE id = ?", gone)
        for file in known:
            if file.path in there:
                while self._read_on(file.id):
                    pass

    def _look(self) -> set[bytes]:
        """The files that there are; new ones, and how large all have become, are noted at once, so
        that progress can be told.
        """
        there: dict[bytes, os.stat_result] = {}
        for root in self._roots:
            for path in files_in(root):
                with contextlib.suppress(OSError):  # removed just now
                    there[os.fsencode(path)] = os.stat(path)
                if len(there) >= MOST_FILES:
                    break
        known = {file.path: file for file in files_of(self._connection, self._roots)}
        rows = [
            (path, stat.st_ino, stat.st_size, stat.st_mtime_ns)
            for path, stat in there.items()
            if path not in known
            or _stamp(known[path]) != (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        ]
        if rows:
            with transaction(self._connection):
                for row in rows:
                    if row[0] in known and row[1] != known[row[0]].inode:
                        self._connection.execute(
                            "DELETE FROM file WHERE path = ?", row[:1]
                        )  # replaced by another file
                    self._connection.execute(
                        "INSERT INTO file VALUES (NULL, ?, ?, ?, ?, NULL, 0, 0, 0, 0, x'', 0, 0, "
                        "'')"
                        " ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime = "
                        "excluded.mtime,"
                        " seen = MIN(seen, excluded.size - 1)",
                        row,
                    )
        return set(there)

    def _read_on(self, key: int) -> bool:
        """Read a part of a file, if there is something new; whether there may be more.

        Raises:
            sqlite3.Error: the index can't be written.
        """
        row = self._connection.execute(f"SELECT {_FILE} FROM file WHERE id = ?", (key,)).fetchone()
        file = None if row is None else _file(row)
        if file is None or file.seen == file.size:
            return False
        path = Path(os.fsdecode(file.path))
        try:
            kind, place, reading, tail = _read(path, file)
        except (OSError, SkyenvError) as error:
            complaint = (
                f"can't be read: {error.strerror}"
                if isinstance(error, OSError)
                else one_line(str(error), 200)
            )
            with transaction(self._connection):
                self._connection.execute("DELETE FROM game WHERE file = ?", (key,))
                self._connection.execute(
                    "UPDATE file SET kind = NULL, offset = 0, line = 0, games = 0, is_lost = 0, "
                    "tail = x'', seen = size,"
                    " skipped = 0, complaint = ? WHERE id = ?",
                    (complaint, key),
                )
            return False
        more = len(reading.games) >= PART
        began_anew = place != file.place
        skipped, complaint = (0, "") if began_anew else (file.skipped, file.complaint)
        rows = [_row(key, game, file.mtime / 1e9) for game in reading.games]
        with transaction(self._connection):
            now = self._connection.execute(
                "SELECT offset, seen, size FROM file WHERE id = ?", (key,)
            ).fetchone()
            if now != (file.place.offset, file.seen, file.size):
                return now is not None  # another process has been here, or the file is gone
            self._connection.execute(
                "DELETE FROM game WHERE file = ? AND start >= ?", (key, place.offset)
            )
            self._connection.executemany(_GAME, rows)
            self._connection.execute(
                "UPDATE file SET kind = ?, offset = ?, line = ?, games = ?, is_lost = ?, tail = ?, "
                "seen = ?, skipped = ?,"
                " complaint = ? WHERE id = ?",
                (
                    kind,
                    reading.next.offset,
                    reading.next.line,
                    reading.next.games,
                    reading.next.is_lost,
                    tail,
                    min(reading.seen, file.size - 1) if more else file.size,
                    skipped + reading.skipped,
                    complaint or reading.complaint,
                    key,
                ),
            )
        return more


def _read(path: Path, file: IndexedFile) -> tuple[str | None, Place, Reading, bytes]:
    """A part of a file: what kind it is, from where it was read, what was found, and the bytes in
    front of what comes next.
    """
    with open(path, "rb") as stream:
        stream.seek(max(0, file.place.offset - TAIL))
        is_as_before = stream.read(min(TAIL, file.place.offset)) == file.tail
        place = file.place if is_as_before else Place()
        kind = file.kind if is_as_before and file.kind else kind_of(stream)
        if kind is None:
            return None, place, Reading(place, file.size), b""
        reading = read_games(path, kind, place, PART)
        stream.seek(max(0, reading.next.offset - TAIL))
        return kind, place, reading, stream.read(min(TAIL, reading.next.offset))


def _row(file: int, game: FoundGame, date: float) -> tuple[object, ...]:
    agents = [*game.agents, *[None] * (MAX_PLAYERS - game.players)]
    return (
        file,
        game.number,
        game.start,
        game.length,
        game.line,
        game.players,
        game.side,
        *agents,
        game.actions,
        game.turns,
        json.dumps(game.winners),
        json.dumps(game.scores),
        game.margin,
        game.ending,
        game.swing,
        game.swing_step,
        date,
    )


def _stamp(file: IndexedFile) -> tuple[int, int, int]:
    return file.inode, file.size, file.mtime


# ---- the process ----


class IndexingProcess:
    """A process that keeps an index up to date for as long as this one lives.

    Args:
        path: the index.
        roots: absolute paths of the folders and files.
    """

    def __init__(self, path: Path, roots: Sequence[Path]) -> None:
        context = multiprocessing.get_context("spawn")
        self._said, say = context.Pipe(duplex=False)
        self._trouble = ""
        self._has_looked = False
        self._process = context.Process(
            target=_keep, args=(path, roots, say), daemon=True, name="index of games"
        )
        with for_a_worker():
            self._process.start()
        say.close()

    def state(self) -> tuple[bool, str]:
        """Whether it has looked at all folders once, and what keeps it from its work, "" if nothing
        does.
        """
        with contextlib.suppress(EOFError, OSError):
            while self._said.poll():
                self._trouble = str(self._said.recv())
                self._has_looked = self._has_looked or not self._trouble
        if not self._process.is_alive() and not self._trouble:
            self._trouble = "the process that reads the folders has ended; start the page again"
        return self._has_looked, self._trouble

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.join()
        self._said.close()


def _keep(path: Path, roots: Sequence[Path], say: Connection) -> None:
    begin_worker()
    said: str | None = None
    while True:
        trouble = update_once(path, roots)
        if trouble != said:
            say.send(trouble)
            said = trouble
        time.sleep(APART)


def update_once(path: Path, roots: Sequence[Path]) -> str:
    """Bring an index up to date; what kept it from that, in a line, "" if nothing did."""
    try:
        indexer = Indexer(path, roots)
        try:
            indexer.update()
        finally:
            indexer.close()
    except (sqlite3.Error, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return (
            f"the index of games can't be written ({reason}); what is there stays, and it goes on "
            "when it can"
        )
    except PageError as error:
        return str(error)
    return ""
