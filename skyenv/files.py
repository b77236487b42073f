"""Files that are replaced atomically, and folders with one process at a time.

A file is written under a hidden name next to its place and then renamed. A killed process leaves
its hidden file behind; in a folder that :func:`locked` guards, the next process removes it.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from filelock import FileLock, Timeout

from skyenv.errors import CheckpointError, FolderInUseError

LOCK: Final = ".lock"
"""The file in a folder that names the process at work there."""
_HIDDEN: Final = re.compile(r"\..*\.[0-9a-f]{8}\.part(\..*)?")
"""Names of hidden, unfinished files (see :func:`replacing`)."""
HALF_A_CHARACTER: Final = "it has an unpaired surrogate, which is half a character"
_ONLY_WRITING: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
"""System errors of writing, which name no file."""


def digest_of(path: Path, endings: tuple[str, ...] = ("",)) -> str:
    """Return the SHA-256 of a file, or of a folder's file names and contents, in hexadecimal.

    Args:
        path: the file or folder.
        endings: of a folder's files that count.

    Raises:
        OSError: a file can't be read.
    """
    if not path.is_dir():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    files = (file for file in path.rglob("*") if file.is_file() and file.name.endswith(endings))
    for file in sorted(files):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{content} {file.relative_to(path).as_posix()}\n".encode())
    return digest.hexdigest()


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a path to write to, and move it to `path` once the block ends without an exception.

    After an exception the old content of `path` is untouched. A target that is no regular file (a
    pipe, ``/dev/stdout``) is written directly. A symbolic link stays one; its target is replaced.

    Raises:
        OSError: the file can't be written; the error names `path`. Where the hidden file can't be
            made, it is raised before the block begins.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        with naming(path, target):
            yield target
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part{target.suffix[:20]}")
    with naming(path, part):
        part.touch(exist_ok=False)
        try:
            yield part
            with open(part, "rb") as written:
                os.fsync(written.fileno())
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def writing(path: str | Path) -> Iterator[BinaryIO]:
    """Give a binary stream whose content replaces `path`; see :func:`replacing`."""
    with replacing(path) as part, open(part, "wb") as stream:
        yield stream


def write_atomically(path: str | Path, content: bytes | str) -> None:
    """Write a file so that its name always stands for the old content or the new, never a part.

    Args:
        path: the file.
        content: its new content; text is encoded as UTF-8.

    Raises:
        OSError: as for :func:`replacing`.
    """
    with writing(path) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


class _NothingWrittenError(Exception):
    """Ends a block of :func:`replacing` without replacing anything."""


def check_writable(*paths: str | Path) -> None:
    """Check that files can be written before the work for them is done; nothing is changed.

    Raises:
        OSError: as for :func:`replacing`.
    """
    for path in paths:
        with contextlib.suppress(_NothingWrittenError), replacing(path):
            raise _NothingWrittenError


def check_new(path: str | Path) -> None:
    """Check that writing to a path replaces no file. Pipes and devices are none.

    Raises:
        FileExistsError: it would.
    """
    if os.path.isfile(path):
        raise FileExistsError(errno.EEXIST, "File exists; --replace replaces it", str(path))


@contextmanager
def naming(path: str | Path, hidden: Path | None = None) -> Iterator[None]:
    """Make OSErrors of the block that name no file, or the hidden one, name `path`."""
    try:
        yield
    except OSError as error:
        unnamed = error.filename is None and error.errno in _ONLY_WRITING
        if unnamed or str(error.filename) == str(hidden):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def remove_abandoned(folder: Path) -> None:
    """Remove the unfinished files in a folder; nothing else may be writing there."""
    with contextlib.suppress(OSError):
        for name in filter(_HIDDEN.fullmatch, os.listdir(folder)):
            (folder / name).unlink(missing_ok=True)


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: it is no JSON, is nested too deeply, or has half a character in it.
    """
    try:
        content = json.loads(text)
        check_characters(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError(fault_of(text) or str(error)) from error
    return content


def check_characters(content: Any) -> None:
    """Check that JSON values have no unpaired surrogate, which no file can hold.

    Raises:
        ValueError: they have one.
    """
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(HALF_A_CHARACTER) from error


def fault_of(text: str | bytes) -> str:
    """Return the usual reason why a text can't be read as UTF-8 in lines; "" if it is another."""
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if content.startswith(b"\x1f\x8b"):
        return "it is compressed with gzip; unpack it first"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16; save it as UTF-8"
    if re.search(rb"\xed[\xa0-\xbf]", content):
        return HALF_A_CHARACTER
    if b"\r" in content.strip().replace(b"\r\n", b""):
        return "its lines end in CR alone; they must end in LF, or CR LF"
    return ""


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file.

    Raises:
        CheckpointError: the file is damaged. OSError: it can't be read.
    """
    try:
        content = parse_json(path.read_bytes())
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} is damaged: it holds no JSON object")
    return content


@contextmanager
def locked(folder: str | Path) -> Iterator[None]:
    """Keep a folder for this process until the block ends.

    The operating system holds the lock and drops it when the process ends, however it ends. It
    excludes other threads and later calls of the same process, too. Unfinished files that killed
    processes left in the folder are removed first.

    Args:
        folder: made if it doesn't exist.

    Raises:
        FolderInUseError: another process has the folder; the message names it.
        OSError: the folder can't be made, written or locked.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    try:
        lock = FileLock(path).acquire(timeout=0)
    except Timeout:
        holder = path.read_text(errors="replace")[:200] or "another process"
        raise FolderInUseError(
            f"{folder} is in use by {holder}; wait for it, end it, or choose another folder"
        ) from None
    with lock:
        since = f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S}"
        with naming(path):
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}, since {since}")
        remove_abandoned(folder)
        try:
            yield
        finally:
            os.truncate(path, 0)
