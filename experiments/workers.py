"""Processes that do units of work side by side, and are replaced when they die."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, MutableSequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Generic, TypeVar

from skyenv.errors import AgentError

ATTEMPTS: Final = 3
"""So many workers may die over a unit before it is given up. The last one is told to work with care."""

NOTES: Final = 3
"""Numbers that a worker keeps where they outlive it."""

PATIENCE: Final = 0.2
"""Seconds between looks at the clock and at Ctrl-C."""

ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""Every worker has a core; libraries that start threads of their own would only get into each other's way."""

Unit = TypeVar("Unit")
Result = TypeVar("Result")
Notes = MutableSequence[int]
Work = Callable[[Unit, bool], Result]
"""Does a unit; told as well whether to do it with care, in small steps that the notes tell of. What it raises ends all work."""


def run_units(
    make: Callable[[Notes], Work[Unit, Result]],
    units: Iterator[Unit],
    workers: int,
    *,
    done: Callable[[Unit, Result], None],
    tick: Callable[[], bool],
    lost: Callable[[Unit, list[int]], str],
) -> None:
    """Do units in worker processes.

    Args:
        make: called once in each worker with the worker's notes; returns what does the work. It, units and results are pickled.
        units: asked for the next unit whenever a worker is free.
        workers: how many processes, at least 1.
        done: called with each result as it comes.
        tick: called several times a second; False ends the work at once, unfinished units are dropped.
        lost: says what was going on, from a unit and the notes of the worker that died over it for the last time.

    Raises:
        AgentError: workers keep dying over a unit.
        Exception: what the work raised.
    """
    crew: list[_Worker[Unit]] = [_Worker(make) for _ in range(workers)]
    again: deque[_Task[Unit]] = deque()
    try:
        while tick():
            for worker in crew:
                if worker.task is None:
                    task = again.popleft() if again else _next(units)
                    if task is not None:
                        worker.give(task)
            busy = [worker for worker in crew if worker.task is not None]
            if not busy:
                return
            ready = wait([worker.link for worker in busy], PATIENCE)
            for worker in busy:
                if worker.link in ready:
                    task = worker.task
                    assert task is not None
                    try:
                        good, result = worker.take()
                    except (EOFError, OSError):  # it is dead
                        task.attempts += 1
                        if task.attempts == ATTEMPTS:
                            raise AgentError(f"{ATTEMPTS} workers died: {lost(task.unit, list(worker.notes))}") from None
                        again.append(task)
                        worker.dismiss()
                        continue
                    if not good:
                        raise result
                    done(task.unit, result)
    finally:
        for worker in crew:
            worker.dismiss()


@dataclass
class _Task(Generic[Unit]):
    """A unit, and how many workers have died over it."""

    unit: Unit
    attempts: int = 0


def _next(units: Iterator[Unit]) -> _Task[Unit] | None:
    for unit in units:
        return _Task(unit)
    return None


class _Worker(Generic[Unit]):
    """A process, started when it is first given something to do, and the parent's end of the pipe to it."""

    link: Connection

    def __init__(self, make: Callable[[Notes], Any]) -> None:
        self.make = make
        self.context = multiprocessing.get_context("spawn")
        self.process: Any = None
        self.task: _Task[Unit] | None = None
        self.notes: Any = self.context.RawArray("q", NOTES)

    def give(self, task: _Task[Unit]) -> None:
        """Have a unit done."""
        if self.process is None:
            self._start()
        self.task = task
        with contextlib.suppress(OSError):  # it died while it waited; taking its result will tell
            self.link.send((task.unit, task.attempts == ATTEMPTS - 1))

    def take(self) -> tuple[bool, Any]:
        """Whether the work was done, and its result or what it raised.

        Raises:
            EOFError, OSError: the process is dead.
        """
        answer: tuple[bool, Any] = self.link.recv()
        self.task = None
        return answer

    def dismiss(self) -> None:
        """End the process, whatever it does; the next unit gets a new one."""
        self.task = None
        if self.process is not None:
            self.link.close()
            self.process.terminate()
            self.process.join()
            self.process = None

    def _start(self) -> None:
        self.link, theirs = self.context.Pipe()
        self.process = self.context.Process(target=_serve, args=(theirs, self.make, self.notes), daemon=True)
        with _for_a_worker():
            self.process.start()
        theirs.close()


@contextlib.contextmanager
def _for_a_worker() -> Iterator[None]:
    """What a process that is started here inherits: one thread a library, and deafness to Ctrl-C, which is the parent's."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    here = threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN) if here else None
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        if here:
            signal.signal(signal.SIGINT, previous)


def _serve(link: Connection, make: Callable[[Notes], Work[Any, Any]], notes: Notes) -> None:
    """A worker's life: until the pipe is closed, do what comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work: Work[Any, Any] | None = None
    with contextlib.suppress(EOFError, OSError):
        while True:
            unit, careful = link.recv()
            answer: tuple[bool, Any]
            try:
                work = work or make(notes)
                answer = (True, work(unit, careful))
            except Exception as error:  # whatever an agent does wrong is the parent's to tell
                answer = (False, error)
            link.send(answer)
