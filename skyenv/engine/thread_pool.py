"""A pool of threads for the steps of large batches."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final

DECISIONS_PER_THREAD: Final = 512
"""Decisions in a call that are worth another thread: waking one costs as much as some hundred."""
UNOBSERVED: Final = 4
"""Factor by which that number is higher without observations, which take most of the time."""
MOST_THREADS: Final = 1024

_pool = ThreadPoolExecutor(MOST_THREADS, "skyenv")


def cores() -> int:
    """Return how many cores this process may use."""
    has_affinity = hasattr(os, "sched_getaffinity")  # not on every system
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def worthwhile_threads(decisions: int, observed: bool) -> int:
    """Return the number of threads that so many decisions in one call are worth."""
    return max(1, decisions // (DECISIONS_PER_THREAD * (1 if observed else UNOBSERVED)))


def sensible_threads(num_games: int, observed: bool) -> int:
    """Return the number of threads that steps of so many games are worth, at most one per core."""
    return min(cores(), MOST_THREADS, worthwhile_threads(num_games, observed))


def run(play: Callable[[int], None], parts: int) -> None:
    """Call `play` with 0 in this thread and with 1 … parts − 1 in others, and wait for all.

    Raises:
        BaseException: what `play` raised in any thread, or KeyboardInterrupt; no call is under way
            then either.
    """
    others: list[Future[None]] = []
    try:
        others.extend(_pool.submit(play, part) for part in range(1, parts))
        play(0)
    finally:
        try:
            wait(others)
        except KeyboardInterrupt:  # raised once no call is under way
            wait(others)
            raise
    for other in others:
        other.result()


def _start_again() -> None:
    """Replace the pool in a forked process, where its threads don't exist."""
    global _pool
    _pool = ThreadPoolExecutor(MOST_THREADS, "skyenv")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_again)
