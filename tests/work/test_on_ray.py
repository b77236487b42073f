"""The pool of a Ray: a cluster of two nodes on this machine, of which one is lost; and errors where
there is none.
"""

import os
import re
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from clusters import Nodes
from processes import children, command, descendants, listening, running, there, wait_until
from skyenv.errors import MissingExtraError, OptionError
from skyenv.work import open_pool
from skyenv.work.on_ray import connect, digest_of_sources, do


def waiting(folder: str, number: int) -> tuple[int, str]:
    """Tells where it runs, and waits until it may end."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    Path(folder, node).touch()
    wait_until(lambda: Path(folder, "go").exists())
    return 2 * number, node


def test_tasks_of_a_lost_node_are_repeated(nodes: Nodes, tmp_path: Path) -> None:
    second, go = nodes.add(), tmp_path / "go"

    def lose() -> bool:
        if (tmp_path / second).exists() and not go.exists():
            nodes.lose()
            go.touch()
        return True

    with open_pool(0, nodes.address) as pool:
        found = dict(pool.results(partial(waiting, str(tmp_path)), range(6), goes_on=lose))
    assert {number: result for number, (result, _) in found.items()} == {
        number: 2 * number for number in range(6)
    }
    assert second not in {where for _, where in found.values()}


def test_rays_usage_statistics_are_disabled(nodes: Nodes) -> None:
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
from jobs import doubled
os.nice(3)
with open_pool(1, "local") as pool:
    niceness = pool.submit(os.nice, 0).result() - os.nice(0)
    print(pool.submit(doubled, 1).result(), niceness, flush=True)
    sys.stdin.read()
"""


@pytest.mark.long
def test_a_local_ray_listens_on_loopback_and_ends_with_its_command() -> None:
    """Access to its ports means to run code. Its workers are as nice as the command."""
    pytest.importorskip("ray", reason="needs the extra [ray]")
    path = os.pathsep.join(filter(None, sys.path))
    with running(
        "-c", A_LOCAL_RAY, environment={"PYTHONPATH": path}, stdin=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "2 0\n"
        started = descendants(process.pid)
        addresses = listening([process.pid, *started])
        raylets = [one for one in started if b"raylet" in command(one)]
        process.kill()
    assert raylets
    wait_until(lambda: not any(map(there, raylets)))
    assert len(addresses) > 4  # the node's, the head's, the worker's, the agents'
    assert {address.rpartition(":")[0] for address in addresses} <= {
        "0100007F",
        "0000000000000000FFFF00000100007F",
    }


# ---- machines that aren't alike ----


def test_a_node_with_other_sources_is_named() -> None:
    is_done, error = do("", [], {"skyenv": "another digest"}, b"")
    assert not is_done
    assert str(error).startswith(f"ray: {socket.gethostname()} has other sources of skyenv")


def test_the_digest_of_a_package_covers_sources_and_networks(
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
    assert len({*digests, digest_of_sources("five")}) == 4  # there is no five


# ---- where there is no Ray ----


def test_missing_ray_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"\[ray\]"):
        connect("local")


@pytest.mark.parametrize(
    "address",
    ["somewhere", "ray://here", "ray://here:10001", "here:port", "127.0.0.1:99999", "127.0.0.1:1"],
)
def test_an_unreachable_address_is_an_option_error(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with pytest.raises(OptionError, match="ray"):
        connect(address)
