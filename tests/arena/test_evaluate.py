"""Evaluations: the figures by hand, Ctrl-C, reports, records."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import records
from skyenv.agents import Decisions, RandomAgent
from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import (
    LARGEST,
    TASKS,
    Sizes,
    evaluate,
    record_games,
    summary,
    table,
)
from skyenv.arena.matches import Played, play_games, rotations
from skyenv.errors import AgentError, OptionError
from skyenv_agents import GreedyAgent


class Interrupted(RandomAgent):
    """Plays at random, and presses Ctrl-C at its n-th call."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See Agent."""
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt
        return super().act(decisions)


def test_summary_by_hand() -> None:
    played = Played(np.array([4, 4, 5, 5, 6, 6]), rotations(2, 3))
    played.finished[:5] = True  # the third paired seed lacks a game
    played.shares[:] = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, 0], [1, 0], [0, 0]])
    played.scores[:] = [[30, 20], [10, 50], [40, 40], [60, 30], [999, 0], [0, 0]]
    played.decisions[:] = [10, 20, 30, 40, 999, 0]
    played.truncated[3] = True
    result = summary("a", "b", played, "front", 4)
    assert (result.paired_seeds, result.games, result.par, result.interrupted) == (2, 4, 0.5, True)
    assert result.share.mean == (1 + 1 + 0.5 + 0) / 4
    assert result.own.mean == (30 + 50 + 40 + 30) / 4
    assert result.other.mean == (20 + 10 + 40 + 60) / 4
    assert result.ahead.mean == result.own.mean - result.other.mean
    assert result.share.low < 0.25 < 0.9 < result.share.high
    assert result.decisions == 25
    assert result.truncated == 0.25
    assert table([result]).splitlines()[2].split()[:5] == ["a", "b", "2", "front", "2*"]
    assert table([result]).splitlines()[2].split()[-1] == "25.0"
    assert table([result]).endswith(
        "\n* interrupted; paired seeds are missing, long ones above all"
    )


@pytest.mark.parametrize(("name", "num_players"), [("random", 3), ("greedy", 2), ("greedy", 4)])
def test_an_agent_against_itself_is_at_par(name: str, num_players: int) -> None:
    (result,) = evaluate(name, [name], num_players, "back", 8, 11)
    assert result.share.mean == pytest.approx(result.par, abs=1e-12)
    assert result.par == 1 / num_players
    if num_players == 2:
        assert result.ahead == Estimate(0.0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_results() -> None:
    once, again = (evaluate("random", ["hoard", "crowd"], paired_seeds=5, seed=3) for _ in range(2))
    assert once == again
    assert [result.opponent for result in once] == ["hoard", "crowd"]
    assert evaluate("random", ["hoard"], paired_seeds=5, seed=4) != once[:1]
    secret, same = (
        evaluate("random", ["hoard"], paired_seeds=5, seed=3, secret=2**60) for _ in range(2)
    )
    assert secret == same
    assert secret[0].secret == 2**60
    assert secret[0].own != once[0].own


def test_wrong_options() -> None:
    wrongs: list[dict[str, Any]] = [
        {"paired_seeds": 0},
        {"num_players": 5},
        {"seed": -1},
        {"side": "top"},
        {"max_turns": 0},
    ]
    for wrong in wrongs:
        with pytest.raises(OptionError):
            evaluate("random", ["random"], **wrong)
    with pytest.raises(AgentError):
        evaluate("random", ["nobody"])


@pytest.mark.parametrize("calls", [1, 700])
def test_ctrl_c_keeps_what_is_finished(calls: int) -> None:
    results = evaluate(Interrupted(calls), ["random", "hoard"], paired_seeds=600, seed=1)
    assert len(results) == (calls > 1)
    for result in results:
        assert result.interrupted
        assert 0 < result.paired_seeds < 600
        assert result.games == 2 * result.paired_seeds


class Counting(RandomAgent):
    """Counts in how many games it decides at once, and takes its time."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.counts: list[int] = []
        self.seconds = seconds

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See Agent."""
        self.counts.append(len(decisions))
        time.sleep(self.seconds)
        return super().act(decisions)


def test_slow_agents_play_few_games_at_a_time_and_fast_ones_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So some paired seeds are finished whenever Ctrl-C comes; the games are the same."""
    monkeypatch.setattr("skyenv.arena.matches.BRISK", 0.002)
    slow, fast = Counting(0.003), Counting()
    one_by_one = evaluate(slow, ["random"], 3, paired_seeds=4, max_turns=8)
    assert max(slow.counts) <= 3
    monkeypatch.setattr("skyenv.arena.matches.BRISK", 60.0)
    assert evaluate(fast, ["random"], 3, paired_seeds=4, max_turns=8) == one_by_one
    assert max(fast.counts) > 3


# ---- in workers ----


def test_workers_play_the_same_games_also_for_threads() -> None:
    """Only the main thread receives SIGINT."""
    games = ("random", ["hoard", "crowd"], 3, "back", 8, 5)
    here = evaluate(*games, secret=7)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(evaluate, *games, secret=7, workers=2).result() == here


@pytest.mark.parametrize(("seconds", "size"), [(0.0, 3000 // (TASKS * 3)), (4.0, 2), (1000.0, 1)])
def test_tasks_are_all_paired_seeds_once_and_take_their_time(seconds: float, size: int) -> None:
    """Paired seeds take so long; those against the second opponent begin with one again."""
    seeds = np.repeat(np.arange(3000), 2)
    sizes, matches = Sizes(3), [Played(seeds, rotations(2, 3000)) for _ in range(2)]
    tasks = []
    for task in sizes.tasks(matches):
        tasks.append(task)
        sizes.learn(task, seconds * (task.end - task.first))
    for opponent in range(2):
        own = [task for task in tasks if task.opponent == opponent]
        assert np.array_equal(np.concatenate([task.seeds for task in own]), seeds)
        assert own[0].end == 1
        assert max(task.end - task.first for task in own) == min(size, LARGEST)


@pytest.mark.parametrize("when", [20, 120])
def test_ctrl_c_keeps_what_workers_have_finished(
    when: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with the last games."""
    left = [when]

    class Bar:
        def update(self, games: int) -> None:
            left[0] -= games
            if left[0] <= 0:
                signal.raise_signal(signal.SIGINT)

    @contextlib.contextmanager
    def progress(*_: object, **__: object) -> Iterator[Bar]:
        yield Bar()

    monkeypatch.setattr("skyenv.arena.evaluate.progress_bar", progress)
    results = evaluate("random", ["hoard", "crowd"], 3, "back", 20, 5, secret=7, workers=1)
    assert results[-1].interrupted
    assert (sum(result.paired_seeds for result in results) == 40) == (when == 120)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# ---- records ----


def test_records(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record_games(path, "greedy", ["random", "crowd"], 3, "back", 4, 5)
    assert records.verify(path).games == 8
    headers = [json.loads(line) for line in path.read_text().splitlines() if '"format"' in line]
    assert [header["seed"] for header in headers] == [5, 5, 5, 6] * 2
    assert headers[1]["agents"] == ["random", "greedy", "random"]
    scores = [
        game["scores"]
        for game in map(json.loads, path.read_text().splitlines())
        if game.get("event") == "end"
    ]
    played = play_games([GreedyAgent(), RandomAgent()], rotations(3, 1), [5, 5, 5], "back")
    assert scores[:3] == played.scores.tolist()
