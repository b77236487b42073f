"""The streams of seeds of a batch's rows."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from skyenv.envs.streams import NUM_SEEDS, Streams, check_seed, row_seeds
from skyenv.errors import OptionError

ROWS = np.arange(4, dtype=np.int64)


def test_a_rows_stream_depends_on_its_seed_alone() -> None:
    batch, single = Streams(4), Streams(1)
    batch.seed([7, 8, 9, 10], ROWS)
    single.seed([9], ROWS[:1])
    batch.uniform(ROWS[2:3])
    single.uniform(ROWS[:1])
    assert batch.seeds(ROWS)[2] == single.seeds(ROWS[:1])[0]


def test_neighbouring_seeds_give_unrelated_numbers() -> None:
    streams = Streams(1000)
    rows = np.arange(1000, dtype=np.int64)
    streams.seed(rows, rows)
    drawn = np.stack([streams.uniform(rows) for _ in range(20)])
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert np.abs(drawn.mean(axis=1) - 0.5).max() < 0.05
    correlations = np.array(np.corrcoef(drawn))[np.triu_indices(20, 1)]
    assert np.abs(correlations).max() < 0.2
    seeds = np.concatenate([streams.seeds(rows) for _ in range(20)])
    assert np.unique(seeds).size == seeds.size
    assert seeds.min() >= 0


def test_a_copy_goes_on_with_the_same_numbers() -> None:
    streams = Streams(4)
    streams.seed([1, 2, 3, 4], ROWS)
    twin = copy.deepcopy(streams)
    assert (streams.seeds(ROWS) == twin.seeds(ROWS)).all()


@pytest.mark.parametrize("seed", [-1, 1.0, "7", None])
def test_a_seed_is_a_non_negative_integer(seed: object) -> None:
    with pytest.raises(OptionError, match="seed"):
        check_seed(seed)


def test_large_seeds_wrap() -> None:
    assert check_seed(np.uint64(2**63 - 1)) == 2**63 - 1
    for seed in (NUM_SEEDS, np.uint64(2**63 + 1), 10**5000, -1):
        with pytest.raises(OptionError, match="seed must be from 0 to"):
            check_seed(seed)
    assert row_seeds(NUM_SEEDS - 2, ROWS, 4) == [NUM_SEEDS - 2, NUM_SEEDS - 1, 0, 1]


def test_the_seeds_of_some_rows() -> None:
    assert row_seeds(10, ROWS[1:3], 4) == [11, 12]
    assert row_seeds([5, None, 6, 7], ROWS[:2], 4) == [5, None]
    assert row_seeds(None, ROWS[1:3], 4) == [None, None]
    with pytest.raises(OptionError, match="3 entries; there are 4"):
        row_seeds([1, 2, 3], ROWS, 4)
