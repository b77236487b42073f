"""The folders and files that a page was started with, and what its addresses and texts call the
files in them: no more of a path is told than the way from there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Final

from skyenv.errors import OptionError

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


@dataclass(frozen=True)
class File:
    """A file as it was when it was looked at.

    Attributes:
        path: where it lies. way: from its root, with the root's label. size: bytes. mtime: when it
            was changed, in nanoseconds.
    """

    path: Path
    way: str
    size: int
    mtime: int

    @property
    def key(self) -> str:
        """By which addresses call it."""
        return key_of(self.way)


def files_in(roots: Iterable[Root], ending: str) -> Iterator[File]:
    """The files whose names end so, each once, a folder's own before those of its folders.

    Links aren't followed. Hidden files are left out, among them those that are being written.
    """
    seen = set[Path]()
    for root in roots:
        alone = str(root.path.parent), list[str](), [root.path.name]
        for folder, inside, names in [alone] if root.path.is_file() else os.walk(root.path):
            inside[:] = sorted(name for name in inside if name[0] != ".")
            for name in sorted(name for name in names if name[0] != "." and name.endswith(ending)):
                path = Path(folder, name)
                with suppress(OSError):  # removed just now
                    stat = path.lstat()
                    if S_ISREG(stat.st_mode) and path not in seen:
                        seen.add(path)
                        way = os.path.join(root.label, *path.relative_to(root.path).parts)
                        yield File(path, way, stat.st_size, stat.st_mtime_ns)


def key_of(text: str) -> str:
    """Hexadecimal digits of a text: the same whenever the page is started again."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:KEY_LENGTH]


def one_line(text: str, longest: int) -> str:
    """A text from a file as one printable line, and not more of it than so many characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
