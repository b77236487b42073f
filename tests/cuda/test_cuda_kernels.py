"""The GPU's code compiles to PTX, for which no GPU is needed."""

import re
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from skyenv import GameOptions
from skyenv.cuda import kernels
from skyenv.engine.arrays import new_arrays
from skyenv.rules.compiling import COMPILED

pytestmark = [pytest.mark.long, pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")]

NUMBERS = np.zeros(1, np.int64)
ARRAYS = new_arrays(GameOptions(), 1, observation=True, autoreset=True)
ARRAYS = ARRAYS._replace(state_words=ARRAYS.state.view(np.uint32).reshape(1, -1))
# The kernels, with arguments of the types that they get.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "check": (ARRAYS.slots, NUMBERS, NUMBERS, NUMBERS, 1, NUMBERS),
    "play": (ARRAYS, NUMBERS, NUMBERS, NUMBERS),
    "settle": (ARRAYS, NUMBERS, NUMBERS),
    "play_random": (ARRAYS, 1, 1),
    "reset": (ARRAYS, NUMBERS, NUMBERS),
    "observe": (ARRAYS, NUMBERS, NUMBERS),
    "observe_seats": (ARRAYS.state, NUMBERS, NUMBERS, ARRAYS.observation),
    "uniforms": (ARRAYS.state, NUMBERS, 1, 1, np.zeros(1)),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_kernels_compile_without_allocations(name: str) -> None:
    """Kernels call no allocation and no undefined function."""
    pytest.importorskip(
        "numba_cuda", reason="numba-cuda isn't installed: pip install 'numba-cuda[cu13]'"
    )
    from numba import cuda, typeof, types
    from numba.cuda import dispatcher

    # Numba asks the GPU for its kind, for the functions that a kernel calls.
    gpu = SimpleNamespace(compute_capability=(8, 0))
    signature = types.void(*map(typeof, ARGUMENTS[name]))
    with mock.patch.object(dispatcher, "get_current_device", return_value=gpu):
        ptx, _ = cuda.compile_ptx(  # type: ignore[attr-defined, no-untyped-call]
            getattr(kernels, name).py_func, signature, cc=(8, 0)
        )
    assert ".target sm_80" in ptx
    assert ".entry" in ptx
    assert "NRT_" not in ptx, "it allocates"
    assert re.findall(r"^\.extern \.func", ptx, re.MULTILINE) == []


def test_every_kernel_is_tested() -> None:
    made = {
        name
        for name, thing in vars(kernels).items()
        if hasattr(thing, "py_func") and thing.__module__ == kernels.__name__
    }
    assert made == set(ARGUMENTS)
