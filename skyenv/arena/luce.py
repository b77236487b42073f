"""Luce's choice model of who wins a table, with a term for copies, and its fit.

Of the agents at a table, agent i wins with a probability in proportion to nᵢ · e^(θᵢ + γ (nᵢ − 1)):
θᵢ is its strength, nᵢ the number of its seats. With one seat each that is Luce's model (the top-1
part of the Plackett–Luce model), with two players Bradley–Terry. γ, the *clone term*, tells what
company of its own kind does to each seat of an agent; where γ is 0, seats are lottery tickets. It
is looked for only where the same agent has several seats, and drawn to 0 by a normal prior of
deviation 1.
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

    P parameters are fitted: θ of each agent, and γ where there are copies.

    Attributes:
        wins: float64 (D, P), what the model's sufficient statistics were: each agent's wins, then Σ
            (nᵢ − 1) · share.
        counts: float64 (D, C), games at each kind of table.
        tables: float64 (C, K), seats of each agent.
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
        """Sums of games.

        Args:
            seats: (k, players), the agent in every seat. shares: (k, players), of the win.
            paired_seed: (k,), counted from 0. paired_seeds, agents: how many.
        """
        kinds, kind = np.unique(np.sort(seats, axis=1), axis=0, return_inverse=True)
        tables = np.stack([np.bincount(members, minlength=agents) for members in kinds]).astype(
            np.float64
        )
        cells = np.zeros((paired_seeds, len(kinds), agents))
        np.add.at(cells, (paired_seed[:, None], kind.ravel()[:, None], seats), shares)
        counts = np.zeros((paired_seeds, len(kinds)))
        np.add.at(counts, (paired_seed, kind.ravel()), 1)
        wins = cells.sum(axis=1)
        if (tables > 1).any():
            wins = np.column_stack([wins, (cells * copies(tables)).sum(axis=(1, 2))])
        return cls(wins, counts, tables)


def copies(tables: Floats) -> Floats:
    """The further seats of each agent beside its first, float64 like `tables`."""
    return np.maximum(tables - 1, 0)


def chances(theta: Floats, tables: Floats) -> Floats:
    """The share of the wins that each agent has at each kind of table, float64 (r, C, K), for
    parameters (r, P).
    """
    agents = tables.shape[1]
    strength = theta[:, None, :agents]
    if theta.shape[1] > agents:
        strength = strength + theta[:, agents:, None] * copies(tables)
    strength = np.where(tables > 0, strength, -np.inf)
    tickets = tables * np.exp(strength - strength.max(axis=2, keepdims=True))
    return np.asarray(tickets / tickets.sum(axis=2, keepdims=True))


def strengths(
    wins: Floats,
    counts: Floats,
    tables: Floats,
    *,
    start: Floats | None = None,
    free: npt.ArrayLike | None = None,
) -> Floats:
    """The most likely parameters, for r sets of games at once.

    Args:
        wins: float64 (r, P), see :class:`Sums`; with weights. P is K, or K + 1 with the clone term.
        counts: float64 (r, C), games of each kind of table, weights included. Each row's sum is
            that of its wins.
        tables: float64 (C, K), seats that each agent has at each kind of table.
        start: float64 (r, P), where to begin, and the values of those that are not free; 0 if None.
        free: bool (P,), which are looked for; None means all: then the mean of each row's θ is 0.

    Returns:
        float64 (r, P). Every agent must have won and lost something, else there is no finite
        answer.
    """
    theta = np.zeros_like(wins) if start is None else start.copy()
    searched = np.arange(wins.shape[1]) if free is None else np.flatnonzero(free)
    rows = max(1, CHUNK // tables.size)
    for first in range(0, len(wins), rows):
        part = slice(first, first + rows)
        _climb(theta[part], wins[part], counts[part], tables, searched, centred=free is None)
    if free is None:
        theta[:, : tables.shape[1]] -= theta[:, : tables.shape[1]].mean(axis=1, keepdims=True)
    return theta


def moments(theta: Floats, counts: Floats, tables: Floats) -> tuple[Floats, Floats]:
    """What the model expects of the wins, float64 (r, P), and the information about the parameters,
    (r, P, P).
    """
    agents, chance = tables.shape[1], chances(theta, tables)
    expected = np.einsum("rc,rci->ri", counts, chance)
    information = -np.einsum("rci,rcj->rij", counts[:, :, None] * chance, chance)
    information[:, range(agents), range(agents)] += expected
    if theta.shape[1] == agents:
        return expected, information
    company = copies(tables)
    mean = (chance * company).sum(axis=2)
    cross = np.einsum("rc,rci->ri", counts, chance * (company - mean[:, :, None]))
    own = (counts * ((chance * company**2).sum(axis=2) - mean**2)).sum(axis=1)
    row = np.concatenate([cross, own[:, None]], axis=1)
    return (
        np.column_stack([expected, (counts * mean).sum(axis=1)]),
        np.concatenate(
            [np.concatenate([information, cross[:, :, None]], axis=2), row[:, None]], axis=1
        ),
    )


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
    agents = tables.shape[1]
    shift = (searched < agents).astype(np.float64)  # the likelihood is flat along a shift of all θ
    for _ in range(ITERATIONS):
        expected, information = moments(theta, counts, tables)
        expected[:, agents:] += theta[:, agents:]  # the prior of γ
        information[:, agents:, agents:] += 1
        curvature = information[:, searched[:, None], searched]
        if centred:  # nothing pulls that way, so any curvature there will do
            mean = np.trace(curvature, axis1=1, axis2=2) / len(searched) ** 2
            curvature = curvature + mean[:, None, None] * np.outer(shift, shift)
        step = np.linalg.solve(curvature, (wins - expected)[:, searched, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        theta[:, searched] += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < 1e-9:
            break
