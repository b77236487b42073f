"""What runs on the GPU compiles for it, to PTX, for which no GPU is needed."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from skyenv.cuda import kernels
from skyenv.engine.kernels import SLOT_DTYPE
from skyenv.engine.observation import CODES_DTYPE
from skyenv.rules.compiling import COMPILED
from skyenv.rules.state import GAME_DTYPE
from skyenv.rules.tape import TAPE_DTYPE

pytestmark = [pytest.mark.long, pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")]

GAMES = (GAME_DTYPE, 1)
WORDS = (np.uint32, 1)
SLOTS = (SLOT_DTYPE, 1)
NUMBERS = (np.int64, 1)
FLAGS = (np.bool_, 1)
MASK = (np.int8, 2)
REWARDS = (np.float32, 2)
TAPE = (TAPE_DTYPE, 1)
CODES = (CODES_DTYPE, 1)
TOLD = (MASK, NUMBERS, REWARDS, FLAGS, FLAGS)

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "check": (SLOTS, NUMBERS, NUMBERS, NUMBERS, int, NUMBERS),
    "play": (
        GAMES,
        WORDS,
        SLOTS,
        REWARDS,
        FLAGS,
        FLAGS,
        WORDS,
        TAPE,
        NUMBERS,
        NUMBERS,
        NUMBERS,
        int,
    ),
    "settle": (GAMES, WORDS, SLOTS, MASK, NUMBERS, WORDS, TAPE, NUMBERS, NUMBERS, bool),
    "see": (GAMES, NUMBERS, NUMBERS, CODES),
    "play_random": (GAMES, WORDS, SLOTS, *TOLD, WORDS, WORDS, TAPE, int, bool, int, int),
    "reset": (GAMES, WORDS, SLOTS, *TOLD, WORDS, TAPE, NUMBERS, NUMBERS),
    "look": (GAMES, NUMBERS, NUMBERS, CODES),
    "scale": ((np.int16, 1), (np.float32, 1), NUMBERS, NUMBERS, (np.float32, 2)),
    "uniforms": (GAMES, NUMBERS, int, int, (np.float64, 1)),
}
"""The kernels with their arguments: int, bool, or an array's dtype and axes."""


@pytest.mark.parametrize("name", SIGNATURES)
def test_compiles_without_memory_of_its_own(name: str) -> None:
    """A kernel calls nothing that allocates, and nothing that isn't there."""
    pytest.importorskip(
        "numba_cuda", reason="numba-cuda isn't installed: pip install 'numba-cuda[cu13]'"
    )
    from numba import cuda, from_dtype, types
    from numba.cuda import dispatcher

    plain = {int: types.int64, bool: types.boolean}
    arguments = [
        plain[one]
        if isinstance(one, type)
        else types.Array(from_dtype(np.dtype(one[0])), one[1], "C")
        for one in SIGNATURES[name]
    ]
    kernel = getattr(kernels, name)
    # Numba asks the GPU for its kind, for the functions that a kernel calls.
    gpu = SimpleNamespace(compute_capability=(8, 0))
    with mock.patch.object(dispatcher, "get_current_device", return_value=gpu):
        ptx, _ = cuda.compile_ptx(kernel.py_func, types.void(*arguments), cc=(8, 0))
    assert ".target sm_80" in ptx
    assert ".entry" in ptx
    assert "NRT_" not in ptx, "it allocates"
    assert re.findall(r"^\.extern \.func", ptx, re.MULTILINE) == []


def test_all_kernels_are_compiled() -> None:
    made = {
        name
        for name, thing in vars(kernels).items()
        if hasattr(thing, "py_func") and thing.__module__ == kernels.__name__
    }
    assert made == set(SIGNATURES)
