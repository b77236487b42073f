"""Evaluations: figures, pooled opponents, seeds and workers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from skyenv.arena.evaluate import evaluate, summary, table
from skyenv.arena.matches import Played, rotations
from skyenv.statistics import Estimate


def test_a_summary_agrees_with_one_computed_by_hand() -> None:
    played = Played.none(np.array([4, 4, 5, 5, 6, 6]), rotations(2, 3))
    played.ends[:] = [1, 2, 1, 3, 1, 0]  # the third paired seed lacks a game
    played.shares[:] = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, 0], [1, 0], [0, 0]])
    played.scores[:] = [[30, 20], [10, 50], [40, 40], [60, 30], [999, 0], [0, 0]]
    played.decisions[:] = [10, 20, 30, 40, 999, 0]
    result = summary("a", "b", played, "front", 4)
    assert (result.paired_seeds, result.games, result.par, result.interrupted) == (2, 4, 0.5, True)
    assert result.share.mean == (1 + 1 + 0.5 + 0) / 4
    assert result.own.mean == (30 + 50 + 40 + 30) / 4
    assert result.other.mean == (20 + 10 + 40 + 60) / 4
    assert result.margin.mean == result.own.mean - result.other.mean
    assert result.share.low < 0.25 < 0.9 < result.share.high
    assert (result.decisions, result.truncated) == (25, 0.25)
    assert table([result]).splitlines()[2].split()[:5] == ["a", "b", "2", "front", "2*"]
    assert table([result]).endswith(
        "\n* interrupted: paired seeds are missing, long games above all"
    )


def test_games_against_all_opponents_are_pooled() -> None:
    """Pooled by paired seeds, as many as against each opponent."""
    hoard, crowd, both = evaluate("random", ["hoard", "crowd"], 2, max_turns=9, pooled=True)
    assert (both.opponent, both.paired_seeds, both.games) == ("all of them", 500, 2000)
    assert both.share.mean == pytest.approx((hoard.share.mean + crowd.share.mean) / 2)
    assert both.share.low < both.share.mean < both.share.high


@pytest.mark.parametrize(("name", "num_players"), [("random", 3), ("greedy", 2)])
def test_an_agent_against_itself_is_at_par(name: str, num_players: int) -> None:
    (result,) = evaluate(name, [name], num_players, "back", 8, 11, max_turns=20)
    assert result.share.mean == pytest.approx(result.par, abs=1e-12)
    assert result.par == 1 / num_players
    assert num_players > 2 or result.margin == Estimate(0.0, 0.0, 0.0)


def test_seed_and_secret_decide_results_with_and_without_workers() -> None:
    """Also in other threads: only the main thread receives SIGINT."""
    games = ("random", ["hoard", "crowd"], 3, "back", 8, 5)
    here = evaluate(*games, secret=7, max_turns=9)
    assert [(result.opponent, result.secret) for result in here] == [("hoard", 7), ("crowd", 7)]
    assert evaluate(*games, secret=8, max_turns=9)[0].own != here[0].own
    assert evaluate(*games, max_turns=9)[0].own != here[0].own
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(evaluate, *games, secret=7, max_turns=9, workers=1)
        assert again.result() == here
