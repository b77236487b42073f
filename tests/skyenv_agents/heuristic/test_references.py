"""Reference players and perturbed ones: fixed, and players of their own."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from skyenv import Games, make_agent
from skyenv.agents import Agent, decide
from skyenv.arena.ratings import ANCHORS
from skyenv.errors import AgentError
from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent, HeuristicAgent
from skyenv_agents.heuristic.references import SPREAD, perturbed

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
    weights = {str(players): dict(weights) for players, weights in agent.measured.items()}
    assert hashlib.sha256(json.dumps(weights).encode()).hexdigest()[:16] == FIXED[name]
    assert agent.version == "1"


@pytest.mark.compiled
def test_they_decide_otherwise_than_the_players_they_are_made_of() -> None:
    """And each by its number; some weights change by more than a factor of 1.8, none its sign."""
    players = [AppraiserAgent(), GreedyAgent(), make_agent("bidder"), make_agent("builder")]
    players += [perturbed(number) for number in range(4)]
    assert len({tuple(decided(player)) for player in players}) == len(players)
    assert decided(perturbed(3)) == decided(perturbed(3))
    factors = []
    for number in range(40):
        kind, agent = (AppraiserAgent if number % 2 else GreedyAgent), perturbed(number)
        assert isinstance(agent, kind)
        assert agent.name == f"perturbed-{number}"
        of_players = [
            {name: agent.weights(players)[name][0] / value for name, value in weights.items()}
            for players, weights in kind.measured.items()
        ]
        assert of_players[0] == pytest.approx(of_players[1])
        factors += list(of_players[2].values())
    assert min(factors) > 0
    assert np.log(factors).std() == pytest.approx(SPREAD, rel=0.1)
    for wrong in (-1, 10**9 + 1, 0.5):
        with pytest.raises(AgentError, match="number"):
            perturbed(wrong)  # type: ignore[arg-type]
