"""Intervals against exact ones, simulated coverage, and those of agents that won every game."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from skyenv.statistics import (
    Estimate,
    Weights,
    interval,
    percent,
    share_of_wins,
)


def weights(paired_seeds: int, resamples: int = 1000, seed: int = 1, players: int = 2) -> Weights:
    return Weights.draw(np.random.default_rng(seed), paired_seeds, players, resamples)


def test_an_interval_of_two_paired_seeds_is_computed_by_hand() -> None:
    """The ratio of two paired seeds' weights is uniform, so the mean is uniform on [0, 1]."""
    paired_seed = np.arange(2)
    estimate = weights(2, 20_000).mean([0.0, 1.0], paired_seed)
    assert estimate.mean == 0.5
    assert (estimate.low, estimate.high) == pytest.approx((0.025, 0.975), abs=0.01)
    same = weights(2).mean([3.0, 3.0], paired_seed)
    assert (same.mean, same.low, same.high) == pytest.approx((3, 3, 3))
    assert weights(1).mean([0.0], np.zeros(1, int)) == Estimate(0.0, 0.0, 0.0)


def test_games_of_a_paired_seed_are_resampled_together() -> None:
    once = weights(2).mean([0.0, 1.0], np.arange(2))
    twice = weights(2).mean([0.0, 0.0, 1.0, 1.0], np.repeat([0, 1], 2))
    assert (twice.mean, twice.low, twice.high) == pytest.approx((once.mean, once.low, once.high))


@pytest.mark.parametrize(("paired_seeds", "players"), [(1, 2), (10, 2), (10, 4)])
def test_an_agent_that_won_all_games_has_an_interval_below_one(
    paired_seeds: int, players: int
) -> None:
    """Pseudo-counts at par give Jeffreys' interval with two players; the mean is unchanged."""
    estimate = weights(paired_seeds, 20_000, players=players).mean(
        np.ones(paired_seeds), np.arange(paired_seeds), share=True
    )
    assert estimate.mean == estimate.high == 1
    par = 1 / players
    drawn = np.random.default_rng(5).beta(paired_seeds + par, 1 - par, 200_000)
    assert estimate.low == pytest.approx(np.percentile(drawn, 2.5), abs=0.01)


def test_memory_is_independent_of_the_number_of_paired_seeds() -> None:
    """Many paired seeds share weights; the interval is the normal one."""
    number = 100_000
    values = np.random.default_rng(3).random(number)
    tracemalloc.start()
    estimate = weights(number).mean(values, np.arange(number))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6 < 8 * 1000 * number
    assert estimate.mean == pytest.approx(values.mean(), rel=1e-12)
    width = 2 * 1.96 * values.std() / number**0.5
    assert estimate.high - estimate.low == pytest.approx(width, rel=0.1)


def test_the_interval_of_a_share_is_wilsons() -> None:
    for wins, number in ((50, 100), (0, 7), (7, 7), (1, 3)):
        exact = stats.binomtest(wins, number).proportion_ci(method="wilson")
        found = share_of_wins(wins / number, number)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-6)


def test_estimates_are_formatted_with_their_interval() -> None:
    estimate = Estimate(0.5, 0.25, 0.754)
    assert percent(estimate) == percent(vars(estimate)) == "50.0 % [25.0, 75.4]"
    assert (interval(estimate, 1), interval(None)) == ("0.5 [0.2, 0.8]", "–")
