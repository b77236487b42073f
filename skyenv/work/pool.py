"""The interface of a pool of workers, and a pool of processes of this machine.

In that one a thread drives each task: it sends it to its worker's process, waits for the answer,
and tries it again where the process dies.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from types import FrameType
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from skyenv.errors import AgentError, cause

ATTEMPTS: Final = 3  # a task is given up after the deaths of so many workers
PATIENCE: Final = 0.2  # seconds between checks of the clock and of Ctrl-C
MOST_GROUPS: Final = 1000  # groups whose latest turn is remembered

# Environment of a worker: it has one core, so libraries get one thread.
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

Argument = TypeVar("Argument")
Result = TypeVar("Result")
Report = Callable[[Any], None]  # called with a task's progress, anything that can be pickled

_starting = threading.Lock()  # a process that starts inherits the environment of the whole parent


class WorkerDiedError(AgentError):
    """Workers died over a task, each time that it was tried."""


class Task(Future[Result], Generic[Result]):
    """A task that was submitted, and the future of its result; see :meth:`Pool.submit`.

    Attributes:
        unwanted: whether it was killed.
    """

    def __init__(
        self,
        work: Callable[..., Result],
        arguments: tuple[Any, ...],
        priority: int = 0,
        group: str = "",
        needs: str = "",
        on_start: Callable[[], None] | None = None,
        on_progress: Report | None = None,
    ) -> None:
        super().__init__()
        self.work, self.arguments = work, arguments
        self.priority, self.group, self.needs = priority, group, needs
        self.on_start, self.on_progress = on_start, on_progress
        self.unwanted = False


class Pool(ABC):
    """Workers that do one task each at a time; a context manager that closes it."""

    def submit(self, work: Callable[..., Result], *arguments: Any, **how: Any) -> Task[Result]:
        """Submit a task.

        Args:
            work: the function that does it, in a worker. It, the arguments and the result are
                pickled.
            arguments: of the function.
            how: options that processes of this machine follow, and Ray ignores:
                `priority` (int): tasks with the lowest number begin first; those above 0 leave one
                worker to the others. `group` (str): groups of one priority take turns.
                `needs` (str): what the task loads; a worker that has it is preferred.
                `on_start`, `on_progress`: called in another thread when a worker begins, and with
                what the task reports. With `on_progress` the function is called with one more
                argument, a :data:`Report`.

        Returns:
            The future of the result. Its exception is what the work raised, or
            :class:`WorkerDiedError`.
        """
        task = Task(work, arguments, **how)
        self._begin(task)
        return task

    @abstractmethod
    def _begin(self, task: Task[Any]) -> None:
        """Have a task done as soon as a worker is idle."""

    @abstractmethod
    def kill(self, task: Task[Any]) -> None:
        """End a task at once, whether it waits or is under way; its result never comes."""

    @abstractmethod
    def size(self) -> int:
        """How many tasks can be under way now, at least 1."""

    @abstractmethod
    def close(self) -> None:
        """End all tasks and workers at once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def results(
        self,
        work: Callable[[Argument], Result],
        arguments: Iterable[Argument],
        *,
        goes_on: Callable[[], bool] = lambda: True,
        about: Callable[[Argument], str] = str,
    ) -> Iterator[tuple[Argument, Result]]:
        """Do a task for each argument; yield argument and result, in the order in which they come.

        Args:
            work: as for :meth:`submit`.
            arguments: an iterator is asked for the next one when a worker is idle, after the
                results so far have been yielded.
            goes_on: called several times a second; when it returns False, unfinished tasks are
                dropped.
            about: says what a task does, for the error.

        Raises:
            AgentError: workers keep dying over a task. Exception: what the work raised.
        """
        waiting, pending = iter(arguments), dict[Future[Result], Argument]()
        try:
            while goes_on():
                for argument in itertools.islice(waiting, max(0, self.size() - len(pending))):
                    pending[self.submit(work, argument)] = argument
                if not pending:
                    return
                for future in wait(pending, PATIENCE, FIRST_COMPLETED).done:
                    argument = pending.pop(future)
                    try:
                        result = future.result()
                    except WorkerDiedError as error:
                        raise WorkerDiedError(f"{error} while {about(argument)}") from None
                    yield argument, result
        finally:
            for future in pending:
                assert isinstance(future, Task)
                self.kill(future)


