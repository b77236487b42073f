"""Jobs for tests of pools, and what happens to their workers."""

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from skyenv.errors import IllegalActionError
from skyenv.work import ONE_THREAD, Report


def doubled(number: int) -> int:
    return 2 * number


def dying(marks: str, how: int, number: int) -> int:
    """Dies over 3, as long as there is a file to remove."""
    if number == 3:
        for mark in Path(marks).iterdir():
            mark.unlink()
            os.kill(os.getpid(), how)
    return 2 * number


def failing(number: int) -> int:
    if number == 3:
        raise IllegalActionError("three", 7)
    return 2 * number


class SeveralError(Exception):
    """Pickle would make it again from its text alone."""

    def __init__(self, what: str, where: int) -> None:
        super().__init__(f"{what} at {where}")


def failing_with_several(number: int) -> None:
    raise SeveralError("nothing", 3)


def failing_with_a_lock(number: int) -> None:
    raise ValueError("shut", threading.Lock())


def leaving(number: int) -> None:
    sys.exit(0)


def unreadable(number: int) -> Any:
    return threading.Lock()


# Work whose errors can't be sent as they are, and their texts.
UNSENDABLE: Final = (
    (failing_with_several, "SeveralError: nothing at 3"),
    (failing_with_a_lock, "ValueError: .*shut"),
)


def environment(number: int) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in ONE_THREAD}


def process(*_: object) -> int:
    return os.getpid()


def reporting(number: int, report: Report) -> int:
    report("half")
    return number**2


def noting(folder: Path, number: int) -> int:
    """Append its number to a file."""
    with open(folder / "order", "a", encoding="ascii") as file:
        file.write(str(number))
    return number


def holding(folder: Path, name: str) -> str:
    """Write its process's number to a file, and wait for another file."""
    with open(folder / f"{name}.begun", "a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    while not (folder / f"{name}.go").exists():
        time.sleep(0.01)
    return name


def begun(folder: Path, name: str) -> list[int]:
    """The processes that have begun a job of :func:`holding`."""
    path = folder / f"{name}.begun"
    return [int(line) for line in path.read_text(encoding="ascii").split()] if path.exists() else []
