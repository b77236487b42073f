"""What outlives the server: games, links and replays in one SQLite file.

A game is stored as its options, its seed and its actions, which decide it bit for bit. Every action is in the file before any
browser hears of it.

A disk can be slow or full, and another program can hold the file. So no event loop waits for it: it asks by :meth:`Storage.read`
and :meth:`Storage.write`, each with a thread and a connection of its own, as readers needn't wait for who writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from skyenv.errors import ConflictError, PageError, StorageError, shown
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

HUMAN: Final = "human"
"""Who sits on a seat that people play; other seats have an agent's name."""
ANYBODY: Final = "*"
"""Instead of a browser: whoever has the link may use it, as spectators do."""
NOBODY: Final = "-"
"""The same where it was withdrawn."""
MEMORY: Final = ":memory:"
MANY: Final = 1 << 62
"""No limit."""
PATIENCE: Final = 2.0
"""Seconds that a change waits for another program to release the database."""

_Values = ParamSpec("_Values")
_Answer = TypeVar("_Answer")
_log = logging.getLogger("skyenv.page")

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
_SINCE_4: Final = """
ALTER TABLE game ADD COLUMN wish TEXT;
ALTER TABLE game ADD COLUMN origin TEXT;
ALTER TABLE game ADD COLUMN origin_step INTEGER;
CREATE UNIQUE INDEX game_wish ON game (owner, wish);
ALTER TABLE link ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE link ADD COLUMN seen REAL NOT NULL DEFAULT 0;
ALTER TABLE link ADD COLUMN screen TEXT;
CREATE TABLE spectator (
    token TEXT NOT NULL REFERENCES link ON DELETE CASCADE, browser TEXT NOT NULL, name TEXT NOT NULL DEFAULT '',
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
    game TEXT NOT NULL, agent TEXT NOT NULL, version TEXT NOT NULL, open_hands INTEGER NOT NULL, kind TEXT NOT NULL,
    opinions TEXT NOT NULL, made REAL NOT NULL, PRIMARY KEY (game, agent, open_hands)
) STRICT, WITHOUT ROWID;
CREATE INDEX analysis_made ON analysis (made);
"""
_STEPS: Final = (_TABLES, _SINCE_2, _SINCE_3, _SINCE_4, _VARIATIONS, _PEOPLE, _KEPT_REPLAYS, _COPIED, _DRAWN_ANEW, _ANALYSES)
"""What leads from each version to the next one. A step is added at the end, and none that was published is changed."""
VERSION: Final = len(_STEPS)


@dataclass(frozen=True)
class Change:
    """Somebody else sits down on a seat.

    Attributes:
        step: how many actions had been played.
        seat: 0 … N−1.
        who: HUMAN or an agent's name.
    """

    step: int
    seat: int
    who: str


@dataclass(frozen=True)
class StoredGame:
    """A game's options.

    Attributes:
        id: its key; it is in no link.
        owner: the browser that made it.
        created: seconds since 1970.
        players, side, max_turns, seed: as for :class:`skyenv.Game`.
        agents: for every seat HUMAN or an agent's name, when the game began.
        pause: seconds that an agent's move takes at least.
        wish: what the browser called its wish for a game; who sends one twice gets one game.
        origin, origin_step: the game that this one goes on from, which may be gone, and after how many of its actions; of a
            variation of a replay, the replay's key and the game's number in it, as ``key/number``.
        beginning: the record that a variation begins with; its actions are among the game's.
        drawn_for: the seat for which the hidden cards of that record were drawn anew; None: they are those of the origin.
        chance: the key of the game whose agents' chance this one has; None: its own.
        taken_back: how many decisions its person has taken back on the way to it.
        changes: who has sat down on which seat since the beginning, the first change first.
        rematch: the game that was made to play it once more.
        copied: whether there has ever been a game with its chance that goes on from it, whose record tells its hidden cards.
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
    wish: str | None = None
    origin: str | None = None
    origin_step: int | None = None
    beginning: str | None = None
    chance: str | None = None
    taken_back: int = 0
    changes: tuple[Change, ...] = ()
    rematch: str | None = None
    copied: bool = False
    drawn_for: int | None = None

    @property
    def sitters(self) -> tuple[str, ...]:
        """For every seat HUMAN or an agent's name, now."""
        sitters = list(self.agents)
        for change in self.changes:
            sitters[change.seat] = change.who
        return tuple(sitters)


