"""How many threads arithmetic takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from experiments.training.threads import use_threads


def of_numpy() -> set[int]:
    """Threads of the libraries that multiply NumPy's matrices."""
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    use_threads(before)


@pytest.mark.parametrize("number", [2, 1])
def test_both_libraries_take_as_many_as_they_are_told(number: int) -> None:
    use_threads(number)
    assert torch.get_num_threads() == number
    assert of_numpy() == {number}
