"""Algorithms compared in bidding tasks: ``python -m experiments.benchmarks.algorithms --out
runs/algorithms``.

How far from optimal are they (NashConv, computed exactly for beginnings 0 to 7) after so many
decisions, and after so much processor time? Each run, an algorithm in a task with a seed, leaves
FOLDER/ALGORITHM-TASK-SEED.json; the same command again makes those that aren't there, and Ctrl-C
loses the run under way alone. From all of them come FOLDER/algorithms.json and
FOLDER/algorithms.png. NFSP needs the package ``dm-tree``.

Exit codes: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.benchmarks.learners import ALGORITHMS, Exam, Problem
from experiments.figures import Figure, check_plots, save, write
from experiments.training.network import use_processor
from skyenv.errors import CheckpointError
from skyenv.files import read_json, write_atomically
from skyenv.options import Options, exit_code, option, parse
from skyenv.render.colours import GRID, REFERENCE, SERIES
from skyenv.tables import markdown
from skyenv.tasks.tree import Beginning

COMMAND: Final = "python -m experiments.benchmarks.algorithms"
POSITIONS: Final = 8
CHECKPOINTS: Final = 6
"""Judgements of a run of the usual length: each after twice the decisions of the one before."""
RESAMPLES: Final = 10_000
TRIMMED: Final = 0.25
"""Share of runs that the interquartile mean leaves out at each end."""
METHOD: Final = (
    "NashConv in VP, exact, the mean over beginnings 0 to 7; interquartile mean over seeds with "
    "95 % intervals by the bootstrap; processor time without judging."
)
MARKERS: Final = "ovs^DPX"


@dataclass(frozen=True)
class AlgorithmsOptions(Options):
    """What can be chosen."""

    out: Path = option(Path("runs/algorithms"), "folder of the runs and results", metavar="FOLDER")
    tasks: tuple[str, ...] = option(("duel-4", "alea-4"), "tasks with two seats", metavar="TASK")
    algorithms: tuple[str, ...] = option(
        tuple(ALGORITHMS), "algorithms", choices=tuple(ALGORITHMS), metavar="NAME"
    )
    seeds: int = option(5, "runs of each that draws anything", low=1)
    decisions: int = option(
        64_000,
        "budget of those that learn from play; tabular ones take 1,000 times as many",
        low=64,
    )


# ---- runs ----


@cache
def exams_of(task: str) -> tuple[Exam, ...]:
    """The beginnings of a task by which all are judged."""
    return tuple(Exam(f"{task}/{index}") for index in range(POSITIONS))


def run(name: str, task: str, seed: int, decisions: int) -> Iterator[dict[str, Any]]:
    """Let an algorithm learn a task, and judge it now and then.

    Yields:
        For each judgement ``"decisions"``, ``"seconds"`` of processor time (learning alone), and
        ``"nash_conv"``, in VP for each beginning.
    """
    algorithm, exams = ALGORITHMS[name], exams_of(task)
    learner = algorithm.start(Problem(task, seed, decisions, exams))
    reached, _ = next(learner)  # compiles and loads
    due, seconds = decisions / 2 ** (CHECKPOINTS - 1), 0.0
    while reached < decisions * algorithm.share:
        begun = time.process_time()
        reached, answer = next(learner)
        seconds += time.process_time() - begun
        if reached >= due:
            found = [exam.judge.nash_conv(answer(exam)) for exam in exams]
            yield {"decisions": reached, "seconds": round(seconds, 3), "nash_conv": found}
        while due <= reached:
            due *= 2


def planned(options: AlgorithmsOptions) -> Iterator[tuple[str, str, int]]:
    """Algorithm, task and seed of each run; a seed of all of them before the next one."""
    for seed in range(options.seeds):
        for task in options.tasks:
            for name in options.algorithms:
                if seed < ALGORITHMS[name].seeds:
                    yield name, task, seed


def file_of(options: AlgorithmsOptions, name: str, task: str, seed: int) -> Path:
    """Where a run is kept."""
    return options.out / f"{name}-{task}-{seed}.json"


def read_run(path: Path, decisions: int) -> list[dict[str, Any]]:
    """The judgements of a run.

    Raises:
        CheckpointError: the file is damaged, or its run had another budget.
    """
    content = read_json(path)
    try:
        budget, points = content["budget"], list(content["points"])
    except (TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is no run of an algorithm: {error!s:.100}") from error
    if budget != decisions:
        raise CheckpointError(
            f"{path} had a budget of {budget} decisions, not {decisions}; take another --out"
        )
    return points


# ---- figures ----


class Curve(NamedTuple):
    """An algorithm in a task: arrays with an entry for each judgement.

    Attributes:
        name, task: of whom. seeds: how many runs.
        decisions, seconds: medians over runs.
        middle, low, high: the interquartile mean of NashConv in VP, and its 95 % interval.
    """

    name: str
    task: str
    seeds: int
    decisions: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    middle: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


def interquartile_mean(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of the middle half along the first axis, as SciPy's ``trim_mean(scores, 0.25)``."""
    cut = int(TRIMMED * len(scores))
    middle: npt.NDArray[np.float64] = np.sort(scores, axis=0)[cut : len(scores) - cut].mean(axis=0)
    return middle


