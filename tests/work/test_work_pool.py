"""Pools of workers: the same results from any number of workers, priorities, kill, deaths."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from jobs import (
    UNSENDABLE,
    begun,
    doubled,
    dying,
    environment,
    failing,
    holding,
    leaving,
    noting,
    process,
    reporting,
    unreadable,
)

from clusters import cluster_of
from processes import printed, running, there, wait_until
from skyenv.errors import AgentError, IllegalActionError, OptionError
from skyenv.runtime import OF_PARENT
from skyenv.work import ONE_THREAD, Pool, Processes, WorkerDiedError, open_pool

PATH = os.pathsep.join(filter(None, sys.path))


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """Two processes: starting one takes a second."""
    with Processes(2) as pool:
        yield pool
    assert multiprocessing.active_children() == []


@pytest.fixture(scope="module")
def on_ray() -> Iterator[Pool]:
    """The CPUs of a Ray of two nodes."""
    with cluster_of(2) as nodes, open_pool(0, nodes.address) as pool:
        yield pool


@pytest.fixture(params=["processes", "on_ray"])
def pool(request: pytest.FixtureRequest) -> Any:
    """Both kinds of pool, with two workers."""
    return request.getfixturevalue(request.param)


# ---- both kinds ----


def test_tasks_run_once_and_are_generated_lazily(pool: Pool) -> None:
    asked: list[int] = []

    def jobs() -> Iterator[int]:
        for number in range(6):
            asked.append(number)
            yield number

    found = []
    for result in pool.results(doubled, jobs()):
        found.append(result)
        assert len(asked) <= len(found) + pool.size() == len(found) + 2
    assert sorted(found) == [(number, 2 * number) for number in range(6)]


def test_workers_use_one_thread_per_library(pool: Pool) -> None:
    before = environment(0)
    assert pool.submit(environment, 1).result() == ONE_THREAD
    assert environment(0) == before


def test_a_task_is_retried_twice_if_its_worker_dies(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "once").touch()
    work = partial(dying, str(tmp_path), signal.SIGKILL)
    assert dict(pool.results(work, range(5))) == {number: 2 * number for number in range(5)}
    for mark in range(5):
        (tmp_path / str(mark)).touch()
    with pytest.raises(WorkerDiedError, match=r"3 .* while playing 3"):
        dict(pool.results(work, range(5), about=lambda number: f"playing {number}"))
    assert len(list(tmp_path.iterdir())) == 2


def test_exceptions_of_tasks_are_returned(pool: Pool) -> None:
    with pytest.raises(IllegalActionError, match="three") as caught:
        list(pool.results(failing, [1, 3, 5]))
    assert caught.value.action == 7
    assert "in failing" in caught.value.__notes__[0]
    for work, message in UNSENDABLE:
        with pytest.raises(AgentError, match=message):
            pool.submit(work, 1).result()


def test_killed_tasks_end_at_once_and_queued_ones_never_start(pool: Pool, tmp_path: Path) -> None:
    jobs = [pool.submit(holding, tmp_path, name) for name in "abc"]
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    for job in reversed(jobs):
        pool.kill(job)
    assert pool.submit(doubled, 2).result() == 4
    end = time.monotonic() + 0.5
    work = partial(holding, tmp_path)
    assert list(pool.results(work, "de", goes_on=lambda: time.monotonic() < end)) == []
    assert pool.submit(doubled, 2).result() == 4
    assert begun(tmp_path, "c") == []


# ---- processes of this machine ----


def test_unpicklable_tasks_leave_workers_alive(processes: Processes) -> None:
    for work, error, message in (
        (leaving, AgentError, "SystemExit"),
        (unreadable, TypeError, "pickle"),
        (lambda number: None, Exception, "pickle|local object"),  # Python 3.13 says it so
    ):
        with pytest.raises(error, match=message):
            processes.submit(work, 1).result()
    assert processes.submit(doubled, 3).result() == 6


def test_progress_is_reported(processes: Processes) -> None:
    heard: list[Any] = []
    jobs = [processes.submit(reporting, number, on_progress=heard.append) for number in range(4)]
    assert [job.result() for job in jobs] == [0, 1, 4, 9]
    assert heard == ["half"] * 4


def test_lower_priority_numbers_run_first_but_not_on_all_workers(
    processes: Processes, tmp_path: Path
) -> None:
    low, high = (
        processes.submit(holding, tmp_path, name, priority=number)
        for number, name in ((1, "low"), (0, "high"))
    )
    wait_until(lambda: begun(tmp_path, "low") and begun(tmp_path, "high"))
    jobs = [processes.submit(noting, tmp_path, number, priority=number) for number in (2, 1, 0)]
    (tmp_path / "high.go").touch()
    assert (high.result(), jobs[2].result()) == ("high", 0)
    time.sleep(0.1)
    assert (tmp_path / "order").read_text() == "0"
    (tmp_path / "low.go").touch()
    assert (low.result(), [job.result() for job in jobs]) == ("low", [2, 1, 0])
    assert (tmp_path / "order").read_text() == "012"


def test_a_refused_thread_costs_only_its_job(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("no thread")))
    refused = [processes.submit(doubled, number) for number in range(4)]
    monkeypatch.undo()
    assert [processes.submit(doubled, number).result() for number in range(4)] == [0, 2, 4, 6]
    assert {str(job.exception()) for job in refused} == {"no thread"}


@pytest.mark.parametrize("number", sorted(OF_PARENT))
def test_workers_leave_signals_to_their_parent(processes: Processes, number: int) -> None:
    before = processes.submit(process).result()
    os.kill(before, number)
    assert processes.submit(process).result() == before


@pytest.mark.parametrize("workers", [-1, 1.5])
def test_an_invalid_number_of_workers_is_an_option_error(workers: Any) -> None:
    with pytest.raises(OptionError, match="workers"):
        open_pool(workers)


def test_a_worker_is_replaced_after_a_kill_or_its_death() -> None:
    with Processes(1) as pool:
        pool.kill(pool.submit(process))  # while it starts
        identifiers = []
        for _ in range(2):
            identifiers.append(pool.submit(process).result())
            os.kill(identifiers[-1], signal.SIGKILL)  # it dies while it waits
        assert len(set(identifiers)) == 2


INTERRUPTED = """
import os, signal, sys, time
from skyenv.work import Processes
from jobs import process
if __name__ == "__main__":
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    with Processes(1) as pool:
        job = pool.submit(process)
        while not job.done():
            os.killpg(os.getpgrp(), signal.SIGINT)
            time.sleep(0.02)
        print(bool(heard), job.result() != os.getpid())
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Ctrl-C can't be held back here")
def test_sigint_during_a_workers_start_reaches_only_the_parent(tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    assert printed(script, environment={"PYTHONPATH": PATH}, start_new_session=True) == (
        "True True\n"
    )


PARENT = """
import sys
from pathlib import Path
from skyenv.work import Processes
from jobs import holding
if __name__ == "__main__":
    Processes(1).submit(holding, Path(sys.argv[1]), "job").result()
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_workers_exit_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with running(script, tmp_path, environment={"PYTHONPATH": PATH}, stderr=None) as parent:
        wait_until(lambda: begun(tmp_path, "job"), parent)
        (worker,) = begun(tmp_path, "job")
        os.kill(worker, signal.SIGINT)  # ignored
        assert there(worker)
        parent.kill()
    wait_until(lambda: not there(worker))
