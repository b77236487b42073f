"""Measurements: ``python -m experiments.benchmarks speed start --out runs/figures``.

Each name is a function of a module of this package. Its figures are printed as they are measured
and written to FOLDER/NAME.json, with date, command, machine and method.

Exit codes: 0 success, 1 invalid file, 2 invalid command, 130 interrupted.
"""

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from experiments.figures import Figure, Scale, shown, write
from skyenv.console.options import Help, Options, option, program

# Modules by the names of their functions.
BENCHMARKS: Final = {
    "speed": "engine",
    "resampling": "engine",
    "start": "start",
    "search": "search",
    "pictures": "pictures",
    "open_spiel": "open_spiel",
    "peers": "peers",
    "gpu": "gpu",
    "game": "game",
    "bidding": "tasks",
    "tasks": "tasks",
    "panel": "tasks",
    "units": "units",
    "abr": "abr",
}


@dataclass(frozen=True)
class BenchmarkOptions(Options):
    """Options of the command line."""

    names: tuple[str, ...] = option(
        MISSING, ", ".join(BENCHMARKS), tuple(BENCHMARKS), metavar="NAME", positional=True
    )
    out: Path | None = option(None, "write FOLDER/NAME.json", metavar="FOLDER")
    share: float = option(1.0, "share of the usual work", above=True)
    repeats: int = option(7, "repeats of every figure", low=1)


def _run(options: BenchmarkOptions) -> None:
    scale = Scale(options.share, options.repeats)
    for name in options.names:
        module = import_module(f"experiments.benchmarks.{BENCHMARKS[name]}")
        function: Callable[[Scale], Iterable[Figure]] = getattr(module, name)
        method = " ".join((inspect.getdoc(function) or "").partition("\n\nRaises:")[0].split())
        print(f"{name}: {method}", flush=True)
        figures = []
        for figure in function(scale):
            print(shown(figure), flush=True)
            figures.append(figure)
        if options.out is not None:
            write(options.out / f"{name}.json", method, figures)


main = program(
    BenchmarkOptions,
    "experiments.benchmarks",
    Help("run benchmarks and print their figures", "speed start", "docs/results/speed.md"),
    _run,
)

if __name__ == "__main__":
    sys.exit(main())
