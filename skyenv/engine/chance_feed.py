"""The chance feed: one game whose chance can be asked for, decided from outside, and taken back.

Whatever chance decides has a number, so that no outcome passes for one of another kind: 0–2 a card
of value 4, 5 or 6, 3–6 a business, 7–11 the colour of a plot (:data:`OUTCOMES`). People say a
card's value or a name instead. Beside it runs what happens, in the words of INTERFACE.md
(:mod:`skyenv.engine.events`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_integer
from skyenv.engine.events import Event, Outcome, action_event, events_told, setup_event
from skyenv.engine.games import DEFAULT_MAX_TURNS, HIGHEST_SEED, Games
from skyenv.engine.kernels import REFRESH
from skyenv.engine.validation import as_games, check_positions
from skyenv.errors import ChanceError, IllegalActionError, OptionError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.board import Board
from skyenv.rules.components import BUSINESSES, CARD_VALUES, COLOURS
from skyenv.rules.state import GAME_DTYPE, NONE, new_records
from skyenv.rules.tape import FED_BUSINESS, FED_CARD, FED_COLOUR, MAX_FED, TAPE_DTYPE

OUTCOMES: Final[tuple[Outcome, ...]] = (*CARD_VALUES, *BUSINESSES, *COLOURS)
"""What chance can decide, by number."""
SETUP: Final = -1
"""Instead of an action: the setup (SET-1 to SET-5)."""

_NUMBERS: Final = {outcome: number for number, outcome in enumerate(OUTCOMES)}
_KINDS: Final = {FED_CARD: range(3), FED_BUSINESS: range(3, 7), FED_COLOUR: range(7, 12)}
"""The numbers of each kind of outcome, by how compiled code names the kind."""
_FED: Final = np.array(
    [fed + i for fed, numbers in _KINDS.items() for i in range(len(numbers))], np.int8
)
"""How compiled code names each outcome."""


def outcome_numbers(chance: Iterable[Outcome]) -> list[int]:
    """The numbers of outcomes.

    Raises:
        ChanceError: one of them is no outcome at all, or there are more than any action needs.
    """
    if not isinstance(chance, Iterable):
        raise ChanceError(f"chance must be outcomes one after the other, not {shown(chance)}", 0)
    return [_outcome_number(outcome, index) for index, outcome in enumerate(chance)]


def _outcome_number(outcome: object, index: int) -> int:
    def refused(_: str) -> ChanceError:
        message = f"chance outcome {index + 1}: {shown(outcome)} is no card (4, 5, 6), business or plot colour"
        return ChanceError(message, index)

    told = (
        outcome
        if isinstance(outcome, str)
        else check_integer("outcome", outcome, CARD_VALUES[0], CARD_VALUES[-1], refused)
    )
    if index == MAX_FED or told not in _NUMBERS:
        raise refused("")
    return _NUMBERS[told]


def action_number(action: object, otherwise: str = "") -> int:
    """An action's number as an int, whether there is such an action or not.

    Args:
        action: as it was given.
        otherwise: what else it could have been, for the message.

    Raises:
        IllegalActionError: it is no whole number.
    """

    def refused(_: str) -> IllegalActionError:
        return IllegalActionError(
            f"an action is a number from 0 to {NUM_ACTIONS - 1}{otherwise}, not {shown(action)}",
            action,
        )

    return check_integer("action", action, -HIGHEST_SEED, HIGHEST_SEED, refused)


class _Tape:
    """The tape that compiled code reads outcomes from and writes events on, with its fields at
    hand.
    """

    __slots__ = (
        "array",
        "asked",
        "event",
        "fed",
        "next_fed",
        "num_events",
        "num_fed",
        "refused",
        "ways",
    )

    def __init__(self) -> None:
        self.array = array = new_records(1, TAPE_DTYPE)
        array["recording"] = array["asking"] = 1
        self.fed, self.num_fed, self.next_fed = array["fed"][0], array["num_fed"], array["next_fed"]
        self.refused, self.asked, self.ways = array["refused"], array["asked"], array["ways"][0]
        self.event, self.num_events = array["event"][0], array["num_events"]

    def set(self, numbers: Sequence[int]) -> None:
        """Give outcomes for what is played next."""
        if numbers:
            self.fed[: len(numbers)] = _FED[list(numbers)]
        self.num_fed[0] = len(numbers)
        self.next_fed[0] = self.num_events[0] = 0
        self.refused[0] = self.asked[0] = NONE


class ChanceFeed(Games):
    """A batch of one game with a feed for its chance.

    What is set is used up by one action, or by the setup; what it leaves open comes from the game's
    own stream. The batch's own :meth:`reset` and :meth:`step` take no part in this: they play by
    the stream alone and tell nothing.

    >>> feed = ChanceFeed(num_players=3, seed=7)
    >>> events = feed.set_up(7, ["green", "boutique"])
    >>> events[0]["plots"]["W34"]
    ['green', 'boutique']

    Args:
        num_players: 2 to 4.
        side: side of the board, ``"front"`` or ``"back"``.
        seed: of the game, 0 to 2⁶³−1; None takes one from the operating system.
        board: a :class:`Board`, or the path of a board file.
        max_turns: turns after which the game is truncated (END-5).
        observe, agent_seed: as for :class:`Games`.
        reward: as for :class:`skyenv.GameOptions`.

    Attributes:
        is_seeded: whether the seed and the actions have decided all of the game: nothing came from
            outside.

    Raises:
        OptionError, BoardError: as for :class:`Games`.
    """

    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        seed: int | None = None,
        *,
        board: Board | str | Path | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        observe: bool = True,
        agent_seed: int | None = None,
        reward: str = "outcome",
    ) -> None:
        super().__init__(
            1,
            num_players,
            side,
            seed,
            board=board,
            max_turns=max_turns,
            autoreset=False,
            observe=observe,
            agent_seed=agent_seed,
            reward=reward,
        )
        self.is_seeded = True

    def _make_views(self) -> None:
        super()._make_views()
        self._bytes = self._state.view(np.uint8)
        self._action = np.zeros(1, np.int64)
        self._seed = np.zeros(1, np.int64)
        self._fed = _Tape()

    def __getstate__(self) -> dict[str, Any]:
        made_anew = ("_bytes", "_action", "_seed", "_fed")
        return {
            name: value for name, value in super().__getstate__().items() if name not in made_anew
        }

    # ---- playing with events ----

    def set_up(self, seed: int | None, chance: Iterable[Outcome] = ()) -> list[Event]:
        """Begin the game anew.

        Args:
            seed: of the stream, 0 to 2⁶³−1; None: the game has no seed, and what `chance` leaves
                open comes from that of seed 0.
            chance: outcomes in the order in which the setup needs them; see
                :func:`skyenv.engine.events.setup_outcomes`.

        Returns:
            The setup's event.

        Raises:
            OptionError: the seed is out of range. Nothing has changed.
            ChanceError: an outcome is impossible, or there are too many. Another game is set up
                then.
        """
        first = NONE if seed is None else check_integer("seed", seed, 0, HIGHEST_SEED)
        numbers = outcome_numbers(chance)
        with self._alone:
            self._fed.set(numbers)
            self._deal(first)
            self._check(numbers)
            self.is_seeded = not numbers and seed is not None
            return [setup_event(self.state[0])]

    def play(self, action: int, chance: Iterable[Outcome] = ()) -> list[Event]:
        """Play an action, and all that follows from it up to the next decision.

        Args:
            action: its number.
            chance: outcomes, in the order in which they are needed.

        Returns:
            The events, the action itself first.

        Raises:
            IllegalActionError: the action isn't legal (GameOverError: the game is over).
            ChanceError: an outcome is impossible, or there are too many. In each case nothing has
                changed.
        """
        action, numbers = action_number(action), outcome_numbers(chance)
        with self._alone:
            if not 0 <= action < NUM_ACTIONS or not self._slots["legal"][0, action]:
                raise self.refusal(0, action, False)
            before = self._state.copy()
            self._fed.set(numbers)
            self._play_one(action)
            try:
                self._check(numbers)
            except ChanceError:
                self._put(before)
                raise
            self.is_seeded = self.is_seeded and not numbers
            return [
                action_event(int(before["seat"][0]), action),
                *events_told(self.event_rows(), self._state, self.board),
            ]

    def ahead(self, action: int, chance: Iterable[Outcome] = ()) -> dict[Outcome, float]:
        """What chance decides next if an action (or SETUP) is played; nothing is changed.

        Args:
            action: its number.
            chance: what chance has decided of it so far.

        Returns:
            The possible outcomes with their probabilities, above 0 and summing to 1; empty if
            nothing is left to decide.

        Raises:
            IllegalActionError, ChanceError: as for :meth:`play`.
        """
        twin = self.copy()
        if action_number(action) == SETUP:
            twin.set_up(0, chance)
        else:
            twin.play(action, chance)
        return {OUTCOMES[number]: probability for number, probability in twin.asked()}

    def _check(self, numbers: Sequence[int]) -> None:
        """Raise ChanceError unless all outcomes that were set were possible and used."""
        refused, used = int(self._fed.refused[0]), int(self._fed.next_fed[0])
        if refused >= 0:
            raise ChanceError(
                f"chance outcome {refused + 1}: {OUTCOMES[numbers[refused]]!r} is impossible here",
                refused,
            )
        if used < len(numbers):
            raise ChanceError(
                f"{len(numbers)} chance outcomes were given, but only {used} were needed", used
            )

    # ---- playing by numbers ----

    def rewind(self, state: npt.NDArray[np.void] | bytes) -> None:
        """Put the game into a position of such a game, GAME_DTYPE (1,) or its bytes.

        Raises:
            OptionError: it is none (:func:`skyenv.engine.validation.check_positions`). Nothing has changed.
        """
        whole = (
            state if isinstance(state, bytes) else as_games(state).tobytes()
        )  # as they are now, whoever writes into them
        if len(whole) != GAME_DTYPE.itemsize:
            raise OptionError(
                f"a position is one game, {GAME_DTYPE.itemsize} bytes, not {len(whole)}"
            )
        check_positions(as_games(np.frombuffer(whole, GAME_DTYPE)), self.num_players)
        self.rewind_unchecked(whole)

    def rewind_unchecked(self, state: bytes) -> None:
        """As :meth:`rewind`, unchecked, for loops over positions that come from a feed: anything
        else can end the process.
        """
        with self._alone:
            self._put(state)

    def _put(self, state: npt.NDArray[np.void] | bytes) -> None:
        self._bytes[:] = np.frombuffer(state, np.uint8)
        self._deal(REFRESH)

    def play_unchecked(
        self, state: bytes, action: int, numbers: Sequence[int]
    ) -> list[tuple[int, float]]:
        """Rewind, and play an action with what chance has decided of it so far, for such loops as
        well: nothing is checked.

        Args:
            state: a position of such a game, GAME_DTYPE as bytes.
            action: the number of an action that is legal there, or SETUP.
            numbers: of outcomes that are possible.

        Returns:
            What chance has to decide next: numbers and probabilities. Empty: nothing, and the game
                is in the new position.
        """
        with self._alone:
            self._bytes[:] = np.frombuffer(state, np.uint8)
            tape = self._fed
            tape.set(numbers)
            if action == SETUP:
                self._deal(NONE)
            else:
                self._play_one(action)
            return [] if tape.asked[0] == NONE else self.asked()

    def asked(self) -> list[tuple[int, float]]:
        """What chance had to decide itself first in what was played last: numbers and
        probabilities; empty: nothing.
        """
        if self._fed.asked[0] == NONE:
            return []
        numbers = _KINDS[int(self._fed.asked[0])]
        ways: list[int] = self._fed.ways[: len(numbers)].tolist()
        total = sum(ways)
        return [(number, way / total) for number, way in zip(numbers, ways, strict=True) if way > 0]

    def event_rows(self) -> list[list[int]]:
        """What happened in what was played last, as compiled code tells it; see
        :func:`skyenv.engine.events.events_told`.
        """
        number = int(self._fed.num_events[0])
        rows: list[list[int]] = self._fed.event[:number].tolist() if number else []
        return rows

    def position(self) -> bytes:
        """The game as it is now, GAME_DTYPE as bytes."""
        return self._state.tobytes()

    def _deal(self, seed: int) -> None:
        self._seed[0] = seed
        self._reset(self._all_rows, self._seed, self._fed.array)

    def _play_one(self, action: int) -> None:
        self._action[0] = action
        self._play(self._all_rows, self._action, 0, 0, self._fed.array)
