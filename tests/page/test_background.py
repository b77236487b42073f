"""Works in the background: what is under way, what is kept, and what ends."""

from __future__ import annotations

import asyncio

import pytest

from skyenv.page import background
from skyenv.page.background import MOST_RUNNING, Background, Work
from skyenv.page.errors import PageError
from skyenv.page.payloads import Payload
from skyenv.page.workers import Workers


class Waiting(Work):
    """Waits until it may end; then it fails if it is to."""

    def __init__(self, may: asyncio.Event, fails: bool = False) -> None:
        super().__init__()
        self.may, self.fails = may, fails

    async def run(self, workers: Workers) -> None:
        await self.may.wait()
        if self.fails:
            raise PageError("it has failed")

    def found(self) -> Payload:
        return {"found": 1}


def test_a_browser_has_a_few_works_at_a_time() -> None:
    async def ask() -> None:
        works, may = Background(Workers()), asyncio.Event()
        for number in range(MOST_RUNNING):
            for _ in range(2):  # asked for again it is the same
                works.start(("eve", number), Waiting(may))
        with pytest.raises(PageError, match="are under way") as caught:
            works.start(("eve", "more"), Waiting(may))
        assert caught.value.status == 429
        works.start(("ann", 1), Waiting(may))
        assert (await works.stop(("eve", 0))).state == "stopped"  # before it has begun
        works.start(("eve", "more"), Waiting(may))
        await works.close()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(ask())


def test_what_is_done_is_kept_for_a_while_and_what_failed_can_be_begun_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "MOST_KEPT", 4)

    async def ask() -> None:
        works, may = Background(Workers()), asyncio.Event()
        failing = works.start(("ann", 0), Waiting(may, fails=True))
        may.set()
        while failing.state == "running":
            await asyncio.sleep(0)
        assert failing.payload() == {"state": "failed", "trouble": "it has failed", "found": 1}
        again = works.start(("ann", 0), Waiting(asyncio.Event()))
        for number in range(20):
            work = works.start(("eve", number), Waiting(may))
            while work.state == "running":
                await asyncio.sleep(0)
        assert works.get(("ann", 0)) is again  # which is under way
        assert works.get(("eve", 19)).state == "done"
        with pytest.raises(PageError, match="expired"):
            works.get(("eve", 3))
        await works.close()
        assert again.state == "stopped"

    asyncio.run(ask())
