"""Matches and evaluations: the games, the statistics, the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents import GreedyAgent
from experiments import evaluate as command
from experiments.evaluate import Estimate, as_json, bootstrap, evaluate, plot, record_games, summary, table
from experiments.matches import SALT, Played, play_game, play_games, rotations
from skyenv import record
from skyenv.agents import Agent, Decisions, RandomAgent, make_agent
from skyenv.errors import AgentError, OptionError

ROOT = Path(__file__).parents[2]


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


def same(one: Played, other: Played) -> bool:
    """Whether two matches had the same results."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("shares", "scores", "decisions", "turns"))


# ---- matches ----


def test_results_do_not_depend_on_rows_and_threads() -> None:
    agents: list[Agent] = [GreedyAgent(), RandomAgent()]
    seeds = np.repeat([5, 2**62, 9], 3)
    wide = play_games(agents, rotations(3, 3), seeds, "back")
    assert wide.finished.all()
    assert not wide.interrupted
    assert same(wide, play_games(agents, rotations(3, 3), seeds, "back", rows=2))
    assert same(wide, play_games(agents, rotations(3, 3), seeds, "back", threads=2))


def test_a_single_game_is_the_one_of_the_match() -> None:
    agents: list[Agent] = [GreedyAgent(), RandomAgent()]
    played = play_games(agents, rotations(2, 2), [7, 7, 8, 8])
    for i, chairs in enumerate(rotations(2, 2)):
        game = play_game([agents[chair] for chair in chairs], 7 + i // 2)
        assert game.scores == played.scores[i].tolist()
        assert game.turn == played.turns[i]
        assert int(game.state.decisions) == played.decisions[i]


def test_seats_do_not_share_random_numbers() -> None:
    numbers: list[float] = []

    def watch(decisions: Decisions) -> npt.NDArray[np.int64]:
        numbers.extend(decisions.uniform.tolist())
        return np.asarray(np.argmax(decisions.mask, axis=1), np.int64)

    played = play_games([make_agent(watch)], np.zeros((2, 4), int), [1, 2], max_turns=20)
    assert len(numbers) == played.decisions.sum()
    assert len(set(numbers)) == len(numbers)
    assert SALT > 4


def test_truncation_is_told() -> None:
    played = play_games([RandomAgent()], np.zeros((4, 2), int), range(4), max_turns=2)
    assert played.truncated.all()
    assert (played.turns == 2).all()
    assert np.allclose(played.shares.sum(axis=1), 1)


def test_progress_counts_every_game() -> None:
    told: list[int] = []
    play_games([RandomAgent()], np.zeros((30, 2), int), range(30), rows=4, progress=told.append)
    assert sum(told) == 30


@pytest.mark.parametrize(
    ("seating", "seeds", "message"),
    [
        ([0, 1], [1, 2], "one row of seats"),
        ([[0, 2]], [1], "seating names agents 0 to 2; there are 2"),
        ([[0, 1]], [1, 2], "one number for each of the 1 games, not 2"),
        ([[0, 1]], [-1], "seed must be"),
        ([[0] * 5], [1], "num_players must be"),
    ],
)
def test_wrong_matches(seating: Any, seeds: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        play_games([RandomAgent(), RandomAgent()], seating, seeds)


def test_no_games() -> None:
    assert play_games([RandomAgent()], np.zeros((0, 2), int), []).shares.shape == (0, 2)


# ---- statistics ----


def test_bootstrap_by_hand() -> None:
    # Two deals, 0 and 1: a resample has the mean 0, ½, ½ or 1, so each end is further than 2.5 % from the outside.
    estimates = bootstrap([[0.0, 3.0], [1.0, 3.0]], seed=1)
    assert estimates == [Estimate(0.5, 0.0, 1.0), Estimate(3.0, 3.0, 3.0)]
    assert bootstrap([[7.0]]) == [Estimate(7.0, 7.0, 7.0)]


def test_bootstrap_of_many_deals_is_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(3).random((400, 1)) < 0.3
    (estimate,) = bootstrap(values, seed=2, resamples=4000)
    spread = 1.96 * values.std() / 20
    assert estimate.mean == pytest.approx(values.mean())
    assert estimate.high - estimate.mean == pytest.approx(spread, rel=0.1)
    assert estimate.mean - estimate.low == pytest.approx(spread, rel=0.1)
    assert bootstrap(values, seed=2, resamples=4000) == [estimate]


def test_summary_by_hand() -> None:
    played = Played(np.array([4, 4, 5, 5, 6, 6]), rotations(2, 3))
    played.finished[:5] = True  # the third deal lacks a game
    played.shares[:] = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, 0], [1, 0], [0, 0]])
    played.scores[:] = [[30, 20], [10, 50], [40, 40], [60, 30], [999, 0], [0, 0]]
    played.decisions[:] = [10, 20, 30, 40, 999, 0]
    played.truncated[3] = True
    result = summary("a", "b", played, "front", 4)
    assert (result.deals, result.games, result.par, result.interrupted) == (2, 4, 0.5, True)
    assert result.share.mean == (1 + 1 + 0.5 + 0) / 4
    assert result.own.mean == (30 + 50 + 40 + 30) / 4
    assert result.other.mean == (20 + 10 + 40 + 60) / 4
    assert result.ahead.mean == result.own.mean - result.other.mean
    assert (result.share.low, result.share.high) == (0.25, 1.0)
    assert result.decisions == 25
    assert result.truncated == 0.25
    assert "2*" in table([result])
    assert "interrupted" in table([result])


