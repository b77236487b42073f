"""What of the page's compiled code is on disk, what agents need besides, and compiling it, told
function by function.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Final

from skyenv.agents import Agent
from skyenv.engine.game import Game
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.jobs import advise, move
from skyenv.page.payloads import Look
from skyenv.page.workers import Report
from skyenv.rules.compiling import ENTRY_POINTS, EntryPoint, following

RULES: Final = frozenset(
    {
        "setup",
        "the setup of games",
        "legal actions",
        "the rules",
        "observations",
        "views",
        "agents' random numbers",
        "the results of games",
        "the check of positions",
    }
)
"""What of the compiled code every table needs, as it is announced."""
MOST_LOOKED_AT: Final = 20_000
"""Objects that an agent is made of, which are searched for what it calls."""


@dataclass(frozen=True)
class Step:
    """How far compiling has come.

    Attributes:
        about: what is compiled now, in words.
        done: functions that are compiled.
        total: of so many that weren't there.
        typical: seconds that those which are done take on an ordinary machine.
        typical_left: the same for the others.
        seconds: spent on those which are done.
    """

    about: str
    done: int
    total: int
    typical: float
    typical_left: float
    seconds: float


@dataclass(frozen=True)
class Prospect:
    """An agent that has been looked at.

    Attributes:
        description: its own, a line.
        version: its own.
        missing: what it needs and isn't compiled: a name of each function and its typical seconds.
    """

    description: str
    version: str
    missing: dict[str, float]


def rules_needed() -> list[EntryPoint]:
    """The entry points without which there is no table."""
    return [
        one for one in ENTRY_POINTS if one.about in RULES and one.__module__.startswith("skyenv.")
    ]


def missing_rules() -> dict[str, float]:
    """Those that are neither in memory nor on disk, as in :class:`Prospect`."""
    return {_name(one): one.seconds for one in rules_needed() if not one.is_there()}


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
    with _telling(rules_needed(), report):
        play_a_little()


def look_at(entry: CatalogueEntry, report: Report) -> Prospect:
    """A job: make an agent, and see what it needs.

    Raises:
        AgentError, CheckpointError: it can't be made.
    """
    missing = [one for one in needed_by(entry.agent) if not one.is_there()]
    return Prospect(
        entry.agent.description, entry.agent.version, {_name(one): one.seconds for one in missing}
    )


def compile_agent(entry: CatalogueEntry, report: Report) -> None:
    """A job: have on disk what an agent needs for its turns and hints; reports :class:`Step`.

    Raises:
        AgentError, CheckpointError: it can't be made, or its answer to an ordinary decision is
            none.
    """
    with _telling(needed_by(entry.agent), report):
        game = Game(2, seed=1)
        advise(entry, game, _tell_nobody)
        move(entry, game, _tell_nobody)


def _tell_nobody(found: object) -> None:
    """What a search has come to so far interests nobody here."""


def needed_by(agent: Agent) -> list[EntryPoint]:
    """The entry points that an agent may call, as far as the names in its code and its attributes
    tell.
    """
    found: list[EntryPoint] = []
    seen: dict[int, object] = {}  # the objects, lest another one gets the same place in memory
    to_do: deque[object] = deque([agent])  # what is near comes first, in case that there is much
    while to_do and len(seen) < MOST_LOOKED_AT:
        value = to_do.popleft()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, EntryPoint):
            found.append(value)
            to_do += value.needs()
        else:
            to_do += _parts(value)
    return found


def _parts(value: object) -> Iterable[object]:
    """What an object is made of, as far as it may lead to entry points."""
    if isinstance(value, FunctionType):
        names = set(_names(value.__code__))
        held = [value.__globals__[name] for name in names & value.__globals__.keys()]
        within = [
            vars(one)[name]
            for one in held
            if isinstance(one, ModuleType)
            for name in names & vars(one).keys()
        ]
        return [*held, *within, *(cell.cell_contents for cell in value.__closure__ or ())]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, (classmethod, staticmethod)):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget]
    if isinstance(value, cached_property):
        return [value.func]
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, type):
        return [
            part for kind in value.__mro__ if _is_followed(kind) for part in vars(kind).values()
        ]
    if _is_followed(type(value)):
        return [type(value), *getattr(value, "__dict__", {}).values()]
    return []


def _is_followed(kind: type) -> bool:
    """Whether a class is an agent's or of what agents are made of; games and batches lead to all
    the rules.
    """
    top = kind.__module__.partition(".")[0]
    return top not in ("builtins", "numpy", "numba", "abc", "torch") and kind.__module__ not in (
        "skyenv.engine.games",
        "skyenv.engine.game",
    )


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _name(one: EntryPoint) -> str:
    return f"{one.__module__}.{one.__name__}"


@contextmanager
def _telling(needed: list[EntryPoint], report: Report) -> Iterator[None]:
    """Report what of that is compiled in this process meanwhile."""
    missing = {_name(one): one for one in needed if not one.is_there()}
    total, began = len(missing), time.monotonic()
    under_way: list[EntryPoint] = []
    typical = 0.0

    def follow(one: EntryPoint, has_ended: bool) -> None:
        nonlocal typical
        if not has_ended:
            under_way.append(one)
        elif under_way.pop() is one and one.overloads and missing.pop(_name(one), None):
            typical += one.seconds
        if total:
            left = sum(other.seconds for other in missing.values())
            about = next(
                (other.about for other in reversed(under_way) if _name(other) in missing), ""
            )
            report(
                Step(about, total - len(missing), total, typical, left, time.monotonic() - began)
            )

    with following(follow):
        yield
