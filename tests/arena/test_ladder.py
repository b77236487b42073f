"""Ladders as they are written and read, and those that ship."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from tournaments import play, settings

from experiments.tools import document
from skyenv.arena import ladder
from skyenv.arena.estimates import interval
from skyenv.arena.folder import Folder
from skyenv.arena.ratings import rate
from skyenv.arena.schedule import entrants
from skyenv.cli import main
from skyenv.errors import CheckpointError

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("in_this_process")
def test_neighbours_that_are_not_separated_are_said_to_be_so(tmp_path: Path) -> None:
    wanted = settings("skyenv.agents:RandomAgent", "hoard")
    play(tmp_path, wanted, 3)
    with Folder(tmp_path, wanted) as folder:
        ratings = rate(folder.results(), ["random", "hoard"])
        content = ladder.as_dict(ratings, dataclasses.asdict(wanted), folder.speeds(), "command")
    for text in (ladder.table(content), ladder.markdown(content)):
        assert "they are not separated (97.5 % are asked for)" in text
    assert ladder.neighbour("a", "b", 0.975)["separated"]
    assert not ladder.neighbour("a", "b", 0.974)["separated"]


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("change", [{"format": 9}, {"agents": [{}]}, {"samples": [[1]]}, {"players": 3}])
def test_a_damaged_ladder(change: dict[str, Any], tmp_path: Path) -> None:
    main(["tournament", "random", "crowd", "--paired-seeds", "1", "--out", str(tmp_path)])
    path = tmp_path / "ladder.json"
    ladder.read(path, 2)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CheckpointError, match=r"ladder.json is (no|a) ladder"):
        ladder.read(path, 2)
    path.write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match=r"ladder.json is damaged: it is nested too deeply"):
        ladder.read(path, 2)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_ships_is_what_the_docs_say(players: int) -> None:
    """Tables in the README and the docs, JSON and the agents themselves belong together."""
    page = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
    assert document.ladder_summary() in (ROOT / "README.md").read_text(encoding="utf-8")
    path = ladder.SHIPPED / f"{players}-players.json"
    assert document.ladder_table(players) in page
    assert document.ladder_pairs(players) in page
    shipped = ladder.read(path, players)
    assert (ladder.PICTURES / f"{players}-players.png").exists()
    for agent in shipped["agents"]:
        assert f"| {agent['name']} | {interval(agent['rating'])} |" in page
        (here,) = entrants([agent["spec"]])
        assert (here.name, here.version, here.digest) == (agent["name"], agent["version"], agent["digest"])
