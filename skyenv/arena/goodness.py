"""Does the model of :mod:`skyenv.arena.luce` fit the games that it was fitted to?

**Cells.** At each kind of table each agent was expected to win so many games, and won others.
Pearson's X² = Σ (won − expected)² / expected over these cells is small if the model holds. Cells in
which fewer than 5 wins are expected are put together, the weakest agents of a table first, and a
table of one cell tells nothing.

**Its distribution.** Games of one paired seed aren't independent, and the parameters were fitted to
the same games, so X² doesn't follow the table of χ². It is therefore compared with what the
bootstrap over paired seeds makes of residuals whose expectation is 0: every paired seed's
residuals, less what they do to the fitted parameters (one Newton step), have mean 0 taken off and
get random weights of mean 0 and variance 1. *p* is the share of such samples with an X² at least as
large. With independent games their mean is near the degrees of freedom; by how much it is off tells
what games of one paired seed have in common.

**One cell alone** can be far off and hardly move a sum over many. So there is a second test: the
largest of all residuals, each in its own standard deviations, against the largest one in each of
the same samples. The model fits if neither refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.arena.estimates import Floats
from skyenv.arena.luce import Sums, chances, copies, moments

LEAST: Final = 5.0
"""Wins that are expected in a cell at least."""
SHOWN: Final = 5
"""Cells with the largest residuals that are told."""


@dataclass(frozen=True)
class Residual:
    """A cell that is off.

    Attributes:
        table: who has the seats, counted from 0. agents: those of the cell; several were put
            together.
        won, expected: wins. deviations: by how many standard deviations (those of the bootstrap)
            they differ.
    """

    table: tuple[int, ...]
    agents: tuple[int, ...]
    won: float
    expected: float
    deviations: float


@dataclass(frozen=True)
class Goodness:
    """How well the model fits.

    Attributes:
        chi_square: Pearson's X². freedom: its degrees of freedom: cells less tables less fitted
            parameters.
        usual: the mean of X² if the model holds, by the bootstrap over paired seeds. p: how often
            X² is as large then.
        p_largest: how often some cell is then as many standard deviations off as the one that is
            off most.
        cells: how many. residuals: the largest ones.
    """

    chi_square: float
    freedom: int
    usual: float
    p: float
    p_largest: float
    cells: int
    residuals: list[Residual]

    def as_dict(self, names: list[str]) -> dict[str, Any]:
        """For JSON files; agents by name."""
        rows = [
            {
                "table": [names[agent] for agent in one.table],
                "agents": [names[agent] for agent in one.agents],
                "won": round(one.won, 2),
                "expected": round(one.expected, 2),
                "deviations": round(one.deviations, 2),
            }
            for one in self.residuals
        ]
        figures = {
            "chi_square": round(self.chi_square, 2),
            "freedom": self.freedom,
            "usual": round(self.usual, 2),
        }
        tests = {"p": round(self.p, 4), "p_largest": round(self.p_largest, 4)}
        return {**figures, **tests, "cells": self.cells, "residuals": rows}


def goodness(sums: Sums, theta: Floats, weights: Floats) -> Goodness | None:
    """How well parameters fit the games to which they were fitted.

    Args:
        sums: of the games.
        theta: float64 (P,), the fit.
        weights: float64 (r, D), random ones of the paired seeds, of mean and variance 1.

    Returns:
        None if there are too few games, or no more cells than parameters.
    """
    (chance,) = chances(theta[None], sums.tables)
    expected = sums.counts.sum(axis=0)[:, None] * chance
    cells = _cells(expected)
    if not cells:
        return None
    table = np.array([number for number, _ in cells])
    pool = np.zeros((len(cells), *expected.shape))
    for row, (number, agents) in enumerate(cells):
        pool[row, number, agents] = 1
    flat = pool.reshape(len(cells), -1)
    likely = flat @ expected.ravel()
    influence, slope = _influence(sums, theta, chance)
    freedom = (
        len(cells)
        - len(np.unique(table))
        - int(np.linalg.matrix_rank(flat @ slope / np.sqrt(likely)[:, None], tol=1e-6))
    )
    if freedom < 1:
        return None
    residuals = influence.reshape(len(influence), -1) @ flat.T
    total = residuals.sum(axis=0)
    centred = residuals - residuals.mean(axis=0)
    samples = (weights - 1) @ centred
    usual = (samples**2 / likely).sum(axis=1)
    chi_square = float((total**2 / likely).sum())
    won = flat @ sums.cells.sum(axis=0).ravel()
    variance = (centred**2).sum(axis=0)
    told = variance > 1e-6 * likely  # what the fit follows in any case is never off
    deviation = np.sqrt(np.where(told, variance, np.inf))
    off = total / deviation
    ordered = np.argsort(-np.abs(off), kind="stable")
    worst = ordered[np.sort(np.unique(table[ordered], return_index=True)[1])][
        :SHOWN
    ]  # one of each table
    return Goodness(
        chi_square=chi_square,
        freedom=freedom,
        usual=float(usual.mean()),
        p=_p(usual, chi_square),
        p_largest=_p(np.abs(samples / deviation).max(axis=1), float(np.abs(off).max())),
        cells=len(cells),
        residuals=[
            Residual(
                tuple(
                    np.repeat(
                        np.arange(len(sums.tables[0])), sums.tables[table[row]].astype(np.int64)
                    ).tolist()
                ),
                tuple(np.sort(cells[row][1]).tolist()),
                float(won[row]),
                float(likely[row]),
                float(off[row]),
            )
            for row in worst
        ],
    )


def _p(samples: Floats, found: float) -> float:
    """How often a sample is at least as large as what was found, which counts as one of them."""
    return float((1 + np.count_nonzero(samples >= found)) / (1 + len(samples)))


def _cells(expected: Floats) -> list[tuple[int, npt.NDArray[np.int64]]]:
    """The cells, as a table and its agents; of each table at least two."""
    cells: list[tuple[int, npt.NDArray[np.int64]]] = []
    for number, wins in enumerate(expected):
        pooled: list[list[int]] = [[]]
        for agent in np.argsort(wins):
            if wins[agent] > 0:
                pooled[-1].append(int(agent))
                if wins[pooled[-1]].sum() >= LEAST:
                    pooled.append([])
        rest = pooled.pop()
        if rest and pooled:
            pooled[-1] += rest
        if len(pooled) > 1:
            cells += [(number, np.array(agents)) for agents in pooled]
    return cells


def _influence(sums: Sums, theta: Floats, chance: Floats) -> tuple[Floats, Floats]:
    """Each paired seed's residuals less their effect on the fit, (D, C, K); what parameters do to
    expected wins, (C·K, P).
    """
    tables, agents = sums.tables, sums.tables.shape[1]
    features = np.broadcast_to(np.eye(agents), (len(tables), agents, agents))
    if len(theta) > agents:
        features = np.concatenate([features, copies(tables)[:, :, None]], axis=2)
    counts = sums.counts.sum(axis=0)
    centred = features - np.einsum("ck,ckp->cp", chance, features)[:, None]
    slope = (counts[:, None, None] * chance[:, :, None] * centred).reshape(-1, len(theta))
    information = moments(theta[None], counts[None], tables)[1][0]
    residuals = sums.cells - sums.counts[:, :, None] * chance
    scores = residuals.reshape(len(residuals), -1) @ features.reshape(-1, len(theta))
    moved = scores @ np.linalg.pinv(information, rcond=1e-10, hermitian=True) @ slope.T
    return residuals - moved.reshape(residuals.shape), slope
