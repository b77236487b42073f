"""Which seeds deal which games: no deal that ratings are made of was ever trained on, tuned on, or
looked at.

Seeds are whole numbers from 0 to 2⁶³−1. Those below 2⁶² are for who asks for games by number, for
training and for datasets to learn from; those above are held out:

==================  ==========================
==================================================================
range               from … below                who deals them
==================  ==========================
==================================================================
`BY_NUMBER`         0 … 10⁹                     whoever names a seed: environments, records, examples, matches
`TRAINING`          10⁹ … 2⁶¹                   the trainer (experiments/training); first seeds that nobody named
`DATASETS`          2⁶¹ … 2⁶²                   ``python -m skyenv dataset``
`TUNING`            2⁶² … 2⁶² + 2⁶⁰             the tuning of weights (experiments/tools/tune.py)
`EVALUATION`        2⁶² + 2⁶⁰ … 2⁶² + 2⁶¹       evaluations with a secret, the closing ones of trainings among them
`LADDERS`           2⁶² + 2⁶¹ … 2⁶³             tournaments with a secret, and so all ladders that are published
==================  ==========================
==================================================================

In the last two the deals are drawn by a secret (:func:`skyenv.engine.games.secret_seeds`); those of
datasets in the same way by a seed that is told. Environments that are reset without a seed go on
with seeds drawn from `TRAINING`. A game of any range can be played again by its number, such as
that of a record; but the trainer keeps to its range, and a ladder of other deals isn't published.
"""

from __future__ import annotations

from typing import Final

from skyenv.checks import check_integer

HIGHEST_SEED: Final = 2**63 - 1

BY_NUMBER: Final = range(10**9)
TRAINING: Final = range(10**9, 2**61)
DATASETS: Final = range(2**61, 2**62)
TUNING: Final = range(2**62, 2**62 + 2**60)
EVALUATION: Final = range(2**62 + 2**60, 2**62 + 2**61)
LADDERS: Final = range(2**62 + 2**61, HIGHEST_SEED + 1)

PURPOSES: Final = {
    "by number": BY_NUMBER,
    "training": TRAINING,
    "datasets": DATASETS,
    "tuning": TUNING,
    "evaluation": EVALUATION,
    "ladders": LADDERS,
}


def purpose_of(seed: int) -> str:
    """What a seed is for, a key of :data:`PURPOSES`.

    Raises:
        OptionError: it is no seed.
    """
    number = check_integer("seed", seed, 0, HIGHEST_SEED)
    return next(name for name, seeds in PURPOSES.items() if number in seeds)
