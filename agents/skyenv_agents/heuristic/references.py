"""Heuristic agents with other weights: references for ratings, and opponents for training.

No other agent is built from the reference agents, searches with them or was trained against them.
They are as fast as the appraiser. Some are anchors of the ladders' scale
(:mod:`skyenv.arena.ratings`), so their weights never change.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from skyenv.checks import check_integer
from skyenv.errors import AgentError
from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent, HeuristicAgent, Weights

# Standard deviation of the logarithm of the factors of perturbed weights: every third changes by
# more than a factor of 1.8.
SPREAD: Final = 0.6


def _times(default: Mapping[int, Weights], factors: Weights) -> dict[int, Weights]:
    """Return weights by number of players, multiplied by the given factors."""
    return {
        players: {**weights, **{name: weights[name] * factor for name, factor in factors.items()}}
        for players, weights in default.items()
    }


class BidderAgent(AppraiserAgent):
    """A reference with more weight on auctions; weaker than the appraiser."""

    name = "bidder"
    description = "reference for ratings: the appraiser with more weight on auctions"
    default_weights = _times(
        AppraiserAgent.default_weights,
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
    """A reference with more weight on plots and skyscrapers; nearly as strong as the appraiser."""

    name = "builder"
    description = "reference for ratings: the appraiser with more weight on plots and skyscrapers"
    default_weights = _times(
        AppraiserAgent.default_weights,
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
    """Return greedy (even numbers) or the appraiser (odd ones) with randomly perturbed weights, as
    an opponent for training.

    The agents differ in style: some bid recklessly, hoard cards or avoid auctions. Most are weaker
    than the original.

    Args:
        number: seed of the perturbation, 0 to 10⁹; the same for all numbers of players.

    Raises:
        AgentError: the number is out of range.
    """
    number = check_integer("the number of a perturbed agent", number, 0, 10**9, AgentError)
    kind = AppraiserAgent if number % 2 else GreedyAgent
    names = list(kind.default_weights[2])
    factors = np.exp(SPREAD * np.random.default_rng(number).standard_normal(len(names)))
    agent = kind(_times(kind.default_weights, dict(zip(names, factors.tolist(), strict=True))))
    agent.name = f"perturbed-{number}"
    agent.description = f"{kind.name} with weights changed at random"
    return agent