@dataclass(frozen=True)
class Link:
    """The way to one seat of a game, or to watching it.

    Attributes:
        token: the unguessable part of its address.
        game: the game's key.
        seat: 0 … N−1; None: watching.
        browser: who has taken it; None: nobody yet; ANYBODY: it is for all who have it; NOBODY: it was, and was withdrawn.
        name: what who has taken it wants to be called.
        seen: when he was last there, seconds since 1970; 0: never.
        screen: seats with the same one are played at one screen.
        in_record: whether records may tell that name.
    """

    token: str
    game: str
    seat: int | None
    browser: str | None
    name: str = ""
    seen: float = 0.0
    screen: str | None = None
    in_record: bool = False


@dataclass(frozen=True)
class StoredReplay:
    """What a list tells of a kept record.

    Attributes:
        id: its key.
        created: when it was opened last, seconds since 1970.
        names: who sat where in its first game; none if it was kept by a version that didn't store them.
        games: how many it has; 0: as for `names`.
    """

    id: str
    created: float
    names: tuple[str, ...]
    games: int


@dataclass(frozen=True)
class StoredAnalysis:
    """An agent's analysis of a game that is done.

    Attributes:
        game: a digest of all that has happened in it.
        agent, version: whose it is.
        open_hands: whether it was told all hands.
        kind: what it tells, as in hints.
        opinions: JSON, as :mod:`skyenv.page.kept_analyses` writes it.
    """

    game: str
    agent: str
    version: str
    open_hands: bool
    kind: str
    opinions: str


