"""Seeds of games, in separate ranges for training, tuning and evaluation.

Seeds are integers from 0 to 2⁶³−1. Those below 2⁶² are for games with a given seed, for training
and for datasets. Those above are held out, so that no deal behind a rating is trained or tuned on:

==============  =======================  ===========================================================
range           from … below             dealt by
==============  =======================  ===========================================================
`BY_NUMBER`     0 … 10⁹                  callers that name a seed: environments, records, matches
`TRAINING`      10⁹ … 2⁶¹                the trainer; environments, for every seed that nobody named
`DATASETS`      2⁶¹ … 2⁶²                ``python -m skyenv dataset``
`TUNING`        2⁶² … 2⁶² + 2⁶⁰          the tuning that made greedy's weights
`EVALUATION`    2⁶² + 2⁶⁰ … 2⁶² + 2⁶¹    evaluations with a secret
`LADDERS`       2⁶² + 2⁶¹ … 2⁶³          tournaments with a secret, and so all published ladders
==============  =======================  ===========================================================

In the last two and in datasets, :func:`secret_seeds` draws the deals. Any seed can be given again,
such as that of a record. The trainer stays within its range, and published ladders use no other
deals.
"""

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.array_types import Int64
from skyenv.checks import check_integer
from skyenv.errors import OptionError

HIGHEST_SEED: Final = 2**63 - 1

BY_NUMBER: Final = range(10**9)
TRAINING: Final = range(10**9, 2**61)
DATASETS: Final = range(2**61, 2**62)
TUNING: Final = range(2**62, 2**62 + 2**60)
EVALUATION: Final = range(2**62 + 2**60, 2**62 + 2**61)
LADDERS: Final = range(2**62 + 2**61, HIGHEST_SEED + 1)

Seeds = int | Sequence[int] | npt.NDArray[np.integer[Any]]


def fresh_seed() -> int:
    """Return a seed of the training range from the operating system's entropy."""
    return secrets.choice(TRAINING)


def secret_seeds(secret: int, numbers: npt.ArrayLike, purpose: range = EVALUATION) -> Int64:
    """Return seeds for numbered games that can't be guessed without a secret.

    An agent that guesses a game's seed knows all of its cards, and can confirm the guess by dealing
    the game and comparing the supply row. So seeds 1, 2, 3 … are unfit for rated games.

    Args:
        secret: 0 to 2⁶³−1, such as one of :func:`fresh_seed`.
        numbers: the games' numbers, integers from 0 to 2⁶³−1, (k,).
        purpose: one of the ranges of this module.

    Returns:
        int64 (k,), in that range: a one-way function of the secret and each number.

    Raises:
        OptionError: the secret or a number is out of range.
    """
    key = check_integer("secret", secret, 0, HIGHEST_SEED).to_bytes(8, "little")
    wanted = [
        check_integer("number", number, 0, HIGHEST_SEED).to_bytes(8, "little")
        for number in np.asarray(numbers).tolist()
    ]
    digests = b"".join(
        hashlib.blake2b(number, key=key, digest_size=8).digest() for number in wanted
    )
    drawn = np.frombuffer(digests, "<u8").astype(np.uint64)
    return (drawn % np.uint64(len(purpose)) + np.uint64(purpose.start)).astype(np.int64)


def seeds_of(seed: Seeds, number: int) -> Int64:
    """Return the seeds of a batch's rows.

    Args:
        seed: an integer s from 0 to 2⁶³−1: s, s + 1, … (mod 2⁶³); or a sequence with one per row.
        number: number of rows.

    Raises:
        OptionError: a seed is out of range, or their number differs from that of the rows.
    """
    if isinstance(seed, Sequence) or (isinstance(seed, np.ndarray) and seed.ndim > 0):
        rows = [check_integer("seed", one, 0, HIGHEST_SEED) for one in seed]
        if len(rows) != number:
            raise OptionError(
                f"seed must have one number for each of the {number} rows, not {len(rows)}"
            )
        return np.array(rows, np.int64)
    first = check_integer("seed", seed, 0, HIGHEST_SEED)
    return np.array([(first + i) & HIGHEST_SEED for i in range(number)], np.int64)
