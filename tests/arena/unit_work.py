"""Units of work for tests: what is done in them, and what happens to those who do it."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from skyenv.arena.units import run_units
from skyenv.arena.workers import ONE_THREAD

Pair = tuple[int, ...]


def do(
    work: Callable[[Pair], Any],
    units: Iterator[Pair],
    workers: int = 2,
    until: float = 1e9,
    ray: str | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> dict[Pair, Any]:
    """The results by unit; units are numbers, made of single ones.

    What happens `meanwhile` is called again and again.
    """
    results: dict[Pair, Any] = {}
    end = time.monotonic() + until

    def tick() -> bool:
        meanwhile()
        return time.monotonic() < end

    def done(unit: Pair, result: Any) -> None:
        assert unit not in results
        results[unit] = result

    run_units(
        work,
        units,
        workers,
        ray=ray,
        done=done,
        tick=tick,
        parts=lambda unit: [(number,) for number in unit],
        about=lambda unit: f"{unit} was done",
    )
    assert multiprocessing.active_children() == []
    return results


def doubled(unit: Pair) -> list[int]:
    return [2 * number for number in unit]


def dying(marks: str, how: int, unit: Pair) -> list[int]:
    """Dies over units with a 3 in them, as long as there is room for a mark."""
    if 3 in unit:
        for mark in Path(marks).iterdir():
            mark.unlink()
            os.kill(os.getpid(), how)
    return doubled(unit)


def failing(unit: Pair) -> list[int]:
    if 3 in unit:
        raise ValueError("three")
    return doubled(unit)


class SeveralError(Exception):
    """Pickle would make it again from its text alone."""

    def __init__(self, what: str, where: int) -> None:
        super().__init__(f"{what} at {where}")


def failing_with_several(unit: Pair) -> list[int]:
    raise SeveralError("nothing", 3)


def failing_with_a_lock(unit: Pair) -> list[int]:
    raise ValueError("shut", threading.Lock())


def leaving(unit: Pair) -> list[int]:
    sys.exit(0)


UNSENDABLE: Final = (
    (failing_with_several, "SeveralError: nothing at 3"),
    (failing_with_a_lock, "ValueError: .*shut"),
    (leaving, "^an agent raised SystemExit: 0$"),
)
"""Work whose errors can't be sent as they are, and what is told of them."""


def environment(unit: Pair) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in ONE_THREAD}


def sleeping(file: str, unit: Pair) -> None:
    Path(file).write_text(str(os.getpid()))
    time.sleep(10**6)  # whoever waits for it fails the test
