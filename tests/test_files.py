"""Atomic files, digests, and locked folders."""

import errno
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from processes import running
from skyenv.errors import FolderInUseError
from skyenv.files import (
    LOCK,
    check_writable,
    digest_of,
    locked,
    write_atomically,
    writing,
)


def test_digests_cover_contents_and_names(tmp_path: Path) -> None:
    """A file's is its SHA-256; a folder's covers contents and names."""
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "weights"
    file.write_bytes(b"abc")
    assert digest_of(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    before = digest_of(tmp_path)
    file.write_bytes(b"abd")
    changed = digest_of(tmp_path)
    file.rename(tmp_path / "weights")
    assert len({before, changed, digest_of(tmp_path), digest_of(tmp_path / "weights")}) == 4


def test_files_are_replaced_atomically(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("what was there before")
    mode = path.stat().st_mode
    check_writable(path, str(tmp_path / "new"), "/dev/stdout")
    assert path.read_text() == "what was there before"
    write_atomically(path, "what is there näw")
    assert path.read_text(encoding="utf-8") == "what is there näw"
    assert path.stat().st_mode == mode
    assert [*tmp_path.iterdir()] == [path]


def test_links_and_devices_are_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.touch()
    link.symlink_to(target)
    write_atomically(link, "text")
    assert link.is_symlink()
    assert target.read_text() == "text"
    write_atomically(os.devnull, "text")
    assert not os.path.isfile(os.devnull)


HERE = "what is written here"


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (OSError(errno.ENOSPC, "full"), HERE),  # a system's error of writing names no file
        (OSError(errno.EFBIG, "large"), HERE),
        (OSError(errno.EIO, "broken", HERE), HERE),
        (FileNotFoundError(errno.ENOENT, "missing", "another"), "another"),
        (BrokenPipeError(), None),
        (KeyboardInterrupt(), None),
    ],
)
def test_an_error_while_writing_keeps_the_old_file(
    error: BaseException, named: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "model.zip"
    path.write_text("old")

    def write() -> None:
        with writing(path) as stream:
            stream.write(b"half")
            stream.flush()
            assert path.read_text() == "old"
            if isinstance(error, OSError) and error.filename == HERE:
                error.filename = stream.name
            raise error

    with pytest.raises(type(error)) as caught:
        write()
    assert getattr(caught.value, "filename", None) == (str(path) if named == HERE else named)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


# ---- folders ----

HOLD = """
import sys
from skyenv.files import locked
with locked(sys.argv[1]):
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_a_locked_folder_is_released_when_its_process_dies(
    tmp_path: Path,
) -> None:
    with running("-c", HOLD, tmp_path, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        named = f"{tmp_path} is in use by process {process.pid} on {socket.gethostname()}, since "
        with (
            pytest.raises(FolderInUseError, match=rf"{re.escape(named)}\d{{4}}-[^;]*;"),
            locked(tmp_path),
        ):
            pass
        process.kill()
    (tmp_path / ".model.npz.0123abcd.part.npz").write_text("half")
    (tmp_path / ".mine.part").write_text("whole")
    with (
        locked(tmp_path),
        pytest.raises(FolderInUseError, match=f"process {os.getpid()} "),
        locked(tmp_path),
    ):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {LOCK, ".mine.part"}
    assert (tmp_path / LOCK).read_text() == ""


def test_file_systems_without_locks_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(OSError, match="no locks"), locked(tmp_path):
        pass
