"""Means with confidence intervals: the bootstrap of evaluations, ratings and ladders.

The games of a paired seed are correlated, so the bootstrap weights whole paired seeds. It is the
Bayesian bootstrap (Rubin 1981): each paired seed gets one exponentially distributed weight, and
percentiles of the weighted means are the interval.

Shares of wins include *imaginary paired seeds*, won and lost at par, of total weight 1. With two
players this gives Jeffreys' interval. An agent that won all its games therefore has an interval of
positive width. The reported mean is that of the games played, without imaginary ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import Int64

Floats = npt.NDArray[np.float64]

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 1000
GROUPS: Final = 10_000  # beyond this many, paired seeds share weights, which bounds memory


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    def rounded(self, digits: int) -> dict[str, float]:
        """Return the estimate as JSON files hold it."""
        return {name: round(value, digits) for name, value in vars(self).items()}


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean of independent numbers, its interval by standard error; a point for one."""
    mean = float(np.mean(values))
    half = 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Estimate(mean, mean - half, mean + half)


def numbers_of(rows: Any) -> Floats:
    """Return rows of numbers from a JSON file, float64 (k, m).

    Raises:
        ValueError, TypeError: not rows of equal length with finite numbers.
    """
    numbers = np.array(rows)
    if numbers.ndim != 2 or numbers.dtype.kind not in "if" or not np.isfinite(numbers).all():
        raise ValueError("expected rows of equal length with finite numbers")
    return numbers.astype(np.float64)


def interval(
    estimate: Estimate | Mapping[str, float] | None,
    digits: int = 0,
    scale: float = 1,
    unit: str = "",
) -> str:
    """Return an estimate as text, such as ``55.0 % [51.2, 58.8]``; a dash for None."""
    if estimate is None:
        return "–"
    values = vars(estimate) if isinstance(estimate, Estimate) else estimate
    mean, low, high = (scale * values[name] for name in ("mean", "low", "high"))
    return f"{mean:.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"


def percent(estimate: Estimate | Mapping[str, float] | None) -> str:
    """Return a share as text, in percent."""
    return interval(estimate, 1, 100, " %")


@dataclass(frozen=True)
class Weights:
    """Bootstrap weights of paired seeds in r samples; row 0 of a result is unweighted.

    Attributes:
        drawn: float64 (r, D), D ≤ GROUPS. Paired seeds with equal numbers modulo GROUPS share a
            weight.
        won, lost: float64 (1 + r, 1), imaginary paired seeds for shares of wins; 0 in row 0.
    """

    drawn: Floats
    won: Floats
    lost: Floats

    @classmethod
    def draw(
        cls, rng: np.random.Generator, paired_seeds: int, players: int, resamples: int = RESAMPLES
    ) -> Weights:
        """Draw the weights of a number of paired seeds of games for a number of players."""
        par = 1 / players
        won, lost = (
            with_data(rng.gamma(share, size=(resamples, 1)), 0) for share in (par, 1 - par)
        )
        return cls(rng.exponential(size=(resamples, min(paired_seeds, GROUPS))), won, lost)

    def sums(self, values: Floats) -> Floats:
        """Return weighted sums of paired seeds' values, (D, m), by sample: float64 (1 + r, m)."""
        return np.concatenate([np.ones((1, len(values))) @ values, self.drawn @ values])

    def mean(
        self,
        values: npt.ArrayLike,
        paired_seed: Int64,
        *,
        per: npt.ArrayLike | None = None,
        share: bool = False,
    ) -> Estimate:
        """Return a mean over games; see :meth:`samples`."""
        return estimates(self.samples(values, paired_seed, per=per, share=share)[:, None])[0]

    def samples(
        self,
        values: npt.ArrayLike,
        paired_seed: Int64,
        *,
        per: npt.ArrayLike | None = None,
        share: bool = False,
    ) -> Floats:
        """Return a mean over games under all weights, float64 (1 + r,).

        Args:
            values: float64 (k,). paired_seed: (k,), the paired seed of each, counted from 0.
            per: float64 (k,), the total that each value is part of, such as the wins of either of
                two agents; None: 1.
            share: whether values are shares of wins; if so, imaginary paired seeds are included.
        """
        whole = np.ones(len(paired_seed)) if per is None else per
        total, number = (
            np.bincount(
                paired_seed % GROUPS,
                weights=np.asarray(one, np.float64),
                minlength=self.drawn.shape[1],
            )
            for one in (values, whole)
        )
        above, below = self.sums(np.stack([total, number], axis=1)).T
        if share:
            games = number.sum() / max(1, np.count_nonzero(number))
            above = above + games * self.won[:, 0]
            below = below + games * (self.won + self.lost)[:, 0]
        return np.asarray(above / below)


def with_data(drawn: Floats, value: float) -> Floats:
    """Return random weights (r, …) below a row of the unweighted data's `value`."""
    return np.concatenate([np.full_like(drawn[:1], value), drawn])


def estimates(samples: Floats) -> list[Estimate]:
    """Return an estimate for each column of samples (1 + r, …): row 0 is the measurement, the other
    rows are the bootstrap's.
    """
    tail = 100 * (1 - CONFIDENCE) / 2
    lows, highs = np.percentile(samples[1:], [tail, 100 - tail], axis=0)
    return [
        Estimate(float(mean), float(min(low, mean)), float(max(high, mean)))
        for mean, low, high in zip(samples[0], lows, highs, strict=True)
    ]
