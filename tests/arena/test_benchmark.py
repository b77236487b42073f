"""The benchmark protocol: its figures, and exploitation by look-ahead."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import main_of
from skyenv import make_agent
from skyenv.agents import Agent
from skyenv.arena.benchmark import (
    PANEL,
    SECRET,
    against_panel,
    exploitability,
    report,
)
from skyenv.arena.evaluate import evaluate
from skyenv.arena.lookahead import LookaheadAgent
from skyenv.arena.matches import play_games
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Folder, play
from skyenv.engine.openings import measured
from skyenv.seeds import LADDERS
from skyenv.solving.commands import measure

pytestmark = pytest.mark.compiled

WORDS = "benchmark bidder --tasks duel-4 --openings 1 --players 2 --paired-seeds 2 --lookahead 0"


@pytest.mark.usefixtures("in_this_process")
def test_the_benchmark_reports_the_figures_of_its_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, file, figures = tmp_path / "out", tmp_path / "bench.json", tmp_path / "bench.csv"
    assert main_of(f"{WORDS} --out {folder} --json {file} --csv {figures}") == 0
    printed = capsys.readouterr().out
    content = json.loads(file.read_text())
    assert printed == f"{report(content)}\n"
    assert content["benchmark"] == "skyenv-bench 2"
    assert content["changed"] == ["tasks", "openings", "players", "paired_seeds", "lookahead"]
    (entry,) = content["agents"]
    (one,) = entry["tables"]
    seats = np.tile([[0, 1], [1, 0]], (2, 1))
    for name in PANEL:
        agents = [make_agent("bidder"), make_agent(name)]
        played = play_games(agents, seats, [1, 1, 2, 2], secret=SECRET, purpose=LADDERS)
        assert one["against"][name]["mean"] == played.shares[seats == 0].mean()
        theirs = played.shares[seats == 1]
        assert one["tried"][name]["mean"] == theirs[:2].mean()
        assert one["exploiters"][name]["mean"] == theirs[2:].mean()
    means = [one["against"][name]["mean"] for name in PANEL]
    assert one["wins"]["mean"] == pytest.approx(np.mean(means), abs=1e-4)
    assert one["panel"] == {name: make_agent(name).version_at(2, "front") for name in PANEL}
    assert entry["headlines"]["games"] == pytest.approx(2 * one["wins"]["mean"])
    (row,) = entry["exact"]["duel-4"]["openings"]
    assert row["opening"] == measured("duel-4", 1)[0]
    assert entry["headlines"]["bidding"] == pytest.approx(row["share"], abs=1e-4)
    with figures.open() as stream:
        (line,) = csv.DictReader(stream)
    for end, share in one["wins"].items():
        assert float(line[f"2-players_wins_{end}".removesuffix("_mean")]) == share
    assert float(line["nash_conv_duel-4"]) == row["nash_conv"]

    (folder / "bidder" / "parts.json").write_text("{}")
    assert main_of(f"{WORDS} --out {folder}") == 1
    assert "parts.json is damaged: it" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
def test_one_report_has_several_agents_and_reuses_their_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = f"--tasks duel-4 --openings 1 --players none --out {tmp_path}"
    assert main_of(f"benchmark crowd --budget none {rest}") == 0
    asked = list[str]()

    def noted(agent: Agent, name: str, samples: int) -> dict[str, Any]:
        asked.append(agent.name)
        return measure(agent, name, samples)

    monkeypatch.setattr("skyenv.arena.benchmark.measure", noted)
    assert main_of(f"benchmark crowd hoard --track heuristic --budget none {rest}") == 0
    assert asked == ["hoard"]
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["hoard", "heuristic", "none"] in [row[:3] for row in rows]


def test_three_player_tables_seat_one_agent_against_copies(tmp_path: Path) -> None:
    agents = entrants(["random", "crowd", "hoard", "greedy"], 3)
    settings = Settings(agents, 3, max_turns=40, secret=5, newcomer=True)
    with Folder(tmp_path, settings) as folder:
        play(folder, paired_seeds=4)
        found = against_panel(folder)
    results = folder.results()
    odd = results.paired_seeds % 2 == 1
    parts = {"against": (0, odd | ~odd), "tried": (1, ~odd), "exploiters": (1, odd)}
    for number, name in enumerate(["crowd", "hoard", "greedy"], 1):
        for part, (lone, among) in parts.items():
            alone, copied = (number, 0) if lone else (0, number)
            single = (results.seats == alone).sum(axis=1) == 1
            rows = among & single & ((results.seats == copied).sum(axis=1) == 2)
            shares = results.shares[rows][results.seats[rows] == alone]
            assert (name in found[part]) == rows.any()
            if rows.any():  # of four agents, a pair plays in even or in odd paired seeds only
                assert found[part][name]["mean"] == pytest.approx(shares.mean(), abs=1e-4)
    assert found["games"] == len(results.seats)


def test_an_exploiter_is_chosen_by_other_deals_than_its_wins() -> None:
    tried = {"a": {"mean": 0.7}, "b": {"mean": 0.6}}
    wins = {"a": {"mean": 0.55, "low": 0.4}, "b": {"mean": 0.9, "low": 0.8}}
    found = exploitability(tried, wins, 0.5)
    assert found == {"by": "a", "mean": pytest.approx(0.05), "low": 0.0}
    assert exploitability({"a": {"mean": 0.5}}, wins, 0.5)["by"] == "–"


# ---- look-ahead ----


def test_look_ahead_beats_its_base_agent() -> None:
    """In games of a turn each, where greedy plans for later turns."""
    greedy = make_agent("greedy")
    share = evaluate(LookaheadAgent(greedy), [greedy], 2, "front", 5, 3, max_turns=6)[0].share
    assert share.low > 0.5
