"""Ratings of agents with intervals, fitted to the results of their games.

**Model.** At a table, agent i in seat s wins with probability e^(θᵢ + δₛ) / Σ e^(θⱼ + δₜ). This is
a conditional logit (Luce's choice model, the top-1 part of Plackett–Luce). With two players it is
Bradley–Terry with a seat advantage. Shared wins (END-4) count as fractions. A rating is θ in Elo
points, 400 · log₁₀ of the odds: 400 points more mean odds of 10 to 1 between equal seats. Without
δ, seat effects would look like noise and shrink the ratings.

**Games.** Ratings use tables of different agents only. One agent against copies of another is a
different game, in which being the odd one out pays by itself. Those games are reported separately
as *duels*, in both directions, with the *effective par*: the mean of both directions, which is the
share of equal agents. A tournament therefore needs at least as many agents as seats.

**Excluded pairs.** A search that models its opponents by an agent, or takes its root prior from it,
wins more against that agent than against others of equal strength. With two players such pairs are
reported but not rated, unless an agent would have no rated game left. At larger tables all games of
different agents are rated.

**Scale.** Only differences are identified, so the mean of the *anchors* is set to 1000. Anchors are
the members of `ANCHORS` that play; without any, all agents. They never change, are cheap, and no
other agent is built from them. They win and lose against the others, so the gap is measured.
(Greedy is unsuitable: searches use it in rollouts and networks start from it. Random and crowd lose
every game, so their distance cannot be measured.)

**Agents that win or lose every game** would have infinite ratings. Each agent therefore has two
*imaginary paired seeds*, spread over its opponents and the seats: in one it wins all games of a
pair, in the other it loses them. They shrink ratings and seat effects by the weight of two paired
seeds, whatever the number of agents and of paired seeds played.

**Intervals** come from the Bayesian bootstrap over paired seeds (:mod:`skyenv.statistics`),
which also weights the imaginary ones. An agent that never lost may thus still be the weaker one. If
it won each of n paired seeds against another, it is better with probability 1 − ½ⁿ⁺¹ (Laplace's
rule of succession).

**Model check.** For every pair the ladder reports the observed and the predicted share: of the
games at tables with both that either won, the share of the one, averaged over seats.

**Exploitability.** Beside each rating stands the *worst opponent*. It is the agent whose wins,
alone against the rated agent or its copies, have the highest lower bound. Its wins above par are a
lower bound of the rated agent's exploitability.

**Implementation.** The library choix fits this model without seats, but supports neither fractional
wins nor weights, and loops over games in Python. The likelihood needs only wins by agent and seat
and games by seating, so one vectorized Newton iteration makes all 1000 fits. Tests compare it with
choix.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from skyenv.array_types import ArrayLike, Bool, Float64, Int64
from skyenv.statistics import CONFIDENCE, GROUPS, RESAMPLES, Estimate, Weights, estimates, with_data

ITERATIONS: Final = 500
# Largest change of a parameter in a Newton step: far from the optimum a full step can diverge.
LONGEST_STEP: Final = 1.0

# Numbers in the largest array of a fit.
CHUNK: Final = 2**21

# A seat of an imaginary game that neither of the two agents occupies.
EMPTY: Final = -1

# Agents whose mean rating is set to `ANCHOR_POINTS`.
ANCHORS: Final = ("appraiser", "builder", "bidder")
ANCHOR_POINTS: Final = 1000.0
# Rating points per unit of θ.
POINTS: Final = 400 / np.log(10)

# Two agents are separated if the probability that one is better is at least this.
SEPARATED: Final = (1 + CONFIDENCE) / 2


@dataclass(frozen=True)
class GameResults:
    """The results of k games.

    Attributes:
        paired_seeds: int64 (k,), their numbers. seats: int64 (k, players), the agents' indices.
        shares: float64 (k, players), of the win. scores: int64 (k, players), VP.
    """

    paired_seeds: Int64
    seats: Int64
    shares: Float64
    scores: Int64


@dataclass(frozen=True)
class Duel:
    """Two agents, each alone against copies of the other; shares of the lone agent's wins.

    Attributes:
        one, other: indices of the agents. games: their number in both directions.
        one_alone, other_alone: the lone agent's share in each direction.
        par: the mean of both directions, the share of equal agents.
        ahead: `one_alone` − `par`, half of the difference.
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
    """The ratings of K agents and related estimates; intervals are 95 %.

    Attributes:
        points: each agent's rating. samples: float64 (resamples, K), its bootstrap samples.
        better: float64 (K, K), the probability that the row's agent is better than the column's;
            ½ on the diagonal.
        seats: each seat's share of the wins among equal agents.
        wins: share of the wins in games between different agents. vp: VP there. margin: own VP
            minus the best other seat's there.
        pairs: by (i, j), the share of i in the games that i or j won at tables of different agents
            with both; pairs without such games are left out.
        predicted: float64 (K, K), the same share by the ratings, averaged over seats.
        duels: the duels of every two agents (more than two players).
        alone: by (i, j), the share of the wins of i alone against j or copies of it.
        apart: pairs of agents (indices) whose games are reported but not rated.
        anchors: indices of the agents whose mean rating is fixed.
        paired_seeds, games: their numbers.

    Against a ladder only agent 0 is rated; `wins`, `vp` and `margin` are its own.
    """

    points: list[Estimate]
    samples: Float64
    better: Float64
    seats: list[Estimate]
    wins: list[Estimate]
    vp: list[Estimate]
    margin: list[Estimate]
    pairs: dict[tuple[int, int], Estimate]
    predicted: Float64
    duels: list[Duel]
    alone: dict[tuple[int, int], Estimate]
    apart: list[tuple[int, ...]]
    anchors: list[int]
    paired_seeds: int
    games: int

    def worst(self, agent: int) -> tuple[int, Estimate] | None:
        """Return the strongest lone opponent of an agent and its share of the wins, or None.

        The lower bound decides, as the highest of many means would be biased upwards.
        """
        shares = [(one, share) for (one, other), share in self.alone.items() if other == agent]
        return max(shares, key=lambda each: each[1].low, default=None)


