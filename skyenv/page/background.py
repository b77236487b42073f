"""Background jobs of browsers: started, polled by name, stopped, and cached for a while."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any, Final

from skyenv.errors import SkyenvError
from skyenv.page.cache import LRUCache
from skyenv.page.errors import PageError
from skyenv.page.view.payloads import Payload
from skyenv.page.workers import Job, Priority, Workers

MAX_JOBS: Final = 60
"""Finished jobs cached in memory."""
MAX_RUNNING: Final = 30
"""Running jobs."""

Name = tuple[str | int | None, ...]
"""The key of a job; the browser comes first."""
_log = logging.getLogger("skyenv.page")


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
    found: Payload = field(default_factory=lambda: {"done": 0, "of": 0})
    result: Any = None
    task: asyncio.Task[None] | None = None

    def note(self, found: Payload) -> None:
        """Store a report."""
        self.found = found

    def payload(self) -> Payload:
        """Return the status as a browser receives it."""
        return {"state": self.state, "trouble": self.trouble} | self.found


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

    def start(self, name: Name, job: Job[Any]) -> Work:
        """Start a job, unless it is done or running; return it.

        Raises:
            PageError: too many jobs are running.
        """
        if name in self._works and self._works[name].state in ("running", "done"):
            return self._works[name]
        if sum(work.state == "running" for work in self._works.values()) >= MAX_RUNNING:
            raise PageError(f"{MAX_RUNNING} jobs are running; wait for one to end", 503)
        self._works[name] = work = Work()
        work.task = asyncio.create_task(self._run(work, job))
        return work

    async def _run(self, work: Work, job: Job[Any]) -> None:
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
