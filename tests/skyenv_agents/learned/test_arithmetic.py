"""A layer's product: what it is, and that it is the same in any batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyenv.rules.compiling import COMPILED
from skyenv_agents.learned.arithmetic import products

TYPES = (np.float32, np.float64)


def drawn(seed: int, shape: tuple[int, ...], kind: Any, zeros: float = 0.5) -> Any:
    """Numbers, a share of which is 0."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * (rng.random(shape) >= zeros)).astype(kind)


@pytest.mark.parametrize("kind", TYPES)
@given(
    seed=st.integers(0, 999),
    number=st.integers(0, 6),
    inputs=st.integers(1, 40),
    outputs=st.integers(1, 9),
    zeros=st.floats(0, 1),
)
def test_is_the_matrix_product(
    kind: Any, seed: int, number: int, inputs: int, outputs: int, zeros: float
) -> None:
    rows = drawn(seed, (number, inputs), kind, zeros)
    weight, bias = drawn(seed + 1, (inputs, outputs), kind, 0), drawn(seed + 2, (outputs,), kind, 0)
    result = products(rows, weight, bias)
    assert result.dtype == kind
    wanted = rows.astype(np.float64) @ weight + bias
    assert np.allclose(result, wanted, atol=1e-4 if kind == np.float32 else 1e-12)


def test_several_axes_in_front_stay() -> None:
    rows, weight, bias = (
        drawn(1, (5, 3, 4), np.float32),
        drawn(2, (4, 2), np.float32),
        drawn(3, (2,), np.float32),
    )
    result = products(rows, weight, bias)
    assert result.shape == (5, 3, 2)
    assert np.array_equal(result[3, 1], products(rows[3, 1:2], weight, bias)[0])


@pytest.mark.skipif(not COMPILED, reason="plain Python leaves it to NumPy")
@pytest.mark.parametrize("kind", TYPES)
def test_a_row_is_the_same_in_any_batch_bit_for_bit(kind: Any) -> None:
    rows, weight, bias = drawn(4, (70, 300), kind), drawn(5, (300, 33), kind), drawn(6, (33,), kind)
    whole = products(rows, weight, bias)
    for number in (1, 2, 7, 64):
        assert np.array_equal(products(rows[:number], weight, bias), whole[:number])
    assert np.array_equal(products(np.asfortranarray(rows), weight, bias), whole), (
        "however the rows lie in memory"
    )
    assert np.array_equal(products(rows[::-2], weight, bias), whole[::-2])


@pytest.mark.skipif(not COMPILED, reason="plain Python leaves it to NumPy")
def test_sums_in_the_order_of_the_inputs() -> None:
    """1 + 10⁸ − 10⁸ is 0 in single precision: in this order, on every machine."""
    one = np.ones((3, 1), np.float32)
    for row, wanted in (([1, 1e8, -1e8], 0.0), ([1e8, -1e8, 1], 1.0)):
        assert products(np.array([row], np.float32), one, np.zeros(1, np.float32))[0, 0] == wanted
