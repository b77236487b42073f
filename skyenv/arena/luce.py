"""Luce's choice model of who wins a table, and its fit.

Of the agents at a table, agent i wins with a probability in proportion to e^θᵢ, its strength (the
top-1 part of the Plackett–Luce model; with two players Bradley–Terry).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.arena.estimates import Floats

ITERATIONS: Final = 500
LONGEST_STEP: Final = 1.0
"""No parameter moves further in one step of Newton's: from far away a full step could overshoot
without end.
"""

CHUNK: Final = 2**21
"""Numbers in the largest array of a fit."""


@dataclass(frozen=True)
class Sums:
    """What each of D paired seeds gave, at C kinds of tables (who sits there, in whatever order) of
    K agents.

    Attributes:
        wins: float64 (D, K), of each agent.
        counts: float64 (D, C), games at each kind of table.
        tables: float64 (C, K), 1 for each agent that sits there.
    """

    wins: Floats
    counts: Floats
    tables: Floats

    @classmethod
    def of(
        cls,
        seats: npt.NDArray[np.int64],
        shares: Floats,
        paired_seed: npt.NDArray[np.int64],
        paired_seeds: int,
        agents: int,
    ) -> Sums:
        """Sums of games between different agents.

        Args:
            seats: (k, players), the agent in every seat. shares: (k, players), of the win.
            paired_seed: (k,), counted from 0. paired_seeds, agents: how many.
        """
        kinds, kind = np.unique(np.sort(seats, axis=1), axis=0, return_inverse=True)
        wins = np.zeros((paired_seeds, agents))
        np.add.at(wins, (paired_seed[:, None], seats), shares)
        counts = np.zeros((paired_seeds, len(kinds)))
        np.add.at(counts, (paired_seed, kind.ravel()), 1)
        return cls(wins, counts, np.eye(agents)[kinds].sum(axis=1))


def chances(theta: Floats, tables: Floats) -> Floats:
    """The share of the wins that each agent has at each kind of table, float64 (r, C, K), for
    strengths (r, K).
    """
    strength = np.where(tables > 0, theta[:, None, :], -np.inf)
    tickets = np.exp(strength - strength.max(axis=2, keepdims=True))
    return np.asarray(tickets / tickets.sum(axis=2, keepdims=True))


def strengths(
    wins: Floats,
    counts: Floats,
    tables: Floats,
    *,
    start: Floats | None = None,
    free: npt.ArrayLike | None = None,
) -> Floats:
    """The most likely strengths, for r sets of games at once.

    Args:
        wins: float64 (r, K), see :class:`Sums`; with weights.
        counts: float64 (r, C), games of each kind of table, weights included. Each row's sum is
            that of its wins.
        tables: float64 (C, K), 1 for each agent that sits there.
        start: float64 (r, K), where to begin, and the values of those that are not free; 0 if None.
        free: bool (K,), which are looked for; None means all: then the mean of each row is 0.

    Returns:
        float64 (r, K). Every agent must have won and lost something, else there is no finite
        answer.
    """
    theta = np.zeros_like(wins) if start is None else start.copy()
    searched = np.arange(wins.shape[1]) if free is None else np.flatnonzero(free)
    rows = max(1, CHUNK // tables.size)
    for first in range(0, len(wins), rows):
        part = slice(first, first + rows)
        _climb(theta[part], wins[part], counts[part], tables, searched, centred=free is None)
    if free is None:
        theta -= theta.mean(axis=1, keepdims=True)
    return theta


def _climb(
    theta: Floats,
    wins: Floats,
    counts: Floats,
    tables: Floats,
    searched: npt.NDArray[np.int64],
    *,
    centred: bool,
) -> None:
    """Newton's iteration on some columns of θ, in place."""
    agents = np.arange(tables.shape[1])
    for _ in range(ITERATIONS):
        chance = chances(theta, tables)
        expected = np.einsum("rc,rci->ri", counts, chance)
        information = -np.einsum("rci,rcj->rij", counts[:, :, None] * chance, chance)
        information[:, agents, agents] += expected
        curvature = information[:, searched[:, None], searched]
        if centred:  # the likelihood is flat along a shift of all θ, so any curvature there will do
            mean = np.trace(curvature, axis1=1, axis2=2) / len(searched) ** 2
            curvature = curvature + mean[:, None, None]
        step = np.linalg.solve(curvature, (wins - expected)[:, searched, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        theta[:, searched] += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < 1e-9:
            break
