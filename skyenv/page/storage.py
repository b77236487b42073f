"""What outlives the server: games, links and replays in one SQLite file.

A game is stored as its options, its seed and its actions, which decide it bit for bit. Every action
is in the file before any browser hears of it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from skyenv.errors import shown
from skyenv.page.database import MEMORY, Database, insert
from skyenv.page.errors import ConflictError, PageError
from skyenv.page.stored import (
    ANYBODY,
    HUMAN,
    NOBODY,
    Change,
    Link,
    StoredAnalysis,
    StoredGame,
    StoredReplay,
    changes_text,
    damaged,
    game_of,
    link_of,
    parsed,
    replay_of,
    withdrawn,
)

__all__ = [
    "ANYBODY",
    "HUMAN",
    "MEMORY",
    "NOBODY",
    "Change",
    "Link",
    "Storage",
    "StoredAnalysis",
    "StoredGame",
    "StoredReplay",
]
MANY: Final = 1 << 62
"""No limit."""
_LINKS: Final = "SELECT link.* FROM link JOIN game ON game.id = link.game"
_log = logging.getLogger("skyenv.page")


class Storage(Database):
    """Games, links, replays and analyses in the page's database; made like a
    :class:`~skyenv.page.database.Database`.
    """

    @contextlib.contextmanager
    def _transaction_about_a_game(self) -> Iterator[sqlite3.Connection]:
        """A transaction that adds something to a game.

        Raises:
            PageError: the game is gone.
        """
        try:
            with self.transaction() as connection:
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
            with self.transaction() as connection:
                (stored,) = connection.execute(
                    "SELECT count(*) FROM action WHERE game = ?", (key,)
                ).fetchone()
                if stored != number:  # more, or fewer as some were taken back
                    raise sqlite3.IntegrityError
                yield connection
        except sqlite3.IntegrityError as error:
            raise ConflictError(
                "another server plays this game with the same database; look at it again", 409
            ) from error

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
            most_in_all: games that there can be; of those in which nobody has played the oldest
                make room.
            actions: what has been played in it already.
            after: the game that it is the rematch of.

        Returns:
            The links; if the browser has had a game for the same key, or `after` a rematch, those
            of that game, and nothing is stored.

        Raises:
            PageError: the browser has too many games, or there are too many in which somebody has
                played.
            ConflictError: another process has let somebody sit down in the game whose chance this
                one has, or deleted it.
        """
        links = list(links)
        with self.transaction() as connection:
            same = f"{_LINKS} WHERE owner = ? AND idempotency_key = ? ORDER BY seat"
            if earlier := connection.execute(same, (game.owner, game.idempotency_key)).fetchall():
                return [link_of(row) for row in earlier]
            (number,) = connection.execute(
                "SELECT count(*) FROM game WHERE owner = ?", (game.owner,)
            ).fetchone()
            if number >= most:
                raise PageError(f"this browser has {most} games; delete some", 429)
            if after is not None:
                first = (
                    "UPDATE game SET rematch = ? WHERE id = ? "
                    "AND (rematch IS NULL OR rematch NOT IN (SELECT id FROM game))"
                )
                if not connection.execute(first, (game.id, after)).rowcount:
                    rows = (
                        "SELECT link.* FROM link JOIN game ON game.rematch = link.game "
                        "WHERE game.id = ? ORDER BY seat"
                    )
                    return [link_of(row) for row in connection.execute(rows, (after,))]
            (number,) = connection.execute("SELECT count(*) FROM game").fetchone()
            if number >= most_in_all:
                unplayed = (
                    "SELECT id FROM game WHERE NOT EXISTS "
                    "(SELECT 1 FROM action WHERE game = game.id) ORDER BY created LIMIT ?"
                )
                gone = connection.execute(
                    f"DELETE FROM game WHERE id IN ({unplayed})", (number + 1 - most_in_all,)
                ).rowcount
                if number - gone >= most_in_all:
                    raise PageError(
                        f"there are {most_in_all} games; whoever runs this server can delete some",
                        503,
                    )
            if game.chance is not None:
                mark = "UPDATE game SET copied = 1 WHERE id = ? AND changes = '[]'"
                if not connection.execute(mark, (game.origin,)).rowcount:
                    raise ConflictError("the game has changed meanwhile; look at it again", 409)
            lists = {"agents": json.dumps(game.agents), "changes": changes_text(game.changes)}
            insert(connection, "game", vars(game) | lists)
            numbered = [(game.id, number, action) for number, action in enumerate(actions)]
            connection.executemany("INSERT INTO action VALUES (?, ?, ?)", numbered)
            for link in links:
                insert(connection, "link", vars(link))
        return links

    def game(self, key: str) -> StoredGame:
        """A game's options.

        Raises:
            PageError: there is no such game, or its row is damaged.
        """
        rows = self.rows("SELECT * FROM game WHERE id = ?", key)
        if not rows:
            raise PageError("there is no such game", 404)
        return game_of(rows[0])

    def owner(self, key: str) -> str:
        """Who has made a game, whatever is damaged of it; nobody is called ``""``."""
        rows = self.rows("SELECT owner FROM game WHERE id = ?", key)
        return str(rows[0]["owner"]) if rows else ""

    def actions(self, key: str) -> list[int]:
        """A game's actions so far.

        Raises:
            PageError: some are missing.
        """
        rows = self.rows("SELECT number, action FROM action WHERE game = ? ORDER BY number", key)
        if [row["number"] for row in rows] != list(range(len(rows))):
            raise damaged(key, "actions are missing")
        return [row["action"] for row in rows]

    def append(self, key: str, number: int, actions: Sequence[int]) -> None:
        """Store further actions of a game, whose draft is gone then; `number`: how many actions
        there are already.

        Raises:
            ConflictError: another process has gone on with the game, or deleted it.
        """
        rows = [(key, number + i, action) for i, action in enumerate(actions)]
        with self._transaction_after(key, number) as connection:
            connection.executemany("INSERT INTO action VALUES (?, ?, ?)", rows)
            connection.execute("DELETE FROM draft WHERE game = ?", (key,))

    def take_back(self, key: str, number: int, stay: int) -> None:
        """Forget a game's actions behind the first `stay`, and its draft; `number`: how many
        actions there are.

        Raises:
            ConflictError: another process has gone on with the game, or deleted it.
        """
        with self._transaction_after(key, number) as connection:
            connection.execute("DELETE FROM action WHERE game = ? AND number >= ?", (key, stay))
            connection.execute("DELETE FROM draft WHERE game = ?", (key,))

    def draft(self, key: str) -> list[int]:
        """The actions of a game's unfinished bid; a damaged one is none, as its cards can be laid
        down again.
        """
        rows = self.rows("SELECT actions FROM draft WHERE game = ?", key)
        actions = parsed(rows[0]["actions"]) if rows else []
        if isinstance(actions, list) and all(type(action) is int for action in actions):
            return actions
        _log.warning("the unfinished bid of game %s… is damaged; it is forgotten", key[:8])
        return []

    def set_draft(self, key: str, number: int, actions: Sequence[int]) -> None:
        """Store the actions of a game's unfinished bid; `number`: how many actions there are
        without it.

        Raises:
            ConflictError: another process has gone on with the game, or deleted it.
        """
        with self._transaction_after(key, number) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO draft VALUES (?, ?)", (key, json.dumps(list(actions)))
            )

    def set_pause(self, key: str, pause: float) -> None:
        """Change how long agents' moves take."""
        with self.transaction() as connection:
            connection.execute("UPDATE game SET pause = ? WHERE id = ?", (pause, key))

    def set_changes(
        self, key: str, number: int, changes: Sequence[Change], link: Link | None = None
    ) -> None:
        """Store who has sat down on which seats, the last of them now; the unfinished bid is gone
        then.

        Args:
            key: the game's.
            number: how many actions there are.
            changes: all of them.
            link: the way to a seat that had none.

        Raises:
            ConflictError: another process has gone on with the game, changed who sits there, or
                deleted it.
        """
        with self._transaction_after(key, number) as connection:
            values = changes_text(changes), key, changes_text(changes[:-1])
            if not connection.execute(
                "UPDATE game SET changes = ? WHERE id = ? AND changes = ?", values
            ).rowcount:
                raise sqlite3.IntegrityError
            connection.execute("DELETE FROM draft WHERE game = ?", (key,))
            if link is not None:
                insert(connection, "link", vars(link))

    def delete_game(self, key: str) -> None:
        """Forget a game, its actions and links."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM game WHERE id = ?", (key,))

    # ---- links ----

    def link(self, token: str) -> Link:
        """The link with that token.

        Raises:
            PageError: there is none.
        """
        rows = self.rows("SELECT * FROM link WHERE token = ?", token)
        if not rows:
            raise PageError("there is no such seat; the link may be incomplete", 404)
        return link_of(rows[0])

    def links(self, key: str) -> list[Link]:
        """All links of a game but those that were withdrawn, by seat."""
        return [
            link_of(row)
            for row in self.rows(
                "SELECT * FROM link WHERE game = ? AND browser IS NOT ? ORDER BY seat", key, NOBODY
            )
        ]

    def links_of(self, browser: str, most: int = -1) -> list[Link]:
        """The links that a browser has taken, the newest game first; `most`: so many of them."""
        query = f"{_LINKS} WHERE browser = ? ORDER BY created DESC, seat LIMIT ?"
        return [link_of(row) for row in self.rows(query, browser, most)]

    def variations(self, owner: str, origin: str) -> list[Link]:
        """The ways to a browser's games that go on from a game, the newest first."""
        query = f"{_LINKS} WHERE owner = ? AND origin = ? AND browser = owner"
        return [
            link_of(row) for row in self.rows(f"{query} ORDER BY created DESC, seat", owner, origin)
        ]

    def add_link(self, link: Link) -> None:
        """Store one more way to a game.

        Raises:
            PageError: the game is gone.
        """
        with self._transaction_about_a_game() as connection:
            insert(connection, "link", vars(link))

    def withdraw(self, token: str) -> None:
        """Let a link that is for anybody lead nowhere from now on."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE link SET browser = ? WHERE token = ? AND browser = ?",
                (NOBODY, token, ANYBODY),
            )
            connection.execute("DELETE FROM spectator WHERE token = ?", (token,))

    def spectate(self, token: str, browser: str) -> None:
        """Remember that a browser has used a link that is for anybody.

        Raises:
            PageError: the game is gone, or the link was withdrawn.
        """
        with self._transaction_about_a_game() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO spectator (token, browser) VALUES (?, ?)", (token, browser)
            )
            if (
                connection.execute("SELECT browser FROM link WHERE token = ?", (token,)).fetchone()[
                    "browser"
                ]
                != ANYBODY
            ):
                raise withdrawn()

    def watched_by(self, browser: str, most: int) -> list[Link]:
        """The links for anybody that a browser has used, of the newest `most` games."""
        query = (
            "SELECT link.* FROM spectator JOIN link USING (token) JOIN game ON game.id = link.game"
            " WHERE spectator.browser = ? AND link.browser = ? ORDER BY created DESC LIMIT ?"
        )
        return [
            replace(link_of(row), browser=browser)
            for row in self.rows(query, browser, ANYBODY, most)
        ]

    def rename(self, token: str, name: str, in_record: bool) -> None:
        """Store what who has taken a link is called, and whether records may tell it."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE link SET name = ?, in_record = ? WHERE token = ?", (name, in_record, token)
            )

    def set_seen(self, token: str, seen: float) -> None:
        """Store when who has taken a link was last there."""
        with self.transaction() as connection:
            connection.execute("UPDATE link SET seen = ? WHERE token = ?", (seen, token))

    def claim(self, token: str, browser: str, name: str = "") -> bool:
        """Give a link to a browser; whether it has it now. Who comes first has it."""
        with self.transaction() as connection:
            given = "UPDATE link SET browser = ?, name = ? WHERE token = ? AND browser IS NULL"
            connection.execute(given, (browser, name, token))
            row = connection.execute(
                "SELECT browser FROM link WHERE token = ?", (token,)
            ).fetchone()
        return row is not None and bool(row["browser"] == browser)

    def release(self, token: str) -> None:
        """Take a link from its browser, so that another one can have it."""
        with self.transaction() as connection:
            nobody = "browser = NULL, name = '', in_record = 0, screen = NULL, seen = 0"
            connection.execute(f"UPDATE link SET {nobody} WHERE token = ?", (token,))

    # ---- replays ----

    def add_replay(
        self,
        key: str,
        browser: str,
        record: bytes,
        most: int,
        most_in_all: int,
        names: Sequence[str] = (),
        games: int = 0,
    ) -> str:
        """Store a record to look at; of each browser's the newest `most` are kept, and the newest
        `most_in_all` of all.

        `names`, `games`: what lists tell of it, see :class:`StoredReplay`.

        Returns:
            Its key; if the browser has sent the same before, that of then.
        """
        with self.transaction() as connection:
            same = "SELECT id FROM replay WHERE browser = ? AND length(record) = ? AND record = ?"
            if earlier := connection.execute(same, (browser, len(record), record)).fetchone():
                key = str(earlier["id"])
                told = (time.time(), json.dumps(list(names)), games, key)
                connection.execute(
                    "UPDATE replay SET created = ?, names = ?, games = ? WHERE id = ?", told
                )
                return key
            row = {"id": key, "browser": browser, "created": time.time(), "record": record}
            insert(connection, "replay", row | {"names": json.dumps(list(names)), "games": games})
            connection.execute(
                "DELETE FROM replay WHERE browser = ? AND id NOT IN"
                " (SELECT id FROM replay WHERE browser = ? ORDER BY created DESC LIMIT ?)",
                (browser, browser, most),
            )
            connection.execute(
                "DELETE FROM replay WHERE id IN (SELECT id FROM replay ORDER BY created DESC LIMIT "
                "-1 OFFSET ?)",
                (most_in_all,),
            )
        return key

    def replay(self, key: str, browser: str) -> bytes:
        """A stored record.

        Raises:
            PageError: there is none of that browser.
        """
        rows = self.rows("SELECT record FROM replay WHERE id = ? AND browser = ?", key, browser)
        if not rows:
            raise PageError(
                f"there is no replay {shown(key, 20)} of this browser; open the record again", 404
            )
        record: bytes = rows[0]["record"]
        return record

    def replays(self, browser: str) -> list[StoredReplay]:
        """The records kept for a browser, those opened last first."""
        rows = self.rows(
            "SELECT id, created, names, games FROM replay WHERE browser = ? ORDER BY created DESC",
            browser,
        )
        return [replay_of(row) for row in rows]

    def delete_replay(self, key: str, browser: str) -> None:
        """Forget a stored record.

        Raises:
            PageError: there is none of that browser.
        """
        with self.transaction() as connection:
            if not connection.execute(
                "DELETE FROM replay WHERE id = ? AND browser = ?", (key, browser)
            ).rowcount:
                raise PageError(f"there is no replay {shown(key, 20)} of this browser", 404)

    # ---- analyses ----

    def analyses(self, game: str) -> list[StoredAnalysis]:
        """Those of a game, by its digest, the newest first."""
        columns = "game, agent, version, kind, opinions"
        rows = self.rows(f"SELECT {columns} FROM analysis WHERE game = ? ORDER BY made DESC", game)
        return [StoredAnalysis(**dict(row)) for row in rows]

    def keep_analysis(self, analysis: StoredAnalysis, client: str, most: int) -> None:
        """Store one in the place of that agent's earlier one of the same.

        Args:
            analysis: it.
            client: for whom it was made.
            most: so many are kept in all: the oldest of the client that has most goes.
        """
        values = vars(analysis) | {"made": time.time(), "client": client}
        with self.transaction() as connection:
            connection.execute(
                "DELETE FROM analysis WHERE game = ? AND agent = ?", (analysis.game, analysis.agent)
            )
            insert(connection, "analysis", values)
            whose = (
                "SELECT client FROM analysis GROUP BY client "
                "ORDER BY count(*) DESC, min(made) LIMIT 1"
            )
            oldest = (
                f"SELECT game, agent FROM analysis WHERE client = ({whose}) ORDER BY made LIMIT 1"
            )
            while connection.execute("SELECT count(*) FROM analysis").fetchone()[0] > most:
                connection.execute(f"DELETE FROM analysis WHERE (game, agent) IN ({oldest})")
