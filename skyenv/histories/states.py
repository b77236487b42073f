"""States of a game whose chance is decided from outside, one outcome at a time: the content of an
OpenSpiel state.

A state never changes: playing on makes a new one, so copies share it. It holds the game's record at
the last decision of a seat, the action under way while chance decides its consequences, and the
steps that led there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_integer
from skyenv.engine.events import Event, action_event, events_of, setup_event
from skyenv.engine.game import SETUP, Game
from skyenv.engine.games import results
from skyenv.engine.information_state import (
    event_line,
    first_line,
    information_size,
    information_tensor,
    seen_by,
)
from skyenv.engine.kernels import outcome_of
from skyenv.engine.observation import codes_of, names
from skyenv.errors import ChanceError, OptionError, shown
from skyenv.render.text import text
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.board import Board
from skyenv.rules.components import (
    BUSINESSES,
    CARD_VALUES,
    COLOURS,
    MAX_PLAYERS,
)
from skyenv.rules.event_log import EVENT_BLACK
from skyenv.rules.setup import blank_game
from skyenv.rules.state import END_TRUNCATED, GAME_DTYPE, NONE

OUTCOME_NAMES: Final = (
    *(f"card {value}" for value in CARD_VALUES),
    *(f"business {business}" for business in BUSINESSES),
    *(f"plot {colour}" for colour in COLOURS),
)
MOST_TURNS: Final = 1_000_000

AUCTIONS_PER_TURN: Final = 8
"""Both moves of option C can start a set: three districts and the park area."""
CARDS: Final = 110
"""COM-1. In an auction each is laid down at most once, and every bid has a card."""
DECISIONS_PER_TURN: Final = 6 + AUCTIONS_PER_TURN * (2 * CARDS + MAX_PLAYERS + 1)
"""Option, plot, two cards, two moves; and in every auction the cards, ends of bids, passes, and one
to build or stop.
"""
CHANCES_PER_TURN: Final = 2 + MAX_PLAYERS + 2 + AUCTIONS_PER_TURN * 4
"""Black cards of option D (two, and one for every seat), two tops, and Alea's cards."""
CHANCES_OF_SETUP: Final = 7 * 2 + 20 + MAX_PLAYERS * 9 + 5
CHANCES_AT_THE_END: Final = 3


class Table:
    """The common part of all states of one kind of game; :func:`table_of` makes it.

    Attributes:
        board: the printed board of the side.
        start: the state before the setup.
    """

    def __init__(self, num_players: int, side: str, max_turns: int) -> None:
        check_integer("max_turns", max_turns, 1, MOST_TURNS)
        self.num_players, self.side, self.max_turns = num_players, side, max_turns
        self._local = threading.local()
        self.board = self.game.board
        blank = blank_game(num_players, self.board, max_turns).tobytes()
        outcomes = self.game.play_unchecked(blank, SETUP, ())
        self.start = State(self, blank, (), pending=SETUP, outcomes=outcomes)

    @property
    def game(self) -> Game:
        """This thread's own game, on which states are played: compiled code lets other threads run
        meanwhile.
        """
        if not hasattr(self._local, "game"):
            self._local.game = Game(self.num_players, self.side, 0, max_turns=self.max_turns)
        game: Game = self._local.game
        return game

    @cached_property
    def first_lines(self) -> list[str]:
        """The first line of every seat's information state."""
        return [first_line(self.start, seat) for seat in range(self.num_players)]

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return table_of, (self.num_players, self.side, self.max_turns)


@lru_cache(maxsize=64)
def table_of(num_players: int, side: str, max_turns: int) -> Table:
    """Return the table for a number of players, a side of the board and a number of turns.

    Raises:
        OptionError: an option has a wrong value.
    """
    return Table(num_players, side, max_turns)


