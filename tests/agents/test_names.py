"""From what a person writes to agents: names of installed packages, ours and anybody's, and paths
of checkpoints.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from processes import printed, python
from skyenv.agents import (
    Agent,
    CallableAgent,
    Decisions,
    RandomAgent,
    agent_names,
    check_specification,
    checkpoint_suffixes,
    evaluating_names,
    make_agent,
)
from skyenv.agents.names import agents_help, checkpoint_in
from skyenv.errors import AgentError, CheckpointError
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.networks import NetworkAgent, ThingsNetwork

OURS = {
    *("random", "crowd", "hoard", "greedy", "appraiser", "bidder", "builder"),
    *("rollout", "ismcts", "trained", "ismcts-trained", "style"),
}


def first_legal(decisions: Decisions) -> np.ndarray:
    """The legal action with the lowest number."""
    return np.asarray(decisions.mask.argmax(axis=1))


def test_names() -> None:
    assert set(agent_names()) >= OURS
    assert agent_names() == sorted(agent_names())
    assert checkpoint_suffixes() == [".npz", ".zip"]
    assert evaluating_names() == ["crowd", "hoard", "ismcts", "ismcts-trained", "random", "trained"]
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
        (
            "gready",
            "unknown agent 'gready'; there are appraiser, .*, .*with a budget: ismcts-100, "
            "rollout-50ms., a checkpoint",
        ),
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
    weights = {name: np.zeros(shape, np.float32) for name, shape in Sizes(4, 1, 2).shapes().items()}
    path.write_bytes(ThingsNetwork(weights, {}).to_bytes())
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
    with pytest.raises(
        CheckpointError, match=r"the folder '.*first' has no model\.npz or model\.zip"
    ):
        make_agent(str(path.parent))


def test_networks_play_without_torch() -> None:
    program = "import sys; import skyenv_agents; assert not {'torch', 'stable_baselines3'} & set(sys.modules)"
    printed("-c", program)


@pytest.mark.parametrize(
    ("name", "is_agent"), [("ismcts-100", True), ("rollout-50ms", True), ("greedy-9", False)]
)
def test_a_folder_hides_no_agent(
    name: str, is_agent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a working directory with a folder of that name: a name with a budget is the agent; what is
    no agent is the folder.
    """
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    if is_agent:
        assert checkpoint_in(name) is None
        assert make_agent(name).name == name
    else:
        with pytest.raises(CheckpointError, match=f"the folder '{name}' has no model"):
            make_agent(name)
    with pytest.raises(CheckpointError, match=r"the folder '.*' has no model"):
        make_agent(Path(name))


def test_whatever_a_class_or_function_raises_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> Agent:
        raise RuntimeError("no licence\nhere")

    class Failing(RandomAgent):
        def __init__(self) -> None:
            failing()

    with pytest.raises(
        AgentError,
        match="agent function failing can't be made without arguments: RuntimeError: no licence here",
    ):
        make_agent(failing)
    with pytest.raises(
        AgentError,
        match="agent class Failing can't be made without arguments: RuntimeError: no licence here",
    ):
        make_agent(Failing)
    (tmp_path / "broken_agents.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        AgentError, match="'broken_agents:Agent': can't import broken_agents: ZeroDivisionError: "
    ):
        make_agent("broken_agents:Agent")


def test_missing_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"there is no checkpoint .*model\.zip"):
        make_agent(str(tmp_path / "model.zip"))
    with pytest.raises(AgentError, match=r"checkpoints end in \.npz or \.zip"):
        make_agent(tmp_path / "model")


def test_folders_of_other_libraries(tmp_path: Path) -> None:
    """A word before the path says whose; what is wrong with one is told without importing the
    library.
    """
    assert "rllib:FOLDER" in agents_help()
    assert checkpoint_in(f"rllib:{tmp_path}") == tmp_path
    assert checkpoint_in("nobody:Name") is None
    check_specification(f"rllib:{tmp_path}")
    for ask in (check_specification, make_agent):
        with pytest.raises(CheckpointError, match=r"there is no (such )?folder"):
            ask(f"rllib:{tmp_path / 'model'}")
    with pytest.raises(CheckpointError, match=r"the folder '.*' has no model\.npz"):
        make_agent(tmp_path)


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
dated = "dated_agents:DatedAgent"
paid = "timid_agents:PaidAgent"
lent = "timid_agents:lent"
greedy = "timid_agents:TimidAgent"

[tool.setuptools]
py-modules = ["timid_agents", "dated_agents"]

[project.entry-points."skyenv.checkpoints"]
paid = "timid_agents:PaidAgent"

[project.entry-points."skyenv.checkpoint_folders"]
timidity = "timid_agents:FolderAgent"
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
        return cls(int(name.removeprefix("timid-")))


class PaidAgent(TimidAgent):
    def __init__(self, path=None, deterministic=False):
        raise LookupError("no licence")


class FolderAgent(TimidAgent):
    def __init__(self, path, deterministic):
        self.after = [path.name, deterministic]


def lent():
    raise LookupError("no lender")
"""
PROGRAM = """
import json, gymnasium, skyenv
from skyenv.agents import agent_names, make_agent
from skyenv.page.catalogue import catalogue

env = gymnasium.make("skyenv/FifthAvenue-v0", opponents="timid")
env.reset(seed=1)
said = {}
for name in ("broken", "greedy", "dated", "paid", "lent", "timid-late", "some.paid"):
    try:
        make_agent(name)
    except skyenv.AgentError as error:
        said[name] = str(error)
page = [name for name in catalogue().names if name in ("timid", "broken", "random", "dated", "paid", "lent")]
after = [make_agent("timid-7").after, make_agent("timidity:some/folder", deterministic=True).after]
print(json.dumps([agent_names(), make_agent("timid").name, after, said, page]))
"""


def test_a_package_of_somebody_else_brings_agents_by_name(tmp_path: Path) -> None:
    """Installed by pip, it needs nothing else: environments, the page and whatever takes names know
    its agents.
    """
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (source / "dated_agents.py").write_text(DATED, encoding="utf-8")
    (source / "timid_agents.py").write_text(MODULE, encoding="utf-8")
    install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-index",
    ]
    printed(*install, "--no-build-isolation", "--target", target, source)
    done = python("-c", f"import sys; sys.path.insert(0, {str(target)!r})\n{PROGRAM}", cwd=tmp_path)
    names, timid, after, said, page = json.loads(done.stdout)
    assert set(names) == OURS | {"timid", "broken", "dated", "paid", "lent"}
    assert (timid, after) == ("timid", [7, ["folder", True]])
    assert (
        "agent 'broken' of timid-agents can't be imported from timid_agents:Nothing"
        in said["broken"]
    )
    assert "skyenv and timid-agents both declare it; name it as 'module:Name'" in said["greedy"]
    assert said["dated"].endswith(
        "'dated' of timid-agents can't be imported from dated_agents:DatedAgent: RuntimeError: "
        "this release needs another Python"
    )
    assert said["paid"].endswith(
        "of timid-agents can't be made from timid_agents:PaidAgent: LookupError: no licence"
    )
    assert said["lent"].endswith(
        "of timid-agents can't be made from timid_agents:lent: LookupError: no lender"
    )
    assert (
        "'timid-late' of timid-agents can't be made: ValueError: invalid literal"
        in said["timid-late"]
    )
    assert "'some.paid', played by timid-agents: LookupError: no licence" in said["some.paid"]
    assert sorted(page) == [
        "broken",
        "dated",
        "lent",
        "paid",
        "random",
        "timid",
    ]  # which of them fail is told when they are made
    assert done.stderr == ""
