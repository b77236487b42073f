"""Workers of the page: a job that is cancelled, and agents' turns."""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from pathlib import Path

from processes import there
from skyenv import Game
from skyenv.agents import decide_game, make_agent
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.hints import move
from skyenv.page.workers import Report, Workers
from skyenv.work import Processes


def hold(file: Path, report: Report) -> None:
    """Say by a file that it has begun, and never end."""
    file.write_text(str(os.getpid()))
    time.sleep(10**6)


def test_cancelling_a_job_ends_its_worker(tmp_path: Path) -> None:
    file = tmp_path / "begun"

    async def work() -> None:
        workers = Workers(Processes(1))
        asked = asyncio.create_task(workers.ask(partial(hold, file)))
        while not (file.exists() and file.read_text()):
            await asyncio.sleep(0.01)
        asked.cancel()
        while there(int(file.read_text())):  # it would go on for ever
            await asyncio.sleep(0.01)
        await workers.close()

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
