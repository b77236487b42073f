"""Playing a tournament in its folder, until the paired seeds or the time are used up."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from skyenv.arena.folder import Folder, Game
from skyenv.arena.matches import play_games
from skyenv.arena.schedule import (
    MOST_PAIRED_SEEDS,
    Group,
    GroupSeeds,
    Settings,
    agent_of,
    rounds,
)
from skyenv.errors import AgentError
from skyenv.progress import progress as progress_bar
from skyenv.seeds import LADDERS
from skyenv.work import Interrupt, open_pool


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


def play(
    folder: Folder,
    *,
    paired_seeds: int | None = None,
    minutes: float = math.inf,
    workers: int = 1,
    ray: str | None = None,
    progress: bool = False,
) -> bool:
    """Play a tournament in a folder.

    Args:
        folder: where.
        paired_seeds: how many; None: as many as the time allows.
        minutes: no round begins after so long.
        workers, ray: the pool, as for :func:`skyenv.work.open_pool`.
        progress: show a bar on stderr.

    Returns:
        Whether Ctrl-C ended it early.

    Raises:
        AgentError: an agent fails. OSError: a file can't be written.
    """
    settings, limit = folder.settings, paired_seeds or MOST_PAIRED_SEEDS
    total = sum(
        len(settings.seatings(group, one))
        for one in range(paired_seeds or 0)
        for group in settings.groups(one)
    )
    done = sum(len(games) for (number, _), games in folder.games.items() if number < limit)

    def missing(paired_seed: int) -> list[Group]:
        groups = settings.groups(paired_seed)
        return [group for group in groups if (paired_seed, group) not in folder.games]

    with (
        Interrupt() as interrupt,
        progress_bar(total or None, done=done, shown=progress) as bar,
        open_pool(workers, ray) as pool,
    ):
        for task, games in pool.results(
            partial(play_task, settings),
            rounds(missing, limit, pool.size, minutes=minutes),
            goes_on=interrupt.goes_on,
            about=partial(about, settings),
        ):
            folder.add(task.group, games)
            bar.update(len(games))
    return interrupt.asked
