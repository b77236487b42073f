"""Copies of games."""

from typing import Any, Self

import numpy as np

from skyenv.array_types import AnyArray


class Copyable:
    """The base of objects that ``copy.copy`` and ``copy.deepcopy`` copy by :meth:`copy`."""

    def copy(self) -> Self:
        """Return an independent object in the same position, which continues exactly as this one
        would.
        """
        raise NotImplementedError

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()


def copied(array: AnyArray) -> AnyArray:
    """Copy an array; contiguous records as bytes, as NumPy copies fields ten times as slowly."""
    if array.dtype.names is None or not array.flags.c_contiguous:
        return array.copy()
    return array.view(np.uint8).copy().view(array.dtype)
