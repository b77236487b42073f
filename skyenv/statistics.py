"""Means with 95 % confidence intervals.

* :func:`share_of_wins`: of games won or lost, by Wilson's score.
* :class:`Weights`: of games on paired seeds, by a bootstrap.

The games of a paired seed are correlated, so the bootstrap weights whole paired seeds. It is the
Bayesian bootstrap (Rubin 1981): each paired seed gets one exponentially distributed weight, and
percentiles of the weighted means are the interval.

Shares of wins include *imaginary paired seeds*, won and lost at par, of total weight 1. With two
players this gives Jeffreys' interval. An agent that won all its games therefore has an interval of
positive width. The reported mean is that of the games played, without imaginary ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from skyenv.array_types import ArrayLike, Float64, Int64

CONFIDENCE: Final = 0.95
NORMAL: Final = 1.959964
"""Standard errors on each side of a normal mean."""
RESAMPLES: Final = 1000
GROUPS: Final = 10_000
"""Beyond this many, paired seeds share weights, which bounds memory."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    def rounded(self, digits: int) -> dict[str, float]:
        """Return the estimate as JSON files hold it."""
        return {name: round(value, digits) for name, value in vars(self).items()}


def share_of_wins(share: float, number: int) -> Estimate:
    """Return the share won of a number of games as an estimate (Wilson 1927)."""
    z = NORMAL
    middle = share + z**2 / (2 * number)
    half = z * np.sqrt(share * (1 - share) / number + z**2 / (4 * number**2))
    whole = 1 + z**2 / number
    low, high = (middle - half) / whole, (middle + half) / whole
    return Estimate(share, max(0.0, float(low)), min(1.0, float(high)))


def numbers_of(rows: Any) -> Float64:
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

    drawn: Float64
    won: Float64
    lost: Float64

    @classmethod
    def draw(
        cls, rng: np.random.Generator, paired_seeds: int, players: int, resamples: int = RESAMPLES
    ) -> "Weights":
        """Draw the weights of a number of paired seeds of games for a number of players."""
        par = 1 / players
        won, lost = (
            with_data(rng.gamma(share, size=(resamples, 1)), 0) for share in (par, 1 - par)
        )
        return cls(rng.exponential(size=(resamples, min(paired_seeds, GROUPS))), won, lost)

    def sums(self, values: Float64) -> Float64:
        """Return weighted sums of paired seeds' values, (D, m), by sample: float64 (1 + r, m)."""
        return np.concatenate([np.ones((1, len(values))) @ values, self.drawn @ values])

    def mean(
        self,
        values: ArrayLike,
        paired_seed: Int64,
        *,
        per: ArrayLike | None = None,
        share: bool = False,
    ) -> Estimate:
        """Return a mean over games; see :meth:`samples`."""
        return estimates(self.samples(values, paired_seed, per=per, share=share)[:, None])[0]

    def samples(
        self,
        values: ArrayLike,
        paired_seed: Int64,
        *,
        per: ArrayLike | None = None,
        share: bool = False,
    ) -> Float64:
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


def with_data(drawn: Float64, value: float) -> Float64:
    """Return random weights (r, …) below a row of the unweighted data's `value`."""
    return np.concatenate([np.full_like(drawn[:1], value), drawn])


def estimates(samples: Float64) -> list[Estimate]:
    """Return an estimate for each column of samples (1 + r, …): row 0 is the measurement, the other
    rows are the bootstrap's.
    """
    tail = 100 * (1 - CONFIDENCE) / 2
    lows, highs = np.percentile(samples[1:], [tail, 100 - tail], axis=0)
    return [
        Estimate(float(mean), float(min(low, mean)), float(max(high, mean)))
        for mean, low, high in zip(samples[0], lows, highs, strict=True)
    ]
