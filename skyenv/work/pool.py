"""The interface of a pool of workers, and a pool of local processes.

In the local pool a thread drives each job: it sends the job to its worker's process, waits for
the result, and retries it if the process dies.
"""

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
from typing import Any, Final, Generic, Self, TypeVar

from skyenv.errors import AgentError, cause
from skyenv.rules import variant
from skyenv.runtime import OF_PARENT, at_once

ATTEMPTS: Final = 3  # a job fails after this many deaths of its worker
POLL_INTERVAL: Final = 0.2  # seconds between checks of the clock and of signals
# A worker's memory, measured: 120 to 230 MB, 280 MB while it compiles.
WORKER_BYTES: Final = 250_000_000
# Its threads: three in its process, and one here.
WORKER_TASKS: Final = 4
KILLED: Final = -9  # exit code of a process that the system has killed

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
Report = Callable[[Any], None]  # called with a job's progress, anything that can be pickled

_starting = threading.Lock()  # a new process inherits the environment of the whole parent process


class WorkerDiedError(AgentError):
    """The worker died in every attempt of a job."""


class Job(Future[Result], Generic[Result]):
    """A submitted job and the future of its result; see :meth:`Pool.submit`."""

    def __init__(
        self,
        work: Callable[..., Result],
        arguments: tuple[Any, ...],
        priority: int,
        on_progress: Report | None,
    ) -> None:
        super().__init__()
        self.work, self.arguments = work, arguments
        self.priority, self.on_progress = priority, on_progress


class Pool(ABC):
    """A pool of workers with one job each at a time; a context manager that closes it."""

    def submit(
        self,
        work: Callable[..., Result],
        *arguments: Any,
        priority: int = 0,
        on_progress: Report | None = None,
    ) -> Job[Result]:
        """Submit a job. Ray ignores the last two options.

        Args:
            work: the function to run in a worker. The function, its arguments and the result are
                pickled.
            arguments: of the function.
            priority: jobs with the lowest number start first; those above 0 leave one worker free
                for the others.
            on_progress: called in another thread with the job's reports; the function then gets
                one more argument, a :data:`Report`.

        Returns:
            The future of the result. Its exception is the function's, or
            :class:`WorkerDiedError`.
        """
        job = Job(work, arguments, priority, on_progress)
        self._begin(job)
        return job

    @abstractmethod
    def _begin(self, job: Job[Any]) -> None:
        """Start a job as soon as a worker is idle."""

    @abstractmethod
    def kill(self, job: Job[Any], warm_up: Callable[[], object] | None = None) -> None:
        """Stop a waiting or running job at once; its future is never resolved.

        Args:
            job: the job.
            warm_up: local processes only: the killed process has a successor at once, which calls
                this before its first job.
        """

    @abstractmethod
    def size(self) -> int:
        """Return the number of jobs that can run now, at least 1."""

    @abstractmethod
    def close(self) -> None:
        """Stop all jobs and workers at once."""

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
        """Run a job for each argument; yield argument and result in order of completion.

        Args:
            work: as for :meth:`submit`.
            arguments: an iterator is advanced when a worker is idle, after the results so far have
                been yielded.
            goes_on: called several times a second; once it returns False, unfinished jobs are
                dropped.
            about: describes a job for errors.

        Raises:
            AgentError: the worker died in every attempt. Exception: raised by the work.
        """
        waiting, pending = iter(arguments), dict[Job[Result], Argument]()
        try:
            while goes_on():
                for argument in itertools.islice(waiting, max(0, self.size() - len(pending))):
                    pending[self.submit(work, argument)] = argument
                if not pending:
                    return
                wait(pending, POLL_INTERVAL, FIRST_COMPLETED)
                for job in [one for one in pending if one.done()]:
                    argument = pending.pop(job)
                    try:
                        result = job.result()
                    except WorkerDiedError as error:
                        raise WorkerDiedError(f"{error} while {about(argument)}") from None
                    yield argument, result
        finally:
            for job in pending:
                self.kill(job)


# ---- processes of this machine ----


def default_workers() -> int:
    """Return how many workers this machine has room for (:func:`skyenv.runtime.at_once`)."""
    return at_once(WORKER_BYTES, WORKER_TASKS)


