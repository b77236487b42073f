"""Workers of the page: jobs of an event loop, and cancelling."""

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

from processes import there
from skyenv.errors import IllegalActionError
from skyenv.page.workers import Priority, Report, Workers
from skyenv.work import Processes


async def until(condition: Callable[[], object]) -> None:
    """Wait for something to become true."""
    while not condition():
        await asyncio.sleep(0.01)


def run(work: Callable[[Workers], Awaitable[None]]) -> None:
    """Have something done with a worker."""
    complaints: list[Any] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        workers = Workers(Processes(1))
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


def fail(report: Report) -> None:
    """Raise an error."""
    raise IllegalActionError("not that", 7)


def hold(folder: Path, report: Report) -> None:
    """Say by a file that it has begun, and never end."""
    (folder / "begun").write_text(str(os.getpid()))
    time.sleep(10**6)


def test_a_job_reports_in_the_loop_and_cancelling_ends_it(tmp_path: Path) -> None:
    """Whether it waits or is under way."""
    heard: list[Any] = []

    def note(value: Any) -> None:
        heard.append((value, threading.get_ident()))

    async def work(workers: Workers) -> None:
        jobs = [workers.ask(partial(square, number), on_progress=note) for number in range(3)]
        assert await asyncio.gather(*jobs) == [0, 1, 4]
        with pytest.raises(IllegalActionError, match="not that"):
            await workers.ask(fail)
        asked = [
            asyncio.create_task(workers.ask(partial(hold, tmp_path), Priority.HINT))
            for _ in range(2)
        ]
        await until((tmp_path / "begun").exists)
        worker = int((tmp_path / "begun").read_text() or 0)
        for task in reversed(asked):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await until(lambda: not there(worker))  # killed, as it would go on for ever
        (tmp_path / "begun").unlink()
        assert await workers.ask(partial(square, 4)) == 16
        assert not (tmp_path / "begun").exists()
        left = asyncio.create_task(workers.ask(partial(hold, tmp_path)))
        await until((tmp_path / "begun").exists)
        await workers.close()
        with pytest.raises(asyncio.CancelledError):
            await left

    run(work)
    assert heard == [("half", threading.get_ident())] * 3
