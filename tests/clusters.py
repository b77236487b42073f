"""A cluster of Ray for tests: nodes on this machine that are added and lost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

import pytest

from skyenv.arena.on_ray import connect, keep_quiet

TRIES: Final = 5
"""Ray gives a node up that hasn't begun in 30 s, as may be on a busy machine."""

NODE: Final[dict[str, Any]] = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}


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
        """Another node with a CPU; its id."""
        self._more.append(tried(lambda: self._cluster.add_node(**NODE)))
        return str(self._more[-1].node_id)

    def lose(self) -> None:
        """The newest node is gone from one moment to the next."""
        self._cluster.remove_node(self._more.pop(), allow_graceful=False)


@contextlib.contextmanager
def cluster_of(nodes: int) -> Iterator[Nodes]:
    """A cluster of so many nodes with a CPU each while the block runs; a test is skipped where Ray isn't installed."""
    pytest.importorskip("ray", reason="needs the extra [ray]")
    from ray.cluster_utils import Cluster

    keep_quiet()
    cluster = tried(lambda: Cluster(initialize_head=True, head_node_args=NODE))
    ray = None
    try:
        made = Nodes(cluster)
        ray = connect(made.address)
        for _ in range(nodes - 1):
            made.add()
        yield made
    finally:
        if ray is not None:
            ray.shutdown()
        cluster.shutdown()


def tried(begin: Any) -> Any:
    """What begins, if need be after some tries."""
    for left in reversed(range(TRIES)):
        try:
            return begin()
        except Exception as error:
            if not left or "timed out during startup" not in str(error):
                raise
    raise AssertionError


def ray_pickle() -> Any:
    """How Ray pickles what it sends."""
    pytest.importorskip("ray", reason="needs the extra [ray]")
    from ray import cloudpickle

    return cloudpickle
