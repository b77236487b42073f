"""Ratings: an independent library, ties, excluded pairs, coverage of intervals."""

import itertools
from collections.abc import Sequence

import choix
import numpy as np
import numpy.typing as npt
import pytest

from skyenv.arena.ratings import ANCHORS, POINTS, GameResults, better, rate
from skyenv.arena.schedule import Entrant, Settings

Floats = npt.NDArray[np.float64]


def schedule(
    agents: int, players: int, paired_seeds: int, *, newcomer: bool = False
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return paired seeds and seats as in a tournament."""
    entrants = tuple(Entrant(str(index), str(index), "1", "") for index in range(agents))
    settings = Settings(entrants, players, newcomer=newcomer)
    games = [
        (paired_seed, settings.seatings(group, paired_seed))
        for paired_seed in range(paired_seeds)
        for group in settings.groups(paired_seed)
    ]
    return np.repeat(
        [paired_seed for paired_seed, _ in games], [len(seats) for _, seats in games]
    ), np.concatenate([seats for _, seats in games])


def played(
    theta: Floats,
    players: int,
    paired_seeds: int,
    seed: int,
    *,
    newcomer: bool = False,
    seat: Floats | float = 0.0,
) -> GameResults:
    """Return games won by the rating model between agents of known strength and seat effects."""
    rng = np.random.default_rng(seed)
    paired_seed, seats = schedule(len(theta), players, paired_seeds, newcomer=newcomer)
    winner = np.argmax(theta[seats] + seat + rng.gumbel(size=seats.shape), axis=1)
    shares = np.eye(players)[winner]
    return GameResults(
        paired_seed, seats, shares, (100 * shares + np.arange(players)).astype(np.int64)
    )


def games(
    seats: Sequence[Sequence[int]],
    shares: Sequence[Sequence[float]],
    paired_seeds: list[int] | None = None,
) -> GameResults:
    """Return games given by hand."""
    numbers = list(range(len(seats))) if paired_seeds is None else paired_seeds
    return GameResults(
        np.array(numbers),
        np.array(seats),
        np.array(shares, np.float64),
        np.zeros((len(seats), len(seats[0])), np.int64),
    )


# ---- the model ----


def test_with_mixed_tables_duels_are_not_rated() -> None:
    """Ratings don't depend on duels; if lone agents always win, the effective par is 1."""
    results = played(np.array([0.0, 0.4, -0.3, 0.1]), 3, 60, seed=2)
    copied = np.array([len(set(seats)) < 3 for seats in results.seats.tolist()])
    alone = (results.seats[:, :, None] == results.seats[:, None, :]).sum(axis=2) == 1
    shares = np.where(copied[:, None], alone.astype(float), results.shares)
    names = ["appraiser", "b", "c", "d"]
    one, other = (
        rate(results, names),
        rate(GameResults(results.paired_seeds, results.seats, shares, results.scores), names),
    )
    assert one.points == other.points
    assert one.pairs == other.pairs
    assert len(other.duels) == 6
    assert all(
        duel.par.mean == 1 and duel.ahead.mean == 0 and duel.ahead.low < 0 < duel.ahead.high
        for duel in other.duels
    )


def test_a_tie_counts_as_half_of_being_better() -> None:
    samples = np.array([[1.0, 2.0], [1.0, 0.0], [3.0, 3.0], [0.0, 2.0]])
    assert better(samples, samples).tolist() == [[0.5, 0.375], [0.625, 0.5]]


def test_the_scale_is_fixed_by_the_mean_of_the_anchors() -> None:
    names = ["greedy", *ANCHORS[:2]]
    ratings = rate(played(np.array([0.7, 0.0, 1.0]), 2, 300, seed=8), names)
    assert ratings.anchors == [1, 2]
    assert (ratings.points[1].mean + ratings.points[2].mean) / 2 == pytest.approx(1000)
    assert ratings.samples[:, 1:].mean(axis=1) == pytest.approx(
        np.full(len(ratings.samples), 1000.0)
    )
    assert ratings.points[0].mean == pytest.approx(1000 + POINTS * 0.2, abs=40)
    nobody = rate(played(np.zeros(3), 2, 30, seed=8), list("abc"))
    assert nobody.samples.mean(axis=1) == pytest.approx(np.full(len(nobody.samples), 1000.0))


@pytest.mark.parametrize(("players", "agents", "duels"), [(2, 3, 2), (4, 5, 3)])
def test_ratings_agree_with_an_independent_library(players: int, agents: int, duels: int) -> None:
    """The library choix fits the same model without seats, which balanced games don't need.

    It takes no fractions, so all results count twice, and a tie is a win each.
    """
    truth = np.array([0.3, -0.4, 1.0, 0.0, -1.1])
    rng = np.random.default_rng(1)
    tables = [list(table) for table in itertools.combinations(range(agents), players)] * 12
    winners = [table[int(np.argmax(truth[table] + rng.gumbel(size=players)))] for table in tables]
    shares = [
        [float(agent == winner) for agent in table]
        for table, winner in zip(tables, winners, strict=True)
    ]
    data = [
        (winner, tuple(set(table) - {winner}))
        for table, winner in zip(tables, winners, strict=True)
    ] * 2
    tables.append(list(range(players)))
    shares.append([0.5, 0.5] + [0.0] * (players - 2))
    data += [(tied, tuple(set(range(players)) - {tied})) for tied in (0, 1)]
    tables = [row[turn:] + row[:turn] for row in tables for turn in range(players)]
    shares = [row[turn:] + row[:turn] for row in shares for turn in range(players)]
    data *= players
    # The pseudo-counts.
    data += [(one, (other,)) for one, other in itertools.permutations(range(agents), 2)] * duels
    expected = choix.opt_top1(agents, data, alpha=1e-9, tol=1e-9)
    ratings = rate(games(tables, shares), list("abcde")[:agents])
    ours = np.array([point.mean for point in ratings.points])
    assert ours - ours.mean() == pytest.approx(POINTS * (expected - expected.mean()), abs=0.01)


def test_excluded_pairs_do_not_affect_ratings() -> None:
    """They are reported but rate only if there is nothing else."""
    results = played(np.array([0.5, 0.0, 0.2]), 2, 100, seed=4)
    aside = (results.seats != 2).all(axis=1)
    shares = np.where(aside[:, None], results.seats == 0, results.shares)
    always = GameResults(results.paired_seeds, results.seats, shares, results.scores)
    names = ["search", "appraiser", "builder"]
    one, other = rate(results, names, apart=[(0, 1)]), rate(always, names, apart=[(0, 1)])
    assert one.points == other.points
    assert one.apart == other.apart == [(0, 1)]
    share = other.pairs[0, 1]
    assert share.mean == 1
    assert other.worst(1) == (0, share)
    assert rate(always, names).points[0].mean > other.points[0].mean + 100
    everything = list(itertools.combinations(range(3), 2))
    alone = rate(results, names, apart=everything)
    assert alone.apart == []
    assert alone.points == rate(results, names).points


# ---- intervals ----


@pytest.mark.parametrize("players", [2, pytest.param(3, marks=pytest.mark.long)])
def test_intervals_cover_the_true_ratings(players: int) -> None:
    truth, names = np.array([0.0, 0.8, 0.3])[:players], ["appraiser", "b", "c"][:players]
    seat = np.array([0.5, -0.5, 0.0])[:players]
    worth, covered = np.exp(seat) / np.exp(seat).sum(), np.zeros(2)
    for seed in range(100):
        results = played(truth, players, 40, seed, seat=seat)
        ratings = rate(results, names, seed, resamples=300)
        point, share = ratings.points[1], ratings.seats[0]
        covered += (
            point.low <= 1000 + POINTS * truth[1] <= point.high,
            share.low <= worth[0] <= share.high,
        )
    assert ((covered >= 88) & (covered <= 99)).all()


def test_few_paired_seeds_give_wide_intervals() -> None:
    """An agent that won all n paired seeds is better with probability 1 − ½ⁿ⁺¹."""
    for paired_seeds in (1, 2, 4):
        paired_seed, seats = schedule(2, 2, paired_seeds)
        results = GameResults(paired_seed, seats, (seats == 0) * 1.0, np.zeros_like(seats))
        ratings = rate(results, ["a", "b"], resamples=4000)
        assert np.isfinite(ratings.samples).all()
        jeffreys = np.random.default_rng(0).beta(paired_seeds + 0.5, 0.5, 100_000)
        assert ratings.better[0, 1] == pytest.approx(1 - 0.5 ** (paired_seeds + 1), abs=0.025)
        assert ratings.wins[0].low == pytest.approx(np.quantile(jeffreys, 0.025), abs=0.04)


def test_mean_scores_agree_with_ones_computed_by_hand() -> None:
    results = GameResults(
        paired_seeds=np.array([0, 0, 0, 0]),
        seats=np.array([[0, 1, 1], [1, 0, 0], [0, 1, 2], [2, 1, 0]]),
        shares=np.array([[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1.0], [0, 0.5, 0.5]]),
        scores=np.array([[30, 20, 10], [5, 40, 40], [8, 9, 20], [7, 30, 30]]),
    )
    ratings = rate(results, ["a", "b", "c"])
    assert ratings.wins[0].mean == 0.25  # the last two games: the others have copies
    assert ratings.vp[0].mean == 19
    assert ratings.margin[0].mean == (-12 + 0) / 2
    assert ratings.margin[1].mean == (-11 + 0) / 2
    pairs = {(0, 1): 0.5, (1, 0): 0.5, (0, 2): 1 / 3, (1, 2): 1 / 3, (2, 0): 2 / 3, (2, 1): 2 / 3}
    assert {pair: share.mean for pair, share in ratings.pairs.items()} == pytest.approx(pairs)
    (duel,) = ratings.duels
    assert (duel.one, duel.other, duel.one_alone.mean, duel.other_alone.mean) == (0, 1, 1, 0)
    assert (duel.par.mean, duel.ahead.mean) == (0.5, 0.5)
    assert (ratings.paired_seeds, ratings.games) == (1, 4)
    assert ratings.alone == {(0, 1): duel.one_alone, (1, 0): duel.other_alone}


# ---- a newcomer ----


@pytest.mark.parametrize("players", [2, 3])
def test_a_new_entrant_gets_the_rating_of_a_full_fit(players: int) -> None:
    truth = np.array([0.6, 0.0, -0.8, 1.1])
    rungs = rate(played(truth[1:], players, 300, seed=1), ["appraiser", "c", "d"])
    points = np.array([[point.mean for point in rungs.points], *rungs.samples[:200]])
    results = played(truth, players, 150, seed=2, newcomer=True)
    rated = rate(results, list("abcd"), ladder=points)
    newcomer = rated.points[0]
    assert [point.mean for point in rated.points[1:]] == pytest.approx(points[0].tolist())
    assert newcomer.low - 10 <= 1000 + POINTS * 0.6 <= newcomer.high + 10
    assert newcomer.high - newcomer.low < 140
    assert rated.better[0, 2] > 0.99 > 0.1 > rated.better[0, 3]
    assert {(0, 1), (0, 2), (0, 3)} <= rated.pairs.keys()
    certain = rate(results, list("abcd"), ladder=points[[0, 0]]).points[0]
    assert certain.high - certain.low < newcomer.high - newcomer.low
