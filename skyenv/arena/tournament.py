"""Playing a tournament: tasks of a pool of workers, round by round, until the paired seeds or the
time are used up.

A task is some paired seeds of one pair, or of the mixed tables: all of a round, or fewer where
workers would be idle. The first round is one paired seed; rounds that are over soon are followed by
larger ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Final, NamedTuple

import numpy as np

from skyenv.arena.folder import Folder, Game
from skyenv.arena.matches import play_games
from skyenv.arena.schedule import MOST_PAIRED_SEEDS, Group, Settings, agent_of
from skyenv.errors import AgentError
from skyenv.progress import progress as progress_bar
from skyenv.seeds import LADDERS
from skyenv.work import Interrupt, Pool, open_pool

# Paired seeds of a round at most: batches of 512 games and more bring no more speed.
LARGEST_ROUND: Final = 256
# A longer round isn't followed by a larger one: Ctrl-C leaves its paired seeds unfinished.
ROUND_SECONDS: Final = 15.0


class GroupSeeds(NamedTuple):
    """A task: a group's games of some paired seeds."""

    group: Group
    paired_seeds: tuple[int, ...]


def about(settings: Settings, task: GroupSeeds) -> str:
    """Return what a task is, for an error."""
    *names, last = (settings.agents[index].name for index in task.group)
    first, end = (settings.seed + task.paired_seeds[place] for place in (0, -1))
    return f"{', '.join(names)} and {last} played seeds {first} to {end}"


def play_task(settings: Settings, task: GroupSeeds) -> list[Game]:
    """Return the games of a task.

    Raises:
        AgentError: an agent failed, or its checkpoint is another one here.
    """
    seatings = [settings.seatings(task.group, paired_seed) for paired_seed in task.paired_seeds]
    paired_seeds = np.repeat(task.paired_seeds, [len(seats) for seats in seatings])
    seats = np.concatenate(seatings)
    try:
        played = play_games(
            [agent_of(settings.agents[index]) for index in task.group],
            np.searchsorted(task.group, seats),
            settings.seed + paired_seeds,
            secret=settings.secret,
            purpose=LADDERS,
            options=settings.options,
        )
    except AgentError as error:
        raise AgentError(f"{error}, while {about(settings, task)}") from error
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


def shared_out(missing: Mapping[Group, Sequence[int]], workers: int) -> Iterator[GroupSeeds]:
    """Yield tasks of the paired seeds that groups have to play: one for each group, several where
    there are more workers.
    """
    work = sum(map(len, missing.values()))
    most = -(-work // workers) if workers > len(missing) else work
    for group, paired_seeds in missing.items():
        for start in range(0, len(paired_seeds), most):
            yield GroupSeeds(group, tuple(paired_seeds[start : start + most]))


def play(
    folder: Folder,
    *,
    paired_seeds: int | None = None,
    minutes: float | None = None,
    workers: int = 1,
    ray: str | None = None,
    progress: bool = False,
) -> bool:
    """Play a tournament in a folder.

    Args:
        folder: where.
        paired_seeds: how many; None: as many as the time allows.
        minutes: no round begins after so long; None: no limit.
        workers, ray: the pool, as for :func:`skyenv.work.open_pool`.
        progress: show a bar on stderr.

    Returns:
        Whether Ctrl-C ended it early.

    Raises:
        AgentError: an agent fails. OSError: a file can't be written.
    """
    settings, limit = folder.settings, paired_seeds or MOST_PAIRED_SEEDS
    until = monotonic() + (float("inf") if minutes is None else 60 * minutes)
    total = sum(
        len(settings.seatings(group, one))
        for one in range(paired_seeds or 0)
        for group in settings.groups(one)
    )
    done = sum(len(games) for (number, _), games in folder.games.items() if number < limit)
    with (
        Interrupt() as interrupt,
        progress_bar(total or None, done=done, shown=progress) as bar,
        open_pool(workers, ray) as pool,
    ):
        for task, games in pool.results(
            partial(play_task, settings),
            _tasks(folder, limit, until, pool),
            goes_on=interrupt.goes_on,
            about=partial(about, settings),
        ):
            folder.add(task.group, games)
            bar.update(len(games))
    return interrupt.asked


def _tasks(folder: Folder, limit: int, until: float, pool: Pool) -> Iterator[GroupSeeds]:
    """Yield what is to be played, round by round; at least one round."""
    first, size = 0, 1
    while first < limit and (first == 0 or monotonic() < until):
        began, missing = monotonic(), dict[Group, list[int]]()
        for paired_seed in range(first, min(first + size, limit)):
            for group in folder.settings.groups(paired_seed):
                if (paired_seed, group) not in folder.games:
                    missing.setdefault(group, []).append(paired_seed)
        yield from shared_out(missing, pool.size())
        first += size
        if missing and monotonic() - began < ROUND_SECONDS:
            size = min(2 * size, LARGEST_ROUND)
