"""``python -m experiments`` lists the programs that are run from a clone."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from skyenv import tables
from skyenv.commands import Parser

HERE: Final = Path(__file__).parent


def programs() -> Iterator[tuple[str, str]]:
    """Each program's name, and what it is for: the beginning of its text, which names the module as
    one to be run.
    """
    for path in sorted(HERE.glob("*/*.py")):
        name = f"{path.parent.name}.{path.stem}"
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        named = re.match(rf"([^`]+?):? ``python -m experiments\.{re.escape(name)}\b", text)
        if named:
            yield name, named[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print them; returns the exit code."""
    parser = Parser("experiments", "List the programs that are run from a clone.")
    parser.parse_args(arguments)
    print(
        f"{tables.wrapped('Each is run as `python -m experiments.PROGRAM`, and has its own --help.')}\n"
    )
    listed = dict(programs())
    width = max(map(len, listed)) + 2
    for name, what in listed.items():
        print(
            textwrap.fill(
                what, tables.WIDTH, initial_indent=name.ljust(width), subsequent_indent=" " * width
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
