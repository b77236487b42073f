"""The pool of processes: the same results from any number of workers, priorities, kill, deaths."""

from __future__ import annotations

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

import pytest
from tasks import (
    UNSENDABLE,
    begun,
    doubled,
    dying,
    environment,
    failing,
    holding,
    leaving,
    process,
    reporting,
    unreadable,
)

from processes import printed, running, there, wait_until
from skyenv.errors import AgentError, IllegalActionError, OptionError
from skyenv.work import ONE_THREAD, Processes, WorkerDiedError, open_pool

PATH = os.pathsep.join(filter(None, sys.path))


@pytest.fixture(scope="module")
def pool() -> Iterator[Processes]:
    """Two processes: starting one takes a second."""
    with Processes(2) as pool:
        yield pool
    assert multiprocessing.active_children() == []


# ---- results ----


def test_every_task_is_done_once() -> None:
    with open_pool(3) as pool:
        assert pool.size() == 3
        assert sorted(pool.results(doubled, iter(range(6)))) == [(n, 2 * n) for n in range(6)]
    assert multiprocessing.active_children() == []


def test_tasks_are_asked_for_when_a_worker_is_idle(pool: Processes) -> None:
    asked: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(6):
            asked.append(number)
            yield number

    for count, _ in enumerate(pool.results(doubled, tasks())):
        assert len(asked) <= count + pool.size() + 1


def test_a_task_whose_worker_dies_is_tried_again(pool: Processes, tmp_path: Path) -> None:
    for mark in "ab":
        (tmp_path / mark).touch()
    results = dict(pool.results(partial(dying, str(tmp_path), signal.SIGSEGV), range(5)))
    assert results == {number: 2 * number for number in range(5)}
    assert not list(tmp_path.iterdir())


def test_a_task_is_blamed_after_three_deaths(pool: Processes, tmp_path: Path) -> None:
    for mark in range(9):
        (tmp_path / str(mark)).touch()
    with pytest.raises(WorkerDiedError, match=r"3 processes died while playing 3"):
        dict(
            pool.results(
                partial(dying, str(tmp_path), signal.SIGKILL),
                range(5),
                about=lambda number: f"playing {number}",
            )
        )
    assert len(list(tmp_path.iterdir())) == 6


def test_what_a_task_raises_comes_back(pool: Processes) -> None:
    with pytest.raises(IllegalActionError, match="three") as caught:
        list(pool.results(failing, [1, 3, 5]))
    assert caught.value.action == 7
    assert "in failing" in caught.value.__notes__[0]
    for work, message in UNSENDABLE:
        with pytest.raises(AgentError, match=message):
            list(pool.results(work, [1]))
    with pytest.raises(AgentError, match="SystemExit"):
        pool.submit(leaving, 1).result()
    with pytest.raises(TypeError, match="pickle"):
        pool.submit(unreadable, 1).result()
    with pytest.raises(Exception, match="pickle"):
        pool.submit(lambda: None).result()
    assert pool.submit(doubled, 3).result() == 6


def test_progress_is_reported(pool: Processes) -> None:
    heard: list[Any] = []
    tasks = [pool.submit(reporting, number, on_progress=heard.append) for number in range(4)]
    assert [task.result() for task in tasks] == [0, 1, 4, 9]
    assert heard == ["half"] * 4


def test_a_worker_has_one_thread_a_library(pool: Processes) -> None:
    before = environment(0)
    assert pool.submit(environment, 1).result() == ONE_THREAD
    assert environment(0) == before


def test_a_task_goes_to_the_worker_that_has_what_it_needs(pool: Processes, tmp_path: Path) -> None:
    held = [pool.submit(holding, tmp_path, name, needs=name) for name in "ab"]
    wait_until(lambda: begun(tmp_path, "a") and begun(tmp_path, "b"))
    for name in "ab":
        (tmp_path / f"{name}.go").touch()
    assert [task.result() for task in held] == ["a", "b"]
    for name in "abba":
        wait_until(lambda: pool.busy() == 0)
        assert pool.submit(process, needs=name).result() == begun(tmp_path, name)[0]


@pytest.mark.parametrize("workers", [-1, 1.5])
def test_a_wrong_number_of_workers_is_an_option_error(workers: Any) -> None:
    with pytest.raises(OptionError, match="workers"):
        open_pool(workers)


# ---- ends ----


