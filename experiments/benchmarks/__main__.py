"""Measurements: ``python -m experiments.benchmarks speed start --out runs/figures``.

Each name is a function of a module of this package. Its figures are printed as they are measured
and written to FOLDER/NAME.json, with date, command, machine and method.

Exit codes: 0 success, 1 invalid file, 2 invalid command, 130 interrupted.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from experiments.figures import Figure, Scale, shown, write
from skyenv.checks import check_choice
from skyenv.console.options import Parser, exit_code

BENCHMARKS: Final = {
    "speed": "engine",
    "resampling": "engine",
    "start": "start",
    "search": "search",
    "pictures": "pictures",
    "open_spiel": "open_spiel",
    "libraries": "libraries",
    "peers": "peers",
    "gpu": "gpu",
    "game": "game",
    "bidding": "bidding",
}
"""Modules by the names of their functions."""


def benchmark(name: str) -> Callable[[Scale], Iterable[Figure]]:
    """Return a benchmark by its name.

    Raises:
        OptionError: unknown name.
    """
    module = BENCHMARKS[check_choice("name", name, tuple(BENCHMARKS))]
    function: Callable[[Scale], Iterable[Figure]] = getattr(
        import_module(f"experiments.benchmarks.{module}"), name
    )
    return function


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = Parser("experiments.benchmarks", "Run benchmarks and print their figures.")
    parser.add_argument("names", nargs="+", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write FOLDER/NAME.json")
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the usual work (default: 1)"
    )
    parser.add_argument(
        "--repeats", type=int, default=7, help="repeats of every figure (default: 7)"
    )
    options = parser.parse_args(arguments)
    return exit_code("benchmarks", lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    scale = Scale(options.share, options.repeats)
    for name in options.names:
        function = benchmark(name)
        method = " ".join((inspect.getdoc(function) or "").split())
        print(f"{name}: {method}", flush=True)
        figures = []
        for figure in function(scale):
            print(shown(figure), flush=True)
            figures.append(figure)
        if options.out is not None:
            write(options.out / f"{name}.json", method, figures)


if __name__ == "__main__":
    sys.exit(main())
