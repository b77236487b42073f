"""What every program and pool needs of its machine: limits, shortages and signals to stop.

Files, locks and checksums are in :mod:`skyenv.files`.
"""

import contextlib
import errno
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

# Where Linux shows control groups, and which ones this process belongs to.
CGROUPS: Final = Path("/sys/fs/cgroup")
OWN_CGROUPS: Final = Path("/proc/self/cgroup")
# The tasks of a user are counted only below this limit, as that reads /proc.
TIGHT: Final = 10_000


def print_line(text: str) -> None:
    """Print a line on stderr, unless the environment variable SKYENV_QUIET is set."""
    if "SKYENV_QUIET" not in os.environ:
        print(f"skyenv: {text}", file=sys.stderr, flush=True)


print_once: Final = cache(print_line)
"""Print a line as :func:`print_line` does, once per process."""


# ---- limits ----


def cores() -> int:
    """Return the number of cores that this process may use."""
    has_affinity = hasattr(os, "sched_getaffinity")  # not on every system
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def at_once(bytes_each: float = 0, tasks_each: int = 1) -> int:
    """Return the default number of threads or workers: one per core, unless the CPU quota, the
    memory or the number of processes is limited to fewer, which a line on stderr says.

    Args:
        bytes_each: memory of one of them; this process has the same.
        tasks_each: its threads and processes.
    """
    limits = {
        "the CPU quota": _cpu_quota(),
        "the memory": _memory() / bytes_each - 1 if bytes_each else math.inf,
        "the limit of processes": _free_tasks() / tasks_each,
    }
    rules = min(limits, key=lambda name: limits[name])
    number = int(max(1, min(cores(), limits[rules])))
    if number < cores():
        print_once(f"{cores()} cores, but {rules} allows only {number} at once")
    return number


def _cgroups(controller: str) -> list[Path]:
    """Return the folders of a controller's group with this process, and of those above it."""
    found = []
    with contextlib.suppress(OSError):
        for line in OWN_CGROUPS.read_text(encoding="utf-8").splitlines():
            _, names, path = line.split(":", 2)
            if not names or controller in names.split(","):  # version 2 names none
                root = CGROUPS / controller if names else CGROUPS
                own = root / path.strip("/")
                found += [own, *(above for above in own.parents if above.is_relative_to(root))]
    return found


def _numbers(*files: Path) -> list[float]:
    """Return the numbers in the system's files; empty if one is missing."""
    try:
        words = [word for file in files for word in file.read_bytes().split()]
        return [math.inf if word in (b"max", b"-1") else float(word) for word in words]
    except (OSError, ValueError):
        return []


def _cpu_quota() -> float:
    """Return the processor time per time that the groups of this process have."""
    names = ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")  # versions 2 and 1
    found = [
        _numbers(*(group / name for name in each)) for group in _cgroups("cpu") for each in names
    ]
    return min((quota / period for quota, period in filter(None, found)), default=math.inf)


def _memory() -> float:
    """Return the memory of the machine in bytes, or the lower limit of a group."""
    names = "memory.max", "memory.limit_in_bytes"
    limits = [_numbers(group / name) for group in _cgroups("memory") for name in names]
    if hasattr(os, "sysconf"):  # not on Windows
        limits.append([float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))])
    return min((limit for (limit,) in filter(None, limits)), default=math.inf)


def _free_tasks() -> float:
    """Return how many more threads and processes the groups and the user of this process may have;
    root has no limit.
    """
    found = [_numbers(group / "pids.max", group / "pids.current") for group in _cgroups("pids")]
    free = min((most - now for most, now in filter(None, found)), default=math.inf)
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        if 0 <= most < TIGHT and os.getuid() != 0:
            free = min(free, most - _tasks_of_user())
    return free


def _tasks_of_user() -> int:
    count = 0
    for folder in Path("/proc").glob("[0-9]*/task"):
        with contextlib.suppress(OSError):  # it has ended
            count += len(os.listdir(folder)) if folder.stat().st_uid == os.getuid() else 0
    return count


# ---- shortages ----

SHORTAGES: Final = {
    errno.ENOMEM: "too little memory",
    errno.EAGAIN: "no more threads or processes are allowed",
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "too many open files"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "the disk is full"),
}
# Texts of errors without a number.
NUMBERS: Final = {
    "allocate memory": errno.ENOMEM,  # PyTorch's are RuntimeErrors
    "out of memory": errno.ENOMEM,
    "can't start new thread": errno.EAGAIN,
}


def shortage(error: BaseException) -> str:
    """Return what the machine is short of, if that caused an error; else "".

    Such an error is neither an agent's nor a worker's fault.
    """
    if isinstance(error, MemoryError):
        return SHORTAGES[errno.ENOMEM]
    numbers = [number for text, number in NUMBERS.items() if text in str(error)]
    return SHORTAGES.get(numbers[0] if numbers else getattr(error, "errno", 0), "")


# ---- signals ----


def _existing(*names: str) -> tuple[int, ...]:
    return tuple(getattr(signal, name) for name in names if hasattr(signal, name))


STOPS: Final = _existing("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, an end of the job, and a closed terminal."""
WARNINGS: Final = _existing("SIGUSR1", "SIGUSR2", "SIGXCPU")
"""Sent before a job is killed: by Slurm (``--signal=USR1``), Grid Engine (``-notify``) and LSF, and
at the soft limit of processor time.
"""
OF_PARENT: Final = {*STOPS, *WARNINGS} - {signal.SIGTERM}
"""Ignored by workers, as their parent process decides; SIGTERM ends them."""

Handler = Callable[[int, FrameType | None], Any]


@contextlib.contextmanager
def handling(handler: Handler, also: tuple[int, ...] = ()) -> Iterator[None]:
    """Handle the signals to stop in the block, in the main thread.

    Ignored signals (nohup) stay ignored, except SIGINT, and those for which the calling program has
    its own handler stay with it.

    Args:
        handler: called with a signal that came. also: further signals.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (*STOPS, *WARNINGS):
            now = signal.getsignal(number)
            ours = now is stop_at_once or isinstance(getattr(now, "__self__", None), Interrupt)
            free = now is signal.SIG_DFL and number in (*STOPS, *also)
            if number == signal.SIGINT or ours or free:
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, kept in before.items():
            signal.signal(number, kept)


def stop_at_once(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, as Ctrl-C does; a signal handler."""
    leave_closed_terminal()
    raise KeyboardInterrupt


def leave_closed_terminal() -> None:
    """Discard further output of this process to a terminal or pipe that is closed."""
    for descriptor in (1, 2):
        try:
            os.write(descriptor, b"")
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


class Interrupt:
    """A context in which the first signal to stop is a request; a second Ctrl-C raises
    KeyboardInterrupt.

    The signals are :data:`STOPS` and, in a program of skyenv, :data:`WARNINGS`
    (:func:`handling`). In other threads than the main one this does nothing. Of two nested contexts
    the inner one receives signals.

    Args:
        on_request: called at the request.

    Attributes:
        asked: whether a stop was requested.
    """

    def __init__(self, on_request: Callable[[], object] = lambda: None) -> None:
        self.asked = False
        self._on_request = on_request
        self._handling = handling(self._handle)

    def __enter__(self) -> Self:
        self._handling.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._handling.__exit__(None, None, None)

    def goes_on(self) -> bool:
        """Return whether no stop was requested."""
        return not self.asked

    def _handle(self, number: int, frame: FrameType | None) -> None:
        leave_closed_terminal()
        if not self.asked:
            self._on_request()
        self.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
