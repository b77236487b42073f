"""Analyses that are kept: there at once after a restart, of this game and of agents as they are now
alone.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from pages import client_of, played
from starlette.testclient import TestClient

from processes import Threads, wait_until
from skyenv import Game
from skyenv.agents import CrowdAgent
from skyenv.page import kept_analyses
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.kept_analyses import KeptAnalyses
from skyenv.page.replays import Replay
from skyenv.page.storage import MEMORY, Storage, StoredAnalysis
from skyenv.page.web import application
from skyenv_agents.learned.networks import TRAINED, NetworkAgent


class Counting(CrowdAgent):
    """Knows how many decisions it has been asked about, and answers while its gate is open."""

    def __init__(self, version: str = "1") -> None:
        super().__init__()
        self.version, self.asked = version, 0
        self.gate, self.is_asked = threading.Event(), threading.Event()
        self.gate.set()

    def evaluate(self, decisions: Any) -> Any:
        """See the agents' interface."""
        self.asked += len(decisions)
        self.is_asked.set()
        assert self.gate.wait(60)
        return super().evaluate(decisions)


def browser(path: Path, agent: Counting) -> TestClient:
    """A browser of a server that has just been started."""
    return client_of(
        application(Storage(path), Catalogue([CatalogueEntry("counting", agent)]), ["localhost"])
    )


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
        kept = {"agent": "counting", "version": "1"}
        assert bob.get(f"{api}/analyses").json() == {"analyses": [kept]}
        assert analysed(bob, f"{api}/analysis?agent=counting") == first
        assert agent.asked == 0
        other = opened(bob, played(2, seed=4, turns=12))
        assert bob.get(f"{other}/analyses").json() == {"analyses": []}
    with browser(path, agent := Counting("2")) as eve:
        api = opened(eve, game)
        assert eve.get(f"{api}/analyses").json() == {"analyses": []}
        assert analysed(eve, f"{api}/analysis?agent=counting")["version"] == "2"
        assert agent.asked == first["of"]
        assert [one["version"] for one in eve.get(f"{api}/analyses").json()["analyses"]] == ["2"]


def test_one_that_was_stopped_is_not_kept(tmp_path: Path) -> None:
    with browser(tmp_path / "games.sqlite3", agent := Counting()) as ann:
        api = opened(ann, played(2, seed=3, turns=12))
        agent.gate.clear()
        ann.post(f"{api}/analysis?agent=counting")
        assert agent.is_asked.wait(60)
        assert ann.delete(f"{api}/analysis?agent=counting").json()["state"] == "stopped"
        agent.gate.set()
        wait_until(lambda: not Threads.busy)
        assert ann.get(f"{api}/analyses").json() == {"analyses": []}


DAMAGED = [
    "",
    "[[1]]",
    "3",
    "[]",
    "[0, 999, null, null]",
    "[STEP, 999, null, null]",
    '[STEP, 1, ["a", 2], 3]',
    '["a", 1, [1, 2], 3]',
    "[STEP, 1, [1, 2], NaN]",
    "[STEP, 1, [1e999, 2], 0]",
    f"[STEP, 1, [1{400 * '0'}, 2], 0]",
    "[STEP, 1, null, null], [STEP, 1, null, null]",
]
"""All opinions, or one of many; STEP is where it stands."""


@pytest.mark.parametrize("opinions", DAMAGED)
def test_a_damaged_one_is_made_again(tmp_path: Path, opinions: str) -> None:
    game, path = played(2, seed=3, turns=6), tmp_path / "games.sqlite3"
    with browser(path, Counting()) as ann:
        first = analysed(ann, f"{opened(ann, game)}/analysis?agent=counting")
    connection = sqlite3.connect(path)
    ((stored,),) = connection.execute("SELECT opinions FROM analysis")
    if opinions.count(",") > 1:
        (step, *_), *others = json.loads(stored)
        one = opinions.replace("STEP", str(step))
        opinions = f"[{one}, {', '.join(map(json.dumps, others))}]"
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
        storage.keep_analysis(
            StoredAnalysis(f"game {number}", "trained", "1", "none", "[]"), "ann", 2
        )
    assert [len(storage.analyses(f"game {number}")) for number in (1, 2, 3)] == [1, 0, 1]
    storage.close()


