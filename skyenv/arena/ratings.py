"""How strong are agents, seen from the games that they played? Ratings with intervals.

**Model.** What a game decides is who wins it. Luce's choice model says that of the agents at a table, agent i wins with the
probability e^θᵢ / Σ e^θⱼ over the seats j (the top-1 part of the Plackett–Luce model; with two players that is Bradley–Terry).
Winners that share a win (END-4) have their fractions of it. An agent that has several seats has as many tickets. A rating is θ
in Elo's points, 400 · log₁₀ of the odds: 400 points more are odds of 10 to 1. Only differences mean something, so greedy is
put at 1000 (where it doesn't play, the first agent).

**Agents that win all or nothing** would be infinitely strong or weak. So each agent has two *imaginary paired seeds* beside those
played, shared out among its opponents: one in which it wins all games of a pair, and one in which it loses them. They pull
ratings together by the weight of two paired seeds, whatever the number of paired seeds played and of agents.

**Intervals** come from the Bayesian bootstrap over paired seeds (:mod:`skyenv.arena.estimates`), in which imaginary paired seeds
have random weights, too. So an agent that never lost has a chance to be the worse one after all: of two agents, one that won each
of n paired seeds is the better one with the probability 1 − ½ⁿ⁺¹ (Laplace's rule of succession).

**Why not a library's fit.** choix fits this very model and is well kept, but it takes neither fractions of a win, nor weights
(which the bootstrap is made of), nor an agent with several seats, and loops over games in Python. Wins per agent and
games per kind of table are all that the likelihood needs, so all 1000 fits are one small vectorised Newton iteration here; a test
holds it against choix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.arena.estimates import CONFIDENCE, RESAMPLES, Estimate, Floats, Weights, estimates, with_data
from skyenv.errors import OptionError

ANCHOR: Final = "greedy"
ANCHOR_POINTS: Final = 1000.0
POINTS: Final = 400 / np.log(10)
"""Points of a rating for one unit of θ."""

SEPARATED: Final = (1 + CONFIDENCE) / 2
"""Two agents are told apart if the probability that one is better is at least this."""

ITERATIONS: Final = 500
LONGEST_STEP: Final = 1.0
"""No θ moves further in one step of Newton's: from far away a full step could overshoot without end."""

CHUNK: Final = 2**21
"""Numbers in the largest array of a fit."""


@dataclass(frozen=True)
class GameResults:
    """Games that were played, k in all.

    Attributes:
        paired_seeds: int64 (k,), which one. seats: int64 (k, players), the agent in every seat, counted from 0.
        shares: float64 (k, players), of the win. scores: int64 (k, players), VP.
    """

    paired_seeds: npt.NDArray[np.int64]
    seats: npt.NDArray[np.int64]
    shares: Floats
    scores: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """What games say about K agents; intervals are 95 %.

    Attributes:
        points: the rating of each. samples: float64 (resamples, K), the ratings of every bootstrap sample.
        better: float64 (K, K), the probability that the agent of the row is better than that of the column; ½ on the diagonal.
        wins: share of the wins where an agent has one seat. vp: VP there. margin: own VP minus the best other's there.
        pairs: in row i and column j, agent i's share of the wins with one seat, when agent j has all others; None where they
            didn't meet.
        anchor: index of the agent whose rating is fixed. paired_seeds, games: how many.
    """

    points: list[Estimate]
    samples: Floats
    better: Floats
    wins: list[Estimate]
    vp: list[Estimate]
    margin: list[Estimate]
    pairs: list[list[Estimate | None]]
    anchor: int
    paired_seeds: int
    games: int

    def order(self) -> list[int]:
        """The agents from the best to the worst."""
        return sorted(range(len(self.points)), key=lambda index: -self.points[index].mean)


# ---- the model ----


