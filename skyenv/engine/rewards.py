"""Rewards: those by name, a task's payoff, and user-defined functions of a transition."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from skyenv.array_types import Bool, Float32, Float64, Int64
from skyenv.errors import OptionError
from skyenv.rules.compiling import rule
from skyenv.rules.components import (
    MAX_PLAYERS,
    NUM_BUSINESSES,
    NUM_RANKS,
    PLOT_VALUE,
    TILES_TURNED_UP,
)
from skyenv.rules.scoring import vp_if_scored
from skyenv.rules.state import BID_BLACK, BID_COLOURED, PHASE_BID, PHASE_BUILD, GameRecord

Share = TypeVar("Share", float, Float64)

# TASK and PARK_TASK: the payoffs of tasks in a district and in the park area.
OUTCOME, MARGIN, POINTS, TASK, PARK_TASK = range(5)
REWARDS: Final = ("outcome", "margin", "points")
MARGIN_SCALE: Final = 50.0  # reward "margin": this many VP ahead are a return of 1
CARD_VP: Final = 1.5  # a task's payoff: VP charged for each card paid


@rule
def counted_vp(game: GameRecord, kind: int, seat: int) -> int:
    """Return the VP behind the rewards "margin" and "points" and a task's payoff; a step's reward
    is their change.
    """
    if kind == POINTS:
        return int(game.score[seat])
    best_other = -1
    for other in range(game.num_players):
        if other != seat:
            best_other = max(best_other, standing(game, kind, other))
    return standing(game, kind, seat) - best_other


@rule
def standing(game: GameRecord, kind: int, seat: int) -> int:
    """Return the VP by which seats are compared; in a task as if all districts were scored, in the
    park area's also the park area (END-3), with all its tiles turned up.
    """
    if kind < TASK:
        return int(game.score[seat])
    vp, types = vp_if_scored(game, seat), 0
    if kind == PARK_TASK:
        for business in range(NUM_BUSINESSES):
            types += game.park_tiles[business] > 0
        vp += int(game.park[seat]) * int(PLOT_VALUE[min(types, TILES_TURNED_UP)])
    return vp


@rule
def charge(game: GameRecord, seat: int) -> float:
    """Return a seat's charge for an auction that has just been won (a task's payoff): the winner's
    for the cards paid, which the other seats share.
    """
    cards = 0
    for kind in (BID_COLOURED, BID_BLACK):
        for rank in range(NUM_RANKS):
            cards += int(game.bid_cards[game.seat, kind, rank])
    share = 1.0 if seat == game.seat else -1.0 / (game.num_players - 1)
    return CARD_VP * cards * share


def outcome_of(share: Share, num_players: int) -> Share:
    """Return the reward "outcome" of a share of the win: (share − 1/N) · N/(N−1), 1 for a sole win,
    summing to 0.

    Args:
        share: 0 to 1, one number or float64 of any shape.
        num_players: N.
    """
    return (share - 1 / num_players) * num_players / (num_players - 1)


compiled_outcome_of = rule(outcome_of)


def share_of(outcome: Share, num_players: int) -> Share:
    """Return the share of the win of a reward "outcome", the inverse of :func:`outcome_of`."""
    return 1 / num_players + outcome * (num_players - 1) / num_players


@rule
def win_share(seats: int, seat: int) -> float:
    """END-4: a seat's share of the win, where the winners, a bit mask, share 1."""
    number = 0
    for other in range(MAX_PLAYERS):
        number += (seats >> other) & 1
    return ((seats >> seat) & 1) / number


@dataclass(frozen=True)
class Transition:
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
    outcome: Float32
    done: Bool
    truncated: Bool

    @property
    def vp(self) -> npt.NDArray[np.int32]:
        """The VP that every seat has scored: int32 (k, N)."""
        seats = self.outcome.shape[1]
        return self.after.score[:, :seats] - self.before.score[:, :seats]

    @property
    def won(self) -> Bool:
        """Whether the seat has won an auction, and has yet to build (AUC-8): bool (k, N)."""
        settled = (self.before.phase == PHASE_BID) & (self.after.phase == PHASE_BUILD)
        winner = np.where(settled, self.after.seat, -1)
        return winner[:, None] == np.arange(self.outcome.shape[1])

    @property
    def cards_paid(self) -> Int64:
        """The number of cards that the seat has paid for an auction that it won: int64 (k, N)."""
        laid = self.after.bid_cards[:, : self.outcome.shape[1]].sum(axis=(2, 3), dtype=np.int64)
        return np.where(self.won, laid, 0)

    @property
    def price(self) -> Int64:
        """The value of these cards: int64 (k, N)."""
        total = self.after.bid_total[:, : self.outcome.shape[1]]
        return np.where(self.won, total, 0).astype(np.int64)


RewardFunction = Callable[[Transition], npt.ArrayLike]
"""A user-defined reward: a function from a transition to every seat's reward, (k, N)."""


def rewards_by(function: RewardFunction, transition: Transition) -> Float32:
    """Return a reward function's rewards for a transition, float32 (k, N).

    Raises:
        OptionError: they are not finite numbers of this shape.
    """
    given: npt.NDArray[Any] = np.asarray(function(transition))
    if given.shape != transition.outcome.shape or given.dtype.kind not in "biuf":
        raise OptionError(
            f"the reward function must return numbers, shape {transition.outcome.shape}, not "
            f"{given.dtype} {given.shape}"
        )
    rewards = given.astype(np.float32)
    if not np.isfinite(rewards).all():
        raise OptionError("the reward function returned a number that is not finite")
    return rewards
