"""How many threads a training's arithmetic takes."""

from __future__ import annotations

import torch
from threadpoolctl import threadpool_limits


def use_threads(number: int) -> None:
    """Let PyTorch and NumPy use so many threads in this process.

    NumPy plays past policies, and would take all cores for each of its small products, which then wait for each other.
    """
    torch.set_num_threads(number)
    threadpool_limits(number, user_api="blas")
