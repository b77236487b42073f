"""Atomic replacement of files, checksums, and locks on folders.

A file is written under a hidden name in the same folder and then renamed. A killed process leaves
its hidden file behind; the next process that locks the folder (:func:`locked`) removes it.
"""

import contextlib
import datetime
import errno
import hashlib
import json
import os
import re
import secrets
import socket
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from filelock import FileLock, Timeout

from skyenv.errors import CheckpointError, FolderInUseError

LOCK: Final = ".lock"
"""Name of the lock file, which names the process that holds the folder."""
# Names of hidden, unfinished files (see :func:`replacing`).
_HIDDEN: Final = re.compile(r"\..*\.[0-9a-f]{8}\.part(\..*)?")
CHECKSUM: Final = "crc32"
"""Key of a checksum in sealed JSON objects."""
HALF_A_CHARACTER: Final = "it has an unpaired surrogate (half a character)"
# Errors of writing that don't name a file.
_ONLY_WRITING: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}


def digest_of(path: Path, endings: tuple[str, ...] = ("",)) -> str:
    """Return the hexadecimal SHA-256 of a file, or of a folder's file names and contents.

    Args:
        path: the file or folder.
        endings: suffixes of a folder's files that are included.

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
    """Yield a path to write to; move it to `path` once the block ends without an exception.

    After an exception `path` is unchanged. A target that is not a regular file (a pipe,
    ``/dev/stdout``) is written directly. A symbolic link is preserved; its target is replaced.

    Raises:
        OSError: the file can't be written; the error names `path`. It is raised before the block
            begins if the hidden file can't be created.
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
    """Yield a binary stream whose content replaces `path`; see :func:`replacing`."""
    with replacing(path) as part, open(part, "wb") as stream:
        yield stream


def write_atomically(path: str | Path, content: bytes | str) -> None:
    """Write a file atomically: a reader sees the old content or the new, never a part.

    Args:
        path: the file.
        content: its new content; text is encoded as UTF-8.

    Raises:
        OSError: as for :func:`replacing`.
    """
    with writing(path) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


class _NothingWrittenError(Exception):
    """Ends a block of :func:`replacing` without replacing the file."""


def check_writable(*paths: str | Path) -> None:
    """Check that files can be written, before the work for them; nothing is changed.

    Raises:
        OSError: as for :func:`replacing`.
    """
    for path in paths:
        with contextlib.suppress(_NothingWrittenError), replacing(path):
            raise _NothingWrittenError


def check_new(path: str | Path) -> None:
    """Check that writing to a path replaces no regular file.

    Raises:
        FileExistsError: there is a file.
    """
    if os.path.isfile(path):
        raise FileExistsError(errno.EEXIST, "File exists; use --replace to overwrite it", str(path))


@contextmanager
def naming(path: str | Path, hidden: Path | None = None) -> Iterator[None]:
    """Put `path` into OSErrors of the block that name no file or the hidden one."""
    try:
        yield
    except OSError as error:
        unnamed = error.filename is None and error.errno in _ONLY_WRITING
        if unnamed or str(error.filename) == str(hidden):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def remove_abandoned(folder: Path) -> None:
    """Remove the unfinished files in a folder, which no other process may be writing."""
    with contextlib.suppress(OSError):
        for name in filter(_HIDDEN.fullmatch, os.listdir(folder)):
            (folder / name).unlink(missing_ok=True)


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: it is not JSON, is nested too deeply, or has an unpaired surrogate.
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
    """Check that JSON values have no unpaired surrogate, which UTF-8 can't encode.

    Raises:
        ValueError: there is one.
    """
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(HALF_A_CHARACTER) from error


def fault_of(text: str | bytes) -> str:
    """Return the likely reason why a file isn't lines of UTF-8; "" if unknown."""
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
        raise CheckpointError(f"{path} is damaged: it is not a JSON object")
    return content


def sealed(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with its checksum: the CRC-32 of its JSON text, 8 hexadecimal digits."""
    text = json.dumps(entry, separators=(",", ":"))
    return {**entry, CHECKSUM: f"{zlib.crc32(text.encode()):08x}"}


def read_sealed(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file with a checksum; empty if the file is missing.

    Raises:
        CheckpointError: damaged. OSError: the file can't be read.
    """
    try:
        return unsealed(read_json(path)) if path.exists() else {}
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error


def unsealed(content: Any) -> dict[str, Any]:
    """Return an entry without its checksum, after checking it.

    Raises:
        ValueError: not an object, or a wrong checksum.
    """
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    entry = {key: value for key, value in content.items() if key != CHECKSUM}
    if content != sealed(entry):
        raise ValueError("its checksum is not that of its content")
    return entry


@contextmanager
def locked(folder: str | Path, file: str = "") -> Iterator[None]:
    """Lock a folder, or one file in it, for this process until the block ends.

    The operating system releases the lock when the process ends, even if it is killed. The lock
    also excludes other threads and nested calls of the same process. Unfinished files of killed
    processes in a locked folder are removed first.

    Args:
        folder: created if it doesn't exist.
        file: name of the file, which other programs' files may stand beside; "": the whole folder.

    Raises:
        FolderInUseError: another process holds the lock; the message names it.
        OSError: the folder can't be created, written or locked.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (f".{file}{LOCK}" if file else LOCK)
    try:
        lock = FileLock(path).acquire(timeout=0)
    except Timeout:
        holder = path.read_text(errors="replace")[:200] or "another process"
        raise FolderInUseError(
            f"{folder / file} is in use by {holder}; wait for it to end, stop it, or choose "
            f"another {'file' if file else 'folder'}"
        ) from None
    with lock:
        since = f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S}"
        with naming(path):
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}, since {since}")
        if not file:
            remove_abandoned(folder)
        try:
            yield
        finally:
            os.truncate(path, 0)
