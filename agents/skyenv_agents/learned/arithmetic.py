"""A layer's product, compiled: on one thread, with a result that depends neither on the batch nor
on the machine.

What BLAS libraries make of a product differs in the last bits with the number of rows and the
processor, and on a busy machine their threads wait for each other, a thousand times as long as the
product takes. Here every output is one sum in one order. Zeros, which are most of what a network
sees and half of what its layers say, cost nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.rules.compiling import COMPILED, entry_point
from skyenv.rules.state import Array


@entry_point("networks", 1)
def _write_products(rows: Array, weight: Array, bias: Array, out: Array) -> None:
    """Write rows · weight + bias into `out`; (n, k), (k, m), (m,), (n, m), all of one type."""
    for i in range(len(rows)):
        for j in range(len(bias)):
            out[i, j] = bias[j]
        for t in range(rows.shape[1]):
            value = rows[i, t]
            if value != 0:
                for j in range(len(bias)):
                    out[i, j] += value * weight[t, j]


def products(
    rows: npt.NDArray[Any], weight: npt.NDArray[Any], bias: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Rows · weight + bias.

    Args:
        rows: (…, k). weight: (k, m), contiguous. bias: (m,). All float32 or all float64.

    Returns:
        A new array (…, m) of that type.
    """
    flat = np.ascontiguousarray(rows.reshape(-1, weight.shape[0]))
    if COMPILED:
        out = np.empty((len(flat), weight.shape[1]), weight.dtype)
        _write_products(flat, weight, bias, out)
    else:
        out = flat @ weight + bias
    return out.reshape(*rows.shape[:-1], weight.shape[1])
