"""A recorded game with all its positions."""

import io
from itertools import islice
from typing import Self

import numpy as np

from skyenv.analysis.choices import Path, is_incomplete
from skyenv.array_types import RecordArray
from skyenv.engine.events import Event
from skyenv.engine.game import Game
from skyenv.errors import OptionError
from skyenv.records import GameLines, nth_game
from skyenv.rules.state import GAME_DTYPE


class Recording:
    """A recorded game with all its positions.

    Args:
        lines: the game from the record reader.
        most: number of positions that are read; None: all.

    Attributes:
        game: the game at the end of the record.
        names: the agents' names by seat, as the record has them; "" for seats without a name.
        states: the positions, GAME_DTYPE (actions + 1,).
        events: the events of each step; those of step 0 are the setup.

    Raises:
        RecordError: a line is wrong.
    """

    def __init__(self, lines: GameLines, most: int | None = None) -> None:
        header = lines.header.value
        self.names: list[str] = header["agents"] or [""] * header["players"]
        self.events: list[list[Event]] = []
        states = []
        known = 0
        for self.game in islice(Game.positions(lines), most):
            states.append(np.array(self.game.state, GAME_DTYPE))
            self.events.append(self.game.events[known:])
            known = len(self.game.events)
        self.states: RecordArray = np.array(states, GAME_DTYPE)

    @classmethod
    def of(cls, record: str | bytes, number: int = 1) -> Self:
        """Return a game of a record, such as :meth:`skyenv.Game.to_record` returns, by its number.

        Raises:
            RecordError: a line is wrong. OptionError: there is no such game.
        """
        content = record.encode() if isinstance(record, str) else record
        return cls(nth_game(io.BytesIO(content), number))

    @property
    def steps(self) -> int:
        """Number of actions."""
        return len(self.states) - 1

    @property
    def players(self) -> int:
        """Number of seats."""
        return self.game.num_players

    def actions(self) -> list[int]:
        """Return the action of each step."""
        return [int(events[0]["action"]) for events in self.events[1:]]

    def choices(self) -> list[tuple[int, Path]]:
        """Return the whole choices (:mod:`skyenv.analysis.choices`): the first step of each, and
        its actions; an open decision has none.
        """
        played = self.actions()
        begin = np.flatnonzero(~is_incomplete(self.states)).tolist()
        ends = [*begin[1:], self.steps]
        return [(step, tuple(played[step:end])) for step, end in zip(begin, ends, strict=True)]

    def at(self, step: int) -> Game:
        """Return the game after `step` actions, without its events.

        Raises:
            OptionError: there is no such step.
        """
        game = self.game.copy()
        game.events = []
        game.rewind(self.states[[self.checked(step)]].tobytes())
        return game

    def checked(self, step: int) -> int:
        """Return the step after a check of its range.

        Raises:
            OptionError: there is no such step.
        """
        if not 0 <= step <= self.steps:
            raise OptionError(f"there is no step {step}: the game has {self.steps} actions")
        return step
