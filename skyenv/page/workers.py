"""Workers that think for the page: agents' turns, hints and analyses, each in a process of its own
beside the server's.

What is asked for is a *job*: a function that can be pickled, such as ``functools.partial(move,
entry, game)``. It is called in a worker with one argument, a function to which it may report how
far it is; what it returns or raises comes back. Jobs change nothing, so one over which a worker
dies is done again by another one.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import pickle
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

from skyenv.arena.workers import begin_worker, for_a_worker
from skyenv.engine.games import cores
from skyenv.errors import AgentError, cause

Result = TypeVar("Result")
Report = Callable[[Any], None]
"""What a job tells how far it is: anything that can be pickled."""
Job = Callable[[Report], Result]

ATTEMPTS: Final = 2
"""So many workers may die over a job before it is given up."""
PATIENCE: Final = 0.5
"""Seconds that a job which nobody wants any more may go on, before its worker is replaced: a new
one takes longer to start.
"""

MOST_GROUPS: Final = 1000
"""Of so many groups it is known when they had their last turn."""


class Priority(IntEnum):
    """What goes first when workers are scarce."""

    TURN = 0
    HINT = 1
    ANALYSIS = 2


class WorkerError(AgentError):
    """Workers died over a job, each time that it was tried."""


class _Task(Generic[Result]):
    """A job that was asked for; see :meth:`Workers.ask` for the arguments."""

    def __init__(
        self,
        job: Job[Result],
        priority: Priority,
        group: str,
        agent: str,
        on_progress: Report | None,
        on_start: Callable[[], None] | None,
        number: int,
    ) -> None:
        self.job = job
        self.priority = priority
        self.group = group
        self.agent = agent
        self.on_start = on_start
        self.number = number
        self.unwanted = False
        self.future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._on_progress = on_progress

    def progress(self, value: Any) -> None:
        """Pass on how far it is, if anybody still wants to know."""
        if self._on_progress is not None and not self.future.done():
            self._on_progress(value)

    def settle(self, result: Result | None, error: BaseException | None) -> None:
        """Hand over what came out, if anybody still wants it."""
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)  # type: ignore[arg-type]


class _Worker:
    """A thread of the server's process that sees to one job at a time, here by doing it.

    Args:
        tell: called in the event loop with the worker, the task, what came out of it and the error,
            when a task has ended.

    Attributes:
        agents: those that its jobs needed so far; they are still in memory.
    """

    def __init__(
        self, tell: Callable[[_Worker, _Task[Any], Any, BaseException | None], None]
    ) -> None:
        self.agents: set[str] = set()
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._inbox: SimpleQueue[_Task[Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="page worker", daemon=True)
        self._thread.start()

    def begin(self, task: _Task[Any]) -> None:
        """Have a job done."""
        self._inbox.put(task)

    def stop(self) -> bool:
        """End the job under way, if that can be; otherwise the worker is of no use until it has
        ended by itself.
        """
        return False

    def close(self) -> None:
        """Begin no more jobs."""
        self._inbox.put(None)

    def join(self) -> None:
        """Wait until it has ended; a thread that does a job itself is left to it."""

    def _work(self) -> None:
        while (task := self._inbox.get()) is not None:
            result, error = self._do(task)
            try:
                self._loop.call_soon_threadsafe(self._tell, self, task, result, error)
            except RuntimeError:  # the loop is closed: nobody wants to know
                return

    def _do(self, task: _Task[Any]) -> tuple[Any, BaseException | None]:
        self.agents.add(task.agent)
        try:
            return task.job(lambda value: self._report(task, value)), None
        except Exception as error:
            return None, error
        except BaseException as error:  # what would end a process
            return None, WorkerError(f"it ended with {type(error).__name__}")

    def _report(self, task: _Task[Any], value: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(task.progress, value)


class _ProcessWorker(_Worker):
    """One that has its jobs done in a process, which is started for the first one and replaced when
    it dies.
    """

    _starting = threading.Lock()  # what new processes inherit is the whole process's

    def __init__(
        self, tell: Callable[[_Worker, _Task[Any], Any, BaseException | None], None]
    ) -> None:
        self._process: Any = None
        self._connection: Connection | None = None
        self._closed = False
        super().__init__(tell)

    @property
    def process_id(self) -> int | None:
        """Of its process; None: it has none now."""
        process = self._process
        return None if process is None else process.pid

    def stop(self) -> bool:
        """See above."""
        process = self._process
        with suppress(ValueError):  # it has ended already
            if process is not None:
                process.kill()
        return True

    def close(self) -> None:
        """See above; the process is ended, whatever it does."""
        self._closed = True
        super().close()
        with self._starting:
            self.stop()

    def join(self) -> None:
        """See above."""
        self._thread.join()

    def _work(self) -> None:
        super()._work()
        self._end()

    def _do(self, task: _Task[Any]) -> tuple[Any, BaseException | None]:
        try:
            job = pickle.dumps(task.job)
        except Exception as error:
            return None, error
        for _ in range(ATTEMPTS):
            if task.unwanted or self._closed:
                break
            try:
                return self._ask(task, job)
            except (EOFError, OSError):  # it has died
                self._end()
            except Exception as error:  # nobody here can read what it answered
                return None, error
        return None, WorkerError(f"{ATTEMPTS} processes died over it")

    def _ask(self, task: _Task[Any], job: bytes) -> tuple[Any, BaseException | None]:
        if self._process is not None and not self._process.is_alive():  # it died while it waited
            self._end()
        connection = self._connection or self._start()
        if (
            task.unwanted or self._closed
        ):  # there was nothing that could be stopped while it was being started
            return None, WorkerError("nobody wants it any more")
        self.agents.add(task.agent)
        connection.send_bytes(job)
        while True:
            kind, value = connection.recv()
            if kind == "done":
                return value, None
            if kind == "failed":
                error, where = value
                error.add_note(where)
                return None, error
            self._report(task, value)

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        with self._starting:
            if self._closed:
                raise EOFError
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs,), name="page worker", daemon=True
            )
            with for_a_worker():
                process.start()
            self._connection, self._process = ours, process  # not before it can be killed
        theirs.close()
        self.agents.clear()
        return ours

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None


def _serve(connection: Connection) -> None:
    """What a worker's process does: jobs, one after the other, until the server closes its end or
    ends itself.
    """
    begin_worker()
    while True:
        try:
            job = connection.recv_bytes()
        except EOFError:
            return
        answer: tuple[str, Any]
        try:
            answer = "done", pickle.loads(job)(lambda value: connection.send(("progress", value)))
        except Exception as error:
            answer = "failed", _portable(error)
        try:
            packed = pickle.dumps(answer)
        except Exception as error:
            packed = pickle.dumps(("failed", _portable(error)))
        connection.send_bytes(packed)


def _portable(error: Exception) -> tuple[Exception, str]:
    """An error that another process can read, and where it came from."""
    where = traceback.format_exc()
    with suppress(Exception):
        copy = pickle.loads(pickle.dumps(error))
        if isinstance(copy, Exception):
            return copy, where
    return AgentError(cause(error)), where


class Workers:
    """A crew of workers; all methods are to be called in one event loop.

    Args:
        number: how many at the most; None: as many as cores, but two at least, so that turns go on
            beside a long hint.
        in_threads: do the jobs in threads of this process, for agents that can't be pickled. They
            can't be ended: a thread whose job nobody wants any more is replaced, and goes on by
            itself.
    """

    def __init__(self, number: int | None = None, *, in_threads: bool = False) -> None:
        self.number = max(2, cores()) if number is None else number
        self._in_threads = in_threads
        self._kind = _Worker if in_threads else _ProcessWorker
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, _Task[Any]] = {}
        self._left: set[_Worker] = set()
        """Threads that still do what nobody wants any more."""
        self._waiting: list[_Task[Any]] = []
        self._held: set[str] = set()
        """Agents that a thread is asking."""
        self._served: dict[str, int] = {}
        self._numbers = itertools.count()

    async def ask(
        self,
        job: Job[Result],
        priority: Priority = Priority.TURN,
        *,
        group: str = "",
        agent: str = "",
        on_progress: Report | None = None,
        on_start: Callable[[], None] | None = None,
    ) -> Result:
        """Have a job done. Who cancels this ends the job.

        Args:
            job: what is to be done; see the module's text.
            priority: jobs of the first kind that waits go first. Hints and analyses leave one
                worker to turns.
            group: on whose behalf, a game's key for instance: groups take turns, so that none waits
                for all jobs of another.
            agent: the name of the agent that the job needs. It goes to a worker that has it in
                memory, if one is idle. In threads jobs of one agent are done one after the other,
                as it needn't be safe in several.
            on_progress: called with what the job reports.
            on_start: called when a worker begins.

        Raises:
            WorkerError: processes died over it.
            Exception: what the job raised.
        """
        task = _Task(job, priority, group, agent, on_progress, on_start, next(self._numbers))
        self._waiting.append(task)
        self._distribute()
        try:
            return await task.future
        finally:
            task.unwanted = True
            if task in self._waiting:
                self._waiting.remove(task)
            for worker, other in self._busy.items():
                if other is task:
                    asyncio.get_running_loop().call_later(PATIENCE, self._give_up, worker, task)

    def renew(self) -> None:
        """End the processes of idle workers; they are started anew when there is something to
        do.
        """
        for worker in self._idle:
            worker.stop()

    def process_ids(self) -> list[int]:
        """Those of the workers that have a process now."""
        crew = [*self._idle, *self._busy]
        return [
            number
            for one in crew
            if isinstance(one, _ProcessWorker) and (number := one.process_id) is not None
        ]

    def busy(self) -> int:
        """How many jobs are under way."""
        return len(self._busy)

    async def close(self) -> None:
        """End all workers, whatever they do; jobs that wait or are under way are cancelled."""
        for task in [*self._waiting, *self._busy.values()]:
            task.future.cancel()
        crew = [*self._idle, *self._busy, *self._left]
        self._waiting.clear()
        self._idle, self._busy, self._left, self.number = [], {}, set(), 0
        for worker in crew:
            worker.close()
        for worker in crew:
            await asyncio.to_thread(worker.join)

    def _distribute(self) -> None:
        """Give waiting jobs to idle workers."""
        while len(self._busy) < self.number and (task := self._next()) is not None:
            self._waiting.remove(task)
            worker = self._worker_for(task)
            self._busy[worker] = task
            if self._in_threads and task.agent:
                self._held.add(task.agent)
            self._note_served(task.group)
            worker.begin(task)
            if task.on_start is not None:
                task.on_start()

    def _note_served(self, group: str) -> None:
        self._served.pop(group, None)
        self._served[group] = next(self._numbers)
        if len(self._served) > MOST_GROUPS:
            del self._served[next(iter(self._served))]

    def _next(self) -> _Task[Any] | None:
        """The job that should be begun now; None: none may."""
        long = sum(task.priority > Priority.TURN for task in self._busy.values())
        free = self.number == 1 or long < self.number - 1
        those = [
            task
            for task in self._waiting
            if task.agent not in self._held and (free or task.priority == Priority.TURN)
        ]
        return min(
            those,
            key=lambda task: (task.priority, self._served.get(task.group, -1), task.number),
            default=None,
        )

    def _worker_for(self, task: _Task[Any]) -> _Worker:
        """An idle worker, if possible one that has what the job needs; a new one if there is
        none.
        """
        if not self._idle:
            return self._kind(self._done)
        best = max(self._idle, key=lambda worker: task.agent in worker.agents)
        self._idle.remove(best)
        return best

    def _done(
        self, worker: _Worker, task: _Task[Any], result: Any, error: BaseException | None
    ) -> None:
        self._held.discard(task.agent)
        if self._busy.pop(worker, None) is not None:
            self._idle.append(worker)
        elif worker in self._left:
            self._left.remove(worker)
            worker.close()
        task.settle(result, error)
        self._distribute()

    def _give_up(self, worker: _Worker, task: _Task[Any]) -> None:
        """End a job that nobody wants any more, if it is still under way."""
        if self._busy.get(worker) is task and not worker.stop():
            del self._busy[worker]
            self._left.add(worker)
            self._distribute()
