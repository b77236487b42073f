"""What runs on the GPU compiles for it, for which no GPU is needed: to PTX, and from that to
machine code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from skyenv.rules.compiling import COMPILED

pytestmark = [pytest.mark.long, pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")]
MOST = {"judge_rows": (255, 512)}
"""Registers (as many as a thread can have) and bytes of memory of its own that are more than usual.
"""
KERNELS = (
    "check",
    "judge_rows",
    "look",
    "play",
    "play_random",
    "reset",
    "scale",
    "see",
    "settle",
    "uniforms",
)


@pytest.fixture(scope="module")
def device_code() -> Iterator[Any]:
    pytest.importorskip(
        "numba_cuda", reason="numba-cuda isn't installed: pip install 'numba-cuda[cu13]'"
    )
    from experiments.benchmarks import device_code

    with device_code.without_a_gpu():
        yield device_code


@pytest.mark.parametrize("name", KERNELS)
def test_compiles_without_memory_of_its_own(device_code: Any, name: str) -> None:
    """It calls nothing that allocates and nothing that isn't there, and keeps what it works with in
    registers, or nearly so.
    """
    ptx = device_code.ptx_of(name, (8, 0))
    assert ".target sm_80" in ptx
    assert ".entry" in ptx
    assert "NRT_" not in ptx, "it allocates"
    assert re.findall(r"^\.extern \.func", ptx, re.MULTILINE) == [], (
        "it calls something that isn't there"
    )
    usage = device_code.usage(name, (9, 0))
    registers, local_bytes = MOST.get(name, (128, 0))
    assert 0 < usage.registers <= registers
    assert usage.local_bytes <= local_bytes


def test_all_kernels_are_looked_at() -> None:
    from experiments.benchmarks import device_code
    from skyenv.cuda import kernels
    from skyenv_agents.heuristic import device

    things = [
        (module, name, thing)
        for module in (kernels, device)
        for name, thing in vars(module).items()
    ]
    made = {
        name
        for module, name, thing in things
        if hasattr(thing, "py_func") and thing.__module__ == module.__name__
    }
    assert made == set(device_code.SIGNATURES) == set(KERNELS)
