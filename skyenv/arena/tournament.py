"""Playing a tournament: units of work in processes, round by round, until the paired seeds or the
time are used up.

A unit is some paired seeds of one pair, or of the mixed tables: all of a round, or fewer where
workers would have nothing to do. If a process dies over it, its paired seeds are given to others
one by one. Paired seeds go in rounds; where time is the limit there is a next round as long as the
time is likely to suffice.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, ReportingAgent
from skyenv.arena.folder import Folder, Game, Spent
from skyenv.arena.matches import Played, play_games
from skyenv.arena.schedule import MOST_PAIRED_SEEDS, Group, Settings
from skyenv.arena.units import Interrupt, number_of_workers, run_units
from skyenv.errors import AgentError, cause
from skyenv.progress import Bar, progress
from skyenv.seeds import LADDERS

LARGEST_ROUND: Final = 256
"""Paired seeds of a round at most: batches of 512 games and more bring no more speed."""
ROUND_SECONDS: Final = 60.0
"""How long a round should take at most: Ctrl-C leaves its paired seeds unfinished."""

COUNTED: Final = 10**5
"""So many paired seeds are counted beforehand; nobody sees the end of more."""

Results = tuple[list[Game], Spent]
"""The games of a unit, and what its agents spent."""


@dataclass(frozen=True)
class Unit:
    """Work for one process: a group's games of some paired seeds."""

    group: Group
    paired_seeds: tuple[int, ...]

    def parts(self) -> list[Unit]:
        """A unit for each paired seed."""
        return [Unit(self.group, (paired_seed,)) for paired_seed in self.paired_seeds]


# ---- in a worker ----


class Watched(ReportingAgent):
    """An agent whose decisions are timed, and who remembers in which seat it was asked last.

    Attributes:
        spent: decisions and seconds; the first call isn't counted, as it may compile or load
            something.
        asked: when it was asked last, and in which seat.
    """

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self.spent = [0.0, 0.0]
        self.asked = 0.0, -1

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer]:
        """See :class:`skyenv.agents.Agent`."""
        first = self.asked[1] < 0
        started = time.perf_counter()
        self.asked = started, int(decisions.seat[0])
        actions = super().act(decisions)
        if not first:
            self.spent[0] += len(decisions)
            self.spent[1] += time.perf_counter() - started
        return actions


def blamed(agents: Iterable[Watched]) -> AgentError:
    """The error of a match that a KeyboardInterrupt ended where Ctrl-C isn't heard: the agent asked
    last has raised it.
    """
    return AgentError(
        f"agent {max(agents, key=lambda agent: agent.asked).name} raised KeyboardInterrupt"
    )


class Player:
    """Plays units; the agents are made when they are first needed.

    Args:
        settings: what is played.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.agents: dict[int, Watched] = {}

    def __call__(self, unit: Unit) -> Results:
        """The games of a unit, and the decisions and seconds of each agent.

        Raises:
            AgentError: an agent failed, in the batch and when its game was played alone, or its
                checkpoint is another one here.
        """
        seatings = [
            self.settings.seatings(unit.group, paired_seed) for paired_seed in unit.paired_seeds
        ]
        paired_seeds = np.repeat(unit.paired_seeds, [len(seats) for seats in seatings])
        seats = np.concatenate(seatings)
        used = {int(index): self._agent(int(index)) for index in np.unique(seats)}
        for agent in used.values():
            agent.spent = [0.0, 0.0]
        try:
            games = self._play(used, seats, paired_seeds)
        # an agent may do anything; alone it shows which paired seed it fails in, or that it was bad
        # luck
        except Exception:
            games = self._one_by_one(used, seats, paired_seeds)
        return games, {str(index): agent.spent for index, agent in used.items() if agent.spent[0]}

    def _agent(self, index: int) -> Watched:
        if index not in self.agents:
            self.agents[index] = Watched(self.settings.agents[index].make())
        return self.agents[index]

    def _play(
        self,
        used: dict[int, Watched],
        seats: npt.NDArray[np.int64],
        paired_seeds: npt.NDArray[np.int64],
    ) -> list[Game]:
        settings = self.settings
        seating = np.searchsorted(list(used), seats)
        played = play_games(
            list(used.values()),
            seating,
            settings.seed + paired_seeds,
            settings.side,
            max_turns=settings.max_turns,
            secret=settings.secret,
            purpose=LADDERS,
        )
        if played.interrupted:
            raise blamed(used.values())
        return _as_games(played, seats, paired_seeds)

    def _one_by_one(
        self,
        used: dict[int, Watched],
        seats: npt.NDArray[np.int64],
        paired_seeds: npt.NDArray[np.int64],
    ) -> list[Game]:
        games: list[Game] = []
        for row, paired_seed in enumerate(paired_seeds):
            try:
                games += self._play(used, seats[[row]], paired_seeds[[row]])
            except Exception as error:
                seat = max(agent.asked for agent in used.values())[1]
                where = f"in paired seed {paired_seed} (seed {self.settings.seed + paired_seed}), seat {seat}"
                raise AgentError(
                    f"{where}: {error if isinstance(error, AgentError) else cause(error)}"
                ) from None
        return games


def _as_games(
    played: Played, seats: npt.NDArray[np.int64], paired_seeds: npt.NDArray[np.int64]
) -> list[Game]:
    return [
        {
            "paired_seed": int(paired_seeds[row]),
            "seats": seats[row].tolist(),
            "shares": played.shares[row].tolist(),
            "scores": played.scores[row].tolist(),
            "turns": int(played.turns[row]),
            "decisions": int(played.decisions[row]),
            "truncated": bool(played.truncated[row]),
        }
        for row in range(len(paired_seeds))
    ]


player_of = lru_cache(1)(Player)
"""A worker's player: made with its first unit, and kept with its agents."""


