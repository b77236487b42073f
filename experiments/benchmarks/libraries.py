"""How fast do other libraries play? ``python -m experiments.benchmarks.libraries`` measures docs/libraries.md's examples.

Method: each program of examples/libraries runs in the environment that `make test-libraries` made for it, and prints the steps a
second of its second run, after one that compiles; the median of repeats. Libraries without an environment are left out.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from experiments.benchmarks.speed import Figure, measure, report
from skyenv.errors import OptionError
from skyenv.tables import markdown

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLES: Final = ROOT / "examples" / "libraries"
ENVIRONMENTS: Final = ROOT / ".venv-libraries"
PUBLISHED: Final = ROOT / "docs" / "libraries.json"
METHOD: Final = "median of repeats of each program of examples/libraries, after a run that compiles; one process"
BRIDGE: Final = "# ---- bridge ----\n"
USE: Final = "# ---- use ----\n"


def examples() -> list[Path]:
    """The programs that show a library, each with its requirements beside it."""
    return sorted(EXAMPLES.glob("with_*.py"))


def version(example: Path) -> str:
    """The version of the library that an example is for: the first that its requirements pin.

    Raises:
        OptionError: they pin none.
    """
    requirements = example.with_suffix(".txt")
    pinned = re.search(r"^[\w.-]+(?:\[.*\])?==(\S+)$", requirements.read_text(encoding="utf-8"), re.MULTILINE)
    if pinned is None:
        raise OptionError(f"{requirements} pins no version")
    return pinned[1]


def lines_of_code(source: str) -> int:
    """The lines that hold code: no empty ones, no comments, no docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    tree = ast.fix_missing_locations(tree)
    return len(ast.unparse(tree).replace("\n\n", "\n").strip().splitlines())


def lines_of_glue(example: Path) -> int:
    """The lines of code of the part of an example that stands between the library and skyenv."""
    _, _, rest = example.read_text(encoding="utf-8").partition(BRIDGE)
    glue, _, _ = rest.partition(USE)
    return lines_of_code(glue)


def what_works(example: Path) -> tuple[str, str]:
    """The library's name and what the example does with it: the first line of its docstring, "NAME: what"."""
    first = (ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    library, _, what = first.partition(": ")
    return library, what


def table() -> str:
    """The libraries, as docs/libraries.md lists them; speeds are those of docs/libraries.json, if that has been published."""
    content = json.loads(PUBLISHED.read_text(encoding="utf-8")) if PUBLISHED.exists() else {"figures": []}
    speeds = {figure["name"]: f"{figure['median']:,.0f}" for figure in content["figures"]}
    rows = [["library", "version", "what works", "program", "lines of glue", "steps/s"]]
    for example in examples():
        library, what = what_works(example)
        program = f"[{example.name}](../examples/libraries/{example.name})"
        speed = speeds.get(example.stem, "not measured yet")
        rows.append([library, version(example), what, program, str(lines_of_glue(example)), speed])
    return markdown(rows, "llllrr")


def steps_per_second(example: Path, arguments: Sequence[str] = ()) -> float:
    """Run an example in its environment and read what it prints last.

    Raises:
        OptionError: it fails, or says nothing of steps.
    """
    python = ENVIRONMENTS / example.stem / "bin" / "python"
    done = subprocess.run([python, example, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    said = re.search(r"^([\d,]+) steps/s\Z", done.stdout.strip(), re.MULTILINE)
    if done.returncode or said is None:
        raise OptionError(f"{example} doesn't run in {python}: {done.stderr.strip() or done.stdout}")
    return float(said[1].replace(",", ""))


def all_figures(quick: bool) -> list[Figure]:
    """A figure of every example that has an environment; with `quick` of one run instead of five."""
    there = [example for example in examples() if (ENVIRONMENTS / example.stem / ".ready").exists()]
    repeats = 1 if quick else 5
    return [measure(one.stem, "steps/s", repeats, partial(steps_per_second, one)) for one in there]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report("libraries", "Measure the examples with other libraries.", METHOD, all_figures, arguments)


if __name__ == "__main__":
    sys.exit(main())
