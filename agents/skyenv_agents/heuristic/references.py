"""The heuristic players with other weights: references for ratings, and opponents for training.

No other agent is made of the reference players, searches with them or was trained against them, and
they cost as little as the appraiser. The ladders' scale hangs on some of them
(:mod:`skyenv.arena.ratings`), so their weights never change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from skyenv.checks import check_integer
from skyenv.errors import AgentError
from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent, HeuristicAgent
from skyenv_agents.heuristic.weights import Weights

SPREAD: Final = 0.6
"""Standard deviation of the logarithm of the factors of perturbed weights: every third changes by
more than a factor of 1.8.
"""


def _times(measured: Mapping[int, Weights], factors: Weights) -> dict[int, Weights]:
    """Return weights by number of players, some of them multiplied."""
    return {
        players: {**weights, **{name: weights[name] * factor for name, factor in factors.items()}}
        for players, weights in measured.items()
    }


class BidderAgent(AppraiserAgent):
    """Sets much store by auctions; weaker than the appraiser, and in other ways."""

    name = "bidder"
    description = "reference for ratings: the appraiser with more weight on auctions"
    measured = _times(
        AppraiserAgent.measured,
        {
            "target": 1.4,
            "floors": 1.5,
            "lead": 1.5,
            "call": 1.6,
            "near": 1.6,
            "point": 1.4,
            "limit": 1.5,
        },
    )


class BuilderAgent(AppraiserAgent):
    """Sets much store by plots and skyscrapers; nearly as strong as the appraiser."""

    name = "builder"
    description = "reference for ratings: the appraiser with more weight on plots and skyscrapers"
    measured = _times(
        AppraiserAgent.measured,
        {
            "growth": 1.6,
            "entry": 1.6,
            "presence": 1.5,
            "sky": 1.3,
            "option_a": 1.15,
            "stand_own": 1.5,
        },
    )


def perturbed(number: int) -> HeuristicAgent:
    """Return greedy (even numbers) or the appraiser (odd ones) with every weight changed at random,
    for all numbers of players alike: opponents of many styles for training.

    One is reckless, another one hoards cards or shies away from auctions; most are weaker than the
    player that they are made of, and all are sensible.

    Args:
        number: decides the change, 0 to 10⁹.

    Raises:
        AgentError: it is out of range.
    """
    number = check_integer("the number of a perturbed player", number, 0, 10**9, AgentError)
    kind = AppraiserAgent if number % 2 else GreedyAgent
    names = list(kind.measured[2])
    factors = np.exp(SPREAD * np.random.default_rng(number).standard_normal(len(names)))
    agent = kind(_times(kind.measured, dict(zip(names, factors.tolist(), strict=True))))
    agent.name = f"perturbed-{number}"
    agent.description = f"{kind.name} with weights changed at random"
    return agent