# ---- fitting ----


def _with_other_imaginary(weights: Weights, players: int, seed: int) -> Weights:
    """Return the same weights of played paired seeds, with new imaginary ones for par
    1 / `players`.
    """
    rng = np.random.default_rng([seed, players])
    other = Weights.draw(rng, 1, players, len(weights.drawn))
    return replace(weights, won=other.won, lost=other.lost)


def _fit(
    games: GameResults,
    weights: Weights,
    duels: Float64,
    start: Float64 | None = None,
) -> Float64:
    """Fit the parameters of the agents and of all seats but the first to games between different
    agents, for each sample of weights: float64 (1 + r, K + players − 1).

    Args:
        duels: float64 (1 + r, K, K), weights of imaginary paired seeds that the row's agent won
            against the column's.
        start: float64 (1 + r, K), the agents' parameters if only agent 0's is fitted.
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


def _totals(seats: Int64, values: ArrayLike, agents: int) -> Float64:
    """Return each agent's total of the seats' values, (k, players): float64 (K, k)."""
    return np.stack([np.where(seats == agent, values, 0.0).sum(axis=1) for agent in range(agents)])


# ---- ratings ----


def rate(
    results: GameResults,
    names: Sequence[str],
    seed: int = 0,
    resamples: int = RESAMPLES,
    ladder: Float64 | None = None,
    apart: Sequence[tuple[int, ...]] = (),
) -> Ratings:
    """Rate agents by the games between them, or agent 0 against a ladder.

    The ladder's ratings stay fixed; seats are fitted to the newcomer's games. Every bootstrap
    sample of the newcomer's paired seeds is fitted against one of the ladder's bootstrap samples,
    so the newcomer's interval includes the ladder's uncertainty.

    Args:
        results: at least one game of every rated agent at tables of different agents.
        names: the agents' names, which determine the anchors.
        seed: the bootstrap's seed. resamples: the least number of samples.
        ladder: float64 (1 + r, K − 1), the other agents' ratings and r bootstrap samples of them;
            None: rate all agents.
        apart: pairs whose games aren't rated, unless an agent would have no rated game.
    """
    agents = len(names)
    players = results.seats.shape[1]
    rated = agents if ladder is None else 1
    mixed = np.array([len(set(seats)) == players for seats in results.seats.tolist()])
    numbers, paired_seed = np.unique(results.paired_seeds, return_inverse=True)
    results = replace(results, paired_seeds=paired_seed % GROUPS)
    different = some_of(results, mixed)
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


def some_of(games: GameResults, which: Bool) -> GameResults:
    """Return the results of some games; `which`: bool (k,)."""
    return GameResults(*(values[which] for values in vars(games).values()))


def _set_aside(
    games: GameResults, apart: Sequence[tuple[int, ...]], rated: int
) -> tuple[list[tuple[int, ...]], GameResults]:
    """Return the excluded pairs, and the rated games."""
    aside = [tuple(sorted(pair)) in set(apart) for pair in games.seats.tolist()]
    left = some_of(games, ~np.array(aside))
    if set(range(rated)) - set(left.seats.ravel().tolist()):
        return [], games
    return list(apart), left


def _predicted(theta: Float64, seats: Float64) -> Float64:
    """Return the predicted share of the row's agent in the wins of row and column, float64 (K, K),
    averaged over the seats of the two.
    """
    one, other = np.array(list(itertools.permutations(range(len(seats)), 2))).T
    ahead = theta[:, None, None] - theta[:, None] + seats[one] - seats[other]
    return np.asarray((1 / (1 + np.exp(-ahead))).mean(axis=2))


def _alone_in(duels: list[Duel]) -> dict[tuple[int, int], Estimate]:
    """Return :attr:`Ratings.alone` by the duels."""
    alone = {(duel.one, duel.other): duel.one_alone for duel in duels}
    return alone | {(duel.other, duel.one): duel.other_alone for duel in duels}


def better(one: Float64, other: Float64) -> Float64:
    """Return the shares of samples, (r, a) and (r, b), in which each column of a is above each of
    b, float64 (a, b); ties count half.
    """
    difference = one[:, :, None] - other[:, None, :]
    return np.asarray((difference > 0).mean(axis=0) + (difference == 0).mean(axis=0) / 2)


def best_other(scores: Int64) -> Int64:
    """Return the highest score among the other seats, int64 (k, players)."""
    others = np.where(np.eye(scores.shape[1], dtype=bool), -1, scores[:, None, :])
    return np.asarray(others.max(axis=2))


def _alone(games: GameResults, weights: Weights, agents: int) -> list[list[Estimate]]:
    """Return wins, VP and margin of the first agents in games between different agents."""
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
    """Return :attr:`Ratings.pairs`; `halves` are weights for shares whose par is ½."""
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
    """Return the duels of every two agents; none with two players."""
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


def _sums(games: GameResults, paired_seeds: int, agents: int) -> tuple[Float64, Float64, Int64]:
    """Return the sufficient statistics of D paired seeds.

    They are the wins of K agents and of all seats but the first, float64 (D, K + players − 1); the
    number of games of C seatings, float64 (D, C); and these seatings, int64 (C, players).
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


