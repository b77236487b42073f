"""Evaluations: the figures by hand, the same games here and in workers, tasks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import evaluate, next_size, summary, table, tasks_of
from skyenv.arena.matches import Played, rotations


def test_summary_by_hand() -> None:
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
        "\n* interrupted; paired seeds are missing, long ones above all"
    )


def test_the_games_with_all_opponents_are_pooled() -> None:
    """By paired seeds, of which there are no more than with each."""
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


def test_the_same_seed_and_secret_give_the_same_results_here_and_in_workers() -> None:
    """Also for threads: only the main thread receives SIGINT."""
    games = ("random", ["hoard", "crowd"], 3, "back", 8, 5)
    here = evaluate(*games, secret=7, max_turns=9)
    assert [(result.opponent, result.secret) for result in here] == [("hoard", 7), ("crowd", 7)]
    assert evaluate(*games, secret=8, max_turns=9)[0].own != here[0].own
    assert evaluate(*games, max_turns=9)[0].own != here[0].own
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(evaluate, *games, secret=7, max_turns=9, workers=1)
        assert again.result() == here


@pytest.mark.parametrize(
    ("size", "seconds", "most", "expected"),
    [
        (1, 0.0, 2048, 16),
        (16, 0.1, 2048, 256),
        (256, 0.1, 300, 300),
        (256, 20.0, 2048, 128),
        (1, 60.0, 2048, 1),
    ],
)
def test_tasks_take_about_ten_seconds(size: int, seconds: float, most: int, expected: int) -> None:
    """They grow, so that a slow agent is interrupted soon."""
    assert next_size(size, seconds, most) == expected


def test_tasks_are_all_paired_seeds_once_whatever_their_sizes() -> None:
    sizes, tasks = [1, 1], []
    for task in tasks_of(sizes, 3000):
        tasks.append(task)
        sizes[task.opponent] = 1 + 7 * sizes[task.opponent]
    for opponent in range(2):
        own = [task for task in tasks if task.opponent == opponent]
        assert [(task.first, task.end) for task in own] == [
            (0, 1),
            (1, 9),
            (9, 66),
            (66, 466),
            (466, 3000),
        ]


def test_results_do_not_depend_on_the_sizes_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for size in (1, 3, 7):
        monkeypatch.setattr("skyenv.arena.evaluate.next_size", lambda *_, size=size: size)
        results.append(evaluate("random", ["hoard"], 2, "front", 7, secret=7, max_turns=9))
    assert results[0] == results[1] == results[2]
