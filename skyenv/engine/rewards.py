"""Rewards of one's own: a function of what a step has done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.errors import OptionError
from skyenv.rules.state import PHASE_BID, PHASE_BUILD


@dataclass(frozen=True)
class Step:
    """What one action has done in each of k games of N seats: what a reward may depend on.

    Attributes:
        before: GAME_DTYPE (k,), the positions in which the actions were chosen; a record array.
        after: GAME_DTYPE (k,), those that came of them: of a game that is over its last one, also
            where the row has begun the next game.
        outcome: float32 (k, N), what the reward ``"outcome"`` pays; 0 but at the end of a game.
        done: bool (k,), whether the action finished the game.
        truncated: bool (k,), whether it did so by truncation (END-5).
    """

    before: np.recarray
    after: np.recarray
    outcome: npt.NDArray[np.float32]
    done: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]

    @property
    def vp(self) -> npt.NDArray[np.int32]:
        """The VP that every seat has scored: int32 (k, N)."""
        seats = self.outcome.shape[1]
        return self.after.score[:, :seats] - self.before.score[:, :seats]

    @property
    def won(self) -> npt.NDArray[np.bool_]:
        """Whether the seat has won an auction, and has yet to build (AUC-8): bool (k, N)."""
        settled = (self.before.phase == PHASE_BID) & (self.after.phase == PHASE_BUILD)
        winner = np.where(settled, self.after.seat, -1)
        return winner[:, None] == np.arange(self.outcome.shape[1])

    @property
    def cards_paid(self) -> npt.NDArray[np.int64]:
        """The number of cards that the seat has paid for an auction that it won: int64 (k, N)."""
        laid = self.after.bid_cards[:, : self.outcome.shape[1]].sum(axis=(2, 3), dtype=np.int64)
        return np.where(self.won, laid, 0)

    @property
    def price(self) -> npt.NDArray[np.int64]:
        """The value of these cards: int64 (k, N)."""
        total = self.after.bid_total[:, : self.outcome.shape[1]]
        return np.where(self.won, total, 0).astype(np.int64)


RewardFunction = Callable[[Step], npt.ArrayLike]
"""A reward of one's own: every seat's reward for a step, (k, N), of what is known of it."""


def rewards_by(function: RewardFunction, step: Step) -> npt.NDArray[np.float32]:
    """What a function pays for a step, float32 (k, N).

    Raises:
        OptionError: these are no finite numbers, or of another shape.
    """
    given: npt.NDArray[Any] = np.asarray(function(step))
    if given.shape != step.outcome.shape or given.dtype.kind not in "biuf":
        raise OptionError(
            f"the reward function must return numbers, shape {step.outcome.shape}, not "
            f"{given.dtype} {given.shape}"
        )
    rewards = given.astype(np.float32)
    if not np.isfinite(rewards).all():
        raise OptionError("the reward function returned a number that is not finite")
    return rewards
