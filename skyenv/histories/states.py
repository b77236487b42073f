"""Immutable states of a game with explicit chance nodes, as OpenSpiel needs them.

Playing on creates a new state, so copies share one. A state holds the game's record at the last
decision of a seat, the current action while chance decides its consequences, and the steps that led
there.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from skyenv.array_types import Float32, RecordArray
from skyenv.checks import check_seat
from skyenv.engine.events import (
    Event,
    action_event,
    events_of,
    row_of,
    seen_by,
    setup_event,
)
from skyenv.engine.games import Games
from skyenv.engine.information import (
    event_line,
    first_line,
    in_one_vector,
    information_header,
    information_rows,
    information_size,
)
from skyenv.engine.observation import codes_of, names
from skyenv.engine.openings import numbers_of, openings, payoffs, task_name
from skyenv.engine.options import GameOptions
from skyenv.engine.results import results
from skyenv.engine.rewards import outcome_of
from skyenv.engine.simulator import SETUP, Simulator
from skyenv.errors import ChanceError, shown
from skyenv.render.text import text
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.board import Board
from skyenv.rules.components import BUSINESSES, CARD_VALUES, COLOURS
from skyenv.rules.event_log import EVENT_BLACK
from skyenv.rules.setup import blank_game
from skyenv.rules.state import END_TRUNCATED, GAME_DTYPE, NONE

OUTCOME_NAMES: Final = (
    *(f"card {value}" for value in CARD_VALUES),
    *(f"business {business}" for business in BUSINESSES),
    *(f"plot {colour}" for colour in COLOURS),
)
_NAMES: Final = names()


class HistoryTable:
    """The common data of all states of one kind of game; see :func:`table_of`.

    Attributes:
        options: the kind of game.
        draws_opening: whether chance first chooses an opening of a task, before its setup.
        start: the state before the setup, or before that choice.
        first_lines: the first line of every seat's information state.
    """

    def __init__(self, options: GameOptions) -> None:
        self.options = options
        self._local = threading.local()
        self.first_lines = [first_line(options, seat) for seat in range(options.num_players)]
        numbers = range(1)
        if options.task is None:
            blank = blank_game(options.num_players, options.board, options.max_turns)
        else:
            blank, numbers = openings(options.task), numbers_of(options.task)
        record = blank[:1].tobytes()
        self.draws_opening = len(numbers) > 1
        outcomes = (
            [(number, 1 / len(numbers)) for number in numbers]
            if self.draws_opening
            else self.simulator.play_unchecked(record, SETUP, ())
        )
        self.start = History(self, record, (), pending=SETUP, outcomes=outcomes)

    def __reduce__(self) -> tuple[Any, ...]:
        return table_of, (self.options,)

    @property
    def simulator(self) -> Simulator:
        """This thread's own simulator, as compiled code releases the GIL."""
        if not hasattr(self._local, "simulator"):
            batch = Games(1, seed=0, autoreset=False, observation=False, options=self.options)
            self._local.simulator = Simulator(batch)
        simulator: Simulator = self._local.simulator
        return simulator


@lru_cache(maxsize=128)
def table_of(options: GameOptions) -> HistoryTable:
    """Return the table for a kind of game."""
    return HistoryTable(options)


