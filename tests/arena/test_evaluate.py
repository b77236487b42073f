"""Evaluations: the figures by hand, the same games here and in workers, Ctrl-C, records."""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from processes import interrupting
from skyenv import records
from skyenv.agents import make_agent
from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import LARGEST, TASKS, Sizes, evaluate, record_games, summary, table
from skyenv.arena.matches import Played, play_games, rotations
from skyenv.engine.options import GameOptions


def test_summary_by_hand() -> None:
    played = Played(np.array([4, 4, 5, 5, 6, 6]), rotations(2, 3))
    played.ends[:] = [1, 2, 1, 3, 1, 0]  # the third paired seed lacks a game
    played.shares[:] = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, 0], [1, 0], [0, 0]])
    played.scores[:] = [[30, 20], [10, 50], [40, 40], [60, 30], [999, 0], [0, 0]]
    played.decisions[:] = [10, 20, 30, 40, 999, 0]
    result = summary("a", "b", played, "front", 4)
    assert (result.paired_seeds, result.games, result.par, result.interrupted) == (2, 4, 0.5, True)
    assert result.share.mean == (1 + 1 + 0.5 + 0) / 4
    assert result.own.mean == (30 + 50 + 40 + 30) / 4
    assert result.other.mean == (20 + 10 + 40 + 60) / 4
    assert result.ahead.mean == result.own.mean - result.other.mean
    assert result.share.low < 0.25 < 0.9 < result.share.high
    assert (result.decisions, result.truncated) == (25, 0.25)
    cells = table([result]).splitlines()[2].split()
    assert (cells[:5], cells[-1]) == (["a", "b", "2", "front", "2*"], "25.0")
    assert table([result]).endswith(
        "\n* interrupted; paired seeds are missing, long ones above all"
    )


@pytest.mark.parametrize(("name", "num_players"), [("random", 3), ("greedy", 2), ("greedy", 4)])
def test_an_agent_against_itself_is_at_par(name: str, num_players: int) -> None:
    (result,) = evaluate(name, [name], num_players, "back", 8, 11)
    assert result.share.mean == pytest.approx(result.par, abs=1e-12)
    assert result.par == 1 / num_players
    assert num_players > 2 or result.ahead == Estimate(0.0, 0.0, 0.0)


def test_the_same_seed_and_secret_give_the_same_results_here_and_in_workers() -> None:
    """Also for threads: only the main thread receives SIGINT."""
    games = ("random", ["hoard", "crowd"], 3, "back", 8, 5)
    here = evaluate(*games, secret=7)
    assert [(result.opponent, result.secret) for result in here] == [("hoard", 7), ("crowd", 7)]
    assert evaluate(*games, secret=8)[0].own != here[0].own
    assert evaluate(*games)[0].own != here[0].own
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(evaluate, *games, secret=7, workers=1).result() == here


# ---- in workers ----


@pytest.mark.parametrize(("seconds", "size"), [(0.0, 3000 // (TASKS * 3)), (4.0, 2), (1000.0, 1)])
def test_tasks_are_all_paired_seeds_once_and_take_their_time(seconds: float, size: int) -> None:
    """Paired seeds take so long; those against the second opponent begin with one again."""
    sizes, tasks = Sizes(2, 3000, 3), []
    for task in sizes.tasks():
        tasks.append(task)
        sizes.learn(task, seconds * (task.end - task.first))
    for opponent in range(2):
        own = [task for task in tasks if task.opponent == opponent]
        assert [task.first for task in own] == [0, *(task.end for task in own[:-1])]
        assert (own[0].end, own[-1].end) == (1, 3000)
        assert max(task.end - task.first for task in own) == min(size, LARGEST)


@pytest.mark.usefixtures("in_this_process")
def test_ctrl_c_keeps_what_workers_have_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyenv.arena.evaluate.progress_bar", interrupting(20))
    results = evaluate("random", ["hoard", "crowd"], 3, "back", 20, 5, secret=7, workers=1)
    assert results[-1].interrupted
    assert sum(result.paired_seeds for result in results) < 40
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# ---- records ----


def test_records(tmp_path: Path) -> None:
    path, agents = tmp_path / "games.jsonl", [*map(make_agent, ("greedy", "random", "crowd"))]
    record_games(path, agents, GameOptions(3, "back"), 4, 5)
    assert records.verify(path).games == 8
    lines = [*map(json.loads, path.read_text().splitlines())]
    headers = [line for line in lines if "format" in line]
    assert [header["seed"] for header in headers] == [5, 5, 5, 6] * 2
    assert headers[1]["agents"] == ["random", "greedy", "random"]
    played = play_games(agents[:2], rotations(3, 1), [5, 5, 5], "back")
    scores = [line["scores"] for line in lines if line.get("event") == "end"]
    assert scores[:3] == played.scores.tolist()
