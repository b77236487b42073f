"""Whom a newcomer plays when it is rated against a ladder: who costs little first, and then where
time tells most.

A game between agents that win it with p and 1 - p tells p · (1 - p) of the difference of their
ratings (the Fisher information of Luce's model): most against equals, next to nothing against who
always loses. So each agent of the ladder has time in proportion to that, by the rating that the
newcomer has so far; in the beginning all have the same. Agents that decide fast play many paired
seeds in their time, slow ones few.

This is decided in *stages*: the first 8 paired seeds, the next 8, then 16, 32, …, at most 256. A
stage is chosen when all games before it are finished, by nothing but these and what the ladder
says. So the same seed and secret give the same games, however long they take and however many
processes play.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.arena.ratings import GameResults, rate_newcomer
from skyenv.arena.schedule import Group, Rung

FIRST_STAGE: Final = 8
LONGEST_STAGE: Final = 256
SECONDS: Final = 1e-4
"""What a decision costs beside the time of who decides: the game, and the newcomer's own turn."""
LEAST: Final = 1e-3
"""The information of a game at least, so that nobody is left out for good."""


def stage_after(paired_seeds: int) -> int:
    """How long the stage is that begins after so many paired seeds."""
    return min(max(FIRST_STAGE, paired_seeds), LONGEST_STAGE)


def information(results: GameResults, rungs: Sequence[Rung]) -> npt.NDArray[np.float64]:
    """What a game against each agent of the ladder would tell of the newcomer's rating: float64
    (K,), `LEAST` to ¼.

    It is the mean over the newcomer's rating and both ends of its interval; without games all are
    alike.
    """
    ratings = np.array([rung.rating for rung in rungs])
    if not len(results.paired_seeds):
        return np.full(len(rungs), 0.25)
    rated = rate_newcomer(results, ratings, ratings[None]).points
    odds = 10 ** ((np.array([[rated.low], [rated.mean], [rated.high]]) - ratings) / 400)
    return np.asarray(np.maximum((odds / (1 + odds) ** 2).mean(axis=0), LEAST))


def fields_of_a_stage(
    results: GameResults, rungs: Sequence[Rung], played: Sequence[Group], players: int
) -> list[Group]:
    """Who plays in each paired seed of the next stage: agent 0, the newcomer, and agents 1 + i for
    the i-th of the ladder.

    Args:
        results: the games so far.
        rungs: the agents of the ladder.
        played: who played in the paired seeds so far.
        players: seats of a table; at least a table's opponents play, and two.
    """
    price = np.array([SECONDS + rung.seconds for rung in rungs]) / information(results, rungs)
    times = np.bincount(
        [agent - 1 for field in played for agent in field[1:]], minlength=len(rungs)
    )
    fewest = min(max(2, players - 1), len(rungs))
    fields: list[Group] = []
    for _ in range(stage_after(len(played))):
        spent = (times + 1) * price
        chosen = spent <= np.sort(spent)[fewest - 1]
        times += chosen
        fields.append((0, *(int(index) + 1 for index in np.flatnonzero(chosen))))
    return fields
