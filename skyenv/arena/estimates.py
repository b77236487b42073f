"""Means over games with confidence intervals: the one bootstrap of evaluations, ratings and
ladders.

A paired seed's games are alike, so what is drawn anew is the weight of whole paired seeds. The
bootstrap is the Bayesian one (Rubin 1981): each paired seed gets one random weight, exponentially
distributed; percentiles of the means under many such weights are the interval. Unlike drawing
paired seeds with replacement, that gives an agent that won all of its games an interval that isn't
a point, because shares of wins have *imaginary paired seeds*, won and lost, of weight 1 together,
at par (with two players that is Jeffreys' interval). What is reported as the mean is that of the
games that were played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 1000


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    def text(self, digits: int = 0, scale: float = 1, unit: str = "") -> str:
        """The mean and its interval, as in ``55.0 % [51.2, 58.8]``."""
        mean, low, high = (scale * value for value in (self.mean, self.low, self.high))
        return f"{mean:.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"

    def rounded(self, digits: int) -> dict[str, float]:
        """As JSON files have it."""
        return {name: round(value, digits) for name, value in vars(self).items()}


def interval(
    estimate: Estimate | Mapping[str, float] | None,
    digits: int = 0,
    scale: float = 1,
    unit: str = "",
) -> str:
    """An estimate, perhaps from a JSON file, as text (:meth:`Estimate.text`); a dash for none."""
    if estimate is None:
        return "–"
    return (estimate if isinstance(estimate, Estimate) else Estimate(**estimate)).text(
        digits, scale, unit
    )


def percent(estimate: Estimate | Mapping[str, float] | None) -> str:
    """A share as text, in percent."""
    return interval(estimate, 1, 100, " %")


@dataclass(frozen=True)
class Weights:
    """What each of D paired seeds counts in each of r samples; row 0 is the data as they are.

    Attributes:
        paired_seeds: float64 (1 + r, D), 1 in row 0.
        won, lost: float64 (1 + r, 1), imaginary paired seeds for shares of wins; 0 in row 0.
    """

    paired_seeds: Floats
    won: Floats
    lost: Floats

    @classmethod
    def draw(
        cls, rng: np.random.Generator, paired_seeds: int, players: int, resamples: int = RESAMPLES
    ) -> Weights:
        """Random weights of so many paired seeds of a game for so many players."""
        par = 1 / players
        won, lost = (
            with_data(rng.gamma(share, size=(resamples, 1)), 0) for share in (par, 1 - par)
        )
        return cls(with_data(rng.exponential(size=(resamples, paired_seeds)), 1), won, lost)

    def mean(
        self, values: npt.ArrayLike, paired_seed: npt.NDArray[np.int64], *, share: bool = False
    ) -> Estimate:
        """A mean over games; see :meth:`samples`."""
        return estimates(self.samples(values, paired_seed, share=share)[:, None])[0]

    def samples(
        self,
        values: npt.ArrayLike,
        paired_seed: npt.NDArray[np.int64],
        *,
        per: npt.ArrayLike | None = None,
        share: bool = False,
    ) -> Floats:
        """A mean over games under all weights, float64 (1 + r,).

        Args:
            values: float64 (k,). paired_seed: (k,), the paired seed of each, counted from 0.
            per: float64 (k,), what each value is a part of, such as the wins of either of two
                agents; None: 1.
            share: whether the values are shares of wins, which the imaginary paired seeds belong
                to.
        """
        paired_seeds = self.paired_seeds.shape[1]
        whole = np.ones(len(paired_seed)) if per is None else np.asarray(per, np.float64)
        number = np.bincount(paired_seed, weights=whole, minlength=paired_seeds)
        total = np.bincount(
            paired_seed, weights=np.asarray(values, np.float64), minlength=paired_seeds
        )
        above, below = self.paired_seeds @ total, self.paired_seeds @ number
        if share:
            games = number.sum() / max(1, np.count_nonzero(number))
            above += games * self.won[:, 0]
            below += games * (self.won + self.lost)[:, 0]
        return np.asarray(above / below)


def with_data(drawn: Floats, value: float) -> Floats:
    """Random weights (r, …) below a row of what the data as they are weigh."""
    return np.concatenate([np.full_like(drawn[:1], value), drawn])


def estimates(samples: Floats) -> list[Estimate]:
    """An estimate for each column of samples (1 + r, …): row 0 is what was measured, the others are
    the bootstrap's.
    """
    tail = 100 * (1 - CONFIDENCE) / 2
    lows, highs = np.percentile(samples[1:], [tail, 100 - tail], axis=0)
    return [
        Estimate(float(mean), float(min(low, mean)), float(max(high, mean)))
        for mean, low, high in zip(samples[0], lows, highs, strict=True)
    ]
