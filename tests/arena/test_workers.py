"""Workers: the same results however many there are, a new one for each that dies, and an end to all
of them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from unit_work import UNSENDABLE, Pair, do, doubled, dying, environment, failing, sleeping

from processes import running, there, wait_until
from skyenv.arena.workers import ONE_THREAD
from skyenv.errors import AgentError


@pytest.mark.parametrize("workers", [1, 3])
def test_every_unit_is_done_once(workers: int) -> None:
    units: list[Pair] = [(1, 2), (3,), (4, 5), (6,)]
    assert do(doubled, iter(units), workers) == {unit: doubled(unit) for unit in units}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_unit_over_which_a_process_died_is_done_in_parts(how: int, tmp_path: Path) -> None:
    (tmp_path / "once").touch()
    results = do(partial(dying, str(tmp_path), how), iter([(1, 2), (3, 4), (5,)]))
    assert results == {(1, 2): [2, 4], (3,): [6], (4,): [8], (5,): [10]}


def test_a_unit_over_which_processes_keep_dying_is_told(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / str(number)).touch()
    with pytest.raises(AgentError, match=r"3 processes died while \(3,\) was done"):
        do(partial(dying, str(tmp_path), signal.SIGKILL), iter([(1, 2), (3, 4), (5,)]))
    assert len(list(tmp_path.iterdir())) == 6
    assert multiprocessing.active_children() == []


def test_what_the_work_raises_ends_it() -> None:
    with pytest.raises(ValueError, match="three"):
        do(failing, iter([(1,), (3,), (5,)]))
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("work", "message"), UNSENDABLE)
def test_an_error_that_cannot_be_sent_is_told(work: Callable[[Pair], Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        do(work, iter([(1,)]))


def test_workers_use_one_thread_in_libraries() -> None:
    before = environment(())
    assert do(environment, iter([(1,)])) == {(1,): ONE_THREAD}
    assert environment(()) == before


def test_work_that_is_no_longer_wanted_ends_at_once(tmp_path: Path) -> None:
    assert do(partial(sleeping, str(tmp_path / "pid")), iter([(1,), (2,)]), until=1) == {}


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Ctrl-C can't be held back here")
def test_a_ctrl_c_while_a_worker_starts_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    submit, given = ProcessPoolExecutor.submit, []

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        given.append(submit(*arguments))
        return given[0]

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        do(doubled, iter([(1,)]))
    assert given
    assert multiprocessing.active_children() == []


PARENT = """
import sys
from functools import partial
from unit_work import do, sleeping
if __name__ == "__main__":
    do(partial(sleeping, sys.argv[1]), iter([(1,)]))
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script, file = tmp_path / "parent.py", tmp_path / "pid"
    script.write_text(PARENT)
    with running(
        script,
        file,
        environment={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stderr=None,
    ) as parent:
        wait_until(lambda: file.exists() and file.read_text(), parent)
        assert there(int(file.read_text()))
        parent.kill()
    wait_until(lambda: not there(int(file.read_text())))
