"""Getting ready: what is told meanwhile, what waits, agents that can't be had.

Compiling itself is played by quick stand-ins.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import begin, client_of, payload, played, wait_for_turn
from starlette.testclient import TestClient

from processes import wait_until
from skyenv.agents import RandomAgent
from skyenv.page import preparing
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.compiled import Prospect, Step
from skyenv.page.errors import PageError
from skyenv.page.storage import Storage
from skyenv.page.web import application
from skyenv.page.workers import Report, Workers


class Compiler:
    """Stands for the compiler: it takes as long as a test wants.

    Attributes:
        rules: set: the rules may be done. agents: set, by name: so may an agent.
    """

    def __init__(self) -> None:
        self.rules = threading.Event()
        self.agents = {
            name: threading.Event() for name in ("random", "crowd", "greedy", "broken", "strange")
        }
        self.begun: list[str] = []

    def compile_rules(self, report: Report) -> None:
        """Two functions; the second one waits."""
        report(Step("the first", 0, 2))
        report(Step("the second", 1, 2))
        self.rules.wait()

    def look_at(self, entry: CatalogueEntry, report: Report) -> Prospect:
        """One can't be made."""
        if entry.name == "strange":
            raise LookupError("not in\nthis world")
        return Prospect(f"plays {entry.name}", "1")

    def compile_agent(self, entry: CatalogueEntry, report: Report) -> None:
        """Waits."""
        self.begun.append(entry.name)
        report(Step(entry.name, 0, 1))
        self.agents[entry.name].wait()
        if entry.name == "broken":
            raise ValueError("it is broken")


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    made = Compiler()
    for name in ("compile_rules", "look_at", "compile_agent"):
        monkeypatch.setattr(preparing, name, getattr(made, name))
    yield made
    made.rules.set()
    for event in made.agents.values():
        event.set()


@pytest.fixture
def ann(compiler: Compiler, tmp_path: Path) -> Iterator[TestClient]:
    """A browser of a server that has just been started; agents think in threads."""
    names = Catalogue(
        CatalogueEntry(name, name) for name in ("random", "crowd", "greedy", "broken", "strange")
    )
    with client_of(
        application(Storage(tmp_path / "games"), names, ["localhost"], workers=Workers())
    ) as client:
        yield client


def told(client: TestClient) -> dict[str, Any]:
    """How far it is."""
    content: dict[str, Any] = client.get("/api/preparing").json()
    return content


def agent(client: TestClient, name: str) -> dict[str, Any]:
    """What is told of an agent."""
    return next(dict(one) for one in told(client)["agents"] if one["name"] == name)


def test_everything_is_told_and_answered_while_the_rules_are_compiled(
    ann: TestClient, compiler: Compiler
) -> None:
    wait_until(lambda: told(ann)["done"] == 1)
    seat = begin_waiting(ann, ["me", "agent:crowd"])
    for path in (seat, "/api/games", f"{seat}/words", "/api/replays/x", "/api/replays/x/1"):
        answer = ann.get(path)
        assert answer.status_code == 503
        assert "compiled" in answer.json()["error"]
        assert answer.json()["preparing"]["rules"] is False
    record = played(2, actions=3).to_record()
    assert ann.post("/api/replays", content=record).status_code == 503
    far = told(ann)
    assert (far["rules"], far["ready"], far["about"], far["done"], far["total"]) == (
        False,
        False,
        "the second",
        1,
        2,
    )
    wait_until(lambda: agent(ann, "strange")["state"] == "failed")
    assert agent(ann, "strange")["error"] == "LookupError: not in this world"
    greedy = agent(ann, "greedy")
    assert (greedy["description"], greedy["ready"]) == ("plays greedy", False)

    compiler.rules.set()
    wait_until(lambda: told(ann)["rules"])
    assert payload(ann, seat)["step"] == 0
    assert ann.post("/api/replays", content=record).status_code == 201


