"""Measurements: ``python -m experiments.benchmarks speed start --out runs/figures``.

Each name is a function of a module of this package. The runner prints its figures as they come and
writes them to FOLDER/NAME.json, with date, command, machine and method.
"""

from __future__ import annotations

import argparse
import inspect
import os
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from experiments.figures import Figure, Scale, figure, read, shown, write
from skyenv.checks import check_choice
from skyenv.options import exit_code

COMMAND: Final = "python -m experiments.benchmarks"
HERE: Final = Path(__file__).resolve().parents[2]
BENCHMARKS: Final = {
    "speed": "engine",
    "resampling": "engine",
    "start": "start",
    "agents": "agents",
    "search": "agents",
    "pictures": "pictures",
    "open_spiel": "open_spiel",
    "libraries": "libraries",
    "peers": "peers",
    "throughput": "throughput",
    "gpu": "gpu",
    "game": "game",
}
"""The modules by the names of their functions."""


def benchmark(name: str) -> Callable[[Scale], Iterable[Figure]]:
    """Return a benchmark by its name.

    Raises:
        OptionError: there is no such name.
    """
    module = BENCHMARKS[check_choice("name", name, tuple(BENCHMARKS))]
    function: Callable[[Scale], Iterable[Figure]] = getattr(
        import_module(f"experiments.benchmarks.{module}"), name
    )
    return function


def beside(name: str, options: argparse.Namespace) -> Iterator[Figure]:
    """Measure this clone and another in turns, a process and a repeat each."""
    numbers: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(options.repeats):
        for label, clone in (("this", HERE), ("other", options.beside.resolve())):
            for one in in_a_process(name, options.share, clone):
                numbers[f"{one.name}: {label}", one.unit].append(one.median)
    for (label, unit), of in numbers.items():
        yield figure(label, unit, of)


def in_a_process(name: str, share: float, clone: Path) -> list[Figure]:
    """Measure the engine and the players of a clone once, by the programs of this one."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "experiments").symlink_to(HERE / "experiments")
        search = os.pathsep.join(map(str, (folder, clone, clone / "agents")))
        command = [sys.executable, "-P", "-m", "experiments.benchmarks", name, "--repeats", "1"]
        subprocess.run(
            [*command, "--share", str(share), "--out", folder],
            env={**os.environ, "PYTHONPATH": search},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        figures: list[Figure] = read(name, Path(folder))["figures"]
        return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code: 0 done, 1 a file is bad, 2 the command is wrong, 130
    interrupted.
    """
    parser = argparse.ArgumentParser(prog=COMMAND, description="Measure, and print figures.")
    parser.add_argument("names", nargs="+", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write FOLDER/NAME.json")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual work (default: 1)")
    parser.add_argument("--repeats", type=int, default=7, help="of every figure (default: 7)")
    parser.add_argument(
        "--beside",
        type=Path,
        metavar="CLONE",
        help="measure the engine and the players of another clone, too, in turns with this one's",
    )
    options = parser.parse_args(arguments)
    given = sys.argv[1:] if arguments is None else list(arguments)
    return exit_code("benchmarks", lambda: _run(options, f"{COMMAND} {shlex.join(given)}"))


def _run(options: argparse.Namespace, command: str) -> int:
    scale = Scale(options.share, options.repeats)
    for name in options.names:
        function = benchmark(name)
        method = " ".join((inspect.getdoc(function) or "").split())
        print(f"{name}: {method}", flush=True)
        kept = []
        for one in function(scale) if options.beside is None else beside(name, options):
            print(shown(one), flush=True)
            kept.append(one)
        if options.out is not None:
            write(options.out / f"{name}.json", command, method, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
