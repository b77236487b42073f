"""The page's worker processes for agents' turns, hints and analyses (:mod:`skyenv.work`).

A *job* is a function that can be pickled, such as ``functools.partial(move, entry, game)``. It is
called in a worker with one argument, a callback for its progress. Jobs have no side effects, so a
job whose worker dies is retried.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, TypeVar

from skyenv.errors import SkyenvError
from skyenv.page.cache import LRUCache
from skyenv.page.errors import PageError
from skyenv.runtime import shortage
from skyenv.work import Pool, Processes, default_workers
from skyenv.work import Report as Report

Result = TypeVar("Result")
Job = Callable[[Report], Result]

# Seconds that a cancelled job may run on before its worker is replaced, which takes longer.
GRACE: Final = 0.5


# Finished jobs cached in memory.
MAX_JOBS: Final = 60
# Running jobs.
MAX_RUNNING: Final = 30

# The key of a job; the browser comes first.
Name = tuple[str | int | None, ...]
_log = logging.getLogger("skyenv.page")


class Priority(IntEnum):
    """Priorities of jobs, the most urgent first."""

    TURN = 0
    HINT = 1
    ANALYSIS = 2


class Workers:
    """A pool of workers for one event loop; all methods must be called in it.

    Args:
        pool: the processes; None: the default number, but at least two, so that turns continue
            during a long hint.

    Attributes:
        warm_up: called at once in the successor of a killed worker, so that the next agent's turn
            doesn't wait for its imports.
    """

    warm_up: Callable[[], object] | None = None

    def __init__(self, pool: Pool | None = None) -> None:
        self._pool = Processes(max(2, default_workers())) if pool is None else pool
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
            PageError: the machine is short of memory, processes or files. WorkerDiedError: the
                job's workers died. Exception: any exception of the job.
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
        except Exception as error:
            if why := shortage(error):
                raise PageError(f"{why} on the server; try again later", 503) from error
            raise
        finally:
            self._answers.discard(answer)
            if not task.done():
                loop.call_later(GRACE, self._pool.kill, task, self.warm_up)

    async def close(self) -> None:
        """End all workers; waiting and running jobs are cancelled."""
        for answer in self._answers.copy():
            answer.cancel()
        await asyncio.to_thread(self._pool.close)


# ---- background jobs ----


@dataclass
class Work:
    """A background job and its progress.

    Attributes:
        state: "running", "done", "stopped" or "failed".
        trouble: the error message, if it has failed.
        found: the job's latest report, a payload whose ``done`` and ``of`` give the progress.
        result: the job's return value.
        task: the asyncio task that waits for it.
    """

    state: str = "running"
    trouble: str = ""
    found: dict[str, Any] = field(default_factory=lambda: {"done": 0, "of": 0})
    result: Any = None
    task: asyncio.Task[None] | None = None

    def note(self, found: dict[str, Any]) -> None:
        """Store a report."""
        self.found = found

    def payload(self) -> dict[str, Any]:
        """Return the status as a browser receives it."""
        return {"state": self.state, "trouble": self.trouble} | self.found


Keep = Callable[[Work], Awaitable[None]]


class Background:
    """The background jobs of a server: running and recent ones.

    Only for the event loop's thread.

    Args:
        workers: the pool that runs them.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._works: LRUCache[Name, Work] = LRUCache(
            MAX_JOBS, lambda _, work: work.state == "running"
        )

    def start(self, name: Name, job: Job[Any], keep: Keep | None = None) -> Work:
        """Start a job, unless it is done or running; return it.

        Args:
            name: its name.
            job: the job.
            keep: stores what the job has found when it ends, even if it is stopped.

        Raises:
            PageError: too many jobs are running.
        """
        if name in self._works and self._works[name].state in ("running", "done"):
            return self._works[name]
        if sum(work.state == "running" for work in self._works.values()) >= MAX_RUNNING:
            raise PageError(f"{MAX_RUNNING} jobs are running; wait for one to end", 503)
        self._works[name] = work = Work()
        work.task = asyncio.create_task(self._run(work, job, keep))
        return work

    async def _run(self, work: Work, job: Job[Any], keep: Keep | None) -> None:
        try:
            work.result = await self._workers.ask(job, Priority.ANALYSIS, work.note)
            work.state = "done"
        except asyncio.CancelledError:
            work.state = "stopped"
            raise
        except SkyenvError as error:
            work.state, work.trouble = "failed", str(error)
        except Exception:  # an agent's code may raise anything
            _log.exception("background job failed")
            work.state, work.trouble = "failed", "an agent has failed; see the server's log"
        finally:
            if keep is not None:
                await keep(work)

    def get(self, name: Name) -> Work:
        """Return a job by its name.

        Raises:
            PageError: there is no such job.
        """
        if name not in self._works:
            raise PageError("no such job, or it has expired", 404)
        return self._works[name]

    async def stop(self, name: Name) -> Work:
        """Stop a running job; its results so far stay.

        Raises:
            PageError: there is no such job.
        """
        work = self.get(name)
        if work.task is not None and work.state == "running":
            work.task.cancel()
            await asyncio.gather(work.task, return_exceptions=True)
            work.state = "stopped"  # a task cancelled before its start sets no state
        return work

    async def close(self) -> None:
        """Stop all jobs."""
        for name in list(self._works):
            await self.stop(name)
