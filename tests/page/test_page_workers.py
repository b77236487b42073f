"""The page's workers: cancelled jobs and agents' turns."""

import asyncio
import os
import time
from functools import partial
from pathlib import Path

from pages import positions

from processes import there
from skyenv.agents import decide_game
from skyenv.page.agents.catalogue import CatalogueEntry
from skyenv.page.agents.jobs import move
from skyenv.page.workers import Report, Workers
from skyenv.rules.state import NONE
from skyenv.work import Processes


def hold(file: Path, report: Report) -> None:
    """Create a file and never return."""
    file.write_text(str(os.getpid()))
    time.sleep(10**6)


def test_cancelling_a_job_replaces_its_worker_at_once(tmp_path: Path) -> None:
    file = tmp_path / "begun"

    async def work() -> None:
        workers = Workers(Processes(1))
        workers.warm_up = (tmp_path / "successor").touch
        asked = asyncio.create_task(workers.ask(partial(hold, file)))
        while not (file.exists() and file.read_text()):
            await asyncio.sleep(0.01)
        asked.cancel()
        while there(int(file.read_text())):  # it would go on for ever
            await asyncio.sleep(0.01)
        while not (tmp_path / "successor").exists():  # no other job starts it
            await asyncio.sleep(0.01)
        await workers.close()

    asyncio.run(work())


def test_an_agents_turn_is_one_complete_choice() -> None:
    """All cards of a bid belong to one turn."""
    entry = CatalogueEntry("greedy", "greedy")
    for game in positions(2, 1):
        for action in move(entry, game.copy(), print):
            assert action == decide_game(game, entry.agent)
            game.play(action)
        assert game.phase != "bid" or game.state["laid"] == NONE
