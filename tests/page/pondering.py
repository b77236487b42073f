"""An agent that tries actions out as slowly as a test wants."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, SearchProgress
from skyenv.errors import AgentError

MOST = 8


class PonderingAgent(Agent):
    """Tries its legal actions in turn; every try waits for a permit.

    The last action is the one that it takes.

    Attributes:
        permits: for so many tries.
        fails: whether it fails behind the second one.
    """

    name = "pondering"

    def __init__(self) -> None:
        self.permits = threading.Semaphore(0)
        self.fails = False

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`skyenv.agents.Agent`."""
        raise AssertionError("it has pondered")

    def search_with_progress(
        self, decisions: Decisions, callback: Callable[[SearchProgress], None]
    ) -> SearchProgress:
        """See :class:`skyenv.agents.Agent`."""
        legal, visits = np.flatnonzero(decisions.mask[0]), np.zeros(decisions.mask.shape[1])
        for done in range(1, MOST + 1):
            if not self.permits.acquire(timeout=60):
                raise AssertionError("nobody lets it think")
            if self.fails and done > 2:
                raise AgentError("it has lost its thread")
            visits[legal[done % len(legal)]] += 1
            thought = SearchProgress(int(legal[-1]), visits.copy(), 0.25, done, MOST)
            callback(thought)
        return thought
