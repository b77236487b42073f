"""Getting ready: what is compiled, what is told meanwhile, what waits, agents that can't be had."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pages import act, begin, client_of, payload, played, wait_for_turn
from starlette.testclient import TestClient

from processes import Threads, printed, wait_until
from skyenv.page import preparing
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.preparing import Step, compile_agent, compile_rules
from skyenv.page.storage import Storage
from skyenv.page.web import application
from skyenv.page.workers import Report, Workers
from skyenv.rules.compiling import COMPILED
from skyenv.work import Task

NAMES = ("random", "crowd", "greedy", "broken")
compiled = pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")


class Compiler(Threads):
    """Workers that don't compile, but take as long as a test wants.

    Attributes:
        may: set, by name: the rules or an agent may be done.
        begun: agents that were begun.
    """

    def __init__(self) -> None:
        self.may = {name: threading.Event() for name in ("rules", *NAMES)}
        self.begun: list[str] = []

    def _begin(self, task: Task[Any]) -> None:
        if task.work is compile_rules:
            task.work = self._rules
        elif isinstance(task.work, partial) and task.work.func is compile_agent:
            task.work = partial(self._agent, *task.work.args)
        super()._begin(task)

    def _rules(self, report: Report) -> None:
        report(Step("the first", 0, 2))
        report(Step("the second", 1, 2))
        self.may["rules"].wait()

    def _agent(self, entry: CatalogueEntry, report: Report) -> tuple[str, str]:
        self.begun.append(entry.name)
        self.may[entry.name].wait()
        if entry.name == "broken":
            raise LookupError("not in\nthis world")
        return f"plays {entry.name}", "1"

    def finish(self) -> None:
        """Let everything be done."""
        for event in self.may.values():
            event.set()


@pytest.fixture
def compiler() -> Iterator[Compiler]:
    made = Compiler()
    yield made
    made.finish()


@pytest.fixture
def ann(compiler: Compiler, tmp_path: Path) -> Iterator[TestClient]:
    """A browser of a server that has just been started."""
    names = Catalogue(CatalogueEntry(name, name) for name in NAMES)
    workers = Workers(compiler)
    app = application(Storage(tmp_path / "games"), names, ["localhost"], workers=workers)
    with client_of(app) as client:
        client.get("/")
        yield client


def told(client: TestClient) -> dict[str, Any]:
    """How far it is; agents by their names."""
    content: dict[str, Any] = client.get("/api/preparing").json()
    return content | {"agents": {one["name"]: one for one in content["agents"]}}


def ask(client: TestClient, agent: str) -> Any:
    """The answer to a wish for a game with an agent."""
    wanted = {"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    return client.post("/api/games", json=wanted)


def make(client: TestClient, agent: str) -> str:
    """Make a game with an agent; the seat's address in the interface."""
    return str(ask(client, agent).json()["page"]).replace("/seat/", "/api/seats/")


def play_first(client: TestClient, seat: str) -> None:
    """Play the first action."""
    state = payload(client, seat)
    assert act(client, seat, state, state["legal"][0]["action"]).status_code == 200


def test_everything_is_told_and_answered_while_the_rules_are_compiled(
    ann: TestClient, compiler: Compiler
) -> None:
    wait_until(lambda: told(ann)["done"] == 1)
    seat, record = make(ann, "crowd"), played(2, actions=3).to_record()
    for path in (seat, "/api/replays/x/1", "/tutorial"):
        answer = ann.get(path)
        assert (answer.status_code, answer.json()["preparing"]["rules"]) == (503, False)
    lesson = ann.get("/tutorial", headers={"accept": "text/html"})
    assert (lesson.status_code, 'data-waits="rules"' in lesson.text) == (503, True)
    assert ann.post("/api/replays", content=record).status_code == 503
    wanted = {"rules": False, "ready": False, "about": "the second", "done": 1, "total": 2}
    assert wanted.items() <= told(ann).items()
    compiler.may["rules"].set()
    wait_until(lambda: told(ann)["rules"])
    assert payload(ann, seat)["step"] == 0
    assert ann.post("/api/replays", content=record).status_code == 201


