"""What networks that know nothing of masks have in common as players: their scores, masked, are
probabilities.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, Evaluations, sample
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import CheckpointError
from skyenv.rules.actions import NUM_ACTIONS

Float64 = npt.NDArray[np.float64]


def masked_softmax(logits: npt.NDArray[np.floating], mask: npt.NDArray[np.int8]) -> Float64:
    """Probabilities, float64 (k, 103), of scores (k, 103); actions that the mask, int8 (k, 103),
    forbids have exactly 0.
    """
    logits = np.where(mask != 0, logits, -np.inf)
    weights: Float64 = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def check_spaces(observations: Any, actions: Any, what: str) -> None:
    """Refuse a policy that was made for another observation, or for other actions, than there are.

    Args:
        observations, actions: its spaces, as Gymnasium describes them. what: what messages call it.

    Raises:
        CheckpointError: it doesn't fit.
    """
    shape, number = getattr(observations, "shape", None), getattr(actions, "n", None)
    if shape != (OBSERVATION_SIZE,):
        length = shape[0] if isinstance(shape, tuple) and len(shape) == 1 else shape
        raise CheckpointError(
            f"{what} was trained for observations of length {length}; they have {OBSERVATION_SIZE} "
            "now"
        )
    if number != NUM_ACTIONS:
        raise CheckpointError(f"{what} was trained for {number} actions; there are {NUM_ACTIONS}")


class MaskedAgent(Agent):
    """Plays by a network's scores of the actions, a whole batch in one forward pass.

    The critic isn't asked.

    Attributes:
        deterministic: whether it takes the most probable action instead of drawing one with the
            decision's random number.
    """

    uses_observation = True
    deterministic: bool

    @abstractmethod
    def _logits(
        self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.floating]:
        """The scores of all actions, (k, 103), whatever those of illegal ones."""

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        weights = self.evaluate(decisions)[0]
        if self.deterministic:
            return np.asarray(np.argmax(weights, axis=1), np.int64)
        return sample(weights, decisions.uniform)

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`."""
        assert decisions.observation is not None
        return self.probabilities(decisions.observation, decisions.mask), None

    def probabilities(
        self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]
    ) -> Float64:
        """The policy's probabilities, float64 (k, 103); illegal actions have exactly 0.

        Args:
            observation: float32 (k, OBSERVATION_SIZE).
            mask: int8 (k, 103).
        """
        return masked_softmax(self._logits(observation, mask), mask)