def play_unit(settings: Settings, unit: Unit) -> Results:
    """Play a unit in a worker."""
    return player_of(settings)(unit)


# ---- the whole tournament ----


def shared_out(missing: Mapping[Group, Sequence[int]], workers: int) -> Iterator[Unit]:
    """Units of the paired seeds that groups have to play: one for each group, several where there
    are more workers.
    """
    work = sum(map(len, missing.values()))
    most = -(-work // workers) if workers > len(missing) else work
    for group, paired_seeds in missing.items():
        for start in range(0, len(paired_seeds), most):
            yield Unit(group, tuple(paired_seeds[start : start + most]))


class Tournament:
    """Plays a tournament in a folder, as long as is asked for.

    Args:
        folder: where.
        paired_seeds: how many; None if the time decides.
        minutes: how long at most; None: no limit.
        workers, ray: who plays, as for :func:`skyenv.arena.units.run_units`.
        progress: show a bar on stderr.

    Attributes:
        played: games that it played.
    """

    def __init__(
        self,
        folder: Folder,
        *,
        paired_seeds: int | None = None,
        minutes: float | None = None,
        workers: int = 1,
        ray: str | None = None,
        progress: bool = False,
    ) -> None:
        self.folder, self.settings = folder, folder.settings
        self.paired_seeds, self.minutes, self.progress = paired_seeds, minutes, progress
        self.workers, self.ray = workers, ray
        self.interrupt = Interrupt()
        self.played = 0
        self.started = time.perf_counter()
        self.before = self.started, 0  # when the last round was made, and how many games there were
        self.seconds_per_paired_seed = 0.0
        self.next = 0  # the first paired seed of the next round

    def run(self) -> None:
        """Play.

        Raises:
            AgentError: an agent keeps failing. OSError: a file can't be written.
        """
        self.started = time.perf_counter()
        self.before = self.started, 0
        limit = self.paired_seeds or MOST_PAIRED_SEEDS
        total = (
            None
            if self.settings.rungs or limit > COUNTED
            else sum(map(self.settings.games_in, range(limit)))
        )
        here = sum(
            len(games)
            for (paired_seed, _), games in self.folder.games.items()
            if self.paired_seeds is None or paired_seed < self.paired_seeds
        )
        with self.interrupt, progress(total, done=here, shown=self.progress) as bar:
            run_units(
                partial(play_unit, self.settings),
                self._units(),
                self.workers,
                ray=self.ray,
                done=partial(self._keep, bar),
                tick=partial(self._tick, bar),
                parts=Unit.parts,
                about=self._about,
            )

    def _about(self, unit: Unit) -> str:
        """What a unit is; by the time that it is asked for, it is one of a single paired seed."""
        names = [self.settings.agents[index].name for index in unit.group]
        (paired_seed,) = unit.paired_seeds
        return f"{', '.join(names[:-1])} and {names[-1]} played paired seed {paired_seed} (seed {self.settings.seed + paired_seed})"

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it early."""
        return self.interrupt.asked

    def _tick(self, bar: Bar) -> bool:
        if self.minutes is not None:
            left = max(0, round(self._time_left()))
            bar.set_postfix_str(f"{left // 60}:{left % 60:02} left", refresh=False)
        return self.interrupt.goes_on()

    def _keep(self, bar: Bar, unit: Unit, result: Results) -> None:
        games, spent = result
        self.folder.add(unit.group, games, spent)
        self.played += len(games)
        bar.update(len(games))

    def _time_left(self) -> float:
        return (
            60 * self.minutes - (time.perf_counter() - self.started)
            if self.minutes is not None
            else float("inf")
        )

    def _units(self) -> Iterator[Unit | None]:
        """What is to be played, round by round; None while the games that say who plays next aren't
        finished.
        """
        first, size = 0, 1
        limit = MOST_PAIRED_SEEDS if self.paired_seeds is None else self.paired_seeds
        while first < limit:
            if first == self.folder.chosen():
                while self._missing(0, first):
                    yield None
                self.folder.choose()
            size = min(self._round(size), limit - first, self.folder.chosen() - first)
            if size == 0:
                return
            missing = self._missing(first, first + size)
            self.next = first = first + size
            yield from shared_out(missing, number_of_workers(self.workers, self.ray))

    def _missing(self, first: int, end: int) -> dict[Group, list[int]]:
        """The paired seeds of a range that each group has to play."""
        missing: dict[Group, list[int]] = {}
        for paired_seed in range(first, end):
            for group in self.folder.groups(paired_seed):
                if (paired_seed, group) not in self.folder.games:
                    missing.setdefault(group, []).append(paired_seed)
        return missing

    def _round(self, size: int) -> int:
        """Paired seeds of the next round, by the pace of the last one; 0 if not even one is likely
        to be finished in time.
        """
        if not self.played:
            return 1
        now = time.perf_counter()
        if self.played > self.before[1]:
            last = self.next - 1
            games = (self.played - self.before[1]) / self.settings.games_in(
                last, self.folder.field(last)
            )
            self.seconds_per_paired_seed = (now - self.before[0]) / games
            self.before = now, self.played
        time_left = self._time_left()
        if time_left < self.seconds_per_paired_seed:
            return 0
        return max(
            1,
            min(
                2 * size,
                LARGEST_ROUND,
                int(min(ROUND_SECONDS, time_left) / self.seconds_per_paired_seed),
            ),
        )
