"""Long work that a browser asks for and looks at while it goes on: begun, found by its name,
stopped, kept for a while.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any, Final

from skyenv.errors import SkyenvError
from skyenv.page.errors import PageError
from skyenv.page.kept import Kept
from skyenv.page.payloads import Payload
from skyenv.page.workers import Job, Priority, Workers

MOST_KEPT: Final = 60
"""Works kept in memory, besides those under way."""
MOST_RUNNING: Final = 3
"""Works of one browser under way at a time."""

Name = tuple[str | int | None, ...]
"""What a work is found by; the browser comes first."""
_log = logging.getLogger("skyenv.page")


@dataclass
class Work:
    """Something that takes its time.

    Attributes:
        state: "running", "done", "stopped" or "failed".
        trouble: why it has failed.
        found: what the job has reported last, a payload, in which ``done`` and ``of`` tell how far
            it is.
        result: what the job has returned.
        task: what waits for it.
    """

    state: str = "running"
    trouble: str = ""
    found: Payload = field(default_factory=lambda: {"done": 0, "of": 0})
    result: Any = None
    task: asyncio.Task[None] | None = None

    def note(self, found: Payload) -> None:
        """Note what is reported."""
        self.found = found

    def payload(self) -> Payload:
        """What a browser is told."""
        return {"state": self.state, "trouble": self.trouble} | self.found


class Background:
    """The works of a server: those under way, and the latest ones.

    For the event loop's thread alone.

    Args:
        workers: who does them.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._works: Kept[Name, Work] = Kept(MOST_KEPT, lambda _, work: work.state == "running")

    def start(self, name: Name, job: Job[Any]) -> Work:
        """Begin a work, unless it is done or under way.

        Raises:
            PageError: the browser has too many under way.
        """
        if name in self._works and self._works[name].state in ("running", "done"):
            return self._works[name]
        own = [work.state for (browser, *_), work in self._works.items() if browser == name[0]]
        if own.count("running") >= MOST_RUNNING:
            raise PageError(f"{MOST_RUNNING} analyses are under way; wait for one, or stop it", 429)
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
        except Exception:  # an agent's code can fail anyhow
            _log.exception("work in the background failed")
            work.state, work.trouble = "failed", "an agent has failed; the server's log tells more"

    def get(self, name: Name) -> Work:
        """A work that was begun.

        Raises:
            PageError: there is none.
        """
        if name not in self._works:
            raise PageError("no such job, or it has expired", 404)
        return self._works[name]

    async def stop(self, name: Name) -> Work:
        """End a work under way; what has come out stays.

        Raises:
            PageError: there is none.
        """
        work = self.get(name)
        if work.task is not None and work.state == "running":
            work.task.cancel()
            await asyncio.gather(work.task, return_exceptions=True)
            work.state = "stopped"  # a task that had not begun is cancelled without a sign
        return work

    async def close(self) -> None:
        """End all."""
        for name in list(self._works):
            await self.stop(name)
