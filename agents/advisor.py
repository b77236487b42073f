"""Agents that tell what they think of every legal action."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import astuple, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions
from skyenv.errors import AgentError, shown
from skyenv.knowledge import VIEW_DTYPE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import as_records


class Advisor(Agent):
    """An agent that judges actions in victory points (VP)."""

    @abstractmethod
    def scores(self, decisions: Decisions) -> npt.NDArray[np.float64]:
        """What each action should bring, in VP, float64 (k, 103); only legal actions are judged."""


class JudgingAgent(Advisor):
    """Takes the action that a compiled judgement with weights holds to be best.

    Args:
        weights: what to judge by, for every number of players; None: the measured ones.

    Attributes:
        kind: dataclass of the weights, all of them numbers.
        measured: the weights by number of players.
        mind: dtype of the judgement's scratch memory.
        decide: its entry point, as in :mod:`agents.judgement`.

    Raises:
        AgentError: `weights` are of another kind.
    """

    uses_view = True
    kind: ClassVar[type[Any]]
    measured: ClassVar[Mapping[int, Any]]
    mind: ClassVar[np.dtype[np.void]]
    decide: ClassVar[Callable[..., None]]

    def __init__(self, weights: Any = None) -> None:
        if not (weights is None or type(weights) is self.kind):
            raise AgentError(f"the weights of {self.name} must be its {self.kind.__name__}, not {shown(weights)}")
        dtype = np.dtype([(entry.name, np.float64) for entry in fields(self.kind)])
        self._weights = {
            players: as_records(np.array([astuple(weights or measured)], dtype), dtype)
            for players, measured in self.measured.items()
        }

    def weights(self, num_players: int) -> npt.NDArray[np.void]:
        """The weights for a number of players, as compiled functions take them, one record."""
        return self._weights[num_players]

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self._judge(decisions, np.zeros((0, NUM_ACTIONS)))

    def scores(self, decisions: Decisions) -> npt.NDArray[np.float64]:
        """See :class:`Advisor`; −10⁹ stands for what is out of the question."""
        scores = np.zeros((len(decisions), NUM_ACTIONS))
        self._judge(decisions, scores)
        return scores

    def _judge(self, decisions: Decisions, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """The best actions; all judgements go into `scores` if it has rows."""
        assert decisions.view is not None
        actions = np.zeros(len(decisions), np.int64)
        type(self).decide(
            as_records(decisions.view, VIEW_DTYPE),
            decisions.mask,
            decisions.uniform,
            self.weights(decisions.num_players),
            as_records(np.zeros(1, self.mind), self.mind),
            actions,
            scores,
        )
        return actions
