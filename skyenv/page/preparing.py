"""Preparation beside the server: the rules first, then the agents on offer, compiled in workers.

The server itself compiles nothing. A worker fills the cache on disk; then the server loads the
rules from there, in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from skyenv.errors import AgentError, SkyenvError, cause
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.compiled import (
    Prospect,
    Step,
    compile_agent,
    compile_rules,
    look_at,
    play_a_little,
)
from skyenv.page.errors import PageError
from skyenv.page.workers import Report, Workers

FITTING: Final = "greedy"
"""The agent that gets ready first, if it is on offer: the one that pages suggest."""
LONGEST: Final = 900.0
"""Seconds that an agent may take to get ready; the others wait for it."""
LONGEST_LOOK: Final = 300.0
"""Seconds that making it may take, and waiting for a worker."""
Result = TypeVar("Result")
_log = logging.getLogger("skyenv.page")


class PreparingError(PageError):
    """What was asked for needs the rules, which aren't ready yet; to be asked for again.

    Nothing has been done.

    Attributes:
        preparing: how far they are, as :meth:`Preparation.payload` tells.
    """

    def __init__(self, preparing: dict[str, Any]) -> None:
        super().__init__(
            preparing["error"] or "the rules are being compiled; that is done once", 503
        )
        self.preparing = preparing


class Preparation:
    """What a server needs before it can play, and how far that is.

    All methods are to be called in the event loop's thread.

    Args:
        catalogue: the agents on offer; their readiness is kept here.
        workers: who compiles; None: nobody has to, whatever isn't there is compiled when it is
            first called.
    """

    def __init__(self, catalogue: Catalogue, workers: Workers | None) -> None:
        self._catalogue = catalogue
        self._workers = workers
        self._began = time.monotonic()
        self._has_rules = workers is None
        self._error = ""
        self._wanted: list[str] = []
        self._settled = {name: asyncio.Event() for name in catalogue.names}
        self._now: str | None = None
        self._step: Step | None = None
        self._task: asyncio.Task[None] | None = None
        for name, one in catalogue.readiness.items():
            if one.state == "ready" or workers is None:
                one.state = "ready"
                self._settled[name].set()

    def begin(self) -> None:
        """Get ready, in the background."""
        if self._workers is not None:
            self._task = asyncio.create_task(self._prepare(self._workers))

    async def close(self) -> None:
        """Get no further."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def require_rules(self) -> None:
        """Pass if the rules are there.

        Raises:
            PreparingError: they aren't yet, or never will be.
        """
        if not self._has_rules:
            raise PreparingError(self.payload())

    def require_hope(self, name: str) -> None:
        """Pass unless it is known that an agent can't be had.

        Raises:
            PageError: it is.
        """
        one = self._catalogue.readiness.get(name)
        if one is not None and one.state == "failed":
            raise PageError(f"{name} can't play: {one.error}", 409)

    async def agent(self, name: str) -> None:
        """Wait until an agent can play; it comes before those that nobody waits for.

        Raises:
            PageError: it can't be had.
        """
        settled = self._settled.get(name)  # a network that came later has none
        if settled is not None and not settled.is_set():
            self._wanted.append(name)
            await settled.wait()
        self.require_hope(name)

    def payload(self) -> dict[str, Any]:
        """How far all of it is, for the page.

        Returns:
            `rules`: whether they are there; `ready`: whether everything is; `error`: why the rules
                can't be had, or empty;
            `about`: what is compiled now, in words; `done`, `total`: functions that are compiled
            for the rules or the agent under way, of those known to be needed, 0 where nothing is
            compiled; `elapsed`: seconds; `agents`: as :meth:`Catalogue.describe` tells.
        """
        ready = self._has_rules and all(event.is_set() for event in self._settled.values())
        step = self._step or Step("" if self._error or self._has_rules else "the rules", 0, 0)
        return {
            "rules": self._has_rules,
            "ready": ready,
            "error": self._error,
            "about": step.about,
            "done": step.done,
            "total": step.total,
            "elapsed": round(time.monotonic() - self._began, 1),
            "agents": self._catalogue.describe(),
        }

    def _order(self) -> list[str]:
        """The agents that aren't ready, as they come: under way, waited for, the fitting one, the
        list's order.
        """
        names = [name for name, event in self._settled.items() if not event.is_set()]
        first = [self._now, *self._wanted, FITTING]
        return sorted(names, key=lambda name: first.index(name) if name in first else len(first))

    # ---- getting ready ----

    async def _prepare(self, workers: Workers) -> None:
        looking = asyncio.create_task(self._look_at_all(workers))
        try:
            if not await self._prepare_rules(workers):
                return
            await looking
            while order := self._order():
                await self._prepare_agent(workers, order[0])
        finally:
            looking.cancel()
            self._now = None

    async def _prepare_rules(self, workers: Workers) -> bool:
        try:
            await workers.ask(compile_rules, on_progress=self._note)
            # Only where compiled code finds no place on disk would this compile.
            await asyncio.to_thread(play_a_little)
        except Exception as error:
            _log.exception("the rules can't be compiled")
            self._error = f"The rules can't be compiled: {_line(error)}"
            return False
        self._step = None
        self._has_rules = True
        return True

    async def _look_at_all(self, workers: Workers) -> None:
        """See which agents there are; nothing is compiled for that."""
        for name in self._order():
            try:
                prospect: Prospect = await self._within(LONGEST_LOOK, workers, look_at, name)
            except Exception as error:  # an agent's code can fail anyhow
                self._fail(name, error)
            else:
                one = self._catalogue.readiness[name]
                one.description, one.version = prospect.description, prospect.version

    async def _prepare_agent(self, workers: Workers, name: str) -> None:
        one = self._catalogue.readiness[name]
        one.state = "preparing"
        self._now, self._step = name, None
        try:
            await self._within(LONGEST, workers, compile_agent, name)
        except Exception as error:
            self._fail(name, error)
        else:
            one.state = "ready"
            self._settled[name].set()
        self._now = self._step = None

    async def _within(
        self,
        seconds: float,
        workers: Workers,
        job: Callable[[CatalogueEntry, Report], Result],
        name: str,
    ) -> Result:
        """Have something done with an agent; it may take so long from now, or from its latest
        report.

        Raises:
            AgentError: it takes longer.
            Exception: what the agent raised.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds) as limit:

                def note(step: Step) -> None:
                    limit.reschedule(loop.time() + seconds)
                    self._step = step

                return await workers.ask(partial(job, self._catalogue[name]), on_progress=note)
        except TimeoutError as error:
            raise AgentError(f"getting it ready takes longer than {seconds:.0f} seconds") from error

    def _note(self, step: Step) -> None:
        self._step = step

    def _fail(self, name: str, error: Exception) -> None:
        one = self._catalogue.readiness[name]
        one.state, one.error = "failed", _line(error)
        _log.warning("agent %s can't play: %s", name, one.error)
        self._settled[name].set()


def _line(error: Exception) -> str:
    return str(error) if isinstance(error, SkyenvError) else cause(error)
