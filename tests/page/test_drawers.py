"""What browsers are shown is made for one after the other."""

from __future__ import annotations

import asyncio
import threading

import pytest

from skyenv.page import drawers
from skyenv.page.drawers import Drawers
from skyenv.page.errors import PageError


def test_browsers_take_turns() -> None:
    """Somebody asks for a lot; another one waits for no more than what is being made."""

    async def ask() -> list[str]:
        pool, may = Drawers(), threading.Event()
        made: list[str] = []

        def make(what: str) -> str:
            may.wait()
            made.append(what)
            return what

        asked = [asyncio.create_task(pool.ask("greedy", make, "greedy")) for _ in range(20)]
        await asyncio.sleep(0)  # they wait
        asked += [asyncio.create_task(pool.ask(name, make, name)) for name in ("ann", "bob")]
        await asyncio.sleep(0)
        may.set()
        assert await asyncio.gather(*asked) == ["greedy"] * 20 + ["ann", "bob"]
        pool.close()
        return made

    made = asyncio.run(ask())
    assert sorted(made) == ["ann", "bob", *["greedy"] * 20]
    assert {"ann", "bob"} <= set(made[: 2 * drawers.THREADS + 4])


def test_one_browser_waits_for_so_much_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawers, "MOST_WAITING", 3)

    async def ask() -> None:
        pool, may = Drawers(), threading.Event()
        asked = [
            asyncio.create_task(pool.ask("greedy", may.wait)) for _ in range(drawers.THREADS + 3)
        ]
        await asyncio.sleep(0)
        with pytest.raises(PageError, match="too much at once"):
            await pool.ask("greedy", may.wait)
        other = asyncio.create_task(pool.ask("ann", may.wait))
        await asyncio.sleep(0)
        may.set()
        assert all(await asyncio.gather(other, *asked))
        pool.close()

    asyncio.run(ask())


def test_mistakes_come_back_and_who_goes_is_passed_over() -> None:
    async def ask() -> None:
        pool, may = Drawers(), threading.Event()
        made: list[str] = []
        first = [asyncio.create_task(pool.ask("ann", may.wait)) for _ in range(drawers.THREADS)]
        gone = asyncio.create_task(pool.ask("bob", made.append, "gone"))
        failing = asyncio.create_task(pool.ask("bob", int, "no number"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        waiting = sum(map(len, pool._waiting.values()))
        may.set()
        assert waiting == 1  # what the other would have needed is forgotten at once
        await asyncio.gather(*first)
        with pytest.raises(ValueError, match="no number"):
            await failing
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert made == []
        assert await pool.ask("bob", int, "7") == 7
        pool.close()

    asyncio.run(ask())
