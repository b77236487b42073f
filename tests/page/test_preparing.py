"""Preparation: compilation in the background, its progress, failures, and the first start."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pages import act, address_of, begin, client_of, led_to, payload, wait_for_turn
from starlette.testclient import TestClient

from processes import Threads, printed, running, wait_until
from skyenv.page.agents.catalogue import Catalogue, CatalogueEntry
from skyenv.page.agents.preparing import compile_agent, step
from skyenv.page.storage import Storage
from skyenv.page.web import application
from skyenv.page.workers import Report, Workers
from skyenv.rules.compiling import COMPILED
from skyenv.work import Job

NAMES = ("random", "crowd", "greedy", "broken")


class Compiler(Threads):
    """Workers that simulate compilation.

    Attributes:
        may: set, by name: an agent may be done.
        begun: what was begun.
        failing: what can't be compiled, and why.
    """

    def __init__(self) -> None:
        self.may = {name: threading.Event() for name in NAMES}
        self.begun: list[str] = []
        self.failing: dict[str, Exception] = {"broken": LookupError("not in\nthis world")}

    def _begin(self, task: Job[Any]) -> None:
        if isinstance(task.work, partial) and task.work.func is compile_agent:
            task.work = partial(self._compile, task.work.args[0].name)
        super()._begin(task)

    def _compile(self, name: str, report: Report) -> tuple[str, float]:
        self.begun.append(name)
        report(step("the second", 2, 2))
        self.may[name].wait()
        if name in self.failing:
            raise self.failing[name]
        return f"plays {name}", 0.1


@pytest.fixture
def compiler() -> Compiler:
    return Compiler()


@pytest.fixture
def ann(compiler: Compiler, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a freshly started server."""
    names = Catalogue(CatalogueEntry(name, name) for name in NAMES)
    workers = Workers(compiler)
    app = application(Storage(tmp_path / "games"), names, ["localhost"], workers=workers)
    with client_of(app) as client:
        client.get("/")
        yield client


def told(client: TestClient) -> dict[str, Any]:
    """Return the progress, with agents by name."""
    content: dict[str, Any] = client.get("/api/preparing").json()
    return content | {"agents": {one["name"]: one for one in content["agents"]}}


def ask(client: TestClient, agent: str) -> Any:
    """Request a game with an agent; return the response."""
    wanted = {"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    return client.post("/api/games", json=wanted)


def test_tables_are_shown_and_played_while_agents_compile(
    ann: TestClient, compiler: Compiler
) -> None:
    wait_until(lambda: told(ann)["done"] == 1)
    seat = led_to(ask(ann, "greedy"))
    act(ann, seat, payload(ann, seat))
    assert payload(ann, seat)["step"] == 1
    assert ann.get("/tutorial").status_code == 200
    wanted = {"ready": False, "about": "the second", "done": 1, "total": 2}
    assert wanted.items() <= told(ann).items()
    assert told(ann)["left"] == told(ann)["whole"]  # nothing real has begun
    compiler.may["greedy"].set()
    assert wait_for_turn(ann, seat)["step"] > 1


def test_requested_agents_compile_beside_the_first_one(ann: TestClient, compiler: Compiler) -> None:
    wait_until(lambda: compiler.begun == ["greedy"])
    seat = begin(ann, ["me", "agent:crowd"])
    act(ann, seat, payload(ann, seat))
    wait_until(lambda: compiler.begun == ["greedy", "crowd"])
    step = payload(ann, seat)["step"]
    compiler.may["crowd"].set()
    assert wait_for_turn(ann, seat)["step"] > step  # the game goes on by itself
    agents = told(ann)["agents"]
    assert (agents["crowd"]["ready"], agents["greedy"]["state"]) == (True, "preparing")


def test_an_agent_that_fails_to_compile_is_reported(ann: TestClient, compiler: Compiler) -> None:
    seat, why = led_to(ask(ann, "broken")), "broken can't play: LookupError: not in this world"
    for event in compiler.may.values():
        event.set()
    wait_until(lambda: told(ann)["ready"])
    assert [name for name, one in told(ann)["agents"].items() if not one["ready"]] == ["broken"]
    act(ann, seat, payload(ann, seat))
    wait_until(lambda: payload(ann, seat)["trouble"] == why)
    refused = ask(ann, "broken")
    assert (refused.status_code, refused.json()["error"]) == (409, why)


# ---- real compiling ----

DOUBLING = """
from skyenv.agents import RandomAgent
from skyenv.page.agents.catalogue import CatalogueEntry
from skyenv.page.agents.preparing import compile_agent
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
    compile_agent(entry, lambda step: steps.append((step["about"], step["total"] - step["done"])))
print(steps)
"""


@pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")
def test_compiling_an_agent_is_reported_function_by_function(tmp_path: Path) -> None:
    program = tmp_path / "doubling.py"
    program.write_text(DOUBLING)
    for expected in ("[('more than that', 2), ('doubling', 1)]\n", "[]\n"):
        assert printed(program, cwd=tmp_path) == expected


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")
def test_two_servers_start_on_one_empty_cache(browsers: Callable[..., Any], tmp_path: Path) -> None:
    """The workers compile; a server itself would print progress."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "SKYENV_QUIET": None}
    command = ["-m", "skyenv", "play", "--no-browser", "--port", 0, "--workers", 2, "--database"]
    with ExitStack() as stack:
        ann, bob = (
            stack.enter_context(running(*command, tmp_path / name, environment=environment))
            for name in ("ann", "bob")
        )
        page = stack.enter_context(browsers())
        page.open(f"{address_of(ann)}/")
        page.click("#play-now")
        page.wait("#board svg .legal")  # long before the agents are ready
        page.wait_until(lambda: "compiling" in page.text("#preparing"), "what is compiled")
        client = stack.enter_context(httpx2.Client(base_url=address_of(bob), timeout=600))
        client.get("/").raise_for_status()
        wanted = {"players": 2, "side": "front", "seats": ["me", "agent:greedy"]}
        seat = led_to(client.post("/api/games", json=wanted))
        state = payload(client, seat)
        act(client, seat, state, state["legal"][0]["action"])
        wait_until(lambda: payload(client, seat)["step"] > 1, bob)  # greedy is ready and has moved

        page.click("#board .legal[data-plot]")
        page.wait_until(lambda: page.find("#board .legal") is None, "the first move")
        assert page.console_errors() == []
        for server in (ann, bob):
            server.terminate()
            assert "compiling" not in server.communicate()[1]
