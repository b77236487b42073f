"""The database: games, links and replays in one SQLite file.

A game is stored as its options, its seed and its actions, which decide it bit for bit. Every action
is stored before any browser receives it. Only one process at a time can use the file.
"""

import asyncio
import contextlib
import json
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from skyenv.errors import shown
from skyenv.page.errors import PageError, StorageError
from skyenv.page.strengths import called
from skyenv.render.words import seat_label

# In place of an agent's name: a person plays the seat.
HUMAN: Final = "human"
# In place of a browser: any browser may use the link, as spectators do.
ANY_BROWSER: Final = "*"
MEMORY: Final = ":memory:"
TIMEOUT: Final = 2.0  # seconds to wait for another program to release the file
MANY: Final = 1 << 62  # no limit
ANALYSES: Final = 500  # the newest that stay
APPLICATION: Final = int.from_bytes(b"5Ave")
VERSION: Final = 4  # the marks of this application and of the version of its tables
# Columns of a game that hold JSON.
_LISTS: Final = ("agents", "actions", "scores")
_LINKS: Final = "SELECT link.* FROM link JOIN game ON game.id = link.game"
_GONE: Final = "there is no such game; it may have been deleted"
_Values = ParamSpec("_Values")
_Answer = TypeVar("_Answer")
_log = logging.getLogger("skyenv.page")

_TABLES: Final = f"""
BEGIN;
CREATE TABLE IF NOT EXISTS game (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, created REAL NOT NULL, players INTEGER NOT NULL,
    side TEXT NOT NULL, max_turns INTEGER NOT NULL, seed INTEGER NOT NULL, agents TEXT NOT NULL,
    pause REAL NOT NULL, idempotency_key TEXT, beginning TEXT, taken_back INTEGER NOT NULL,
    rematch TEXT, task TEXT, actions TEXT NOT NULL, to_act INTEGER, turn INTEGER NOT NULL,
    scores TEXT NOT NULL,
    CHECK (json_array_length(agents) = players AND side IN ('front', 'back') AND seed >= 0)
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS game_key ON game (owner, idempotency_key);
CREATE TABLE IF NOT EXISTS link (
    token TEXT PRIMARY KEY, game TEXT NOT NULL REFERENCES game ON DELETE CASCADE, seat INTEGER,
    browser TEXT, name TEXT NOT NULL, seen REAL NOT NULL, screen TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS link_browser ON link (browser);
CREATE INDEX IF NOT EXISTS link_game ON link (game);
CREATE TABLE IF NOT EXISTS spectator (
    token TEXT NOT NULL REFERENCES link ON DELETE CASCADE, browser TEXT NOT NULL,
    PRIMARY KEY (browser, token)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replay (
    id TEXT PRIMARY KEY, browser TEXT NOT NULL, created REAL NOT NULL, record BLOB NOT NULL,
    names TEXT NOT NULL, games INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS replay_browser ON replay (browser);
CREATE TABLE IF NOT EXISTS setting (
    name TEXT PRIMARY KEY, value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS analysis (
    browser TEXT NOT NULL, game TEXT NOT NULL, found TEXT NOT NULL, PRIMARY KEY (browser, game)
) STRICT;
CREATE TRIGGER IF NOT EXISTS newest AFTER INSERT ON analysis BEGIN
    DELETE FROM analysis WHERE rowid <= new.rowid - {ANALYSES};
END;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""


@dataclass(frozen=True)
class StoredGame:
    """A game: its options, its actions, and a summary for lists.

    Attributes:
        id: its key, which is in no link.
        owner: the browser that made it.
        created: seconds since 1970.
        players, side, max_turns, seed: as for :class:`skyenv.Game`.
        agents: for every seat HUMAN or an agent's name.
        pause: minimum seconds of an agent's move.
        idempotency_key: two requests of a browser with the same key make one game.
        beginning: the record that a variation begins with; its actions are among the game's.
        taken_back: number of decisions that its person has taken back after they had revealed
            something.
        rematch: the key of its rematch.
        task: the bidding task (:mod:`skyenv.engine.openings`); None: a whole game.
        actions: the numbers of the actions played.
        to_act, turn, scores: the seat to act (None: the game is over), turns completed, and VP.
    """

    id: str
    owner: str
    created: float
    players: int
    side: str
    max_turns: int
    seed: int
    agents: tuple[str, ...]
    pause: float
    idempotency_key: str | None = None
    beginning: str | None = None
    taken_back: int = 0
    rematch: str | None = None
    task: str | None = None
    actions: tuple[int, ...] = ()
    to_act: int | None = 0
    turn: int = 0
    scores: tuple[int, ...] = ()

    def names(self, links: "Iterable[Link]", seat: int | None = None) -> list[str]:
        """Return the players' names as a seat sees them: people's from the links, and agents'."""
        given = {link.seat: link.name for link in links}
        people = [given.get(each) or f"Player {seat_label(each)}" for each in range(self.players)]
        return [
            "you" if each == seat else people[each] if player == HUMAN else called(player)
            for each, player in enumerate(self.agents)
        ]


