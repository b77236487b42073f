"""``python -m skyenv analyse``."""

import json
from pathlib import Path

import pytest

from crowd_games import played
from skyenv import Game, cli


def test_mistakes_are_listed_by_the_lower_bound_of_their_cost_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, found = tmp_path / "game.jsonl", tmp_path / "found.json"
    record.write_text(played(2, seed=3, turns=8).to_record(["ann", "bob"]))
    assert cli.main(["analyse", str(record), "--agent", "greedy", "--json", str(found)]) == 0
    told = json.loads(found.read_text())
    assert (told["names"], told["agent"], told["estimator"]) == (
        ["ann", "bob"],
        "greedy",
        "trained",
    )
    bounds = [one["cost"] - one["error"] for one in told["mistakes"]]
    assert bounds == pytest.approx(sorted(bounds, reverse=True)) != []
    printed = capsys.readouterr().out.splitlines()
    for line, one in zip(printed[2:-1], told["mistakes"], strict=True):
        low, high = (100 * one["cost"] + sign * 100 * one["error"] for sign in (-1, 1))
        assert f"{100 * one['cost']:.1f} % [{low:.1f}, {high:.1f}]" in line
        assert line.split()[:2] == [str(one["step"]), str(one["seat"] + 1)]
        assert line.endswith(one["best"])
    assert "decisions, chances to win by trained" in printed[-1]


def test_bidding_tasks_are_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.jsonl").write_text(Game(task="duel-3", seed=1).to_record())
    assert cli.main(["analyse", str(tmp_path / "game.jsonl")]) == 2
    told = capsys.readouterr().err
    assert ("only whole games can be analysed, not task" in told, told.count("\n")) == (True, 1)
