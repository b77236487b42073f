"""Tests of the instructions that compiled loops use, in threads and at places that there aren't."""

from __future__ import annotations

import threading
from typing import Any

import numba
import numpy as np
import pytest

from skyenv.engine.intrinsics import fetch_add, prefetch
from skyenv.rules.compiling import COMPILED, entry_point

needs_compiler = pytest.mark.skipif(not COMPILED, reason="about compiled code")


@entry_point("a test", 0.1)
def _take(counter: Any, row: int, taken: Any) -> None:
    for i in range(len(taken)):
        taken[i] = fetch_add(counter, row, 3)


@entry_point("a test", 0.1)
def _ask_for(array: Any, row: int, byte: int) -> None:
    prefetch(array, row, byte)


def test_no_two_threads_are_given_the_same_number() -> None:
    """Four threads count in one row; the others stay as they are."""
    number = 200_000 if COMPILED else 500
    counter, taken = np.full((3, 8), 7, np.int64), np.zeros((4, number), np.int64)
    threads = [threading.Thread(target=_take, args=(counter, 1, mine)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken.reshape(-1).tolist()) == list(range(7, 7 + 3 * 4 * number, 3))
    wanted = np.full((3, 8), 7, np.int64)
    wanted[1, 0] += 3 * 4 * number
    assert np.array_equal(counter, wanted)


@pytest.mark.parametrize(
    ("row", "byte"), [(0, 0), (1, 7), (-1, -64), (10**12, 5), (-(2**62), 2**61)]
)
def test_asking_for_memory_changes_nothing(row: int, byte: int) -> None:
    """Nor does it matter whether it is there."""
    array = np.arange(6.0).reshape(2, 3)
    _ask_for(array, row, byte)
    assert np.array_equal(array, np.arange(6.0).reshape(2, 3))


@needs_compiler
def test_memory_is_asked_for() -> None:
    """Whatever the processor: the instruction is there, to write."""

    @numba.njit  # type: ignore[untyped-decorator]  # nothing of this is kept on disk, where no code to be read is
    def ask(array: Any, row: int) -> None:
        prefetch(array, row, 0)

    ask(np.zeros((1, 2, 5), np.int8), 0)
    compiled: Any = ask
    assert any("call void @llvm.prefetch" in code for code in compiled.inspect_llvm().values())