def places(seatings: Int64, agents: int) -> Float64:
    """Return the design matrix of C seatings, float64 (C, players, K + players − 1): for each seat
    1 at its agent's and at its own parameter; zeros for `EMPTY` seats.
    """
    players = seatings.shape[1]
    own = np.eye(agents + 1)[seatings][:, :, :agents]
    seats = np.eye(players)[:, 1:] * (seatings != EMPTY)[:, :, None]
    return np.concatenate([own, seats], axis=2)


def chances(parameters: Float64, design: Float64) -> Float64:
    """Return each seat's win probability in each seating, float64 (r, C, players), for parameters
    (r, K + players − 1) and the `design` of :func:`places`.
    """
    strength = parameters @ design.reshape(-1, design.shape[2]).T
    strength = strength.reshape(len(parameters), *design.shape[:2])
    strength = np.where(design.any(axis=2), strength, -np.inf)
    tickets = np.exp(strength - strength.max(axis=2, keepdims=True))
    return np.asarray(tickets / tickets.sum(axis=2, keepdims=True))


def strengths(
    wins: Float64, counts: Float64, design: Float64, *, start: Float64 | None = None
) -> Float64:
    """Return the maximum-likelihood parameters for r sets of games at once.

    Args:
        wins: float64 (r, K + players − 1), weighted wins, see :func:`_sums`.
        counts: float64 (r, C), weighted games of each seating.
        design: float64 (C, players, K + players − 1), see :func:`places`.
        start: float64 (r, K), the agents' parameters, of which all but the first stay fixed; None:
            fit all, which identifies only their differences.

    Returns:
        float64 (r, K + players − 1); finite only if every agent has won and lost something.
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
    parameters: Float64,
    wins: Float64,
    counts: Float64,
    design: Float64,
    searched: Int64,
    *,
    flat: bool,
) -> None:
    """Run Newton's iteration on some columns of the parameters, in place."""
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
        if flat:  # along a common shift of all agents, so any curvature works
            more = np.trace(curvature, axis1=1, axis2=2) / len(searched) ** 2
            curvature = curvature + more[:, None, None]
        slope = (wins - expected @ places)[:, searched, None]
        step = np.linalg.solve(curvature, slope)[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        parameters[:, searched] += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max() < 1e-9:
            break
