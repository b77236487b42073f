"""Where games of these tests are played: in Numba's simulator of CUDA and, where there is one, on a
GPU.
"""

from __future__ import annotations

import functools
import os
from typing import Final

import pytest

from processes import ROOT, printed

FOLDERS: Final = os.pathsep.join(str(ROOT / folder) for folder in ("agents", "tests"))
SIMULATED: Final = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": FOLDERS}
REAL: Final = {"NUMBA_ENABLE_CUDASIM": None, "NUMBA_DISABLE_JIT": None, "PYTHONPATH": FOLDERS}

everywhere: Final = pytest.mark.parametrize("place", ["simulator", "gpu"])
"""Marks tests that play in both."""


def variables(place: str) -> dict[str, str | None]:
    """The variables of a process that plays there; skips the test where there is no GPU for it."""
    if place == "simulator":
        return {**SIMULATED}
    if not has_gpu():
        pytest.skip("there is no GPU here that Numba can use")
    return {**REAL}


@functools.cache
def has_gpu() -> bool:
    """Whether Numba finds a GPU; asked in a process of its own, lest this one keep memory there."""
    program = "from skyenv.cuda.kernels import cuda; print(cuda.is_available())"
    return printed("-c", program, environment=REAL).strip() == "True"
