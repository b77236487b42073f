"""What is compiled: what every table needs, what agents need, and telling of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from processes import printed
from skyenv import Game
from skyenv.agents import RandomAgent, Thought, make_agent
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.compiled import (
    RULES,
    Prospect,
    Step,
    compile_agent,
    look_at,
    needed_by,
    play_a_little,
    rules_needed,
)
from skyenv.page.jobs import advise, move
from skyenv.rules.compiling import COMPILED, EntryPoint, entry_point, following, rule

pytestmark = pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")

SERVER = """
import json, sys
sys.path[1:1] = ["agents", "tests", "tests/page"]
from starlette.testclient import TestClient
from skyenv.page.compiled import RULES, play_a_little
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Workers
from skyenv.rules.compiling import following

if __name__ == "__main__":
    names = Catalogue([CatalogueEntry("random", "random")])
    loaded, early, late = set(), set(), set()
    with following(lambda one, has_ended: early.add(one.about)):
        play_a_little()
    with following(lambda one, has_ended: late.add(one.__name__)):
        from pages import begin, client_of, payload, play_to_end
        with client_of(application(Storage(MEMORY), names, ["localhost"], workers=Workers(1))) as ann:
            while not ann.get("/api/preparing").json()["ready"]:
                pass
            seat = begin(ann, ["me", "agent:random"], seed="7")
            assert ann.get(f"{seat}/words").status_code == 200
            play_to_end(ann, seat)
            key = ann.post(f"{seat}/replay").json()["page"].rpartition("/")[2]
            assert ann.get(f"/api/replays/{key}/1").status_code == 200
            assert ann.get(f"/api/replays/{key}/1/30?seat=1").status_code == 200
            assert ann.get(f"/api/replays/{key}/1/30/hint?agent=random").status_code == 200
    print(json.dumps([sorted(early), sorted(late)]))
"""


def test_a_server_loads_the_rules_and_compiles_nothing_else() -> None:
    """A whole game by the interface, its replay and a hint: after the beginning nothing is made
    ready in the server's process.
    """
    early, late = json.loads(printed("-c", SERVER).splitlines()[-1])
    assert set(early) <= RULES
    assert late == []


def test_whatever_every_table_needs_is_known_before() -> None:
    play_a_little()
    assert {one.about for one in rules_needed()} == RULES
    assert all(one.is_there() for one in rules_needed())


@pytest.mark.parametrize("name", ["greedy", "crowd", "trained", "ismcts-4", "rollout-4"])
def test_what_an_agent_needs_is_found_in_its_code(name: str) -> None:
    agent = make_agent(name)
    known = {one.py_func for one in [*needed_by(agent), *rules_needed()]}
    called: list[EntryPoint] = []
    with following(lambda one, has_ended: called.append(one)):
        game = Game(2, seed=1)
        advise(CatalogueEntry(name, agent), game, print)
        move(CatalogueEntry(name, agent), game, print)
    assert {one.py_func for one in called} <= known
    assert (name == "crowd") == (not needed_by(agent))


@rule
def doubled(number: int) -> int:
    return 2 * number


@entry_point("doubling", 3)
def _double(number: int) -> int:
    return doubled(number)


@entry_point("more than that", 5)
def _more(number: int) -> int:
    return _double(number) + 1


class Doubling(RandomAgent):
    """Calls compiled code of its own when it decides."""

    description = "doubles"

    def act(self, decisions):  # type: ignore[no-untyped-def]
        return super().act(decisions)[: _more(len(decisions)) - 2]


def test_compiling_an_agent_is_told_function_by_function(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = CatalogueEntry("doubling", Doubling())
    steps: list[Step] = []
    for one in (_double, _more):  # as on an empty cache
        for method in ("holds", "load_overload", "save_overload"):
            monkeypatch.setattr(one._cache, method, lambda *arguments: None)  # type: ignore[attr-defined]
    names = [f"{__name__}.{name}" for name in ("_double", "_more")]
    assert look_at(entry, print) == Prospect("doubles", "1", dict(zip(names, (3, 5), strict=True)))
    compile_agent(entry, steps.append)
    told = [(step.about, step.done, step.total, step.typical, step.typical_left) for step in steps]
    expected = [
        ("more than that", 0, 2, 0, 8),
        ("doubling", 0, 2, 0, 8),
        ("more than that", 1, 2, 3, 5),
        ("", 2, 2, 8, 0),
    ]
    others = ("", 0, 2, 0, 8)  # what was there is loaded
    assert [one for one in dict.fromkeys(told) if one != others] == expected
    assert look_at(entry, print).missing == {}
    steps.clear()
    compile_agent(entry, steps.append)
    assert steps == []


class Pondering(RandomAgent):
    """Tells what it has come to so far."""

    def ponder(self, decisions, tell):  # type: ignore[no-untyped-def]
        visits = np.asarray(decisions.mask[0], np.float64)
        tell(thought := Thought(int(np.flatnonzero(visits)[0]), visits, 0.0, int(visits.sum())))
        return thought


def test_what_an_agent_comes_to_is_no_step() -> None:
    steps: list[Step] = []
    compile_agent(CatalogueEntry("pondering", Pondering()), steps.append)
    assert all(isinstance(step, Step) for step in steps)
