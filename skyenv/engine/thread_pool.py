"""A pool of threads for the steps of large batches."""

import contextlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

DECISIONS_PER_THREAD: Final = 512
"""Decisions per thread in a call; waking a thread costs as much as a few hundred."""
# Factor on that number without observations, which take most of the time.
UNOBSERVED: Final = 4
MAX_THREADS: Final = 1024
Call: TypeAlias = Future[None]


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the pool of a process; a forked process has none of its parent's threads."""
    return ThreadPoolExecutor(MAX_THREADS, "skyenv")


def _submit(calls: Iterable[Call], function: Callable[[], None]) -> None:
    """Call a function for each future in a thread, as long as the system allows threads.

    The executor's own futures would be lost with the thread that can't start.
    """
    try:
        for call in calls:
            _pool(os.getpid()).submit(_begin, call, function)
    except RuntimeError:
        _pool.cache_clear()  # as its queue would grow


def _begin(call: Call, function: Callable[[], None]) -> None:
    """Call a function, unless its future is cancelled already."""
    if call.set_running_or_notify_cancel():
        try:
            function()
            call.set_result(None)
        except BaseException as error:
            call.set_exception(error)


def worthwhile_threads(decisions: int, observed: bool) -> int:
    """Return the suitable number of threads for a number of decisions in one call."""
    return max(1, decisions // (DECISIONS_PER_THREAD * (1 if observed else UNOBSERVED)))


def run(play: Callable[[int], None], parts: int) -> None:
    """Call `play` with 0 … parts − 1, in this thread and others, and wait for all.

    This thread plays the parts that no other one takes, as where the system refuses threads.

    Raises:
        BaseException: an error of `play` in any thread, or KeyboardInterrupt; all calls have then
            ended, and if it hit between two calls, one may be missing.
    """
    left: SimpleQueue[int] = SimpleQueue()
    for part in range(parts):
        left.put(part)

    def work() -> None:
        with contextlib.suppress(Empty):
            while True:
                play(left.get_nowait())

    others = [Call() for _ in range(1, parts)]
    try:
        _submit(others, work)
        work()
    except KeyboardInterrupt:
        work()
        raise
    finally:
        running = [call for call in others if not call.cancel()]
        try:
            wait(running)
        except KeyboardInterrupt:  # raised once no call is under way
            wait(running)
            raise
    for call in running:
        call.result()
