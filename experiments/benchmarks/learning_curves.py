"""Learning curves: ``python -m experiments.benchmarks.learning_curves runs/first runs/second
--against greedy``.

What happens in training games can't be compared between methods: opponents differ, and the policy
changes meanwhile. So every *milestone* that the runs kept (``--milestone-minutes``;
:mod:`experiments.training.milestones`) plays the same paired seeds against every agent named,
each once from every seat. A secret draws them from the range of evaluations (:mod:`skyenv.seeds`),
so no run has trained on one; a folder that holds measurements has one already.

In the folder stand RUN.jsonl, a line for each milestone and opponent, written as it is measured,
with a checksum; and of all that was asked for the figures, learning_curves.json, and the picture,
learning_curves.png: wins over the time of training, which is wall time without checkpoints. The
same command goes on where it was interrupted. It measures what has changed: new milestones, those
with another content, other versions of opponents, other options. ``--publish`` copies figures and
picture to docs/trained.

Exit codes: 0 all right, 1 a file is bad, 2 the command or an agent is, 130 interrupted (after the
report).
"""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from experiments.benchmarks.publishing import published_part
from experiments.training.lines import MOST_LINES, names_of, tidy, write_labels
from experiments.training.milestones import milestones_of
from skyenv import tables
from skyenv.arena.estimates import interval
from skyenv.arena.evaluate import evaluate
from skyenv.arena.folder import line_of, unsealed
from skyenv.arena.plots import check_plots, save
from skyenv.arena.schedule import Entrant, entrants
from skyenv.arena.units import run_units
from skyenv.commands import INTERRUPTED, complain, exit_code
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import digest_of, locked, parse_json, write_atomically
from skyenv.options import Options, argument, command_line, common, option, parse
from skyenv.progress import progress
from skyenv.render.colours import REFERENCE, SERIES
from skyenv.seeds import HIGHEST_SEED, fresh_seed

FORMAT: Final = 1
NAME: Final = "learning_curves"
COMMAND: Final = "experiments.benchmarks.learning_curves"
SHIPPED: Final = Path(__file__).resolve().parents[2] / "docs" / "trained"
MINUTES: Final = (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200)
"""The table has columns for some of these."""
MOST_COLUMNS: Final = 5
NEAR: Final = 0.1
"""A milestone stands for a time that is so much longer or shorter, as a share of it."""

Row = dict[str, Any]
"""A milestone against an opponent, a line of RUN.jsonl: what was asked (:func:`tasks`), and
seconds, games, wins, and by how many
VP it was ahead (estimates)."""


# ---- measuring ----


@dataclass(frozen=True)
class LearningCurvesOptions(Options):
    """What the command takes."""

    runs: tuple[str, ...] = argument(
        "folders of runs that kept milestones; a run goes by its folder's name", metavar="RUN"
    )
    against: tuple[str, ...] = common("against", default=("greedy",))
    players: int = common("players")
    side: str = common("side")
    paired_seeds: int = common("paired_seeds", default=200)
    deterministic: bool = option(
        False, "milestones take their most probable action, instead of drawing one"
    )
    max_turns: int = common("max_turns")
    seed: int = common("seed", text="the first paired seed", high=HIGHEST_SEED - 10**7)
    secret: int | None = common("secret")
    workers: int = common("workers")
    ray: str | None = common("ray")
    out: Path = option(
        Path("runs/learning-curves"),
        "where everything is written; gone on with if it is there",
        metavar="FOLDER",
    )
    publish: Path | None = option(
        None, "copy the result to docs/trained, or to this folder", const=SHIPPED, metavar="FOLDER"
    )


@dataclass(frozen=True)
class Task:
    """A milestone of a run to be measured against an opponent: its seconds, and what is asked of
    it.
    """

    run: str
    milestone: Entrant
    seconds: int
    opponent: Entrant
    question: dict[str, Any]


def tasks(options: LearningCurvesOptions) -> list[Task]:
    """What is to be measured: all milestones of all runs against all opponents.

    Raises:
        OptionError: a run is named twice, or there are too many; nobody to play against, or two of
            one name.
        AgentError: an opponent can't be made. CheckpointError: a run has no milestones. OSError:
            one can't be read.
    """
    names = names_of(options.runs)
    if len(names) > MOST_LINES:
        raise OptionError(
            f"{len(names)} runs are too many for one picture, which holds {MOST_LINES}"
        )
    if not options.against:
        raise OptionError("against must name somebody to play against")
    opponents = entrants(options.against, options.players, options.side)
    asked = ("players", "side", "paired_seeds", "deterministic", "max_turns", "seed", "secret")
    settings = {name: getattr(options, name) for name in asked}
    found = []
    for name, folder in zip(names, options.runs, strict=True):
        milestones = milestones_of(Path(folder))
        if not milestones:
            raise CheckpointError(f"{folder} has no milestones: train it with --milestone-minutes")
        for milestone in milestones:
            digest = digest_of(milestone.path)
            player = Entrant(str(milestone.path), milestone.path.stem, "", "", digest)
            for one in opponents:
                opponent = {
                    "opponent": one.name,
                    "opponent_version": one.version,
                    "opponent_digest": one.digest,
                }
                question = {
                    "milestone": milestone.path.name,
                    "digest": digest,
                    **opponent,
                    **settings,
                }
                found.append(Task(name, player, milestone.seconds, one, question))
    return found


