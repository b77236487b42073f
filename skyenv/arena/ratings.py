"""How strong are agents, seen from the games that they played? Ratings with intervals.

**Model.** What a game decides is who wins it, and of the agents at a table agent i in seat s wins
with the probability e^(θᵢ + δₛ) / Σ e^(θⱼ + δₜ): a conditional logit (Luce's choice model, the
top-1 part of Plackett–Luce's; with two players Bradley–Terry's with the advantage of the seat).
Winners that share a win (END-4) have their fractions of it. A rating is θ in Elo's points,
400 · log₁₀ of the odds: 400 points more are odds of 10 to 1 between seats of equal worth. Without
δ, what a seat decides would be taken for the agents' luck, and ratings would shrink.

**Which games.** Ratings come from tables of different agents. One against copies of another is
another game: there being the odd one out pays by itself, whoever it is. So those games are reported
apart (*duels*), both ways round, with the *effective par*: what each of the two would have if they
were equally strong, the mean of both ways. So a tournament has at least as many agents as seats.

**Set aside.** A search that takes for its opponents' decisions those of an agent (or for the root
of its tree) wins more against that agent than against others of its strength. With two players such
pairs are reported, and don't rate; unless an agent would be left with no game that does. At larger
tables, where others sit with the two, all games of different agents rate.

**The scale.** Only differences mean something, so the mean of the *anchors* is put at 1000: of
those of `ANCHORS` that play; of all agents where none does. They never change, cost little, no
other agent is made of them, and they win and lose against the others, so that the gap to them is
measured. (Greedy is what searches play on with and what networks start from; random and crowd lose
everything, and how far away that is no game can tell.)

**Agents that win all or nothing** would be infinitely strong or weak. So each agent has two
*imaginary paired seeds* beside those played, shared out among its opponents and the seats: one in
which it wins all games of a pair, and one in which it loses them. They pull ratings together, and
seats, by the weight of two paired seeds, whatever the number of paired seeds played and of agents.

**Intervals** come from the Bayesian bootstrap over paired seeds (:mod:`skyenv.arena.estimates`), in
which imaginary paired seeds have random weights, too. So an agent that never lost has a chance to
be the worse one after all: of two agents, one that won each of n paired seeds is the better one
with the probability 1 − ½ⁿ⁺¹ (Laplace's rule of succession).

**Is the model right?** For every pair what was played stands beside what the ratings predict: of
the games at tables with both that one of them won, the share of the one, in the mean over seats.

**What a rating hides.** Beside each rating stands the *worst opponent*: of all that played alone
against the agent, or copies of it, the one whose wins have the highest lower bound. What it wins
above its par is a lower bound of how exploitable the agent is.

**Why not a library's fit.** choix fits this very model without seats and is well kept, but it takes
neither fractions of a win nor weights (which the bootstrap is made of), and loops over games in
Python. Wins per agent and seat and games per seating are all that the likelihood needs, so all 1000
fits are one small vectorised Newton iteration; tests hold it against choix.
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
    GROUPS,
    RESAMPLES,
    Estimate,
    Floats,
    Weights,
    estimates,
    with_data,
)
from skyenv.checks import Int64

ITERATIONS: Final = 500
# No parameter moves further in one step of Newton's: from far away a full step could overshoot
# without end.
LONGEST_STEP: Final = 1.0

# Numbers in the largest array of a fit.
CHUNK: Final = 2**21

# A seat of an imaginary game that neither of the two agents has.
EMPTY: Final = -1

# Agents whose mean is put at `ANCHOR_POINTS`.
ANCHORS: Final = ("appraiser", "builder", "bidder")
ANCHOR_POINTS: Final = 1000.0
# Points of a rating for one unit of θ.
POINTS: Final = 400 / np.log(10)

# Two agents are told apart if the probability that one is better is at least this.
SEPARATED: Final = (1 + CONFIDENCE) / 2


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
        one, other: who, counted from 0. games: how many, both ways together.
        one_alone, other_alone: their shares.
        par: the mean of both ways, what each would have if they were equally strong.
        ahead: by how much `one` is above it, half of the difference.
    """

    one: int
    other: int
    games: int
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
        seats: the share of the wins that each seat would have among equal agents.
        wins: share of the wins in the games between different agents. vp: VP there. margin: own VP
            minus the best other's there.
        pairs: by (i, j), of the games that i or j won at tables of different agents with both, the
            share of i; without those who have none.
        predicted: float64 (K, K), the same by the ratings, in the mean over seats.
        duels: every two agents that played duels (more than two players).
        alone: by (i, j), the share of the wins that i has alone against j, or copies of it.
        apart: pairs of agents, counted from 0, whose games are reported and don't rate.
        anchors: indices of the agents whose mean rating is fixed.
        paired_seeds, games: how many.

    Against a ladder agent 0 alone is rated, and `wins`, `vp` and `margin` are its own.
    """

    points: list[Estimate]
    samples: Floats
    better: Floats
    seats: list[Estimate]
    wins: list[Estimate]
    vp: list[Estimate]
    margin: list[Estimate]
    pairs: dict[tuple[int, int], Estimate]
    predicted: Floats
    duels: list[Duel]
    alone: dict[tuple[int, int], Estimate]
    apart: list[tuple[int, ...]]
    anchors: list[int]
    paired_seeds: int
    games: int

    def worst(self, agent: int) -> tuple[int, Estimate] | None:
        """The opponent that is best alone against an agent, and its share of the wins; None if none
        played so. The highest of many means would be high by luck, too; so the lower bound decides.
        """
        shares = [(one, share) for (one, other), share in self.alone.items() if other == agent]
        return max(shares, key=lambda each: each[1].low, default=None)


# ---- fitting ----


def _with_other_imaginary(weights: Weights, players: int, seed: int) -> Weights:
    """The same weights of the paired seeds that were played, with other imaginary ones, for a share
    of par 1 / `players`.
    """
    rng = np.random.default_rng([seed, players])
    other = Weights.draw(rng, 1, players, len(weights.drawn))
    return replace(weights, won=other.won, lost=other.lost)


def _fit(
    games: GameResults,
    weights: Weights,
    duels: Floats,
    start: Floats | None = None,
) -> Floats:
    """Return the parameters of the agents and of all seats but the first, float64
    (1 + r, K + players − 1), for each sample of weights of paired seeds, by games between
    different agents.

    Args:
        duels: float64 (1 + r, K, K), weights of imaginary paired seeds that the row's agent won
            from the column's.
        start: float64 (1 + r, K), the agents' parameters if only the first one's is looked for.
    """
    agents = duels.shape[1]
    players = games.seats.shape[1]
    wins, counts, seatings = _sums(games, weights.drawn.shape[1], agents)
    pairs = np.array(list(itertools.combinations(range(agents), 2)))
    chairs = np.array(list(itertools.permutations(range(players), 2)))
    imaginary = np.full((len(pairs), len(chairs), players), EMPTY)
    imaginary[:, np.arange(len(chairs))[:, None], chairs] = pairs[:, None]
    # Games of a paired seed that a pair decides: in duels,
    decided = 2.0 if players == 2 else 2.0 * players * ((players - 1) / (agents - 1))  # or mixed
    duels = decided / (agents - 1) * duels
    either = (duels + duels.transpose(0, 2, 1))[:, pairs[:, 0], pairs[:, 1]]
    played = weights.sums(np.concatenate([wins, counts], axis=1))
    wins, counts = np.split(played, [wins.shape[1]], axis=1)
    wins[:, :agents] += duels.sum(axis=2)
    wins[:, agents:] += duels.sum(axis=(1, 2))[:, None] / players
    counts = np.column_stack([counts, np.repeat(either, len(chairs), axis=1) / len(chairs)])
    seatings = np.concatenate([seatings, imaginary.reshape(-1, players)])
    return strengths(wins, counts, places(seatings, agents), start=start)


def _totals(seats: Int64, values: npt.ArrayLike, agents: int) -> Floats:
    """What each agent has in all its seats of values of seats, (k, players): float64 (K, k)."""
    return np.stack([np.where(seats == agent, values, 0.0).sum(axis=1) for agent in range(agents)])


# ---- ratings ----


def rate(
    results: GameResults,
    names: Sequence[str],
    seed: int = 0,
    resamples: int = RESAMPLES,
    ladder: Floats | None = None,
    apart: Sequence[tuple[int, ...]] = (),
) -> Ratings:
    """Rate agents by the games between them, or the first one against others whose ratings stand.

    A ladder's ratings are held as they were published; seats are fitted to the newcomer's games.
    Every bootstrap sample of the newcomer's paired seeds is fitted against one of the ladder's own
    bootstrap samples, so that what is not known about the ladder is in the newcomer's interval too.

    Args:
        results: at least one game of every agent that is rated, at tables of different agents.
        names: of the agents; they choose the anchor.
        seed: of the bootstrap. resamples: how many samples it takes, at least.
        ladder: float64 (1 + r, K − 1), the ratings of the other agents and r bootstrap samples of
            them; None: all agents are rated.
        apart: pairs whose games don't rate, unless an agent would have no others.
    """
    agents = len(names)
    players = results.seats.shape[1]
    rated = agents if ladder is None else 1
    mixed = np.array([len(set(seats)) == players for seats in results.seats.tolist()])
    numbers, paired_seed = np.unique(results.paired_seeds, return_inverse=True)
    results = replace(results, paired_seeds=paired_seed % GROUPS)
    different = _some(results, mixed)
    aside, rating = _set_aside(different, apart, rated)
    start = None
    if ladder is not None:
        repeats = -(-resamples // (len(ladder) - 1))
        resamples = repeats * (len(ladder) - 1)
        ladder = np.concatenate([ladder[:1], np.tile(ladder[1:], (repeats, 1))])
        start = np.column_stack([ladder.mean(axis=1), ladder]) / POINTS
    rng = np.random.default_rng(seed)
    weights = Weights.draw(rng, len(numbers), players, resamples)
    imaginary = with_data(rng.exponential(size=(resamples, agents, agents)), 1)
    imaginary *= 1 - np.eye(agents)
    anchors = [index for index, name in enumerate(names) if name in ANCHORS] or list(range(agents))
    fitted = _fit(rating, weights, imaginary, start)
    points = POINTS * fitted[:, :agents]
    if ladder is None:
        points += ANCHOR_POINTS - points[:, anchors].mean(axis=1, keepdims=True)
    seats = np.pad(fitted[:, agents:], ((0, 0), (1, 0)))
    worth = np.exp(seats)
    wins, vp, margin = _alone(different, weights, rated)
    pairs = _pairs(different, _with_other_imaginary(weights, 2, seed), agents)
    duels = _duels(results, weights, agents, seed)
    return Ratings(
        points=estimates(points),
        samples=points[1:],
        better=better(points[1:], points[1:]),
        seats=estimates(worth / worth.sum(axis=1, keepdims=True)),
        wins=wins,
        vp=vp,
        margin=margin,
        pairs=pairs,
        predicted=_predicted(points[0] / POINTS, seats[0]),
        duels=duels,
        alone=pairs if players == 2 else _alone_in(duels),
        apart=aside,
        anchors=anchors,
        paired_seeds=len(numbers),
        games=len(results.seats),
    )


def _some(games: GameResults, which: npt.NDArray[np.bool_]) -> GameResults:
    return GameResults(*(values[which] for values in vars(games).values()))


def _set_aside(
    games: GameResults, apart: Sequence[tuple[int, ...]], rated: int
) -> tuple[list[tuple[int, ...]], GameResults]:
    """Return the pairs that are set aside, and the games that rate."""
    aside = [tuple(sorted(pair)) in set(apart) for pair in games.seats.tolist()]
    left = _some(games, ~np.array(aside))
    if set(range(rated)) - set(left.seats.ravel().tolist()):
        return [], games
    return list(apart), left


def _predicted(theta: Floats, seats: Floats) -> Floats:
    """Return the share of each agent in what it or another one wins, float64 (K, K), in the mean
    over the seats that two can have.
    """
    one, other = np.array(list(itertools.permutations(range(len(seats)), 2))).T
    ahead = theta[:, None, None] - theta[:, None] + seats[one] - seats[other]
    return np.asarray((1 / (1 + np.exp(-ahead))).mean(axis=2))


def _alone_in(duels: list[Duel]) -> dict[tuple[int, int], Estimate]:
    """See :class:`Ratings`."""
    alone = {(duel.one, duel.other): duel.one_alone for duel in duels}
    return alone | {(duel.other, duel.one): duel.other_alone for duel in duels}


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


def _pairs(games: GameResults, halves: Weights, agents: int) -> dict[tuple[int, int], Estimate]:
    """See :class:`Ratings`; `halves` are weights for shares whose par is ½."""
    there = _totals(games.seats, 1, agents) > 0
    won = _totals(games.seats, games.shares, agents)
    pairs = {}
    for one, other in itertools.permutations(range(agents), 2):
        either = won[one] + won[other]
        both = there[one] & there[other] & (either > 0)
        if both.any():
            pairs[one, other] = halves.mean(
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
        number = 0
        for alone, copied, of in zip(pair, reversed(pair), drawn, strict=True):
            games = (seats[alone] == 1) & (seats[copied] == players - 1)
            number += int(games.sum())
            if games.any():
                ways.append(of.samples(won[alone][games], results.paired_seeds[games], share=True))
        if len(ways) == 2:
            mine, theirs = ways
            samples = np.stack([mine, theirs, (mine + theirs) / 2, (mine - theirs) / 2], axis=1)
            duels.append(Duel(*pair, number, *estimates(samples)))
    return duels


# ---- the model and its fit ----


def _sums(games: GameResults, paired_seeds: int, agents: int) -> tuple[Floats, Floats, Int64]:
    """Return what each of D paired seeds gave: the wins of K agents and of all seats but the first,
    float64 (D, K + players − 1); the games of C seatings, float64 (D, C); and these, int64
    (C, players).
    """
    seatings, kind = np.unique(games.seats, axis=0, return_inverse=True)
    players = seatings.shape[1]
    wins = np.zeros((paired_seeds, agents + players))
    rows = games.paired_seeds[:, None]
    np.add.at(wins, (rows, games.seats), games.shares)
    np.add.at(wins, (rows, agents + np.arange(players)), games.shares)
    counts = np.zeros((paired_seeds, len(seatings)))
    np.add.at(counts, (games.paired_seeds, kind.ravel()), 1)
    return np.delete(wins, agents, axis=1), counts, seatings


def places(seatings: Int64, agents: int) -> Floats:
    """Return the parameters that count for each seat of C seatings, 1 for its agent's and for its
    own: float64 (C, players, K + players − 1). Seats that are `EMPTY` have none.
    """
    players = seatings.shape[1]
    own = np.eye(agents + 1)[seatings][:, :, :agents]
    seats = np.eye(players)[:, 1:] * (seatings != EMPTY)[:, :, None]
    return np.concatenate([own, seats], axis=2)


def chances(parameters: Floats, design: Floats) -> Floats:
    """The share of the wins that each seat has in each seating, float64 (r, C, players), for
    parameters (r, K + players − 1) and the `design` of :func:`places`.
    """
    strength = parameters @ design.reshape(-1, design.shape[2]).T
    strength = strength.reshape(len(parameters), *design.shape[:2])
    strength = np.where(design.any(axis=2), strength, -np.inf)
    tickets = np.exp(strength - strength.max(axis=2, keepdims=True))
    return np.asarray(tickets / tickets.sum(axis=2, keepdims=True))


def strengths(
    wins: Floats, counts: Floats, design: Floats, *, start: Floats | None = None
) -> Floats:
    """The most likely parameters, for r sets of games at once.

    Args:
        wins: float64 (r, K + players − 1), see :func:`_sums`; with weights.
        counts: float64 (r, C), games of each seating, weights included.
        design: float64 (C, players, K + players − 1), see :func:`places`.
        start: float64 (r, K), the agents' parameters if all but the first one's stand; None: all
            are looked for, and only their differences mean something.

    Returns:
        float64 (r, K + players − 1). Every agent must have won and lost something, else there is no
        finite answer.
    """
    parameters = np.zeros_like(wins)
    searched = np.arange(wins.shape[1])
    if start is not None:
        parameters[:, : start.shape[1]] = start
        searched = np.delete(searched, np.s_[1 : start.shape[1]])
    rows = max(1, CHUNK // design.size)
    for first in range(0, len(wins), rows):
        part = slice(first, first + rows)
        _climb(parameters[part], wins[part], counts[part], design, searched, flat=start is None)
    return parameters


def _climb(
    parameters: Floats,
    wins: Floats,
    counts: Floats,
    design: Floats,
    searched: Int64,
    *,
    flat: bool,
) -> None:
    """Newton's iteration on some columns of the parameters, in place."""
    rows, width = parameters.shape
    places = design.reshape(-1, width)
    squares = np.einsum("kp,kq->kpq", places, places).reshape(-1, width**2)
    for _ in range(ITERATIONS):
        chance = chances(parameters, design)
        expected = (counts[:, :, None] * chance).reshape(rows, -1)
        mean = np.einsum("rcs,csp->rcp", chance, design)
        information = (expected @ squares).reshape(rows, width, width)
        information -= np.einsum("rcp,rcq->rpq", counts[:, :, None] * mean, mean, optimize=True)
        curvature = information[:, searched[:, None], searched]
        if flat:  # the likelihood is, along a shift of all agents, so any curvature there will do
            more = np.trace(curvature, axis1=1, axis2=2) / len(searched) ** 2
            curvature = curvature + more[:, None, None]
        slope = (wins - expected @ places)[:, searched, None]
        step = np.linalg.solve(curvature, slope)[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        parameters[:, searched] += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < 1e-9:
            break