def begin_waiting(client: TestClient, seats: list[str]) -> str:
    """A game that is made though nothing is ready."""
    client.get("/")
    answer = client.post(
        "/api/games", json={"players": len(seats), "side": "front", "seats": seats}
    )
    assert answer.status_code == 201
    return str(answer.json()["page"]).replace("/seat/", "/api/seats/")


def test_the_fitting_agent_is_first_and_who_is_waited_for_comes_next(
    ann: TestClient, compiler: Compiler
) -> None:
    compiler.rules.set()
    wait_until(lambda: compiler.begun == ["greedy"])
    seat = begin(ann, ["me", "agent:crowd"])
    state = payload(ann, seat)
    ann.post(f"{seat}/act", json={"action": state["legal"][0]["action"], "step": 0})
    assert payload(ann, seat)["step"] == 1
    compiler.agents["greedy"].set()
    wait_until(lambda: len(compiler.begun) == 2)
    assert compiler.begun == ["greedy", "crowd"]
    assert agent(ann, "greedy")["ready"]
    assert agent(ann, "crowd")["state"] == "preparing"
    assert payload(ann, seat)["step"] == 1
    compiler.agents["crowd"].set()
    assert wait_for_turn(ann, seat)["step"] > 1  # the game goes on by itself


def test_an_agent_that_fails_is_told_and_others_play(ann: TestClient, compiler: Compiler) -> None:
    seat = begin_waiting(ann, ["me", "agent:broken"])
    compiler.rules.set()
    for event in compiler.agents.values():
        event.set()
    wait_until(lambda: told(ann)["ready"])
    assert [one["name"] for one in told(ann)["agents"] if one["ready"]] == [
        "random",
        "crowd",
        "greedy",
    ]
    assert agent(ann, "broken")["error"] == "ValueError: it is broken"
    state = payload(ann, seat)
    ann.post(f"{seat}/act", json={"action": state["legal"][0]["action"], "step": 0})
    wait_until(
        lambda: payload(ann, seat)["trouble"] == "broken can't play: ValueError: it is broken"
    )
    wanted = {"players": 2, "side": "front", "seats": ["me", "agent:strange"]}
    refused = ann.post("/api/games", json=wanted)
    assert refused.status_code == 409
    assert refused.json()["error"] == "strange can't play: LookupError: not in this world"
    other = begin(ann, ["me", "agent:random"])
    state = payload(ann, other)
    ann.post(f"{other}/act", json={"action": state["legal"][0]["action"], "step": 0})
    assert wait_for_turn(ann, other)["step"] > 1


def test_rules_that_cannot_be_had_are_told(
    ann: TestClient, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        preparing, "play_a_little", lambda: (_ for _ in ()).throw(OSError("no space"))
    )
    compiler.rules.set()
    wait_until(lambda: told(ann)["error"])
    assert told(ann)["error"] == "The rules can't be compiled: OSError: no space"
    assert ann.get("/api/games").status_code == 503
    assert ann.get("/api/games").json()["error"] == told(ann)["error"]


def test_without_workers_everything_is_ready_at_once() -> None:
    names = Catalogue([CatalogueEntry("greedy", "greedy"), CatalogueEntry("mine", RandomAgent())])
    made = preparing.Preparation(names, None)
    made.require_rules()
    assert made.payload()["ready"]
    assert [one["ready"] for one in names.describe()] == [True, True]
    names.readiness["mine"].state = "failed"
    with pytest.raises(PageError, match="mine can't play"):
        made.require_hope("mine")


def test_an_agent_that_takes_too_long_holds_up_nobody_for_ever(
    ann: TestClient, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "LONGEST", 0.01)
    compiler.rules.set()
    wait_until(lambda: agent(ann, "greedy")["state"] == "failed")
    assert agent(ann, "greedy")["error"] == "getting it ready takes longer than 0 seconds"
    wait_until(lambda: len(compiler.begun) > 1)
