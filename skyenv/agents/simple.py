"""Simple agents: uniform, weighted, and function-based."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents.interface import Agent, Decisions, Evaluations, sample
from skyenv.array_types import Float64, Int64
from skyenv.rules.actions import (
    BID_DONE,
    BUILD,
    NUM_ACTIONS,
    OPTION_A,
    OPTION_B,
    OPTION_C,
    OPTION_D,
    PASS,
    PLOT,
    STOP,
)


class WeightedAgent(Agent):
    """An agent that samples legal actions in proportion to fixed weights.

    Attributes:
        weights: float64 (103,), above 0, by action.
    """

    weights: Float64
    samples_evaluation = True

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`Agent`."""
        return sample(decisions.mask * self.weights, decisions.uniform)

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`Agent`."""
        weights = decisions.mask * self.weights
        return weights / weights.sum(axis=1, keepdims=True), None


def _weights(changes: Sequence[tuple[int | slice, float]]) -> Float64:
    """Return a weight for each action, 1 by default."""
    weights = np.ones(NUM_ACTIONS)
    for actions, weight in changes:
        weights[actions] = weight
    return weights


class RandomAgent(WeightedAgent):
    """An agent that plays uniformly random legal actions."""

    name = "random"
    description = "uniform over the legal actions"
    weights = np.ones(NUM_ACTIONS)


class CrowdAgent(WeightedAgent):
    """A coverage bot that reaches full districts, building stops and high auctions."""

    name = "crowd"
    description = (
        "coverage bot: fills plots and wins auctions in full districts, to reach rare rules"
    )
    weights = _weights(
        [
            (OPTION_A, 4.0),
            (slice(OPTION_B, OPTION_C), 0.5),
            (OPTION_C, 6.0),
            (slice(OPTION_D, PLOT), 0.5),
            (PASS, 0.3),
            (BID_DONE, 0.7),
            (BUILD, 0.2),
            (STOP, 0.5),
        ]
    )


class HoardAgent(WeightedAgent):
    """A coverage bot that reaches empty stacks, shuffles, empty supplies and long games."""

    name = "hoard"
    description = "coverage bot: prefers options A and C and taking cards, to reach rare rules"
    weights = _weights(
        [
            (OPTION_A, 30.0),
            (slice(OPTION_B, OPTION_C), 0.02),
            (OPTION_C, 20.0),
            (PASS, 40.0),
            (STOP, 0.05),
        ]
    )


class CallableAgent(Agent):
    """An agent made of a function from decisions to actions; it gets mask and observation."""

    uses_observation = True

    def __init__(self, function: Callable[[Decisions], Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`Agent`."""
        return np.asarray(self.function(decisions))
