"""A pool of threads for the steps of large batches."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Final

DECISIONS_PER_THREAD: Final = 512
"""Decisions per thread in a call; waking a thread costs as much as a few hundred."""
# Factor on that number without observations, which take most of the time.
UNOBSERVED: Final = 4
MAX_THREADS: Final = 1024


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the pool of a process; a forked process has none of its parent's threads."""
    return ThreadPoolExecutor(MAX_THREADS, "skyenv")


def cores() -> int:
    """Return the number of cores available to this process."""
    has_affinity = hasattr(os, "sched_getaffinity")  # not on every system
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def worthwhile_threads(decisions: int, observed: bool) -> int:
    """Return the suitable number of threads for a number of decisions in one call."""
    return max(1, decisions // (DECISIONS_PER_THREAD * (1 if observed else UNOBSERVED)))


def run(play: Callable[[int], None], parts: int) -> None:
    """Call `play` with 0 in this thread and with 1 … parts − 1 in others, and wait for all.

    Raises:
        BaseException: an error of `play` in any thread, or KeyboardInterrupt; all calls have then
            ended, too.
    """
    others: list[Future[None]] = []
    try:
        pool = _pool(os.getpid())
        others.extend(pool.submit(play, part) for part in range(1, parts))
        play(0)
    finally:
        try:
            wait(others)
        except KeyboardInterrupt:  # raised once no call is under way
            wait(others)
            raise
    for other in others:
        other.result()
