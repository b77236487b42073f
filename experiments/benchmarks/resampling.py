"""How fast are positions drawn that a seat can't tell apart? ``python -m
experiments.benchmarks.resampling`` prints figures.

Method: that of :mod:`experiments.benchmarks.speed`, whose table and file these figures stay out of.
Positions come from the middle of random play; views are made before, where their figure isn't asked
for. Everything runs on one thread; :func:`skyenv.engine.knowledge.resample` has no others.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import numpy as np

from experiments.benchmarks.figures import Figure, measure, report, seconds
from skyenv import Games
from skyenv.engine.knowledge import resample, view
from skyenv.rules.state import NONE, PHASE_BID

METHOD: Final = (
    "median of repeats after a warm-up; positions from random legal play, front side; one thread"
)
DECISIONS: Final = 100
"""Random decisions in a row before positions are looked at."""


def middle_games(number: int, players: int) -> Games:
    """Games in their middle."""
    games = Games(number, players, seed=1, observation=None)
    games.play_random(DECISIONS)
    return games


def one_position(players: int, batch: int, calls: int, repeats: int) -> Figure:
    """Positions per second drawn from one view, over a few views in turn."""
    games = middle_games(calls, players)
    views, seeds = view(games.state, games.seat), np.arange(batch)

    def once() -> float:
        return calls * batch / seconds(lambda: [resample(views[i], seeds) for i in range(calls)])

    once()
    return measure(
        f"resampling one position, batches of {batch}, {players} players",
        "positions/s",
        repeats,
        once,
    )


def many_positions(players: int, batch: int, calls: int, repeats: int) -> Figure:
    """Positions per second drawn from a batch of different views, one from each."""
    games = middle_games(batch, players)
    views, seeds = view(games.state, games.seat), np.arange(batch)

    def once() -> float:
        return calls * batch / seconds(lambda: [resample(views, seeds) for _ in range(calls)])

    once()
    return measure(
        f"resampling a batch of {batch} different positions, {players} players",
        "positions/s",
        repeats,
        once,
    )


def begun_bids(players: int, batch: int, calls: int, repeats: int) -> Figure:
    """As :func:`one_position`, seen by the seat after the bidder's in the middle of a bid: what
    can't end it is dealt again.
    """
    games = middle_games(256, players)
    views: list[np.record] = []
    while len(views) < calls:
        games.play_random(1)
        rows = np.flatnonzero((games.state["phase"] == PHASE_BID) & (games.state["laid"] != NONE))
        views += list(view(games.state[rows], (games.seat[rows] + 1) % players))
    seeds = np.arange(batch)

    def once() -> float:
        return calls * batch / seconds(lambda: [resample(begun, seeds) for begun in views[:calls]])

    once()
    name = f"resampling one position in the middle of a bid, batches of {batch}, {players} players"
    return measure(name, "positions/s", repeats, once)


def making_views(players: int, batch: int, calls: int, repeats: int) -> Figure:
    """Views per second made of a batch of games."""
    games = middle_games(batch, players)

    def once() -> float:
        return (
            calls * batch / seconds(lambda: [view(games.state, games.seat) for _ in range(calls)])
        )

    once()
    return measure(
        f"making the views of {batch} games, {players} players", "views/s", repeats, once
    )


def all_figures(quick: bool) -> list[Figure]:
    """Measure everything; `quick` takes a tenth of the work and of the precision."""
    repeats, calls = (3, 2) if quick else (7, 20)
    figures = [
        one_position(players, batch, calls, repeats)
        for players in (2, 3, 4)
        for batch in (1, 100, 10_000)
    ]
    figures += [many_positions(players, 4096, calls, repeats) for players in (2, 3, 4)]
    figures += [begun_bids(players, 10_000, calls, repeats) for players in (2, 4)]
    return [*figures, making_views(2, 4096, calls, repeats)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report("resampling", "Measure how fast resampling is.", METHOD, all_figures, arguments)


if __name__ == "__main__":
    sys.exit(main())
