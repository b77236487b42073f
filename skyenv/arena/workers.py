"""Who does units of work: the interface, and processes of this machine.

Each worker is a pool of one process (:mod:`concurrent.futures`) with one unit under way, so a pool
that breaks tells which unit broke it; one pool of many processes would only tell that one of them
died. Workers on many machines: :mod:`skyenv.arena.on_ray`.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for
from typing import Any, Final, Generic, TypeVar

from skyenv.errors import AgentError, cause

ONE_THREAD: Final = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
)
"""Every worker has a core; libraries that start threads of their own would only get into each
other's way.
"""

Unit = TypeVar("Unit")
Result = TypeVar("Result")


class WorkerDiedError(Exception):
    """A worker died over a unit; whatever it had done of it is gone."""


class MachineLostError(Exception):
    """The machine that a unit was done on is gone, which says nothing of the unit; whatever was
    done of it is gone, too.
    """


class Workers(ABC, Generic[Unit, Result]):
    """Those who do units of one kind of work, each a unit at a time."""

    @abstractmethod
    def free(self) -> bool:
        """Whether somebody has nothing to do."""

    @abstractmethod
    def begin(self, unit: Unit) -> Hashable:
        """Have a unit done, if somebody is free; the ticket to ask for its result with."""

    @abstractmethod
    def wait(self, seconds: float) -> list[Any]:
        """Until units are done, or for so long; their tickets."""

    @abstractmethod
    def result(self, ticket: Any) -> Result:
        """What came of a unit that is done; asked for once.

        Raises:
            WorkerDiedError, MachineLostError: nothing. Exception: what the work raised.
        """

    @abstractmethod
    def end(self) -> None:
        """End all work at once; unfinished units are dropped."""


class Processes(Workers[Unit, Result]):
    """Processes of this machine.

    Args:
        work: does a unit, in a worker. It, units and results are pickled.
        number: how many, at least 1; each is started when it is first needed.
    """

    def __init__(self, work: Callable[[Unit], Result], number: int) -> None:
        self._work = work
        self._all = [_Worker() for _ in range(number)]
        self._idle = list(self._all)
        self._busy: dict[Future[Result], _Worker] = {}

    def free(self) -> bool:
        """See :meth:`Workers.free`."""
        return bool(self._idle)

    def begin(self, unit: Unit) -> Future[Result]:
        """See :meth:`Workers.begin`."""
        worker = self._idle.pop()
        future = worker.begin(self._work, unit)
        self._busy[future] = worker
        return future

    def wait(self, seconds: float) -> list[Future[Result]]:
        """See :meth:`Workers.wait`."""
        return list(wait(self._busy, seconds, FIRST_COMPLETED).done)

    def result(self, ticket: Future[Result]) -> Result:
        """See :meth:`Workers.result`."""
        worker = self._busy.pop(ticket)
        self._idle.append(worker)
        try:
            return ticket.result()
        except BrokenProcessPool:
            worker.end()
            raise WorkerDiedError from None

    def end(self) -> None:
        """See :meth:`Workers.end`."""
        for worker in self._all:
            worker.end()


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
            future = self._pool.submit(carried_out, work, unit)
        self._processes |= set(multiprocessing.active_children()) - others
        return future

    def end(self) -> None:
        """End the process, whatever it does; the next unit gets a new one."""
        for process in self._processes:
            process.terminate()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._pool, self._processes = None, set()


def carried_out(work: Callable[[Unit], Result], unit: Unit) -> Result:
    """What comes of a unit, in a worker; an error that couldn't be sent back would end it."""
    try:
        return work(unit)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        told = sendable(error)
        if told is error:
            raise
        raise told from None


def sendable(error: BaseException) -> Exception:
    """An error, or what it says if it can't be sent as it is.

    Pickle can't take it there and back where it holds a lock, or is made from several arguments;
    and what is no Exception, such as SystemExit, would end the process that gets it.
    """
    if not isinstance(error, Exception):
        return AgentError(f"an agent raised {cause(error)}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return AgentError(cause(error))
    return error


@contextlib.contextmanager
def for_a_worker() -> Iterator[None]:
    """What a process that is started here inherits: one thread a library, and deafness to Ctrl-C,
    which is the parent's.
    """
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
    """A Ctrl-C meanwhile comes afterwards: it is held back, and by processes that start here until
    they ignore it.

    Ignoring it instead would lose one that comes just now. Windows can't hold it back.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # multiprocessing starts it with the first worker, and lets Ctrl-C through when it has
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_worker() -> None:
    """What a worker does first: be deaf to Ctrl-C, and see to it that it ends when its parent does,
    however that ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait_for([parent.sentinel]), os._exit(1)), daemon=True).start()
