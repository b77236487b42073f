"""Agents that tell what they think of every legal action."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions


class Advisor(Agent):
    """An agent that judges actions in victory points (VP)."""

    @abstractmethod
    def scores(self, decisions: Decisions) -> npt.NDArray[np.float64]:
        """What each action should bring, in VP, float64 (k, 103); only legal actions are judged."""
