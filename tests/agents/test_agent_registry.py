"""From names to players."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agents
from agents import NAMES, agent
from agents.learned import Network, NetworkAgent
from skyenv.agents import CallableAgent, Decisions, RandomAgent, make_agent
from skyenv.errors import AgentError, CheckpointError
from skyenv.observation import OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS

ROOT = Path(__file__).parents[2]


def first_legal(decisions: Decisions) -> np.ndarray:
    """The legal action with the lowest number."""
    return np.asarray(decisions.mask.argmax(axis=1))


def test_names() -> None:
    assert list(NAMES) == ["random", "crowd", "hoard", "greedy", "appraiser", "rollout", "ismcts", "trained", "ismcts-trained"]
    for name in NAMES:
        assert agent(name).name == name
    assert all(hasattr(agents, name) for name in agents.__all__)


def test_other_specifications() -> None:
    assert isinstance(agent("skyenv.agents:RandomAgent"), RandomAgent)
    assert isinstance(agent(RandomAgent), RandomAgent)
    assert isinstance(agent(first_legal), CallableAgent)
    greedy = agent("greedy")
    assert agent(greedy) is greedy
    assert type(make_agent("agents:GreedyAgent")) is type(greedy)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "gready",
            "unknown agent 'gready'; there are random, crowd, hoard, greedy, appraiser, rollout, ismcts, trained, ismcts-trained",
        ),
        ("", "unknown agent ''"),
        ("nowhere:Name", "can't import nowhere"),
        ("agents:Nobody", "module agents has no Nobody"),
        (7, "an agent is"),
    ],
)
def test_wrong_specifications(spec: object, message: str) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        agent(spec)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_checkpoints_by_what_they_end_in(tmp_path: Path) -> None:
    path = tmp_path / "first" / "model.npz"
    path.parent.mkdir()
    shapes = {"trunk": (4, OBSERVATION_SIZE), "policy": (2, 4), "value": (2, 4), "action": (NUM_ACTIONS, 2), "outlook": (1, 2)}
    weights: dict[str, np.ndarray] = {f"{layer}.weight": np.zeros(shape, np.float32) for layer, shape in shapes.items()}
    weights |= {f"{layer}.bias": np.zeros(shape[0], np.float32) for layer, shape in shapes.items()}
    path.write_bytes(Network({**weights, "trust": np.zeros((), np.float32)}, {}).to_bytes())
    for spec in (path, str(path)):
        player = agent(spec)
        assert isinstance(player, NetworkAgent)
        assert (player.name, player.deterministic) == ("first", False)
        assert agent(player) is player
    sure = agent(path, deterministic=True)
    assert isinstance(sure, NetworkAgent)
    assert sure.deterministic
    path.write_bytes(b"PK")
    with pytest.raises(CheckpointError, match=r"model\.npz is damaged or no network file"):
        agent(path)
    with pytest.raises(CheckpointError, match="there is no network file"):
        agent(tmp_path / "other.npz")


def test_networks_play_without_torch() -> None:
    program = "import sys; import agents; assert not {'torch', 'stable_baselines3'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_missing_checkpoint(tmp_path: Path) -> None:
    for spec in (str(tmp_path / "model.zip"), tmp_path / "model"):
        with pytest.raises(CheckpointError, match="there is no checkpoint"):
            agent(spec)