@dataclass(frozen=True)
class Link:
    """A link to one seat of a game, or for spectators.

    Attributes:
        token: the unguessable part of its address.
        game: the game's key.
        seat: 0 … N−1; None: watching.
        browser: the browser that has taken it; None: it is free; ANY_BROWSER: any may use it.
        name: the player's name.
        seen: time of the player's last presence, seconds since 1970; 0: never.
        screen: equal for seats that share a screen.
    """

    token: str
    game: str
    seat: int | None
    browser: str | None
    name: str = ""
    seen: float = 0.0
    screen: str | None = None


class Storage:
    """The database. Event loops use it by :meth:`ask`, other threads directly.

    Args:
        path: its file, created if missing, readable by this user only; MEMORY: a temporary database
            in memory.

    Raises:
        PageError: the file is in use, no such database, or of another version; it stays unchanged.
        StorageError: by every method: the operation has failed. Nothing has changed.
        OSError: the file can't be created.
    """

    def __init__(self, path: str | Path) -> None:
        if path != MEMORY:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # closing an open one would end its locks
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            path, timeout=TIMEOUT, check_same_thread=False, isolation_level=None
        )
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare()
        except (sqlite3.DatabaseError, PageError) as error:
            self._connection.close()
            why = error if isinstance(error, PageError) else _trouble(error).why
            raise PageError(f"{path} can't be used as the page's database: {why}") from error
        self._thread = ThreadPoolExecutor(1, "storage")

    def _prepare(self) -> None:
        """Lock the file for this process; check its version and create missing tables."""
        execute = self._connection.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        facts = (
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"
            " FROM pragma_application_id, pragma_user_version"
        )
        application, version, tables = execute(facts).fetchone()
        if tables and (application != APPLICATION or version != VERSION):
            raise PageError(
                "it belongs to another version of skyenv or another program; choose another file "
                "with --database, or move this one away"
            )
        for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            execute(f"PRAGMA {setting}")
        self._connection.executescript(_TABLES)
        # A transaction detects use by another process; reading an empty file doesn't.
        with self.transaction():
            pass

    async def ask(
        self, question: Callable[_Values, _Answer], *values: _Values.args, **more: _Values.kwargs
    ) -> _Answer:
        """Call a method in the storage's own thread, one call at a time:
        ``await storage.ask(storage.links, key)``.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, partial(question, *values, **more)
        )

    def close(self) -> None:
        """Close the file after all pending calls."""
        self._thread.shutdown()
        with self._lock:
            self._connection.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Return the connection for a transaction in this thread: all or nothing is stored.

        Raises:
            StorageError: in place of SQLite's errors.
            PageError: a new row belongs to a game that is gone.
        """
        with self._lock:
            try:
                if self._connection.in_transaction:  # the previous transaction has failed
                    self._connection.execute("ROLLBACK")
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except sqlite3.IntegrityError as error:
                raise PageError(_GONE, 404) from error
            except sqlite3.DatabaseError as error:
                raise _trouble(error) from error

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """Return the rows of a read-only query."""
        with self.transaction() as connection:
            return connection.execute(query, values).fetchall()

    def _change(self, query: str, *values: object) -> int:
        """Carry out a query that changes rows; return how many it has changed."""
        with self.transaction() as connection:
            return connection.execute(query, values).rowcount

    def key(self) -> bytes:
        """Return this database's random key, made on first use."""
        self._change("INSERT OR IGNORE INTO setting VALUES ('key', ?)", secrets.token_bytes(32))
        return bytes(self.rows("SELECT value FROM setting WHERE name = 'key'")[0]["value"])

    # ---- games ----

    def add_game(
        self,
        game: StoredGame,
        links: Iterable[Link],
        most: int = MANY,
        origin: Mapping[str, object] | None = None,
    ) -> list[Link]:
        """Store a new game and its links.

        Args:
            game, links: the game and its links.
            most: limit of all games; the oldest without actions are deleted for new ones.
            origin: changed fields of the game from which it comes, with its ``id``.

        Returns:
            The links; those of an earlier game with the browser's same idempotency key, if any.

        Raises:
            PageError: there are too many games.
        """
        links = list(links)
        with self.transaction() as connection:
            same = f"{_LINKS} WHERE owner = ? AND idempotency_key = ? ORDER BY seat"
            if earlier := connection.execute(same, (game.owner, game.idempotency_key)).fetchall():
                return [Link(**row) for row in earlier]
            (number,) = connection.execute("SELECT count(*) FROM game").fetchone()
            unplayed = "SELECT id FROM game WHERE actions = '[]' ORDER BY created LIMIT ?"
            gone = connection.execute(
                f"DELETE FROM game WHERE id IN ({unplayed})", (max(0, number + 1 - most),)
            ).rowcount
            if number - gone >= most:
                raise PageError(f"there are {most} games already; some must be deleted", 503)
            _insert(connection, "game", _columns(vars(game)))
            for link in links:
                _insert(connection, "link", vars(link))
            if origin:
                _update(connection, "game", "id", origin)
        return links

    def game(self, key: str) -> StoredGame:
        """Return a game.

        Raises:
            PageError: there is no such game, or its row is damaged.
        """
        rows = self.rows("SELECT * FROM game WHERE id = ?", key)
        if not rows:
            raise PageError("there is no such game", 404)
        try:
            values = dict(rows[0])
            lists = {name: tuple(json.loads(values[name])) for name in _LISTS}
            return StoredGame(**values | lists)
        except (TypeError, ValueError, RecursionError) as error:
            _log.warning("game %s… in the database is damaged: %s", key[:8], error)
            raise PageError("this game is damaged in the database", 409) from error

    def owner(self, key: str) -> str:
        """Return the browser that made a game, even a damaged one; ``""`` if there is none."""
        rows = self.rows("SELECT owner FROM game WHERE id = ?", key)
        return str(rows[0]["owner"]) if rows else ""

    def change_game(self, key: str, **values: object) -> None:
        """Store changed fields of a game.

        Raises:
            PageError: the game is gone.
        """
        with self.transaction() as connection:
            _update(connection, "game", "id", values | {"id": key})

    def delete_game(self, key: str) -> None:
        """Delete a game and its links."""
        self._change("DELETE FROM game WHERE id = ?", key)

    # ---- links ----

    def _links(self, query: str, *values: object) -> list[Link]:
        return [Link(**row) for row in self.rows(f"{_LINKS} {query}", *values)]

    def link(self, token: str) -> Link:
        """Return the link with a token.

        Raises:
            PageError: there is none.
        """
        if links := self._links("WHERE token = ?", token):
            return links[0]
        raise PageError("there is no such seat; the link may be incomplete", 404)

    def links(self, key: str) -> list[Link]:
        """Return all links of a game, by seat."""
        return self._links("WHERE game = ? ORDER BY seat", key)

    def links_of(self, browser: str) -> list[Link]:
        """Return the links of a browser, including those of games that it watches, the newest game
        first.
        """
        own = (
            "WHERE browser = ? OR token IN (SELECT token FROM spectator WHERE browser = ?)"
            " ORDER BY created DESC, seat"
        )
        return [replace(link, browser=browser) for link in self._links(own, browser, browser)]

    def claim(self, token: str, browser: str, name: str = "") -> bool:
        """Give a link to a browser, or rename its player; return whether the browser has it."""
        given = (
            "UPDATE link SET browser = ?, name = ?"
            " WHERE token = ? AND (browser IS NULL OR browser = ?)"
        )
        return bool(self._change(given, browser, name, token, browser))

    def change_link(self, token: str, **values: object) -> None:
        """Store changed fields of a link.

        Raises:
            PageError: the link is gone.
        """
        with self.transaction() as connection:
            _update(connection, "link", "token", values | {"token": token})

    def spectate(self, token: str, browser: str) -> None:
        """Store that a browser has used a spectator link.

        Raises:
            PageError: the game is gone.
        """
        self._change("INSERT OR IGNORE INTO spectator VALUES (?, ?)", token, browser)

    # ---- replays ----

    def add_replay(
        self,
        key: str,
        browser: str,
        record: bytes,
        most: int,
        names: Sequence[str] = (),
        games: int = 0,
    ) -> str:
        """Store a record; only the newest `most` stay.

        `names`, `games`: the summary in :meth:`replays`.

        Returns:
            Its key; the earlier one if the browser has stored the same record before.
        """
        with self.transaction() as connection:
            same = "SELECT id FROM replay WHERE browser = ? AND record = ?"
            if earlier := connection.execute(same, (browser, record)).fetchone():
                key = str(earlier["id"])
                connection.execute("DELETE FROM replay WHERE id = ?", (key,))
            row = {
                "id": key,
                "browser": browser,
                "created": time.time(),
                "record": record,
                "names": json.dumps(list(names)),
                "games": games,
            }
            _insert(connection, "replay", row)
            oldest = "SELECT id FROM replay ORDER BY created DESC LIMIT -1 OFFSET ?"
            connection.execute(f"DELETE FROM replay WHERE id IN ({oldest})", (most,))
        return key

    def replay(self, key: str, browser: str) -> bytes:
        """Return a stored record.

        Raises:
            PageError: the browser has no such record.
        """
        rows = self.rows("SELECT record FROM replay WHERE id = ? AND browser = ?", key, browser)
        if not rows:
            raise PageError(
                f"there is no replay {shown(key, 20)} of this browser; open the record again", 404
            )
        return bytes(rows[0]["record"])

    def replays(self, browser: str) -> list[dict[str, Any]]:
        """Return the records of a browser, the last opened first: `id`; the time of the last
        opening, `created`, in seconds since 1970; `names`, the players of its first game; the
        number of `games`.
        """
        query = "SELECT id, created, names, games FROM replay WHERE browser = ?"
        rows = self.rows(f"{query} ORDER BY created DESC", browser)
        return [{**row, "names": json.loads(row["names"])} for row in rows]

    def delete_replay(self, key: str, browser: str) -> None:
        """Delete a stored record.

        Raises:
            PageError: the browser has no such record.
        """
        if not self._change("DELETE FROM replay WHERE id = ? AND browser = ?", key, browser):
            raise PageError(f"there is no replay {shown(key, 20)} of this browser", 404)

    # ---- analyses ----

    def add_analysis(self, browser: str, game: str, found: Mapping[str, Any]) -> None:
        """Store what a browser's latest analysis of a game has found, a JSON object; `game`: any
        key.
        """
        self._change("REPLACE INTO analysis VALUES (?, ?, ?)", browser, game, json.dumps(found))

    def analysis(self, browser: str, game: str) -> dict[str, Any] | None:
        """Return what a browser's latest analysis of a game has found; None if there is none."""
        query = "SELECT found FROM analysis WHERE browser = ? AND game = ?"
        rows = self.rows(query, browser, game)
        return json.loads(rows[0]["found"]) if rows else None


def _columns(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of a game as they are stored."""
    return {name: json.dumps(each) if name in _LISTS else each for name, each in values.items()}


def _insert(connection: sqlite3.Connection, table: str, values: Mapping[str, object]) -> None:
    """Add a row; `values`: by column."""
    places = ", ".join("?" * len(values))
    row = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"
    connection.execute(row, tuple(values.values()))


def _update(
    connection: sqlite3.Connection, table: str, key: str, values: Mapping[str, object]
) -> None:
    """Change a row; `values`: by column, including the key.

    Raises:
        PageError: there is no such row.
    """
    changes = ", ".join(f"{name} = :{name}" for name in values)
    query = f"UPDATE {table} SET {changes} WHERE {key} = :{key}"
    if not connection.execute(query, _columns(values)).rowcount:
        raise PageError(_GONE, 404)


def _trouble(error: sqlite3.DatabaseError) -> StorageError:
    """Translate an SQLite error."""
    # The primary code is in the low byte.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageError(
            "another process uses it; end that, or choose another file with --database"
        )
    if code == sqlite3.SQLITE_FULL:
        return StorageError("the disk is full", "when there is space")
    return StorageError(f"the file can't be read or written ({error})", "when that is repaired")
