"""Preparation beside the server: the rules first, then the agents on offer, compiled in workers.

The server itself compiles nothing. A worker fills the cache on disk; then the server loads the
rules from there, in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from skyenv.engine.game import Game
from skyenv.errors import SkyenvError, cause
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.errors import PageError
from skyenv.page.hints import advise, move
from skyenv.page.payloads import Look
from skyenv.page.win_chance import ESTIMATOR
from skyenv.page.workers import Report, Workers
from skyenv.rules.compiling import progress_to

FITTING: Final = "greedy"
"""The agent that gets ready first, if it is on offer: the one that pages suggest."""
ALL: Final = ""
"""The name of what prepares everything; agents have others."""
_log = logging.getLogger("skyenv.page")


# ---- jobs ----


@dataclass(frozen=True)
class Step:
    """How far compiling has come.

    Attributes:
        about: what is compiled now, in words; "" where nothing is.
        done: functions that this process has compiled.
        total: of so many as it knows to be needed so far.
    """

    about: str = ""
    done: int = 0
    total: int = 0


def play_a_little() -> None:
    """Call all of the rules' entry points; they are loaded from disk, or compiled."""
    game = Game(2, seed=1, max_turns=1)
    while not game.is_over:
        Look(game, 0, ["", ""]).payload()
        game.observation()
        game.games.uniforms()
        game.play(game.legal_actions[-1])
    Look(game, 0, ["", ""]).payload()
    game.rewind(game.position())  # as replays do


def compile_rules(report: Report) -> None:
    """A job: have the rules on disk; reports :class:`Step`."""
    with progress_to(lambda about, number, total: report(Step(about, number - 1, total))):
        play_a_little()


def compile_agent(entry: CatalogueEntry, report: Report) -> str:
    """A job: have on disk what an agent needs for its turns and hints; reports :class:`Step`.

    Returns:
        Its description.

    Raises:
        AgentError, CheckpointError: it can't be made, or its answer to an ordinary decision is
            none.
    """
    with progress_to(lambda about, number, total: report(Step(about, number - 1, total))):
        game = Game(2, seed=1)
        advise(entry, entry if entry.name == ESTIMATOR else None, game, lambda so_far: None)
        move(entry, game, lambda so_far: None)
    return entry.agent.description


# ---- the server's side ----


class Preparation:
    """What a server needs before it can play, and how far that is.

    All methods are to be called in the event loop's thread.

    Args:
        catalogue: the agents on offer; their readiness is kept here.
        workers: who compiles.
        is_ready: whether nobody has to: what isn't there is compiled when it is first called.
    """

    def __init__(self, catalogue: Catalogue, workers: Workers, is_ready: bool) -> None:
        self._catalogue = catalogue
        self._workers = workers
        self._has_rules = is_ready
        self._error = ""
        self._step = Step()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        if is_ready:
            for one in catalogue.readiness.values():
                one.state = "ready"

    def begin(self) -> None:
        """Get ready, in the background."""
        if not self._has_rules:
            self._tasks[ALL] = asyncio.create_task(self._prepare())

    async def close(self) -> None:
        """Get no further."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def require_rules(self) -> None:
        """Pass if the rules are there.

        Raises:
            PageError: they aren't yet, or never will be; it tells what :meth:`payload` does as
                ``preparing``.
        """
        if not self._has_rules:
            why = self._error or "the rules are being compiled; that is done once"
            raise PageError(why, 503, preparing=self.payload())

    def require_hope(self, name: str) -> None:
        """Pass unless it is known that an agent can't be had.

        Raises:
            PageError: it is.
        """
        one = self._catalogue.readiness.get(name)
        if one is not None and one.state == "failed":
            raise PageError(f"{name} can't play: {one.error}", 409)

    async def agent(self, name: str) -> None:
        """Wait until an agent of the catalogue can play. It is compiled at once, beside one that
        takes long.

        Raises:
            PageError: it can't be had.
        """
        await asyncio.shield(self._compiling(name))
        self.require_hope(name)

    def payload(self) -> dict[str, Any]:
        """How far all of it is, for the page.

        Returns:
            `rules`: whether they are there; `ready`: whether everything is; `error`: why the rules
                can't be had, or empty; `about`, `done`, `total`: what is compiled for the rules or
                an agent under way, as in :class:`Step`; `agents`: as
                :meth:`Catalogue.describe` tells.
        """
        states = {one.state for one in self._catalogue.readiness.values()}
        return {
            "rules": self._has_rules,
            "ready": self._has_rules and states <= {"ready", "failed"},
            "error": self._error,
            **vars(self._step),
            "agents": self._catalogue.describe(),
        }

    # ---- getting ready ----

    async def _prepare(self) -> None:
        try:
            await self._workers.ask(compile_rules, on_progress=self._note)
            # Only where compiled code finds no place on disk would this compile.
            await asyncio.to_thread(play_a_little)
        except Exception as error:
            _log.exception("the rules can't be compiled")
            self._error = f"The rules can't be compiled: {_line(error)}"
            return
        self._has_rules = True
        for name in sorted(self._catalogue.names, key=lambda name: name != FITTING):
            await self._compiling(name)

    def _compiling(self, name: str) -> asyncio.Task[None]:
        """What compiles an agent, or has done so."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._compile(name))
        return self._tasks[name]

    async def _compile(self, name: str) -> None:
        one, job = self._catalogue.readiness[name], partial(compile_agent, self._catalogue[name])
        if one.state == "ready":
            return
        one.state, self._step = "preparing", Step()
        try:
            one.description = await self._workers.ask(job, on_progress=self._note)
            one.state = "ready"
        except Exception as error:  # an agent's code can fail anyhow
            one.state, one.error = "failed", _line(error)
            _log.warning("agent %s can't play: %s", name, one.error)
        self._step = Step()

    def _note(self, step: Step) -> None:
        self._step = step


def _line(error: Exception) -> str:
    return str(error) if isinstance(error, SkyenvError) else cause(error)
