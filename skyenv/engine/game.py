"""One game as a comfortable handle."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_integer, check_seat
from skyenv.engine.chance_feed import SETUP, ChanceFeed, action_number
from skyenv.engine.events import Event, end_event
from skyenv.engine.events import Outcome as ChanceOutcome
from skyenv.engine.games import DEFAULT_MAX_TURNS, HIGHEST_SEED, fresh_seed
from skyenv.engine.knowledge import public_view, view
from skyenv.errors import IllegalActionError, OptionError, shown
from skyenv.records.format import as_text, header_of
from skyenv.records.reader import GameLines, nth_game
from skyenv.records.replay import begin, follow
from skyenv.rules.actions import ACTION_NAMES, ACTION_NUMBERS
from skyenv.rules.board import Board
from skyenv.rules.state import NONE, PHASES


@dataclass(frozen=True)
class Outcome:
    """How a game ended, and why (END-1 to END-5).

    Attributes:
        reason: ``"businesses"`` (BUS-5), ``"stops"`` (STOP-6) or ``"truncated"`` (END-5).
        winners: the seats that share the win, ascending (END-4; of a truncated game by the scores
            as they stand).
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
        board: a :class:`Board`, or the path of a board file, with other rings than the printed ones
            (COM-7, COM-9).
        max_turns: turns after which the game is truncated (END-5).
        chance: outcomes of the setup given from outside; see :func:`skyenv.engine.events.setup_outcomes`
            for their order.
        agent_seed: as for :class:`skyenv.Games`.

    Attributes:
        events: what has happened so far, as dictionaries of INTERFACE.md; the setup is the first.
        games: the batch of one game in which it is played: for agents, and for asking and deciding
            its chance one outcome at a time. What is played there is missing in `events`.
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
        agent_seed: int | None = None,
    ) -> None:
        first = fresh_seed() if seed is None else check_integer("seed", seed, 0, HIGHEST_SEED)
        self.games = ChanceFeed(
            num_players, side, first, board=board, max_turns=max_turns, agent_seed=agent_seed
        )
        self.events: list[Event] = self.games.set_up(first, chance)
        self._seed = first if self.games.is_seeded else None

    @property
    def state(self) -> np.record:
        """The live record, GAME_DTYPE.

        Whoever edits it calls :meth:`refresh` afterwards; the events then tell another game.
        """
        record: np.record = self.games.state[0]
        return record

    def refresh(self) -> None:
        """Bring plot values, mask and observation up to date after `state` was edited."""
        self.games.refresh()
        self.games.is_seeded = False
        self._seed = None

    @property
    def num_players(self) -> int:
        """Number of seats, 2 to 4."""
        return self.games.num_players

    @property
    def side(self) -> str:
        """Side of the board, ``"front"`` or ``"back"``."""
        return self.games.side

    @property
    def board(self) -> Board:
        """The board with its rings."""
        return self.games.board

    @property
    def max_turns(self) -> int:
        """Turns after which the game is truncated (END-5)."""
        return self.games.max_turns

    @property
    def seed(self) -> int | None:
        """The seed that has decided the game's chance; None if some of it came from outside, or
        `state` was edited.

        A game from a record has the record's seed if what the record tells is the chance of that
        seed.
        """
        return self._seed

    @property
    def seat(self) -> int | None:
        """The seat to act; None once the game is over."""
        seat = int(self.games.seat[0])
        return None if seat == NONE else seat

    @property
    def phase(self) -> str:
        """The decision that is open: start, option, plot, take, move, bid, build; or over."""
        return PHASES[int(self.state["phase"])]

    @property
    def turn(self) -> int:
        """Number of turns finished, all seats together."""
        return int(self.state["turns"])

    @property
    def turn_seat(self) -> int:
        """The seat whose turn it is."""
        return int(self.state["turn_seat"])

    @property
    def mask(self) -> npt.NDArray[np.int8]:
        """A copy of the action mask, int8 (103,): 1 for each legal action; zeros once the game is
        over.
        """
        mask: npt.NDArray[np.int8] = self.games.mask[0].copy()
        return mask

    @property
    def legal_actions(self) -> list[int]:
        """Numbers of the legal actions, ascending; empty once the game is over."""
        actions: list[int] = np.flatnonzero(self.games.mask[0]).tolist()
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
        scores: list[int] = self.state["score"][: self.num_players].tolist()
        return scores

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
        if not self.is_over:
            return None
        end = end_event(self.games.state)
        return Outcome(
            end["reason"], tuple(end["winners"]), tuple(end["scores"]), tuple(end["cards"])
        )

    def play(
        self, action: int | str, chance: Iterable[ChanceOutcome] = (), *, note_legal: bool = False
    ) -> list[Event]:
        """Play an action, and all that follows from it up to the next decision.

        Args:
            action: number or name of a legal action.
            chance: chance outcomes given from outside, in the order in which they are needed: cards
                as 4, 5 or 6, businesses by name. Those that are missing come from the game's own
                stream.
            note_legal: whether the action's event gets the field ``legal``, the actions that were
                legal.

        Returns:
            The events, the action itself first; they have been added to `events`.

        Raises:
            IllegalActionError: there is no such action or it isn't legal (GameOverError: the game
                is over).
            ChanceError: an outcome is impossible, or there are too many. In each case nothing has
                changed.
        """
        legal = self.legal_actions if note_legal else None
        new = self.games.play(self._number(action), chance)
        if legal is not None:
            new[0]["legal"] = legal
        self.events += new
        if not self.games.is_seeded:
            self._seed = None
        return new

    def chance_ahead(
        self, action: int | str, chance: Iterable[ChanceOutcome] = ()
    ) -> dict[ChanceOutcome, float]:
        """What chance decides next if an action is played, and how probable each outcome is;
        nothing is changed.

        With ``chance`` growing by one of the outcomes from call to call, the way to ``play(action,
        chance)`` is a walk through every chance node of the action. The probabilities are those of
        the position as it is, hidden cards included: a seat that wants its own asks a position that
        :func:`skyenv.engine.knowledge.resample` drew for it.

        Args:
            action: number or name of a legal action.
            chance: what chance has decided of it so far, as for :meth:`play`.

        Returns:
            The possible outcomes with their probabilities, above 0 and summing to 1; empty if
            nothing is left to decide.

        Raises:
            IllegalActionError, ChanceError: as for :meth:`play`.
        """
        return self.games.ahead(self._number(action), chance)

    @staticmethod
    def setup_chance(
        num_players: int = 2,
        side: str = "front",
        *,
        board: Board | str | Path | None = None,
        chance: Iterable[ChanceOutcome] = (),
    ) -> dict[ChanceOutcome, float]:
        """SET-1 to SET-5: what chance decides next while a game is set up; see
        :meth:`chance_ahead`.

        Once nothing is left, ``Game(num_players, side, board=board, chance=chance)`` is the game.

        Raises:
            OptionError, ChanceError: as for the constructor.
        """
        return ChanceFeed(num_players, side, 0, board=board).ahead(SETUP, chance)

    def _number(self, action: int | str) -> int:
        if isinstance(action, str):
            if action not in ACTION_NUMBERS:
                raise IllegalActionError(
                    f"no action is called {shown(action)}; for example 'option A' or 'take green'",
                    action,
                )
            return ACTION_NUMBERS[action]
        return action_number(action, " or a name")

    def observation(self, seat: int | None = None) -> npt.NDArray[np.float32]:
        """The observation of a seat, by default of the seat to act (of seat 0 once the game is
        over).

        Returns:
            A new array, float32 (OBSERVATION_SIZE,); see :mod:`skyenv.engine.observation`.
        """
        observation: npt.NDArray[np.float32] = self.games.observe(self._seat_or_actor(seat))[0]
        return observation

    def view(self, seat: int | None = None) -> np.record:
        """What a seat sees (by default the seat to act): a record of
        skyenv.engine.knowledge.VIEW_DTYPE.
        """
        record: np.record = view(self.games.state, self._seat_or_actor(seat))[0]
        return record

    def public_view(self) -> np.record:
        """What everybody knows, whoever looks on: a record of skyenv.engine.knowledge.VIEW_DTYPE."""
        record: np.record = public_view(self.games.state)[0]
        return record

    def _seat_or_actor(self, seat: int | None) -> int:
        if seat is None:
            return self.seat or 0
        return check_seat(seat, self.num_players)

    def copy(self) -> Self:
        """An independent game in the same position, which continues exactly as this one would."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = object.__new__(type(self))
        twin.games, twin._seed = self.games.copy(), self._seed
        twin.events = list(self.events)  # events are never changed, so copies may share them
        return twin

    def __eq__(self, other: object) -> bool:
        """Whether two games are in the same position, hidden cards and stream of chance
        included.
        """
        return isinstance(other, Game) and self.games.position() == other.games.position()

    __hash__ = None  # type: ignore[assignment]  # a game changes while it is played

    def header(self, agents: Sequence[str] | None = None) -> Event:
        """The first line of the game's record.

        Args:
            agents: a name for each seat.

        Raises:
            OptionError: `agents` is not one text per seat.
        """
        return header_of(self.board, self.num_players, self.max_turns, self.seed, agents)

    def to_record(self, agents: Sequence[str] | None = None) -> str:
        """The game so far as JSON Lines (INTERFACE.md, "A game record"), ending in a newline.

        Args:
            agents: a name for each seat.

        Raises:
            OptionError: `agents` is not one text per seat.
        """
        return as_text(self.header(agents), self.events)

    @classmethod
    def from_record(cls, text: str, game: int = 1, step: int | None = None) -> Self:
        """The position of a recorded game, replayed with the chance that the record tells.

        Args:
            text: the record.
            game: which game of the record, counted from 1.
            step: number of actions to replay; None means all.

        Raises:
            RecordError: the record is damaged, or the rules don't allow what it tells.
            OptionError: there is no such game or step.
        """
        return cls.replay(nth_game(io.StringIO(text, newline="\n"), game), step)

    @classmethod
    def replay(cls, lines: GameLines, step: int | None = None) -> Self:
        """The game that a record's lines tell of, every line checked.

        Args:
            lines: one game of :func:`skyenv.records.iter_games`, none of whose events have been
                read yet.
            step: stop after this many actions; what comes behind them is not looked at. None: play
                all there are.

        Returns:
            The game in the position reached. With `step` None that needn't be its end: an
            unfinished game has a record too.

        Raises:
            RecordError: a line is wrong in itself or differs from what the rules give; it says
                which and how.
            OptionError: `step` is negative or more than the actions of the game.
        """
        if step is not None and step < 0:
            raise OptionError(f"step must be 0 or more, not {step}")
        reached = islice(cls.positions(lines), None if step is None else step + 1)
        game = next(reached)
        actions = sum(1 for _ in reached)
        if step is not None and actions < step:
            raise OptionError(f"there is no step {step}: the game has {actions} actions")
        return game

    @classmethod
    def positions(cls, lines: GameLines) -> Iterator[Self]:
        """The game that the lines tell of, step by step: always the same object, after its setup
        and after every action.

        Args:
            lines: as for :meth:`replay`.

        Raises:
            RecordError: as for :meth:`replay`, when the line is reached.
        """
        game = object.__new__(cls)
        game.games, game.events = begin(lines)
        for events in chain([[]], follow(game.games, lines)):
            game.events += events
            game._seed = lines.header.value["seed"] if game.games.is_seeded else None
            yield game

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