@dataclass(slots=True, eq=False)
class Step:
    """An action, or the setup, with all that followed from it.

    Attributes:
        seat: the seat that played the action; NONE for the setup.
        action: its number, or SETUP.
        chance: numbers of the outcomes of chance in it.
        rows: the events, as :meth:`skyenv.Game.event_rows` gives them.
        record: the game after it. Of a step in a resampled history only what everybody sees is true
            in it.
    """

    seat: int
    action: int
    chance: tuple[int, ...]
    rows: list[list[int]]
    record: bytes
    _events: list[Event] | None = field(default=None, init=False)
    _lines: dict[int, str] = field(default_factory=dict, init=False)

    def events(self, board: Board) -> list[Event]:
        """Return the events, as dictionaries of INTERFACE.md, the action first."""
        if self._events is None:
            game = game_of(self.record)
            if self.action == SETUP:
                self._events = [setup_event(game.view(np.recarray)[0])]
            else:
                told = events_of(self.rows, game, board)
                self._events = [action_event(self.seat, self.action), *told]
        return self._events

    def lines(self, board: Board, seat: int) -> str:
        """Return the lines for it in a seat's information state."""
        # All seats see the same, but for first hands and black cards.
        is_private = self.action == SETUP or any(row[0] == EVENT_BLACK for row in self.rows)
        viewer = seat if is_private else NONE
        if viewer not in self._lines:
            self._lines[viewer] = "\n".join(map(event_line, seen_by(self.events(board), seat)))
        return self._lines[viewer]