def test_who_fills_the_database_throws_out_his_own() -> None:
    storage = Storage(MEMORY)
    for client, games in (("ann", range(2)), ("eve", range(10, 30)), ("bob", range(1))):
        for number in games:
            storage.keep_analysis(
                StoredAnalysis(f"{client} {number}", "trained", "1", "none", "[]"), client, 5
            )
    kept = [f"{client} {number}" for client in ("ann", "bob", "eve") for number in range(30)]
    kept = [game for game in kept if storage.analyses(game)]
    assert kept == ["ann 0", "ann 1", "bob 0", "eve 28", "eve 29"]
    storage.close()


def test_networks_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """As those of two trainings are, which are called like the folder and say the same of their
    versions.
    """
    game, path, networks = (
        played(2, seed=3, turns=6),
        tmp_path / "games.sqlite3",
        tmp_path / "run.npz",
    )
    shares = []
    for players in (2, 3):
        networks.write_bytes((TRAINED / f"{players}-players.npz").read_bytes())
        agent = NetworkAgent(networks)
        with client_of(
            application(Storage(path), Catalogue([CatalogueEntry("run", agent)]), ["localhost"])
        ) as ann:
            api = opened(ann, game)
            assert ann.get(f"{api}/analyses").json() == {"analyses": []}
            shares.append(analysed(ann, f"{api}/analysis?agent=run")["chart"])
    assert shares[0] != shares[1]


def test_an_agent_that_is_not_ready_is_waited_for(tmp_path: Path) -> None:
    """As long as its version isn't known, none is taken for its analysis."""
    game, path = played(2, seed=3, turns=6), tmp_path / "games.sqlite3"
    with browser(path, Counting()) as ann:
        analysed(ann, f"{opened(ann, game)}/analysis?agent=counting")
    with browser(path, agent := Counting("2")) as ann:
        api, server = opened(ann, game), ann.app.state.server  # type: ignore[attr-defined]
        ready = server.catalogue.readiness["counting"]
        settled = server.preparation._settled["counting"]
        ready.version = ""
        settled.clear()
        assert ann.get(f"{api}/analyses").json() == {"analyses": []}
        ann.post(f"{api}/analysis?agent=counting")
        assert ann.get(f"{api}/analysis?agent=counting").json()["state"] == "running"
        assert agent.asked == 0
        ready.version = "2"
        ann.portal.call(settled.set)  # type: ignore[union-attr]
        assert analysed(ann, f"{api}/analysis?agent=counting")["version"] == "2"


def test_long_games_keep_no_others_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made of a whole game is made in other threads than the one that answers, and once."""
    called = []

    def noted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            with pytest.raises(RuntimeError, match="no running event loop"):
                asyncio.get_running_loop()
            called.append(name)
            return work(*values)

        return call

    digest = cached_property(noted("digest", Replay.digest.func))  # type: ignore[attr-defined]
    digest.__set_name__(Replay, "digest")
    monkeypatch.setattr(Replay, "digest", digest)
    monkeypatch.setattr(kept_analyses, "_read", noted("read", kept_analyses._read))
    monkeypatch.setattr(KeptAnalyses, "_keep", noted("keep", KeptAnalyses._keep))
    game, path = played(2, seed=3, turns=6), tmp_path / "games.sqlite3"
    for wanted in (["digest", "keep"], ["digest", "read"]):
        with browser(path, Counting()) as ann:
            api = opened(ann, game)
            assert analysed(ann, f"{api}/analysis?agent=counting")["done"]
            assert len(ann.get(f"{api}/analyses").json()["analyses"]) == 1
        assert called == wanted
        called.clear()