def interval(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The 95 % interval of the interquartile mean over runs, float64 (2, k): runs are drawn anew,
    with all their judgements.

    Args:
        scores: float64 (runs, k).
    """
    drawn = np.random.default_rng(1).integers(len(scores), size=(len(scores), RESAMPLES))
    found: npt.NDArray[np.float64] = np.quantile(
        interquartile_mean(scores[drawn]), (0.025, 0.975), axis=0
    )
    return found


def curves(options: AlgorithmsOptions) -> list[Curve]:
    """What the runs that are there say."""
    found: dict[tuple[str, str], list[list[dict[str, Any]]]] = {}
    for name, task, seed in planned(options):
        if (path := file_of(options, name, task, seed)).exists():
            found.setdefault((name, task), []).append(read_run(path, options.decisions))
    return [curve(name, task, runs) for (name, task), runs in found.items()]


def curve(name: str, task: str, runs: Sequence[Sequence[dict[str, Any]]]) -> Curve:
    """The runs of an algorithm in a task as one curve, as long as the shortest."""
    most = min(map(len, runs))
    decisions, seconds, scores = (
        np.array([[np.mean(point[field]) for point in run[:most]] for run in runs])
        for field in ("decisions", "seconds", "nash_conv")
    )
    low, high = interval(scores)
    medians = np.median(decisions, axis=0), np.median(seconds, axis=0)
    return Curve(name, task, len(runs), *medians, interquartile_mean(scores), low, high)


def figures(found: Iterable[Curve]) -> Iterator[Figure]:
    """All points of the curves."""
    for one in found:
        points = zip(*one[3:], strict=True)
        for decisions, seconds, middle, low, high in points:
            after = f"{decisions:,.0f} decisions, {seconds:.3g} s"
            name = f"{ALGORITHMS[one.name].label}: {one.task} after {after}"
            yield Figure(name, middle, low, high, "VP", one.seeds)


def table(found: Iterable[Curve]) -> str:
    """What each algorithm reaches in the end, as Markdown."""
    rows = [["task", "algorithm", "seeds", "decisions", "processor time", "NashConv, VP", "95 %"]]
    for one in sorted(found, key=lambda one: (one.task != "duel-4", one.task, one.middle[-1])):
        rows.append(
            [
                f"`{one.task}`",
                ALGORITHMS[one.name].label,
                str(one.seeds),
                f"{one.decisions[-1]:,.0f}",
                f"{one.seconds[-1]:.1f} s",
                f"{one.middle[-1]:.3g}",
                f"{one.low[-1]:.3g} to {one.high[-1]:.3g}" if one.seeds > 1 else "",
            ]
        )
    return markdown(rows, "llrrrrr")


def draw(found: Sequence[Curve], path: Path) -> None:
    """Draw NashConv against decisions and seconds, a row for each task; a dashed line is what it is
    where all legal actions are taken alike.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure as Picture

    tasks = list(dict.fromkeys(one.task for one in found))
    picture = Picture(figsize=(11, 4.2 * len(tasks)), layout="constrained")
    places = picture.subplots(len(tasks), 2, squeeze=False, sharey="row")
    for task, row in zip(tasks, places, strict=True):
        uniform = np.mean([exam.judge.nash_conv(exam.uniform) for exam in exams_of(task)])
        for axes, unit in zip(row, ("decisions", "seconds"), strict=True):
            draw_curves(axes, [one for one in found if one.task == task], unit)
            axes.axhline(uniform, color=REFERENCE, linewidth=1, linestyle="--", label="uniform")
            axes.set(xscale="log", yscale="log")
            axes.grid(color=GRID, linewidth=0.8)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_title(task, loc="left", fontsize=12)
        row[0].set(xlabel="decisions", ylabel="NashConv, VP (bands: 95 %)")
        row[1].set(xlabel="seconds of processor time")
    places[0, 1].legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    save(picture, path)


def draw_curves(axes: Any, found: Iterable[Curve], unit: str) -> None:
    """Draw curves against a unit, with their intervals."""
    names = list(ALGORITHMS)
    colours = (*SERIES, REFERENCE)
    for one in found:
        number, across = names.index(one.name), getattr(one, unit)
        look = {"color": colours[number], "marker": MARKERS[number], "markersize": 4}
        axes.plot(across, one.middle, label=ALGORITHMS[one.name].label, **look)
        axes.fill_between(across, one.low, one.high, color=colours[number], alpha=0.15, linewidth=0)


# ---- program ----


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code (see the module's text)."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return exit_code("algorithms", lambda: compare(given))


def compare(arguments: Sequence[str]) -> None:
    """Make the runs that aren't there, and the figures of all."""
    options = parse(AlgorithmsOptions, COMMAND, "Compare algorithms in bidding tasks.", arguments)
    check_plots()
    use_processor(1)
    for task in options.tasks:
        Beginning(f"{task}/0")  # whether there is such a task
    options.out.mkdir(parents=True, exist_ok=True)
    for name, task, seed in planned(options):
        path = file_of(options, name, task, seed)
        if not path.exists():
            points = list(run(name, task, seed, options.decisions))
            text = json.dumps({"budget": options.decisions, "points": points})
            write_atomically(path, f"{text}\n")
            print(f"{path.stem}: {np.mean(points[-1]['nash_conv']):.4f} VP", flush=True)
    found = curves(options)
    command = f"{COMMAND} {shlex.join(arguments)}".strip()
    write(options.out / "algorithms.json", command, METHOD, figures(found))
    draw(found, options.out / "algorithms.png")
    print(table(found))


if __name__ == "__main__":
    sys.exit(main())
