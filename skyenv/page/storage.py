"""What outlives the server: games, links and replays in one SQLite file.

A game is stored as its options, its seed and its actions, which decide it bit for bit. Every action is in the file before any
browser hears of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skyenv.errors import PageError, shown

HUMAN: Final = "human"
"""Who sits on a seat that people play; other seats have an agent's name."""
MEMORY: Final = ":memory:"
VERSION: Final = 3

_TABLES: Final = """
CREATE TABLE game (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, created REAL NOT NULL, players INTEGER NOT NULL, side TEXT NOT NULL,
    max_turns INTEGER NOT NULL, seed INTEGER NOT NULL, agents TEXT NOT NULL, pause REAL NOT NULL
) STRICT;
CREATE TABLE action (
    game TEXT NOT NULL REFERENCES game ON DELETE CASCADE, number INTEGER NOT NULL, action INTEGER NOT NULL,
    PRIMARY KEY (game, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE link (
    token TEXT PRIMARY KEY, game TEXT NOT NULL REFERENCES game ON DELETE CASCADE, seat INTEGER, browser TEXT
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
_STEPS: Final = (_TABLES, _SINCE_2, _SINCE_3)
"""What leads from each version to the next one."""


@dataclass(frozen=True)
class StoredGame:
    """A game's options.

    Attributes:
        id: its key; it is in no link.
        owner: the browser that made it.
        created: seconds since 1970.
        players, side, max_turns, seed: as for :class:`skyenv.Game`.
        agents: for every seat HUMAN or an agent's name.
        pause: seconds that an agent's move takes at least.
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


@dataclass(frozen=True)
class Link:
    """The way to one seat of a game, or to watching it.

    Attributes:
        token: the unguessable part of its address.
        game: the game's key.
        seat: 0 … N−1; None: watch a game without people.
        browser: who has taken it; None: nobody yet.
    """

    token: str
    game: str
    seat: int | None
    browser: str | None


