"""The folders that a page was started with, and the keys and labels of files in them. Labels show
only paths relative to these folders.
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
"""Longest name of an agent, in characters."""
KEY_LENGTH: Final = 16
"""Digits of a key; other identifiers in URLs are longer."""
LONGEST_LABEL: Final = 100
"""Longest label of a file, in characters."""


@dataclass(frozen=True)
class Root:
    """A folder or file that the page was started with.

    Attributes:
        path: its resolved path. label: its name on the page.
    """

    path: Path
    label: str


def roots_of(paths: Iterable[Path]) -> list[Root]:
    """Return the folders and files, each with a unique label.

    Raises:
        OptionError: one of them doesn't exist.
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
    """A file and its state when it was scanned.

    Attributes:
        path: its path. way: the path from its root, with the root's label. size: bytes. mtime:
            time of the last change, in nanoseconds.
    """

    path: Path
    way: str
    size: int
    mtime: int

    @property
    def key(self) -> str:
        """The file's key in URLs."""
        return key_of(self.way)


def files_in(roots: Iterable[Root], ending: str) -> Iterator[File]:
    """Yield the files whose names have an ending, each once, a folder's own before its subfolders'.

    Links aren't followed. Hidden files are skipped, among them files being written.
    """
    seen = set[Path]()
    for root in roots:
        alone = str(root.path.parent), list[str](), [root.path.name]
        for folder, inside, names in [alone] if root.path.is_file() else os.walk(root.path):
            inside[:] = sorted(name for name in inside if name[0] != ".")
            for name in sorted(name for name in names if name[0] != "." and name.endswith(ending)):
                path = Path(folder, name)
                with suppress(OSError):  # just removed
                    stat = path.lstat()
                    if S_ISREG(stat.st_mode) and path not in seen:
                        seen.add(path)
                        way = os.path.join(root.label, *path.relative_to(root.path).parts)
                        yield File(path, way, stat.st_size, stat.st_mtime_ns)


def key_of(text: str) -> str:
    """Return hexadecimal digits of a text's hash, which are the same after a restart."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:KEY_LENGTH]


def one_line(text: str, longest: int) -> str:
    """Return a text from a file as one printable line of at most `longest` characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
