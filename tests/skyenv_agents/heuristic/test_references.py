"""Reference players: fixed, found by name, and players of their own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

import numpy as np
import pytest

from skyenv import Games, make_agent
from skyenv.agents import Agent, decide
from skyenv.arena.ratings import ANCHORS
from skyenv_agents.heuristic.player import AppraiserAgent, HeuristicAgent

FIXED = {
    "appraiser": "cf69c6bce1af3215",
    "bidder": "a6bda86039a0dd42",
    "builder": "3fe297cbd0a55a67",
}
"""Digests of the weights: where they change, the ladders' scale does."""


def decided(agent: Agent) -> list[int]:
    """What an agent does in positions of random play."""
    games = Games(256, 3, seed=5)
    games.play_random(40)
    rows = np.flatnonzero(games.seat >= 0)
    return [int(action) for action in decide(games, agent, rows, 1)]


@pytest.mark.parametrize("name", ANCHORS)
def test_the_scale_hangs_on_agents_that_never_change(name: str) -> None:
    agent = make_agent(name)
    assert isinstance(agent, HeuristicAgent)
    weights = {str(players): asdict(weights) for players, weights in agent.measured.items()}
    assert hashlib.sha256(json.dumps(weights).encode()).hexdigest()[:16] == FIXED[name]
    assert agent.version == "1"


@pytest.mark.compiled
def test_they_decide_otherwise_than_the_appraiser() -> None:
    appraiser = decided(AppraiserAgent())
    for name in ("bidder", "builder"):
        agent = make_agent(name)
        assert decided(agent) == decided(make_agent(name))
        assert decided(agent) != appraiser