@dataclass(eq=False)
class HistoryStep:
    """An action, or the setup, with everything that followed.

    Attributes:
        board: the board.
        seat: the seat that played the action.
        action: its number, or SETUP.
        chance: numbers of its chance outcomes.
        rows: the events, as :meth:`skyenv.Game.event_rows` returns them.
        record: the game after it; in a resampled history only its public part is valid.
    """

    board: Board
    seat: int
    action: int
    chance: tuple[int, ...]
    rows: list[list[int]]
    record: bytes
    _lines: dict[int, str] = field(default_factory=dict, init=False)
    _numbers: dict[int, Float32] = field(default_factory=dict, init=False)

    @cached_property
    def events(self) -> list[Event]:
        """The events, as dictionaries of INTERFACE.md, the action first."""
        game = game_of(self.record)
        if self.action == SETUP:
            return [setup_event(game.view(np.recarray)[0])]
        return [
            action_event(self.seat, self.action),
            *events_of(self.rows, game, self.board),
        ]

    def lines(self, seat: int) -> str:
        """Return its lines in a seat's information state."""
        viewer = seat if self._is_private else NONE
        if viewer not in self._lines:
            self._lines[viewer] = "\n".join(map(event_line, seen_by(self.events, seat)))
        return self._lines[viewer]

    def numbers(self, seat: int, options: GameOptions) -> Float32:
        """Return its numbers in the vector of a seat's information state."""
        viewer = seat if self._is_private else NONE
        if viewer not in self._numbers:
            self._numbers[viewer] = (
                information_header(options, seat, self.events[0])
                if self.action == SETUP
                else information_rows(
                    [row_of(action_event(self.seat, self.action)), *self.rows], seat
                )
            )
        return self._numbers[viewer]

    @cached_property
    def _is_private(self) -> bool:
        """Whether it has hidden parts: first hands and black cards."""
        return self.action == SETUP or any(row[0] == EVENT_BLACK for row in self.rows)


def game_of(record: bytes) -> RecordArray:
    """Return a position's record as GAME_DTYPE (1,), read-only."""
    return np.frombuffer(record, GAME_DTYPE)


