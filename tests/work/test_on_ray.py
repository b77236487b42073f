"""The pool of a Ray: a cluster of two nodes on this machine, of which one is lost; and errors where
there is none.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tasks import UNSENDABLE, doubled, dying, environment, failing, holding

from clusters import Nodes, cluster_of
from processes import children, command, descendants, listening, running, wait_until
from skyenv.errors import AgentError, IllegalActionError, OptionError, SkyenvError
from skyenv.work import ONE_THREAD, Pool, WorkerDiedError, open_pool
from skyenv.work.on_ray import Home, connect, digest_of_sources


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """A cluster of two nodes with a CPU each; this process is connected with it."""
    with cluster_of(2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def pool(nodes: Nodes) -> Iterator[Pool]:
    """All its CPUs."""
    with open_pool(0, nodes.address) as pool:
        yield pool


def test_every_task_is_done_once_with_one_thread_a_library(pool: Pool) -> None:
    assert pool.size() == 2
    assert sorted(pool.results(doubled, range(6))) == [(number, 2 * number) for number in range(6)]
    assert pool.submit(environment, 0).result() == ONE_THREAD


def test_a_task_whose_worker_dies_is_tried_again_and_blamed_after_three_deaths(
    pool: Pool, tmp_path: Path
) -> None:
    work = partial(dying, str(tmp_path), signal.SIGKILL)
    (tmp_path / "once").touch()
    assert dict(pool.results(work, range(5))) == {number: 2 * number for number in range(5)}
    for mark in range(9):
        (tmp_path / str(mark)).touch()
    with pytest.raises(WorkerDiedError, match=r"3 .* while playing 3"):
        dict(pool.results(work, range(5), about=lambda number: f"playing {number}"))
    assert len(list(tmp_path.iterdir())) == 6


def test_what_a_task_raises_comes_back(pool: Pool) -> None:
    with pytest.raises(IllegalActionError, match="three") as caught:
        list(pool.results(failing, [1, 3, 5]))
    assert "in failing" in caught.value.__notes__[0]
    for work, message in UNSENDABLE:
        with pytest.raises(AgentError, match=message):
            pool.submit(work, 1).result()


def test_a_killed_task_leaves_its_cpu_to_others(pool: Pool, tmp_path: Path) -> None:
    tasks = [pool.submit(holding, tmp_path, name) for name in "abc"]
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    for task in tasks:
        pool.kill(task)
    assert pool.submit(doubled, 2).result() == 4


def test_arrays_come_as_they_lie_in_rays_memory(pool: Pool) -> None:
    found = pool.submit(np.arange, 100_000).result()
    assert (found == np.arange(100_000)).all()
    assert not found.flags.writeable


def waiting(folder: str, number: int) -> tuple[int, str]:
    """Tells where it runs, and waits until it may end."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    Path(folder, node).touch()
    wait_until(lambda: Path(folder, "go").exists())
    return 2 * number, node


def test_a_node_that_is_lost_with_its_tasks_costs_time_alone(
    nodes: Nodes, pool: Pool, tmp_path: Path
) -> None:
    second, go = nodes.add(), tmp_path / "go"

    def lose() -> bool:
        if (tmp_path / second).exists() and not go.exists():
            nodes.lose()
            go.touch()
        return True

    found = dict(pool.results(partial(waiting, str(tmp_path)), range(6), goes_on=lose))
    assert {number: result for number, (result, _) in found.items()} == {
        number: 2 * number for number in range(6)
    }
    assert second not in {where for _, where in found.values()}


def test_nobody_is_told_that_ray_is_used(nodes: Nodes) -> None:
    servers = [
        child for child in children(os.getpid()) if re.search(rb"gcs_server|raylet", command(child))
    ]
    assert servers
    for server in servers:
        assert b"RAY_USAGE_STATS_ENABLED=0" in Path(f"/proc/{server}/environ").read_bytes().split(
            b"\0"
        )


A_LOCAL_RAY = """
import os, sys
from skyenv.work import open_pool
from tasks import doubled
os.nice(3)
with open_pool(1, "local") as pool:
    niceness = pool.submit(os.nice, 0).result() - os.nice(0)
    print(pool.submit(doubled, 1).result(), niceness, flush=True)
    sys.stdin.read()
"""


@pytest.mark.long
def test_a_local_ray_listens_to_this_machine_alone_and_is_as_nice_as_its_command() -> None:
    """Access to its ports means to run code."""
    pytest.importorskip("ray", reason="needs the extra [ray]")
    path = os.pathsep.join(filter(None, sys.path))
    with running(
        "-c", A_LOCAL_RAY, environment={"PYTHONPATH": path}, stdin=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "2 0\n"
        addresses = listening([process.pid, *descendants(process.pid)])
        process.communicate()
    assert len(addresses) > 4  # the node's, the head's, the worker's, the agents'
    assert {address.rpartition(":")[0] for address in addresses} <= {
        "0100007F",
        "0000000000000000FFFF00000100007F",
    }


# ---- machines that aren't alike ----


def test_a_machine_with_other_sources_is_named() -> None:
    with pytest.raises(SkyenvError, match=f"{socket.gethostname()} has other sources of skyenv"):
        Home("", (), (("skyenv", "another digest"),)).enter()


def test_sources_change_with_any_line_and_any_network_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    digests = set()
    for name, text, network in (
        ("one", "a = 1", "1"),
        ("two", "a = 2", "1"),
        ("three", "a = 1", "1"),
        ("four", "a = 1", "2"),
    ):
        package = tmp_path / name
        (package / "trained").mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "module.py").write_text(text)
        (package / "trained" / "network.npz").write_text(network)
        digests.add(digest_of_sources(name))
    assert len(digests) == 3
    assert digest_of_sources("five") == ""


# ---- where there is no Ray ----


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(OptionError, match=r"\[ray\]"):
        connect("local")


@pytest.mark.parametrize(
    "address",
    ["somewhere", "ray://here", "ray://here:10001", "here:port", "127.0.0.1:99999", "127.0.0.1:1"],
)
def test_an_address_where_nothing_listens_is_an_option_error(address: str) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]")
    with pytest.raises(OptionError, match="ray"):
        connect(address)
