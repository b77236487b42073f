"""What is compiled for the page, and reports of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from processes import printed
from skyenv.agents import RandomAgent, SearchProgress
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.preparing import Step, compile_agent
from skyenv.rules.compiling import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")

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


def test_compiling_an_agent_is_reported_function_by_function(tmp_path: Path) -> None:
    program = tmp_path / "doubling.py"
    program.write_text(DOUBLING)
    for expected in ("[('more than that', 2), ('doubling', 1)]\n", "[]\n"):
        assert printed(program, cwd=tmp_path) == expected


class Pondering(RandomAgent):
    """Reports what it has come to so far."""

    def search_with_progress(self, decisions, tell):  # type: ignore[no-untyped-def]
        visits = np.asarray(decisions.mask[0], np.float64)
        tell(
            thought := SearchProgress(
                int(np.flatnonzero(visits)[0]), visits, 0.0, int(visits.sum())
            )
        )
        return thought


def test_what_an_agent_comes_to_is_no_step() -> None:
    steps: list[Step] = []
    compile_agent(CatalogueEntry("pondering", Pondering()), steps.append)
    assert all(isinstance(step, Step) for step in steps)
