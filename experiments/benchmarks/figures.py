"""What benchmarks share: figures with their repeats, the machine they were measured on, the command
line.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from skyenv.engine.thread_pool import cores
from skyenv.files import write_atomically


@dataclass(frozen=True)
class Figure:
    """One measured number: what it is, its median and extremes over the repeats, and its unit."""

    name: str
    median: float
    lowest: float
    highest: float
    unit: str
    repeats: int


def measure(name: str, unit: str, repeats: int, once: Callable[[], float]) -> Figure:
    """Run `once`, which returns a number, `repeats` times."""
    return figure(name, unit, [once() for _ in range(repeats)])


def figure(name: str, unit: str, measurements: Sequence[float]) -> Figure:
    """What came of some repeats, at least one."""
    ordered = sorted(measurements)
    return Figure(name, ordered[len(ordered) // 2], ordered[0], ordered[-1], unit, len(ordered))


def seconds(action: Callable[[], Any]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def machine(*more: str) -> dict[str, str]:
    """What the figures were measured on, with the versions of `more` packages."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in cpuinfo.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    packages = {
        name: version(name) for name in ("numpy", "numba", *(more or ("pettingzoo", "gymnasium")))
    }
    return {
        "processor": model,
        "cores": str(cores()),
        "python": platform.python_version(),
        **packages,
    }


def shown(figure: Figure) -> str:
    """A figure as a line of the table."""
    digits = 0 if figure.median >= 100 else 2
    return (
        f"{figure.name:<64} {figure.median:>14,.{digits}f} {figure.unit:<12}"
        f" [{figure.lowest:,.{digits}f} … {figure.highest:,.{digits}f}]"
    )


def report(
    program: str,
    description: str,
    method: str,
    measure_all: Callable[[bool], list[Figure]],
    arguments: Sequence[str] | None,
    packages: Sequence[str] = (),
    draw: Callable[[Mapping[str, Any], Path], None] | None = None,
    on_gpu: Callable[[bool], list[Figure]] | None = None,
    package: str = "experiments.benchmarks",
) -> int:
    """The command line of a benchmark: measure, print, and write JSON (and a picture) if asked to;
    returns the exit code.

    Args:
        program: name of its module. description: of the program. method: how it measures.
        measure_all: gives all figures; with True less work, for a first look.
        arguments: of the command line; None: the process's own.
        packages: as for :func:`machine`.
        draw: draws what the JSON file holds into a file.
        on_gpu: gives the figures of a GPU, where ``--device cuda`` asks for them. package: that the
            program is in.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {package}.{program}", description=description)
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the figures, the machine and the method as JSON",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a fraction of the work, for a first look"
    )
    if draw is not None:
        parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the figures")
    if on_gpu is not None:
        parser.add_argument(
            "--device",
            choices=("cpu", "cuda"),
            default="cpu",
            help="where games are played (default: cpu)",
        )
    options = parser.parse_args(arguments)
    if on_gpu is not None and options.device == "cuda":
        measure_all = on_gpu
    where = machine(*packages)
    print(f"{method}\n{where}\n")
    figures = measure_all(options.quick)
    print("\n".join(shown(figure) for figure in figures))
    content = {
        "date": datetime.date.today().isoformat(),
        "machine": where,
        "method": method,
        "figures": [asdict(figure) for figure in figures],
    }
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(options.json, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    if draw is not None and options.picture:
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        draw(content, options.picture)
    return 0
