"""Workers of the page: jobs of an event loop, cancelling, and agents' turns and hints."""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

from processes import there
from skyenv import Game
from skyenv.agents import decide_game, make_agent
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.hints import move
from skyenv.page.workers import Report, Workers
from skyenv.work import Processes


def square(number: int, report: Report) -> int:
    """Report half way."""
    report("half")
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


def test_cancelling_ends_a_job_and_closing_ends_all(tmp_path: Path) -> None:
    """Whether it waits or is under way."""

    async def work() -> None:
        workers, heard = Workers(Processes(1)), list[Any]()
        assert await workers.ask(partial(square, 4), on_progress=heard.append) == 16
        assert heard == ["half"]
        job = partial(hold, tmp_path / "begun")
        asked = [asyncio.create_task(workers.ask(job)) for _ in range(2)]
        worker = await begun(tmp_path / "begun")
        for task in reversed(asked):
            task.cancel()
        while there(worker):  # killed, as it would go on for ever
            await asyncio.sleep(0.01)
        left = asyncio.create_task(workers.ask(partial(hold, tmp_path / "left")))
        worker = await begun(tmp_path / "left")
        await workers.close()
        results = await asyncio.gather(*asked, left, return_exceptions=True)
        assert {type(one) for one in results} == {asyncio.CancelledError}
        assert not there(worker)

    asyncio.run(work())


def test_a_turn_is_what_the_agent_would_decide_and_a_bid_is_one_turn() -> None:
    """All cards of a bid come at once."""
    entry, agent, game = CatalogueEntry("greedy", "greedy"), make_agent("greedy"), Game(2, seed=1)
    turns = set()
    while int(game.state["decisions"]) < 60:
        is_bid, actions = game.phase == "bid", move(entry, game.copy(), print)
        turns.add((is_bid, len(actions) > 1))
        for action in actions:
            assert action == decide_game(game, agent)
            game.play(action)
    assert ((True, True) in turns, (False, True) in turns) == (True, False)
