"""Strength by budget: what is played, written, gone on with and drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.benchmarks import strength
from experiments.benchmarks.strength import main, rows, table
from skyenv.arena.folder import Folder
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Tournament
from skyenv_agents.search.budgets import budget_in

pytestmark = pytest.mark.programs

TINY = [
    "--against",
    "random",
    "crowd",
    "--budgets",
    "1ms",
    "2",
    "--paired-seeds",
    "2",
    "--workers",
    "1",
    "--seed",
    "5",
]


def row(budget: float, unit: str, opponent: str, mean: float) -> dict[str, Any]:
    """A row of strength.json."""
    return {
        "agent": f"ismcts-{budget:g}{'ms' if unit == strength.MILLISECONDS else ''}",
        "version": "1",
        "unit": unit,
        "budget": budget,
        "opponent": opponent,
        "paired_seeds": 10,
        "games": 20,
        "wins": {"mean": mean, "low": mean - 0.1, "high": min(1.0, mean + 0.1)},
        "seconds_a_decision": 0.01,
        "rating": {"mean": 1234.4, "low": 1200.0, "high": 1270.0},
    }


def test_plays_every_budget_goes_on_and_publishes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([*TINY, "--out", str(out), "--publish", str(tmp_path / "docs")]) == 0
    printed = capsys.readouterr().out
    content = json.loads((tmp_path / "docs" / "strength.json").read_text(encoding="utf-8"))
    assert [
        (one["agent"], one["opponent"], one["paired_seeds"], one["games"])
        for one in content["rows"]
    ] == [
        ("ismcts-2", "random", 2, 4),
        ("ismcts-2", "crowd", 2, 4),
        ("ismcts-1ms", "random", 2, 4),
        ("ismcts-1ms", "crowd", 2, 4),
    ], "simulations before time"
    assert strength.markdown(content) in printed
    for one in content["rows"]:
        assert one["wins"]["low"] <= one["wins"]["mean"] <= one["wins"]["high"]
        assert one["seconds_a_decision"] > 0
    assert (tmp_path / "docs" / "strength.png").read_bytes().startswith(b"\x89PNG")
    games = (out / "ismcts-2" / "games.jsonl").read_bytes()
    assert games.count(b'"paired_seed"') == 8, "both opponents, both paired seeds, both seats"
    assert main([*TINY, "--out", str(out)]) == 0
    assert (out / "ismcts-2" / "games.jsonl").read_bytes() == games, "nothing is played twice"


def test_machines_that_join_later_play_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many play is left to the tournament; the figures tell how many there were."""
    asked = []

    class Asked(Tournament):
        def __init__(self, *arguments: Any, workers: int, **options: Any) -> None:
            asked.append(workers)
            super().__init__(*arguments, workers=workers, **options)

    monkeypatch.setattr(strength, "Tournament", Asked)
    monkeypatch.setattr(strength, "number_of_workers", lambda workers, ray: 7)
    without = [word for word in TINY if word not in ("--workers", "1")]
    assert main([*without, "--out", str(tmp_path)]) == 0
    assert asked == [0, 0]
    content = json.loads((tmp_path / "strength.json").read_text(encoding="utf-8"))
    assert content["workers"] == 7
    assert "--workers 0 " in content["command"]


def one_won_of_two(path: Path) -> Folder:
    """Twenty paired seeds in which ismcts-2 wins from one seat against random, and from both
    against crowd.
    """
    settings = Settings(entrants(["ismcts-2", "random", "crowd"], 2), 2, newcomer=True)
    folder = Folder(path, settings)
    assert rows(folder, budget_in("ismcts-2", "ismcts-")) == []
    for paired_seed in range(20):
        for group in settings.groups():
            games = [
                {
                    "paired_seed": paired_seed,
                    "seats": seats,
                    "shares": [1.0, 0.0],
                    "scores": [9, 3],
                    "turns": 5,
                    "decisions": 50,
                    "truncated": False,
                }
                for seats in settings.seatings(group, paired_seed).tolist()
            ]
            if group == (0, 2):  # against the second one all are won
                games[1] |= {"shares": [0.0, 1.0], "scores": [3, 9]}
            folder.add(group, games, {"0": [100.0, 2.0]})
    folder.close()
    return folder


