"""Works in the background: what is under way, what is kept, and for whom."""

from __future__ import annotations

import asyncio

import pytest

from skyenv.page import background
from skyenv.page.background import MOST_OF_ONE_CLIENT, MOST_RUNNING, Background, Work
from skyenv.page.errors import PageError
from skyenv.page.payloads import Payload
from skyenv.page.workers import Workers


class Waiting(Work):
    """Waits until it may end."""

    def __init__(self, may: asyncio.Event) -> None:
        super().__init__()
        self.may = may

    async def run(self, workers: Workers) -> None:
        await self.may.wait()

    def found(self) -> Payload:
        return {}


class Failing(Waiting):
    """Waits, and fails."""

    async def run(self, workers: Workers) -> None:
        await super().run(workers)
        raise PageError("it has failed")


def test_no_client_has_all_works() -> None:
    """Neither by one browser nor by many."""

    async def ask() -> None:
        works, may = Background(Workers()), asyncio.Event()
        for number in range(MOST_OF_ONE_CLIENT):
            works.start((f"eve {number // MOST_RUNNING}", number), Waiting(may), "10.0.0.1")
        for browser in ("eve 0", "eve 9"):
            with pytest.raises(PageError, match="are under way") as caught:
                works.start((browser, "more"), Waiting(may), "10.0.0.1")
            assert caught.value.status == 429
        works.start(("ann", 1), Waiting(may), "10.0.0.2")
        await works.stop(("eve 0", 0))
        works.start(("eve 9", "more"), Waiting(may), "10.0.0.1")
        await works.close()

    asyncio.run(ask())


def test_who_fills_the_memory_throws_out_his_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MOST_KEPT", 4)

    async def ask() -> None:
        works, may = Background(Workers()), asyncio.Event()
        may.set()
        first = works.start(("ann", 0), Waiting(may), "10.0.0.2")
        for number in range(20):
            work = works.start((f"eve {number}", number), Waiting(may), "10.0.0.1")
            while work.state == "running":
                await asyncio.sleep(0)
        assert (works.get(("ann", 0)), first.state) == (first, "done")
        with pytest.raises(PageError, match="long ago"):
            works.get(("eve 3", 3))
        await works.close()

    asyncio.run(ask())


def test_a_work_that_is_stopped_before_it_begins_makes_room() -> None:
    async def ask() -> None:
        works, may = Background(Workers()), asyncio.Event()
        for number in range(2 * MOST_RUNNING):
            works.start(("ann", number), Waiting(may), "")
            assert (await works.stop(("ann", number))).state == "stopped"
        await works.close()

    asyncio.run(ask())


def test_a_work_that_is_begun_again_at_once_is_known_to_be_under_way() -> None:
    """The end of the one before is heard of later."""

    async def ask() -> None:
        works, may = Background(Workers()), asyncio.Event()
        works.start(("ann", 1), failing := Failing(may), "")
        may.set()
        while failing.state == "running":
            await asyncio.sleep(0)
        again = works.start(("ann", 1), Waiting(asyncio.Event()), "")
        for _ in range(5):
            await asyncio.sleep(0)
        assert (await works.stop(("ann", 1)), again.state) == (again, "stopped")
        assert len(asyncio.all_tasks()) == 1  # it has indeed ended
        await works.close()

    asyncio.run(ask())
