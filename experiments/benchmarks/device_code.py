"""What the GPU's code needs of it: ``python -m experiments.benchmarks.device_code`` prints
registers and memory of every kernel.

Kernels are compiled to PTX and by NVIDIA's assembler to machine code, for which no GPU is needed
(but the extra ``[cuda]``). A multiprocessor has 65,536 registers and room for 2,048 threads: a
kernel of more than 32 registers a thread fills it in part, as the last column says, and one of more
than 255, or with arrays of its own, keeps some of what it works with in slow memory.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Final, NamedTuple
from unittest import mock

import numpy as np

from skyenv.checks import check_choice
from skyenv.cuda import kernels
from skyenv.cuda.arrays import cuda
from skyenv.engine.kernels import SLOT_DTYPE
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.engine.observation import CODES_DTYPE
from skyenv.errors import OptionError, install_hint
from skyenv.rules.state import GAME_DTYPE
from skyenv.rules.tape import TAPE_DTYPE
from skyenv.tables import columns
from skyenv_agents.heuristic import device as heuristic_device
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE
from skyenv_agents.heuristic.weights import WEIGHTS_DTYPE

REGISTERS: Final = 65_536
"""Of a multiprocessor, in all kinds of GPU since 2012."""
MOST_THREADS: Final = 2048
"""Of a multiprocessor (of an H100, H200 or A100)."""
CAPABILITY: Final = (9, 0)
"""Of an H100 or H200."""

_GAMES: Final = (GAME_DTYPE, 1)
_WORDS: Final = (np.uint32, 1)
_SLOTS: Final = (SLOT_DTYPE, 1)
_NUMBERS: Final = (np.int64, 1)
_FLAGS: Final = (np.bool_, 1)
_MASK: Final = (np.int8, 2)
_REWARDS: Final = (np.float32, 2)
_TAPE: Final = (TAPE_DTYPE, 1)
_CODES: Final = (CODES_DTYPE, 1)
_TOLD: Final = (_MASK, _NUMBERS, _REWARDS, _FLAGS, _FLAGS)

SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    "check": (_SLOTS, _NUMBERS, _NUMBERS, _NUMBERS, int, _NUMBERS),
    "play": (
        _GAMES,
        _WORDS,
        _SLOTS,
        _REWARDS,
        _FLAGS,
        _FLAGS,
        _WORDS,
        _TAPE,
        _NUMBERS,
        _NUMBERS,
        _NUMBERS,
        int,
    ),
    "settle": (_GAMES, _WORDS, _SLOTS, _MASK, _NUMBERS, _WORDS, _TAPE, _NUMBERS, _NUMBERS, bool),
    "see": (_GAMES, _NUMBERS, _NUMBERS, _CODES),
    "play_random": (_GAMES, _WORDS, _SLOTS, *_TOLD, _WORDS, _WORDS, _TAPE, int, bool, int, int),
    "reset": (_GAMES, _WORDS, _SLOTS, *_TOLD, _WORDS, _TAPE, _NUMBERS, _NUMBERS),
    "look": (_GAMES, _NUMBERS, _NUMBERS, _CODES),
    "scale": ((np.int16, 1), (np.float32, 1), _NUMBERS, _NUMBERS, (np.float32, 2)),
    "uniforms": (_GAMES, _NUMBERS, int, int, (np.float64, 1)),
    "judge_rows": (
        _GAMES,
        _WORDS,
        _MASK,
        _NUMBERS,
        (np.float64, 1),
        (WEIGHTS_DTYPE, 1),
        (VIEW_DTYPE, 1),
        _WORDS,
        (HEURISTIC_DTYPE, 1),
        _NUMBERS,
        (np.float64, 2),
    ),
}
"""The kernels of :mod:`skyenv.cuda.kernels`, and that of :mod:`skyenv_agents.heuristic.device`,
with their arguments: int, bool,
or an array's dtype and axes."""


class Usage(NamedTuple):
    """What a thread of a kernel needs.

    Attributes:
        registers: of 32 bits.
        local_bytes: of memory for what has no room in registers.
        code_bytes: the machine code's size.
    """

    registers: int
    local_bytes: int
    code_bytes: int

    @property
    def occupancy(self) -> float:
        """The share of a multiprocessor's threads that its registers allow, from 0 to 1."""
        return (
            min(MOST_THREADS, REGISTERS // self.registers // kernels.THREADS * kernels.THREADS)
            / MOST_THREADS
        )


@contextlib.contextmanager
def without_a_gpu() -> Iterator[None]:
    """Compile where there is no GPU to ask for its kind: Numba asks for it for the functions that a
    kernel calls.
    """
    from numba.cuda import dispatcher

    device = SimpleNamespace(compute_capability=CAPABILITY)
    with mock.patch.object(dispatcher, "get_current_device", return_value=device):
        yield


def ptx_of(name: str, capability: tuple[int, int] = CAPABILITY) -> str:
    """PTX of a kernel.

    Args:
        name: of SIGNATURES.
        capability: the kind of GPU.

    Raises:
        OptionError: there is no such kernel, or NVIDIA's compiler isn't there.
    """
    from numba import from_dtype, types

    module = heuristic_device if hasattr(heuristic_device, name) else kernels
    plain = {int: types.int64, bool: types.boolean}
    signature = SIGNATURES[check_choice("kernel", name, tuple(SIGNATURES))]
    arguments = [
        plain[one]
        if isinstance(one, type)
        else types.Array(from_dtype(np.dtype(one[0])), one[1], "C")
        for one in signature
    ]
    try:
        ptx, _ = cuda.compile_ptx(
            getattr(module, name).py_func, types.void(*arguments), cc=capability
        )
    except Exception as error:
        if "libnvrtc" in str(error) or "libnvvm" in str(error):
            raise OptionError(f"NVIDIA's compiler isn't there; {install_hint('cuda')}") from error
        raise
    return str(ptx)


def usage(name: str, capability: tuple[int, int] = CAPABILITY) -> Usage:
    """What a thread of a kernel needs, as NVIDIA's assembler tells.

    Raises:
        OptionError: as for :func:`ptx_of`.
    """
    from cuda.core import Linker, LinkerOptions, ObjectCode

    options = LinkerOptions(
        arch=f"sm_{capability[0]}{capability[1]}", ptxas_options="-v", verbose=True
    )
    linker = Linker(ObjectCode.from_ptx(ptx_of(name, capability).encode()), options=options)
    code = linker.link("cubin").code
    log = linker.get_info_log()
    used = re.findall(r"used (\d+) registers,.* (\d+) stack.* (\d+) bytes lmem", log)
    return Usage(int(used[-1][0]), int(used[-1][1]) + int(used[-1][2]), len(code))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.benchmarks.device_code",
        description="What the GPU's code needs.",
    )
    parser.parse_args(arguments)
    rows = []
    with without_a_gpu():
        for name in SIGNATURES:
            started = time.process_time()
            need = usage(name)
            seconds = time.process_time() - started
            rows.append(
                (
                    name,
                    f"{need.registers}",
                    f"{need.local_bytes}",
                    f"{need.code_bytes:,}",
                    f"{seconds:.1f}",
                    f"{need.occupancy:.0%}",
                )
            )
    print(
        columns(
            [
                (
                    "kernel",
                    "registers",
                    "bytes of local memory",
                    "bytes of code",
                    "s to compile",
                    "threads that fit",
                ),
                *rows,
            ]
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