@dataclass(slots=True, eq=False)
class History:
    """An immutable state: a decision of a seat, a chance node, or the end.

    The class is not frozen, which would triple the time of creation.

    Attributes:
        table: the common data of all such games.
        record: the game at its last decision of a seat, GAME_DTYPE as bytes.
        steps: the steps that led there.
        seat: the seat to act; NONE if the game is over or chance decides.
        legal: numbers of its legal actions, ascending.
        pending: the action with chance outcomes left, SETUP, or None: a seat is to act, or the game
            is over.
        chance: its outcomes so far.
        outcomes: the next chance outcomes, (number, probability); empty if this is not a chance
            node.
        hidden: a cache of :func:`skyenv.histories.resampling.resampled`: hidden cards by seat.
    """

    table: HistoryTable
    record: bytes
    steps: tuple[HistoryStep, ...]
    seat: int = NONE
    legal: list[int] = field(default_factory=list)
    pending: int | None = None
    chance: tuple[int, ...] = ()
    outcomes: list[tuple[int, float]] = field(default_factory=list)
    hidden: dict[int, Any] = field(default_factory=dict)

    @staticmethod
    def settled(table: HistoryTable, game: Simulator, steps: tuple[HistoryStep, ...]) -> "History":
        """Return the state of a game in which a seat is to act, or which is over."""
        seat = int(game.batch.seat[0])
        return History(table, game.position(), steps, seat, game.legal_actions)

    def __deepcopy__(self, memo: dict[int, Any]) -> "History":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        steps = [(step.action, step.chance) for step in self.steps]
        pending = None if self.table.draws_opening else self.pending
        return replayed, (self.table, steps, pending, self.chance)

    # ---- playing on ----

    def after(self, action: int) -> "History":
        """Return the state after an action of the seat to act, or an outcome of chance.

        Raises:
            IllegalActionError, ChanceError: it is impossible here.
        """
        table, game, played = self.table, self.table.simulator, self.pending
        chance: tuple[int, ...] = ()
        if played is None:
            if action not in self.legal:
                game.rewind(self.record)
                raise game.batch.refusal(0, action, False)
            played = action
        else:
            if action not in dict(self.outcomes):
                possible = [f"{number} ({self.name_of(number)})" for number, _ in self.outcomes]
                message = f"chance can't decide {shown(action)} here, only {', '.join(possible)}"
                raise ChanceError(message, len(self.chance))
            if table.draws_opening:
                task = f"{task_name(str(table.options.task))}/{action}"
                return table_of(replace(table.options, task=task)).start
            chance = (*self.chance, action)
        outcomes = game.play_unchecked(self.record, played, chance)
        if outcomes:
            return History(
                table, self.record, self.steps, pending=played, chance=chance, outcomes=outcomes
            )
        seat, rows = self._actor(), game.event_rows()
        step = HistoryStep(game.board, seat, played, chance, rows, game.position())
        return History.settled(table, game, (*self.steps, step))

    def _actor(self) -> int:
        """The seat that plays, or has played, the action."""
        return self.seat if self.pending is None else int(game_of(self.record)["seat"][0])

    # ---- properties ----

    @property
    def task(self) -> str | None:
        """The opening of the task, such as "alea-4/7"; None: a whole game."""
        return self.table.options.task

    def name_of(self, outcome: int) -> str:
        """Return the name of a chance outcome by its number here."""
        return f"opening {outcome}" if self.table.draws_opening else OUTCOME_NAMES[outcome]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended or was truncated."""
        return self.seat == NONE and self.pending is None

    @property
    def events(self) -> list[Event]:
        """The events, the setup first; those after an unfinished action follow once it is
        complete.
        """
        return [*(event for step in self.steps for event in step.events), *self._under_way()]

    def _under_way(self) -> list[Event]:
        """Return the event of an unfinished action, if there is one."""
        if self.pending in (None, SETUP):
            return []
        return [action_event(self._actor(), self.pending)]

    def information(self, seat: int) -> str:
        """Return :func:`skyenv.engine.information.information_state`, mostly cached from earlier
        positions.
        """
        lines = [self.table.first_lines[seat], *[step.lines(seat) for step in self.steps]]
        return "\n".join([*lines, *map(event_line, self._under_way())])

    def information_vector(self, seat: int, events: int) -> Float32:
        """Return :func:`skyenv.engine.information.information_tensor`, mostly cached from
        earlier positions; zeros during the setup.

        Raises:
            OptionError: there are more events than room.
        """
        if not self.steps:
            return np.zeros(information_size(events), np.float32)
        options = self.table.options
        check_seat(seat, options.num_players)
        parts = [step.numbers(seat, options) for step in self.steps]
        under_way = information_rows(map(row_of, self._under_way()), seat)
        return in_one_vector([*parts, under_way], events)

    def observation(self, seat: int) -> Float32:
        """Return a seat's observation, float32 (OBSERVATION_SIZE,); at a chance node that of the
        decision before.
        """
        game = self.table.simulator
        return game.observation_in(self.record, seat)

    def observation_text(self, seat: int) -> str:
        """Return the observation's nonzero entries, a line each: name and code."""
        codes = codes_of(self.observation(seat))
        return "\n".join(f"{_NAMES[entry]} {codes[entry]}" for entry in np.flatnonzero(codes))

    def returns(self) -> list[float]:
        """Return every seat's outcome (:func:`skyenv.engine.rewards.outcome_of`), or its payoff in
        a task; 0 before the end and in a truncated game.
        """
        game, players, task = game_of(self.record), self.table.options.num_players, self.task
        if not self.is_over or game["end"][0] == END_TRUNCATED:
            return [0.0] * players
        if task is not None:
            return payoffs(task, game)
        return list(outcome_of(results(game)[0][0, :players], players).tolist())

    def __str__(self) -> str:
        decided = ", ".join(map(self.name_of, self.chance)) or "nothing yet"
        if self.table.draws_opening:
            return f"Task {self.task}; chance has not chosen an opening yet"
        if self.pending == SETUP:
            return f"The setup; chance has decided: {decided}"
        table = text(game_of(self.record).view(np.recarray)[0])
        if self.pending is None:
            return table
        played = f"Seat {self._actor()} has played: {ACTION_NAMES[self.pending]}"
        return f"{table}\n\n{played}; chance has decided: {decided}"


def replayed(
    table: HistoryTable,
    played: Iterable[tuple[int, Sequence[int]]],
    pending: int | None = None,
    chance: Sequence[int] = (),
) -> History:
    """Return the state after complete steps, each an action with its chance outcomes, and the
    opening of another one, as pickles and copies have it.
    """
    state = table.start
    for action, decided in [*played, *([] if pending is None else [(pending, chance)])]:
        for number in [*([] if action == SETUP else [action]), *decided]:
            state = state.after(number)
    return state
