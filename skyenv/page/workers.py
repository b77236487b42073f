"""Workers that think for the page: agents' turns, hints and analyses, in processes beside the
server's (:mod:`skyenv.work`).

A *job* is a function that can be pickled, such as ``functools.partial(move, entry, game)``. It is
called in a worker with one argument, a function that reports its progress. Jobs change nothing, so
one whose worker dies is tried again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from typing import Any, Final, TypeVar

from skyenv.engine.thread_pool import cores
from skyenv.work import Pool, Processes
from skyenv.work import Report as Report

Result = TypeVar("Result")
Job = Callable[[Report], Result]

# Seconds that an unwanted job may go on before its worker is replaced: a new one takes longer to
# start.
PATIENCE: Final = 0.5


class Priority(IntEnum):
    """What begins first when workers are scarce."""

    TURN = 0
    HINT = 1
    ANALYSIS = 2


class Workers:
    """A pool of workers for one event loop, in which all methods are called.

    Args:
        pool: None: as many processes as cores, but at least two, so that turns go on beside a long
            hint.
    """

    def __init__(self, pool: Pool | None = None) -> None:
        self._pool = Processes(max(2, cores())) if pool is None else pool
        self._answers: set[asyncio.Future[Any]] = set()

    async def ask(
        self,
        job: Job[Result],
        priority: Priority = Priority.TURN,
        on_progress: Report | None = None,
    ) -> Result:
        """Return a job's result. Cancelling this ends the job.

        Args:
            job: what is done.
            priority: waiting jobs of the first kind begin first. Hints and analyses leave one
                worker to turns.
            on_progress: called with what the job reports.

        Raises:
            WorkerDiedError: processes died over it. Exception: what the job raised.
        """
        loop = asyncio.get_running_loop()

        def later(value: Any) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(call, value)

        def call(value: Any) -> None:
            if on_progress is not None and not answer.done():
                on_progress(value)

        task = self._pool.submit(job, priority=priority, on_progress=later)
        answer = asyncio.wrap_future(task)
        self._answers.add(answer)
        try:
            return await answer
        finally:
            self._answers.discard(answer)
            if not task.done():
                loop.call_later(PATIENCE, self._pool.kill, task)

    async def close(self) -> None:
        """End all workers; jobs that wait or are under way are cancelled."""
        for answer in self._answers.copy():
            answer.cancel()
        await asyncio.to_thread(self._pool.close)
