"""What one episode after another draws: a small stream of random numbers per row of a batch.

A row's stream depends on the row's own seed alone, so a single environment and a row of a batch
that were given the same seed go on with the same games. It is a one-way function (BLAKE2b, keyed
with the seed, of a counter): a game's seed, a learner's seat and its opponents, which a learner
gets to see or may be told afterwards, say nothing of the seeds of the games that follow. Nothing
here touches a global generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_integer
from skyenv.engine.games import HIGHEST_SEED
from skyenv.errors import OptionError

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

NUMBERS: Final = 8
"""Numbers that an episode draws: those of one digest."""


class Streams:
    """One stream of random numbers per row.

    Attributes:
        key: int64 (n,), the seed that each row's stream was started with.
        drawn: int64 (n,), how often it was drawn from.
        seeded: bool (n,), whether it was ever started.
    """

    def __init__(self, num_rows: int) -> None:
        self.key: Int64 = np.zeros(num_rows, dtype=np.int64)
        self.drawn: Int64 = np.zeros(num_rows, dtype=np.int64)
        self.seeded: npt.NDArray[np.bool_] = np.zeros(num_rows, dtype=np.bool_)

    def seed(self, seeds: npt.ArrayLike, rows: Int64) -> None:
        """Start the streams of `rows` anew, each from its own seed (0 … 2^63 − 1, one per row)."""
        self.key[rows] = seeds
        self.drawn[rows] = 0
        self.seeded[rows] = True

    def draw(self, rows: Int64) -> UInt64:
        """The next numbers of each of `rows`, each once: uint64 (k, NUMBERS)."""
        digests = [
            blake2b(drawn.to_bytes(8, "little"), key=key.to_bytes(8, "little")).digest()
            for drawn, key in zip(self.drawn[rows].tolist(), self.key[rows].tolist(), strict=True)
        ]
        self.drawn[rows] += 1
        return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, NUMBERS).astype(np.uint64)


def as_seeds(numbers: UInt64) -> Int64:
    """Numbers of a stream as seeds of games, 0 … 2^63 − 1."""
    return (numbers >> np.uint64(1)).astype(np.int64)


def as_uniform(numbers: UInt64) -> npt.NDArray[np.float64]:
    """Numbers of a stream as float64 in [0, 1)."""
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def row_seeds(
    seed: int | Sequence[int | None] | None, rows: Int64, num_rows: int
) -> list[int | None]:
    """What a batch's option `seed` means for each of `rows`.

    An integer s means s + i for row i; a sequence holds one entry per row of the whole batch; None,
    alone or in the sequence, means the row's next seed.

    Raises:
        OptionError: the sequence has another length, or a seed is not an integer or negative.
    """
    if seed is None:
        return [None] * rows.size
    if isinstance(seed, (Sequence, np.ndarray)):
        if len(seed) != num_rows:
            raise OptionError(f"seed has {len(seed)} entries; there are {num_rows} games")
        given = [seed[row] for row in rows.tolist()]
        return [
            None if entry is None else check_integer("seed", entry, 0, HIGHEST_SEED)
            for entry in given
        ]
    first = check_integer("seed", seed, 0, HIGHEST_SEED)
    return [(first + row) & HIGHEST_SEED for row in rows.tolist()]
