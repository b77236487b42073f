"""An evaluation's games side by side in workers: some paired seeds against an opponent at a time.

The games are those that one process plays: seeds decide them, and not who plays them or beside
which others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np

from skyenv.arena.matches import Played, Progress, grown, play_games, rotations
from skyenv.arena.schedule import Entrant
from skyenv.arena.tournament import Watched, blamed
from skyenv.arena.units import Interrupt, number_of_workers, run_units

UNITS: Final = 4
"""For each worker, against each opponent at least: so none is idle for long in the end."""
LARGEST: Final = 256
"""Paired seeds of a unit at most."""
ROUND_SECONDS: Final = 10.0
"""How long a unit, or a round in one process, should take at most: Ctrl-C leaves its games
unfinished.
"""


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

    def games(self, unit: Unit) -> Played:
        """A unit's games, none of them finished; paired seed by paired seed, once from each
        seat.
        """
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


class Sizes:
    """How many paired seeds units have: one at first against each opponent, more as long as they
    take little time.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._now: dict[
            int, int
        ] = {}  # by opponent: one that takes its time mustn't begin with another one's size

    def units(self, evaluation: Evaluation) -> Iterator[Unit]:
        """All units of an evaluation, one opponent after the other."""
        most = max(1, min(LARGEST, evaluation.paired_seeds // (UNITS * self._workers)))
        for opponent in range(1, len(evaluation.entrants)):
            first = 0
            while first < evaluation.paired_seeds:
                end = min(first + min(self._now.get(opponent, 1), most), evaluation.paired_seeds)
                yield Unit(opponent, first, end)
                first = end

    def learn(self, unit: Unit, seconds: float) -> None:
        """A unit has taken so long."""
        self._now[unit.opponent] = grown(unit.end - unit.first, seconds, ROUND_SECONDS)


class Player:
    """Plays units in a worker; the agents are made when they are first needed."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._agents: dict[int, Watched] = {}

    def __call__(self, unit: Unit) -> tuple[Played, float]:
        """The games of a unit, and the seconds that they took.

        Raises:
            AgentError, CheckpointError: an agent can't be made, failed, or its checkpoint is
                another one here.
        """
        began = time.perf_counter()
        evaluation, games = self._evaluation, self._evaluation.games(unit)
        agents = [self._agent(index) for index in (0, unit.opponent)]
        played = play_games(
            agents,
            games.seating,
            games.seeds,
            evaluation.side,
            max_turns=evaluation.max_turns,
            secret=evaluation.secret,
        )
        if played.interrupted:  # Ctrl-C isn't heard here
            raise blamed(agents)
        return played, time.perf_counter() - began

    def _agent(self, index: int) -> Watched:
        if index not in self._agents:
            self._agents[index] = Watched(
                self._evaluation.entrants[index].make(deterministic=self._evaluation.deterministic)
            )
        return self._agents[index]


_player_of = lru_cache(1)(Player)


def _play(evaluation: Evaluation, unit: Unit) -> tuple[Played, float]:
    return _player_of(evaluation)(unit)


def play_in_workers(
    evaluation: Evaluation, workers: int, ray: str | None, progress: Progress
) -> list[Played]:
    """The games against each opponent.

    After Ctrl-C the last one's are marked `interrupted`, and all that lack some.

    Args:
        evaluation: what is played.
        workers, ray: who plays, as for :func:`skyenv.arena.units.run_units`.
        progress: told how many games have finished, since the last call.

    Raises:
        AgentError, CheckpointError: as for :class:`Player`; or workers keep dying. OptionError:
            there is no such Ray.
    """
    whole = [
        evaluation.games(Unit(opponent, 0, evaluation.paired_seeds))
        for opponent in range(1, len(evaluation.entrants))
    ]

    sizes = Sizes(number_of_workers(workers, ray))

    def keep(unit: Unit, result: tuple[Played, float]) -> None:
        played, seconds = result
        sizes.learn(unit, seconds)
        rows = slice(unit.first * evaluation.num_players, unit.end * evaluation.num_players)
        whole[unit.opponent - 1].fill(rows, played)
        progress(len(played.seeds))

    with Interrupt() as interrupt:
        run_units(
            partial(_play, evaluation),
            sizes.units(evaluation),
            workers,
            ray=ray,
            done=keep,
            tick=interrupt.goes_on,
            parts=Unit.parts,
            about=evaluation.about,
        )
    for games in whole:
        games.interrupted = not games.finished.all()
    if whole:
        whole[-1].interrupted |= interrupt.asked
    return whole
