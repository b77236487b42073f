"""How several trainings went, in one picture: ``python -m experiments.training.curves runs/first
runs/second -o curves.png``.

The picture shows the share of wins against each kind of opponent over the time of training, which
is wall time without checkpoints and the closing evaluation, with a line at par; below it the
entropy. At most six lines are drawn: without ``--against`` past policies, which are others in every
run, are left out where there are several runs, and then the opponents that are beaten most easily.

Exit codes: 0 all right, 1 a curve can't be read, 2 the command is wrong.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skyenv.arena.plots import save
from skyenv.errors import CheckpointError, OptionError
from skyenv.options import Options, argument, exit_code, option, parse
from skyenv.render.colours import GRID, REFERENCE, SERIES

PAST: Final = "past"
MOST_LINES: Final = 6
DASHES: Final = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))

Curve = Sequence[Mapping[str, Any]]


def read_curve(folder: str | Path) -> list[dict[str, Any]]:
    """The points of a run's ``curve.jsonl``.

    Raises:
        CheckpointError: there is no such file, or something else is in it; the line is told.
    """
    path = Path(folder) / "curve.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(
            f"there is no curve of a training in {folder}: {path} can't be read ({error})"
        ) from error
    points = []
    for number, line in enumerate(lines, 1):
        try:
            point = json.loads(line)
            usable = (
                isinstance(point["shares"], dict)
                and float(point["seconds"]) >= 0
                and float(point["entropy"]) is not None
            )
        except (ValueError, TypeError, KeyError) as error:
            raise CheckpointError(
                f"{path}, line {number}: no point of a curve ({type(error).__name__}: {error})"
            ) from error
        if not usable:
            raise CheckpointError(f"{path}, line {number}: no point of a curve")
        points.append(point)
    if not points:
        raise CheckpointError(f"{path} is empty: the training has not come to its first checkpoint")
    return points


def kinds_to_draw(curves: Mapping[str, Curve], against: Sequence[str] = ()) -> list[str]:
    """The kinds of opponents whose lines are drawn, in the order of their names, or as asked for.

    Args:
        curves: by the names of the runs.
        against: which; empty: as many as there is room for, the hardest ones.

    Raises:
        OptionError: there are too many lines, or nobody played against a kind that is asked for.
    """
    last: dict[str, list[float]] = {}
    for curve in curves.values():
        for kind, share in {
            kind: share for point in curve for kind, share in point["shares"].items()
        }.items():
            last.setdefault(kind, []).append(share)
    unknown = [kind for kind in against if kind not in last]
    if unknown:
        raise OptionError(
            f"no run has a share against {unknown[0]!r}; there are "
            f"{', '.join(sorted(last)) or 'none yet'}"
        )
    room = MOST_LINES // len(curves) if curves else MOST_LINES
    if len(against) > room or room == 0:
        lines = len(curves) * max(len(against), 1)
        raise OptionError(
            f"{lines} lines are too many for one picture, which holds {MOST_LINES}: name fewer "
            "runs or opponents"
        )
    if against:
        return list(against)
    kinds = [kind for kind in last if len(curves) == 1 or kind != PAST]
    return sorted(sorted(kinds, key=lambda kind: (sum(last[kind]) / len(last[kind]), kind))[:room])


def draw_curves(curves: Mapping[str, Curve], path: str | Path, against: Sequence[str] = ()) -> None:
    """Draw win shares against kinds of opponents, with a line at par, and the entropy, over the
    time of training.

    Several runs have a colour each and the opponents differ by dashes; in the picture of one run
    opponents have colours.

    Args:
        curves: points as `Run.curve` has them, by the name of the run.
        path: of a PNG file.
        against: see :func:`kinds_to_draw`.

    Raises:
        OptionError: as for :func:`kinds_to_draw`, or the file's name has no known ending. OSError:
            it can't be written.
    """
    from matplotlib.figure import Figure

    kinds = kinds_to_draw(curves, against)
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    wins, below = figure.subplots(2, 1, sharex=True, height_ratios=[5, 2])
    for number, (run, curve) in enumerate(curves.items()):
        alone = len(curves) == 1
        minutes = [point["seconds"] / 60 for point in curve]
        for index, kind in enumerate(kinds):
            shares = [100 * point["shares"].get(kind, float("nan")) for point in curve]
            colour, dashes = (SERIES[index], "-") if alone else (SERIES[number], DASHES[index])
            label = kind if alone else f"{run}, {kind}"
            wins.plot(minutes, shares, color=colour, linestyle=dashes, linewidth=2, label=label)
        entropy = [point["entropy"] for point in curve]
        below.plot(minutes, entropy, color=REFERENCE if alone else SERIES[number], linewidth=1.5)
    points = [point for curve in curves.values() for point in curve]
    for players in sorted({players for point in points for players in point.get("players", ())}):
        wins.axhline(100 / players, color=REFERENCE, linewidth=1, linestyle=(0, (4, 3)), zorder=1.5)
        wins.annotate(f"par, {players} players", (0, 100 / players), color=REFERENCE, va="bottom")
    if kinds:
        wins.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    title = "Share of wins in the latest games"
    wins.set_title(title if kinds else f"{title}: too few games yet", loc="left", fontsize=12)
    wins.set(ylabel="wins, %", ylim=(0, 102), yticks=range(0, 101, 25))
    below.set(xlabel="minutes of training, wall time", ylabel="entropy, nats")
    below.set_xlim(left=0)
    below.set_ylim(bottom=0)
    for axes in (wins, below):
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def names_of(folders: Sequence[str]) -> list[str]:
    """The names of runs: those of their folders, or where these are the same, their paths.

    Raises:
        OptionError: a run is named twice.
    """
    names = [Path(folder).resolve().name for folder in folders]
    names = names if len(set(names)) == len(names) else list(folders)
    if len(set(names)) < len(names):
        raise OptionError("a run is named twice")
    return names


# ---- the command line ----


@dataclass(frozen=True)
class CurvesConfig(Options):
    """What is drawn."""

    runs: tuple[str, ...] = argument(
        "folders of runs; a run goes by the name of its folder", metavar="RUN"
    )
    output: Path = option(Path("curves.png"), "the picture, a PNG file", short="-o", metavar="FILE")
    against: tuple[str, ...] = option(
        (), "kinds of opponents; none: as many as fit in", metavar="KIND"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 a curve can't be read, 2 the command
    is wrong.
    """

    def run() -> int:
        config = parse(
            CurvesConfig, "experiments.training.curves", "Draw how trainings went.", arguments
        )
        curves = {
            name: read_curve(folder)
            for name, folder in zip(names_of(config.runs), config.runs, strict=True)
        }
        draw_curves(curves, config.output, config.against)
        return 0

    return exit_code("curves", run)


if __name__ == "__main__":
    sys.exit(main())
