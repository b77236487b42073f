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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import Int64

Floats = npt.NDArray[np.float64]

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 1000
GROUPS: Final = 10_000  # of more paired seeds some share a weight, so that memory is bounded


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    def rounded(self, digits: int) -> dict[str, float]:
        """As JSON files have it."""
        return {name: round(value, digits) for name, value in vars(self).items()}


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of independent numbers and its interval by their standard error; of one a point."""
    mean = float(np.mean(values))
    half = 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Estimate(mean, mean - half, mean + half)


def numbers_of(rows: Any) -> Floats:
    """Return rows of numbers from a JSON file, float64 (k, m).

    Raises:
        ValueError, TypeError: they are no rows of equally many finite numbers.
    """
    numbers = np.array(rows)
    if numbers.ndim != 2 or numbers.dtype.kind not in "if" or not np.isfinite(numbers).all():
        raise ValueError("numbers are missing, or are none")
    return numbers.astype(np.float64)


def interval(
    estimate: Estimate | Mapping[str, float] | None,
    digits: int = 0,
    scale: float = 1,
    unit: str = "",
) -> str:
    """An estimate, perhaps from a JSON file, as text, such as ``55.0 % [51.2, 58.8]``; a dash for
    none.
    """
    if estimate is None:
        return "–"
    values = vars(estimate) if isinstance(estimate, Estimate) else estimate
    mean, low, high = (scale * values[name] for name in ("mean", "low", "high"))
    return f"{mean:.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"


def percent(estimate: Estimate | Mapping[str, float] | None) -> str:
    """A share as text, in percent."""
    return interval(estimate, 1, 100, " %")


@dataclass(frozen=True)
class Weights:
    """Weights of paired seeds in each of r samples; row 0 of a result is the data as they are.

    Attributes:
        drawn: float64 (r, D); D is at most GROUPS: of more paired seeds those whose numbers are
            alike modulo GROUPS share a weight.
        won, lost: float64 (1 + r, 1), imaginary paired seeds for shares of wins; 0 in row 0.
    """

    drawn: Floats
    won: Floats
    lost: Floats

    @classmethod
    def draw(
        cls, rng: np.random.Generator, paired_seeds: int, players: int, resamples: int = RESAMPLES
    ) -> Weights:
        """Draw weights of so many paired seeds of a game for so many players."""
        par = 1 / players
        won, lost = (
            with_data(rng.gamma(share, size=(resamples, 1)), 0) for share in (par, 1 - par)
        )
        return cls(rng.exponential(size=(resamples, min(paired_seeds, GROUPS))), won, lost)

    def sums(self, values: Floats) -> Floats:
        """Return the sums of values of the paired seeds, (D, m), by sample: float64 (1 + r, m)."""
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
            per: float64 (k,), what each value is a part of, such as the wins of either of two
                agents; None: 1.
            share: whether the values are shares of wins, which the imaginary paired seeds belong
                to.
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
    """Return random weights (r, …) below a row of what the data as they are weigh."""
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
