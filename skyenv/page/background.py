"""Long work that a browser asks for and looks at while it goes on: begun, found by its name,
stopped, kept for a while.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from functools import partial
from typing import Final

from skyenv.errors import SkyenvError
from skyenv.page.errors import PageError
from skyenv.page.kept import Kept
from skyenv.page.payloads import Payload
from skyenv.page.workers import Workers

MOST_KEPT: Final = 60
"""Works kept in memory, besides those under way."""
MOST_RUNNING: Final = 3
"""Works of one browser under way at a time …"""
MOST_OF_ONE_CLIENT: Final = 9
"""… and of all browsers of one client."""

Name = tuple[str | int | None, ...]
"""What a work is found by; the browser comes first."""
_log = logging.getLogger("skyenv.page")


class Work(ABC):
    """Something that takes its time.

    Attributes:
        state: "running", "done", "stopped" or "failed".
        trouble: why it has failed.
    """

    def __init__(self) -> None:
        self.state = "running"
        self.trouble = ""

    @abstractmethod
    async def run(self, workers: Workers) -> None:
        """Do it; what has come out so far is in the object at any time."""

    @abstractmethod
    def found(self) -> Payload:
        """What has come out so far."""

    def payload(self) -> Payload:
        """What a browser is told."""
        return {"state": self.state, "trouble": self.trouble} | self.found()


class Background:
    """The works of a server: those under way, and the latest ones.

    For the event loop's thread alone.

    Args:
        workers: who does them.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._tasks: dict[Name, asyncio.Task[None]] = {}
        self._clients: dict[Name, str] = {}
        """Whose those under way are."""
        self._kept: Kept[Name, Work] = Kept(MOST_KEPT, self._tasks.__contains__)

    def start(self, name: Name, work: Work, client: str) -> Work:
        """Begin a work, unless it is done or under way; `client`: for whom.

        Raises:
            PageError: the browser, or its client, has too many under way.
        """
        if name in self._kept and self._kept[name].state in ("running", "done"):
            return self.get(name)
        if sum(other[0] == name[0] for other in self._tasks) >= MOST_RUNNING:
            raise PageError(f"{MOST_RUNNING} analyses are under way; wait for one, or stop it", 429)
        if list(self._clients.values()).count(client) >= MOST_OF_ONE_CLIENT:
            raise PageError(
                f"{MOST_OF_ONE_CLIENT} analyses are under way for your address; wait for one", 429
            )
        task = self._tasks[name] = asyncio.create_task(self._run(work))
        task.add_done_callback(partial(self._forget, name))
        self._clients[name] = client
        self._kept.add(name, work, client)
        return work

    def _forget(self, name: Name, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:  # it may have been begun again before this is called
            del self._tasks[name], self._clients[name]

    async def _run(self, work: Work) -> None:
        try:
            await work.run(self._workers)
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
        if name not in self._kept:
            raise PageError("nobody has asked for that, or it was long ago", 404)
        self._kept.renew(name)
        return self._kept[name]

    async def stop(self, name: Name) -> Work:
        """End a work under way; what has come out stays.

        Raises:
            PageError: there is none.
        """
        work = self.get(name)
        if task := self._tasks.get(name):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            work.state = "stopped"  # a task that had not begun is cancelled without a sign
        return work

    async def close(self) -> None:
        """End all."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
