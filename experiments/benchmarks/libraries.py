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
CONSTRAINTS: Final = ROOT / "constraints.txt"
PUBLISHED: Final = ROOT / "docs" / "libraries.json"
METHOD: Final = "median of repeats of each program of examples/libraries, after a run that compiles; one process"
BRIDGE: Final = "# ---- bridge ----\n"
USE: Final = "# ---- use ----\n"
BUILT_IN: Final = (
    ("Gymnasium", "gymnasium", "single and vector environments: one learner among agents; masks.", "../examples/ppo.py"),
    ("OpenSpiel", "open_spiel", "the game with every card a chance node; bots, searches, algorithms.", "open_spiel.ipynb"),
    ("PettingZoo", "pettingzoo", "agents in turns, and in its parallel API; masks.", "../examples/random_play.py"),
    (
        "Stable-Baselines3", "stable-baselines3", "a vector environment, MaskablePPO; without masks illegal actions end games.",
        "../examples/maskable_ppo.py",
    ),
)  # fmt: skip
"""Libraries that skyenv has environments for: name, package, what works, and where it is shown."""
SPEEDS: Final = {"OpenSpiel": "[measured](open_spiel.md)", "PettingZoo": "[measured](speed.md)"}
"""Where the speeds of those are published."""
BEFORE: Final = {**{name: 0 for name, *_ in BUILT_IN}, "JAX": 8}
"""Lines of glue that a user of version 0.1 wrote. It had the environments that are built in; JAX's were counted when
`io_callback` was tried with it. Of other libraries nobody counted them."""


def examples() -> list[Path]:
    """The programs that show a library, each with its requirements beside it."""
    return sorted(EXAMPLES.glob("with_*.py"))


def version(requirements: Path, package: str = r"[\w.-]+") -> str:
    """The version of a package, by default of the first one, that a file of requirements pins.

    Raises:
        OptionError: it pins none.
    """
    pinned = re.search(rf"^{package}(?:\[.*\])?==(\S+)$", requirements.read_text(encoding="utf-8"), re.MULTILINE)
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
    rows = []
    for library, package, what, where in BUILT_IN:
        program = f"[{Path(where).name}]({where})"
        rows.append([library, version(CONSTRAINTS, package), what, program, "0", SPEEDS.get(library, "–")])
    for example in examples():
        library, what = what_works(example)
        program = f"[{example.name}](../examples/libraries/{example.name})"
        speed = speeds.get(example.stem, "not measured yet")
        rows.append([library, version(example.with_suffix(".txt")), what, program, str(lines_of_glue(example)), speed])
    head = ["library", "version", "what works", "where", "lines of glue before", "lines of glue", "steps/s"]
    told = [[*row[:4], str(BEFORE.get(row[0], "–")), *row[4:]] for row in sorted(rows, key=lambda row: row[0].lower())]
    return markdown([head, *told], "llllrrr")


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
