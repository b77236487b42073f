"""Files that are whole or not there, and folders that one process has at a time."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from processes import printed, running
from skyenv.errors import FolderInUseError
from skyenv.files import (
    LOCK,
    check_writable,
    digest_of,
    locked,
    replacing,
    write_atomically,
    writing,
)

# ---- files ----


def test_a_digest_tells_files_and_folders_apart(tmp_path: Path) -> None:
    """A file's is its SHA-256; a folder's changes with what is in a file, and with the file's
    name.
    """
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "weights"
    file.write_bytes(b"abc")
    assert digest_of(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    before = digest_of(tmp_path)
    file.write_bytes(b"abd")
    changed = digest_of(tmp_path)
    file.rename(tmp_path / "weights")
    assert len({before, changed, digest_of(tmp_path), digest_of(tmp_path / "weights")}) == 4


def names_in(folder: Path) -> list[str]:
    """All names in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("what was there before")

    def interrupted() -> None:
        with writing(path) as stream:
            stream.write(b"half")
            stream.flush()
            assert path.read_text() == "what was there before"
            assert len(names_in(tmp_path)) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "what was there before"
    assert names_in(tmp_path) == ["games.jsonl"]
    write_atomically(path, "what is there näw")
    assert path.read_text(encoding="utf-8") == "what is there näw"
    assert names_in(tmp_path) == ["games.jsonl"]


def test_checking_whether_files_can_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("what was there before")
    check_writable(tmp_path / "old", str(tmp_path / "new"), "/dev/stdout")
    assert names_in(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "what was there before"
    with pytest.raises(FileNotFoundError) as caught:
        check_writable(tmp_path / "new", tmp_path / "nowhere" / "new")
    assert caught.value.filename == str(tmp_path / "nowhere" / "new")
    assert names_in(tmp_path) == ["old"]


def test_a_file_that_cannot_be_is_told_by_the_name_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path, kind in (
        (tmp_path / "nowhere" / "games.jsonl", FileNotFoundError),
        (tmp_path / "folder", IsADirectoryError),
        (Path("a\0b"), OSError),
    ):
        with pytest.raises(kind) as caught, replacing(path):
            raise AssertionError("the block must not begin")
        assert isinstance(caught.value, OSError)
        assert caught.value.filename == str(path)


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.touch()
    link.symlink_to(target)
    write_atomically(link, "text")
    assert link.is_symlink()
    assert target.read_text() == "text"
    write_atomically(os.devnull, "text")
    assert not os.path.isfile(os.devnull)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_atomically(tmp_path / "file", "text")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


FULL = """
import resource, signal, sys
from pathlib import Path
from skyenv.files import replacing, write_atomically, writing
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
def text(path): write_atomically(path, "x" * 5000)
def stream(path):
    with writing(path) as file:
        file.write(b"x" * 900)
        file.write(b"x" * 900)
def by_itself(path):
    with replacing(path) as part:
        part.write_bytes(b"x" * 5000)
for write in (text, stream, by_itself):
    try:
        write(sys.argv[1])
    except OSError as error:
        print(error.filename)
"""


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    """Here it is the process that may write no larger files; a system's error of writing names no
    file at all.
    """
    path = tmp_path / "model.zip"
    path.write_text("old")
    assert printed("-c", FULL, path).splitlines() == [str(path)] * 3
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["model.zip"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
def test_a_full_device_is_named() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically("/dev/full", "x" * 10**6)
    assert caught.value.filename == "/dev/full"


def test_other_errors_of_the_block_are_left_alone(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "a"):
        (tmp_path / "other" / "b").read_bytes()
    assert (
        caught.value.filename == str(tmp_path / "other" / "b")
        or caught.value.filename == tmp_path / "other" / "b"
    )
    with pytest.raises(BrokenPipeError) as broken, replacing(tmp_path / "a"):
        raise BrokenPipeError
    assert broken.value.filename is None


HOLD = """
import sys
from skyenv.files import locked
with locked(sys.argv[1]):
    print("begun", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a folder until its standard input is closed."""
    with running("-c", HOLD, folder, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        yield process
        process.stdin.close()


# ---- folders ----


def test_a_folder_has_one_process_and_the_others_are_told_which(tmp_path: Path) -> None:
    with held(tmp_path / "run") as process:
        since = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
        who = f"run is in use by process {process.pid} on {socket.gethostname()}, since {since};"
        with pytest.raises(FolderInUseError, match=who), locked(tmp_path / "run"):
            pass
    with locked(tmp_path / "run"):
        pass


def test_a_second_time_in_the_same_process(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(FolderInUseError, match=f"process {os.getpid()}"),
        locked(tmp_path),
    ):
        pass
    assert (tmp_path / LOCK).read_text() == ""


def test_a_killed_process_leaves_no_lock_and_no_leftovers(tmp_path: Path) -> None:
    with held(tmp_path) as process:
        process.kill()
    (tmp_path / ".model.npz.0123abcd.part.npz").write_text("half")
    (tmp_path / ".mine.part").write_text("whole")
    with locked(tmp_path):
        assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK, ".mine.part"]
        assert f"process {os.getpid()} " in (tmp_path / LOCK).read_text()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP])
def test_a_file_system_without_locks_is_a_warning(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other errors of locking are raised."""

    def refuse(code: int) -> None:
        def flock(*_: object) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr("fcntl.flock", flock)

    refuse(number)
    with (
        pytest.warns(UserWarning, match=rf"^{tmp_path} can't be locked \(.*\): .*$") as told,
        locked(tmp_path),
    ):
        assert f"process {os.getpid()} " in (tmp_path / LOCK).read_text()
    assert len(told) == 1
    refuse(errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)), locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"), locked(tmp_path / "file"):
        pass