@pytest.mark.parametrize(("name", "num_players"), [("random", 3), ("greedy", 2), ("greedy", 4)])
def test_an_agent_against_itself_is_at_par(name: str, num_players: int) -> None:
    (result,) = evaluate(name, [name], num_players, "back", 8, 11)
    assert result.share.mean == pytest.approx(result.par, abs=1e-12)
    assert result.par == 1 / num_players
    if num_players == 2:
        assert result.ahead == Estimate(0.0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_results() -> None:
    once, again = (evaluate("random", ["hoard", "crowd"], deals=5, seed=3) for _ in range(2))
    assert once == again
    assert [result.opponent for result in once] == ["hoard", "crowd"]
    assert evaluate("random", ["hoard"], deals=5, seed=4) != once[:1]


def test_wrong_options() -> None:
    wrongs: list[dict[str, Any]] = [{"deals": 0}, {"num_players": 5}, {"seed": -1}, {"side": "top"}, {"max_turns": 0}]
    for wrong in wrongs:
        with pytest.raises(OptionError):
            evaluate("random", ["random"], **wrong)
    with pytest.raises(AgentError):
        evaluate("random", ["nobody"])


@pytest.mark.parametrize("calls", [1, 700])
def test_ctrl_c_keeps_what_is_finished(calls: int) -> None:
    results = evaluate(Interrupted(calls), ["random", "hoard"], deals=600, seed=1)
    assert len(results) == (calls > 1)
    for result in results:
        assert result.interrupted
        assert 0 < result.deals < 600
        assert result.games == 2 * result.deals


# ---- reports ----


def test_reports(tmp_path: Path) -> None:
    results = evaluate("greedy", ["random", "hoard"], 3, "front", 4, 1)
    lines = table(results).splitlines()
    assert len(lines) == 4
    assert lines[2].split()[:5] == ["greedy", "random", "3", "front", "4"]
    assert "33.3 %" in lines[3]
    told = json.loads(as_json(results))
    assert told[1]["opponent"] == "hoard"
    assert told[0]["share"]["mean"] == results[0].share.mean
    plot(results, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    for path, error in ((tmp_path / "plot.nonsense", OptionError), (tmp_path / "nowhere" / "plot.png", OSError)):
        with pytest.raises(error):
            plot(results, path)
    with pytest.raises(OptionError, match="no results"):
        plot([], tmp_path / "none.png")


def test_records(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record_games(path, "greedy", ["random", "crowd"], 3, "back", 4, 5)
    assert record.verify(path).games == 8
    headers = [json.loads(line) for line in path.read_text().splitlines() if '"format"' in line]
    assert [header["seed"] for header in headers] == [5, 5, 5, 6] * 2
    assert headers[1]["agents"] == ["random", "greedy", "random"]
    scores = [game["scores"] for game in map(json.loads, path.read_text().splitlines()) if game.get("event") == "end"]
    played = play_games([GreedyAgent(), RandomAgent()], rotations(3, 1), [5, 5, 5], "back")
    assert scores[:3] == played.scores.tolist()


# ---- the command ----


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """``python -m experiments.evaluate`` with arguments, as a process."""
    return subprocess.run(
        [sys.executable, "-m", "experiments.evaluate", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "SKYENV_QUIET": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_command(tmp_path: Path) -> None:
    names = ("plot.png", "results.json", "games.jsonl")
    plot_file, json_file, record_file = (str(tmp_path / name) for name in names)
    done = run(
        *("greedy", "--against", "random", "greedy", "--players", "3", "--side", "back", "--deals", "3", "--seed", "9"),
        *("--plot", plot_file, "--json", json_file, "--record", record_file, "--record-games", "2"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == table(evaluate("greedy", ["random", "greedy"], 3, "back", 3, 9)).splitlines()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert record.verify(record_file).games == 4


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nobody"],
        ["greedy", "--against", "nowhere.zip"],
        ["greedy", "--against"],
        ["greedy", "--players", "5"],
        ["greedy", "--deals", "0"],
        ["greedy", "--side", "top"],
        ["greedy", "--seed", "9" * 5000],
        ["greedy", "--dea", "3"],
    ],
)
def test_wrong_commands(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = command.main(arguments)
    except SystemExit as leaving:
        code = int(str(leaving.code))
    told = capsys.readouterr()
    assert code == (1 if "nowhere.zip" in arguments else 2)  # 1: the command is right, but a file isn't
    assert told.out == ""
    assert told.err.startswith("evaluate: error: ")
    assert told.err.count("\n") == 1
    assert len(told.err) < 300


def test_a_file_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = str(tmp_path / "nowhere" / "file")
    for option in ("--json", "--record"):
        assert command.main(["random", "--against", "random", "--deals", "1", option, nowhere]) == 1
        assert capsys.readouterr().err == f"evaluate: error: {nowhere}: No such file or directory\n"


@pytest.mark.parametrize("calls", [1, 700])
def test_interrupting_the_command(calls: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    agents = {"impatient": Interrupted(calls), "random": RandomAgent()}
    monkeypatch.setattr(command, "make", lambda spec, deterministic=False: agents.get(spec, spec))
    assert command.main(["impatient", "--against", "random", "--deals", "600"]) == 130
    told = capsys.readouterr()
    assert told.err == "evaluate: error: interrupted\n"
    assert ("* interrupted" in told.out) == (calls > 1)
