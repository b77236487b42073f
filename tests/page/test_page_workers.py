"""Workers of the page: jobs of an event loop, cancelling, and agents' turns and hints."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from processes import there
from skyenv import Game
from skyenv.agents import decide_game, make_agent
from skyenv.errors import IllegalActionError
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.hints import move
from skyenv.page.workers import Report, Workers
from skyenv.work import Processes


def square(number: int, report: Report) -> int:
    """Report half way; 7 fails."""
    report("half")
    if number == 7:
        raise IllegalActionError("not that", 7)
    return number**2


def hold(file: Path, report: Report) -> None:
    """Say by a file that it has begun, and never end."""
    file.write_text(str(os.getpid()))
    time.sleep(10**6)


async def begun(file: Path) -> int:
    """The process in which `hold` has begun."""
    while not file.exists() or not file.read_text():
        await asyncio.sleep(0.01)
    return int(file.read_text())


def test_a_job_reports_in_the_loop_and_cancelling_ends_it(tmp_path: Path) -> None:
    """Whether it waits or is under way."""
    heard: list[Any] = []

    async def work() -> None:
        workers = Workers(Processes(1))

        def note(value: Any) -> None:
            heard.append((value, threading.get_ident()))

        jobs = [workers.ask(partial(square, number), on_progress=note) for number in range(3)]
        assert await asyncio.gather(*jobs) == [0, 1, 4]
        with pytest.raises(IllegalActionError, match="not that"):
            await workers.ask(partial(square, 7))
        job = partial(hold, tmp_path / "begun")
        asked = [asyncio.create_task(workers.ask(job)) for _ in range(2)]
        worker = await begun(tmp_path / "begun")
        for task in reversed(asked):
            task.cancel()
        while there(worker):  # killed, as it would go on for ever
            await asyncio.sleep(0.01)
        assert await workers.ask(partial(square, 4)) == 16
        left = asyncio.create_task(workers.ask(partial(hold, tmp_path / "left")))
        worker = await begun(tmp_path / "left")
        await workers.close()
        results = await asyncio.gather(*asked, left, return_exceptions=True)
        assert {type(one) for one in results} == {asyncio.CancelledError}
        assert not there(worker)

    asyncio.run(work())
    assert heard == [("half", threading.get_ident())] * 3


def test_a_turn_is_what_the_agent_would_decide_and_a_bid_is_one_turn() -> None:
    """All cards of a bid come at once."""
    entry, agent = CatalogueEntry("greedy", "greedy"), make_agent("greedy")
    here, far = (Game(2, seed=1, agent_seed=7) for _ in range(2))
    lengths = set()
    while int(here.state["decisions"]) < 60:
        is_bid, actions = here.phase == "bid", move(entry, far, print)
        lengths.add((is_bid, len(actions) > 1))
        for action in actions:
            assert action == decide_game(here, agent)
            here.play(action)
    assert (True, True) in lengths
    assert (False, True) not in lengths
