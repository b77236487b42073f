"""The heuristic agents ``greedy`` and ``appraiser``: the action with the highest expected VP.

They score every legal action one action ahead, without search or learning. A score adds the
immediate victory points (VP) and the change in value of plots, cards, skyscrapers in the supply and
future auctions. VP of others count against it. See :mod:`skyenv_agents.heuristic.scores` and
:mod:`skyenv_agents.heuristic.weights`.

The appraiser differs from greedy in four points:

* A bidder's win probability in an auction depends on its points *and* on its value of winning.
* A district that fills up can be stopped.
* Cards are priced by the plots for which they are needed.
* A move is valued by the scorings that both commissioners together leave to each seat.
"""

import re
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from skyenv.agents import Agent, Decisions, sample
from skyenv.array_types import Float64, Int64, RecordArray
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.errors import AgentError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.record import as_records, new_records
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE
from skyenv_agents.heuristic.scores import decide_all
from skyenv_agents.heuristic.weights import (
    APPRAISER_WEIGHTS,
    GREEDY_WEIGHTS,
    Weights,
    weights_record,
)


class HeuristicAgent(Agent):
    """An agent that takes the action with the highest heuristic score.

    Args:
        weights: weights by number of players; None: the default ones.

    Attributes:
        default_weights: the weights by number of players, if none are given.

    Raises:
        AgentError: missing or unknown names of weights.
    """

    uses_view = True
    default_weights: ClassVar[Mapping[int, Weights]]

    def __init__(self, weights: Mapping[int, Weights] | None = None) -> None:
        given = self.default_weights if weights is None else weights
        for players, default in self.default_weights.items():
            if given[players].keys() != default.keys():
                wrong = sorted(given[players].keys() ^ default.keys())
                raise AgentError(f"missing or unknown weights of {self.name}: {shown(wrong)}")
        self._records = {
            players: weights_record(given[players]) for players in self.default_weights
        }

    def weights(self, num_players: int) -> RecordArray:
        """Return the weights for a number of players as a record, WEIGHTS_DTYPE (1,)."""
        return self._records[num_players]

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        return self._decide(decisions, np.zeros((0, NUM_ACTIONS)))

    def scores(self, decisions: Decisions) -> Float64:
        """Return the expected VP of each action, float64 (k, 103); only entries of legal actions
        are defined, and −10⁹ excludes an action.
        """
        scores = np.zeros((len(decisions), NUM_ACTIONS))
        self._decide(decisions, scores)
        return scores

    def _decide(self, decisions: Decisions, scores: Float64) -> Int64:
        """Return the best actions; write all scores into `scores` if it has rows."""
        actions = np.zeros(len(decisions), np.int64)
        views = as_records(decisions.trusted_view(), VIEW_DTYPE)
        weights, memory = self.weights(decisions.num_players), new_records(1, HEURISTIC_DTYPE)
        decide_all(views, decisions.mask, decisions.uniform, weights, memory, actions, scores)
        return actions


class GreedyAgent(HeuristicAgent):
    """The agent ``greedy``; see :class:`HeuristicAgent`."""

    name = "greedy"
    version = "1"
    description = "scores every legal action by its expected VP, one action ahead"
    default_weights = GREEDY_WEIGHTS

    @classmethod
    def variant(cls, name: str) -> "Agent":
        """Return the weaker agent of a name such as ``"greedy-2vp"``: :class:`SampledAgent`."""
        temperature = re.fullmatch(r"greedy-(\d{1,2}(?:\.\d)?)vp", name, re.ASCII)
        if temperature is None or not float(temperature[1]):
            return super().variant(name)
        return SampledAgent(name, float(temperature[1]))


class SampledAgent(GreedyAgent):
    """A weaker greedy agent: it samples actions in proportion to exp(score / temperature).

    Args:
        name: such as ``"greedy-2vp"``.
        temperature: in VP, above 0; the higher, the weaker.
    """

    def __init__(self, name: str, temperature: float) -> None:
        super().__init__()
        self.name, self.temperature = name, temperature
        self.description = (
            f"samples greedy's actions by their VP, at a temperature of {temperature:g}"
        )

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        scores = np.where(decisions.mask != 0, self.scores(decisions), -np.inf)
        losses = scores - scores.max(axis=1, keepdims=True)
        return sample(np.exp(losses / self.temperature), decisions.uniform)


class AppraiserAgent(HeuristicAgent):
    """The agent ``appraiser``; see the module."""

    name = "appraiser"
    version = "1"
    description = "scores actions by expected VP, and auctions by every seat's likely bid"
    default_weights = APPRAISER_WEIGHTS
