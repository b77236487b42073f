"""Players by heuristic: they judge every legal action by the victory points (VP) that it should
bring.

Without search or learning, they look one action ahead. What an action brings is what it scores at
once, and what it changes in the worth of plots, cards, skyscrapers in the supply and auctions to
come; VP of others count against it. The scores stand in :mod:`skyenv_agents.heuristic.judging`, its
weights in :mod:`skyenv_agents.heuristic.weights`.

Greedy and the appraiser judge alike but where greedy is weak: to the appraiser, whose auction it
will be depends on what each bidder could bid *and* on what winning is worth to him; a district that
fills up is one that can be stopped; cards are priced by the plots that they are wanted for; and a
move is judged by what both commissioners together leave to everyone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, checked_decisions
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.errors import AgentError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import as_records, new_records
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE
from skyenv_agents.heuristic.inputs import NUM_POSITION_INPUTS, write_inputs
from skyenv_agents.heuristic.judging import decide_all
from skyenv_agents.heuristic.weights import (
    APPRAISER_WEIGHTS,
    GREEDY_WEIGHTS,
    AppraiserWeights,
    Weights,
    weights_record,
)


class HeuristicAgent(Agent):
    """Takes the action that the compiled scores with its weights hold to be best.

    Args:
        weights: what to judge by, for every number of players; None: the measured ones.

    Attributes:
        kind: dataclass of the weights, all of them numbers.
        measured: the weights by number of players.

    Raises:
        AgentError: `weights` are of another kind.
    """

    uses_view = True
    kind: ClassVar[type[Weights]]
    measured: ClassVar[Mapping[int, Weights]]

    def __init__(self, weights: Weights | None = None) -> None:
        if not (weights is None or type(weights) is self.kind):
            raise AgentError(
                f"the weights of {self.name} must be its {self.kind.__name__}, not {shown(weights)}"
            )
        self._weights = {
            players: weights_record(weights or measured)
            for players, measured in self.measured.items()
        }

    def weights(self, num_players: int) -> npt.NDArray[np.void]:
        """The weights for a number of players, as compiled functions take them, WEIGHTS_DTYPE
        (1,).
        """
        return self._weights[num_players]

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self._judge(checked_decisions(decisions), np.zeros((0, NUM_ACTIONS)))

    def scores(self, decisions: Decisions) -> npt.NDArray[np.float64]:
        """What each action should bring, in VP, float64 (k, 103); only legal actions are judged,
        −10⁹: out of the question.
        """
        decisions = checked_decisions(decisions)
        scores = np.zeros((len(decisions), NUM_ACTIONS))
        self._judge(decisions, scores)
        return scores

    def inputs(self, decisions: Decisions) -> npt.NDArray[np.float32]:
        """What networks are told of the position, float32 (k, NUM_POSITION_INPUTS); see
        :mod:`skyenv_agents.heuristic.inputs`.
        """
        decisions = checked_decisions(decisions)
        assert decisions.view is not None
        inputs = np.zeros((len(decisions), NUM_POSITION_INPUTS), np.float32)
        views = as_records(decisions.view, VIEW_DTYPE)
        write_inputs(
            views, self.weights(decisions.num_players), new_records(1, HEURISTIC_DTYPE), inputs
        )
        return inputs

    def _judge(
        self, decisions: Decisions, scores: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        """The best actions; all judgements go into `scores` if it has rows."""
        assert decisions.view is not None
        actions = np.zeros(len(decisions), np.int64)
        views = as_records(decisions.view, VIEW_DTYPE)
        weights = self.weights(decisions.num_players)
        decide_all(
            views,
            decisions.mask,
            decisions.uniform,
            weights,
            new_records(1, HEURISTIC_DTYPE),
            actions,
            scores,
        )
        return actions


class GreedyAgent(HeuristicAgent):
    """Judges every legal action by the VP that it should bring, and takes the best; see
    :class:`HeuristicAgent`.
    """

    name = "greedy"
    version = "1"
    description = "judges every legal action by the VP that it should bring, one action ahead"
    kind = Weights
    measured = GREEDY_WEIGHTS


class AppraiserAgent(HeuristicAgent):
    """Judges as greedy does, but auctions by what everyone could and would bid; see the module's
    text.
    """

    name = "appraiser"
    version = "1"
    description = (
        "appraises auctions, cards and building stops by expected VP and by what others could bid"
    )
    kind = AppraiserWeights
    measured = APPRAISER_WEIGHTS
