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
from pages import played

from processes import there
from skyenv import Game
from skyenv.agents import decide_game, make_agent
from skyenv.errors import IllegalActionError
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.hints import advise
from skyenv.page.jobs import move
from skyenv.page.workers import Priority, Report, Workers
from skyenv.work import Processes


def square(number: int, report: Report) -> int:
    """Report half way; 7 fails."""
    report("half")
    if number == 7:
        raise IllegalActionError("not that", 7)
    return number**2


def hold(folder: Path, report: Report) -> None:
    """Say by a file that it has begun, and never end."""
    (folder / "begun").write_text(str(os.getpid()))
    time.sleep(10**6)


async def begun(folder: Path) -> int:
    """The process in which `hold` has begun."""
    while not (folder / "begun").exists() or not (folder / "begun").read_text():
        await asyncio.sleep(0.01)
    return int((folder / "begun").read_text())


def test_a_job_reports_in_the_loop_and_cancelling_ends_it(tmp_path: Path) -> None:
    """Whether it waits or is under way."""
    heard: list[Any] = []
    complaints: list[Any] = []

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        workers = Workers(Processes(1))

        def note(value: Any) -> None:
            heard.append((value, threading.get_ident()))

        jobs = [workers.ask(partial(square, number), on_progress=note) for number in range(3)]
        assert await asyncio.gather(*jobs) == [0, 1, 4]
        with pytest.raises(IllegalActionError, match="not that"):
            await workers.ask(partial(square, 7))
        job = partial(hold, tmp_path)
        asked = [asyncio.create_task(workers.ask(job, Priority.HINT)) for _ in range(2)]
        worker = await begun(tmp_path)
        for task in reversed(asked):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        while there(worker):  # killed, as it would go on for ever
            await asyncio.sleep(0.01)
        (tmp_path / "begun").unlink()
        assert await workers.ask(partial(square, 4)) == 16
        left = asyncio.create_task(workers.ask(job))
        await begun(tmp_path)
        await workers.close()
        with pytest.raises(asyncio.CancelledError):
            await left

    asyncio.run(work())
    assert heard == [("half", threading.get_ident())] * 3
    assert complaints == []


def test_a_worker_decides_as_the_agent_would_here_and_a_bid_is_one_turn() -> None:
    """All cards of a bid come at once."""

    async def play() -> int:
        workers, bids = Workers(Processes(1)), 0
        for seed, name in enumerate(("random", "crowd", "greedy")):
            here, far = (Game(2, seed=seed, agent_seed=7) for _ in range(2))
            agent, entry = make_agent(name), CatalogueEntry(name, name)
            while not here.is_over and int(here.state["decisions"]) < 60:
                seat, is_bid = here.seat, here.phase == "bid"
                actions = await workers.ask(partial(move, entry, far))
                assert is_bid or len(actions) == 1
                bids += len(actions) > 1
                for action in actions:
                    assert (action, here.seat) == (decide_game(here, agent), seat)
                    here.play(action)
                    far.play(action)
            game = played(2, seed=seed, actions=20)
            assert await workers.ask(partial(advise, entry, None, game)) == advise(
                entry, None, game, print
            )
        await workers.close()
        return bids

    assert asyncio.run(play()) > 0
