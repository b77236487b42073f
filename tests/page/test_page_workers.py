"""Workers of the page: jobs of an event loop, who goes first, and cancelling."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from skyenv.errors import IllegalActionError
from skyenv.page.workers import Priority, Report, Workers


async def until(condition: Callable[[], object]) -> None:
    """Wait for something to become true."""
    while not condition():
        await asyncio.sleep(0.01)


def run(work: Callable[[Workers], Awaitable[None]], number: int = 1, threads: bool = True) -> None:
    """Have something done with workers."""
    complaints: list[Any] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        workers = Workers(number, in_threads=threads)
        try:
            await work(workers)
        finally:
            await workers.close()

    asyncio.run(main())
    assert complaints == []


def square(number: int, report: Report) -> int:
    """Reports half way."""
    report("half")
    return number**2


def hold(folder: Path, report: Report) -> None:
    """Say by a file that it has begun, and never end."""
    (folder / "begun").write_text(str(os.getpid()))
    time.sleep(10**6)


def test_jobs_are_done_and_report_their_progress_in_the_loop() -> None:
    heard: list[Any] = []

    async def work(workers: Workers) -> None:
        jobs = [
            workers.ask(
                partial(square, number),
                on_start=lambda: heard.append(threading.get_ident()),
                on_progress=heard.append,
            )
            for number in range(3)
        ]
        assert await asyncio.gather(*jobs) == [0, 1, 4]

        def fail(report: Report) -> None:
            raise IllegalActionError("not that", 7)

        with pytest.raises(IllegalActionError, match="not that"):
            await workers.ask(fail)

    run(work)
    assert heard == [threading.get_ident(), "half"] * 3


def test_turns_go_before_hints_and_analyses_and_tables_take_turns() -> None:
    order: list[str] = []
    gate = threading.Event()

    def job(name: str, report: Report) -> None:
        gate.wait()
        order.append(name)

    names = ["a TURN", "b ANALYSIS", "b HINT", "a2 TURN", "b TURN", "c TURN"]

    async def work(workers: Workers) -> None:
        asked = [
            asyncio.create_task(
                workers.ask(partial(job, name), Priority[name.split()[1]], group=name[0])
            )
            for name in names
        ]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*asked)

    run(work)
    assert order == ["a TURN", "b TURN", "c TURN", "a2 TURN", "b HINT", "b ANALYSIS"]


def test_cancelling_ends_a_job_that_waits_or_is_under_way(tmp_path: Path) -> None:
    async def work(workers: Workers) -> None:
        asked = [
            asyncio.create_task(workers.ask(partial(hold, tmp_path), Priority.HINT))
            for _ in range(2)
        ]
        await until((tmp_path / "begun").exists)
        for task in reversed(asked):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await until(lambda: workers.busy() == 0)  # killed, as it would go on for ever
        (tmp_path / "begun").unlink()
        assert await workers.ask(partial(square, 4)) == 16
        assert not (tmp_path / "begun").exists()
        left = asyncio.create_task(workers.ask(partial(hold, tmp_path)))
        await until((tmp_path / "begun").exists)
        await workers.close()
        with pytest.raises(asyncio.CancelledError):
            await left

    run(work, threads=False)


def test_closing_does_not_wait_for_threads() -> None:
    gate = threading.Event()

    async def work(workers: Workers) -> None:
        left = [asyncio.create_task(workers.ask(lambda report: gate.wait())) for _ in range(2)]
        await until(lambda: workers.busy() == 1)
        await workers.close()
        for task in left:
            with pytest.raises(asyncio.CancelledError):
                await task

    run(work)
    gate.set()
