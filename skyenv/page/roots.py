"""The folders and files that a page was started with, and what its addresses and texts call the
files in them: no more of a path is told than the way from there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skyenv.errors import OptionError
from skyenv.page.errors import PageError

LONGEST_NAME: Final = 60
"""Characters of an agent's name."""
KEY_LENGTH: Final = 16
"""Digits of a key; other things have longer names in addresses."""
LONGEST_LABEL: Final = 100
"""Characters of what a file is called."""


@dataclass(frozen=True)
class Root:
    """A folder or file that the page was started with.

    Attributes:
        path: without links. label: what the page calls it.
    """

    path: Path
    label: str


def roots_of(paths: Iterable[Path]) -> list[Root]:
    """The folders and files, each with a label of its own.

    Raises:
        OptionError: one of them isn't there.
    """
    roots: list[Root] = []
    for path in paths:
        real = Path(os.path.realpath(path.expanduser()))
        if not real.exists():
            raise OptionError(f"there is no folder or file {path}")
        if real in [root.path for root in roots]:
            continue
        name = one_line(real.name, LONGEST_LABEL) or "games"
        labels = (name, *(f"{name} ({number})" for number in range(2, len(roots) + 2)))
        taken = {root.label for root in roots}
        roots.append(Root(real, next(label for label in labels if label not in taken)))
    return roots


def named(path: Path, roots: Sequence[Root]) -> tuple[str, str]:
    """The key of a file or folder, by which addresses call it, and its label, which is shown.

    Raises:
        PageError: it is in none of the roots.
    """
    for root in roots:
        if path.is_relative_to(root.path):
            label = os.path.join(root.label, *path.relative_to(root.path).parts)
            return key_of(label), one_line(label, LONGEST_LABEL)
    raise PageError("there is no such file", 404)


def key_of(text: str) -> str:
    """Hexadecimal digits of a text: the same whenever the page is started again."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:KEY_LENGTH]


def one_line(text: str, longest: int) -> str:
    """A text from a file as one printable line, and not more of it than so many characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