class Storage:
    """The database.

    Args:
        path: its file, made if it isn't there, readable by this user alone; MEMORY: forget everything at the end.

    Raises:
        PageError: the file is something else, or a later version's.
        OSError: it can't be made.
    """

    def __init__(self, path: str | Path) -> None:
        self._lock = threading.Lock()
        if path != MEMORY:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise PageError(f"{path} can't be used as the page's database: {error}") from error
        except PageError:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if not 0 <= version <= VERSION or (version == 0 and tables):
            raise PageError(f"the database has version {version} of its tables, or another program's; this is version {VERSION}")
        for setting in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = NORMAL"):
            self._connection.execute(f"PRAGMA {setting}")
        if version < VERSION:
            self._make_tables("".join(_STEPS[version:]))

    def _make_tables(self, tables: str) -> None:
        self._connection.executescript(f"BEGIN; {tables} PRAGMA user_version = {VERSION}; COMMIT;")

    def key(self) -> bytes:
        """This database's own random key, made when it is first asked for."""
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO setting VALUES ('key', ?)", (secrets.token_bytes(32),))
            (value,) = connection.execute("SELECT value FROM setting WHERE name = 'key'").fetchone()
        assert isinstance(value, bytes)
        return value

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    # ---- games ----

    def add_game(self, game: StoredGame, links: Iterable[Link]) -> None:
        """Store a new game and the ways to its seats."""
        row = (game.id, game.owner, game.created, game.players, game.side, game.max_turns, game.seed)
        with self._transaction() as connection:
            connection.execute("INSERT INTO game VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, json.dumps(game.agents), game.pause))
            connection.executemany(
                "INSERT INTO link VALUES (?, ?, ?, ?)", [(link.token, link.game, link.seat, link.browser) for link in links]
            )

    def game(self, key: str) -> StoredGame:
        """A game's options.

        Raises:
            PageError: there is no such game.
        """
        rows = self._rows("SELECT * FROM game WHERE id = ?", key)
        if not rows:
            raise PageError("there is no such game", 404)
        return _game(rows[0])

    def actions(self, key: str) -> list[int]:
        """A game's actions so far."""
        rows = self._rows("SELECT action FROM action WHERE game = ? ORDER BY number", key)
        return [int(str(action)) for (action,) in rows]

    def append(self, key: str, number: int, actions: Sequence[int]) -> None:
        """Store further actions of a game, whose draft is gone then; `number`: how many actions there are already.

        Raises:
            PageError: another process has gone on with the game.
        """
        rows = [(key, number + i, action) for i, action in enumerate(actions)]
        try:
            with self._transaction() as connection:
                connection.executemany("INSERT INTO action VALUES (?, ?, ?)", rows)
                connection.execute("DELETE FROM draft WHERE game = ?", (key,))
        except sqlite3.IntegrityError as error:
            raise PageError("another server plays this game with the same database", 409) from error

    def draft(self, key: str) -> list[int]:
        """The actions of a game's unfinished bid."""
        rows = self._rows("SELECT actions FROM draft WHERE game = ?", key)
        return [int(action) for action in json.loads(str(rows[0][0]))] if rows else []

    def set_draft(self, key: str, actions: Sequence[int]) -> None:
        """Store the actions of a game's unfinished bid."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO draft VALUES (?, ?)", (key, json.dumps(list(actions))))

    def set_pause(self, key: str, pause: float) -> None:
        """Change how long agents' moves take."""
        with self._transaction() as connection:
            connection.execute("UPDATE game SET pause = ? WHERE id = ?", (pause, key))

    def number_of_games(self, owner: str) -> int:
        """How many games a browser has made."""
        return len(self._rows("SELECT id FROM game WHERE owner = ?", owner))

    def delete_game(self, key: str) -> None:
        """Forget a game, its actions and links."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM game WHERE id = ?", (key,))

    # ---- links ----

    def link(self, token: str) -> Link:
        """The link with that token.

        Raises:
            PageError: there is none.
        """
        rows = self._rows("SELECT * FROM link WHERE token = ?", token)
        if not rows:
            raise PageError("there is no such seat; the link may be incomplete", 404)
        return _link(rows[0])

    def links(self, key: str) -> list[Link]:
        """All links of a game, by seat."""
        return [_link(row) for row in self._rows("SELECT * FROM link WHERE game = ? ORDER BY seat", key)]

    def links_of(self, browser: str) -> list[Link]:
        """The links that a browser has taken, the newest game first."""
        query = "SELECT link.* FROM link JOIN game ON game.id = link.game WHERE browser = ? ORDER BY created DESC, seat"
        return [_link(row) for row in self._rows(query, browser)]

    def claim(self, token: str, browser: str) -> bool:
        """Give a link to a browser; whether it has it now. Who comes first has it."""
        with self._transaction() as connection:
            connection.execute("UPDATE link SET browser = ? WHERE token = ? AND browser IS NULL", (browser, token))
            row: tuple[object, ...] | None = connection.execute("SELECT browser FROM link WHERE token = ?", (token,)).fetchone()
        return row == (browser,)

    def release(self, token: str) -> None:
        """Take a link from its browser, so that another one can have it."""
        with self._transaction() as connection:
            connection.execute("UPDATE link SET browser = NULL WHERE token = ?", (token,))

    # ---- replays ----

    def add_replay(self, key: str, browser: str, record: bytes, most: int, most_in_all: int) -> None:
        """Store a record to look at; of each browser's the newest `most` are kept, and the newest `most_in_all` of all."""
        with self._transaction() as connection:
            connection.execute("INSERT INTO replay VALUES (?, ?, ?, ?)", (key, browser, time.time(), record))
            connection.execute(
                "DELETE FROM replay WHERE browser = ? AND id NOT IN"
                " (SELECT id FROM replay WHERE browser = ? ORDER BY created DESC LIMIT ?)",
                (browser, browser, most),
            )
            connection.execute(
                "DELETE FROM replay WHERE id IN (SELECT id FROM replay ORDER BY created DESC LIMIT -1 OFFSET ?)", (most_in_all,)
            )

    def replay(self, key: str, browser: str) -> bytes:
        """A stored record.

        Raises:
            PageError: there is none of that browser.
        """
        rows = self._rows("SELECT record FROM replay WHERE id = ? AND browser = ?", key, browser)
        if not rows:
            raise PageError(f"there is no replay {shown(key, 20)} of this browser; open the record again", 404)
        record = rows[0][0]
        assert isinstance(record, bytes)
        return record


def _game(row: tuple[object, ...]) -> StoredGame:
    key, owner, created, players, side, max_turns, seed, agents, pause = row
    return StoredGame(
        str(key), str(owner), float(str(created)), int(str(players)), str(side), int(str(max_turns)), int(str(seed)),
        tuple(json.loads(str(agents))), float(str(pause)),
    )  # fmt: skip


def _link(row: tuple[object, ...]) -> Link:
    token, game, seat, browser = row
    return Link(str(token), str(game), None if seat is None else int(str(seat)), None if browser is None else str(browser))
