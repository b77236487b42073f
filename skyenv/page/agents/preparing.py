"""Preparation: workers compile the agents on offer, with the rules that they call.

The server itself compiles nothing: its own rules are plain Python (:mod:`skyenv.cli`).
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
from skyenv.page.agents.jobs import Question, advise, move
from skyenv.page.agents.puzzles import puzzle, reply
from skyenv.page.errors import PageError
from skyenv.page.strengths import called
from skyenv.page.workers import Report, Workers
from skyenv.rules.compile_progress import progress_to
from skyenv.rules.compiling import COMPILED

# The task's name of the whole preparation; those of agents differ.
ALL: Final = ""
# Seconds for the functions of all agents, by what they are about, on a desktop's core.
SECONDS: Final = {
    "the setup of games": 1,
    "setup": 3,
    "observations": 2,
    "views": 1,
    "the drawing of unseen cards": 2,
    "features of heuristic agents": 10,
    "the rules": 8,
    "tree searches": 9,
    "priors of networks": 2,
    "networks": 2,
    "play-outs by networks": 3,
    "rollouts": 2,
    "the results of games": 2,
}
_log = logging.getLogger("skyenv.page")


# ---- jobs ----


def step(about: str = "", number: int = 1, total: int = 0) -> dict[str, Any]:
    """Return the progress of compiling: `about`, what is being compiled, "" if nothing is; `done`,
    functions that this process has compiled, and `total`, those known to be needed so far.
    """
    return {"about": about, "done": number - 1, "total": total}


def compile_agent(entry: CatalogueEntry, report: Report) -> tuple[str, float]:
    """Compile an agent's code for turns and hints to the cache; a job that reports :func:`step`.

    Returns:
        The agent's description, and the seconds of a hint thereafter.

    Raises:
        AgentError, CheckpointError: the agent can't be made, or fails in an ordinary decision.
    """
    with progress_to(lambda *now: report(step(*now))):
        question = Question(game := Game(2, seed=1), ("", ""))
        estimator = entry if entry.name == ESTIMATOR else None
        for _ in range(2):
            *_, seconds = advise(entry, estimator, PlayOuts(), question, None, lambda so_far: None)
        move(entry, game, lambda so_far: None)
    return entry.agent.description, seconds


def compile_puzzles(report: Report) -> None:
    """Compile what solves puzzles to the cache, unless this process compiles nothing."""
    if COMPILED:
        with progress_to(lambda *now: report(step(*now))):
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
        self._is_ready = is_ready
        self._step = step()
        self._begun: dict[str, float] = {}  # when what in SECONDS was begun
        self._tasks: dict[str, asyncio.Task[None]] = {}
        if is_ready:
            for one in catalogue.readiness.values():
                one.state = "ready"

    def begin(self) -> None:
        """Start the preparation in the background."""
        if not self._is_ready:
            self._tasks[ALL] = asyncio.create_task(self._prepare())

    async def close(self) -> None:
        """Stop the preparation."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def require_hope(self, name: str) -> None:
        """Check that an agent's preparation hasn't failed.

        Raises:
            PageError: it has failed.
        """
        one = self._catalogue.readiness.get(name)
        if one is not None and one.state == "failed":
            raise PageError(f"{called(name)} can't play: {one.error}", 409)

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
            `ready`: whether all agents are, or have failed; `about`, `done`, `total`: the running
                compilation, as by :func:`step`; `left` of `whole`: seconds, as far as known;
                `agents`: as from :meth:`Catalogue.describe`.
        """
        agents = self._catalogue.describe()
        return {
            "ready": {one["state"] for one in agents} <= {"ready", "failed"},
            **self._step,
            "left": self._left(),
            "whole": sum(SECONDS.values()),
            "agents": agents,
        }

    # ---- compilation ----

    async def _prepare(self) -> None:
        # First what most games are played against.
        names = sorted(self._catalogue.names, key=lambda name: name != "greedy")
        self._workers.warm_up = partial(compile_agent, self._catalogue[names[0]], _log.debug)
        for name in names:
            await self._compiling(name)
        await self._workers.ask(compile_puzzles, on_progress=self._note)

    def _compiling(self, name: str) -> asyncio.Task[None]:
        """Return the task that compiles an agent, or has done so."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._compile(name))
        return self._tasks[name]

    async def _compile(self, name: str) -> None:
        one, job = self._catalogue.readiness[name], partial(compile_agent, self._catalogue[name])
        if one.state == "ready":
            return
        one.state = "preparing"
        try:
            one.description, seconds = await self._workers.ask(job, on_progress=self._note)
            self._catalogue.seconds[name].append(seconds)
            one.state = "ready"
        except Exception as error:  # an agent's code may raise anything
            one.state = "failed"
            one.error = str(error) if isinstance(error, SkyenvError) else cause(error)
            _log.warning("agent %s can't play: %s", name, one.error)

    def _note(self, step: dict[str, Any]) -> None:
        self._begun.setdefault(step["about"], time.monotonic())
        self._step = step

    def _left(self) -> float:
        """Return the seconds that all agents still take: of what is under way at least one."""
        later = sum(seconds for about, seconds in SECONDS.items() if about not in self._begun)
        about = self._step["about"]
        if about not in SECONDS or about not in self._begun:
            return later
        return later + max(SECONDS[about] - (time.monotonic() - self._begun[about]), 1)
