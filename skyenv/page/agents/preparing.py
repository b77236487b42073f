"""Preparation: workers compile the rules first, then the agents on offer.

The server itself compiles nothing. A worker fills the cache on disk; then a thread of the server
loads the rules from there.
"""

import asyncio
import logging
import time
from functools import partial
from typing import Any, Final

from skyenv.analysis.playouts import PlayOuts
from skyenv.analysis.win_chance import ESTIMATOR
from skyenv.engine.game import Game
from skyenv.errors import SkyenvError, cause
from skyenv.page.agents.catalogue import Catalogue, CatalogueEntry
from skyenv.page.agents.jobs import advise, move
from skyenv.page.agents.puzzles import puzzle, reply
from skyenv.page.errors import PageError
from skyenv.page.view.payloads import SeatView
from skyenv.page.workers import Report, Workers
from skyenv.rules.compile_progress import progress_to
from skyenv.rules.compiling import COMPILED

# The agent that is compiled first, if on offer: the page's suggestion.
FITTING: Final = "greedy"
# The task's name of the whole preparation; those of agents differ.
ALL: Final = ""
# Seconds for the functions of the rules, by what they are about, on a desktop's core.
SECONDS: Final = {
    "the setup of games": 1,
    "setup": 5,
    "observations": 4,
    "views": 2,
    "agents' random numbers": 1,
    "the rules": 12,
    "the results of games": 4,
}
_log = logging.getLogger("skyenv.page")


# ---- jobs ----


def step(about: str = "", number: int = 1, total: int = 0) -> dict[str, Any]:
    """Return the progress of compiling: `about`, what is being compiled, "" if nothing is; `done`,
    functions that this process has compiled, and `total`, those known to be needed so far.
    """
    return {"about": about, "done": number - 1, "total": total}


def play_a_little() -> None:
    """Call all entry points of the rules, which loads them from disk or compiles them."""
    game = Game(2, seed=1, max_turns=1)
    while not game.is_over:
        SeatView(game, 0, ["", ""]).payload()
        game.observation()
        game.batch.uniforms()
        game.play(game.legal_actions[-1])
    SeatView(game, 0, ["", ""]).payload()
    game.rewind(game.position())  # as in replays


def compile_rules(report: Report) -> None:
    """Compile the rules to the cache; a job that reports :func:`step`."""
    with progress_to(lambda *now: report(step(*now))):
        play_a_little()


def compile_agent(entry: CatalogueEntry, report: Report) -> str:
    """Compile an agent's code for turns and hints to the cache; a job that reports :func:`step`.

    Returns:
        The agent's description.

    Raises:
        AgentError, CheckpointError: the agent can't be made, or fails in an ordinary decision.
    """
    with progress_to(lambda *now: report(step(*now))):
        game = Game(2, seed=1)
        estimator = entry if entry.name == ESTIMATOR else None
        advise(entry, estimator, PlayOuts(), 0, game, lambda so_far: None)
        move(entry, game, lambda so_far: None)
    return entry.agent.description


def compile_puzzles(report: Report) -> None:
    """Compile what solves puzzles to the cache."""
    reply(puzzle(2), report)


# ---- the server's side ----


class Preparation:
    """The preparation of a server and its progress.

    All methods must be called in the event loop's thread.

    Args:
        catalogue: the agents on offer; this class updates their readiness.
        workers: the processes that compile.
        is_ready: skip preparation: code is compiled when it is first called.
    """

    def __init__(self, catalogue: Catalogue, workers: Workers, is_ready: bool) -> None:
        self._catalogue = catalogue
        self._workers = workers
        self._has_rules = is_ready
        self._error = ""
        self._step = step()
        self._begun: dict[str, float] = {}  # when what in SECONDS was begun
        self._tasks: dict[str, asyncio.Task[None]] = {}
        if is_ready:
            for one in catalogue.readiness.values():
                one.state = "ready"

    def begin(self) -> None:
        """Start the preparation in the background."""
        if not self._has_rules:
            self._tasks[ALL] = asyncio.create_task(self._prepare())

    async def close(self) -> None:
        """Stop the preparation."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def require_rules(self) -> None:
        """Check that the rules are ready.

        Raises:
            PageError: they aren't yet, or can't be compiled; its field ``preparing`` is
                :meth:`payload`.
        """
        if not self._has_rules:
            why = self._error or "the rules are being compiled, once after installation"
            raise PageError(why, 503, preparing=self.payload())

    def require_hope(self, name: str) -> None:
        """Check that an agent's preparation hasn't failed.

        Raises:
            PageError: it has failed.
        """
        one = self._catalogue.readiness.get(name)
        if one is not None and one.state == "failed":
            raise PageError(f"{name} can't play: {one.error}", 409)

    async def agent(self, name: str) -> None:
        """Wait until an agent of the catalogue can play. It is compiled at once, in parallel to
        others.

        Raises:
            PageError: the agent is unavailable.
        """
        await asyncio.shield(self._compiling(name))
        self.require_hope(name)

    def payload(self) -> dict[str, Any]:
        """Return the progress for the page.

        Returns:
            `rules`: whether they are ready; `ready`: whether everything is; `error`: the reason why
                the rules can't be compiled, or empty; `about`, `done`, `total`: the running
                compilation, as by :func:`step`; `left` of `whole`: seconds for the rules, as far as
                known; `agents`: as from :meth:`Catalogue.describe`.
        """
        states = {one.state for one in self._catalogue.readiness.values()}
        return {
            "rules": self._has_rules,
            "ready": self._has_rules and states <= {"ready", "failed"},
            "error": self._error,
            **self._step,
            "left": self._left(),
            "whole": sum(SECONDS.values()),
            "agents": self._catalogue.describe(),
        }

    # ---- compilation ----

    async def _prepare(self) -> None:
        try:
            await self._workers.ask(compile_rules, on_progress=self._note)
            # This compiles only if the cache can't be written.
            await asyncio.to_thread(play_a_little)
        except Exception as error:
            _log.exception("the rules can't be compiled")
            self._error = f"The rules can't be compiled: {_line(error)}"
            return
        self._has_rules = True
        for name in sorted(self._catalogue.names, key=lambda name: name != FITTING):
            await self._compiling(name)
        if COMPILED:
            await self._workers.ask(compile_puzzles)

    def _compiling(self, name: str) -> asyncio.Task[None]:
        """Return the task that compiles an agent, or has done so."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._compile(name))
        return self._tasks[name]

    async def _compile(self, name: str) -> None:
        one, job = self._catalogue.readiness[name], partial(compile_agent, self._catalogue[name])
        if one.state == "ready":
            return
        one.state, self._step = "preparing", step()
        try:
            one.description = await self._workers.ask(job, on_progress=self._note)
            one.state = "ready"
        except Exception as error:  # an agent's code may raise anything
            one.state, one.error = "failed", _line(error)
            _log.warning("agent %s can't play: %s", name, one.error)
        self._step = step()

    def _note(self, step: dict[str, Any]) -> None:
        self._begun.setdefault(step["about"], time.monotonic())
        self._step = step

    def _left(self) -> float:
        """Return the seconds that the rules still take: of what is under way at least one."""
        later = sum(seconds for about, seconds in SECONDS.items() if about not in self._begun)
        about = self._step["about"]
        if about not in SECONDS or about not in self._begun:
            return later
        return later + max(SECONDS[about] - (time.monotonic() - self._begun[about]), 1)


def _line(error: Exception) -> str:
    return str(error) if isinstance(error, SkyenvError) else cause(error)
