"""A comparison of algorithms in bidding tasks by NashConv.

``python -m experiments.benchmarks.algorithms --out runs/algorithms`` measures NashConv, exactly on
the first held-out openings of each task, by decisions and by CPU time. Each run (algorithm, task,
budget, seed) writes FOLDER/ALGORITHM-TASK-BUDGET-SEED.json. The same command makes the missing
runs; Ctrl-C loses only the current one. All runs in the folder, of any command, are summarized in
its algorithms.json and algorithms.png. NFSP needs the package ``dm-tree``, of the
extra ``test``.

``--algorithms MODULE:LEARNER`` adds a learner of one's own, a function from a
:class:`experiments.benchmarks.learners.Problem` to a generator of decisions and answers.

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
from typing import Any, Final, NamedTuple

import numpy as np

from experiments.benchmarks.learners import (
    ALGORITHMS,
    Algorithm,
    Answer,
    Problem,
    algorithm_of,
)
from experiments.benchmarks.tasks import MISTAKES, play
from experiments.figures import Figure, check_plots, draw_lines, save, write
from skyenv.array_types import ArrayLike, Float64
from skyenv.console.options import Help, Options, option, run_program
from skyenv.console.tables import markdown
from skyenv.engine.openings import TASKS, measured, task_name
from skyenv.errors import CheckpointError, OptionError, check_extra
from skyenv.files import read_json, write_atomically
from skyenv.solving.best_response import Evaluator
from skyenv.solving.tree import Opening
from skyenv_agents.learned.torch_network import use_processor

METHOD: Final = (
    "NashConv in VP, exact, the mean over the first held-out openings; interquartile mean over "
    "seeds, the lowest and the highest seed; processor time of learning, without judging and "
    "without building trees."
)
# Decisions before the first judgement; each later one is after twice as many.
FIRST: Final = 2000
# Decisions after which algorithms are compared in the table.
TIERS: Final = (64_000, 10**6, 10**7, 10**8)
# What names of files have instead of signs in names of learners and openings.
IN_FILES: Final = str.maketrans(":/", "..")
# NashConv in the picture, in VP.
LIMITS: Final = (1e-2, 10.0)

# A run's file: its `"label"`, `"task"`, `"budget"`, number of `"openings"` and `"points"`, which
# have `"decisions"`, `"seconds"` of processor time (learning alone), and NashConv in each opening:
# `"nash_conv"` in VP, and as `"shares"` of the payoffs' range. At the end, both on as many openings
# of `"training"`, and the mean of each kind of `"mistakes"` in VP.
Run = dict[str, Any]


class Curve(NamedTuple):
    """The runs of an algorithm in a task with a budget.

    Attributes:
        task, label: of the runs.
        across: float64 (2, k), medians of decisions and seconds at each point.
        figures: NashConv then, of the lowest and of the highest seed too.
        shares: its mean share of each opening's range of payoffs, by which algorithms are ranked:
            in VP an opening with a large range would decide.
        runs: the files.
    """

    task: str
    label: str
    across: Float64
    figures: list[Figure]
    shares: list[float]
    runs: list[Run]


@dataclass(frozen=True)
class AlgorithmsOptions(Options):
    """Options of the comparison."""

    out: Path = option(Path("runs/algorithms"), "folder of the runs and results", metavar="FOLDER")
    tasks: tuple[str, ...] = option(("duel-3", "bluff-2"), "tasks with two seats", metavar="TASK")
    algorithms: tuple[str, ...] = option(
        tuple(ALGORITHMS), "algorithms by name, or one's own as MODULE:LEARNER", metavar="NAME"
    )
    seeds: int = option(5, "runs of each that draws anything", low=1)
    decisions: int = option(
        10**6, "budget of those that learn from play; tabular ones take 100 times as many", low=64
    )
    openings: int = option(32, "held-out openings to measure on", low=1, high=256)


# ---- runs ----


@cache
def openings_of(task: str, number: int, training: bool) -> list[Opening]:
    """Return a task's first openings, held-out ones or those to train on; all runs share them. A
    task that names its openings has no others.
    """
    names = measured(f"{task}/0-{number - 1}" if training and "/" not in task else task, number)
    return [*map(Opening, names)]


def judged(algorithm: Algorithm, problem: Problem) -> Iterator[tuple[Run, Answer]]:
    """Let an algorithm learn; yield its judgements and its answers then.

    Raises:
        OptionError: the learner ended early.
    """
    learner, most = algorithm.start(problem), problem.decisions * algorithm.share
    reached, _ = next(learner)  # compiles and loads
    due, seconds, begun = min(FIRST, problem.decisions // 32), 0.0, time.process_time()
    for reached, answer in learner:
        seconds += time.process_time() - begun
        if reached >= min(due, most):
            found = nash_convs(problem.openings, answer)
            print(
                f"{algorithm.label}, {problem.task}: {reached:,} decisions, "
                f"{np.mean(found['nash_conv']):.4f} VP",
                flush=True,
            )
            yield {"decisions": reached, "seconds": seconds, **found}, answer
        if reached >= most:
            return
        while due <= reached:
            due *= 2
        begun = time.process_time()
    raise OptionError(f"{algorithm.label} ended after {reached:,} of {most:,} decisions")


def nash_convs(openings: Sequence[Opening], answer: Answer) -> Run:
    """Return NashConv in each opening, in VP and as shares of the ranges of payoffs."""
    evaluators = {opening: Evaluator(opening.tree) for opening in openings}
    found = [one.nash_conv(answer(opening)) for opening, one in evaluators.items()]
    shares = np.divide(found, [one.payoff_range for one in evaluators.values()])
    return {"nash_conv": found, "shares": shares.tolist()}


def mistakes_of(openings: Sequence[Opening], answer: Answer) -> dict[str, float]:
    """Return the mean loss by each kind of mistake."""
    lost = [play(opening, answer(opening)) for opening in openings]
    return {kind: float(np.mean([one[kind] for one in lost])) for kind in MISTAKES}


def planned(options: AlgorithmsOptions) -> Iterator[tuple[Algorithm, str, int, Path]]:
    """Algorithm, task, seed and file of each run; a seed of all of them before the next one.

    Raises:
        OptionError: there is no such algorithm. MissingExtraError: one needs more packages.
    """
    algorithms = {name: algorithm_of(name) for name in options.algorithms}
    check_extra("test", *(module for one in algorithms.values() for module in one.modules))
    for seed, task, name in itertools.product(range(options.seeds), options.tasks, algorithms):
        if seed < algorithms[name].seeds:
            stem = f"{name}-{task}-{options.decisions}-{seed}".translate(IN_FILES)
            yield algorithms[name], task, seed, options.out / f"{stem}.json"


def run(algorithm: Algorithm, task: str, seed: int, options: AlgorithmsOptions) -> Run:
    """Let an algorithm learn a task, and judge it now and then."""
    openings = openings_of(task, options.openings, training=False)
    problem = Problem(task, seed, options.decisions, openings)
    points, answers = zip(*judged(algorithm, problem), strict=True)
    more: Run = {"mistakes": mistakes_of(problem.openings, answers[-1])}
    if algorithm.share == 1 and "/" not in task:  # others learn on the same
        training = openings_of(task, options.openings, training=True)
        more["training"] = nash_convs(training, answers[-1])
    more |= {"label": algorithm.label, "task": task, "seed": seed, "budget": options.decisions}
    return {**more, "openings": options.openings, "points": points}


# ---- figures ----


def curves(options: AlgorithmsOptions) -> list[Curve]:
    """Return the learning curves of the runs in the folder.

    Raises:
        CheckpointError: a file is damaged, or its run was measured on other openings.
    """
    found: dict[tuple[str, str, int], list[Run]] = {}
    for path in sorted(options.out.glob("*-*-*-*.json")):
        content = read_json(path)
        if content.get("openings") != options.openings or "shares" not in content["points"][0]:
            raise CheckpointError(
                f"{path} is not a run measured on {options.openings} openings; choose another "
                "--openings or --out"
            )
        key = content["task"], content["label"], content["budget"]
        found.setdefault(key, []).append(content)
    tasks = [*TASKS]
    # The openings named of a task come before it.
    ordered = sorted(
        found.items(),
        key=lambda item: (tasks.index(task_name(item[0][0])), "/" not in item[0][0], *item[0]),
    )
    return [curve(*key, runs) for key, runs in ordered]


def curve(task: str, label: str, budget: int, runs: list[Run]) -> Curve:
    """Return runs of an algorithm as one curve, as long as the shortest."""
    points = [*zip(*(run["points"] for run in runs), strict=False)]
    decisions, seconds, scores, shares = (
        np.array([[np.mean(one[field]) for one in point] for point in points])
        for field in ("decisions", "seconds", "nash_conv", "shares")
    )
    across, figures = np.median([decisions, seconds], axis=2), []
    for made, spent, one in zip(*across, scores, strict=True):
        name = f"{label}: {task} after {made:,.0f} of {budget:,} decisions, {spent:.3g} s"
        figures.append(Figure(name, middle(one), one.min(), one.max(), "VP", len(runs)))
    return Curve(task, label, across, figures, [*map(middle, shares)], runs)


def middle(scores: ArrayLike) -> float:
    """Return the interquartile mean, that of the middle half of the scores."""
    cut = np.size(scores) // 4
    return float(np.sort(scores)[cut : np.size(scores) - cut].mean())


def comparison(found: Sequence[Curve], tiers: Sequence[int] = TIERS) -> list[list[str]]:
    """Return a table of NashConv after each tier and each budget of decisions of a task, the best
    algorithm first.

    Of several budgets of an algorithm the smallest that reaches the tier counts.
    """
    lines = [
        [
            *("task", "algorithm", "seeds", "decisions", "processor time", "of the range"),
            *("NashConv, VP", "of the seeds", "on training openings", "of their range"),
        ]
    ]
    for _, of_task in itertools.groupby(found, key=lambda one: one.task):
        curves = [*of_task]
        for tier in sorted({*tiers, *(one.runs[0]["budget"] for one in curves)}):
            reached = [one for one in reversed(curves) if one.across[0, -1] >= tier]
            chosen = {one.label: one for one in reached}.values()
            rows = [(one, int(np.argmax(one.across[0] >= tier))) for one in chosen]
            rows.sort(key=lambda row: row[0].shares[row[1]])
            lines += [line_of(*row) for row in rows]
    return lines


def line_of(one: Curve, point: int) -> list[str]:
    """Return the cells of a curve's point in the table."""
    (made, spent), score = one.across[:, point], one.figures[point]
    training = ["", ""]
    if point == len(one.figures) - 1 and "training" in one.runs[0]:
        convs, shares = (
            middle([np.mean(run["training"][field]) for run in one.runs])
            for field in ("nash_conv", "shares")
        )
        training = [f"{convs:.3g}", f"{100 * shares:.3g} %"]
    spread = f"{score.lowest:.3g} to {score.highest:.3g}" if len(one.runs) > 1 else ""
    return [
        *(f"`{one.task}`", one.label, str(len(one.runs)), f"{made:,.0f}", f"{spent:,.3g} s"),
        *(f"{100 * one.shares[point]:.3g} %", f"{score.median:.3g}", spread, *training),
    ]


