"""The figures of the tree search: what is measured, and that another program can be measured beside
it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.benchmarks import search as search_speed
from experiments.benchmarks.search import (
    PLACES,
    SEARCHERS,
    Searched,
    Searcher,
    by_agent,
    games_to_search,
    main,
    measured,
)
from experiments.tools import document
from skyenv.engine.game import Game
from skyenv_agents.search.ismcts import SearchAgent
from skyenv_agents.search.tree import NODE_DTYPE

pytestmark = pytest.mark.programs


def test_positions_are_those_of_one_game() -> None:
    games = games_to_search()
    assert list(games) == list(PLACES)
    turns = [int(game.state["turns"]) for game in games.values()]
    assert turns[0] == 0
    assert 3 < turns[1] < turns[2]
    assert all(game.phase == "option" and len(game.legal_actions) > 1 for game in games.values())


def test_measures_speed_and_memory() -> None:
    measurements = measured(Searcher("tree", by_agent(SearchAgent, turns=0), 160), 2, 0.25)
    assert [one.name for one in measurements] == [
        *(f"tree, {place}, 1 thread" for place in PLACES),
        *(f"tree, {place}, 2 threads" for place in PLACES),
        "tree, nodes of 40 simulations",
    ]
    assert all(one.unit == "simulations/s" and one.repeats == 2 for one in measurements[:-1])
    assert all(one.lowest > 100 for one in measurements[:-1])
    assert 40 * NODE_DTYPE.itemsize <= measurements[-1].median <= 40 * 100 * NODE_DTYPE.itemsize


def test_another_program_is_another_row() -> None:
    asked: list[Game] = []

    def make(simulations: int, threads: int) -> search_speed.Search:
        def search(game: Game) -> Searched:
            asked.append(game)
            return Searched(simulations * threads, 0)

        return search

    measurements = measured(Searcher("other", make, 50, (1,)), 3, 1.0)
    assert [one.name for one in measurements] == [
        f"other, {place}, 1 thread" for place in PLACES
    ], "its memory isn't known"
    assert len(asked) == 1 + 3 * 3


def test_writes_figures_and_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(search_speed.all_figures, "__defaults__", (SEARCHERS[:1],))
    monkeypatch.setattr(document, "ROOT", tmp_path)
    path = tmp_path / "docs" / "search" / "speed.json"
    assert main(["--quick", "--json", str(path)]) == 0
    assert "leaves by their small network, middle, 1 thread" in capsys.readouterr().out
    figures = json.loads(path.read_text(encoding="utf-8"))["figures"]
    assert len(figures) == 7
    assert (
        f"| leaves by their small network, opening, 1 thread | {figures[0]['median']:,.0f} "
        "simulations/s |" in document.speed_table("search/speed")
    )
