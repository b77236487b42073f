"""The page's SQLite file: its tables and their versions, and how it is asked without keeping an
event loop waiting.

A disk can be slow or full, and another program can hold the file. So no event loop waits for it: it
asks by :meth:`Database.read` and :meth:`Database.write`, each with a thread and a connection of its
own, as readers needn't wait for who writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from skyenv.page.errors import PageError, StorageError

MEMORY: Final = ":memory:"
PATIENCE: Final = 2.0
"""Seconds that a change waits for another program to release the database."""
_Values = ParamSpec("_Values")
_Answer = TypeVar("_Answer")

_TABLES: Final = """
CREATE TABLE game (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, created REAL NOT NULL,
    players INTEGER NOT NULL, side TEXT NOT NULL,
    max_turns INTEGER NOT NULL, seed INTEGER NOT NULL, agents TEXT NOT NULL, pause REAL NOT NULL
) STRICT;
CREATE TABLE action (
    game TEXT NOT NULL REFERENCES game ON DELETE CASCADE, number INTEGER NOT NULL,
    action INTEGER NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE link (
    token TEXT PRIMARY KEY, game TEXT NOT NULL REFERENCES game ON DELETE CASCADE, seat INTEGER,
    browser TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX link_browser ON link (browser);
CREATE INDEX link_game ON link (game);
CREATE INDEX game_owner ON game (owner);
CREATE TABLE replay (
    id TEXT PRIMARY KEY, browser TEXT NOT NULL, created REAL NOT NULL, record BLOB NOT NULL
) STRICT;
CREATE INDEX replay_browser ON replay (browser);
"""
_SINCE_2: Final = """
CREATE TABLE draft (
    game TEXT PRIMARY KEY REFERENCES game ON DELETE CASCADE, actions TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
_SINCE_3: Final = """
CREATE TABLE setting (
    name TEXT PRIMARY KEY, value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replay_created ON replay (created);
"""
_SINCE_4: Final = """
ALTER TABLE game ADD COLUMN wish TEXT;
ALTER TABLE game ADD COLUMN origin TEXT;
ALTER TABLE game ADD COLUMN origin_step INTEGER;
CREATE UNIQUE INDEX game_wish ON game (owner, wish);
ALTER TABLE link ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE link ADD COLUMN seen REAL NOT NULL DEFAULT 0;
ALTER TABLE link ADD COLUMN screen TEXT;
CREATE TABLE spectator (
    token TEXT NOT NULL REFERENCES link ON DELETE CASCADE, browser TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    seen REAL NOT NULL DEFAULT 0, PRIMARY KEY (token, browser)
) STRICT, WITHOUT ROWID;
"""
_VARIATIONS: Final = """
ALTER TABLE game ADD COLUMN beginning TEXT;
CREATE INDEX game_origin ON game (owner, origin);
"""
_PEOPLE: Final = """
ALTER TABLE game ADD COLUMN chance TEXT;
ALTER TABLE game ADD COLUMN taken_back INTEGER NOT NULL DEFAULT 0;
ALTER TABLE game ADD COLUMN changes TEXT NOT NULL DEFAULT '[]';
ALTER TABLE game ADD COLUMN rematch TEXT;
ALTER TABLE link ADD COLUMN in_record INTEGER NOT NULL DEFAULT 0;
"""
_KEPT_REPLAYS: Final = """
ALTER TABLE replay ADD COLUMN names TEXT NOT NULL DEFAULT '[]';
ALTER TABLE replay ADD COLUMN games INTEGER NOT NULL DEFAULT 0;
"""
_COPIED: Final = """
ALTER TABLE game ADD COLUMN copied INTEGER NOT NULL DEFAULT 0;
UPDATE game SET copied = 1 WHERE id IN (SELECT origin FROM game WHERE chance IS NOT NULL);
"""
_DRAWN_ANEW: Final = """
ALTER TABLE game ADD COLUMN drawn_for INTEGER;
"""
_ANALYSES: Final = """
CREATE TABLE analysis (
    game TEXT NOT NULL, agent TEXT NOT NULL, version TEXT NOT NULL, open_hands INTEGER NOT NULL,
    kind TEXT NOT NULL,
    opinions TEXT NOT NULL, made REAL NOT NULL, PRIMARY KEY (game, agent, open_hands)
) STRICT, WITHOUT ROWID;
CREATE INDEX analysis_made ON analysis (made);
"""
_CLIENTS: Final = """
ALTER TABLE analysis ADD COLUMN client TEXT NOT NULL DEFAULT '';
"""
_KEY: Final = """
ALTER TABLE game RENAME COLUMN wish TO idempotency_key;
"""
_ANALYSES_BY_AGENT: Final = """
DROP TABLE analysis;
CREATE TABLE analysis (
    game TEXT NOT NULL, agent TEXT NOT NULL, version TEXT NOT NULL, kind TEXT NOT NULL,
    opinions TEXT NOT NULL, made REAL NOT NULL, client TEXT NOT NULL, PRIMARY KEY (game, agent)
) STRICT, WITHOUT ROWID;
CREATE INDEX analysis_made ON analysis (made);
"""
_STEPS: Final = (
    *(_TABLES, _SINCE_2, _SINCE_3, _SINCE_4, _VARIATIONS, _PEOPLE, _KEPT_REPLAYS, _COPIED),
    *(_DRAWN_ANEW, _ANALYSES, _CLIENTS, _KEY, _ANALYSES_BY_AGENT),
)
"""What leads from each version to the next one.

A step is added at the end, and none that was published is changed.
"""
VERSION: Final = len(_STEPS)


class Database:
    """The database.

    Args:
        path: its file, made if it isn't there, readable by this user alone; MEMORY: forget
            everything at the end.

    Raises:
        PageError: the file is something else, or a later version's.
        StorageError: of every method: the database can't do that now. Nothing has changed.
        OSError: it can't be made.
    """

    def __init__(self, path: str | Path) -> None:
        if path != MEMORY:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._writer = _Connection(path)
        try:
            self._prepare()
            self._reader = self._writer if path == MEMORY else _Connection(path)
        except (sqlite3.DatabaseError, StorageError) as error:
            self._writer.close()
            why = error.why if isinstance(error, StorageError) else error
            raise PageError(f"{path} can't be used as the page's database: {why}") from error
        except PageError:
            self._writer.close()
            raise
        self._reading, self._writing = (
            ThreadPoolExecutor(1, f"storage-{name}") for name in ("reads", "writes")
        )

    def _prepare(self) -> None:
        connection = self._writer.connection
        if self._version() < VERSION:
            self._change_tables()
        change_to_wal(connection, PATIENCE)
        for setting in ("foreign_keys = ON", "synchronous = NORMAL"):
            connection.execute(f"PRAGMA {setting}")

    def _version(self) -> int:
        """The tables' version; 0: there are none yet. Another program's file is left as it is."""
        # Both are of one moment.
        both = "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version"
        version, tables = self._writer.connection.execute(both).fetchone()
        if not 0 <= version <= VERSION or (version == 0 and tables):
            raise PageError(
                f"the database has version {version} of its tables, or another program's; this is "
                f"version {VERSION}"
            )
        return int(version)

    def _change_tables(self) -> None:
        """Make the tables, or bring them up to date, while no other server does."""
        with self.transaction() as connection:
            for statement in "".join(_STEPS[self._version() :]).split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")

    async def read(
        self, ask: Callable[_Values, _Answer], *values: _Values.args, **more: _Values.kwargs
    ) -> _Answer:
        """What a method that changes nothing gives, asked in another thread: ``await
        storage.read(storage.links, key)``.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._reading, partial(ask, *values, **more)
        )

    async def write(
        self, ask: Callable[_Values, _Answer], *values: _Values.args, **more: _Values.kwargs
    ) -> _Answer:
        """The same of a method that changes something; one after the other, in the order in which
        they are asked.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._writing, partial(ask, *values, **more)
        )

    def key(self) -> bytes:
        """This database's own random key, made when it is first asked for."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO setting VALUES ('key', ?)", (secrets.token_bytes(32),)
            )
            (value,) = connection.execute("SELECT value FROM setting WHERE name = 'key'").fetchone()
        assert isinstance(value, bytes)
        return value

    def close(self) -> None:
        """Close the file, when all that was asked is done."""
        for pool in (self._reading, self._writing):
            pool.shutdown()
        for connection in (self._reader, self._writer):
            connection.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with self._writer.using() as connection:
            if connection.in_transaction:  # even taking back has failed
                connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:  # a full disk may have ended it already
                    connection.execute("ROLLBACK")

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """What a query gives that changes nothing."""
        with self._reader.using() as connection:
            return connection.execute(query, values).fetchall()


class _Connection:
    """A connection that one thread at a time uses.

    Args:
        path: of the database.
    """

    def __init__(self, path: str | Path) -> None:
        self.connection = sqlite3.connect(
            path, timeout=PATIENCE, check_same_thread=False, isolation_level=None
        )
        self.connection.row_factory = sqlite3.Row
        self.connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        self._lock = threading.Lock()
        self._is_patient = True

    @contextlib.contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """The connection for this thread.

        Raises:
            StorageError: instead of SQLite's errors, but for broken constraints.
        """
        assert not _in_event_loop(), "the database is asked by Storage.read and Storage.write"
        with self._lock:
            try:
                yield self.connection
            except sqlite3.IntegrityError:
                raise
            except sqlite3.DatabaseError as error:
                trouble = _trouble(error)
                self._wait(not trouble.is_busy)
                raise trouble from error
            self._wait(True)

    def _wait(self, is_patient: bool) -> None:
        """Whether to wait for other programs: not again where one wait was in vain, lest those who
        queue up wait one by one.
        """
        if is_patient != self._is_patient:
            self.connection.execute(f"PRAGMA busy_timeout = {int(is_patient * PATIENCE * 1000)}")
            self._is_patient = is_patient

    def close(self) -> None:
        """Close it; once is enough."""
        with self._lock:
            self.connection.close()


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def change_to_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Let others read while one writes.

    SQLite itself waits for nobody here, so this does, for so many seconds.

    Raises:
        sqlite3.OperationalError: another connection has locked it all the time, or the disk is
            full.
    """
    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not _trouble(error).is_busy or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _trouble(error: sqlite3.DatabaseError) -> StorageError:
    """SQLite's error in words of ours."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest is detail
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageError(
            "the database is busy, as another program has locked it",
            "when it is free",
            is_busy=True,
        )
    if code == sqlite3.SQLITE_FULL:
        return StorageError("the disk is full", "when there is space")
    if code in (
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    ):
        return StorageError(f"the disk doesn't take what is written ({error})", "when it does")
    return StorageError(f"the database is damaged ({error})", "when it is mended")


def insert(connection: sqlite3.Connection, table: str, values: dict[str, object]) -> None:
    """Add a row; `values`: by the columns' names."""
    places = ", ".join("?" * len(values))
    connection.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", tuple(values.values())
    )