def mistakes(found: Sequence[Curve]) -> list[list[str]]:
    """Return a table of each algorithm's NashConv at the end of its largest budget, the plain mean
    over seeds, and the kinds of mistakes that it adds up.
    """
    units = [f"{kind}, VP" for kind in ("NashConv", *MISTAKES)]
    lines = [["task", "algorithm", "seeds", "decisions", *units]]
    for one in {(one.task, one.label): one for one in found}.values():
        lost = [np.mean([run["points"][-1]["nash_conv"] for run in one.runs])]
        lost += [np.mean([run["mistakes"][kind] for run in one.runs]) for kind in MISTAKES]
        spent = str(len(one.runs)), f"{one.across[0, -1]:,.0f}"
        lines.append([f"`{one.task}`", one.label, *spent, *(f"{mean:.3g}" for mean in lost)])
    return lines


def draw(found: Sequence[Curve], path: Path) -> None:
    """Draw NashConv against decisions and seconds, a row for each task.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure as Picture

    tasks = list(dict.fromkeys(one.task for one in found))
    palette = itertools.cycle(colormaps["tab20"](range(20)))
    colors = dict(zip(sorted({one.label for one in found}), palette, strict=False))
    picture = Picture(figsize=(13, 3.8 * len(tasks)), layout="constrained")
    places = picture.subplots(len(tasks), 2, squeeze=False, sharey="row")
    for (row, task), (unit, name) in itertools.product(
        enumerate(tasks), enumerate(("decisions", "seconds"))
    ):
        chosen = [one for one in found if one.task == task]
        lines = {one.label: [*zip(one.across[unit], one.figures, strict=True)] for one in chosen}
        axes = places[row, unit]
        axes.set_prop_cycle(color=[colors[label] for label in lines])
        draw_lines(axes, lines)
        axes.set(title=task, xlabel=name, xscale="log", yscale="log", ylim=LIMITS)
        axes.set_ylabel("NashConv, VP")
    for axes in places[:, 1]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    save(picture, path)


# ---- program ----


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code (see the module's text)."""
    told = Help(
        "compare algorithms in bidding tasks",
        "--algorithms ppo my_module:learner --seeds 3",
        "docs/benchmark.md",
    )
    module = "experiments.benchmarks.algorithms"
    return run_program(AlgorithmsOptions, module, told, compare, arguments)


def compare(options: AlgorithmsOptions) -> None:
    """Make the runs that aren't there, and the figures of all."""
    check_plots()
    use_processor(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for algorithm, task, seed, path in [*planned(options)]:
        if not path.exists():
            write_atomically(path, json.dumps(run(algorithm, task, seed, options)))
    found = curves(options)
    tables = {
        "comparison": comparison(found),
        "mistakes": mistakes(found),
    }
    print("\n\n".join(markdown(table) for table in tables.values()))
    figures = [one for group in found for one in group.figures]
    write(options.out / "algorithms.json", METHOD, figures, **tables)
    draw(found, options.out / "algorithms.png")


if __name__ == "__main__":
    sys.exit(main())
