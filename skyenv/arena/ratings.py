"""How strong are agents, seen from the games that they played? Ratings with intervals.

**Model.** What a game decides is who wins it, and of the agents at a table agent i wins with the
probability e^θᵢ / Σ e^θⱼ (Luce's choice model: the top-1 part of Plackett–Luce's; with two players
Bradley–Terry's). Winners that share a win (END-4) have their fractions of it. A rating is θ in
Elo's points, 400 · log₁₀ of the odds: 400 points more are odds of 10 to 1.

**Which games.** Ratings come from tables of different agents. One against copies of another is
another game: there being the odd one out pays by itself, whoever it is. So those games are reported
apart (*duels*), both ways round, with the *effective par*: what each of the two would have if they
were equally strong, the mean of both ways. So a tournament has at least as many agents as seats.

**The scale.** Only differences mean something, so the mean of the *anchors* is put at 1000: of
those of `ANCHORS` that play; of all agents where none does. They never change, cost little, no
other agent is made of them, and they win and lose against the others, so that the gap to them is
measured. (Greedy is what searches play on with and what networks start from; random and crowd lose
everything, and how far away that is no game can tell.)

**Agents that win all or nothing** would be infinitely strong or weak. So each agent has two
*imaginary paired seeds* beside those played, shared out among its opponents: one in which it wins
all games of a pair, and one in which it loses them. They pull ratings together by the weight of two
paired seeds, whatever the number of paired seeds played and of agents.

**Intervals** come from the Bayesian bootstrap over paired seeds (:mod:`skyenv.arena.estimates`), in
which imaginary paired seeds have random weights, too. So an agent that never lost has a chance to
be the worse one after all: of two agents, one that won each of n paired seeds is the better one
with the probability 1 − ½ⁿ⁺¹ (Laplace's rule of succession).

**Is the model right?** For every pair what was played stands beside what the ratings predict: of
the games at tables with both that one of them won, the share of the one.

**Why not a library's fit.** choix fits this very model and is well kept, but it takes neither
fractions of a win nor weights (which the bootstrap is made of), and loops over games in Python.
Wins per agent and games per kind of table are all that the likelihood needs, so all 1000 fits are
one small vectorised Newton iteration; tests hold it against choix.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.arena.estimates import (
    CONFIDENCE,
    RESAMPLES,
    Estimate,
    Floats,
    Weights,
    estimates,
    with_data,
)
from skyenv.checks import Int64
from skyenv.errors import OptionError

ITERATIONS: Final = 500
LONGEST_STEP: Final = 1.0
"""No parameter moves further in one step of Newton's: from far away a full step could overshoot
without end.
"""

CHUNK: Final = 2**21
"""Numbers in the largest array of a fit."""

ANCHORS: Final = ("appraiser", "builder", "bidder")
"""Agents whose mean is put at `ANCHOR_POINTS`."""
ANCHOR_POINTS: Final = 1000.0
POINTS: Final = 400 / np.log(10)
"""Points of a rating for one unit of θ."""

SEPARATED: Final = (1 + CONFIDENCE) / 2
"""Two agents are told apart if the probability that one is better is at least this."""


@dataclass(frozen=True)
class GameResults:
    """Games that were played, k in all.

    Attributes:
        paired_seeds: int64 (k,), which one. seats: int64 (k, players), the agent in every seat,
            counted from 0.
        shares: float64 (k, players), of the win. scores: int64 (k, players), VP.
    """

    paired_seeds: Int64
    seats: Int64
    shares: Floats
    scores: Int64


@dataclass(frozen=True)
class Duel:
    """Two agents, each alone against copies of the other; shares of the wins of the one who is
    alone.

    Attributes:
        one, other: who, counted from 0. one_alone, other_alone: their shares.
        par: the mean of both ways, what each would have if they were equally strong.
        ahead: by how much `one` is above it, half of the difference.
    """

    one: int
    other: int
    one_alone: Estimate
    other_alone: Estimate
    par: Estimate
    ahead: Estimate


@dataclass(frozen=True)
class Ratings:
    """What games say about K agents; intervals are 95 %.

    Attributes:
        points: the rating of each. samples: float64 (resamples, K), the ratings of every bootstrap
            sample.
        better: float64 (K, K), the probability that the agent of the row is better than that of the
            column; ½ on the diagonal.
        wins: share of the wins in the games that rate. vp: VP there. margin: own VP minus the best
            other's there.
        pairs: in row i and column j, of the games that i or j won at tables of different agents
            with both, the share of i; None where there are none.
        predicted: float64 (K, K), the same by the ratings.
        duels: every two agents that played duels (more than two players).
        anchors: indices of the agents whose mean rating is fixed.
        paired_seeds, games: how many. played: int64 (K,), of how many paired seeds each agent has
            games that rate.

    Against a ladder agent 0 alone is rated, and `wins`, `vp` and `margin` are its own.
    """

    points: list[Estimate]
    samples: Floats
    better: Floats
    wins: list[Estimate]
    vp: list[Estimate]
    margin: list[Estimate]
    pairs: list[list[Estimate | None]]
    predicted: Floats
    duels: list[Duel]
    anchors: list[int]
    paired_seeds: int
    games: int
    played: Int64

    def order(self) -> list[int]:
        """The agents from the best to the worst."""
        return sorted(range(len(self.points)), key=lambda index: -self.points[index].mean)


# ---- fitting ----


def _draw(
    paired_seeds: int, agents: int, players: int, seed: int, resamples: int
) -> tuple[Weights, Floats]:
    """Random weights of paired seeds, and imaginary ones that the row's agent won from the
    column's, float64 (1 + r, K, K).
    """
    rng = np.random.default_rng(seed)
    weights = Weights.draw(rng, paired_seeds, players, resamples)
    return weights, with_data(rng.exponential(size=(resamples, agents, agents)), 1) * (
        1 - np.eye(agents)
    )


def _with_other_imaginary(weights: Weights, players: int, seed: int) -> Weights:
    """The same weights of the paired seeds that were played, with other imaginary ones, for a share
    of par 1 / `players`.
    """
    rng = np.random.default_rng([seed, players])
    other = Weights.draw(rng, 1, players, weights.resamples)
    return replace(weights, won=other.won, lost=other.lost)


def _fit(
    games: GameResults,
    weights: Weights,
    duels: Floats,
    players: int,
    start: Floats | None = None,
    free: npt.ArrayLike | None = None,
) -> Floats:
    """The parameters for each sample of weights of paired seeds and imaginary paired seeds
    (:func:`_draw`), by games between different agents.
    """
    agents = duels.shape[1]
    wins, counts, tables = _sums(games, weights.paired_seeds, agents)
    first, second = np.triu_indices(agents, 1)
    one = np.eye(agents)
    # Games of a paired seed that a pair decides: in duels,
    decided = 2.0 if players == 2 else 2.0 * players
    if 2 < players <= agents:
        decided *= (players - 1) / (agents - 1)  # and at mixed tables
    duels = decided / (agents - 1) * duels
    played = weights.sums(np.concatenate([wins, counts], axis=1))
    wins, counts = np.split(played, [agents], axis=1)
    wins += duels.sum(axis=2)
    either = (duels + duels.transpose(0, 2, 1))[:, first, second]
    counts = np.concatenate([counts, either], axis=1)
    return strengths(
        wins,
        counts,
        np.concatenate([tables, one[first] + one[second]]),
        start=start,
        free=free,
    )


def _totals(seats: Int64, values: npt.ArrayLike, agents: int) -> npt.NDArray[np.float64]:
    """What each agent has in all its seats of values of seats, (k, players): float64 (K, k)."""
    return np.stack([np.where(seats == agent, values, 0.0).sum(axis=1) for agent in range(agents)])


# ---- ratings ----


def rate(
    results: GameResults,
    names: Sequence[str],
    seed: int = 0,
    resamples: int = RESAMPLES,
    ladder: Floats | None = None,
) -> Ratings:
    """Rate agents by the games between them, or the first one against others whose ratings stand.

    A ladder's ratings are held as they were published. Every bootstrap sample of the newcomer's
    paired seeds is fitted against one of the ladder's own bootstrap samples, so that what is not
    known about the ladder is in the newcomer's interval too.

    Args:
        results: at least one game of every agent that is rated.
        names: of the agents; they choose the anchor.
        seed: of the bootstrap. resamples: how many samples it takes, at least.
        ladder: float64 (1 + r, K − 1), the ratings of the other agents and r bootstrap samples of
            them; None: all agents are rated.

    Raises:
        OptionError: there are no games, or a rated agent has none at tables of different agents.
    """
    if not len(results.paired_seeds):
        raise OptionError("there are no games to rate agents by")
    agents, players = len(names), results.seats.shape[1]
    rated = agents if ladder is None else 1
    mixed = (np.diff(np.sort(results.seats, axis=1), axis=1) > 0).all(axis=1)
    for agent, name in enumerate(names[:rated]):
        if not (results.seats[mixed] == agent).any():
            raise OptionError(f"agent {name} has no games with different agents to be rated by")
    numbers, paired_seed = np.unique(results.paired_seeds, return_inverse=True)
    results = replace(results, paired_seeds=paired_seed)
    rating = GameResults(*(values[mixed] for values in vars(results).values()))
    if ladder is not None:
        repeats = -(-resamples // (len(ladder) - 1))
        resamples = repeats * (len(ladder) - 1)
        ladder = np.concatenate([ladder[:1], np.tile(ladder[1:], (repeats, 1))])
    weights, imaginary = _draw(len(numbers), agents, players, seed, resamples)
    anchors = [index for index, name in enumerate(names) if name in ANCHORS] or list(range(agents))
    if ladder is None:
        theta = _fit(rating, weights, imaginary, players)
        points = ANCHOR_POINTS + POINTS * (theta - theta[:, anchors].mean(axis=1, keepdims=True))
    else:
        start = np.column_stack([ladder.mean(axis=1), ladder]) / POINTS
        points = POINTS * _fit(rating, weights, imaginary, players, start, np.arange(agents) == 0)
    wins, vp, margin = _alone(rating, weights, rated)
    return Ratings(
        points=estimates(points),
        samples=points[1:],
        better=better(points[1:], points[1:]),
        wins=wins,
        vp=vp,
        margin=margin,
        pairs=_pairs(rating, _with_other_imaginary(weights, 2, seed), agents),
        predicted=1 / (1 + np.exp((points[0] - points[0][:, None]) / POINTS)),
        duels=_duels(results, weights, agents, seed),
        anchors=anchors,
        paired_seeds=weights.paired_seeds,
        games=len(results.seats),
        played=np.array(
            [
                len(np.unique(rating.paired_seeds[(rating.seats == agent).any(axis=1)]))
                for agent in range(agents)
            ]
        ),
    )


def better(one: Floats, other: Floats) -> Floats:
    """Shares of samples, (r, a) and (r, b), in which each of a is above each of b, float64 (a, b);
    equal ones count half.
    """
    difference = one[:, :, None] - other[:, None, :]
    return np.asarray((difference > 0).mean(axis=0) + (difference == 0).mean(axis=0) / 2)


def best_other(scores: Int64) -> Int64:
    """The highest score among the other seats, int64 (k, players)."""
    others = np.where(np.eye(scores.shape[1], dtype=bool), -1, scores[:, None, :])
    return np.asarray(others.max(axis=2))


def _alone(games: GameResults, weights: Weights, agents: int) -> list[list[Estimate]]:
    """Wins, VP and margin of the first agents in games between different agents."""
    there = _totals(games.seats, 1, agents) > 0
    margins = games.scores - best_other(games.scores)
    found = []
    for values, share in ((games.shares, True), (games.scores, False), (margins, False)):
        own = zip(_totals(games.seats, values, agents), there, strict=True)
        found.append(
            [weights.mean(of[one], games.paired_seeds[one], share=share) for of, one in own]
        )
    return found


def _pairs(games: GameResults, halves: Weights, agents: int) -> list[list[Estimate | None]]:
    """See :class:`Ratings`; `halves` are weights for shares whose par is ½."""
    there = _totals(games.seats, 1, agents) > 0
    won = _totals(games.seats, games.shares, agents)
    pairs: list[list[Estimate | None]] = [[None] * agents for _ in range(agents)]
    for one, other in itertools.permutations(range(agents), 2):
        either = won[one] + won[other]
        both = there[one] & there[other] & (either > 0)
        if both.any():
            pairs[one][other] = halves.mean(
                won[one][both], games.paired_seeds[both], per=either[both], share=True
            )
    return pairs


def _duels(results: GameResults, weights: Weights, agents: int, seed: int) -> list[Duel]:
    """What came of each two agents' duels; none with two players."""
    players = results.seats.shape[1]
    if players == 2:
        return []
    seats = _totals(results.seats, 1, agents)
    won = _totals(results.seats, results.shares, agents)
    drawn = (weights, _with_other_imaginary(weights, players, seed))
    duels = []
    for pair in itertools.combinations(range(agents), 2):
        ways = []
        for alone, copied, of in zip(pair, reversed(pair), drawn, strict=True):
            games = (seats[alone] == 1) & (seats[copied] == players - 1)
            if games.any():
                ways.append(of.samples(won[alone][games], results.paired_seeds[games], share=True))
        if len(ways) == 2:
            mine, theirs = ways
            samples = np.stack([mine, theirs, (mine + theirs) / 2, (mine - theirs) / 2], axis=1)
            duels.append(Duel(*pair, *estimates(samples)))
    return duels


# ---- the model and its fit ----


def _sums(games: GameResults, paired_seeds: int, agents: int) -> tuple[Floats, Floats, Floats]:
    """Return what each of D paired seeds gave: the wins of K agents, float64 (D, K); the games at C
    kinds of tables (who sits there, in whatever order), float64 (D, C); and 1 for each agent that
    sits there, float64 (C, K).
    """
    kinds, kind = np.unique(np.sort(games.seats, axis=1), axis=0, return_inverse=True)
    wins = np.zeros((paired_seeds, agents))
    np.add.at(wins, (games.paired_seeds[:, None], games.seats), games.shares)
    counts = np.zeros((paired_seeds, len(kinds)))
    np.add.at(counts, (games.paired_seeds, kind.ravel()), 1)
    return wins, counts, np.eye(agents)[kinds].sum(axis=1)


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
        wins: float64 (r, K), see :func:`_sums`; with weights.
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
    searched: Int64,
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