def test_the_fitting_agent_is_first_and_holds_up_none_that_is_waited_for(
    ann: TestClient, compiler: Compiler
) -> None:
    compiler.may["rules"].set()
    wait_until(lambda: compiler.begun == ["greedy"])
    seat = begin(ann, ["me", "agent:crowd"])
    play_first(ann, seat)
    wait_until(lambda: compiler.begun == ["greedy", "crowd"])
    assert (told(ann)["agents"]["crowd"]["state"], payload(ann, seat)["step"]) == ("preparing", 1)
    compiler.may["crowd"].set()
    assert wait_for_turn(ann, seat)["step"] > 1  # the game goes on by itself
    agents = told(ann)["agents"]
    assert (agents["crowd"]["ready"], agents["crowd"]["description"]) == (True, "plays crowd")
    assert agents["greedy"]["state"] == "preparing"


def test_an_agent_that_fails_is_told_and_others_play(ann: TestClient, compiler: Compiler) -> None:
    seat, why = make(ann, "broken"), "broken can't play: LookupError: not in this world"
    compiler.finish()
    wait_until(lambda: told(ann)["ready"])
    assert [name for name, one in told(ann)["agents"].items() if not one["ready"]] == ["broken"]
    play_first(ann, seat)
    wait_until(lambda: payload(ann, seat)["trouble"] == why)
    refused = ask(ann, "broken")
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


# ---- real compiling ----

SERVER = """
import json, sys
sys.path[1:1] = ["agents", "tests", "tests/page"]
from starlette.testclient import TestClient
from skyenv.page import game_server
from skyenv.page.preparing import play_a_little
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Workers
from skyenv.work import Processes
from skyenv.rules import compiling

if __name__ == "__main__":
    game_server.DEFAULT_MAX_TURNS = 8
    names = Catalogue([CatalogueEntry("random", "random")])
    made = []
    compile_one = compiling.EntryPoint.compile

    def compile(self, sig):
        made.append(self.__name__)
        return compile_one(self, sig)

    play_a_little()
    compiling.EntryPoint.compile = compile
    from pages import begin, client_of, play_to_end
    from processes import wait_until
    with client_of(application(Storage(MEMORY), names, ["localhost"], workers=Workers(Processes(1)))) as ann:
        wait_until(lambda: ann.get("/api/preparing").json()["ready"])
        seat = begin(ann, ["me", "agent:random"], seed="7")
        assert ann.get(f"{seat}/words").status_code == 200
        play_to_end(ann, seat)
        key = ann.post(f"{seat}/replay").json()["page"].rpartition("/")[2]
        assert ann.get(f"/api/replays/{key}/1").status_code == 200
        assert ann.get(f"/api/replays/{key}/1/15?seat=1").status_code == 200
        assert ann.get(f"/api/replays/{key}/1/15/hint?agent=random").status_code == 200
    print(json.dumps(made))
"""


@compiled
def test_a_server_loads_the_rules_and_compiles_nothing_else() -> None:
    """A short game by the interface, its replay and a hint: after the beginning nothing is compiled
    or loaded in the server's process.
    """
    assert json.loads(printed("-c", SERVER).splitlines()[-1]) == []


DOUBLING = """
from skyenv.agents import RandomAgent
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.preparing import Step, compile_agent
from skyenv.rules.compiling import entry_point

@entry_point("doubling")
def double(number):
    return 2 * number

@entry_point("more than that")
def more(number):
    return double(number) + 1

class Doubling(RandomAgent):
    def act(self, decisions):
        return super().act(decisions)[: more(len(decisions)) - 2]

entry, steps = CatalogueEntry("doubling", Doubling()), []
compile_agent(CatalogueEntry("random", RandomAgent()), lambda step: None)
for _ in range(2):
    compile_agent(entry, lambda step: steps.append((step.about, step.total - step.done)))
print(steps)
"""


@compiled
def test_compiling_an_agent_is_reported_function_by_function(tmp_path: Path) -> None:
    program = tmp_path / "doubling.py"
    program.write_text(DOUBLING)
    for expected in ("[('more than that', 2), ('doubling', 1)]\n", "[]\n"):
        assert printed(program, cwd=tmp_path) == expected
