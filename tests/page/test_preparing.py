"""Getting ready: what is told meanwhile, what waits, agents that can't be had.

Compiling itself is played by quick stand-ins.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import act, begin, client_of, payload, played, wait_for_turn
from starlette.testclient import TestClient

from processes import wait_until
from skyenv.agents import RandomAgent
from skyenv.page import preparing
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.errors import PageError
from skyenv.page.preparing import Step
from skyenv.page.storage import Storage
from skyenv.page.web import application
from skyenv.page.workers import Report, Workers

NAMES = ("random", "crowd", "greedy", "broken")


class Compiler:
    """Stands for the compiler: it takes as long as a test wants.

    Attributes:
        may: set, by name: the rules or an agent may be done.
        begun: agents that were begun.
    """

    def __init__(self) -> None:
        self.may = {name: threading.Event() for name in ("rules", *NAMES)}
        self.begun: list[str] = []

    def compile_rules(self, report: Report) -> None:
        """Two functions; the second one waits."""
        report(Step("the first", 0, 2))
        report(Step("the second", 1, 2))
        self.may["rules"].wait()

    def compile_agent(self, entry: CatalogueEntry, report: Report) -> tuple[str, str]:
        """Waits."""
        self.begun.append(entry.name)
        report(Step(entry.name, 0, 1))
        self.may[entry.name].wait()
        if entry.name == "broken":
            raise LookupError("not in\nthis world")
        return f"plays {entry.name}", "1"

    def finish(self) -> None:
        """Let everything be done."""
        for event in self.may.values():
            event.set()


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    made = Compiler()
    for name in ("compile_rules", "compile_agent"):
        monkeypatch.setattr(preparing, name, getattr(made, name))
    yield made
    made.finish()


@pytest.fixture
def ann(compiler: Compiler, tmp_path: Path) -> Iterator[TestClient]:
    """A browser of a server that has just been started; agents think in threads."""
    names = Catalogue(CatalogueEntry(name, name) for name in NAMES)
    app = application(Storage(tmp_path / "games"), names, ["localhost"], workers=Workers())
    with client_of(app) as client:
        client.get("/")
        yield client


def told(client: TestClient) -> dict[str, Any]:
    """How far it is; agents by their names."""
    content: dict[str, Any] = client.get("/api/preparing").json()
    return content | {"agents": {one["name"]: one for one in content["agents"]}}


def make(client: TestClient, agent: str) -> str:
    """Make a game with an agent, whatever is ready; the seat's address in the interface."""
    wanted = {"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    answer = client.post("/api/games", json=wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["page"]).replace("/seat/", "/api/seats/")


def play_first(client: TestClient, seat: str) -> None:
    """Play the first action."""
    state = payload(client, seat)
    assert act(client, seat, state, state["legal"][0]["action"]).status_code == 200


def test_everything_is_told_and_answered_while_the_rules_are_compiled(
    ann: TestClient, compiler: Compiler
) -> None:
    wait_until(lambda: told(ann)["done"] == 1)
    seat, record = make(ann, "crowd"), played(2, actions=3).to_record()
    for path in (seat, f"{seat}/words", "/api/replays/x/1", "/tutorial"):
        answer = ann.get(path)
        assert (answer.status_code, answer.json()["preparing"]["rules"]) == (503, False)
    lesson = ann.get("/tutorial", headers={"accept": "text/html"})
    assert (lesson.status_code, 'data-waits="rules"' in lesson.text) == (503, True)
    assert ann.post("/api/replays", content=record).status_code == 503
    far = told(ann)
    assert [far[name] for name in ("rules", "ready", "about", "done", "total")] == [
        False,
        False,
        "the second",
        1,
        2,
    ]
    compiler.may["rules"].set()
    wait_until(lambda: told(ann)["rules"])
    assert payload(ann, seat)["step"] == 0
    assert ann.post("/api/replays", content=record).status_code == 201
    assert ann.get("/tutorial", follow_redirects=False).status_code == 303


def test_the_fitting_agent_is_first_and_one_that_is_waited_for_comes_next(
    ann: TestClient, compiler: Compiler
) -> None:
    compiler.may["rules"].set()
    wait_until(lambda: compiler.begun == ["greedy"])
    seat = begin(ann, ["me", "agent:crowd"])
    play_first(ann, seat)
    compiler.may["greedy"].set()
    wait_until(lambda: compiler.begun == ["greedy", "crowd"])
    agents = told(ann)["agents"]
    assert (agents["greedy"]["ready"], agents["greedy"]["description"]) == (True, "plays greedy")
    assert agents["crowd"]["state"] == "preparing"
    assert payload(ann, seat)["step"] == 1
    compiler.may["crowd"].set()
    assert wait_for_turn(ann, seat)["step"] > 1  # the game goes on by itself


def test_an_agent_that_fails_is_told_and_others_play(ann: TestClient, compiler: Compiler) -> None:
    seat = make(ann, "broken")
    compiler.finish()
    wait_until(lambda: told(ann)["ready"])
    assert [name for name, one in told(ann)["agents"].items() if not one["ready"]] == ["broken"]
    why = "broken can't play: LookupError: not in this world"
    play_first(ann, seat)
    wait_until(lambda: payload(ann, seat)["trouble"] == why)
    wanted = {"players": 2, "side": "front", "seats": ["me", "agent:broken"]}
    refused = ann.post("/api/games", json=wanted)
    assert (refused.status_code, refused.json()["error"]) == (409, why)
    other = begin(ann, ["me", "agent:random"])
    play_first(ann, other)
    assert wait_for_turn(ann, other)["step"] > 1


def test_rules_that_cannot_be_had_are_told(
    ann: TestClient, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("no space")

    monkeypatch.setattr(preparing, "play_a_little", fail)
    compiler.may["rules"].set()
    wait_until(lambda: told(ann)["error"])
    assert told(ann)["error"] == "The rules can't be compiled: OSError: no space"
    refused = ann.get("/api/replays/x/1")
    assert (refused.status_code, refused.json()["error"]) == (503, told(ann)["error"])


def test_without_workers_everything_is_ready_at_once() -> None:
    names = Catalogue([CatalogueEntry("greedy", "greedy"), CatalogueEntry("mine", RandomAgent())])
    made = preparing.Preparation(names, None)
    made.require_rules()
    assert made.payload()["ready"]
    names.readiness["mine"].state = "failed"
    with pytest.raises(PageError, match="mine can't play"):
        made.require_hope("mine")


def test_an_agent_that_takes_too_long_holds_up_no_other(
    ann: TestClient, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never ends, so the limit passes whatever the clock says."""
    monkeypatch.setattr(preparing, "LONGEST", 0.01)
    compiler.may["rules"].set()
    wait_until(lambda: told(ann)["agents"]["greedy"]["state"] == "failed")
    assert told(ann)["agents"]["greedy"]["error"] == "getting it ready takes longer than 0 s"
    wait_until(lambda: len(compiler.begun) > 1)
