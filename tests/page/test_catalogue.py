"""Looking up networks that browsers name: by turns, not without end, and not for longer than the
server runs.
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from pages import client_of, quick_catalogue

from skyenv.page.drawers import MOST_WAITING
from skyenv.page.errors import PageError
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application


def test_who_looks_many_up_keeps_no_other_waiting() -> None:
    names, may, looked = quick_catalogue(), threading.Event(), []

    def find(name: str) -> Path | None:
        may.wait(60)
        looked.append(name)
        return None

    async def ask() -> None:
        asked = [
            asyncio.create_task(names.look_up(f"eve {number}", "eve"))
            for number in range(MOST_WAITING + 10)
        ]
        await asyncio.sleep(0)
        asked.append(asyncio.create_task(names.look_up("ann's", "ann")))
        await asyncio.sleep(0)
        may.set()
        errors = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(error, PageError) for error in errors)
        assert sum("too much at once" in str(error) for error in errors) == 9

    names.find = find
    asyncio.run(ask())
    assert looked.index("ann's") <= 2
    names.close()


def test_the_thread_ends_with_the_server() -> None:
    names = quick_catalogue()
    names.find = lambda name: None
    with client_of(application(Storage(MEMORY), names, ["localhost"])) as ann:
        ann.get("/")
        wanted = {"players": 2, "side": "front", "seats": ["me", "agent:nobody"]}
        assert ann.post("/api/games", json=wanted).status_code == 404
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("networks")]


def test_what_is_here_is_not_looked_for() -> None:
    names = quick_catalogue()
    names.find = lambda name: pytest.fail("it is here")
    assert asyncio.run(names.look_up("greedy", "ann")).name == "greedy"
