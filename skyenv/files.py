"""Files that come into being all at once: under a hidden name at first, next to where they belong."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def hidden_neighbour(target: Path) -> Path:
    """A name next to a file for what will replace it; it begins with a dot and has the file's suffix."""
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part{target.suffix[:20]}")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Where to write what is to stand at `path`, once the block ends without an exception.

    After an exception everything is as it was, so what stood at `path` before is never lost for something half-written. A target
    that is no regular file (a pipe, ``/dev/stdout``) is written directly.

    Raises:
        OSError: the file can't be written; it names `path` and is raised before the block begins.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        yield target
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    part = hidden_neighbour(target)
    try:
        part.open("xb").close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # the caller doesn't know the hidden name
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