class Storage:
    """The database.

    Args:
        path: its file, made if it isn't there, readable by this user alone; MEMORY: forget everything at the end.

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
        except sqlite3.DatabaseError as error:
            self._writer.close()
            raise PageError(f"{path} can't be used as the page's database: {error}") from error
        except PageError:
            self._writer.close()
            raise
        self._reading, self._writing = (ThreadPoolExecutor(1, f"storage-{name}") for name in ("reads", "writes"))

    def _prepare(self) -> None:
        connection = self._writer.connection
        if self._version() < VERSION:
            self._change_tables()
        _change_to_wal(connection)
        for setting in ("foreign_keys = ON", "synchronous = NORMAL"):
            connection.execute(f"PRAGMA {setting}")

    def _version(self) -> int:
        """The tables' version; 0: there are none yet. Another program's file is left as it is."""
        both = "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version"  # of one moment
        version, tables = self._writer.connection.execute(both).fetchone()
        if not 0 <= version <= VERSION or (version == 0 and tables):
            raise PageError(f"the database has version {version} of its tables, or another program's; this is version {VERSION}")
        return int(version)

    def _change_tables(self) -> None:
        """Make the tables, or bring them up to date, while no other server does."""
        with self._transaction() as connection:
            for statement in "".join(_STEPS[self._version() :]).split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")

    async def read(self, ask: Callable[_Values, _Answer], *values: _Values.args, **more: _Values.kwargs) -> _Answer:
        """What a method that changes nothing gives, asked in another thread: ``await storage.read(storage.links, key)``."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, partial(ask, *values, **more))

    async def write(self, ask: Callable[_Values, _Answer], *values: _Values.args, **more: _Values.kwargs) -> _Answer:
        """The same of a method that changes something; one after the other, in the order in which they are asked."""
        return await asyncio.get_running_loop().run_in_executor(self._writing, partial(ask, *values, **more))

    def key(self) -> bytes:
        """This database's own random key, made when it is first asked for."""
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO setting VALUES ('key', ?)", (secrets.token_bytes(32),))
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
    def _transaction(self) -> Iterator[sqlite3.Connection]:
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

    @contextlib.contextmanager
    def _transaction_about_a_game(self) -> Iterator[sqlite3.Connection]:
        """A transaction that adds something to a game.

        Raises:
            PageError: the game is gone.
        """
        try:
            with self._transaction() as connection:
                yield connection
        except sqlite3.IntegrityError as error:
            raise PageError("there is no such game; it may have been deleted", 404) from error

    @contextlib.contextmanager
    def _transaction_after(self, key: str, number: int) -> Iterator[sqlite3.Connection]:
        """A transaction about a game of which `number` actions are stored.

        Raises:
            ConflictError: it isn't so, or the game is gone.
        """
        try:
            with self._transaction() as connection:
                (stored,) = connection.execute("SELECT count(*) FROM action WHERE game = ?", (key,)).fetchone()
                if stored != number:  # more, or fewer as some were taken back
                    raise sqlite3.IntegrityError
                yield connection
        except sqlite3.IntegrityError as error:
            raise ConflictError("another server plays this game with the same database; look at it again", 409) from error

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._reader.using() as connection:
            return connection.execute(query, values).fetchall()

    # ---- games ----

    def add_game(
        self,
        game: StoredGame,
        links: Iterable[Link],
        most: int = MANY,
        most_in_all: int = MANY,
        actions: Sequence[int] = (),
        after: str | None = None,
    ) -> list[Link]:
        """Store a new game and the ways to its seats.

        Args:
            game, links: them.
            most: games that its owner can have.
            most_in_all: games that there can be; of those in which nobody has played the oldest make room.
            actions: what has been played in it already.
            after: the game that it is the rematch of.

        Returns:
            The links; if the browser has had a game for the same wish, or `after` a rematch, those of that game, and nothing is
            stored.

        Raises:
            PageError: the browser has too many games, or there are too many in which somebody has played.
            ConflictError: another process has let somebody sit down in the game whose chance this one has, or deleted it.
        """
        links = list(links)
        with self._transaction() as connection:
            same = "SELECT link.* FROM link JOIN game ON game.id = link.game WHERE owner = ? AND wish = ? ORDER BY seat"
            if earlier := connection.execute(same, (game.owner, game.wish)).fetchall():
                return [_link(row) for row in earlier]
            (number,) = connection.execute("SELECT count(*) FROM game WHERE owner = ?", (game.owner,)).fetchone()
            if number >= most:
                raise PageError(f"this browser has {most} games; delete some", 429)
            if after is not None:
                first = "UPDATE game SET rematch = ? WHERE id = ? AND (rematch IS NULL OR rematch NOT IN (SELECT id FROM game))"
                if not connection.execute(first, (game.id, after)).rowcount:
                    rows = "SELECT link.* FROM link JOIN game ON game.rematch = link.game WHERE game.id = ? ORDER BY seat"
                    return [_link(row) for row in connection.execute(rows, (after,))]
            (number,) = connection.execute("SELECT count(*) FROM game").fetchone()
            if number >= most_in_all:
                unplayed = (
                    "SELECT id FROM game WHERE NOT EXISTS (SELECT 1 FROM action WHERE game = game.id) ORDER BY created LIMIT ?"
                )
                gone = connection.execute(f"DELETE FROM game WHERE id IN ({unplayed})", (number + 1 - most_in_all,)).rowcount
                if number - gone >= most_in_all:
                    raise PageError(f"there are {most_in_all} games; whoever runs this server can delete some", 503)
            if game.chance is not None:
                mark = "UPDATE game SET copied = 1 WHERE id = ? AND changes = '[]'"
                if not connection.execute(mark, (game.origin,)).rowcount:
                    raise ConflictError("the game has changed meanwhile; look at it again", 409)
            lists = {"agents": json.dumps(game.agents), "changes": _changes_text(game.changes)}
            _insert(connection, "game", vars(game) | lists)
            numbered = [(game.id, number, action) for number, action in enumerate(actions)]
            connection.executemany("INSERT INTO action VALUES (?, ?, ?)", numbered)
            for link in links:
                _insert(connection, "link", vars(link))
        return links

    def game(self, key: str) -> StoredGame:
        """A game's options.

        Raises:
            PageError: there is no such game, or its row is damaged.
        """
        rows = self._rows("SELECT * FROM game WHERE id = ?", key)
        if not rows:
            raise PageError("there is no such game", 404)
        return _game(rows[0])

    def owner(self, key: str) -> str:
        """Who has made a game, whatever is damaged of it; nobody is called ``""``."""
        rows = self._rows("SELECT owner FROM game WHERE id = ?", key)
        return str(rows[0]["owner"]) if rows else ""

    def actions(self, key: str) -> list[int]:
        """A game's actions so far.

        Raises:
            PageError: some are missing.
        """
        rows = self._rows("SELECT number, action FROM action WHERE game = ? ORDER BY number", key)
        if [row["number"] for row in rows] != list(range(len(rows))):
            raise _damaged(key, "actions are missing")
        return [row["action"] for row in rows]

    def append(self, key: str, number: int, actions: Sequence[int]) -> None:
        """Store further actions of a game, whose draft is gone then; `number`: how many actions there are already.

        Raises:
            ConflictError: another process has gone on with the game, or deleted it.
        """
        rows = [(key, number + i, action) for i, action in enumerate(actions)]
        with self._transaction_after(key, number) as connection:
            connection.executemany("INSERT INTO action VALUES (?, ?, ?)", rows)
            connection.execute("DELETE FROM draft WHERE game = ?", (key,))

    def take_back(self, key: str, number: int, stay: int) -> None:
        """Forget a game's actions behind the first `stay`, and its draft; `number`: how many actions there are.

        Raises:
            ConflictError: another process has gone on with the game, or deleted it.
        """
        with self._transaction_after(key, number) as connection:
            connection.execute("DELETE FROM action WHERE game = ? AND number >= ?", (key, stay))
            connection.execute("DELETE FROM draft WHERE game = ?", (key,))

    def draft(self, key: str) -> list[int]:
        """The actions of a game's unfinished bid; a damaged one is none, as its cards can be laid down again."""
        rows = self._rows("SELECT actions FROM draft WHERE game = ?", key)
        actions = _parsed(rows[0]["actions"]) if rows else []
        if isinstance(actions, list) and all(type(action) is int for action in actions):
            return actions
        _log.warning("the unfinished bid of game %s… is damaged; it is forgotten", key[:8])
        return []

    def set_draft(self, key: str, number: int, actions: Sequence[int]) -> None:
        """Store the actions of a game's unfinished bid; `number`: how many actions there are without it.

        Raises:
            ConflictError: another process has gone on with the game, or deleted it.
        """
        with self._transaction_after(key, number) as connection:
            connection.execute("INSERT OR REPLACE INTO draft VALUES (?, ?)", (key, json.dumps(list(actions))))

    def set_pause(self, key: str, pause: float) -> None:
        """Change how long agents' moves take."""
        with self._transaction() as connection:
            connection.execute("UPDATE game SET pause = ? WHERE id = ?", (pause, key))

    def set_changes(self, key: str, number: int, changes: Sequence[Change], link: Link | None = None) -> None:
        """Store who has sat down on which seats, the last of them now; the unfinished bid is gone then.

        Args:
            key: the game's.
            number: how many actions there are.
            changes: all of them.
            link: the way to a seat that had none.

        Raises:
            ConflictError: another process has gone on with the game, changed who sits there, or deleted it.
        """
        with self._transaction_after(key, number) as connection:
            values = _changes_text(changes), key, _changes_text(changes[:-1])
            if not connection.execute("UPDATE game SET changes = ? WHERE id = ? AND changes = ?", values).rowcount:
                raise sqlite3.IntegrityError
            connection.execute("DELETE FROM draft WHERE game = ?", (key,))
            if link is not None:
                _insert(connection, "link", vars(link))

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
        """All links of a game but those that were withdrawn, by seat."""
        return [
            _link(row) for row in self._rows("SELECT * FROM link WHERE game = ? AND browser IS NOT ? ORDER BY seat", key, NOBODY)
        ]

    def links_of(self, browser: str, most: int = -1) -> list[Link]:
        """The links that a browser has taken, the newest game first; `most`: so many of them."""
        query = "SELECT link.* FROM link JOIN game ON game.id = link.game WHERE browser = ? ORDER BY created DESC, seat LIMIT ?"
        return [_link(row) for row in self._rows(query, browser, most)]

    def variations(self, owner: str, origin: str) -> list[Link]:
        """The ways to a browser's games that go on from a game, the newest first."""
        query = "SELECT link.* FROM link JOIN game ON game.id = link.game WHERE owner = ? AND origin = ? AND browser = owner"
        return [_link(row) for row in self._rows(f"{query} ORDER BY created DESC, seat", owner, origin)]

    def add_link(self, link: Link) -> None:
        """Store one more way to a game.

        Raises:
            PageError: the game is gone.
        """
        with self._transaction_about_a_game() as connection:
            _insert(connection, "link", vars(link))

    def withdraw(self, token: str) -> None:
        """Let a link that is for anybody lead nowhere from now on."""
        with self._transaction() as connection:
            connection.execute("UPDATE link SET browser = ? WHERE token = ? AND browser = ?", (NOBODY, token, ANYBODY))
            connection.execute("DELETE FROM spectator WHERE token = ?", (token,))

    def spectate(self, token: str, browser: str) -> None:
        """Remember that a browser has used a link that is for anybody.

        Raises:
            PageError: the game is gone.
        """
        with self._transaction_about_a_game() as connection:
            connection.execute("INSERT OR IGNORE INTO spectator (token, browser) VALUES (?, ?)", (token, browser))

    def watched_by(self, browser: str, most: int) -> list[Link]:
        """The links for anybody that a browser has used, of the newest `most` games."""
        query = (
            "SELECT link.* FROM spectator JOIN link USING (token) JOIN game ON game.id = link.game"
            " WHERE spectator.browser = ? ORDER BY created DESC LIMIT ?"
        )
        return [replace(_link(row), browser=browser) for row in self._rows(query, browser, most)]

    def rename(self, token: str, name: str, in_record: bool) -> None:
        """Store what who has taken a link is called, and whether records may tell it."""
        with self._transaction() as connection:
            connection.execute("UPDATE link SET name = ?, in_record = ? WHERE token = ?", (name, in_record, token))

    def set_seen(self, token: str, seen: float) -> None:
        """Store when who has taken a link was last there."""
        with self._transaction() as connection:
            connection.execute("UPDATE link SET seen = ? WHERE token = ?", (seen, token))

    def claim(self, token: str, browser: str, name: str = "") -> bool:
        """Give a link to a browser; whether it has it now. Who comes first has it."""
        with self._transaction() as connection:
            given = "UPDATE link SET browser = ?, name = ? WHERE token = ? AND browser IS NULL"
            connection.execute(given, (browser, name, token))
            row = connection.execute("SELECT browser FROM link WHERE token = ?", (token,)).fetchone()
        return row is not None and bool(row["browser"] == browser)

    def release(self, token: str) -> None:
        """Take a link from its browser, so that another one can have it."""
        with self._transaction() as connection:
            nobody = "browser = NULL, name = '', in_record = 0, screen = NULL, seen = 0"
            connection.execute(f"UPDATE link SET {nobody} WHERE token = ?", (token,))

    # ---- replays ----

    def add_replay(
        self, key: str, browser: str, record: bytes, most: int, most_in_all: int, names: Sequence[str] = (), games: int = 0
    ) -> str:
        """Store a record to look at; of each browser's the newest `most` are kept, and the newest `most_in_all` of all.

        `names`, `games`: what lists tell of it, see :class:`StoredReplay`.

        Returns:
            Its key; if the browser has sent the same before, that of then.
        """
        with self._transaction() as connection:
            same = "SELECT id FROM replay WHERE browser = ? AND length(record) = ? AND record = ?"
            if earlier := connection.execute(same, (browser, len(record), record)).fetchone():
                key = str(earlier["id"])
                told = (time.time(), json.dumps(list(names)), games, key)
                connection.execute("UPDATE replay SET created = ?, names = ?, games = ? WHERE id = ?", told)
                return key
            row = {"id": key, "browser": browser, "created": time.time(), "record": record}
            _insert(connection, "replay", row | {"names": json.dumps(list(names)), "games": games})
            connection.execute(
                "DELETE FROM replay WHERE browser = ? AND id NOT IN"
                " (SELECT id FROM replay WHERE browser = ? ORDER BY created DESC LIMIT ?)",
                (browser, browser, most),
            )
            connection.execute(
                "DELETE FROM replay WHERE id IN (SELECT id FROM replay ORDER BY created DESC LIMIT -1 OFFSET ?)", (most_in_all,)
            )
        return key

    def replay(self, key: str, browser: str) -> bytes:
        """A stored record.

        Raises:
            PageError: there is none of that browser.
        """
        rows = self._rows("SELECT record FROM replay WHERE id = ? AND browser = ?", key, browser)
        if not rows:
            raise PageError(f"there is no replay {shown(key, 20)} of this browser; open the record again", 404)
        record: bytes = rows[0]["record"]
        return record

    def replays(self, browser: str) -> list[StoredReplay]:
        """The records kept for a browser, those opened last first."""
        rows = self._rows("SELECT id, created, names, games FROM replay WHERE browser = ? ORDER BY created DESC", browser)
        return [_stored_replay(row) for row in rows]

    def delete_replay(self, key: str, browser: str) -> None:
        """Forget a stored record.

        Raises:
            PageError: there is none of that browser.
        """
        with self._transaction() as connection:
            if not connection.execute("DELETE FROM replay WHERE id = ? AND browser = ?", (key, browser)).rowcount:
                raise PageError(f"there is no replay {shown(key, 20)} of this browser", 404)

    # ---- analyses ----

    def analyses(self, game: str) -> list[StoredAnalysis]:
        """Those of a game, by its digest, the newest first."""
        columns = "game, agent, version, open_hands, kind, opinions"
        rows = self._rows(f"SELECT {columns} FROM analysis WHERE game = ? ORDER BY made DESC", game)
        return [StoredAnalysis(**dict(row) | {"open_hands": bool(row["open_hands"])}) for row in rows]

    def keep_analysis(self, analysis: StoredAnalysis, most: int) -> None:
        """Store one in the place of that agent's earlier one of the same; the newest `most` of all are kept."""
        values = vars(analysis) | {"made": time.time()}
        with self._transaction() as connection:
            key = analysis.game, analysis.agent, analysis.open_hands
            connection.execute("DELETE FROM analysis WHERE game = ? AND agent = ? AND open_hands = ?", key)
            _insert(connection, "analysis", values)
            surplus = "SELECT made FROM analysis ORDER BY made DESC LIMIT 1 OFFSET ?"
            connection.execute(f"DELETE FROM analysis WHERE made <= ({surplus})", (most,))


