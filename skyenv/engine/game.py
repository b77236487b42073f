"""A single game, with its events, records and chance outcomes."""

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Self, Unpack

import numpy as np

from skyenv.array_types import Float32, Int8, RecordArray
from skyenv.checks import check_integer, check_seat, checks_names
from skyenv.engine.events import (
    ChanceOutcome,
    Event,
    action_event,
    end_event,
    events_of,
    setup_event,
)
from skyenv.engine.games import Games
from skyenv.engine.knowledge import public_view, resample, view
from skyenv.engine.openings import opening_of, payoffs
from skyenv.engine.options import GameKeywords, GameOptions, options_of
from skyenv.engine.simulator import OUTCOMES, SETUP, Simulator, outcome_numbers
from skyenv.errors import ChanceError, IllegalActionError, OptionError, shown
from skyenv.rules.actions import ACTION_NAMES, ACTION_NUMBERS, NUM_ACTIONS
from skyenv.rules.state import NONE, PHASES
from skyenv.seeds import HIGHEST_SEED, fresh_seed

if TYPE_CHECKING:
    from skyenv.records.reader import GameLines


def action_number(action: object) -> int:
    """Return the number of an action given by number or name; the number may be out of range.

    Raises:
        IllegalActionError: it is neither an integer nor an action's name.
    """
    if isinstance(action, str) and action in ACTION_NUMBERS:
        return ACTION_NUMBERS[action]
    right = f"a number from 0 to {NUM_ACTIONS - 1} or a name such as 'take green'"
    return check_integer(
        "action",
        action,
        -HIGHEST_SEED,
        HIGHEST_SEED,
        lambda _: IllegalActionError(f"an action is {right}, not {shown(action)}", action),
    )


@dataclass(frozen=True)
class Outcome:
    """The outcome of a game (END-1 to END-5).

    Attributes:
        reason: ``"businesses"`` (BUS-5), ``"stops"`` (STOP-6), ``"truncated"`` (END-5) or
            ``"task"``: the last auction of a task is over.
        winners: the seats that share the win, ascending (END-4; of a truncated game by the scores
            as they stand).
        scores: VP of every seat.
        cards: cards in every seat's hand.
    """

    reason: str
    winners: tuple[int, ...]
    scores: tuple[int, ...]
    cards: tuple[int, ...]


