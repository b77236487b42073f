"""Programs that tests run: a busy machine has time for them, and none outlives its test.

Commands run in this process where that is enough.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final
from unittest.mock import Mock

from skyenv import cli
from skyenv.files import LOCK
from skyenv.work import Job, Pool
from skyenv.work.pool import portable

ROOT: Final = Path(__file__).resolve().parent.parent

# Seconds: only what hangs takes so long. Tests that wait without a limit have pytest's
# (pyproject.toml).
LONGEST: Final = 600.0

# Variables beside those of this process; None: without it.
Environment = Mapping[str, str | None] | None


def contents(path: Path) -> dict[str, bytes]:
    """All files in a folder but its lock, by their path in it."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name != LOCK
    }


def python(
    *words: object, environment: Environment = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python; what it prints is kept as text.

    Args:
        words: its arguments.
        environment: its variables.
        options: of :func:`subprocess.run`; unless they say otherwise it runs in the repository's
            root.
    """
    return subprocess.run(
        _command(words), **{"timeout": LONGEST, "check": False, **_options(environment), **options}
    )


def main_of(words: str) -> int:
    """Run ``python -m skyenv`` with these words, folded or not, in this process; return its exit
    code.
    """
    try:
        return cli.main(shlex.split(words.replace("\\\n", "")))
    except SystemExit as ended:  # argparse's way
        return int(ended.code or 0)


def interrupting(games: int) -> Callable[..., Any]:
    """Replace a progress bar by one that presses Ctrl-C once so many games are done."""
    left = [games]

    def update(done: int) -> None:
        left[0] -= done
        if left[0] <= 0:
            signal.raise_signal(signal.SIGINT)

    bar = Mock(update=update)
    return lambda *_, **__: contextlib.nullcontext(bar)


def printed(*words: object, **options: Any) -> str:
    """What Python prints, as :func:`python` runs it; it must succeed."""
    done = python(*words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextlib.contextmanager
def running(
    *words: object, environment: Environment = None, **options: Any
) -> Iterator[subprocess.Popen[str]]:
    """Python while the block runs; then its end is waited for.

    It is killed if it doesn't come, or if the block fails.
    """
    with subprocess.Popen(_command(words), **{**_options(environment), **options}) as process:
        try:
            yield process
            process.wait(LONGEST)
        finally:
            process.kill()


def wait_until(
    condition: Callable[[], object], process: subprocess.Popen[str] | None = None
) -> None:
    """Wait for something to become true, however long it takes; a process that ends without it
    fails the test.
    """
    while True:
        ended = (
            process is not None and process.poll() is not None
        )  # asked first: it may do it and end
        if condition():
            return
        assert not ended, "the process has ended"
        time.sleep(0.01)


def children(process: int) -> list[int]:
    """The processes that a process has started, and that aren't gone."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text(encoding="utf-8").rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == process and state != "Z":
            found.append(int(name.split(" ")[0]))
    return found


def descendants(process: int) -> list[int]:
    """The processes that a process and those that it started have started, and that aren't gone."""
    return [one for child in children(process) for one in (child, *descendants(child))]


def listening(processes: Iterable[int]) -> set[str]:
    """The addresses that processes listen at, as the kernel writes them: hexadecimal, and the port
    after a colon.
    """
    sockets = set()
    for process in processes:
        with contextlib.suppress(OSError):
            for file in Path(f"/proc/{process}/fd").iterdir():
                with contextlib.suppress(OSError):
                    sockets.add(file.readlink().name)
    addresses = set()
    for name in ("tcp", "tcp6"):
        for line in Path("/proc/net", name).read_text(encoding="utf-8").splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                addresses.add(words[1])
    return addresses


def command(process: int) -> bytes:
    """What a process was begun with; nothing if it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def there(process: int) -> bool:
    """Whether a process is still there, and doesn't only wait to be buried."""
    try:
        return (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except OSError:
        return False


class Threads(Pool):
    """A thread for each task, for functions that can't be pickled. One that is killed goes on.

    Attributes:
        busy: tasks under way, of all such pools.
    """

    busy: ClassVar[set[Job[Any]]] = set()

    def _begin(self, task: Job[Any]) -> None:
        self.busy.add(task)
        threading.Thread(target=self._do, args=(task,), daemon=True).start()

    def _do(self, task: Job[Any]) -> None:
        report = () if task.on_progress is None else (task.on_progress,)
        if task.set_running_or_notify_cancel():
            try:
                task.set_result(task.work(*task.arguments, *report))
            except BaseException as error:
                task.set_exception(portable(error))
        self.busy.discard(task)

    def kill(self, task: Job[Any], warm_up: Callable[[], object] | None = None) -> None:
        """See :class:`Pool`."""
        task.cancel()
        self.busy.discard(task)

    def size(self) -> int:
        """One at a time."""
        return 1

    def close(self) -> None:
        """Forget all of them."""
        self.busy.clear()


def _command(words: tuple[object, ...]) -> list[str]:
    return [sys.executable, *map(str, words)]


def _options(environment: Environment) -> dict[str, Any]:
    variables = {**os.environ, "PYTHONIOENCODING": "utf-8", **(environment or {})}
    return {
        "cwd": ROOT,
        "env": {name: value for name, value in variables.items() if value is not None},
        "encoding": "utf-8",
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
