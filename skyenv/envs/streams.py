"""Seeds for one game after another: a small stream of random numbers per row of a batch.

A row's stream depends on the row's own seed alone (SplitMix64, a counter and a mixing function), so a single environment
and a row of a batch that were given the same seed go on with the same games. Nothing here touches a global generator.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.errors import OptionError, shown

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

NUM_SEEDS = 1 << 63
"""Seeds of games are 0 … NUM_SEEDS − 1."""

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


def check_seed(seed: Any) -> int:
    """Return the seed of a game that the option `seed` means, 0 … 2^63 − 1.

    Raises:
        OptionError: `seed` is not such an integer.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        raise OptionError(f"seed must be an integer, not {shown(seed)}") from None
    if not 0 <= number < NUM_SEEDS:
        raise OptionError(f"seed must be from 0 to 2⁶³ − 1, not {shown(number)}")
    return number


def fresh_seeds(count: int) -> Int64:
    """`count` seeds from the operating system's entropy, int64 (count,)."""
    return np.random.default_rng().integers(NUM_SEEDS, size=count, dtype=np.int64)


class Streams:
    """One stream of random numbers per row.

    Attributes:
        state: uint64 (n,), the counters; copying it copies the streams.
        seeded: bool (n,), whether the row's stream was ever seeded.
    """

    def __init__(self, num_rows: int) -> None:
        self.state: UInt64 = np.zeros(num_rows, dtype=np.uint64)
        self.seeded: npt.NDArray[np.bool_] = np.zeros(num_rows, dtype=np.bool_)

    def seed(self, seeds: npt.ArrayLike, rows: Int64) -> None:
        """Start the streams of `rows` anew, each from its own seed (0 … 2^63 − 1, one per row)."""
        self.state[rows] = np.asarray(seeds, dtype=np.uint64)
        self.seeded[rows] = True

    def seeds(self, rows: Int64) -> Int64:
        """The next seed of each of `rows`, int64 (k,) in 0 … 2^63 − 1."""
        return (self._next(rows) >> np.uint64(1)).astype(np.int64)

    def uniform(self, rows: Int64) -> npt.NDArray[np.float64]:
        """A number for each of `rows`, float64 (k,) in [0, 1)."""
        return (self._next(rows) >> np.uint64(11)).astype(np.float64) * _UNIT

    def _next(self, rows: Int64) -> UInt64:
        state = self.state[rows] + _GAMMA
        self.state[rows] = state
        mixed = (state ^ (state >> np.uint64(30))) * _MIX_1
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_2
        mixed = mixed ^ (mixed >> np.uint64(31))
        return mixed


def row_seeds(seed: int | Sequence[int | None] | None, rows: Int64, num_rows: int) -> list[int | None]:
    """What a batch's option `seed` means for each of `rows`.

    An integer s means s + i for row i; a sequence holds one entry per row of the whole batch; None, alone or in the
    sequence, means the row's next seed.

    Raises:
        OptionError: the sequence has another length, or a seed is not an integer or negative.
    """
    if seed is None:
        return [None] * rows.size
    if isinstance(seed, (Sequence, np.ndarray)):
        if len(seed) != num_rows:
            raise OptionError(f"seed has {len(seed)} entries; there are {num_rows} games")
        given = [seed[row] for row in rows.tolist()]
        return [None if entry is None else check_seed(entry) for entry in given]
    first = check_seed(seed)
    return [(first + row) % NUM_SEEDS for row in rows.tolist()]
