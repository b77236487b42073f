"""One game as a comfortable handle."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv import events as happened
from skyenv.errors import ChanceError, IllegalActionError, OptionError, shown
from skyenv.events import Event
from skyenv.events import Outcome as ChanceOutcome
from skyenv.games import DEFAULT_MAX_TURNS, HIGHEST_SEED, Games, check_integer, fresh_seed
from skyenv.knowledge import view
from skyenv.rules.actions import ACTION_NAMES, ACTION_NUMBERS
from skyenv.rules.board import Board, make_board
from skyenv.rules.components import DISTRICTS
from skyenv.rules.state import NONE, PHASES


@dataclass(frozen=True)
class Outcome:
    """How a game ended, and why (END-1 to END-5).

    Attributes:
        reason: ``"businesses"`` (BUS-5), ``"stops"`` (STOP-6) or ``"truncated"`` (END-5).
        winners: the seats that share the win, ascending (END-4; of a truncated game by the scores as they stand).
        scores: VP of every seat.
        cards: cards in every seat's hand.
    """

    reason: str
    winners: tuple[int, ...]
    scores: tuple[int, ...]
    cards: tuple[int, ...]


class Game:
    """One game of Fifth Avenue.

    >>> game = Game(num_players=3, seed=7)
    >>> while not game.is_over:
    ...     events = game.play(game.legal_actions[0])

    Args:
        num_players: 2 to 4.
        side: side of the board, ``"front"`` or ``"back"``.
        seed: decides all chance in the game, 0 to 2⁶³−1; None takes one from the operating system.
        board: a :class:`Board`, or the path of a board file, with other rings than the printed ones (COM-7, COM-9).
        max_turns: turns after which the game is truncated (END-5).
        chance: outcomes of the setup given from outside; see :func:`skyenv.events.setup_outcomes` for their order.

    Attributes:
        events: what has happened so far, as dictionaries of INTERFACE.md; the setup is the first.
    """

    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        seed: int | None = None,
        *,
        board: Board | str | Path | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        chance: Iterable[ChanceOutcome] = (),
    ) -> None:
        chance = list(chance)
        first = fresh_seed() if seed is None else check_integer("seed", seed, 0, HIGHEST_SEED)
        self._games = Games(1, num_players, side, first, board=board, max_turns=max_turns, autoreset=False)
        if chance:
            self._set_up(first, chance)
        self._start_events()

    @classmethod
    def from_setup(cls, header: Event, setup: Event) -> Game:
        """A game in the first position that a record's header and setup describe; both have been checked for their form.

        Raises:
            ChanceError: such a setup can't be: a card or a tile is there too often, or SET-1 is broken.
            BoardError: the rings are wrong.
        """
        rings = dict(zip(DISTRICTS, header["rings"], strict=True))
        game = object.__new__(cls)
        game._games = Games(
            1,
            header["players"],
            header["side"],
            0,
            board=make_board(header["side"], rings),
            max_turns=header["max_turns"],
            autoreset=False,
        )
        game._set_up(NONE, happened.setup_outcomes(setup, header["side"]))
        game._state["seed"] = NONE if header["seed"] is None else header["seed"]
        game._start_events()
        return game

    def _set_up(self, seed: int, chance: Sequence[ChanceOutcome]) -> None:
        games = self._games
        happened.feed(games._tape, chance)
        games._reset(games._all_rows, np.array([seed], np.int64), games._tape)
        happened.check_fed(games._tape, chance)

    def _start_events(self) -> None:
        self._games._tape["recording"] = 1
        self.events: list[Event] = [happened.setup_event(self.state)]

    @property
    def _state(self) -> npt.NDArray[np.void]:
        return self._games._state

    @property
    def state(self) -> np.record:
        """The live record, GAME_DTYPE. Whoever edits it calls :meth:`refresh` afterwards; the events then tell another game."""
        record: np.record = self._games.state[0]
        return record

    def refresh(self) -> None:
        """Bring plot values, mask and observation up to date after `state` was edited."""
        self._games.refresh()

    @property
    def num_players(self) -> int:
        """Number of seats, 2 to 4."""
        return self._games.num_players

    @property
    def side(self) -> str:
        """Side of the board, ``"front"`` or ``"back"``."""
        return self._games.side

    @property
    def board(self) -> Board:
        """The board with its rings."""
        return self._games.board

    @property
    def max_turns(self) -> int:
        """Turns after which the game is truncated (END-5)."""
        return self._games.max_turns

    @property
    def seed(self) -> int | None:
        """The game's seed; None if it came from a record without one."""
        seed = int(self._state["seed"][0])
        return None if seed == NONE else seed

    @property
    def seat(self) -> int | None:
        """The seat to act; None once the game is over."""
        seat = int(self._state["seat"][0])
        return None if seat == NONE else seat

    @property
    def phase(self) -> str:
        """The decision that is open: start, option, plot, take, move, bid, build; or over."""
        return PHASES[int(self._state["phase"][0])]

    @property
    def turn(self) -> int:
        """Number of turns finished, all seats together."""
        return int(self._state["turns"][0])

    @property
    def turn_seat(self) -> int:
        """The seat whose turn it is."""
        return int(self._state["turn_seat"][0])

    @property
    def mask(self) -> npt.NDArray[np.int8]:
        """A copy of the action mask, int8 (103,): 1 for each legal action; zeros once the game is over."""
        mask: npt.NDArray[np.int8] = self._games.mask[0].copy()
        return mask

    @property
    def legal_actions(self) -> list[int]:
        """Numbers of the legal actions, ascending; empty once the game is over."""
        actions: list[int] = np.flatnonzero(self._games.mask[0]).tolist()
        return actions

    @property
    def legal_names(self) -> list[str]:
        """Names of the legal actions, in the order of their numbers."""
        return [ACTION_NAMES[action] for action in self.legal_actions]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended or was truncated."""
        return self.seat is None

    @property
    def scores(self) -> list[int]:
        """VP of every seat."""
        scores: list[int] = self._state["score"][0, : self.num_players].tolist()
        return scores

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
        if not self.is_over:
            return None
        end = happened.end_event(self._state)
        return Outcome(end["reason"], tuple(end["winners"]), tuple(end["scores"]), tuple(end["cards"]))

    def play(self, action: int | str, chance: Iterable[ChanceOutcome] = ()) -> list[Event]:
        """Play an action, and all that follows from it up to the next decision.

        Args:
            action: number or name of a legal action.
            chance: chance outcomes given from outside, in the order in which they are needed: cards as 4, 5 or 6, businesses by
                name. Those that are missing come from the game's own stream.

        Returns:
            The events, the action itself first; they have been added to `events`.

        Raises:
            IllegalActionError: there is no such action or it isn't legal (GameOverError: the game is over).
            ChanceError: an outcome is impossible, or there are too many. In each case nothing has changed.
        """
        games = self._games
        chance = list(chance)
        number = self._number(action)
        before = games._state.copy()
        happened.feed(games._tape, chance)
        seat = int(before["seat"][0])
        games.step(np.array([number], np.int64))
        try:
            happened.check_fed(games._tape, chance)
        except ChanceError:
            games._state[:] = before
            games.refresh()
            raise
        following = happened.read_tape(games._tape, games._state, games.board)
        new = [happened.action_event(seat, number), *following]
        self.events += new
        return new

    def chance_ahead(self, action: int | str, chance: Iterable[ChanceOutcome] = ()) -> dict[ChanceOutcome, float]:
        """What chance decides next if an action is played, and how probable each outcome is; nothing is changed.

        With ``chance`` growing by one of the outcomes from call to call, the way to ``play(action, chance)`` is a walk through
        every chance node of the action. The probabilities are those of the position as it is, hidden cards included: a seat
        that wants its own asks a position that :func:`skyenv.knowledge.resample` drew for it.

        Args:
            action: number or name of a legal action.
            chance: what chance has decided of it so far, as for :meth:`play`.

        Returns:
            The possible outcomes with their probabilities, above 0 and summing to 1; empty if nothing is left to decide.

        Raises:
            IllegalActionError, ChanceError: as for :meth:`play`.
        """
        number = self._number(action)
        return _asked(self._games.copy(), chance, lambda games: games.step(np.array([number], np.int64)))

    @staticmethod
    def setup_chance(
        num_players: int = 2,
        side: str = "front",
        *,
        board: Board | str | Path | None = None,
        chance: Iterable[ChanceOutcome] = (),
    ) -> dict[ChanceOutcome, float]:
        """SET-1 to SET-5: what chance decides next while a game is set up; see :meth:`chance_ahead`.

        Once nothing is left, ``Game(num_players, side, board=board, chance=chance)`` is the game.

        Raises:
            OptionError, ChanceError: as for the constructor.
        """
        games = Games(1, num_players, side, 0, board=board, autoreset=False)
        return _asked(games, chance, lambda games: games._reset(games._all_rows, np.array([0], np.int64), games._tape))

    def _number(self, action: int | str) -> int:
        if isinstance(action, str):
            if action not in ACTION_NUMBERS:
                raise IllegalActionError(f"no action is called {shown(action)}; for example 'option A' or 'take green'", action)
            return ACTION_NUMBERS[action]
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool) and abs(int(action)) < 2**62:
            return int(action)
        raise IllegalActionError(f"an action is a number from 0 to 102 or a name, not {shown(action)}", action)

    def observation(self, seat: int | None = None) -> npt.NDArray[np.float32]:
        """The observation of a seat, by default of the seat to act (of seat 0 once the game is over).

        Returns:
            A new array, float32 (OBSERVATION_SIZE,); see :mod:`skyenv.observation`.
        """
        observation: npt.NDArray[np.float32] = self._games.observe(self._seat_or_actor(seat))[0]
        return observation

    def view(self, seat: int | None = None) -> np.record:
        """What a seat sees (by default the seat to act): a record of skyenv.knowledge.VIEW_DTYPE."""
        seen: np.record = view(self._state, self._seat_or_actor(seat))[0]
        return seen

    def _seat_or_actor(self, seat: int | None) -> int:
        if seat is None:
            return self.seat or 0
        if not isinstance(seat, (int, np.integer)) or not 0 <= seat < self.num_players:
            raise OptionError(f"seat must be from 0 to {self.num_players - 1}, not {shown(seat)}")
        return int(seat)

    def copy(self) -> Game:
        """An independent game in the same position, which continues exactly as this one would."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        twin = object.__new__(type(self))
        twin._games = self._games.copy()
        twin.events = list(self.events)  # events are never changed, so copies may share them
        return twin

    def __eq__(self, other: object) -> bool:
        """Whether two games are in the same position, hidden cards and stream of chance included."""
        return isinstance(other, Game) and self._state.tobytes() == other._state.tobytes()

    __hash__ = None  # type: ignore[assignment]  # a game changes while it is played

    def header(self, agents: Sequence[str] | None = None) -> Event:
        """The first line of the game's record."""
        return {
            "format": "skyenv-record",
            "version": 1,
            "players": self.num_players,
            "side": self.side,
            "rings": [list(ring) for ring in self.board.rings],
            "max_turns": self.max_turns,
            "seed": self.seed,
            "agents": None if agents is None else list(agents),
        }

    def to_record(self, agents: Sequence[str] | None = None) -> str:
        """The game so far as JSON Lines (INTERFACE.md, "A game record").

        Args:
            agents: a name for each seat.
        """
        from skyenv import record

        return record.dumps(self, agents)

    @classmethod
    def from_record(cls, text: str, game: int = 1, step: int | None = None) -> Game:
        """The position of a recorded game, replayed with the chance that the record tells.

        Args:
            text: the record.
            game: which game of the record, counted from 1.
            step: number of actions to replay; None means all.

        Raises:
            RecordError: the record is damaged, or the rules don't allow what it tells.
        """
        from skyenv import record

        return record.loads(text, game, step)

    def __str__(self) -> str:
        from skyenv.render.text import text

        return text(self.state)

    def _repr_svg_(self) -> str:
        """What a notebook shows: the whole table, all hands open, with what may be chosen."""
        from skyenv.render.svg import svg

        return svg(self.state, events=self.events, legal=self.mask)

    def __repr__(self) -> str:
        now = "over" if self.is_over else f"seat {self.seat}, {self.phase}"
        return f"Game(num_players={self.num_players}, side={self.side!r}, seed={self.seed}) <turn {self.turn}: {now}>"


def _asked(games: Games, chance: Iterable[ChanceOutcome], play: Callable[[Games], None]) -> dict[ChanceOutcome, float]:
    """What chance has to decide in a single game while it is played on, after `chance`; the game is used up."""
    given = list(chance)
    happened.feed(games._tape, given)
    happened.ask(games._tape)
    play(games)
    happened.check_fed(games._tape, given)
    return happened.asked(games._tape)
