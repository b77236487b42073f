"""Does the model fit? Right models pass as often as they should, however games hang together; wrong
ones are refused.
"""

from __future__ import annotations

import itertools

import choix
import numpy as np
import numpy.typing as npt
import pytest

from skyenv.arena.goodness import Goodness
from skyenv.arena.ratings import POINTS, GameResults, rate

Floats = npt.NDArray[np.float64]
TRUTH = np.array([0.0, 0.5, 1.0, -0.5, -1.5])


def played(
    players: int,
    paired_seeds: int,
    seed: int,
    *,
    times: int = 1,
    edges: Floats | None = None,
    planted: float = 0.0,
    truth: Floats = TRUTH,
) -> GameResults:
    """All tables of different agents in all rotations, won as Luce's model says.

    Args:
        times: so often each game counts, with the same winner: games of one paired seed that hang
            together.
        edges: (K, K), what the company of the column's agent does to the row's: a model that isn't
            Luce's.
        planted: what agent 0 gains at the first table, and nowhere else.
    """
    rng = np.random.default_rng(seed)
    tables = np.array(list(itertools.combinations(range(len(truth)), players)))
    seats = np.tile(
        np.concatenate([np.roll(tables, turn, axis=1) for turn in range(players)]),
        (paired_seeds, 1),
    )
    strength = truth[seats]
    if edges is not None:
        strength = strength + edges[seats[:, :, None], seats[:, None, :]].sum(axis=2)
    strength = strength + planted * (
        (seats == 0) & np.isin(seats, tables[0]).all(axis=1, keepdims=True)
    )
    winner = np.argmax(strength + rng.gumbel(size=seats.shape), axis=1)
    number = np.repeat(np.arange(paired_seeds), len(tables) * players)
    return GameResults(
        *(
            np.repeat(part, times, axis=0)
            for part in (number, seats, np.eye(players)[winner], np.zeros_like(seats))
        )
    )


def judged(results: GameResults, seed: int = 0, resamples: int = 1000) -> Goodness:
    """How well Luce's model fits."""
    fit = rate(
        results, [str(agent) for agent in range(results.seats.max() + 1)], seed, resamples
    ).goodness
    assert fit is not None
    return fit


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("times", [1, 3])
def test_a_right_model_passes_however_games_hang_together(players: int, times: int) -> None:
    """Either test refuses it at 5 % about as often as that, and X² is on average what the bootstrap
    says is usual.
    """
    fits = [judged(played(players, 40, seed, times=times), seed, 300) for seed in range(120)]
    assert np.mean([fit.p < 0.05 for fit in fits]) <= 0.11
    assert np.mean([fit.p_largest < 0.05 for fit in fits]) <= 0.11
    assert np.mean([fit.p < 0.5 for fit in fits]) == pytest.approx(0.5, abs=0.2)
    found, usual = (
        np.mean([getattr(fit, name) for fit in fits]) for name in ("chi_square", "usual")
    )
    assert found == pytest.approx(usual, rel=0.2)
    assert usual == pytest.approx(times * np.mean([fit.freedom for fit in fits]), rel=0.2), (
        "as many times as games repeat"
    )


def test_degrees_of_freedom_by_hand() -> None:
    """Two players: ten pairs of two cells, less the ten sums and four strengths.

    Three: ten tables of three cells.
    """
    assert judged(played(2, 60, 1)).freedom == 20 - 10 - 4
    assert judged(played(3, 60, 1)).freedom == 30 - 10 - 4
    # With one who never wins, his cells join others': four pairs less, and one strength less.
    fit = judged(played(2, 60, 1, truth=np.array([0.0, 0.5, 1.0, -0.5, -30.0])))
    assert (fit.cells, fit.freedom) == (12, 12 - 6 - 3)


@pytest.mark.parametrize("players", [2, 3])
def test_a_circle_is_refused(players: int) -> None:
    """One does well against another, that one against a third, the third against the first: no
    ratings say that.
    """
    edges = np.zeros((5, 5))
    edges[[0, 1, 2], [1, 2, 0]] = 0.4
    fit = judged(played(players, 100, 3, edges=edges - edges.T, truth=np.zeros(5)))
    assert fit.p < 0.005
    assert fit.chi_square > 3 * fit.usual
    worst = fit.residuals[0]
    assert {0, 1, 2} & set(worst.agents)
    assert abs(worst.deviations) > 3
    assert len({one.table for one in fit.residuals}) == len(fit.residuals), "one of each table"


def test_an_edge_over_one_opponent_is_found() -> None:
    """As a search has that plays on with that opponent's own moves."""
    edges = np.zeros((5, 5))
    edges[2, 0] = 1.0
    fit = judged(played(2, 200, 4, edges=edges))
    assert fit.p < 0.005
    assert fit.residuals[0].table == (0, 2)


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_one_cell_among_many_is_refused_though_the_sum_is_not(seed: int) -> None:
    """At one table of 56 an agent wins more than at all others: X² hardly tells, the largest
    residual does.
    """
    truth = np.linspace(-0.5, 0.5, 8)
    right, planted = (
        judged(played(3, 60, seed, truth=truth, planted=gain), seed) for gain in (0.0, 1.0)
    )
    assert min(right.p, right.p_largest) > 0.05
    assert planted.p > 0.05
    assert planted.p_largest < 0.005
    worst = planted.residuals[0]
    assert (worst.table, worst.agents) == ((0, 1, 2), (0,))
    assert worst.deviations > 4
    assert planted.as_dict(list("abcdefgh"))["p_largest"] == round(planted.p_largest, 4)


def test_dependent_games_alone_are_no_misfit() -> None:
    """Eight times the same games: X² is eight times as large, and so is what is usual."""
    once, often = judged(played(2, 60, 11)), judged(played(2, 60, 11, times=8))
    assert often.chi_square == pytest.approx(8 * once.chi_square, rel=0.25)
    assert often.usual > 5 * once.usual
    assert abs(often.p - once.p) < 0.3


def test_too_few_games_tell_nothing() -> None:
    assert rate(played(2, 1, 1), list("abcde")).goodness is None
    assert rate(played(2, 40, 1, truth=np.zeros(2)), ["a", "b"]).goodness is None, (
        "two strengths for one table"
    )


@pytest.mark.parametrize("players", [3, 4])
def test_a_library_finds_the_same_strengths_at_mixed_tables(players: int) -> None:
    """The Plackett–Luce fit of choix to the same games, without imaginary ones: they weigh little
    in so many.
    """
    results = played(players, 150, 6)
    data = [
        (int(row[share.argmax()]), tuple(int(one) for one in row if one != row[share.argmax()]))
        for row, share in zip(results.seats, results.shares, strict=True)
    ]
    expected = POINTS * choix.opt_top1(5, data, alpha=1e-9, tol=1e-9)
    ours = np.array([point.mean for point in rate(results, list("abcde")).points])
    assert ours - ours.mean() == pytest.approx(expected - expected.mean(), abs=6)
