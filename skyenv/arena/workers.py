"""Processes that do units of work side by side, and are replaced when they die.

Each worker is a pool of one process (:mod:`concurrent.futures`) with one unit under way, so a pool that breaks tells which unit
broke it; one pool of many processes would only tell that one of them died.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for
from typing import Any, Final, TypeVar

from skyenv.errors import AgentError

ATTEMPTS: Final = 3
"""So many workers may die over a unit before it is given up."""

PATIENCE: Final = 0.2
"""Seconds between looks at the clock and at Ctrl-C."""

ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""Every worker has a core; libraries that start threads of their own would only get into each other's way."""

Unit = TypeVar("Unit")
Result = TypeVar("Result")


def run_units(
    work: Callable[[Unit], Result],
    units: Iterator[Unit | None],
    workers: int,
    *,
    done: Callable[[Unit, Result], None],
    tick: Callable[[], bool],
    parts: Callable[[Unit], Iterable[Unit]],
    about: Callable[[Unit], str],
) -> None:
    """Do units in worker processes.

    Args:
        work: does a unit, in a worker. It, units and results are pickled. What it raises ends all work.
        units: asked for the next unit whenever a worker is free; None: there is none before others are done.
        workers: how many processes at the most, at least 1.
        done: called with each result as it comes.
        tick: called several times a second; False ends the work at once, unfinished units are dropped.
        parts: the smallest units that a unit is made of; they are done instead when a worker died over it.
        about: says what a unit is, for the error.

    Raises:
        AgentError: workers keep dying over a unit.
        Exception: what the work raised.
    """
    crew = [_Worker() for _ in range(workers)]
    idle = list(crew)
    busy: dict[Future[Result], tuple[_Worker, Unit, int]] = {}
    again: deque[tuple[Unit, int]] = deque()  # and how many workers died over it
    try:
        while tick():
            while idle and (task := again.popleft() if again else _fresh(units)) is not None:
                worker = idle.pop()
                busy[worker.begin(work, task[0])] = (worker, *task)
            if not busy:
                return
            for future in wait(busy, PATIENCE, FIRST_COMPLETED).done:
                worker, unit, deaths = busy.pop(future)
                idle.append(worker)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    worker.end()
                    if deaths + 1 == ATTEMPTS:
                        raise AgentError(f"{ATTEMPTS} processes died while {about(unit)}") from None
                    again.extend((part, deaths + 1) for part in parts(unit))
                else:
                    done(unit, result)
    finally:
        for worker in crew:
            worker.end()


def _fresh(units: Iterator[Unit | None]) -> tuple[Unit, int] | None:
    """The next unit, over which nobody has died."""
    unit = next(units, None)
    return None if unit is None else (unit, 0)


class _Worker:
    """A process, started when it is given something to do."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._processes: set[Any] = set()

    def begin(self, work: Callable[[Unit], Result], unit: Unit) -> Future[Result]:
        """Have a unit done."""
        try:
            return self._submit(work, unit)
        except BrokenProcessPool:  # it died while it waited
            self.end()
            return self._submit(work, unit)

    def _submit(self, work: Callable[[Unit], Result], unit: Unit) -> Future[Result]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), begin_worker)
        others = set(multiprocessing.active_children())
        with for_a_worker():
            future = self._pool.submit(work, unit)
        self._processes |= set(multiprocessing.active_children()) - others
        return future

    def end(self) -> None:
        """End the process, whatever it does; the next unit gets a new one."""
        for process in self._processes:
            process.terminate()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._pool, self._processes = None, set()


@contextlib.contextmanager
def for_a_worker() -> Iterator[None]:
    """What a process that is started here inherits: one thread a library, and deafness to Ctrl-C, which is the parent's."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        with _ctrl_c_waits():
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextlib.contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """A Ctrl-C meanwhile comes afterwards: it is held back, and by processes that start here until they ignore it.

    Ignoring it instead would lose one that comes just now. Windows can't hold it back.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # multiprocessing starts it with the first worker, and lets Ctrl-C through when it has
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_worker() -> None:
    """What a worker does first: be deaf to Ctrl-C, and see to it that it ends when its parent does, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait_for([parent.sentinel]), os._exit(1)), daemon=True).start()
