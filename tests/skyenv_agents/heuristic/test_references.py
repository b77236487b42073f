"""Reference agents and perturbed ones."""

import hashlib
import json
from typing import Any

import numpy as np
import pytest

from skyenv import make_agent
from skyenv.arena.ratings import ANCHORS
from skyenv.errors import AgentError
from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent
from skyenv_agents.heuristic.references import SPREAD, perturbed

# Digests of the weights: where they change, the ladders' scale does.
FIXED = {
    "appraiser": "cf69c6bce1af3215",
    "bidder": "a6bda86039a0dd42",
    "builder": "3fe297cbd0a55a67",
}


def test_weights_of_the_anchors_are_fixed() -> None:
    assert FIXED.keys() == set(ANCHORS)
    for name, digest in FIXED.items():
        agent: Any = make_agent(name)
        weights = {
            str(players): dict(weights) for players, weights in agent.default_weights.items()
        }
        assert hashlib.sha256(json.dumps(weights).encode()).hexdigest()[:16] == digest
        assert agent.version == "1"


def test_perturbed_agents_derive_weights_from_their_numbers() -> None:
    """The same for all numbers of players, never of another sign."""
    logarithms = []
    for number in range(40):
        agent, kind = perturbed(number), (AppraiserAgent if number % 2 else GreedyAgent)
        assert isinstance(agent, kind)
        assert agent.name == f"perturbed-{number}"
        two, four = (
            [
                agent.weights(players)[name][0] / value
                for name, value in kind.default_weights[players].items()
            ]
            for players in (2, 4)
        )
        assert two == pytest.approx(four)
        logarithms += np.log(two).tolist()
    assert np.std(logarithms) == pytest.approx(SPREAD, rel=0.1)
    for wrong in (-1, 10**9 + 1, 0.5):
        with pytest.raises(AgentError, match="number"):
            perturbed(wrong)  # type: ignore[arg-type]