def game_of(record: bytes) -> npt.NDArray[np.void]:
    """A position's record as GAME_DTYPE (1,), not to be written."""
    return np.frombuffer(record, GAME_DTYPE)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A game between two decisions of chance or players; it never changes.

    Attributes:
        table: what all such games share.
        record: the game at its last decision of a seat, GAME_DTYPE as bytes.
        steps: the steps that led there.
        seat: the seat to act; NONE if the game is over or chance decides.
        legal: numbers of its legal actions, ascending.
        pending: the action of which chance has more to decide, SETUP, or None: a seat is to act, or
            the game is over.
        chance: what chance has decided of it so far.
        outcomes: what chance decides next, (number, probability); empty if it is not its turn.
        hidden: for seats what :func:`skyenv.histories.resampling.resampled` has found of the cards
            that are hidden from them.
    """

    table: Table
    record: bytes
    steps: tuple[Step, ...]
    seat: int = NONE
    legal: list[int] = field(default_factory=list)
    pending: int | None = None
    chance: tuple[int, ...] = ()
    outcomes: list[tuple[int, float]] = field(default_factory=list)
    hidden: dict[int, Any] = field(default_factory=dict)

    @staticmethod
    def settled(table: Table, game: Game, steps: tuple[Step, ...]) -> State:
        """Return the state of a game in which a seat is to act, or which is over."""
        seat = NONE if game.seat is None else game.seat
        return State(table, game.position(), steps, seat, game.legal_actions)

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        played = [(step.action, step.chance) for step in self.steps]
        return replayed, (self.table, played, self.pending, self.chance)

    # ---- playing on ----

    def after(self, action: int) -> State:
        """Return the state after an action of the seat to act, or an outcome of chance.

        Raises:
            IllegalActionError, ChanceError: it isn't possible here.
        """
        if self.pending is not None:
            if all(action != outcome for outcome, _ in self.outcomes):
                possible = ", ".join(
                    f"{outcome} ({OUTCOME_NAMES[outcome]})" for outcome, _ in self.outcomes
                )
                raise ChanceError(
                    f"chance can't decide {shown(action)} here, only {possible}", len(self.chance)
                )
            return self._played(self.pending, (*self.chance, action))
        if action not in self.legal:
            game = self.table.game
            game.rewind_unchecked(self.record)
            raise game.games.refusal(0, action, False)
        return self._played(action, ())

    def _played(self, action: int, chance: tuple[int, ...]) -> State:
        table, game = self.table, self.table.game
        outcomes = game.play_unchecked(self.record, action, chance)
        if outcomes:
            return State(
                table, self.record, self.steps, pending=action, chance=chance, outcomes=outcomes
            )
        seat = NONE if action == SETUP else self._actor()
        step = Step(seat, action, chance, game.event_rows(), game.position())
        return State.settled(table, game, (*self.steps, step))

    def _actor(self) -> int:
        """The seat that plays, or has played, the action."""
        return self.seat if self.pending is None else int(game_of(self.record)["seat"][0])

    # ---- what is told of it ----

    @property
    def num_players(self) -> int:
        """Number of seats."""
        return self.table.num_players

    @property
    def side(self) -> str:
        """Side of the board."""
        return self.table.side

    @property
    def max_turns(self) -> int:
        """END-5."""
        return self.table.max_turns

    @property
    def board(self) -> Board:
        """The board with its rings."""
        return self.table.board

    @property
    def is_over(self) -> bool:
        """Whether the game has ended or was truncated."""
        return self.seat == NONE and self.pending is None

    @property
    def events(self) -> list[Event]:
        """What has happened, the setup first; an action under way is there, what follows from it
        only when all is decided.
        """
        events = [event for step in self.steps for event in step.events(self.board)]
        return (
            events
            if self.pending in (None, SETUP)
            else [*events, action_event(self._actor(), self.pending)]
        )

    def information(self, seat: int) -> str:
        """:func:`skyenv.engine.information_state.information_state`, of which most was written for
        earlier positions.
        """
        board = self.board
        lines = [self.table.first_lines[seat], *[step.lines(board, seat) for step in self.steps]]
        if self.pending not in (None, SETUP):
            lines.append(event_line(action_event(self._actor(), self.pending)))
        return "\n".join(lines)

    def information_vector(self, seat: int, events: int) -> npt.NDArray[np.float32]:
        """:func:`skyenv.engine.information_state.information_tensor`, scaled; zeros before the
        setup is done.

        Raises:
            OptionError: more has happened than there is room for.
        """
        if not self.steps:
            return np.zeros(information_size(events), np.float32)
        try:
            return information_tensor(self, seat, events, scaled=True)
        except OptionError as error:
            raise OptionError(f"{error}; load the game with a larger parameter events") from None

    def observation(self, seat: int) -> npt.NDArray[np.float32]:
        """A seat's observation, float32 (OBSERVATION_SIZE,); while chance decides, that of the
        decision before.
        """
        observation: npt.NDArray[np.float32] = self.table.game.games.observe(
            seat, state=game_of(self.record).view(np.recarray)
        )[0]
        return observation

    def observation_text(self, seat: int) -> str:
        """The observation's entries that aren't 0, a line each: name and whole number."""
        codes = codes_of(self.observation(seat))
        return "\n".join(f"{_NAMES[entry]} {codes[entry]}" for entry in np.flatnonzero(codes))

    def returns(self) -> list[float]:
        """Every seat's outcome (:func:`skyenv.engine.kernels.outcome_of`); 0 before the end and in
        a truncated game.
        """
        game, players = game_of(self.record), self.num_players
        if not self.is_over or game["end"][0] == END_TRUNCATED:
            return [0.0] * players
        outcomes: list[float] = outcome_of(results(game)[0][0, :players], players).tolist()
        return outcomes

    def __str__(self) -> str:
        decided = ", ".join(OUTCOME_NAMES[outcome] for outcome in self.chance) or "nothing yet"
        if self.pending == SETUP:
            return f"The setup; chance has decided: {decided}"
        table = text(game_of(self.record).view(np.recarray)[0])
        if self.pending is None:
            return table
        played = f"Seat {self._actor()} has played: {ACTION_NAMES[self.pending]}"
        return f"{table}\n\n{played}; chance has decided: {decided}"


def replayed(
    table: Table,
    played: Iterable[tuple[int, Sequence[int]]],
    pending: int | None = None,
    chance: Sequence[int] = (),
) -> State:
    """Return the state after whole steps, each an action with what chance decided of it, and the
    beginning of another one.
    """
    state = table.start
    for action, decided in [*played, *([] if pending is None else [(pending, chance)])]:
        for number in [*([] if action == SETUP else [action]), *decided]:
            state = state.after(number)
    return state


_NAMES: Final = names()
