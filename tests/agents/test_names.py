"""From what a person writes to agents: names of installed packages, ours and anybody's, and paths of checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from processes import printed, python
from skyenv.agents import CallableAgent, Decisions, RandomAgent, agent_names, checkpoint_suffixes, make_agent
from skyenv.errors import AgentError, CheckpointError
from skyenv.observation import OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.networks import Network, NetworkAgent

OURS = {"random", "crowd", "hoard", "greedy", "appraiser", "rollout", "ismcts", "trained", "ismcts-trained"}


def first_legal(decisions: Decisions) -> np.ndarray:
    """The legal action with the lowest number."""
    return np.asarray(decisions.mask.argmax(axis=1))


def test_names() -> None:
    assert set(agent_names()) >= OURS
    assert agent_names() == sorted(agent_names())
    assert checkpoint_suffixes() == [".npz", ".zip"]
    for name in OURS:
        assert make_agent(name).name == name


def test_other_specifications() -> None:
    assert isinstance(make_agent("skyenv.agents:RandomAgent"), RandomAgent)
    assert isinstance(make_agent(RandomAgent), RandomAgent)
    assert isinstance(make_agent(first_legal), CallableAgent)
    greedy = make_agent("greedy")
    assert make_agent(greedy) is greedy
    assert type(make_agent("skyenv_agents:GreedyAgent")) is type(greedy)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gready", "unknown agent 'gready'; there are appraiser, .*, .*with a budget: ismcts-100, rollout-50ms., a checkpoint"),
        ("greedy-9", "agent 'greedy-9': greedy has no variants"),
        ("", "unknown agent ''"),
        ("nowhere:Name", "can't import nowhere"),
        ("skyenv_agents:Nobody", "module skyenv_agents has no Nobody"),
        (7, "an agent is"),
    ],
)
def test_wrong_specifications(spec: object, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        make_agent(spec)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_checkpoints_by_what_they_end_in(tmp_path: Path) -> None:
    path = tmp_path / "first" / "model.npz"
    path.parent.mkdir()
    shapes = {
        "trunk": (4, OBSERVATION_SIZE),
        "policy": (2, 4),
        "value": (2, 4),
        "policy_head": (NUM_ACTIONS, 2),
        "value_head": (1, 2),
    }
    weights: dict[str, np.ndarray] = {f"{layer}.weight": np.zeros(shape, np.float32) for layer, shape in shapes.items()}
    weights |= {f"{layer}.bias": np.zeros(shape[0], np.float32) for layer, shape in shapes.items()}
    path.write_bytes(Network({**weights, "prior_weight": np.zeros((), np.float32)}, {}).to_bytes())
    for spec in (path, str(path), path.parent, str(path.parent)):
        player = make_agent(spec)
        assert isinstance(player, NetworkAgent)
        assert (player.name, player.deterministic) == ("first", False)
        assert make_agent(player) is player
    sure = make_agent(path, deterministic=True)
    assert isinstance(sure, NetworkAgent)
    assert sure.deterministic
    path.write_bytes(b"PK")
    with pytest.raises(CheckpointError, match=r"model\.npz is damaged or no network file"):
        make_agent(path)
    with pytest.raises(CheckpointError, match="there is no network file"):
        make_agent(tmp_path / "other.npz")
    path.unlink()
    with pytest.raises(CheckpointError, match=r"the folder '.*first' has no model\.npz or model\.zip"):
        make_agent(str(path.parent))


def test_networks_play_without_torch() -> None:
    program = "import sys; import skyenv_agents; assert not {'torch', 'stable_baselines3'} & set(sys.modules)"
    printed("-c", program)


def test_missing_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"there is no checkpoint .*model\.zip"):
        make_agent(str(tmp_path / "model.zip"))
    with pytest.raises(AgentError, match=r"checkpoints end in \.npz or \.zip"):
        make_agent(tmp_path / "model")


# ---- a package of somebody else's ----

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "timid-agents"
version = "1"

[project.entry-points."skyenv.agents"]
timid = "timid_agents:TimidAgent"
broken = "timid_agents:Nothing"
greedy = "timid_agents:TimidAgent"

[tool.setuptools]
py-modules = ["timid_agents"]
"""
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
        return cls(int(name.removeprefix("timid-")))
"""
PROGRAM = """
import json, gymnasium, skyenv
from skyenv.agents import agent_names, make_agent
from skyenv.page.catalogue import catalogue

env = gymnasium.make("skyenv/FifthAvenue-v0", opponents="timid")
env.reset(seed=1)
said = {}
for name in ("broken", "greedy"):
    try:
        make_agent(name)
    except skyenv.AgentError as error:
        said[name] = str(error)
page = [name for name in catalogue().names if name in ("timid", "broken", "random")]
print(json.dumps([agent_names(), make_agent("timid").name, make_agent("timid-7").after, said, page]))
"""


def test_a_package_of_somebody_else_brings_agents_by_name(tmp_path: Path) -> None:
    """Installed by pip, it needs nothing else: environments, the page and whatever takes names know its agents."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (source / "timid_agents.py").write_text(MODULE, encoding="utf-8")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    printed(*install, "--no-build-isolation", "--target", target, source)
    done = python("-c", f"import sys; sys.path.insert(0, {str(target)!r})\n{PROGRAM}", cwd=tmp_path)
    names, timid, after, said, page = json.loads(done.stdout)
    assert set(names) == OURS | {"timid", "broken"}
    assert (timid, after) == ("timid", 7)
    assert "agent 'broken' of timid-agents can't be imported from timid_agents:Nothing" in said["broken"]
    assert "skyenv and timid-agents both declare it; name it as 'module:Name'" in said["greedy"]
    assert sorted(page) == ["random", "timid"]
    assert "broken is not offered" in done.stderr
