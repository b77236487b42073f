"""A cluster of Ray for tests: nodes on this machine that are added and lost."""

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from processes import descendants
from skyenv.work.on_ray import QUIET, connect

# Ray gives a node up that hasn't begun in 30 s, as may be on a busy machine.
TRIES: Final = 5

# Where a cluster's folder is: it has sockets in it, whose paths the system limits.
SHORT: Final = "/tmp"

NODE: Final[dict[str, Any]] = {
    "num_cpus": 1,
    "object_store_memory": 100 * 2**20,
    "include_dashboard": False,
}


class Nodes:
    """A cluster; this process is connected with its first node.

    Attributes:
        address: of its head.
    """

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._more: list[Any] = []
        self.address: str = cluster.address

    def add(self) -> str:
        """Add a node with a CPU; return its id."""
        self._more.append(tried(lambda: self._cluster.add_node(**NODE)))
        return str(self._more[-1].node_id)

    def lose(self) -> None:
        """Kill the newest node and its workers, which would live on for a while and answer."""
        node = self._more.pop()
        workers = descendants(node.all_processes["raylet"][0].process.pid)
        self._cluster.remove_node(node, allow_graceful=False)
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)


@contextlib.contextmanager
def cluster_of(nodes: int) -> Iterator[Nodes]:
    """Yield a cluster of nodes with a CPU each; skip the test if Ray isn't installed."""
    pytest.importorskip("ray", reason="needs the extra [ray]")
    from ray.cluster_utils import Cluster

    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    # A cluster writes there, too, and takes it for granted.
    (Path(tempfile.gettempdir()) / "ray").mkdir(exist_ok=True)
    with contextlib.ExitStack() as held:
        folder = held.enter_context(
            tempfile.TemporaryDirectory(prefix="ray-", dir=SHORT, ignore_cleanup_errors=True)
        )
        head = {**NODE, "temp_dir": folder}
        cluster = tried(lambda: Cluster(initialize_head=True, head_node_args=head))
        held.callback(cluster.shutdown)
        made = Nodes(cluster)
        held.callback(connect(made.address).shutdown)
        for _ in range(nodes - 1):
            made.add()
        yield made


def tried(begin: Any) -> Any:
    """Return the result of a start, retried if needed."""
    for left in reversed(range(TRIES)):
        try:
            return begin()
        except Exception as error:
            if not left or "timed out during startup" not in str(error):
                raise
    raise AssertionError
