"""Playing a tournament: tasks of a pool of workers, round by round, until the paired seeds or the
time are used up.

A task is some paired seeds of one pair, or of the mixed tables: all of a round, or fewer where
workers would be idle. Paired seeds go in rounds; where time is the limit there is a next round as
long as the time is likely to suffice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.arena.folder import Folder, Game, Spent
from skyenv.arena.matches import play_games
from skyenv.arena.schedule import MOST_PAIRED_SEEDS, Group, Settings, TimedAgent, timed_agent
from skyenv.errors import AgentError, cause
from skyenv.progress import progress
from skyenv.seeds import LADDERS
from skyenv.work import Interrupt, Pool, open_pool

# Paired seeds of a round at most: batches of 512 games and more bring no more speed.
LARGEST_ROUND: Final = 256
# How long a round should take at most: Ctrl-C leaves its paired seeds unfinished.
ROUND_SECONDS: Final = 60.0
# So many paired seeds are counted for the progress bar.
COUNTED: Final = 10**5


@dataclass(frozen=True)
class GroupSeeds:
    """A task: a group's games of some paired seeds."""

    group: Group
    paired_seeds: tuple[int, ...]


# ---- in a worker ----


def play_task(settings: Settings, task: GroupSeeds) -> tuple[list[Game], Spent]:
    """Return the games of a task, and the decisions and seconds of each agent.

    Raises:
        AgentError: an agent failed, in the batch and when its game was played alone, or its
            checkpoint is another one here.
    """
    seatings = [settings.seatings(task.group, paired_seed) for paired_seed in task.paired_seeds]
    paired_seeds = np.repeat(task.paired_seeds, [len(seats) for seats in seatings])
    seats = np.concatenate(seatings)
    agents = {int(index): timed_agent(settings.agents[index]) for index in np.unique(seats)}
    for agent in agents.values():
        agent.spent = [0.0, 0.0]
    try:
        games = _games(settings, agents, seats, paired_seeds)
    # An agent may do anything; alone it shows where it fails, or that it was bad luck.
    except Exception:
        games = _one_by_one(settings, agents, seats, paired_seeds)
    return games, {str(index): agent.spent for index, agent in agents.items() if agent.spent[0]}


def _games(
    settings: Settings,
    agents: dict[int, TimedAgent],
    seats: npt.NDArray[np.int64],
    paired_seeds: npt.NDArray[np.int64],
) -> list[Game]:
    played = play_games(
        list(agents.values()),
        np.searchsorted(list(agents), seats),
        settings.seed + paired_seeds,
        settings.side,
        max_turns=settings.max_turns,
        secret=settings.secret,
        purpose=LADDERS,
    )
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


def _one_by_one(
    settings: Settings,
    agents: dict[int, TimedAgent],
    seats: npt.NDArray[np.int64],
    paired_seeds: npt.NDArray[np.int64],
) -> list[Game]:
    games: list[Game] = []
    for row, paired_seed in enumerate(paired_seeds):
        try:
            games += _games(settings, agents, seats[[row]], paired_seeds[[row]])
        except Exception as error:
            told = error if isinstance(error, AgentError) else cause(error)
            raise AgentError(
                f"in paired seed {paired_seed} (seed {settings.seed + paired_seed}): {told}"
            ) from None
    return games


# ---- the whole tournament ----


def shared_out(missing: Mapping[Group, Sequence[int]], workers: int) -> Iterator[GroupSeeds]:
    """Yield tasks of the paired seeds that groups have to play: one for each group, several where
    there are more workers.
    """
    work = sum(map(len, missing.values()))
    most = -(-work // workers) if workers > len(missing) else work
    for group, paired_seeds in missing.items():
        for start in range(0, len(paired_seeds), most):
            yield GroupSeeds(group, tuple(paired_seeds[start : start + most]))


class Tournament:
    """Plays a tournament in a folder.

    Args:
        folder: where.
        paired_seeds: how many; None if the time decides.
        minutes: how long at most; None: no limit.
        workers, ray: the pool, as for :func:`skyenv.work.open_pool`.
        progress: show a bar on stderr.

    Attributes:
        played: games that it played. interrupted: whether Ctrl-C ended it early.
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
        self.limit = MOST_PAIRED_SEEDS if paired_seeds is None else paired_seeds
        self.minutes, self.progress = minutes, progress
        self.workers, self.ray = workers, ray
        self.played = 0
        self.interrupted = False
        self._start = self._pace_start = time.perf_counter()
        self._pace_games = 0  # how many had been played then
        self._seconds_per_game = 0.0

    def run(self) -> None:
        """Play.

        Raises:
            AgentError: an agent keeps failing. OSError: a file can't be written.
        """
        self._start = self._pace_start = time.perf_counter()
        counted = self.limit <= COUNTED
        total = sum(map(self.settings.games_in, range(self.limit))) if counted else None
        here = sum(
            len(games) for (number, _), games in self.folder.games.items() if number < self.limit
        )
        with (
            Interrupt() as interrupt,
            progress(total, done=here, shown=self.progress) as bar,
            open_pool(self.workers, self.ray) as pool,
        ):

            def goes_on() -> bool:
                if self.minutes is not None:
                    left = max(0, round(self._time_left()))
                    bar.set_postfix_str(f"{left // 60}:{left % 60:02} left", refresh=False)
                return interrupt.goes_on()

            for task, (games, spent) in pool.results(
                partial(play_task, self.settings),
                self._tasks(pool),
                goes_on=goes_on,
                about=self._about,
            ):
                self.folder.add(task.group, games, spent)
                self.played += len(games)
                bar.update(len(games))
        self.interrupted = interrupt.asked

    def _about(self, task: GroupSeeds) -> str:
        *names, last = (self.settings.agents[index].name for index in task.group)
        first, end = (self.settings.seed + task.paired_seeds[place] for place in (0, -1))
        return f"{', '.join(names)} and {last} played seeds {first} to {end}"

    def _time_left(self) -> float:
        if self.minutes is None:
            return float("inf")
        return 60 * self.minutes - (time.perf_counter() - self._start)

    def _tasks(self, pool: Pool) -> Iterator[GroupSeeds]:
        """Yield what is to be played, round by round."""
        first, size = 0, 1
        while first < self.limit and (size := self._round(first, size)):
            missing: dict[Group, list[int]] = {}
            for paired_seed in range(first, min(first + size, self.limit)):
                for group in self.settings.groups(paired_seed):
                    if (paired_seed, group) not in self.folder.games:
                        missing.setdefault(group, []).append(paired_seed)
            first += size
            yield from shared_out(missing, pool.size())

    def _round(self, first: int, size: int) -> int:
        """Return the paired seeds of the next round, by the pace of the last one; 0 if not even one
        is likely to be finished in time.
        """
        if not self.played:
            return 1
        now = time.perf_counter()
        if self.played > self._pace_games:
            self._seconds_per_game = (now - self._pace_start) / (self.played - self._pace_games)
            self._pace_start, self._pace_games = now, self.played
        seconds = self._seconds_per_game * self.settings.games_in(first)
        time_left = self._time_left()
        if time_left < seconds:
            return 0
        fitting = int(min(ROUND_SECONDS, time_left) / seconds)
        return max(1, min(2 * size, LARGEST_ROUND, fitting))
