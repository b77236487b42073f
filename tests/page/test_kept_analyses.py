"""Analyses that are kept: there at once after a restart, of this game and of agents as they are now alone."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from pages import client_of, played
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import Game
from skyenv.agents import CrowdAgent
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.storage import MEMORY, Storage, StoredAnalysis
from skyenv.page.web import application


class Counting(CrowdAgent):
    """Knows how many decisions it has been asked about."""

    def __init__(self, version: str = "1") -> None:
        super().__init__()
        self.version, self.asked = version, 0

    def evaluate(self, decisions: Any) -> Any:
        """See the agents' interface."""
        self.asked += len(decisions)
        return super().evaluate(decisions)


def browser(path: Path, agent: Counting) -> TestClient:
    """A browser of a server that has just been started."""
    return client_of(application(Storage(path), Catalogue([CatalogueEntry("counting", agent)]), ["localhost"]))


def opened(client: TestClient, game: Game) -> str:
    """The address of a game's replay in the interface."""
    client.get("/")
    key = client.post("/api/replays", content=game.to_record()).json()["page"].rpartition("/")[2]
    return f"/api/replays/{key}/1"


def analysed(client: TestClient, address: str) -> Any:
    """The analysis when it is done."""
    client.post(address)
    wait_until(lambda: client.get(address).json()["state"] != "running")
    return client.get(address).json()


def test_an_analysis_is_there_after_a_restart(tmp_path: Path) -> None:
    game, path = played(2, seed=3, turns=12), tmp_path / "games.sqlite3"
    with browser(path, agent := Counting()) as ann:
        api = opened(ann, game)
        first = analysed(ann, f"{api}/analysis?agent=counting")
        assert agent.asked == first["done"] == first["of"] > 0
        assert first["version"] == "1"
    with browser(path, agent := Counting()) as bob:
        api = opened(bob, game)
        kept = {"agent": "counting", "version": "1", "open": False}
        assert bob.get(f"{api}/analyses").json() == {"analyses": [kept]}
        assert analysed(bob, f"{api}/analysis?agent=counting") == first
        assert agent.asked == 0
        assert analysed(bob, f"{api}/analysis?agent=counting&hands=open")["done"] == agent.asked > 0
        other = opened(bob, played(2, seed=4, turns=12))
        assert bob.get(f"{other}/analyses").json() == {"analyses": []}
    with browser(path, agent := Counting("2")) as eve:
        api = opened(eve, game)
        assert eve.get(f"{api}/analyses").json() == {"analyses": []}
        assert analysed(eve, f"{api}/analysis?agent=counting")["version"] == "2"
        assert agent.asked == first["of"]
        assert [one["version"] for one in eve.get(f"{api}/analyses").json()["analyses"]] == ["2"]


def test_one_that_was_stopped_is_not_kept(tmp_path: Path) -> None:
    with browser(tmp_path / "games.sqlite3", Counting()) as ann:
        api = opened(ann, played(2, seed=3, turns=12))
        ann.post(f"{api}/analysis?agent=counting")
        if ann.delete(f"{api}/analysis?agent=counting").json()["state"] == "stopped":
            assert ann.get(f"{api}/analyses").json() == {"analyses": []}


@pytest.mark.parametrize("opinions", ["", "[[1]]", "[[0, 999, null, null]]", '[["a", 1, [1, 2], 3]]', "3"])
def test_a_damaged_one_is_made_again(tmp_path: Path, opinions: str) -> None:
    game, path = played(2, seed=3, turns=6), tmp_path / "games.sqlite3"
    with browser(path, Counting()) as ann:
        first = analysed(ann, f"{opened(ann, game)}/analysis?agent=counting")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE analysis SET opinions = ?", (opinions,))
    connection.commit()
    connection.close()
    with browser(path, agent := Counting()) as ann:
        assert analysed(ann, f"{opened(ann, game)}/analysis?agent=counting") == first
        assert agent.asked == first["of"]


def test_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Storage(MEMORY)
    clock = iter(range(100))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    for number in (1, 2, 3, 1):
        storage.keep_analysis(StoredAnalysis(f"game {number}", "trained", "1", False, "none", "[]"), 2)
    assert [len(storage.analyses(f"game {number}")) for number in (1, 2, 3)] == [1, 0, 1]
    storage.close()
