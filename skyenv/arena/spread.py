"""An evaluation's games side by side in workers: some paired seeds against an opponent at a time.

The games are those that one process plays: seeds decide them, and not who plays them or beside which others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np

from skyenv.agents import ReportingAgent
from skyenv.arena.matches import Played, Progress, play_games, rotations
from skyenv.arena.schedule import Entrant
from skyenv.arena.units import Interrupt, number_of_workers, run_units
from skyenv.errors import AgentError

UNITS: Final = 8
"""For each worker, of all opponents together: enough that none is idle for long in the end."""
LARGEST: Final = 256
"""Paired seeds of a unit at most."""


@dataclass(frozen=True)
class Evaluation:
    """What is played, by what :func:`skyenv.arena.evaluate.evaluate` is told.

    Attributes:
        entrants: first who is measured, then the opponents. The others: as for that function.
    """

    entrants: tuple[Entrant, ...]
    num_players: int
    side: str
    paired_seeds: int
    seed: int
    max_turns: int
    secret: int | None
    deterministic: bool

    def units(self, workers: int) -> list[Unit]:
        """All of its units, for so many workers."""
        opponents = range(1, len(self.entrants))
        size = -(-self.paired_seeds * len(opponents) // (UNITS * workers))
        size = min(size, self.paired_seeds, LARGEST)
        return [
            Unit(opponent, first, min(first + size, self.paired_seeds))
            for opponent in opponents
            for first in range(0, self.paired_seeds, size)
        ]

    def games(self, unit: Unit) -> Played:
        """A unit's games, none of them finished; paired seed by paired seed, once from each seat."""
        seeds = np.repeat(np.arange(self.seed + unit.first, self.seed + unit.end), self.num_players)
        return Played(seeds, rotations(self.num_players, unit.end - unit.first))

    def about(self, unit: Unit) -> str:
        """What a unit of one paired seed is."""
        agent, opponent = self.entrants[0].name, self.entrants[unit.opponent].name
        return f"{agent} played paired seed {self.seed + unit.first} against {opponent}"


@dataclass(frozen=True)
class Unit:
    """Paired seeds from `first` up to `end`, counted from 0, against an opponent."""

    opponent: int
    first: int
    end: int

    def parts(self) -> list[Unit]:
        """A unit for each paired seed."""
        return [Unit(self.opponent, one, one + 1) for one in range(self.first, self.end)]


class Player:
    """Plays units in a worker; the agents are made when they are first needed."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._agents: dict[int, ReportingAgent] = {}

    def __call__(self, unit: Unit) -> Played:
        """The games of a unit.

        Raises:
            AgentError, CheckpointError: an agent can't be made, failed, or its checkpoint is another one here.
        """
        evaluation, games = self._evaluation, self._evaluation.games(unit)
        agents = [self._agent(index) for index in (0, unit.opponent)]
        played = play_games(
            agents, games.seating, games.seeds, evaluation.side, max_turns=evaluation.max_turns, secret=evaluation.secret
        )
        if played.interrupted:  # Ctrl-C isn't heard here
            raise AgentError(f"agent {agents[0].name} or {agents[1].name} raised KeyboardInterrupt")
        return played

    def _agent(self, index: int) -> ReportingAgent:
        if index not in self._agents:
            made = self._evaluation.entrants[index].make(deterministic=self._evaluation.deterministic)
            self._agents[index] = ReportingAgent(made)
        return self._agents[index]


_player_of = lru_cache(1)(Player)


def _play(evaluation: Evaluation, unit: Unit) -> Played:
    return _player_of(evaluation)(unit)


def play_in_workers(evaluation: Evaluation, workers: int, ray: str | None, progress: Progress) -> list[Played]:
    """The games against each opponent. Where Ctrl-C left some unfinished, they are marked `interrupted`.

    Args:
        evaluation: what is played.
        workers, ray: who plays, as for :func:`skyenv.arena.units.run_units`.
        progress: told how many games have finished, since the last call.

    Raises:
        AgentError, CheckpointError: as for :class:`Player`; or workers keep dying. OptionError: there is no such Ray.
    """
    whole = [evaluation.games(Unit(opponent, 0, evaluation.paired_seeds)) for opponent in range(1, len(evaluation.entrants))]

    def keep(unit: Unit, played: Played) -> None:
        rows = slice(unit.first * evaluation.num_players, unit.end * evaluation.num_players)
        whole[unit.opponent - 1].fill(rows, played)
        progress(len(played.seeds))

    with Interrupt() as interrupt:
        run_units(
            partial(_play, evaluation), iter(evaluation.units(number_of_workers(workers, ray))), workers, ray=ray,
            done=keep, tick=interrupt.goes_on, parts=Unit.parts, about=evaluation.about,
        )  # fmt: skip
    for games in whole:
        games.interrupted = not games.finished.all()
    return whole