class Interrupt:
    """A context in which the first Ctrl-C asks for the end; a second one raises KeyboardInterrupt.

    Only the main thread receives signals: in others this does nothing. Of two nested ones the inner
    one receives them.

    Attributes:
        signals: those that ask.
        asked: whether one came.
    """

    signals: ClassVar[tuple[signal.Signals, ...]] = (signal.SIGINT,)

    def __init__(self) -> None:
        self.asked = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self.signals:
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def goes_on(self) -> bool:
        """Whether it hasn't come yet."""
        return not self.asked

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)


# ---- processes of this machine ----


class Processes(Pool):
    """A pool of processes; each starts with its first task.

    Args:
        workers: how many, at least 1.
        in_threads: do tasks in threads of this process, for functions that can't be pickled. A
            thread can't be ended: after :meth:`kill` it goes on, and another one takes its place.
            Tasks that need the same thing are done one after the other.
    """

    def __init__(self, workers: int, *, in_threads: bool = False) -> None:
        self._workers, self._in_threads = workers, in_threads
        self._lock = threading.RLock()
        self._waiting: list[Task[Any]] = []
        self._idle: list[_Thread] = []
        self._busy: dict[_Thread, Task[Any]] = {}
        self._drivers: set[threading.Thread] = set()
        self._held: set[str] = set()
        self._served: dict[str, int] = {}
        self._turns = itertools.count()

    def _begin(self, task: Task[Any]) -> None:
        with self._lock:
            self._waiting.append(task)
            self._distribute()

    def kill(self, task: Task[Any]) -> None:
        """See :meth:`Pool.kill`."""
        with self._lock:
            task.unwanted = True
            task.cancel()
            if task in self._waiting:
                self._waiting.remove(task)
            for worker in [one for one, other in self._busy.items() if other is task]:
                if not worker.kill():
                    del self._busy[worker]
                    self._distribute()

    def size(self) -> int:
        """See :meth:`Pool.size`."""
        return self._workers

    def busy(self) -> int:
        """Return the number of tasks under way."""
        return len(self._busy)

    def renew(self) -> None:
        """End idle processes; their next tasks start new ones."""
        with self._lock:
            for worker in self._idle:
                worker.end()

    def close(self) -> None:
        """See :meth:`Pool.close`; threads that do tasks themselves are left to them."""
        with self._lock:
            self._workers = 0
            for task in [*self._waiting, *self._busy.values()]:
                self.kill(task)
            self.renew()
            drivers = set() if self._in_threads else self._drivers.copy()
        for driver in drivers:
            driver.join()

    def _distribute(self) -> None:
        """Give waiting tasks to idle workers; the lock is held."""
        while len(self._busy) < self._workers and (task := self._next()) is not None:
            self._waiting.remove(task)
            worker = self._worker_for(task)
            self._busy[worker] = task
            if self._in_threads and task.needs:
                self._held.add(task.needs)
            self._served.pop(task.group, None)
            self._served[task.group] = next(self._turns)
            if len(self._served) > MOST_GROUPS:
                del self._served[next(iter(self._served))]
            driver = threading.Thread(target=self._drive, args=(worker, task), daemon=True)
            self._drivers.add(driver)
            driver.start()

    def _next(self) -> Task[Any] | None:
        """Return the task that begins next; None: none may."""
        low = sum(task.priority > 0 for task in self._busy.values())
        has_room = self._workers == 1 or low < self._workers - 1
        ready = [
            task
            for task in self._waiting
            if task.needs not in self._held and (has_room or task.priority == 0)
        ]
        return min(
            ready, key=lambda task: (task.priority, self._served.get(task.group, -1)), default=None
        )

    def _worker_for(self, task: Task[Any]) -> _Thread:
        """Return an idle worker, if possible one that has what the task needs."""
        if not self._idle:
            return _Thread() if self._in_threads else _Process()
        best = max(self._idle, key=lambda worker: task.needs in worker.has)
        self._idle.remove(best)
        return best

    def _drive(self, worker: _Thread, task: Task[Any]) -> None:
        """See to a task until it is done."""
        result, error = None, None
        if task.set_running_or_notify_cancel():
            if task.on_start is not None:
                task.on_start()
            try:
                result = worker.do(task)
            except Exception as raised:
                error = raised
        with self._lock:
            self._held.discard(task.needs)
            self._drivers.discard(threading.current_thread())
            if self._busy.pop(worker, None) is not None and self._workers:
                self._idle.append(worker)
            else:
                worker.end()
            self._distribute()
        if task.cancelled():
            return
        if error is None:
            task.set_result(result)
        else:
            task.set_exception(error)


