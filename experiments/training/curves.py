"""Learning curves as a picture, and for TensorBoard."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from experiments.figures import save
from skyenv.errors import CheckpointError
from skyenv.render.colours import GRID, REFERENCE, SERIES

MAX_LINES: Final = 6
DASHES: Final = ("-", "--", ":")

Curve = Sequence[Mapping[str, Any]]


def read_curve(folder: str | Path) -> list[dict[str, Any]]:
    """Return the points of a run's ``curve.jsonl``.

    Raises:
        CheckpointError: there is no such file, or something else is in it.
    """
    path = Path(folder) / "curve.jsonl"
    try:
        points = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        usable = all(isinstance(one["shares"], dict) for one in points) and all(
            one["seconds"] >= 0 and one["entropy"] >= 0 for one in points
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is not a training curve: {error!s:.100}") from error
    if not points or not usable:
        raise CheckpointError(f"{path} is not a training curve: no points, or unknown ones")
    return points


def draw_curves(curves: Mapping[str, Curve], path: str | Path, against: Sequence[str] = ()) -> None:
    """Draw win shares against kinds of opponents, with a line at par, and the entropy, over the
    time of training.

    Two runs have a colour each and the opponents differ by dashes; in the picture of one run
    opponents have colours.

    Args:
        curves: points as `Run.curve` has them, of one run or two, by the name of the run.
        path: of a PNG file.
        against: kinds of opponents; empty: as many as there is room for, the hardest ones.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure

    kinds = list(against) or hardest(curves)
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


def hardest(curves: Mapping[str, Curve]) -> list[str]:
    """Return at most MAX_LINES kinds of opponents by name, those with the lowest last shares."""
    last: dict[str, list[float]] = {}
    for curve in curves.values():
        shares = {kind: share for point in curve for kind, share in point["shares"].items()}
        for kind, share in shares.items():
            last.setdefault(kind, []).append(share)
    ordered = sorted(last, key=lambda kind: (sum(last[kind]) / len(last[kind]), kind))
    return sorted(ordered[: MAX_LINES // len(curves)])


def write_board(folder: Path, program: str, points: Sequence[Mapping[str, Any]]) -> bool:
    """Add points of a curve, in a file of their own; return whether TensorBoard is installed.

    Args:
        folder: folder of the run. program: the trainer's name, in the names of figures.
        points: as :class:`experiments.training.run.Run` has them; none: no file.
    """
    writer_of = _writer()
    if writer_of is None:
        return False
    if points:
        with writer_of(str(folder / "tensorboard"), purge_step=points[0]["decisions"]) as writer:
            for point in points:
                figures = {f"{program}/{name}": value for name, value in point.items()}
                figures |= {f"win share/{kind}": won for kind, won in point["shares"].items()}
                for name, value in figures.items():
                    if isinstance(value, (int, float)):
                        writer.add_scalar(name, value, point["decisions"])
    return True


@cache
def _writer() -> Any:
    """Return TensorBoard's writer; None: it isn't installed, which is said once."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        print(f"no files for TensorBoard, but curve.jsonl: {error}", file=sys.stderr)
        return None
    return SummaryWriter
