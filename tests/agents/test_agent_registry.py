"""From names to players."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import agents
from agents import NAMES, agent
from skyenv.agents import CallableAgent, Decisions, RandomAgent, make_agent
from skyenv.errors import AgentError, CheckpointError


def first_legal(decisions: Decisions) -> np.ndarray:
    """The legal action with the lowest number."""
    return np.asarray(decisions.mask.argmax(axis=1))


def test_names() -> None:
    assert list(NAMES) == ["random", "crowd", "hoard", "greedy", "appraiser", "rollout"]
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
        ("gready", "unknown agent 'gready'; there are random, crowd, hoard, greedy, appraiser, rollout, a checkpoint"),
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


def test_missing_checkpoint(tmp_path: Path) -> None:
    for spec in (str(tmp_path / "model.zip"), tmp_path / "model"):
        with pytest.raises(CheckpointError, match="there is no checkpoint"):
            agent(spec)