class _Connection:
    """A connection that one thread at a time uses.

    Args:
        path: of the database.
    """

    def __init__(self, path: str | Path) -> None:
        self.connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
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
        """Whether to wait for other programs: not again where one wait was in vain, lest those who queue up wait one by one."""
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


def _change_to_wal(connection: sqlite3.Connection) -> None:
    """Let others read while one writes. SQLite itself waits for nobody here."""
    until = time.monotonic() + PATIENCE
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
        return StorageError("the database is busy, as another program has locked it", "when it is free", is_busy=True)
    if code == sqlite3.SQLITE_FULL:
        return StorageError("the disk is full", "when there is space")
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StorageError(f"the disk doesn't take what is written ({error})", "when it does")
    return StorageError(f"the database is damaged ({error})", "when it is mended")


def _insert(connection: sqlite3.Connection, table: str, values: dict[str, object]) -> None:
    """Add a row; `values`: by the columns' names."""
    places = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", tuple(values.values()))


def _damaged(key: str, what: str) -> PageError:
    _log.warning("game %s… in the database is damaged: %s", key[:8], what)
    return PageError(f"this game is damaged in the database: {what}", 409)


def _parsed(text: str) -> object:
    """JSON; None if it isn't."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _game(row: sqlite3.Row) -> StoredGame:
    """A game's options, if they can be.

    Raises:
        PageError: they are damaged.
    """
    values = dict(row)
    agents = _parsed(values["agents"])
    if not (isinstance(agents, list) and all(isinstance(name, str) for name in agents)):
        raise _damaged(values["id"], "who sits where")
    if not (MIN_PLAYERS <= values["players"] <= MAX_PLAYERS and len(agents) == values["players"]):
        raise _damaged(values["id"], "the number of players")
    if values["side"] not in SIDES or values["max_turns"] < 1 or values["seed"] < 0:
        raise _damaged(values["id"], "side, seed or number of turns")
    for name in ("created", "pause"):  # of no weight
        values[name] = values[name] if math.isfinite(values[name]) and values[name] >= 0 else 0.0
    changes = _changes(values["changes"], values["players"])
    if changes is None:
        raise _damaged(values["id"], "who sits where")
    return StoredGame(**values | {"agents": tuple(agents), "changes": changes, "copied": bool(values["copied"])})


def _changes_text(changes: Iterable[Change]) -> str:
    return json.dumps([[change.step, change.seat, change.who] for change in changes])


def _changes(text: str, players: int) -> tuple[Change, ...] | None:
    """What :func:`_changes_text` has written; None if it hasn't."""
    rows = _parsed(text)
    if not isinstance(rows, list) or not all(isinstance(row, list) and [*map(type, row)] == [int, int, str] for row in rows):
        return None
    return tuple(Change(*row) for row in rows) if all(0 <= row[1] < players for row in rows) else None


def _stored_replay(row: sqlite3.Row) -> StoredReplay:
    names = _parsed(row["names"])
    known = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return StoredReplay(row["id"], row["created"], tuple(names) if known and isinstance(names, list) else (), row["games"])


def _link(row: sqlite3.Row) -> Link:
    values = dict(row)
    return Link(**values | {"in_record": bool(values["in_record"])})
