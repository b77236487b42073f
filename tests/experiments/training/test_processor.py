"""How a process that trains uses its processor and its memory."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PAGES = """
import resource, sys
import numpy as np
import torch
from experiments.training.processor import use_processor
if sys.argv[1] == "kept":
    use_processor(1)
    assert torch.get_num_threads() == 1
np.ones(3_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    np.ones(3_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Makes an array of 24 MB, 5,860 pages of 4 KiB (or a dozen huge ones), ten times more, and tells
how many pages were new.
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_arrays_have_the_memory_of_those_that_are_gone() -> None:
    new_pages = {}
    for how in ("left", "kept"):
        command = [sys.executable, "-W", "error", "-c", PAGES, how]
        new_pages[how] = int(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
    assert new_pages["kept"] < new_pages["left"] / 5
