"""Figures of measurements: their spread, machine, files and tables."""

import datetime
import json
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from skyenv.console.tables import markdown
from skyenv.errors import CheckpointError, check_extra
from skyenv.files import read_json, replacing, write_atomically
from skyenv.runtime import cores
from skyenv.statistics import Estimate

# Folder of the published figures.
RESULTS: Final = Path(__file__).resolve().parents[1] / "docs" / "results"
MEASURED: Final = RESULTS / "measured.json"

PACKAGES: Final = (
    *("skyenv", "numpy", "numba", "numba-cuda", "torch", "gymnasium", "pettingzoo"),
    *("stable-baselines3", "sb3-contrib", "open_spiel", "pgx", "jax", "rlcard", "catanatron"),
)


@dataclass(frozen=True)
class Figure:
    """A number: its median and extremes over repeats, or a mean and its interval.

    A name of the form ``ROW: COLUMN`` places the figure in a table with several columns, where a
    number below 100 has some `digits` after the point.
    """

    name: str
    median: float
    lowest: float
    highest: float
    unit: str
    repeats: int
    digits: int = 1


@dataclass(frozen=True)
class Scale:
    """The amount of work of a run.

    Attributes:
        share: share of the usual work in a repeat.
        repeats: repeats of every figure.
    """

    share: float = 1.0
    repeats: int = 7

    def of(self, usual: int) -> int:
        """Return the scaled amount of work, at least 1."""
        return max(1, round(self.share * usual))

    def measure(self, name: str, unit: str, once: Callable[[], float]) -> Figure:
        """Return the figure of `repeats` calls of `once`, after a warm-up call that may compile.

        Args:
            name, unit: of the figure.
            once: measures once and returns the number.
        """
        return self.in_turns(unit, {name: once})[0]

    def in_turns(self, unit: str, plays: Mapping[str, Callable[[], float]]) -> list[Figure]:
        """Return the figures of several functions, measured in turns.

        A busy machine then slows down all of them equally.

        Args:
            unit: unit of the numbers.
            plays: functions by the names of their figures.
        """
        for once in plays.values():
            once()
        rounds = [[once() for once in plays.values()] for _ in range(self.repeats)]
        return [
            figure(name, unit, numbers)
            for name, numbers in zip(plays, zip(*rounds, strict=True), strict=True)
        ]


def figure(name: str, unit: str, numbers: Sequence[float], digits: int = 1) -> Figure:
    """Return the figure of one or more measured numbers."""
    median, number = statistics.median(numbers), len(numbers)
    return Figure(name, median, min(numbers), max(numbers), unit, number, digits)


def seconds(action: Callable[[], Any]) -> float:
    """Return the duration of a call in seconds."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def per_second(number: int, action: Callable[[], Any]) -> float:
    """Return the rate of a call that processes `number` items, per second."""
    return number / seconds(action)


def of_estimate(
    name: str, estimate: Estimate, unit: str, repeats: int = 1, scale: float = 1.0
) -> Figure:
    """Return a mean and its interval, times `scale`, as a figure."""
    mean, low, high = (scale * value for value in (estimate.mean, estimate.low, estimate.high))
    return Figure(name, mean, low, high, unit, repeats)


def percent(name: str, share: Estimate) -> Figure:
    """Return a share with its interval as a figure."""
    return of_estimate(name, share, "%", scale=100.0)


def machine() -> dict[str, str]:
    """Return the processor, its cores, and the versions of Python and the installed PACKAGES."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    # Of several versions on the path, the first is imported.
    installed = {one.name: one.version for one in reversed([*distributions()])}
    return {
        "processor": next(iter(models), platform.processor() or platform.machine()),
        "cores": str(cores()),
        "python": platform.python_version(),
        **{name: installed[name] for name in PACKAGES if name in installed},
    }


def shown(figure: Figure) -> str:
    """Return a figure as a line for a terminal."""
    digits = 0 if figure.median >= 100 else 2
    return (
        f"{figure.name:<64} {figure.median:>14,.{digits}f} {figure.unit:<12}"
        f" [{figure.lowest:,.{digits}f} … {figure.highest:,.{digits}f}]"
    )


def check_plots() -> None:
    """Raise MissingExtraError if matplotlib is not installed."""
    check_extra("train", "matplotlib")