def test_shares_are_those_of_the_games(tmp_path: Path) -> None:
    folder = one_won_of_two(tmp_path)
    against_random, against_crowd = rows(folder, budget_in("ismcts-2", "ismcts-"))
    assert against_random["wins"]["mean"] == 0.5
    assert against_crowd["wins"]["mean"] > 0.95
    assert against_crowd["wins"]["low"] > 0.8
    assert (
        against_crowd["paired_seeds"],
        against_crowd["games"],
        against_crowd["seconds_a_decision"],
    ) == (20, 40, 0.02)
    assert against_crowd["rating"] is None, "no ladder was given"


def a_ladder(**points: float) -> dict[str, Any]:
    """What a ladder's file tells of agents, the ratings of its samples spread by ten points."""
    rungs = [
        {
            "name": name,
            "version": "1",
            "digest": "",
            "rating": {"mean": mean, "low": mean, "high": mean},
        }
        for name, mean in points.items()
    ]
    samples = [[mean + shift for mean in points.values()] for shift in (-10, 0, 10)]
    return {"side": "front", "max_turns": 500, "agents": rungs, "samples": samples}


def test_a_budget_has_a_place_on_the_ladder(tmp_path: Path) -> None:
    """Above random, from which it wins half of its games, as it loses none against crowd; and only
    there where both stand.
    """
    folder, budget = one_won_of_two(tmp_path), budget_in("ismcts-2", "ismcts-")
    low, high = (
        rows(folder, budget, a_ladder(greedy=1000, crowd=300, random=points))[0]["rating"]
        for points in (300, 600)
    )
    assert 300 < low["low"] < low["mean"] < low["high"] < 800
    assert low["mean"] < high["mean"]
    assert rows(folder, budget, a_ladder(greedy=1000, crowd=300))[0]["rating"] is None
    other_side = a_ladder(crowd=300, random=300) | {"side": "back"}
    assert rows(folder, budget, other_side)[0]["rating"] is None
    another_version = a_ladder(crowd=300, random=300)
    another_version["agents"][0]["version"] = "0"
    assert rows(folder, budget, another_version)[0]["rating"] is None


def test_table_and_picture(tmp_path: Path) -> None:
    results = [
        row(10, strength.SIMULATIONS, "greedy", 0.6),
        row(100, strength.SIMULATIONS, "greedy", 0.9),
    ]
    results.insert(1, row(10, strength.SIMULATIONS, "crowd", 0.8))
    results.insert(3, row(100, strength.SIMULATIONS, "crowd", 0.7))
    head, _, first, _ = table(results).splitlines()
    assert (
        head
        == "| agent | paired seeds, each from both seats | wins against greedy | wins against crowd | rating | ms a decision |"
    )
    assert (
        first
        == "| ismcts-10 | 10 | 60.0 % [50.0, 70.0] | 80.0 % [70.0, 90.0] | 1234 [1200, 1270] | 10 |"
    )
    strength.draw(results, tmp_path / "one.png")
    strength.draw([*results, row(50, strength.MILLISECONDS, "greedy", 0.8)], tmp_path / "two.png")
    one, two = ((tmp_path / f"{name}.png").read_bytes() for name in ("one", "two"))
    assert one.startswith(b"\x89PNG")
    assert one != two


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budgets", "5", "5"], "a budget is named twice"),
        (["--budgets", "many"], "its budget must be a number of simulations"),
        (["--agent", "nobody"], "unknown agent 'nobody-2'"),
        (["--against", "nobody"], "unknown agent 'nobody'"),
    ],
)
def test_wrong_commands(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*TINY, "--out", str(tmp_path / "out"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
