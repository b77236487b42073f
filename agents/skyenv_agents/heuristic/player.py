"""Players by heuristic: they score every legal action by the victory points (VP) that it should
bring.

Without search or learning, they look one action ahead. What an action brings is what it scores at
once, and what it changes in the worth of plots, cards, skyscrapers in the supply and auctions to
come; VP of others count against it. The scores stand in :mod:`skyenv_agents.heuristic.scores`, its
weights in :mod:`skyenv_agents.heuristic.weights`.

Greedy and the appraiser score alike but where greedy is weak: to the appraiser, whose auction it
will be depends on what each bidder could bid *and* on what winning is worth to him; a district that
fills up is one that can be stopped; cards are priced by the plots that they are wanted for; and a
move is judged by what both commissioners together leave to everyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.errors import AgentError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import as_records, new_records
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE
from skyenv_agents.heuristic.inputs import NUM_POSITION_INPUTS, write_inputs
from skyenv_agents.heuristic.scores import decide_all
from skyenv_agents.heuristic.weights import (
    APPRAISER_WEIGHTS,
    GREEDY_WEIGHTS,
    Weights,
    weights_record,
)

Records = npt.NDArray[np.void]


class HeuristicAgent(Agent):
    """Takes the action that the compiled scores with its weights hold to be best.

    Args:
        weights: by number of players; None: the measured ones.

    Attributes:
        measured: the measured weights by number of players.

    Raises:
        AgentError: `weights` have other names than the measured ones.
    """

    uses_view = True
    measured: ClassVar[Mapping[int, Weights]]

    def __init__(self, weights: Mapping[int, Weights] | None = None) -> None:
        given = self.measured if weights is None else weights
        for players, measured in self.measured.items():
            if given[players].keys() != measured.keys():
                wrong = sorted(given[players].keys() ^ measured.keys())
                raise AgentError(
                    f"the weights of {self.name} lack, or have beside its own: {shown(wrong)}"
                )
        self._records = {players: weights_record(given[players]) for players in self.measured}

    def weights(self, num_players: int) -> npt.NDArray[np.void]:
        """Return the weights for a number of players, as compiled functions take them,
        WEIGHTS_DTYPE (1,).
        """
        return self._records[num_players]

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self._decide(decisions, np.zeros((0, NUM_ACTIONS)))

    def scores(self, decisions: Decisions) -> npt.NDArray[np.float64]:
        """Return the VP that each action should bring, float64 (k, 103); only legal actions are
        scored, −10⁹: out of the question.
        """
        scores = np.zeros((len(decisions), NUM_ACTIONS))
        self._decide(decisions, scores)
        return scores

    def inputs(self, decisions: Decisions) -> npt.NDArray[np.float32]:
        """Return the features of the position for networks, float32 (k, NUM_POSITION_INPUTS); see
        :mod:`skyenv_agents.heuristic.inputs`.
        """
        inputs = np.zeros((len(decisions), NUM_POSITION_INPUTS), np.float32)
        write_inputs(*self._seen(decisions), inputs)
        return inputs

    def _seen(self, decisions: Decisions) -> tuple[Records, Records, Records]:
        """Return views, weights and memory, as compiled functions take them."""
        views = as_records(decisions.trusted_view(), VIEW_DTYPE)
        return views, self.weights(decisions.num_players), new_records(1, HEURISTIC_DTYPE)

    def _decide(
        self, decisions: Decisions, scores: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        """Return the best actions; all scores go into `scores` if it has rows."""
        actions = np.zeros(len(decisions), np.int64)
        views, weights, memory = self._seen(decisions)
        decide_all(views, decisions.mask, decisions.uniform, weights, memory, actions, scores)
        return actions


class GreedyAgent(HeuristicAgent):
    """Scores every legal action by the VP that it should bring, and takes the best; see
    :class:`HeuristicAgent`.
    """

    name = "greedy"
    version = "1"
    description = "scores every legal action by its expected VP, one action ahead"
    measured = GREEDY_WEIGHTS


class AppraiserAgent(HeuristicAgent):
    """Scores as greedy does, but auctions by what everyone could and would bid; see the module's
    text.
    """

    name = "appraiser"
    version = "1"
    description = "scores actions by expected VP, and auctions by what every seat could bid"
    measured = APPRAISER_WEIGHTS