class Measured:
    """What was measured of a run.

    Args:
        path: of the file that it is kept in.

    Raises:
        CheckpointError: the file is damaged. OSError: it can't be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[Row] = []
        *lines, half_written = (path.read_bytes() if path.exists() else b"").split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                self.rows.append(unsealed(parse_json(line)))
            except ValueError as error:
                raise CheckpointError(
                    f"{path}: line {number} is no measurement: {error}; the file is damaged"
                ) from None
            if not {"digest", "secret", "wins"} <= self.rows[-1].keys():
                raise CheckpointError(
                    f"{path} holds something else than measurements; choose another folder for them"
                )
        if half_written:
            write_atomically(path, b"".join(map(line_of, self.rows)))

    def answer(self, question: Mapping[str, Any]) -> Row | None:
        """What was measured, if that was."""
        return next(
            (
                row
                for row in self.rows
                if all(row.get(name) == value for name, value in question.items())
            ),
            None,
        )

    def add(self, row: Row) -> None:
        """Keep what was measured, on the disk first."""
        with open(self.path, "ab") as file:
            file.write(line_of(row))
            file.flush()
            os.fsync(file.fileno())
        self.rows.append(row)


def measure(task: Task) -> Row:
    """Let a milestone play.

    Raises:
        AgentError, CheckpointError: it can't be played, or one of the two is another one here than
            where the command was given.
    """
    asked = task.question
    (result,) = evaluate(
        task.milestone.make(deterministic=asked["deterministic"]),
        [task.opponent.make()],
        asked["players"],
        asked["side"],
        asked["paired_seeds"],
        asked["seed"],
        max_turns=asked["max_turns"],
        secret=asked["secret"],
    )
    answer = {
        "games": result.games,
        "wins": result.share.rounded(4),
        "ahead": result.ahead.rounded(2),
    }
    return {**asked, "seconds": task.seconds, **answer}


def file_name(run: str) -> str:
    """What the file of a run's measurements is called, which may go by its path.

    Its lines tell milestones apart anyway.
    """
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', run).strip('-')}.jsonl"


# ---- reporting ----


def table(content: Mapping[str, Any]) -> str:
    """What learning_curves.json holds as Markdown: the wins of every run at some times, and in the
    end.
    """
    runs = content["runs"]
    columns = [minutes for minutes in MINUTES if any(_near(run["points"], minutes) for run in runs)]
    if len(columns) > MOST_COLUMNS:  # some of them, evenly
        columns = [
            columns[i * (len(columns) - 1) // (MOST_COLUMNS - 1)] for i in range(MOST_COLUMNS)
        ]
    rows = [["run", "against", *(f"{minutes} min" for minutes in columns), "in the end"]]
    for run in runs:
        for opponent in dict.fromkeys(point["opponent"] for point in run["points"]):
            points = [point for point in run["points"] if point["opponent"] == opponent]
            near = [_near(points, minutes) for minutes in columns]
            cells = [
                interval(point and point["wins"], 0, 100, " %") for point in (*near, points[-1])
            ]
            cells[-1] += f", {points[-1]['seconds'] / 60:.1f} min"
            rows.append([run["run"], opponent, *cells])
    return tables.markdown(rows, "ll" + "r" * (len(columns) + 1))


def _near(points: Sequence[Row], minutes: float) -> Row | None:
    """The milestone that is nearest to a time, if one is near."""
    nearest = min(points, key=lambda point: abs(point["seconds"] - 60 * minutes))
    return nearest if abs(nearest["seconds"] - 60 * minutes) <= NEAR * 60 * minutes else None


def markdown(content: Mapping[str, Any]) -> str:
    """What learning_curves.json holds, for the docs: the table, and how it was measured."""
    return "\n".join(
        [
            table(content),
            "",
            f"Wins of the milestones, {content['date']}: {content['players']} players, "
            f"{content['side']} side,"
            f" {content['paired_seeds']} paired seeds, each from every seat; intervals are 95 %.",
            "",
            f"`{content['command']}`",
        ]
    )


def published() -> str:
    """The part of the docs with the published curves; a line that says so if there are none.

    Raises:
        CheckpointError: the file is damaged.
    """
    picture = f"![wins over the time of training]({SHIPPED.name}/{NAME}.png)"
    otherwise = "Nothing has been published yet: the last command above, with `--publish`, fills this place."
    return published_part(SHIPPED / f"{NAME}.json", markdown, picture, otherwise)


def draw(content: Mapping[str, Any], path: Path) -> None:
    """Wins over minutes of training, a panel for each opponent, a line for each run.

    Args:
        content: what learning_curves.json holds.
        path: of a PNG file.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure

    runs = content["runs"]
    opponents = list(dict.fromkeys(point["opponent"] for run in runs for point in run["points"]))
    figure = Figure(figsize=(9, 0.7 + 4.4 * len(opponents)), layout="constrained")
    panels = figure.subplots(len(opponents), 1, sharex=True, squeeze=False)[:, 0]
    panels[-1].set_xlim(
        0, max(point["seconds"] for run in runs for point in run["points"]) / 60 or 1
    )
    for axes, opponent in zip(panels, opponents, strict=True):
        lines = {
            run["run"]: [point for point in run["points"] if point["opponent"] == opponent]
            for run in runs
        }
        _draw_panel(axes, lines, 100 / content["players"])
        where = f"{content['players']} players, {content['side']} side"
        axes.set_title(f"Wins against {opponent}, {where} (bands: 95 %)", loc="left", fontsize=12)
    panels[-1].set_xlabel("minutes of training, wall time")
    save(figure, path)


