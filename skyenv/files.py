"""Files that come into being all at once, under a hidden name at first, next to where they belong;
folders for one process.

A process that is killed leaves its hidden file behind. Whoever writes the same file next, or takes
the folder, removes it: a writer holds a lock on its hidden file, which ends with the process, so
what can be locked has no writer any more.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import hashlib
import json
import os
import re
import secrets
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from skyenv.errors import CheckpointError, FolderInUseError

try:
    import fcntl
# Windows, where nothing is known of other writers, so that nothing is locked and nothing removed
except ImportError:
    fcntl = None  # type: ignore[assignment]

LOCK: Final = ".lock"
"""The file in a folder that says which process works there; it is gone when none does, or stays
behind unlocked after a kill.
"""
_RANDOM: Final = "[0-9a-f]{8}"
_HIDDEN: Final = re.compile(rf"\..*\.{_RANDOM}\.part(\..*)?")
"""Names of hidden files."""
_ONLY_WRITING: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""Errors of the system that only writing has, which names no file."""


def digest_of(path: Path) -> str:
    """SHA-256 of what is in a file, or in all files of a folder with their names, as hexadecimal
    digits.

    Raises:
        OSError: something can't be read.
    """
    digest = hashlib.sha256()
    for file in (
        sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    ):
        if file != path:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{content} {file.relative_to(path).as_posix()}\n".encode())
        else:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def is_hidden(name: str) -> bool:
    """Whether a file is so called that comes into being (see :func:`replacing`), or that a killed
    writer has left behind.
    """
    return _HIDDEN.fullmatch(name) is not None


@contextmanager
def replacing(path: str | Path, *, tidy: bool = True) -> Iterator[Path]:
    """Where to write what is to stand at `path`, once the block ends without an exception.

    After an exception everything is as it was, so what stood at `path` before is never lost for
    something half-written. A target that is no regular file (a pipe, ``/dev/stdout``) is written
    directly. The hidden file must be written where it is, not replaced by another one.

    Args:
        path: the file.
        tidy: remove what killed writers of it left behind, for which the folder is listed; who
            writes very many files into one has that done once for all of them
            (:func:`remove_abandoned`).

    Raises:
        OSError: the file can't be written; it names `path`, and where a part can't be made, it is
            raised before the block begins.
    """
    target = Path(path)
    if "\0" in str(path):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        with _naming(path, target):
            yield target
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    part = None
    try:
        with _naming(path, target):
            if tidy:
                names = re.compile(
                    rf"{re.escape(_start(target))}{_RANDOM}\.part{re.escape(_end(target))}"
                )
                remove_abandoned(target.parent, names)
            part, lock = _new_part(target)
        with _naming(path, part), lock:
            yield part
            os.fsync(lock.fileno())
            os.replace(part, target)
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


@contextmanager
def writing(path: str | Path, *, tidy: bool = True) -> Iterator[BinaryIO]:
    """A binary stream of what is to stand at `path`; see :func:`replacing`."""
    with replacing(path, tidy=tidy) as part, open(part, "wb") as stream:
        yield stream


def write_atomically(path: str | Path, content: bytes | str, *, tidy: bool = True) -> None:
    """Write a file so that, whatever happens, its name stands for the old content or the new, never
    for a part.

    Args:
        path, tidy: as for :func:`replacing`.
        content: what is to stand there; text as UTF-8.

    Raises:
        OSError: as for :func:`replacing`.
    """
    with writing(path, tidy=tidy) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


class _NothingWrittenError(Exception):
    """Ends what only finds out whether it could be done."""


def check_writable(*paths: str | Path) -> None:
    """Find out whether files can be written, before the work is done that is to stand in them; all
    stays as it was.

    Raises:
        OSError: as for :func:`replacing`.
    """
    for path in paths:
        with contextlib.suppress(_NothingWrittenError), replacing(path):
            raise _NothingWrittenError


@contextmanager
def _naming(path: str | Path, hidden: Path) -> Iterator[None]:
    """Errors of the block that name no file, or a hidden one, name `path`."""
    try:
        yield
    except OSError as error:
        if str(error.filename) == str(hidden) or (
            error.filename is None and error.errno in _ONLY_WRITING
        ):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _new_part(target: Path) -> tuple[Path, BinaryIO]:
    """A new hidden file next to `target`, with its suffix, and a stream that holds the lock on
    it.
    """
    while True:
        part = target.with_name(f"{_start(target)}{secrets.token_hex(4)}.part{_end(target)}")
        try:
            lock = open(part, "xb")  # noqa: SIM115 (the caller closes it)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target)) from error
        if fcntl is None:
            return part, lock
        with contextlib.suppress(
            OSError
        ):  # a file system without locks: then nobody removes it either
            fcntl.flock(lock, fcntl.LOCK_EX)
        if part.exists():  # another writer may have taken it for abandoned before it was locked
            return part, lock
        lock.close()


def _start(target: Path) -> str:
    return f".{target.name[:100]}."


def _end(target: Path) -> str:
    return target.suffix[:20]


def remove_abandoned(folder: Path, names: re.Pattern[str] = _HIDDEN) -> None:
    """Remove a folder's hidden files whose writers were killed: all, or those with such names."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if names.fullmatch(name):
                with contextlib.suppress(OSError), open(folder / name, "r+b") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer lives
                    os.unlink(folder / name)


def parse_json(text: str | bytes) -> Any:
    """What a JSON text says.

    Raises:
        ValueError: it is none, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises:
        CheckpointError: it is damaged. OSError: it can't be read.
    """
    try:
        content = parse_json(path.read_bytes())
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} is damaged: it holds no object")
    return content


@contextmanager
def locked(folder: str | Path) -> Iterator[None]:
    """Keep a folder for this process until the block ends; what killed processes left half-written
    in it is removed first.

    The operating system holds the lock (``flock``) and drops it when the process ends, however it
    ends. It holds for threads and later calls of the same process, too. Windows has no ``flock``:
    nothing is locked there.

    Args:
        folder: made if it isn't there.

    Raises:
        FolderInUseError: somebody else has it.
        OSError: it can't be made, or nothing can be written in it.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / LOCK
    if fcntl is None:
        yield
        return
    held = _take(path)
    try:
        os.truncate(held, 0)
        who = f"process {os.getpid()} on {socket.gethostname()}, since {datetime.datetime.now():%Y-%m-%d %H:%M:%S}"
        os.write(held, who.encode())
        remove_abandoned(Path(folder))
        yield
    finally:
        path.unlink(missing_ok=True)  # while it is still ours
        os.close(held)


def _take(path: Path) -> int:
    """The descriptor of a lock file that is locked now."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(file, path)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(path)):
                    return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # who had it removed it in this very moment


def _lock(file: int, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = ""
        with contextlib.suppress(OSError):
            who = path.read_text(errors="replace")
        raise FolderInUseError(
            f"{path.parent} is in use by {who[:200] or 'another process'}; wait for it, end it, or "
            "choose another folder"
        ) from None
    except OSError as error:  # some network file systems
        warnings.warn(
            f"{path.parent} can't be locked ({error.strerror}): let no other program write there",
            stacklevel=5,
        )