def test_what_is_no_longer_wanted_ends_at_once(pool: Processes, tmp_path: Path) -> None:
    end = time.monotonic() + 0.5
    work = partial(holding, tmp_path)
    assert list(pool.results(work, "ab", goes_on=lambda: time.monotonic() < end)) == []
    wait_until(lambda: pool.busy() == 0)


def test_a_killed_task_ends_and_one_that_waits_never_begins(tmp_path: Path) -> None:
    with Processes(1) as pool:
        task, waits = (pool.submit(holding, tmp_path, name) for name in ("task", "waits"))
        wait_until(lambda: begun(tmp_path, "task"))
        pool.kill(waits)
        pool.kill(task)
        assert pool.submit(doubled, 2).result() == 4
        assert begun(tmp_path, "task") != [pool.submit(process).result()]
        starting = pool.submit(holding, tmp_path, "starting")
        pool.renew()
        pool.kill(starting)
        assert pool.submit(doubled, 2).result() == 4
        for identifier in (pool.submit(process).result() for _ in range(2)):
            os.kill(identifier, signal.SIGKILL)  # it dies while it waits
            assert pool.submit(doubled, 2).result() == 4
    assert begun(tmp_path, "waits") == []


INTERRUPTED = """
import os, signal, sys, time
from skyenv.work import Processes
from tasks import process
if __name__ == "__main__":
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    with Processes(1) as pool:
        task = pool.submit(process)
        while not task.done():
            os.killpg(os.getpgrp(), signal.SIGINT)
            time.sleep(0.02)
        print(bool(heard), task.result() != os.getpid())
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Ctrl-C can't be held back here")
def test_a_ctrl_c_while_a_worker_starts_ends_nothing_and_is_heard(tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    assert printed(script, environment={"PYTHONPATH": PATH}, start_new_session=True) == (
        "True True\n"
    )


PARENT = """
import sys
from pathlib import Path
from skyenv.work import Processes
from tasks import holding
if __name__ == "__main__":
    Processes(1).submit(holding, Path(sys.argv[1]), "task").result()
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with running(script, tmp_path, environment={"PYTHONPATH": PATH}, stderr=None) as parent:
        wait_until(lambda: begun(tmp_path, "task"), parent)
        (worker,) = begun(tmp_path, "task")
        os.kill(worker, signal.SIGINT)  # ignored
        assert there(worker)
        parent.kill()
    wait_until(lambda: not there(worker))


# ---- who goes first; in threads ----


def test_low_numbers_go_first_and_groups_take_turns() -> None:
    order: list[str] = []
    gate = threading.Event()

    def work(name: str) -> None:
        gate.wait()
        order.append(name)

    names = ["a1 0", "b1 2", "b2 1", "a2 0", "a3 0", "b3 0", "c1 0", "b4 0"]
    with Processes(1, in_threads=True) as pool:
        tasks = [pool.submit(work, name, group=name[0], priority=int(name[-1])) for name in names]
        gate.set()
        for task in tasks:
            task.result()
    assert order == ["a1 0", "b3 0", "c1 0", "a2 0", "b4 0", "a3 0", "b2 1", "b1 2"]


def test_tasks_of_low_priority_leave_a_worker_to_the_others() -> None:
    gate = threading.Event()
    with Processes(3, in_threads=True) as pool:
        low = [pool.submit(gate.wait, priority=1) for _ in range(5)]
        wait_until(lambda: pool.busy() == 2)
        assert pool.submit(doubled, 1).result() == 2
        gate.set()
        assert [task.result() for task in low] == [True] * 5


def test_in_threads_what_is_needed_is_used_by_one_and_a_killed_thread_is_replaced() -> None:
    gate, under_way = threading.Event(), list[int]()

    def work() -> int:
        under_way.append(1)
        most = len(under_way)
        gate.wait()
        under_way.pop()
        return most

    with Processes(2, in_threads=True) as pool:
        tasks = [pool.submit(work, needs="one") for _ in range(3)]
        wait_until(lambda: under_way)
        assert pool.submit(doubled, 4, needs="other").result() == 8
        pool.kill(tasks[0])
        assert pool.busy() == 0
        others = [pool.submit(doubled, number, needs=str(number)) for number in (1, 2)]
        assert [task.result() for task in others] == [2, 4]
        assert len(under_way) == 1  # the thread goes on; the others wait for it
        gate.set()
        assert [task.result() for task in tasks[1:]] == [1, 1]
        with pytest.raises(AgentError, match="SystemExit"):
            pool.submit(leaving, 1).result()
