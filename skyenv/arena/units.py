"""Units of work, done side by side: on this machine, or on all of those that Ray connects.

Who does them is told by two options that all commands share (:data:`skyenv.options.COMMON`):
``workers``, how many, and ``ray``, which Ray; without it they are processes here. Neither changes
what comes of a unit.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, Final, Generic, Self

from skyenv.arena.workers import MachineLostError, Processes, Result, Unit, WorkerDiedError, Workers
from skyenv.checks import check_integer
from skyenv.engine.thread_pool import cores
from skyenv.errors import AgentError
from skyenv.options import MOST_WORKERS

ATTEMPTS: Final = 3
"""So many workers may die over a unit before it is given up."""

LOSSES: Final = 10
"""So many machines may be lost over a unit before it is done in parts, and over a part before that
is given up.
"""

PATIENCE: Final = 0.2
"""Seconds between looks at the clock and at Ctrl-C."""


class Interrupt:
    """While it is entered, the first Ctrl-C asks for the end; a second one doesn't wait for
    anything.

    Python tells its main thread alone of Ctrl-C: elsewhere this does nothing. Within another one it
    is this one that hears it.

    Attributes:
        asked: whether it came.
    """

    def __init__(self) -> None:
        self.asked = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def goes_on(self) -> bool:
        """Whether it hasn't come yet: what :func:`run_units` asks several times a second."""
        return not self.asked

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_units(
    work: Callable[[Unit], Result],
    units: Iterator[Unit | None],
    workers: int = 0,
    *,
    ray: str | None = None,
    done: Callable[[Unit, Result], None],
    tick: Callable[[], bool],
    parts: Callable[[Unit], Iterable[Unit]],
    about: Callable[[Unit], str],
) -> None:
    """Do units in workers; each of them is done once, whoever dies meanwhile.

    Args:
        work: does a unit, in a worker. It, units and results are pickled. What it raises ends all
            work.
        units: asked for the next unit whenever a worker is free; None: there is none before others
            are done.
        workers: how many at the most; 0: one for each core, here or of all that Ray connects.
        ray: which Ray the workers are of (:func:`skyenv.arena.on_ray.connect`); None: processes of
            this machine.
        done: called with each result as it comes.
        tick: called several times a second; False ends the work at once, unfinished units are
            dropped.
        parts: the smallest units that a unit is made of; they are done instead when a worker died
            over it, or many machines.
        about: says what a unit is, for the error.

    Raises:
        AgentError: workers keep dying over a unit, or machines are lost.
        OptionError: there is no such Ray, or no such number of workers.
        Exception: what the work raised.
    """
    check_integer("workers", workers, 0, MOST_WORKERS)
    busy: dict[Any, _Task[Unit]] = {}
    again: deque[_Task[Unit]] = deque()
    crew = _workers(work, workers, ray)
    try:
        while tick():
            while (free := crew.free()) and (
                task := again.popleft() if again else _fresh(units)
            ) is not None:
                busy[crew.begin(task.unit)] = task
            if free and not busy:
                return
            for ticket in crew.wait(PATIENCE):
                task = busy.pop(ticket)
                try:
                    result = crew.result(ticket)
                except MachineLostError:
                    again.extend(_after_a_loss(task, parts, about))
                except WorkerDiedError:
                    again.extend(_after_a_death(task, parts, about))
                else:
                    done(task.unit, result)
    finally:
        crew.end()


@dataclass(frozen=True)
class _Task(Generic[Unit]):
    """A unit, how many workers died over it or what it is a part of, and how many machines were
    lost over it.
    """

    unit: Unit
    deaths: int = 0
    losses: int = 0


def _after_a_death(
    task: _Task[Unit], parts: Callable[[Unit], Iterable[Unit]], about: Callable[[Unit], str]
) -> list[_Task[Unit]]:
    """What to do instead of a unit over which a worker died.

    Raises:
        AgentError: too many have.
    """
    if task.deaths + 1 == ATTEMPTS:
        raise AgentError(f"{ATTEMPTS} processes died while {about(task.unit)}") from None
    return [_Task(part, task.deaths + 1) for part in parts(task.unit)]


def _after_a_loss(
    task: _Task[Unit], parts: Callable[[Unit], Iterable[Unit]], about: Callable[[Unit], str]
) -> list[_Task[Unit]]:
    """What to do instead of a unit whose machine was lost: mostly the unit itself, since machines
    are lost for other reasons.

    Raises:
        AgentError: too many were, and it has no parts.
    """
    if task.losses + 1 < LOSSES:
        return [replace(task, losses=task.losses + 1)]
    smaller = [_Task(part, task.deaths) for part in parts(task.unit)]
    if len(smaller) == 1:
        raise AgentError(f"{LOSSES} machines were lost while {about(task.unit)}") from None
    return smaller


def number_of_workers(workers: int, ray: str | None) -> int:
    """How many units :func:`run_units` does side by side, as things are now: at least 1, also where
    machines are still to come.

    Raises:
        OptionError: there is no such Ray, or no such number of workers.
    """
    check_integer("workers", workers, 0, MOST_WORKERS)
    if workers or ray is None:
        return workers or cores()
    from skyenv.arena.on_ray import connect, cpus

    return max(1, cpus(connect(ray)))


def _workers(work: Callable[[Unit], Result], number: int, ray: str | None) -> Workers[Unit, Result]:
    """Who does a kind of work."""
    if ray is None:
        return Processes(work, number or cores())
    from skyenv.arena.on_ray import OnRay  # needs a package of its own

    return OnRay(work, number, ray)


def _fresh(units: Iterator[Unit | None]) -> _Task[Unit] | None:
    """The next unit, over which nobody has died."""
    unit = next(units, None)
    return None if unit is None else _Task(unit)
