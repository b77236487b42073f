"""Games to look through: what is recorded in the folders that the page was started with, by the
index that :mod:`skyenv.page.indexing` reads. It is in memory.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final

from skyenv.checks import check_choice, parse_integer
from skyenv.errors import SkyenvError, shown
from skyenv.page.errors import PageError
from skyenv.page.indexing import Game, IndexedFile, open_plain, read_changed
from skyenv.page.roots import LONGEST_LABEL, Root, one_line
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
SORTS: Final = {"date": "date", "length": "actions", "margin": "margin", "players": "players"}
"""What the table can be sorted by, and what of a game that is."""


def _has_words(game: Game, text: str) -> bool:
    told = " ".join([game["label"], *game["names"]]).lower()
    return all(word in told for word in text.lower().split())


_FILTERS: Final[dict[str, Callable[[Game, str], bool]]] = {
    "text": _has_words,
    "agent": lambda game, name: name in game["names"],
    "winner": lambda game, name: name in [game["names"][seat] for seat in game["winners"]],
    "players": lambda game, number: str(game["players"]) == number,
    "side": lambda game, side: game["side"] == side,
}


class Library:
    """The games of some folders, as far as they have been read.

    Args:
        roots: the folders and files.
    """

    def __init__(self, roots: Sequence[Root]) -> None:
        self._roots = roots
        self._files: dict[str, IndexedFile] = {}
        self._look: asyncio.Task[None] | None = None
        self._next_look = 0.0
        self._trouble = ""
        self._left = 0

    def look(self, workers: Workers) -> asyncio.Task[None]:
        """Have a worker read what has changed, unless one does, or has just done so."""
        if self._look is None or (self._look.done() and time.monotonic() >= self._next_look):
            self._look = asyncio.create_task(self._bring_up_to_date(workers))
        return self._look

    async def _bring_up_to_date(self, workers: Workers) -> None:
        known = {key: one.file for key, one in self._files.items()}
        job = partial(read_changed, self._roots, known)
        try:
            found = await workers.ask(job, Priority.ANALYSIS, self._note)
        except SkyenvError as error:
            self._trouble = str(error)
        else:
            self._files = {key: new or self._files[key] for key, new in found.items()}
            self._trouble = ""
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
            PageError: a value can't be used.
        """
        given = dict(asked)
        sort = check_choice("sort", given.get("sort") or "date", list(SORTS), PageError)
        filters = [
            (_FILTERS[name], value)
            for name, value in asked[:MOST_FILTERS]
            if value and name in _FILTERS
        ]
        games = [
            game for game in self._games() if all(passes(game, value) for passes, value in filters)
        ]
        games.sort(key=lambda game: (game["label"], game["number"]))
        games.sort(key=lambda game: game[SORTS[sort]], reverse=given.get("order") != "rising")
        pages = max(1, -(-len(games) // PAGE))
        page = min(max(1, _number(given.get("page") or "1", "page")), pages)
        shown_here = games[PAGE * (page - 1) : PAGE * page]
        return {"games": shown_here, "total": len(games), "page": page, "pages": pages}

    def state(self) -> dict[str, Any]:
        """The folders, how far they have been read, what is damaged, and which agents play in
        them.
        """
        games = self._games()
        names = Counter(chain.from_iterable({*game["names"]} - {""} for game in games))
        damaged = [one for one in self._files.values() if one.complaints]
        return {
            "folders": [root.label for root in self._roots],
            "games": len(games),
            "done": self._look is not None and self._look.done(),
            "left": self._left,
            "trouble": self._trouble,
            "damaged": len(damaged),
            "complaints": [_complaint(one) for one in damaged[:MOST_COMPLAINTS]],
            "agents": [name for name, _ in names.most_common(MOST_AGENTS)],
        }

    def game(self, key: str, number: int) -> bytes:
        """The record of a game. This may wait for the disk.

        Args:
            key: its file's. number: counted from 1.

        Raises:
            PageError: there is no such game, or its file has changed meanwhile.
        """
        indexed = self._files.get(key)
        found = [one for one in indexed.games if one["number"] == number] if indexed else []
        if indexed is None or not found:
            raise PageError(
                "there is no such game in the folders that this page was started with", 404
            )
        try:
            with open_plain(indexed.file.path) as stream:
                stream.seek(found[0]["start"])
                content = stream.read(found[0]["length"])
        except OSError as error:
            raise PageError(f"the game's file can't be read: {error.strerror}", 404) from error
        if len(content) != found[0]["length"] or not content.startswith(b"{"):
            raise PageError("the game's file has changed meanwhile; look for the game again", 409)
        return content

    def _games(self) -> list[Game]:
        return [game for one in self._files.values() for game in one.games]


def _complaint(one: IndexedFile) -> str:
    """What is wrong in a file, in a line."""
    label, (first, *more) = one_line(one.file.way, LONGEST_LABEL), one.complaints
    return f"{label}: {first}" + (f" (and {len(more)} more)" if more else "")


def _number(digits: str, name: str) -> int:
    number = parse_integer(digits, 0, 10**6)
    if number is None:
        raise PageError(f"{name} must be a whole number from 0 to 1000000, not {shown(digits)}")
    return number
