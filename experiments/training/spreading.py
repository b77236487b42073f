"""What does spreading work cost? ``python -m experiments.training.spreading`` compares processes of
this machine with Ray's.

Method: as many workers as cores, processes and a Ray on this machine in turns, so that a machine
that is busy for a while slows both down. Units of a tournament are games of ismcts against greedy,
of some seconds each; empty units show what a unit costs beside the work in it. Time counts from
when every worker has given a first result: processes begin anew with each run of units, Ray's stay.
A training's decisions per second are those of whole updates, after some that don't count; whoever
doesn't have its turn waits. A figure is the median over the rounds, "Ray ÷ processes" that of the
rounds' ratios.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

from experiments.benchmarks.figures import Figure, figure, report, seconds
from experiments.training.recipe import Config
from experiments.training.train import Training
from skyenv.arena.on_ray import LOCAL
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Unit, play_unit
from skyenv.arena.units import run_units
from skyenv.engine.games import cores

METHOD: Final = "median of rounds in which processes of this machine and a Ray on it take turns, as many workers as cores"
AGENTS: Final = ("ismcts-300", "greedy")
BACKENDS: Final = {"processes": None, "Ray": LOCAL}


def pace(work: Callable[[Any], Any], units: Sequence[Any], ray: str | None) -> float:
    """Units per second, from when every worker has given a first result; the first unit is done
    again and again until then.
    """
    workers, seen, times = cores(), set[int](), list[float]()

    def all_units() -> Iterator[Any]:
        while len(seen) < workers:
            yield units[0]
        yield from units

    def done(_: Any, process: int) -> None:
        seen.add(process)
        if len(seen) >= workers:
            times.append(time.perf_counter())

    worked = partial(process_of, work)
    run_units(
        worked,
        all_units(),
        workers,
        ray=ray,
        done=done,
        tick=lambda: True,
        parts=lambda unit: [unit],
        about=str,
    )
    return (len(times) - 1) / (times[-1] - times[0])


def process_of(work: Callable[[Any], Any], unit: Any) -> int:
    """Work, of which nothing is told but the process that did it."""
    work(unit)
    return os.getpid()


def nothing(unit: int) -> int:
    """Work that takes no time."""
    return unit


def in_turns(
    name: str, unit: str, rounds: int, once: dict[str, Callable[[], float]]
) -> list[Figure]:
    """A figure of each backend, and of how they compare."""
    measured = [{backend: run() for backend, run in once.items()} for _ in range(rounds)]
    found = [
        figure(f"{name}, {backend}", unit, [one[backend] for one in measured]) for backend in once
    ]
    ratios = [100 * one["Ray"] / one["processes"] for one in measured]
    return [*found, figure(f"{name}, Ray ÷ processes", "%", ratios)]


def empty_units(number: int, rounds: int) -> list[Figure]:
    """What a unit costs beside the work in it: empty ones per second."""
    units = range(number)
    return in_turns(
        "empty units",
        "units/s",
        rounds,
        {name: partial(pace, nothing, units, ray) for name, ray in BACKENDS.items()},
    )


def tournament(paired_seeds: int, number: int, rounds: int) -> list[Figure]:
    """Games of a tournament per second, in so many units of some paired seeds each."""
    work = partial(play_unit, Settings(entrants(AGENTS), 2))
    units = [
        Unit((0, 1), tuple(range(i * paired_seeds, (i + 1) * paired_seeds))) for i in range(number)
    ]
    work(units[0])  # compiles
    length = seconds(lambda: work(units[0]))

    def games(ray: str | None) -> float:
        return 2 * paired_seeds * pace(work, units, ray)

    once: dict[str, Callable[[], float]] = {
        name: partial(games, ray) for name, ray in BACKENDS.items()
    }
    return in_turns(f"tournament, units of {length:.1f} s", "games/s", rounds, once)


def training(updates: int, rounds: int) -> list[Figure]:
    """Decisions per second of a training whose actors are as many as cores."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        once: dict[str, Callable[[], float]] = {}
        for name, ray in BACKENDS.items():
            config = Config(
                run=str(folder / name), prior="greedy", processes=cores() + 1, minutes=60.0, ray=ray
            )
            made = Training(config)
            made.begin()
            stack.callback(made.end)
            once[name] = partial(turn, made, updates)
            once[name]()  # games get to their middle
        return in_turns(f"training, {cores()} actors", "decisions/s", rounds, once)


def turn(made: Training, updates: int) -> float:
    """Decisions per second of some updates; nobody plays when it begins or ends."""
    made.settle()
    before = made.decisions

    def update() -> None:
        for _ in range(updates):
            made.update()
        made.settle()

    taken = seconds(update)
    return (made.decisions - before) / taken


def measure_all(quick: bool) -> list[Figure]:
    """All figures."""
    rounds = 1 if quick else 5
    return [
        *empty_units(50 if quick else 1000, rounds),
        *tournament(1 if quick else 2, (4 if quick else 8) * cores(), rounds),
        *training(1 if quick else 4, rounds),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    return report(
        "spreading",
        "Measure what spreading work costs, on this machine and with Ray.",
        METHOD,
        measure_all,
        arguments,
        ("ray", "torch"),
        package="experiments.training",
    )


if __name__ == "__main__":
    sys.exit(main())
