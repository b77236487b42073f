"""The streams of seeds of a batch's rows."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from skyenv.engine.games import HIGHEST_SEED
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.streams import NUMBERS, Streams, as_seeds, as_uniform, row_seeds
from skyenv.errors import OptionError

ROWS = np.arange(4, dtype=np.int64)


def test_a_rows_stream_depends_on_its_seed_alone() -> None:
    batch, single = Streams(4), Streams(1)
    batch.seed([7, 8, 9, 10], ROWS)
    single.seed([9], ROWS[:1])
    batch.draw(ROWS[2:3])
    single.draw(ROWS[:1])
    assert (batch.draw(ROWS)[2] == single.draw(ROWS[:1])[0]).all()
    assert batch.drawn.tolist() == [1, 1, 2, 1]


def test_neighbouring_seeds_give_unrelated_numbers() -> None:
    streams = Streams(1000)
    rows = np.arange(1000, dtype=np.int64)
    streams.seed(rows, rows)
    numbers = [streams.draw(rows) for _ in range(5)]
    drawn = np.concatenate([as_uniform(one).T for one in numbers])
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert np.abs(drawn.mean(axis=1) - 0.5).max() < 0.05
    correlations = np.array(np.corrcoef(drawn))[np.triu_indices(len(drawn), 1)]
    assert np.abs(correlations).max() < 0.2
    seeds = as_seeds(np.concatenate(numbers)).reshape(-1)
    assert np.unique(seeds).size == seeds.size
    assert seeds.min() >= 0


def test_a_copy_goes_on_with_the_same_numbers() -> None:
    streams = Streams(4)
    streams.seed([1, 2, 3, 4], ROWS)
    twin = copy.deepcopy(streams)
    assert (streams.draw(ROWS) == twin.draw(ROWS)).all()
    streams.draw(ROWS)
    assert (streams.draw(ROWS) != twin.draw(ROWS)).all()


def test_a_stream_begins_anew_with_its_seed() -> None:
    streams = Streams(4)
    streams.seed([1, 2, 3, 4], ROWS)
    first = streams.draw(ROWS)
    assert (streams.draw(ROWS) != first).all()
    streams.seed([3, 1], ROWS[2:])
    assert (streams.draw(ROWS)[2:] == first[[2, 0]]).all()
    assert streams.draw(ROWS[:0]).shape == (0, NUMBERS)


def unmixed(number: int) -> int:
    """The counter of SplitMix64 that a number came from: without its key, a bijection hides
    nothing.
    """
    for shift, factor in ((31, 0x319642B2D24D8EC3), (27, 0x96DE1B173F119089), (30, 1)):
        value = number
        for _ in range(64 // shift):
            value = number ^ (value >> shift)
        number = value * factor % 2**64
    return number


def mixed(counter: int) -> int:
    """SplitMix64."""
    number = (counter ^ (counter >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


def test_a_seed_that_is_told_does_not_tell_the_next_one() -> None:
    """INF-2: seeds were numbers of SplitMix64, of which one tells all that follow; who knows a seed
    knows the cards.
    """
    assert unmixed(mixed(12345)) == 12345
    env = FifthAvenueEnv(num_players=3, max_turns=1)
    env.reset(seed=2**62 + 7)
    seeds = []
    for _ in range(2):
        env.reset()
        seeds.append(int(env.core.games.seeds[0]))
    counters = [unmixed(2 * seeds[0] + lost_bit) for lost_bit in (0, 1)]
    following = [
        mixed((counter + draws * 0x9E3779B97F4A7C15) % 2**64) >> 1
        for counter in counters
        for draws in range(1, 20)
    ]
    assert seeds[1] not in following


@pytest.mark.parametrize(
    "seed", [-1, 1.0, "7", 2**63, np.uint64(2**63 + 1), pytest.param(10**5000, id="huge")]
)
def test_a_seed_is_a_non_negative_integer(seed: Any) -> None:
    for given in (seed, [0, 1, seed, 3]):
        with pytest.raises(OptionError, match="seed"):
            row_seeds(given, ROWS, 4)


def test_large_seeds_wrap() -> None:
    highest: Any = np.full(4, 2**63 - 1, np.uint64)
    assert row_seeds(highest, ROWS, 4) == [HIGHEST_SEED] * 4
    assert row_seeds(HIGHEST_SEED - 1, ROWS, 4) == [HIGHEST_SEED - 1, HIGHEST_SEED, 0, 1]


def test_the_seeds_of_some_rows() -> None:
    assert row_seeds(10, ROWS[1:3], 4) == [11, 12]
    assert row_seeds([5, None, 6, 7], ROWS[:2], 4) == [5, None]
    assert row_seeds(None, ROWS[1:3], 4) == [None, None]
    with pytest.raises(OptionError, match="3 entries; there are 4"):
        row_seeds([1, 2, 3], ROWS, 4)