class Processes(Pool):
    """A pool of at most `workers` local processes, started with their first jobs."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._lock = threading.RLock()
        self._waiting: list[Job[Any]] = []
        self._idle: list[_Process] = []
        self._busy: dict[Job[Any], _Process] = {}
        self._drivers: set[threading.Thread] = set()

    def _begin(self, job: Job[Any]) -> None:
        with self._lock:
            self._waiting.append(job)
            self._distribute()

    def kill(self, job: Job[Any], warm_up: Callable[[], object] | None = None) -> None:
        """See :meth:`Pool.kill`."""
        with self._lock:
            job.cancel()
            if job in self._waiting:
                self._waiting.remove(job)
            elif job in self._busy:
                self._busy.pop(job).kill()
                if warm_up is not None:
                    self._idle.insert(0, _Process())  # the last is used first
                    with contextlib.suppress(OSError):  # started with its first job then
                        self._idle[0].start(warm_up)
                self._distribute()

    def size(self) -> int:
        """See :meth:`Pool.size`."""
        return self._workers

    def close(self) -> None:
        """See :meth:`Pool.close`."""
        with self._lock:
            self._workers = 0
            for job in [*self._waiting, *self._busy]:
                self.kill(job)
            for worker in self._idle:
                worker.end()
            drivers = self._drivers.copy()
        for driver in drivers:
            driver.join()

    def _distribute(self) -> None:
        """Give waiting jobs to idle workers; the lock is held."""
        while len(self._busy) < self._workers and (job := self._next()) is not None:
            self._waiting.remove(job)
            worker = self._busy[job] = self._idle.pop() if self._idle else _Process()
            driver = threading.Thread(target=self._drive, args=(job, worker), daemon=True)
            try:
                driver.start()
            except RuntimeError as error:  # the system refuses another thread
                self._idle.append(self._busy.pop(job))
                job.set_exception(error)
            else:
                self._drivers.add(driver)

    def _next(self) -> Job[Any] | None:
        """Return the next job to start; None if none may."""
        low = sum(job.priority > 0 for job in self._busy)
        has_room = self._workers == 1 or low < self._workers - 1
        ready = [job for job in self._waiting if has_room or job.priority == 0]
        return min(ready, key=lambda job: job.priority, default=None)

    def _drive(self, job: Job[Any], worker: "_Process") -> None:
        """Drive a job until it is done."""
        is_wanted, result, error = job.set_running_or_notify_cancel(), None, None
        if is_wanted:
            try:
                result = worker.do(job)
            except Exception as raised:
                error = raised
        with self._lock:
            self._drivers.discard(threading.current_thread())
            if self._busy.pop(job, None) is None:  # it was killed
                worker.end()
            else:
                self._idle.append(worker)
            self._distribute()
        if error is not None:
            job.set_exception(error)
        elif is_wanted:
            job.set_result(result)


class _Process:
    """A worker with a process that is started on demand, and again after its death."""

    def __init__(self) -> None:
        self._process: Any = None
        self._connection: Connection | None = None
        self._is_killed = False
        self._exit_code = 0  # of the last process

    def do(self, job: Job[Any]) -> Any:
        """Return the result of a job, or raise its exception."""
        message = pickle.dumps((job.work, job.arguments, job.on_progress is not None))
        for _ in range(ATTEMPTS):
            connection = self._connection or self.start()
            try:
                if self._is_killed:  # while the process started
                    raise EOFError
                connection.send_bytes(message)
                while (answer := connection.recv())[0] is None:
                    assert job.on_progress is not None
                    job.on_progress(answer[1])
            except (EOFError, OSError):  # the process has died
                self.end()
                if self._is_killed:
                    raise CancelledError from None
            else:
                if not answer[0]:
                    raise answer[1]
                return answer[1]
        why = " of signal 9, as when memory is short" if self._exit_code == KILLED else ""
        raise WorkerDiedError(f"{ATTEMPTS} processes died{why}")

    def start(self, warm_up: Callable[[], object] | None = None) -> Connection:
        """Start the process; it calls `warm_up` before its first job."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, warm_up), name="worker", daemon=True)
        with theirs, for_a_worker():
            process.start()
        self._process, self._connection = process, ours
        return ours

    def kill(self) -> None:
        """Kill the process and its job."""
        self._is_killed = True
        process = self._process  # its driver may clear it meanwhile
        if process is not None:
            process.kill()

    def end(self) -> None:
        """Stop the process, if any, and wait for its end."""
        if self._process is not None and self._connection is not None:
            self._process.kill()
            self._process.join()
            self._exit_code = self._process.exitcode
            self._connection.close()
        self._process = self._connection = None


@contextlib.contextmanager
def for_a_worker() -> Iterator[None]:
    """Set the environment in which a worker starts: one thread per library, this process's rules,
    and signals to stop blocked until the worker ignores them.
    """
    with _starting:
        wanted = {**ONE_THREAD, variant.ENVIRONMENT: variant.TEXT}
        before = {name: os.environ.get(name) for name in wanted}
        blocks = hasattr(signal, "pthread_sigmask")  # not on Windows
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, OF_PARENT) if blocks else None
        try:
            os.environ.update(wanted)
            # multiprocessing starts it with the first process, and lets SIGINT through when it has
            resource_tracker.ensure_running()
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_BLOCK, OF_PARENT)
            yield
        finally:
            if mask is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def _serve(connection: Connection, warm_up: Callable[[], object] | None) -> None:
    """Call `warm_up`, then run jobs one after the other until the parent closes the pipe.

    Ignore signals to stop but SIGTERM, and exit with the parent process however it ends.
    """
    for number in OF_PARENT:
        signal.signal(number, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait_for([parent.sentinel]), os._exit(1)), daemon=True).start()
    report: Callable[[Any], None] = lambda value: connection.send((None, value))  # noqa: E731
    if warm_up is not None:
        with contextlib.suppress(Exception):  # jobs meet and report it
            warm_up()
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


def portable(error: BaseException) -> Exception:
    """Return a worker's error in a form that can be pickled, with its traceback as a note.

    Errors that hold a lock or take several arguments cannot be pickled. Those that are not
    Exceptions, such as SystemExit, would end the receiving process.
    """
    where = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = AgentError(cause(error))
    if not isinstance(error, Exception):
        error = AgentError(f"an agent raised {cause(error)}")
    error.add_note(where)
    return error