def save(picture: Any, path: str | Path) -> None:
    """Write a matplotlib figure atomically; raise OSError if the file can't be written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with replacing(path) as part:
        FigureCanvasAgg(picture).print_figure(part, dpi=150)


def draw_lines(axes: Any, lines: Mapping[str, Sequence[tuple[float, Figure]]]) -> None:
    """Draw one line of (x, figure) points per label, with error bars for the intervals."""
    for label, points in lines.items():
        x, figures = zip(*sorted(points, key=lambda point: point[0]), strict=True)
        errors = [
            [one.median - one.lowest for one in figures],
            [one.highest - one.median for one in figures],
        ]
        medians = [one.median for one in figures]
        axes.errorbar(x, medians, yerr=errors, marker="o", capsize=3, label=label)


def write(path: Path, method: str, figures: Iterable[Figure], **more: Any) -> None:
    """Write figures as JSON, with the date, this process's command, the machine, the method and
    more entries.

    Raises:
        OSError: the file can't be written.
    """
    command = shlex.join(["python", *sys.orig_argv[1:]])
    content = {
        "date": datetime.date.today().isoformat(),
        "command": command,
        "machine": machine(),
        "method": method,
        "figures": [asdict(one) for one in figures],
        **more,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


# ---- in the docs ----


def read(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Return the content of a published file, with its "figures" as objects of :class:`Figure`.

    Raises:
        CheckpointError: the file is missing or damaged.
    """
    path = folder / f"{name}.json"
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        content["figures"] = [Figure(**one) for one in content["figures"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} has no figures: {error}") from error
    return content


def list_table(name: str) -> str:
    """Return a published file as a table with a row for each figure."""
    rows = [["measurement", "median", "range"]]
    for one in read(name)["figures"]:
        digits = 0 if one.median >= 100 else 2
        spread = f"{one.lowest:,.{digits}f} … {one.highest:,.{digits}f}" if one.repeats > 1 else ""
        rows.append([one.name, f"{one.median:,.{digits}f} {one.unit}", spread])
    return f"{markdown(rows, 'lrl')}\n\n{about(name)}"


def grid_table(name: str, columns: Sequence[str] = ()) -> str:
    """Return a published file as a table with a cell for each figure, named ``ROW: COLUMN``.

    Args:
        name: name of the file, without its suffix.
        columns: the columns to show; empty: all.
    """
    cells = {one.name: one for one in read(name)["figures"]}
    names = [name.rpartition(": ") for name in cells]
    shown_columns = list(columns or dict.fromkeys(column for _, _, column in names))
    rows = [["", *shown_columns]]
    for row in dict.fromkeys(row for row, _, column in names if column in shown_columns):
        rows.append([row, *(_cell(cells.get(f"{row}: {one}")) for one in shown_columns)])
    table = markdown(rows, "l" + "r" * len(shown_columns))
    return table if columns else f"{table}\n\n{about(name)}"


def _cell(figure: Figure | None) -> str:
    """Return a rate, or a number with its unit and its interval, if there is one."""
    if figure is None:
        return "–"
    if figure.unit.endswith("/s"):
        return f"{figure.median:,.0f}"
    digits = 0 if figure.median >= 100 else figure.digits
    text = f"{figure.median:z,.{digits}f} {figure.unit}".strip()
    if figure.lowest == figure.highest:
        return text
    return f"{text} [{figure.lowest:z,.{digits}f}, {figure.highest:z,.{digits}f}]"


def about(name: str) -> str:
    """Return the date, the commit, the machine and the method of a published file."""
    content = read(name)
    where = content["machine"]
    return (
        f"{content['date']}{commit_of(name)}, {where['processor']}, {where['cores']} cores, Python"
        f" {where['python']}, NumPy {where['numpy']}, Numba {where['numba']}."
        f" {content['method']}"
    )


def measured() -> dict[str, Any]:
    """Return what :mod:`experiments.published` measured, by the part's name.

    Raises:
        CheckpointError: the file is damaged.
    """
    return read_json(MEASURED) if MEASURED.exists() else {}


def commit_of(name: str) -> str:
    """Return the commit that a part of :mod:`experiments.published` measured, after a comma; "" if
    it was measured otherwise.
    """
    entry = measured().get(name)
    return f", commit {entry['commit']}" if entry else ""