def _draw_panel(axes: Any, lines: Mapping[str, Sequence[Row]], par: float) -> None:
    axes.axhline(par, color=REFERENCE, linewidth=1, linestyle=(0, (4, 3)), zorder=1.5)
    labels = [(axes.get_xlim()[1], par, "par", REFERENCE)]
    highest = 1.25 * par
    for (run, points), colour in zip(lines.items(), SERIES, strict=False):
        if not points:
            continue
        minutes = [point["seconds"] / 60 for point in points]
        mean, low, high = (
            [100 * point["wins"][name] for point in points] for name in ("mean", "low", "high")
        )
        axes.fill_between(minutes, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(minutes, mean, color=colour, linewidth=2, marker="o", markersize=3)
        labels.append((minutes[-1], mean[-1], run, colour))
        highest = max(highest, *high)
    top = min(1.05 * highest, 102)
    axes.set(ylabel="wins, %", ylim=(-0.015 * top, top))
    write_labels(axes, labels)
    tidy(axes)


# ---- the command line ----


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    description = "Measure the milestones of trainings, and draw wins over the time of training."
    return exit_code(
        NAME, lambda: _run(parse(LearningCurvesOptions, COMMAND, description, arguments))
    )


def _run(options: LearningCurvesOptions) -> int:
    check_plots()
    wanted = tasks(options)
    with locked(options.out):
        if options.secret is None:
            before = [
                row["secret"]
                for path in sorted(options.out.glob("*.jsonl"))
                for row in Measured(path).rows
            ]
            options = replace(options, secret=before[0] if before else fresh_seed())
            wanted = [
                replace(task, question={**task.question, "secret": options.secret})
                for task in wanted
            ]
        measured = {
            run: Measured(options.out / file_name(run))
            for run in dict.fromkeys(task.run for task in wanted)
        }
        missing = [task for task in wanted if measured[task.run].answer(task.question) is None]
        interrupted = _measure_all(missing, measured, options)
        answers = [(task.run, measured[task.run].answer(task.question)) for task in wanted]
        runs = [
            {"run": run, "points": [row for of, row in answers if row is not None and of == run]}
            for run in measured
        ]
        if any(run["points"] for run in runs):
            _report(runs, options, whole=not interrupted)
    if interrupted:
        complain(NAME, "interrupted; the same command goes on")
        return INTERRUPTED
    return 0


def _measure_all(
    missing: Sequence[Task], measured: Mapping[str, Measured], options: LearningCurvesOptions
) -> bool:
    """Measure in processes side by side, and keep each answer as it comes; whether Ctrl-C ended
    it.
    """
    games = options.paired_seeds * options.players
    with progress(len(missing) * games) as bar:

        def done(task: Task, row: Row) -> None:
            measured[task.run].add(row)
            bar.set_description(
                f"{task.run}, {task.seconds / 60:.1f} min, against {row['opponent']}"
            )
            bar.update(games)

        try:
            run_units(
                measure,
                iter(missing),
                options.workers,
                ray=options.ray,
                done=done,
                tick=lambda: True,
                parts=lambda task: [task],
                about=lambda task: f"{task.milestone.spec} played against {task.opponent.name}",
            )
        except KeyboardInterrupt:
            return True
    return False


def _report(runs: Sequence[dict[str, Any]], options: LearningCurvesOptions, *, whole: bool) -> None:
    content = {
        "format": FORMAT,
        "date": datetime.date.today().isoformat(),
        "command": command_line(LearningCurvesOptions, COMMAND, {**vars(options), "publish": None}),
        "players": options.players,
        "side": options.side,
        "paired_seeds": options.paired_seeds,
        "runs": [run for run in runs if run["points"]],
    }
    print(markdown(content))
    write_atomically(
        options.out / f"{NAME}.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    )
    draw(content, options.out / f"{NAME}.png")
    if options.publish is not None and whole:
        options.publish.mkdir(parents=True, exist_ok=True)
        for ending in ("json", "png"):
            write_atomically(
                options.publish / f"{NAME}.{ending}",
                (options.out / f"{NAME}.{ending}").read_bytes(),
            )


if __name__ == "__main__":
    sys.exit(main())
