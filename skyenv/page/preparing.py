"""Getting ready beside the server: the rules first, then the agents on offer, compiled in workers
and told as they come.

The server itself compiles nothing. A worker fills the cache on disk; then the server loads the
rules from there, in a thread.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from skyenv.errors import AgentError, PageError, SkyenvError, cause
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.compiled import (
    Prospect,
    Step,
    compile_agent,
    compile_rules,
    look_at,
    missing_rules,
    play_a_little,
)
from skyenv.page.workers import Report, Workers

FITTING: Final = "greedy"
"""The agent that gets ready first, if it is on offer: the one that pages suggest."""
LONGEST: Final = 900.0
"""Seconds that an agent may take to get ready; the others wait for it."""
LONGEST_LOOK: Final = 120.0
"""Seconds that making it may take."""
LOADING: Final = 0.5
"""Seconds that an agent takes of which everything is compiled."""
FAMILIAR: Final = 3.0
"""Typical seconds of compilation after which this machine's own speed counts as much as an ordinary
one's.
"""
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
        self._missing: dict[str, dict[str, float]] = {}
        self._done: set[str] = set()
        self._wanted: list[str] = []
        self._settled = {name: asyncio.Event() for name in catalogue.names}
        self._now: str | None = None
        self._step: Step | None = None
        self._stepped = self._began
        self._typical = self._spent = 0.0
        """Of what is compiled: how long it takes on an ordinary machine, and has taken here."""
        self._functions = 0
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
            `about`: what is compiled now, in words; `done`, `total`: functions that are compiled,
                of those that weren't there at
            first, the rules' alone until these are ready, then all; `elapsed`: seconds; `left`:
            seconds until the rules are there, or then everything, None if nobody knows; `agents`:
            as :meth:`Catalogue.describe` tells.
        """
        self._estimate()
        ready = self._has_rules and all(event.is_set() for event in self._settled.values())
        left = (
            [one.seconds for one in self._catalogue.readiness.values()]
            if self._has_rules
            else [self._left_of("")]
        )
        known = [seconds for seconds in left if seconds is not None]
        done, total = self._counts()
        return {
            "rules": self._has_rules,
            "ready": ready,
            "error": self._error,
            "about": self._about(),
            "done": done,
            "total": total,
            "elapsed": round(time.monotonic() - self._began, 1),
            "left": None if ready or not known else math.ceil(max(known)),
            "agents": self._catalogue.describe(),
        }

    def _counts(self) -> tuple[int, int]:
        """Functions that have been compiled here, and all of them, as far as it is known what is
        needed.
        """
        parts = {
            name: names
            for name, names in self._missing.items()
            if name not in self._done and (self._has_rules or not name)
        }
        step = self._step if self._now is not None else None
        others = (
            set().union(*parts.values()) - self._missing.get(self._now or "", {}).keys()
            if step
            else set().union(*parts.values())
        )
        return self._functions + (step.done if step else 0), self._functions + (
            step.total if step else 0
        ) + len(others)

    def _about(self) -> str:
        if self._step is not None and self._step.about:
            return self._step.about
        return "" if self._error or self._has_rules else "the rules"

    # ---- how long it takes ----

    def _factor(self) -> float:
        """How much longer compiling takes here than on an ordinary machine."""
        step = self._step if self._now is not None else None
        typical, spent = self._typical, self._spent
        if step is not None:
            typical, spent = typical + step.typical, spent + step.seconds
        return (spent + FAMILIAR) / (typical + FAMILIAR)

    def _left_of(self, name: str) -> float | None:
        """Seconds that one part takes from now on when it is its turn; "": the rules.

        None: it isn't known what it needs.
        """
        if name in self._done or (name == "" and self._has_rules):
            return 0.0
        if name == self._now and self._step is not None:
            return max(
                1.0, self._step.typical_left * self._factor() - (time.monotonic() - self._stepped)
            )
        if name not in self._missing:
            return None
        return LOADING + sum(self._missing[name].values()) * self._factor()

    def _estimate(self) -> None:
        """Tell of every agent when it should be ready: after those before it, less what it shares
        with them.
        """
        passed = 0.0 if self._has_rules else self._left_of("") or 0.0
        shared: set[str] = set(self._missing.get("", ()))
        for name in self._order():
            one = self._catalogue.readiness[name]
            if name == self._now:
                passed += self._left_of(name) or 0.0
            elif name in self._missing:
                new = self._missing[name].keys() - shared
                passed += (
                    LOADING
                    + sum(self._missing[name][function] for function in new) * self._factor()
                )
            else:
                one.seconds = None
                continue
            shared |= self._missing[name].keys()
            one.seconds = max(1.0, passed)

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
            if self._functions:  # who has compiled keeps much memory that isn't needed any more
                workers.renew()
        finally:
            looking.cancel()
            self._now = None

    async def _prepare_rules(self, workers: Workers) -> bool:
        try:
            if missing := await asyncio.to_thread(missing_rules):
                self._missing[""] = missing
                self._now, self._step, self._stepped = "", None, time.monotonic()
                await workers.ask(compile_rules, on_progress=self._note)
            # Only where compiled code finds no place on disk would this compile.
            await asyncio.to_thread(play_a_little)
        except Exception as error:
            _log.exception("the rules can't be compiled")
            self._error = f"The rules can't be compiled: {_line(error)}"
            return False
        self._finish("")
        self._has_rules = True
        return True

    async def _look_at_all(self, workers: Workers) -> None:
        """See which agents there are and what they need; nothing is compiled for that."""
        for name in self._order():
            try:
                prospect: Prospect = await self._within(LONGEST_LOOK, workers, look_at, name)
            except Exception as error:  # an agent's code can fail anyhow
                self._fail(name, error)
            else:
                self._missing[name] = prospect.missing
                one = self._catalogue.readiness[name]
                one.description, one.version = prospect.description, prospect.version

    async def _prepare_agent(self, workers: Workers, name: str) -> None:
        one = self._catalogue.readiness[name]
        one.state = "preparing"
        self._now, self._step, self._stepped = name, None, time.monotonic()
        try:
            await self._within(LONGEST, workers, compile_agent, name)
        except Exception as error:
            self._fail(name, error)
        else:
            one.state, one.seconds = "ready", None
            self._settled[name].set()
        self._finish(name)

    async def _within(
        self,
        seconds: float,
        workers: Workers,
        job: Callable[[CatalogueEntry, Report], Result],
        name: str,
    ) -> Result:
        """Have something done with an agent; it may take so long from when a worker begins, or
        reports the last time.

        Raises:
            AgentError: it takes longer.
            Exception: what the agent raised.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as limit:

                def note(step: Step) -> None:
                    limit.reschedule(loop.time() + seconds)
                    self._note(step)

                def start() -> None:
                    limit.reschedule(loop.time() + seconds)

                return await workers.ask(
                    partial(job, self._catalogue[name]),
                    agent=name,
                    on_progress=note,
                    on_start=start,
                )
        except TimeoutError as error:
            raise AgentError(f"getting it ready takes longer than {seconds:.0f} seconds") from error

    def _note(self, step: Step) -> None:
        if self._step is None or step.done != self._step.done:
            self._stepped = time.monotonic()
        self._step = step

    def _finish(self, name: str) -> None:
        if self._step is not None and name == self._now:
            self._typical += self._step.typical
            self._spent += self._step.seconds
            self._functions += self._step.done
        self._done.add(name)
        self._now = self._step = None

    def _fail(self, name: str, error: Exception) -> None:
        one = self._catalogue.readiness[name]
        one.state, one.seconds, one.error = "failed", None, _line(error)
        _log.warning("agent %s can't play: %s", name, one.error)
        self._settled[name].set()


def _line(error: Exception) -> str:
    return str(error) if isinstance(error, SkyenvError) else cause(error)