class _Thread:
    """A worker that is the driving thread itself.

    Attributes:
        has: what its tasks needed, and is still in memory.
    """

    def __init__(self) -> None:
        self.has: set[str] = set()

    def do(self, task: Task[Any]) -> Any:
        """Return the result of a task, or raise what it raised."""
        self.has.add(task.needs)
        report = () if task.on_progress is None else (task.on_progress,)
        try:
            return task.work(*task.arguments, *report)
        except Exception:
            raise
        except BaseException as error:
            raise AgentError(f"an agent raised {cause(error)}") from None

    def kill(self) -> bool:
        """End the task under way; False: that can't be."""
        return False

    def end(self) -> None:
        """End the worker, which is idle."""


class _Process(_Thread):
    """A worker with a process, which is started when it is needed, and again after it has died."""

    def __init__(self) -> None:
        super().__init__()
        self._process: Any = None
        self._connection: Connection | None = None

    def do(self, task: Task[Any]) -> Any:
        """See above."""
        message = pickle.dumps((task.work, task.arguments, task.on_progress is not None))
        for _ in range(ATTEMPTS):
            connection = self._alive() or self._start()
            try:
                is_done, answer = self._answer(connection, task, message)
            except (EOFError, OSError):  # the process has died
                self.end()
                if task.unwanted:
                    raise CancelledError from None
            else:
                if is_done:
                    return answer
                raise rebuilt(answer)
        raise WorkerDiedError(f"{ATTEMPTS} processes died")

    def _answer(self, connection: Connection, task: Task[Any], message: bytes) -> tuple[bool, Any]:
        """Return whether the process has done a task, and the result or the error."""
        if task.unwanted:  # killed while the process started
            raise EOFError
        self.has.add(task.needs)
        connection.send_bytes(message)
        while True:
            is_done, answer = connection.recv()
            if is_done is not None:
                return is_done, answer
            assert task.on_progress is not None
            task.on_progress(answer)

    def _alive(self) -> Connection | None:
        if self._process is not None and not self._process.is_alive():  # it died while it waited
            self.end()
        return self._connection

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), name="worker", daemon=True)
        with for_a_worker():
            process.start()
        theirs.close()
        self._process, self._connection = process, ours
        self.has.clear()
        return ours

    def kill(self) -> bool:
        """See above."""
        process = self._process
        with contextlib.suppress(ValueError):  # it has ended already
            if process is not None:
                process.kill()
        return True

    def end(self) -> None:
        """See above."""
        self.kill()
        if self._process is not None and self._connection is not None:
            self._process.join()
            self._process.close()
            self._connection.close()
        self._process = self._connection = None


@contextlib.contextmanager
def for_a_worker() -> Iterator[None]:
    """Let a process start as a worker: with one thread a library, and SIGINT blocked until it
    ignores it.
    """
    with _starting:
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        # multiprocessing starts it with the first process, and lets SIGINT through when it has
        resource_tracker.ensure_running()
        blocks = hasattr(signal, "pthread_sigmask")  # not on Windows
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else None
        try:
            yield
        finally:
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def begin_worker() -> None:
    """Ignore SIGINT, and end when the parent process does, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait_for([parent.sentinel]), os._exit(1)), daemon=True).start()


def _serve(connection: Connection) -> None:
    """Do tasks, one after the other, until the parent closes its end of the pipe."""
    begin_worker()
    report: Callable[[Any], None] = lambda value: connection.send((None, value))  # noqa: E731
    while True:
        try:
            message = connection.recv_bytes()
        except EOFError:
            return
        try:
            work, arguments, reports = pickle.loads(message)
            answer = pickle.dumps((True, work(*arguments, *([report] if reports else []))))
        except BaseException as error:
            answer = pickle.dumps((False, portable(error)))
        connection.send_bytes(answer)


def portable(error: BaseException) -> tuple[Exception, str]:
    """Return an error of a worker as it can be sent, and its traceback.

    Some can't be pickled and unpickled: those that hold a lock, or take several arguments; and one
    that is no Exception, such as SystemExit, would end the process that receives it.
    """
    where = traceback.format_exc()
    if not isinstance(error, Exception):
        return AgentError(f"an agent raised {cause(error)}"), where
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return AgentError(cause(error)), where
    return error, where


def rebuilt(sent: tuple[Exception, str]) -> Exception:
    """Return an error that a worker sent, with its traceback as a note."""
    error, where = sent
    error.add_note(where)
    return error
