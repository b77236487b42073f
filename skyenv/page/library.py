"""Games to look through: what is recorded in the folders that the page was started with, by the
index that :mod:`skyenv.page.indexing` makes.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from skyenv.checks import check_choice, parse_integer
from skyenv.errors import SkyenvError, shown
from skyenv.page.errors import PageError
from skyenv.page.indexing import NO_LINKS, bring_up_to_date, connect
from skyenv.page.roots import LONGEST_LABEL, Root, key_of
from skyenv.page.workers import Priority, Workers

PAGE: Final = 50
"""Games on a page of the table."""
MOST_AGENTS: Final = 500
"""Agents that are offered as filters, the most frequent ones."""
MOST_COMPLAINTS: Final = 50
"""Damaged files that are told."""
MOST_FILTERS: Final = 50
"""Filters that count at the same time."""
APART: Final = 5.0
"""Seconds between looks at the folders."""
SORTS: Final = {
    "date": "date",
    "length": "actions",
    "margin": "margin",
    "swing": "swing",
    "players": "players",
}
"""What the table can be sorted by, and the column."""
_SHOWN: Final = (
    "file, label, number, players, side, names, winners, scores, margin, actions, ending, swing, "
    "swing_step, date"
)
_LIMITED: Final = {"margin": "margin", "length": "actions", "swing": "swing"}
_FILTERS: Final = {
    "agent": "EXISTS (SELECT 1 FROM json_each(names) WHERE value = ?)",
    "winner": "EXISTS (SELECT 1 FROM json_each(won) WHERE value = ?)",
    "side": "side = ?",
    "ending": "ending = ?",
    "file": "file = ?",
    "word": "instr(lower(label || ' ' || names), lower(?))",
}
_NUMBERS: Final = {
    "players": "players = ?",
    **{f"least_{name}": f"{column} >= ?" for name, column in _LIMITED.items()},
    **{f"most_{name}": f"{column} <= ?" for name, column in _LIMITED.items()},
}


class Library:
    """The games of some folders.

    `search`, `state` and `game` may wait for the disk, and are safe in several threads.

    Args:
        folder: where the index lies; folders together have one of their own.
        roots: the folders and files.

    Attributes:
        path: the index.
    """

    def __init__(self, folder: Path, roots: Sequence[Root]) -> None:
        self.roots = roots
        self.path = folder / f"library-{key_of(':'.join(str(root.path) for root in roots))}.sqlite3"
        self._look: asyncio.Task[None] | None = None
        self._next_look = 0.0
        self._trouble = ""
        self._left = 0

    def look(self, workers: Workers) -> asyncio.Task[None]:
        """Have a worker bring the index up to date, unless one does, or has just done so."""
        if self._look is None or (self._look.done() and time.monotonic() >= self._next_look):
            self._look = asyncio.create_task(self._bring_up_to_date(workers))
        return self._look

    async def _bring_up_to_date(self, workers: Workers) -> None:
        job = partial(bring_up_to_date, self.path, self.roots)
        try:
            while not await workers.ask(job, Priority.ANALYSIS, self._note):
                pass
            self._trouble = ""
        except SkyenvError as error:
            self._trouble = str(error)
        self._next_look = time.monotonic() + APART

    def _note(self, left: int) -> None:
        self._left = left

    def search(self, asked: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """A page of the table, how many games there are by the filters, and how many pages.

        Args:
            asked: names and values behind the question mark of an address. ``agent`` may come
                several times; names that mean nothing here are left alone, and empty values ask for
                nothing.

        Raises:
            PageError: a value can't be used, or the index can't be read.
        """
        where, values = ["TRUE"], list[object]()
        given = dict(asked)
        words = [("word", word) for word in given.get("text", "").split()]
        for name, value in [*dict.fromkeys([*asked, *words])][:MOST_FILTERS]:
            if not value:
                continue
            if name in _NUMBERS:
                where.append(_NUMBERS[name])
                values.append(_number(value, name))
            elif name in _FILTERS:
                where.append(_FILTERS[name])
                values.append(value[:LONGEST_LABEL])
        sort = check_choice("sort", given.get("sort") or "date", list(SORTS), PageError)
        order = "ASC" if given.get("order") == "rising" else "DESC"
        games = f"FROM game JOIN file ON key = file WHERE {' AND '.join(where)}"
        ((total,),) = self._rows(f"SELECT COUNT(*) {games}", values)
        pages = max(1, -(-total // PAGE))
        page = min(max(1, _number(given.get("page") or "1", "page")), pages)
        rows = self._rows(
            f"SELECT {_SHOWN} {games} ORDER BY {SORTS[sort]} {order}, label, number "
            f"LIMIT {PAGE} OFFSET {PAGE * (page - 1)}",
            values,
        )
        return {"games": [_told(row) for row in rows], "total": total, "page": page, "pages": pages}

    def state(self) -> dict[str, Any]:
        """The folders, how far they have been read, what is damaged, and which agents play in them.

        Raises:
            PageError: the index can't be read.
        """
        agents = self._rows(
            "SELECT value FROM game, json_each(names) WHERE value <> '' "
            "GROUP BY 1 ORDER BY COUNT(*) DESC, 1 LIMIT ?",
            [MOST_AGENTS],
        )
        damaged = self._rows("SELECT * FROM file WHERE complaint <> '' ORDER BY label", [])
        ((games,),) = self._rows("SELECT COUNT(*) FROM game", [])
        return {
            "folders": [root.label for root in self.roots],
            "games": games,
            "done": self._look is not None and self._look.done(),
            "left": self._left,
            "trouble": self._trouble,
            "damaged": len(damaged),
            "complaints": [
                f"{row['label']}: {row['complaint']}"
                + (f" (and {row['skipped'] - 1} more)" if row["skipped"] > 1 else "")
                for row in damaged[:MOST_COMPLAINTS]
            ],
            "agents": [name for (name,) in agents],
        }

    def game(self, key: str, number: int) -> bytes:
        """The record of a game.

        Args:
            key: its file's. number: counted from 1.

        Raises:
            PageError: there is no such game, or its file has changed meanwhile.
        """
        query = "SELECT path, start, length FROM game JOIN file ON key = file"
        rows = self._rows(f"{query} WHERE key = ? AND number = ?", [key, number])
        if not rows:
            raise PageError(
                "there is no such game in the folders that this page was started with", 404
            )
        path, start, length = rows[0]
        try:
            with open(os.open(path, os.O_RDONLY | NO_LINKS), "rb") as stream:
                stream.seek(start)
                content = stream.read(length)
        except OSError as error:
            raise PageError(f"the game's file can't be read: {error.strerror}", 404) from error
        if len(content) != length or not content.startswith(b"{"):
            raise PageError("the game's file has changed meanwhile; look for the game again", 409)
        return content

    def _rows(self, query: str, values: Sequence[object]) -> list[sqlite3.Row]:
        try:
            with closing(connect(self.path)) as index:
                index.row_factory = sqlite3.Row
                return index.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise PageError(f"the index of games can't be read ({error})", 503) from error


def _number(digits: str, name: str) -> int:
    number = parse_integer(digits, 0, 10**6)
    if number is None:
        raise PageError(f"{name} must be a whole number from 0 to 1000000, not {shown(digits)}")
    return number


def _told(row: sqlite3.Row) -> dict[str, Any]:
    """What the table shows of a game."""
    told = dict(row)
    return told | {name: json.loads(told[name]) for name in ("names", "winners", "scores")}
