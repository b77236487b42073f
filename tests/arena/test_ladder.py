"""Ladders as they are written and read, and those that ship."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.tools import document
from processes import ROOT, main_of
from skyenv.arena import ladder
from skyenv.arena.estimates import interval
from skyenv.arena.ratings import ANCHORS
from skyenv.arena.schedule import entrants
from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError


@pytest.mark.parametrize(("probability", "is_told_apart"), [(0.975, True), (0.974, False)])
def test_neighbours_are_told_apart_by_their_probability(
    probability: float, is_told_apart: bool
) -> None:
    content = ladder.read(ladder.SHIPPED / "2-players.json", 2)
    content["neighbours"] = [ladder.neighbour("a", "b", probability)]
    (line,) = ladder.separation(content)
    assert ("they are not separated (97.5 % are asked for)" in line) != is_told_apart


@pytest.mark.parametrize(
    "change",
    [{"format": 9}, {"format": 2}, {"agents": [{}]}, {"samples": [[1]]}, {"players": 3}],
)
def test_a_damaged_ladder(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "ladder.json"
    shipped = ladder.read(ladder.SHIPPED / "2-players.json", 2)
    path.write_text(json.dumps({**shipped, **change}))
    with pytest.raises(CheckpointError, match=r"ladder.json is (no|a) ladder"):
        ladder.read(path, 2)


@pytest.mark.usefixtures("in_this_process")
def test_a_ladder_of_mixed_tables_as_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was played beside what is predicted, duels both ways round: in the terminal and
    in Markdown.
    """
    agents = ["random", "crowd", "hoard", "bidder"]
    size = "--players 3 --side back --paired-seeds 8 --max-turns 20"
    slow = f"--slow crowd --slow-paired-seeds 6 --out {tmp_path}"
    assert main_of(f"tournament {' '.join(agents)} {size} {slow}") == 0
    content = ladder.read(tmp_path / "ladder.json", 3, "back")
    assert {agent["name"]: agent["paired_seeds"] for agent in content["agents"]} == dict.fromkeys(
        agents, 8
    ) | {"crowd": 6}
    assert content["anchors"]["names"] == ["bidder"]
    assert content["command"].endswith("--paired-seeds 8 --slow crowd --slow-paired-seeds 6")
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines()[:-1])) <= 80
    page = ladder.matrix_markdown(content)
    assert page.count("\n") > 12
    for shown in (text, page):
        assert "Duels, each alone against 2 of the other" in " ".join(shown.split())
    for duel in content["duels"]:
        assert duel["par"]["mean"] == pytest.approx(
            (duel["one_alone"]["mean"] + duel["other_alone"]["mean"]) / 2, abs=2e-4
        )
        assert f"| {duel['one']} | {duel['other']} |" in page
    (one, other) = (content["pairs"][0][-1], content["pairs"][-1][0])
    assert one["mean"] + other["mean"] == pytest.approx(1, abs=2e-4)
    with pytest.raises(CheckpointError, match="a ladder of side back, not front"):
        ladder.read(tmp_path / "ladder.json", 3, "front")


def test_where_the_ratings_mislead_it_is_said() -> None:
    """A pair whose interval misses what is predicted stands out."""
    content = ladder.read(ladder.SHIPPED / "2-players.json", 2)
    lows = [
        [share is not None and share["low"] > 0.01 for share in row] for row in content["pairs"]
    ]
    row, column = next(
        (row, column)
        for row, cells in enumerate(lows)
        for column, is_so in enumerate(cells)
        if is_so
    )
    content["predicted"][row][column] = 0.005
    assert "**" in ladder.matrix_markdown(content)


@pytest.mark.parametrize(("players", "side"), document.LADDERS)
def test_what_ships_is_what_the_docs_say(players: int, side: str) -> None:
    """Tables in the README and the docs, JSON and the agents themselves belong together."""
    page = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
    assert document.ladder_summary() in (ROOT / "README.md").read_text(encoding="utf-8")
    name = table_name(players, side)
    assert document.part(f"ladder {players} players {side}") in page
    assert document.ladder_pairs(players, side) in page
    shipped = ladder.read(ladder.SHIPPED / f"{name}.json", players, side)
    assert (ladder.PICTURES / f"{name}.png").exists()
    assert shipped["paired_seeds"] >= 200
    assert set(shipped["anchors"]["names"]) == set(ANCHORS)
    if players > 2:
        agents = len(shipped["agents"])
        assert len(shipped["duels"]) == agents * (agents - 1) // 2
    for agent in shipped["agents"]:
        assert f"| {agent['name']} | {interval(agent['rating'])} |" in page
        (here,) = entrants([agent["spec"]], players, side)
        assert (here.name, here.digest) == (agent["name"], agent["digest"])
        if here.version != agent["version"]:
            assert f"{here.name} (version {agent['version']}; {here.version} now)" in page
