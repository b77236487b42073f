"""Specifications of agents: registered names, import strings and checkpoints."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import python
from skyenv.agents import (
    Agent,
    CallableAgent,
    Decisions,
    RandomAgent,
    agent_names,
    agents_help,
    check_specification,
    checkpoint_in,
    checkpoint_suffixes,
    decide,
    make_agent,
)
from skyenv.engine.games import Games
from skyenv.errors import AgentError, CheckpointError
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.networks import Network, NetworkAgent

LISTED = {
    *("random", "greedy", "appraiser", "bidder", "builder"),
    *("rollout", "ismcts", "trained", "ismcts-trained", "lookahead"),
    *("trained-2026a", "trained-2026b"),
}


def first_legal(decisions: Decisions) -> np.ndarray:
    """The legal action with the lowest number."""
    return np.asarray(decisions.mask.argmax(axis=1))


class NeedsArguments(RandomAgent):
    def __init__(self, strength: int) -> None:
        self.strength = strength


class Failing(RandomAgent):
    def __init__(self) -> None:
        raise RuntimeError("no licence\nhere")


class Leaving(RandomAgent):
    def __init__(self) -> None:
        raise SystemExit(0)


instance = RandomAgent()
number = 7


def test_registered_names_make_agents() -> None:
    assert set(agent_names()) >= LISTED
    assert not re.search("crowd|hoard", f"{agent_names()} {agents_help()}")
    assert checkpoint_suffixes() == [".npz", ".zip"]
    assert "(.npz, .zip, or a folder with a model.npz)" in agents_help()
    for name in LISTED | {"crowd", "hoard"}:
        agent = make_agent(name)
        assert agent.name == name
        assert agent.version
        assert agent.description
        assert "\n" not in agent.description
        check_specification(name)


@pytest.mark.parametrize(
    ("spec", "kind", "name"),
    [
        (RandomAgent, RandomAgent, "random"),
        (instance, RandomAgent, "random"),
        (first_legal, CallableAgent, "first_legal"),
        ("skyenv_agents:GreedyAgent", GreedyAgent, "greedy"),
        ("test_names:instance", RandomAgent, "random"),
        ("test_names:first_legal", CallableAgent, "first_legal"),
    ],
)
def test_import_strings_objects_and_paths_make_agents(
    spec: Any, kind: type[Agent], name: str
) -> None:
    agent = make_agent(spec)
    assert type(agent).__name__ == kind.__name__
    assert agent.name == name
    assert make_agent(agent) is agent
    games = Games(3, seed=1)
    games.step(decide(games, agent))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gready", r"'gready'; choose from appraiser, .*ismcts-100, rollout-50ms.*module:Name"),
        ("Random", "unknown agent 'Random'"),
        ("greedy-9", "'greedy-9': greedy has no variants"),
        (object, "an agent is an Agent"),
        ("ismcts-many", "budget"),
        ("", "unknown agent ''"),
        (":", "unknown agent ':'"),
        ("skyenv.agents:", "unknown agent"),
        (":RandomAgent", "unknown agent"),
        ("skyenv_agents:Nobody", "can't import Nobody from skyenv_agents"),
        ("skyenv.agents:RandomAgent.act.x", "can't import"),
        ("nowhere.at.all:Agent", "can't import Agent from nowhere.at.all"),
        ("\0:x", "can't import"),
        ("x" * 10**6, "unknown agent"),
        ("test_names:number", "an agent is an Agent"),
        (7, "an agent is an Agent"),
        (None, "an agent is an Agent"),
        (Agent, "class Agent can't be constructed without arguments"),
        (NeedsArguments, "class NeedsArguments can't be constructed without arguments"),
        (
            "test_names:Leaving",
            "class Leaving can't be constructed .*: SystemExit: 0",
        ),
        (Failing, "class Failing can't be constructed .*: RuntimeError: no licence here"),
    ],
)
def test_invalid_specifications_are_refused_in_one_line(spec: Any, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        make_agent(spec)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_checkpoints_are_recognized_by_their_suffix(tmp_path: Path) -> None:
    path = tmp_path / "first" / "model.npz"
    path.parent.mkdir()
    weights = {name: np.zeros(shape, np.float32) for name, shape in Sizes(4, 1, 2).shapes().items()}
    path.write_bytes(Network(weights, {}).to_bytes())
    for spec in (path, str(path), path.parent, str(path.parent)):
        player = make_agent(spec, deterministic=True)
        assert isinstance(player, NetworkAgent)
        assert (player.name, player.deterministic) == ("first", True)
        assert checkpoint_in(spec) == path
    path.unlink()
    for wrong, message in (
        (path.parent, r"the folder '.*first' has no model\.npz;"),
        (path, r"there is no (network|such) file"),
    ):
        for call in (make_agent, lambda spec: check_specification(str(spec))):
            with pytest.raises(CheckpointError, match=message):
                call(wrong)
    with pytest.raises(AgentError, match=r"a checkpoint \(\.npz, \.zip"):
        make_agent(tmp_path / "model")


def test_checking_a_specification_makes_no_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recognizing a name makes no agent and imports nothing; a folder needs a slash."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("an agent was made")

    monkeypatch.setattr("skyenv_agents.search.ismcts.SearchAgent.__init__", refuse)
    for name in ("ismcts-50", "ismcts", "ismcts-trained-7ms", "nobody:Name", "nobody"):
        assert checkpoint_in(name) is None
    for name in ("ismcts-50", "__main__:X", "skyenv_agents:Nobody"):
        check_specification(name)
    with pytest.raises(AgentError, match=r"can't import no\.such\.module"):
        check_specification("no.such.module:Agent")
    (tmp_path / "rollout-9").mkdir()
    monkeypatch.chdir(tmp_path)
    assert make_agent("rollout-9").name == "rollout-9"
    for spec in ("./rollout-9", Path("rollout-9")):
        with pytest.raises(CheckpointError, match="has no model"):
            make_agent(spec)


# ---- a package of somebody else's ----

ENTRY_POINTS = """
[skyenv.agents]
timid = timid_agents:TimidAgent
broken = timid_agents:Nothing
dated = dated_agents:DatedAgent
paid = timid_agents:PaidAgent
greedy = timid_agents:TimidAgent

