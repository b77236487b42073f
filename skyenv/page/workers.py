"""The page's worker processes for agents' turns, hints and analyses (:mod:`skyenv.work`).

A *job* is a function that can be pickled, such as ``functools.partial(move, entry, game)``. It is
called in a worker with one argument, a callback for its progress. Jobs have no side effects, so a
job whose worker dies is retried.
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

# Seconds that a cancelled job may run on before its worker is replaced, which takes longer.
GRACE: Final = 0.5


class Priority(IntEnum):
    """Priorities of jobs, the most urgent first."""

    TURN = 0
    HINT = 1
    ANALYSIS = 2


class Workers:
    """A pool of workers for one event loop; all methods must be called in it.

    Args:
        pool: the processes; None: one per core, but at least two, so that turns continue during a
            long hint.
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
            job: the job.
            priority: more urgent jobs begin first. Hints and analyses leave one worker to turns.
            on_progress: called with the job's reports.

        Raises:
            WorkerDiedError: the job's workers died. Exception: any exception of the job.
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
                loop.call_later(GRACE, self._pool.kill, task)

    async def close(self) -> None:
        """End all workers; waiting and running jobs are cancelled."""
        for answer in self._answers.copy():
            answer.cancel()
        await asyncio.to_thread(self._pool.close)
