"""A comparison of algorithms in bidding tasks by NashConv.

``python -m experiments.benchmarks.algorithms --out runs/algorithms`` measures NashConv, exactly for
openings 0 to 7, by decisions and by CPU time. Each run (algorithm, task, seed) writes
FOLDER/ALGORITHM-TASK-SEED.json. The same command makes the missing runs; Ctrl-C loses only the
current one. All runs are summarized in FOLDER/algorithms.json and FOLDER/algorithms.png. NFSP needs
the package ``dm-tree``.

Exit codes: 0 success, 1 invalid file, 2 invalid command, 130 interrupted.
"""

import itertools
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.benchmarks.learners import ALGORITHMS, Exam, Problem
from experiments.figures import Figure, check_plots, draw_lines, save, write
from skyenv.array_types import Float64
from skyenv.console.options import Options, option, run_program
from skyenv.errors import CheckpointError
from skyenv.files import read_json, write_atomically
from skyenv.statistics import interquartile_means
from skyenv_agents.learned.torch_network import use_processor

METHOD: Final = (
    "NashConv in VP, exact, the mean over openings 0 to 7; interquartile mean over seeds with "
    "95 % intervals by the bootstrap; processor time without judging."
)

# Judgements of a run: `"decisions"`, `"seconds"` of processor time (learning alone), and
# `"nash_conv"`, in VP for each opening.
Run = list[dict[str, Any]]
# Medians of decisions and seconds, float64 (2, k), and NashConv then.
Curve = tuple[Float64, list[Figure]]


@dataclass(frozen=True)
class AlgorithmsOptions(Options):
    """Options of the comparison."""

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
    """Return the openings of a task on which all algorithms are measured."""
    return tuple(Exam(f"{task}/{index}") for index in range(8))


def run(name: str, task: str, seed: int, decisions: int) -> Run:
    """Let an algorithm learn a task, and judge it now and then."""
    algorithm, exams = ALGORITHMS[name], exams_of(task)
    learner = algorithm.start(Problem(task, seed, decisions, exams))
    reached, _ = next(learner)  # compiles and loads
    # A run of the usual length is judged six times, each after twice the decisions.
    due, seconds, points = decisions / 32, 0.0, []
    while reached < decisions * algorithm.share:
        begun = time.process_time()
        reached, answer = next(learner)
        seconds += time.process_time() - begun
        if reached >= due:
            found = [exam.evaluator.nash_conv(answer(exam)) for exam in exams]
            points.append({"decisions": reached, "seconds": round(seconds, 3), "nash_conv": found})
        while due <= reached:
            due *= 2
    return points


def planned(options: AlgorithmsOptions) -> Iterator[tuple[str, str, int, Path]]:
    """Algorithm, task, seed and file of each run; a seed of all of them before the next one."""
    runs = itertools.product(range(options.seeds), options.tasks, options.algorithms)
    for seed, task, name in runs:
        if seed < ALGORITHMS[name].seeds:
            yield name, task, seed, options.out / f"{name}-{task}-{seed}.json"


# ---- figures ----


def curves(options: AlgorithmsOptions) -> dict[tuple[str, str], Curve]:
    """Return the learning curves of the finished runs, by algorithm and task.

    Raises:
        CheckpointError: a file is damaged, or its run had another budget.
    """
    found: dict[tuple[str, str], list[Run]] = {}
    for name, task, _, path in planned(options):
        if path.exists():
            content = read_json(path)
            if not isinstance(content, dict) or content.get("budget") != options.decisions:
                raise CheckpointError(
                    f"{path} is not a run with a budget of {options.decisions} decisions; "
                    "choose another --out"
                )
            found.setdefault((name, task), []).append(list(content["points"]))
    return {(name, task): curve(name, task, runs) for (name, task), runs in found.items()}


def curve(name: str, task: str, runs: Sequence[Run]) -> Curve:
    """Return the runs of an algorithm in a task as one curve, as long as the shortest."""
    most, figures = min(map(len, runs)), []
    decisions, seconds, scores = (
        np.array([[np.mean(point[field]) for point in run[:most]] for run in runs])
        for field in ("decisions", "seconds", "nash_conv")
    )
    across = np.median([decisions, seconds], axis=1)
    for made, spent, one in zip(*across, interquartile_means(scores), strict=True):
        label = f"{ALGORITHMS[name].label}: {task} after {made:,.0f} decisions, {spent:.3g} s"
        figures.append(Figure(label, one.mean, one.low, one.high, "VP", len(runs)))
    return across, figures


def draw(found: dict[tuple[str, str], Curve], path: Path) -> None:
    """Draw NashConv against decisions and seconds, a row for each task.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure as Picture

    tasks = list(dict.fromkeys(task for _, task in found))
    picture = Picture(figsize=(11, 4.2 * len(tasks)), layout="constrained")
    places = picture.subplots(len(tasks), 2, squeeze=False, sharey="row")
    units = enumerate(("decisions", "seconds of processor time"))
    for (row, task), (unit, label) in itertools.product(enumerate(tasks), units):
        axes = places[row, unit]
        lines = {
            ALGORITHMS[name].label: list(zip(across[unit], figures, strict=True))
            for (name, of), (across, figures) in found.items()
            if of == task
        }
        draw_lines(axes, lines)
        axes.set(title=task, xlabel=label, ylabel="NashConv, VP", xscale="log", yscale="log")
    places[0, 1].legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    save(picture, path)


# ---- program ----


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code (see the module's text)."""
    module, text = "experiments.benchmarks.algorithms", "Compare algorithms in bidding tasks."
    return run_program(AlgorithmsOptions, module, text, compare, arguments)


def compare(options: AlgorithmsOptions) -> None:
    """Make the runs that aren't there, and the figures of all."""
    check_plots()
    use_processor(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, task, seed, path in planned(options):
        if not path.exists():
            points = run(name, task, seed, options.decisions)
            write_atomically(path, json.dumps({"budget": options.decisions, "points": points}))
            print(f"{path.stem}: {np.mean(points[-1]['nash_conv']):.4f} VP", flush=True)
    found = curves(options)
    figures = [one for _, group in found.values() for one in group]
    write(options.out / "algorithms.json", METHOD, figures)
    draw(found, options.out / "algorithms.png")


if __name__ == "__main__":
    sys.exit(main())