[skyenv.checkpoints]
paid = timid_agents:PaidAgent
npz = timid_agents:FileAgent
keen = timid_agents:FileAgent
"""
DATED = 'raise RuntimeError("this release needs\\nanother Python")\n'
MODULE = """
from skyenv import Agent


class TimidAgent(Agent):
    name = "timid"
    description = "passes whenever it can"

    def __init__(self, after=0):
        self.after = after

    def act(self, decisions):
        can_pass = decisions.mask[:, 78] == 1
        return can_pass * 78 + ~can_pass * decisions.mask.argmax(axis=1)

    @classmethod
    def variant(cls, name):
        return cls(int(name.rpartition("-")[2]))


class PaidAgent(TimidAgent):
    def __init__(self, path=None, deterministic=False):
        raise LookupError("no licence")


class FileAgent(TimidAgent):
    def __init__(self, path, deterministic):
        self.after = [path.name, deterministic]"""
PROGRAM = """
import json, sys, skyenv
from skyenv.agents import agent_names, make_agent

said = {}
for name in ("broken", "dated", "paid", "timid-late", "some.paid"):
    try:
        make_agent(name)
    except skyenv.AgentError as error:
        said[name] = str(error)
after = [make_agent("timid-7").after, make_agent("some/file.keen", deterministic=True).after]
after += [make_agent("timid").name, make_agent("trained").name, make_agent("greedy").name]
after += [make_agent("timid-agents/greedy").name, make_agent("timid-agents/greedy-3").name]
after += make_agent("timid-agents/npz:some/model.npz").after
assert not {"torch", "stable_baselines3"} & set(sys.modules)
print(json.dumps([agent_names(), after, said]))
"""


def test_installed_packages_register_agents_by_name(tmp_path: Path) -> None:
    """An agent that fails is reported when it is made. Networks play without PyTorch."""
    folder = tmp_path / "timid_agents-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: timid-agents\nVersion: 1\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (tmp_path / "dated_agents.py").write_text(DATED, encoding="utf-8")
    (tmp_path / "timid_agents.py").write_text(MODULE, encoding="utf-8")
    done = python("-c", PROGRAM, environment={"PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
    names, after, said = json.loads(done.stdout)
    assert set(names) == LISTED | {"timid", "broken", "dated", "paid", "timid-agents/greedy"}
    assert after[:5] == [7, ["file.keen", True], "timid", "trained", "greedy"]
    assert after[5:] == ["timid", "timid", "model.npz", False]
    for name, part in {
        "broken": "can't be imported from timid_agents:Nothing",
        "dated": "can't be imported from .*: RuntimeError: this release needs another Python",
        "paid": r"'paid' \(timid_agents:PaidAgent\) can't be constructed.*LookupError: no licence",
        "timid-late": "'timid-late' .*can't be constructed.*ValueError",
        "some.paid": "'some.paid' .*can't be constructed.*LookupError: no licence",
    }.items():
        assert re.search(part, said[name]), said[name]
    assert done.stderr.splitlines() == [
        f"skyenv: {name} of the package timid-agents is named timid-agents/{name}"
        for name in ("greedy", "npz")
    ]
