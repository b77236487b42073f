"""How a process that trains uses its processor and its memory."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

import torch

TRIM_THRESHOLD: Final = -1
MMAP_THRESHOLD: Final = -3
"""What glibc's malloc.h calls M_TRIM_THRESHOLD and M_MMAP_THRESHOLD."""
KEPT: Final = (1 << 30, 1 << 25)
"""Bytes; older versions of it refuse the first."""


def use_processor(threads: int) -> None:
    """Compute in so many threads, and keep the memory of arrays that are gone for the next ones.

    Otherwise the C library gives it back to the system, which clears every page of it before the
    next array has it: a tenth of a learner's time. Where the C library is another one, this is left
    to it.
    """
    torch.set_num_threads(threads)
    if sys.platform != "linux":
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        for option in (MMAP_THRESHOLD, TRIM_THRESHOLD):
            any(set_option(option, size) for size in KEPT)
