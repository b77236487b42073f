"""Workers: jobs in processes and threads, who goes first, cancelling, and processes that die."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from processes import running, wait_until
from skyenv.arena.workers import for_a_worker
from skyenv.errors import AgentError, IllegalActionError
from skyenv.page import workers as module
from skyenv.page.workers import Priority, Report, WorkerError, Workers


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """One for all tests of the module, as the processes are."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def processes(loop: asyncio.Runner) -> Iterator[Workers]:
    """Two workers in processes: starting one takes a second."""

    async def make() -> Workers:
        return Workers(2)

    workers = loop.run(make())
    yield workers
    loop.run(workers.close())


async def until(condition: Callable[[], object]) -> None:
    """Wait for something to become true."""
    while not condition():
        await asyncio.sleep(0.01)


def in_threads(work: Callable[[Workers], Awaitable[None]], number: int = 2) -> None:
    """Have something done with workers in threads."""

    async def run() -> None:
        workers = Workers(number, in_threads=True)
        try:
            await work(workers)
        finally:
            await workers.close()

    asyncio.run(run())


# ---- jobs ----


def square(report: Report, number: int) -> int:
    """Reports half way."""
    report("half")
    return number**2


def of(function: Callable[..., Any], *values: Any) -> Any:
    """A job."""
    return partial(_call, function, values)


def _call(function: Callable[..., Any], values: tuple[Any, ...], report: Report) -> Any:
    return function(report, *values)


def echo(report: Report, word: str) -> str:
    """Nothing but an answer."""
    return word


def fail(report: Report, kind: str) -> None:
    """Raise something."""
    if kind == "illegal":
        raise IllegalActionError("not that", 7)
    if kind == "local":

        class LocalError(Exception):
            pass

        raise LocalError("nobody else knows this class")
    raise SystemExit(3)


def hold(report: Report, folder: Path, name: str) -> str:
    """Say by a file that it has begun, and wait for another file."""
    with open(folder / f"{name}.begun", "a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    while not (folder / f"{name}.go").exists():
        time.sleep(0.01)
    return name


def begun(folder: Path, name: str) -> list[int]:
    """The processes that have begun a job of :func:`hold`."""
    path = folder / f"{name}.begun"
    return [int(line) for line in path.read_text(encoding="ascii").split()] if path.exists() else []


def unreadable(report: Report) -> Any:
    """A result that can't be sent."""
    return threading.Lock()


# ---- tests ----


def test_processes_do_jobs_and_tell_how_far_they_are(
    loop: asyncio.Runner, processes: Workers
) -> None:
    heard: list[Any] = []

    async def work() -> None:
        answers = await asyncio.gather(
            *(
                processes.ask(of(square, number), on_progress=heard.append, group=str(number))
                for number in range(6)
            )
        )
        assert answers == [0, 1, 4, 9, 16, 25]

    loop.run(work())
    assert heard == ["half"] * 6
    assert len(processes.process_ids()) <= 2
    assert os.getpid() not in processes.process_ids()


def test_what_a_job_raises_comes_back(loop: asyncio.Runner, processes: Workers) -> None:
    async def work() -> None:
        with pytest.raises(IllegalActionError, match="not that") as caught:
            await processes.ask(of(fail, "illegal"))
        assert caught.value.action == 7
        assert "in fail" in caught.value.__notes__[0]
        with pytest.raises(AgentError, match="LocalError: nobody else"):
            await processes.ask(of(fail, "local"))
        with pytest.raises(TypeError, match="pickle"):
            await processes.ask(of(unreadable))
        with pytest.raises(Exception, match="pickle"):
            await processes.ask(lambda report: None)
        assert await processes.ask(of(square, 3)) == 9

    loop.run(work())


def test_a_job_whose_worker_is_killed_is_done_again_and_given_up_the_second_time(
    loop: asyncio.Runner, processes: Workers, tmp_path: Path
) -> None:
    async def work() -> None:
        asked = asyncio.create_task(processes.ask(of(hold, tmp_path, "first")))
        await until(lambda: begun(tmp_path, "first"))
        os.kill(begun(tmp_path, "first")[0], signal.SIGKILL)
        (tmp_path / "first.go").touch()
        assert await asked == "first"
        assert len(set(begun(tmp_path, "first"))) == 2

        asked = asyncio.create_task(processes.ask(of(hold, tmp_path, "second")))
        for number in (1, 2):
            await until(lambda number=number: len(begun(tmp_path, "second")) == number)  # type: ignore[misc]
            os.kill(begun(tmp_path, "second")[-1], signal.SIGKILL)
        with pytest.raises(WorkerError, match="2 processes died"):
            await asked
        with pytest.raises(WorkerError):
            await processes.ask(of(fail, "exit"))
        for killed in processes.process_ids():
            os.kill(killed, signal.SIGKILL)
        assert await processes.ask(of(square, 5)) == 25  # it died while it waited

    loop.run(work())


def test_idle_processes_are_renewed(loop: asyncio.Runner, processes: Workers) -> None:
    async def work() -> None:
        await processes.ask(of(square, 1))
        before = set(processes.process_ids())
        processes.renew()
        assert await processes.ask(of(square, 6)) == 36
        assert set(processes.process_ids()) - before

    loop.run(work())


def test_who_cancels_ends_the_job(loop: asyncio.Runner, processes: Workers, tmp_path: Path) -> None:
    async def work() -> None:
        asked = asyncio.create_task(processes.ask(of(hold, tmp_path, "long"), Priority.HINT))
        await until(lambda: begun(tmp_path, "long"))
        waiting = asyncio.create_task(processes.ask(of(hold, tmp_path, "waits"), Priority.HINT))
        await asyncio.sleep(0)
        for task in (waiting, asked):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await until(lambda: processes.busy() == 0)  # killed, as it would go on for ever
        assert begun(tmp_path, "waits") == []
        assert await processes.ask(of(square, 4)) == 16

    loop.run(work())


def test_what_is_cancelled_while_its_process_starts_never_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, may_start, complaints = threading.Event(), threading.Event(), []

    @contextlib.contextmanager
    def held() -> Iterator[None]:
        starting.set()
        may_start.wait()
        with for_a_worker():
            yield

    monkeypatch.setattr(module, "for_a_worker", held)
    monkeypatch.setattr(module, "PATIENCE", 0.0)

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: complaints.append(context)
        )
        workers = Workers(1)
        asked = asyncio.create_task(workers.ask(of(hold, tmp_path, "long")))
        await until(starting.is_set)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await asyncio.sleep(0.05)  # it is given up meanwhile
        (tmp_path / "long.go").touch()  # if it did begin, it ends
        may_start.set()
        assert await workers.ask(of(square, 4)) == 16
        await workers.close()

    asyncio.run(work())
    assert (begun(tmp_path, "long"), complaints) == ([], [])


