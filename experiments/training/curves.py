"""Learning curves: statistics of the latest episodes, a picture, and files for TensorBoard."""

import json
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.figures import save
from experiments.training.config import PAST
from skyenv.errors import CheckpointError
from skyenv.render.colours import GRID, REFERENCE, SERIES

MAX_LINES: Final = 6
DASHES: Final = ("-", "--", ":")

# The curves show means over this many latest episodes (win shares: against each opponent).
RECENT_EPISODES: Final = 1000
# Means of fewer games are not shown.
FEWEST_EPISODES: Final = 50

Curve = Sequence[Mapping[str, Any]]


class Episodes:
    """Statistics of the latest episodes: win shares against each opponent, lengths, VP."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = {"shares": {}, "lengths": [], "points": [], "count": 0} if state is None else state
        self.shares: dict[str, deque[float]] = {
            kind: deque(shares, RECENT_EPISODES) for kind, shares in state["shares"].items()
        }
        self.lengths: deque[int] = deque(state["lengths"], RECENT_EPISODES)
        self.points: deque[float] = deque(state["points"], RECENT_EPISODES)
        self.count = int(state["count"])

    def state(self) -> dict[str, Any]:
        """Return the state from which the constructor makes an equal object."""
        shares = {kind: list(won) for kind, won in self.shares.items()}
        return {
            "shares": shares,
            "lengths": list(self.lengths),
            "points": list(self.points),
            "count": self.count,
        }

    def note(self, length: int, points: float) -> None:
        """Add a finished episode: its decisions of all seats, and the mean VP of the learner's
        seats.
        """
        self.count += 1
        self.lengths.append(length)
        self.points.append(points)

    def note_share(self, opponent: str, share: float) -> None:
        """Add the learner's share of a win against one kind of opponent."""
        kind = PAST if opponent.startswith(f"{PAST}-") else opponent
        self.shares.setdefault(kind, deque(maxlen=RECENT_EPISODES)).append(share)

    def means(self) -> dict[str, float]:
        """Return the share of wins against each kind of opponent in the latest episodes."""
        return {
            kind: float(np.mean(won))
            for kind, won in sorted(self.shares.items())
            if len(won) >= FEWEST_EPISODES
        }


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