def strengths(
    wins: Floats, counts: Floats, tables: Floats, *, start: Floats | None = None, free: npt.ArrayLike | None = None
) -> Floats:
    """The most likely θ of Luce's model, for r sets of games at once.

    Args:
        wins: float64 (r, K), games that each agent won, fractions and weights included.
        counts: float64 (r, C), games of each kind of table, weights included. Each row's sum is that of its wins.
        tables: float64 (C, K), seats that each agent has at each kind of table.
        start: float64 (r, K), where to begin, and the θ of those that are not free; 0 if None.
        free: bool (K,), whose θ is looked for; None means all: then each row's mean is 0.

    Returns:
        float64 (r, K). Every agent must have won and lost something, else there is no finite answer (see the module's text).
    """
    theta = np.zeros_like(wins) if start is None else start.copy()
    searched = np.arange(wins.shape[1]) if free is None else np.flatnonzero(free)
    rows = max(1, CHUNK // tables.size)
    for first in range(0, len(wins), rows):
        part = slice(first, first + rows)
        _climb(theta[part], wins[part], counts[part], tables, searched, centred=free is None)
    return theta


def _climb(
    theta: Floats, wins: Floats, counts: Floats, tables: Floats, searched: npt.NDArray[np.int64], *, centred: bool
) -> None:
    """Newton's iteration on some columns of θ, in place."""
    diagonal = np.arange(len(searched))
    for _ in range(ITERATIONS):
        tickets = tables * np.exp(theta - theta.max(axis=1, keepdims=True))[:, None, :]
        chance = (tickets / tickets.sum(axis=2, keepdims=True))[:, :, searched]
        expected = np.einsum("rc,rci->ri", counts, chance)
        curvature = -np.einsum("rci,rcj->rij", counts[:, :, None] * chance, chance)
        curvature[:, diagonal, diagonal] += expected
        if centred:  # the likelihood is flat along a shift of all; nothing pulls that way, so any curvature there will do
            curvature += curvature[:, diagonal, diagonal].mean(axis=1)[:, None, None] / len(searched)
        step = np.linalg.solve(curvature, (wins[:, searched] - expected)[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        theta[:, searched] += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < 1e-9:
            break
    if centred:
        theta -= theta.mean(axis=1, keepdims=True)


# ---- sums over games ----


@dataclass(frozen=True)
class _Sums:
    """What each of D paired seeds gave: wins (D, K), counts (D, C) of the kinds of tables (C, K)."""

    wins: Floats
    counts: Floats
    tables: Floats


def _sums(results: GameResults, paired_seed: npt.NDArray[np.int64], paired_seeds: int, agents: int) -> _Sums:
    """Sums for each paired seed; `paired_seed` numbers that of each game from 0."""
    wins = np.zeros((paired_seeds, agents))
    np.add.at(wins, (paired_seed[:, None], results.seats), results.shares)
    kinds, kind = np.unique(np.sort(results.seats, axis=1), axis=0, return_inverse=True)
    counts = np.zeros((paired_seeds, len(kinds)))
    np.add.at(counts, (paired_seed, kind.ravel()), 1)
    tables = np.stack([np.bincount(members, minlength=agents) for members in kinds]).astype(np.float64)
    return _Sums(wins, counts, tables)


def _draw(paired_seeds: int, agents: int, players: int, seed: int, resamples: int) -> tuple[Weights, Floats]:
    """Random weights of paired seeds, and imaginary ones that the row's agent won from the column's, float64 (1 + r, K, K)."""
    rng = np.random.default_rng(seed)
    weights = Weights.draw(rng, paired_seeds, players, resamples)
    return weights, with_data(rng.exponential(size=(resamples, agents, agents)), 1) * (1 - np.eye(agents))


def _fit(
    sums: _Sums, paired_seeds: Floats, duels: Floats, players: int, start: Floats | None = None, free: npt.ArrayLike | None = None
) -> Floats:
    """θ for each row of weights of paired seeds and imaginary paired seeds (:func:`_draw`)."""
    first, second = np.triu_indices(sums.tables.shape[1], 1)
    one = np.eye(sums.tables.shape[1])
    games = 2.0 if players == 2 else 2.0 * players  # of a pair in a paired seed
    duels = games / (len(one) - 1) * duels
    wins = paired_seeds @ sums.wins + duels.sum(axis=2)
    counts = np.concatenate([paired_seeds @ sums.counts, (duels + duels.transpose(0, 2, 1))[:, first, second]], axis=1)
    return strengths(wins, counts, np.concatenate([sums.tables, one[first] + one[second]]), start=start, free=free)


# ---- ratings ----


def rate(results: GameResults, names: Sequence[str], seed: int = 0, resamples: int = RESAMPLES) -> Ratings:
    """Rate agents by the games between them.

    Args:
        results: at least one game of every agent.
        names: of the agents; they choose the anchor.
        seed: of the bootstrap. resamples: how many samples it takes.

    Raises:
        OptionError: there are no games, or an agent has none.
    """
    _check(results, names)
    numbers, paired_seed = np.unique(results.paired_seeds, return_inverse=True)
    players = results.seats.shape[1]
    weights, duels = _draw(len(numbers), len(names), players, seed, resamples)
    theta = _fit(_sums(results, paired_seed, len(numbers), len(names)), weights.paired_seeds, duels, players)
    anchor = list(names).index(ANCHOR) if ANCHOR in names else 0
    points = ANCHOR_POINTS + POINTS * (theta - theta[:, [anchor]])
    samples = points[1:]
    wins, vp, margin = _alone(results, paired_seed, weights, len(names))
    return Ratings(
        points=estimates(points),
        samples=samples,
        better=better(samples, samples),
        wins=wins,
        vp=vp,
        margin=margin,
        pairs=_pairs(results, paired_seed, weights, len(names)),
        anchor=anchor,
        paired_seeds=len(numbers),
        games=len(paired_seed),
    )


def _check(results: GameResults, names: Sequence[str]) -> None:
    if not len(results.paired_seeds):
        raise OptionError("there are no games to rate agents by")
    missing = sorted(set(range(len(names))) - set(results.seats[_once(results)].tolist()))
    if missing:
        raise OptionError(f"agent {names[missing[0]]} has no games with one seat to be rated by")


def better(one: Floats, other: Floats) -> Floats:
    """Shares of samples, (r, a) and (r, b), in which each of a is above each of b, float64 (a, b); equal ones count half."""
    difference = one[:, :, None] - other[:, None, :]
    return np.asarray((difference > 0).mean(axis=0) + (difference == 0).mean(axis=0) / 2)


def _once(results: GameResults) -> npt.NDArray[np.bool_]:
    """Bool (k, players): whether the agent of a seat has no other seat in that game."""
    same = results.seats[:, :, None] == results.seats[:, None, :]
    return np.asarray(same.sum(axis=2) == 1)


def best_other(scores: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The highest score among the other seats, int64 (k, players)."""
    others = np.where(np.eye(scores.shape[1], dtype=bool), -1, scores[:, None, :])
    return np.asarray(others.max(axis=2))


def _alone(
    results: GameResults, paired_seed: npt.NDArray[np.int64], weights: Weights, agents: int
) -> tuple[list[Estimate], list[Estimate], list[Estimate]]:
    """Wins, VP and margin of each agent in the games in which it has one seat."""
    once = _once(results)
    margins = results.scores - best_other(results.scores)
    wins, vp, margin = [], [], []
    for agent in range(agents):
        game, seat = np.nonzero(once & (results.seats == agent))
        wins.append(weights.mean(results.shares[game, seat], paired_seed[game], share=True))
        vp.append(weights.mean(results.scores[game, seat], paired_seed[game]))
        margin.append(weights.mean(margins[game, seat], paired_seed[game]))
    return wins, vp, margin


def _pairs(
    results: GameResults, paired_seed: npt.NDArray[np.int64], weights: Weights, agents: int
) -> list[list[Estimate | None]]:
    """See :class:`Ratings`."""
    once, players = _once(results), results.seats.shape[1]
    pairs: list[list[Estimate | None]] = [[None] * agents for _ in range(agents)]
    for one in range(agents):
        mine = once & (results.seats == one)
        for other in range(agents):
            facing = mine.any(axis=1) & ((results.seats == other).sum(axis=1) == players - 1)
            if one != other and facing.any():
                share = np.where(mine, results.shares, 0).sum(axis=1)[facing]
                pairs[one][other] = weights.mean(share, paired_seed[facing], share=True)
    return pairs


# ---- a newcomer ----


@dataclass(frozen=True)
class Newcomer:
    """What games say about an agent that plays against a ladder of K agents; intervals are 95 %.

    Attributes:
        points: its rating. better: float64 (K,), the probability that it is better than each of the ladder.
        wins, vp, margin: as for :class:`Ratings`.
        against: its share of the wins with one seat when each of the ladder has all others.
        paired_seeds, games: how many.
    """

    points: Estimate
    better: Floats
    wins: Estimate
    vp: Estimate
    margin: Estimate
    against: list[Estimate | None]
    paired_seeds: int
    games: int


def rate_newcomer(results: GameResults, points: npt.ArrayLike, samples: npt.ArrayLike, seed: int = 0) -> Newcomer:
    """Rate an agent against others whose ratings stand.

    The ladder's ratings are held as they were published. Every bootstrap sample of the newcomer's paired seeds is fitted against
    one of the ladder's own bootstrap samples, so that what is not known about the ladder is in the newcomer's interval too.

    Args:
        results: games in which agent 0 is the newcomer and agent 1 + i the i-th of the ladder.
        points: float (K,), the ladder's ratings. samples: float (r, K), its bootstrap samples.
        seed: of the bootstrap, which takes r samples or a multiple of it, at least `RESAMPLES`.

    Raises:
        OptionError: there are no games, or an agent of the ladder has none.
    """
    rungs, drawn = np.asarray(points, np.float64), np.asarray(samples, np.float64)
    _check(results, ["newcomer", *(f"{index} of the ladder" for index in range(len(rungs)))])
    numbers, paired_seed = np.unique(results.paired_seeds, return_inverse=True)
    repeats = -(-RESAMPLES // len(drawn))
    players = results.seats.shape[1]
    weights, duels = _draw(len(numbers), 1 + len(rungs), players, seed, repeats * len(drawn))
    ladder = np.concatenate([rungs[None], np.tile(drawn, (repeats, 1))])
    start = np.concatenate([ladder.mean(axis=1, keepdims=True), ladder], axis=1) / POINTS
    free = np.arange(start.shape[1]) == 0
    theta = _fit(_sums(results, paired_seed, len(numbers), len(free)), weights.paired_seeds, duels, players, start, free)
    rating = POINTS * theta[:, :1]
    wins, vp, margin = _alone(results, paired_seed, weights, len(free))
    return Newcomer(
        points=estimates(rating)[0],
        better=better(rating[1:], ladder[1:])[0],
        wins=wins[0],
        vp=vp[0],
        margin=margin[0],
        against=_pairs(results, paired_seed, weights, len(free))[0][1:],
        paired_seeds=len(numbers),
        games=len(paired_seed),
    )
