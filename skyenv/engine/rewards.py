"""User-defined rewards: functions of a step."""

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
    """The inputs of a reward function: one action in each of k games of N seats.

    Attributes:
        before: GAME_DTYPE (k,), the positions in which the actions were chosen; a record array.
        after: GAME_DTYPE (k,), the positions after the actions; the final one of a game that is
            over, even if the row has begun the next game.
        outcome: float32 (k, N), the reward ``"outcome"``, 0 except at the end of a game.
        done: bool (k,), whether the action ended the game.
        truncated: bool (k,), whether that was by truncation (END-5).
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
"""A user-defined reward: a function from a step to every seat's reward, (k, N)."""


def rewards_by(function: RewardFunction, step: Step) -> npt.NDArray[np.float32]:
    """Return a reward function's rewards for a step, float32 (k, N).

    Raises:
        OptionError: they are not finite numbers of this shape.
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
