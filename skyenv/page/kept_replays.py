"""The replays of a server: records that browsers send, kept for them, and their games in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from skyenv.page.browsers import new_token
from skyenv.page.errors import PageError
from skyenv.page.kept import Kept
from skyenv.page.payloads import Payload
from skyenv.page.replays import Replay, summaries
from skyenv.page.storage import Storage

MOST_REPLAYS: Final = 30
"""Replays that are kept for one browser."""
MOST_REPLAYS_IN_ALL: Final = 500
"""Replays that are kept in the database; browsers are as many as somebody likes."""
UPLOADS: Final = 16
"""Records that are received at the same time; each may take megabytes of memory until it is read.
"""
UPLOADS_OF_ONE: Final = 3
"""The same of one browser."""
REPLAYS: Final = 8
"""Replays that are kept in memory though nobody looks at them."""


class KeptReplays:
    """The records that are kept for browsers. For the event loop's thread alone.

    Args:
        storage: the database.
        require_rules: raises a PageError as long as the rules aren't ready.

    Attributes:
        uploads: the records that are being received.
    """

    def __init__(self, storage: Storage, require_rules: Callable[[], None]) -> None:
        self.storage = storage
        self.uploads = Uploads()
        self._require_rules = require_rules
        self._replays: Kept[tuple[str, int, str], Replay] = Kept(REPLAYS)

    async def add(self, content: bytes, browser: str) -> tuple[str, list[Payload]]:
        """Check a record and keep it for a browser to look at.

        Returns:
            Its key, and what games there are.

        Raises:
            RecordError, PageError: it is damaged, or too large.
        """
        self._require_rules()
        games = await asyncio.to_thread(summaries, content)
        told = MOST_REPLAYS, MOST_REPLAYS_IN_ALL, games[0]["names"] if games else [], len(games)
        return await self.storage.ask(
            self.storage.add_replay, new_token(), browser, content, *told
        ), games

    async def delete(self, key: str, browser: str) -> None:
        """Forget a record that was kept.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        await self.storage.ask(self.storage.delete_replay, key, browser)
        self._replays.clear()

    async def summaries(self, key: str, browser: str) -> list[Payload]:
        """The games of a record that was kept.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        self._require_rules()
        content = await self.storage.ask(self.storage.replay, key, browser)
        return await asyncio.to_thread(summaries, content)

    async def replay(
        self,
        key: str,
        number: int,
        browser: str,
        fetch: Callable[[], Awaitable[bytes]] | None = None,
    ) -> Replay:
        """A game of a record that was kept; or, by `fetch`, which gives its record, of another.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        self._require_rules()
        place = key, number, browser
        if place not in self._replays:
            if fetch is None:
                record = await self.storage.ask(self.storage.replay, key, browser), number
            else:
                record = await fetch(), 1
            self._replays[place] = await asyncio.to_thread(Replay.of, *record)
        return self._replays[place]


class Uploads:
    """Records that are being received. The one that takes longest makes room for a new one."""

    def __init__(self) -> None:
        self._under_way: dict[asyncio.Timeout, str] = {}

    @asynccontextmanager
    async def receiving(self, browser: str) -> AsyncIterator[None]:
        """While a browser sends a record.

        Raises:
            PageError: it sends too many, or this one has taken longer than others, which are let
                in.
        """
        if list(self._under_way.values()).count(browser) >= UPLOADS_OF_ONE:
            raise PageError(f"this browser is sending {UPLOADS_OF_ONE} records already", 429)
        while len(self._under_way) >= UPLOADS:
            longest = next(iter(self._under_way))
            del self._under_way[longest]
            longest.reschedule(asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(None) as patience:
                self._under_way[patience] = browser
                try:
                    yield
                finally:
                    self._under_way.pop(patience, None)
        except TimeoutError as error:
            raise PageError("too many records are being sent; send yours again", 503) from error