class Game(Simulator):
    """A single game of Fifth Avenue.

    >>> game = Game(num_players=3, seed=7)
    >>> while not game.is_over:
    ...     events = game.play(game.legal_actions[0])

    Args:
        num_players: 2 to 4.
        side: side of the board, ``"front"`` or ``"back"``.
        seed: decides all chance outcomes, 0 to 2⁶³−1; None takes one from the operating system.
        chance: forced outcomes of the setup; see :func:`skyenv.engine.events.setup_outcomes` for
            their order.
        agent_seed: as for :class:`skyenv.Games`.
        options: ``board``, ``max_turns``, ``reward`` and ``task`` of :class:`skyenv.GameOptions`;
            or a complete object as ``options``, which also replaces `num_players` and `side`.

    Attributes:
        events: the events so far, as dictionaries of INTERFACE.md. The first is ``setup``, in a
            task ``deal`` with the hidden cards. A task's ``end`` has every seat's ``payoff``,
            whatever the reward.
        seed: the seed that decided all chance outcomes; None if some were forced or `state` was
            edited. A game from a record has the record's seed if the recorded outcomes are those of
            that seed.
        state: the live record, GAME_DTYPE; call :meth:`refresh` after editing it. The events then
            no longer match it.
        options: the kind of game, a :class:`skyenv.GameOptions`. For a task it names the opening
            that the seed selected, such as ``"alea-4/7"``.
        num_players, side, board, max_turns: those of `options`.
        batch: the batch of one game behind this object, for agents. Actions played there are
            missing in `events`.

    Raises:
        OptionError: an option has a wrong value.
        BoardError: the board file is wrong.
        ChanceError: an outcome is impossible, or there are too many.
    """

    seed: int | None

    @checks_names("Game()", GameKeywords)
    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        seed: int | None = None,
        *,
        chance: Iterable[ChanceOutcome] = (),
        agent_seed: int | None = None,
        **options: Unpack[GameKeywords],
    ) -> None:
        first = fresh_seed() if seed is None else check_integer("seed", seed, 0, HIGHEST_SEED)
        game = options_of(num_players, side, **options)
        if game.task is not None:
            game = replace(game, task=opening_of(game.task, first))
        games = Games(
            1, seed=first, autoreset=False, observation=False, agent_seed=agent_seed, options=game
        )
        numbers = outcome_numbers(chance)
        self.__setstate__((games, None if numbers else first, []))
        self._force(numbers)
        self._deal(first)
        self._check_forced(numbers)
        self.events.append(setup_event(self.state))

    def refresh(self) -> None:
        """Bring plot values, mask and observation up to date after `state` was edited.

        Raises:
            OptionError: the state is invalid (:func:`skyenv.engine.validation.check_positions`);
                nothing has changed.
        """
        self.batch.refresh()
        self.seed = None

    @property
    def seat(self) -> int | None:
        """The seat to act; None once the game is over."""
        seat = int(self.batch.seat[0])
        return None if seat == NONE else seat

    @property
    def phase(self) -> str:
        """The kind of decision to take: start, option, plot, take, move, bid, build; or over."""
        return PHASES[int(self.state["phase"])]

    @property
    def turn(self) -> int:
        """Number of turns finished, all seats together."""
        return int(self.state["turns"])

    @property
    def mask(self) -> Int8:
        """A copy of the action mask, int8 (103,): 1 for each legal action; zeros once the game is
        over.
        """
        return self.batch.mask[0].copy()

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
        return self.state["score"][: self.num_players].tolist()

    @property
    def outcome(self) -> Outcome | None:
        """The result of the game; None while it goes on."""
        if not self.is_over:
            return None
        end = end_event(self.batch.state)
        return Outcome(
            end["reason"], tuple(end["winners"]), tuple(end["scores"]), tuple(end["cards"])
        )

    def play(self, action: int | str, chance: Iterable[ChanceOutcome] = ()) -> list[Event]:
        """Play an action, and everything that follows up to the next decision.

        Args:
            action: number or name of a legal action.
            chance: forced chance outcomes, in the order in which they are needed: cards as 4, 5 or
                6, businesses by name. Further outcomes come from the game's own stream.

        Returns:
            The new events, the action itself first; they are also appended to `events`.

        Raises:
            IllegalActionError: there is no such action or it isn't legal (GameOverError: the game
                is over).
            ChanceError: an outcome is impossible, or there are too many. In each case nothing has
                changed.
        """
        number, numbers = action_number(action), outcome_numbers(chance)
        with self.batch.lock:
            if not 0 <= number < NUM_ACTIONS or not self._arrays.slots[0]["legal"][number]:
                raise self.batch.refusal(0, number)
            before, seat = self.position(), int(self._arrays.seat[0])
            self._force(numbers)
            self._play_one(number)
            try:
                self._check_forced(numbers)
            except ChanceError:
                self._put(before)
                raise
            later = events_of(self.event_rows(), self._arrays.state, self.board)
        new = [action_event(seat, number), *later]
        if self.is_over and self.options.task is not None:
            new[-1]["payoff"] = payoffs(self.options.task, self._arrays.state)
        if numbers:
            self.seed = None
        self.events += new
        return new

    def chance_ahead(
        self, action: int | str, chance: Iterable[ChanceOutcome] = ()
    ) -> dict[ChanceOutcome, float]:
        """Return the possible next chance outcomes of an action with their probabilities; nothing
        is changed.

        Appending one outcome to ``chance`` per call walks through all chance nodes of the action,
        up to ``play(action, chance)``. The probabilities are those of the true position, hidden
        cards included. For a seat's own probabilities, use a determinization
        (:func:`skyenv.engine.knowledge.resample`).

        Args:
            action: number or name of a legal action, or SETUP.
            chance: the outcomes of the action so far, as for :meth:`play`.

        Returns:
            The possible outcomes with their probabilities, above 0 and summing to 1; empty if no
                chance node is left.

        Raises:
            IllegalActionError, ChanceError: as for :meth:`play`.
        """
        if action == SETUP:
            twin = Game(seed=0, chance=chance, options=self.options)
        else:
            twin = self.copy()
            twin.play(action, chance)
        return {OUTCOMES[number]: probability for number, probability in twin.chance_node()}

    # ---- views ----

    def observation(self, seat: int | None = None) -> Float32:
        """Return the observation of a seat, by default of the seat to act (seat 0 once the game is
        over).

        Returns:
            A new array, float32 (OBSERVATION_SIZE,); see :mod:`skyenv.engine.observation`.
        """
        whose = (self.seat or 0) if seat is None else check_seat(seat, self.num_players)
        return self._observed(whose)

    def view(self, seat: int | None = None) -> np.record:
        """Return the view of a seat (by default the seat to act), a record of
        skyenv.engine.knowledge.VIEW_DTYPE.
        """
        return view(self.batch.state, (self.seat or 0) if seat is None else seat)[0]

    def public_view(self) -> np.record:
        """Return the public view of the game, a record of skyenv.engine.knowledge.VIEW_DTYPE."""
        return public_view(self.batch.state)[0]

    # ---- other positions ----

    @classmethod
    def of(cls, state: RecordArray | np.record, options: GameOptions | None = None) -> Self:
        """Return a game that plays on from a position; its `events` are those from there on.

        Args:
            state: the position, a record of GAME_DTYPE or an array of one, such as a
                determinization (:func:`skyenv.engine.knowledge.resample`). It is copied.
            options: the kind of game; None: as for :meth:`skyenv.Games.of`.

        Raises:
            OptionError: it is not one position, or it is invalid
                (:func:`skyenv.engine.validation.check_positions`).
        """
        games = Games.of(np.atleast_1d(state), options)
        if games.num_games != 1:
            raise OptionError(f"a game has one position, not {games.num_games}; see Games.of")
        game = object.__new__(cls)
        game.__setstate__((games, None, []))
        return game

    def determinize(self, seed: int, seat: int | None = None) -> Self:
        """Return the game in a determinization: as a seat (by default the seat to act) may take it
        to be, with all cards that it can't locate dealt anew (INF-2).

        Args:
            seed: decides the deal, 0 to 2⁶³−1, and what chance brings later.
            seat: the seat.
        """
        return type(self).of(resample(self.view(seat), [seed]), self.options)

    # ---- copies and records ----

    def copy(self) -> Self:
        """Return an independent game in the same position, which continues exactly as this one."""
        twin = object.__new__(type(self))
        twin.__setstate__((self.batch.copy(), self.seed, self.events))
        return twin

    def __getstate__(self) -> tuple[Games, int | None, list[Event]]:
        return self.batch, self.seed, self.events

    def __setstate__(self, parts: tuple[Games, int | None, list[Event]]) -> None:
        batch, self.seed, events = parts
        super().__init__(batch)
        self.events = list(events)  # events are immutable, so copies share them

    def __eq__(self, other: object) -> bool:
        """Whether two games are in the same position, hidden cards and stream of chance
        included.
        """
        return isinstance(other, Game) and self.position() == other.position()

    __hash__ = None  # type: ignore[assignment]  # a game changes while it is played

    def header(self, agents: Sequence[str] | None = None) -> Event:
        """Return the first line of the game's record.

        Args:
            agents: a name for each seat.

        Raises:
            OptionError: `agents` is not one text per seat.
        """
        from skyenv.records.format import header_of

        return header_of(self.options, self.seed, agents)

    def to_record(self, agents: Sequence[str] | None = None) -> str:
        """Return the game so far as JSON Lines (INTERFACE.md, "A game record"), ending in a
        newline; tasks have a separate format (docs/benchmark.md).

        Args:
            agents: a name for each seat.

        Raises:
            OptionError: `agents` is not one text per seat, or the game began in a position
                (:meth:`of`), so its setup is unknown.
        """
        from skyenv.records.format import as_text

        if not self.events or self.events[0]["event"] not in ("setup", "deal"):
            raise OptionError("a game that began in a position has no record: no setup")
        return as_text(self.header(agents), self.events)

    @staticmethod
    def from_record(text: str, game: int = 1, step: int | None = None) -> "Game":
        """Return a recorded game, replayed with the recorded chance outcomes.

        Args:
            text: the record.
            game: number of the game in the record, counted from 1.
            step: number of actions to replay; None means all.

        Raises:
            RecordError: the record is damaged or contradicts the rules.
            OptionError: there is no such game or step.
        """
        from skyenv.records.reader import nth_game

        return Game.replay(nth_game(io.StringIO(text, newline="\n"), game), step)

    @staticmethod
    def replay(lines: "GameLines", step: int | None = None) -> "Game":
        """Replay a game from the lines of its record, checking every line.

        Args:
            lines: one game of :func:`skyenv.records.iter_games`, with unread events.
            step: stop after this many actions, without reading on; None: replay all.

        Returns:
            The game in the position reached, which may be unfinished even with `step` None.

        Raises:
            RecordError: a line is invalid or contradicts the rules; the message names it and the
                fault.
            OptionError: `step` is negative or more than the actions of the game.
        """
        if step is not None and step < 0:
            raise OptionError(f"step must be 0 or more, not {step}")
        reached = islice(Game.positions(lines), None if step is None else step + 1)
        game = next(reached)
        actions = sum(1 for _ in reached)
        if step is not None and actions < step:
            raise OptionError(f"there is no step {step}: the game has {actions} actions")
        return game

    @staticmethod
    def positions(lines: "GameLines") -> "Iterator[Game]":
        """Yield a recorded game after its setup and after every action, always the same object.

        Args:
            lines: as for :meth:`replay`.

        Raises:
            RecordError: as for :meth:`replay`, when the line is reached.
        """
        from skyenv.records.replay import begin, follow

        game = begin(lines)
        yield game
        for _ in follow(game, lines):
            yield game

    def __str__(self) -> str:
        from skyenv.render.text import text

        return text(self.state)

    def _repr_svg_(self) -> str:
        """Return a picture for notebooks: the whole table, all hands open, with the legal
        actions.
        """
        from skyenv.render.svg import svg

        return svg(self.state, events=self.events, legal=self.mask)