def test_turns_go_before_hints_and_analyses_and_tables_take_turns() -> None:
    order: list[str] = []
    gate = threading.Event()

    def job(name: str) -> Callable[[Report], None]:
        def do(report: Report) -> None:
            gate.wait()
            order.append(name)

        return do

    async def work(workers: Workers) -> None:
        asked = [
            asyncio.create_task(workers.ask(job(name), priority, group=name[0]))
            for name, priority in (
                ("a1", Priority.TURN),
                ("b analysis", Priority.ANALYSIS),
                ("b hint", Priority.HINT),
                ("a2", Priority.TURN),
                ("a3", Priority.TURN),
                ("b1", Priority.TURN),
                ("c1", Priority.TURN),
                ("b2", Priority.TURN),
            )
        ]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*asked)

    in_threads(work, 1)
    assert order == ["a1", "b1", "c1", "a2", "b2", "a3", "b hint", "b analysis"]


def test_hints_leave_a_worker_to_turns() -> None:
    gate = threading.Event()

    async def work(workers: Workers) -> None:
        hints = [
            asyncio.create_task(workers.ask(lambda report: gate.wait(), Priority.HINT))
            for _ in range(5)
        ]
        await until(lambda: workers.busy() == 2)
        assert await workers.ask(lambda report: "turn") == "turn"
        gate.set()
        assert await asyncio.gather(*hints) == [True] * 5

    in_threads(work, 3)


def test_in_threads_an_agent_is_asked_by_one_and_an_unwanted_thread_is_replaced() -> None:
    gate = threading.Event()
    under_way: list[int] = []

    def job(report: Report) -> int:
        under_way.append(1)
        most = len(under_way)
        gate.wait()
        under_way.pop()
        return most

    async def work(workers: Workers) -> None:
        asked = [asyncio.create_task(workers.ask(job, agent="one")) for _ in range(3)]
        await until(lambda: under_way)
        assert await workers.ask(lambda report: "other") == "other"
        asked[0].cancel()
        await until(lambda: workers.busy() == 0)
        assert await asyncio.gather(
            *(workers.ask(of(echo, word), agent=word) for word in "xy")
        ) == ["x", "y"]
        assert len(under_way) == 1  # the thread goes on; the others wait for it
        gate.set()
        assert await asyncio.gather(*asked[1:]) == [1, 1]

    in_threads(work)


def test_a_job_that_would_end_a_process_ends_no_thread() -> None:
    async def work(workers: Workers) -> None:
        for _ in range(3):
            with pytest.raises(WorkerError, match="SystemExit"):
                await workers.ask(of(fail, "exit"))

    in_threads(work, 1)


PARENT = """
import asyncio, sys
from functools import partial
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_page_workers import hold, of
from skyenv.page.workers import Workers

async def main():
    workers = Workers(1)
    await workers.ask(of(hold, Path(sys.argv[2]), "job"))

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT, encoding="ascii")
    paths = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parent.parent)])
    with running(
        program, Path(__file__).parent, tmp_path, environment={"PYTHONPATH": paths}
    ) as parent:
        wait_until(lambda: begun(tmp_path, "job"), parent)
        parent.kill()
    (worker,) = begun(tmp_path, "job")
    wait_until(lambda: not alive(worker))


def alive(process: int) -> bool:
    """Whether a process does anything still; one that nobody has waited for yet does not."""
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()[:1] not in ("", "Z")
