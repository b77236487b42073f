"""One game with forced chance, without a history: for :class:`skyenv.Game`, replays, and states
with explicit chance nodes.

Every outcome of chance has a number: 0–2 a card of value 4, 5 or 6, 3–6 a business, 7–11 the colour
of a plot (:data:`OUTCOMES`). :func:`outcome_numbers` reads a card's value or a name instead.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from skyenv.array_types import Float32
from skyenv.checks import check_seat
from skyenv.engine import kernels
from skyenv.engine.copying import Copyable
from skyenv.engine.events import ChanceOutcome, end_event, row_of
from skyenv.engine.games import Games
from skyenv.errors import ChanceError, shown
from skyenv.rules.components import BUSINESSES, CARD_VALUES, COLOURS
from skyenv.rules.event_log import (
    EVENT_END,
    FORCED_BUSINESS,
    FORCED_CARD,
    FORCED_COLOUR,
    LOG_DTYPE,
    MAX_FORCED,
)
from skyenv.rules.record import new_records
from skyenv.rules.state import NONE

OUTCOMES: Final[tuple[ChanceOutcome, ...]] = (*CARD_VALUES, *BUSINESSES, *COLOURS)
"""Chance outcomes by number."""
SETUP: Final = -1
"""Instead of an action: the setup (SET-1 to SET-5)."""

_NUMBERS: Final = {outcome: number for number, outcome in enumerate(OUTCOMES)}
# Range of numbers of each kind of outcome, by the kind in compiled code.
_KINDS: Final = {FORCED_CARD: range(3), FORCED_BUSINESS: range(3, 7), FORCED_COLOUR: range(7, 12)}
# Compiled code's name of each outcome.
_FORCED: Final = bytes(kind + i for kind, numbers in _KINDS.items() for i in range(len(numbers)))
# The rows of a batch of one game.
_ROW: Final = np.zeros(1, np.int64)


def outcome_numbers(chance: Iterable[ChanceOutcome]) -> list[int]:
    """Return the numbers of outcomes.

    Raises:
        ChanceError: a value is not an outcome, or there are more than any action needs.
    """
    if not isinstance(chance, Iterable):
        raise ChanceError(f"chance must be a sequence of outcomes, not {shown(chance)}", 0)
    numbers: list[int] = []
    for index, outcome in enumerate(chance):
        is_named = isinstance(outcome, (int, np.integer, str)) and outcome in _NUMBERS
        if index == MAX_FORCED or not is_named:
            right = "card (4, 5, 6), business or plot colour"
            raise ChanceError(f"chance outcome {index + 1}: {shown(outcome)} is no {right}", index)
        numbers.append(_NUMBERS[outcome])
    return numbers


class Simulator(Copyable):
    """A game whose position can be replaced and whose chance can be forced.

    Args:
        batch: a batch of one game, which the simulator plays.

    Attributes:
        batch: the batch.
        state: the live record, GAME_DTYPE.
        options, board, num_players, side, max_turns: those of the batch.
    """

    def __init__(self, batch: Games) -> None:
        self.batch = batch
        self.state: np.record = batch.state[0]
        self.options, self.board = batch.options, batch.board
        self.num_players, self.side = self.options.num_players, self.options.side
        self.max_turns = self.options.max_turns
        self._log = new_records(1, LOG_DTYPE)
        self._log["recording"] = self._log["asking"] = 1
        self._arrays = batch.arrays._replace(log=self._log)
        # Looking up a field by name takes longer than writing it.
        self._log_start = [
            self._log[name]
            for name in ("num_forced", "next_forced", "num_events", "refused", "asked")
        ]
        self._forced = memoryview(self._log["forced"][0].view(np.uint8))
        self._bytes = memoryview(self._arrays.state.view(np.uint8))

    @property
    def legal_actions(self) -> list[int]:
        """Numbers of the legal actions, ascending; empty once the game is over."""
        return self.batch.mask[0].nonzero()[0].tolist()

    # ---- positions ----

    def position(self) -> bytes:
        """Return the current position, GAME_DTYPE as bytes."""
        return self._arrays.state.tobytes()

    def rewind(self, state: bytes) -> None:
        """Restore a position of a game with the same options, to take actions back; a
        :class:`skyenv.Game`'s `events` and `seed` don't change.

        Args:
            state: what :meth:`position` returned, or GAME_DTYPE as bytes that
                :func:`skyenv.engine.validation.check_positions` accepts. It is not checked: invalid
                data can crash the process.
        """
        with self.batch.lock:
            self._put(state)

    def observation_in(self, state: bytes, seat: int) -> Float32:
        """Return a seat's observation in another position. The game stays there without derived
        data; :meth:`rewind` restores them.

        Args:
            state: a position of such a game, GAME_DTYPE as bytes; it is not checked.
            seat: 0 … N−1.
        """
        self._bytes[:] = state
        return self._observed(check_seat(seat, self.num_players))

    def _observed(self, seat: int) -> Float32:
        return self.batch.observe_unchecked(np.array([seat]), _ROW)[0]

    def _put(self, state: bytes) -> None:
        self._bytes[:] = state
        self._force(())
        self._deal(kernels.REFRESH)

    # ---- play: forced outcomes in, events out ----

    def play_unchecked(
        self, state: bytes, action: int, numbers: Sequence[int]
    ) -> list[tuple[int, float]]:
        """Restore a position and play an action with forced outcomes, without checks.

        Args:
            state: a position of such a game, GAME_DTYPE as bytes.
            action: the number of an action that is legal there, or SETUP.
            numbers: numbers of possible outcomes.

        Returns:
            Numbers and probabilities of the next chance node; empty if the action is complete and
                the game is in the new position.
        """
        with self.batch.lock:
            self._bytes[:] = state
            self._force(numbers)
            if action == SETUP:
                self._deal(NONE)
            else:
                self._play_one(action)
        return self.chance_node()

    def chance_node(self) -> list[tuple[int, float]]:
        """Return the first chance node of the last play that was not forced, as numbers and
        probabilities; empty if none.
        """
        kind = int(self._log["asked"][0])
        if kind == NONE:
            return []
        numbers = _KINDS[kind]
        weights: list[int] = self._log["ways"][0, : len(numbers)].tolist()
        total = sum(weights)
        return [
            (number, weight / total)
            for number, weight in zip(numbers, weights, strict=True)
            if weight > 0
        ]

    def event_rows(self) -> list[list[int]]:
        """Return the events of the last play without the action, as rows of
        :data:`skyenv.engine.events.EVENTS`.
        """
        rows = self._log["event"][0, : int(self._log["num_events"][0])].tolist()
        if rows and rows[-1][0] == EVENT_END:  # compiled code reports the reason alone
            rows[-1] = row_of(end_event(self._arrays.state))
        return rows

    def _deal(self, seed: int) -> None:
        kernels.reset_rows(self._arrays, _ROW, np.array([seed], np.int64))

    def _play_one(self, action: int) -> None:
        kernels.play_rows(self._arrays, _ROW, np.array([action], np.int64), 0, 1, 0, 0)

    def _force(self, numbers: Sequence[int]) -> None:
        """Set the forced outcomes of the next play."""
        if numbers:
            self._forced[: len(numbers)] = bytes([_FORCED[number] for number in numbers])
        for field, number in zip(self._log_start, (len(numbers), 0, 0, NONE, NONE), strict=True):
            field[0] = number

    def _check_forced(self, numbers: Sequence[int]) -> None:
        """Raise ChanceError unless all forced outcomes were possible and used."""
        refused, used = int(self._log["refused"][0]), int(self._log["next_forced"][0])
        if refused >= 0:
            raise ChanceError(
                f"chance outcome {refused + 1}: {OUTCOMES[numbers[refused]]!r} is impossible here",
                refused,
            )
        if used < len(numbers):
            raise ChanceError(
                f"{len(numbers)} chance outcomes were given, but only {used} were needed", used
            )
