"""Actors, which play rollouts: the learner itself, processes of this machine, or a Ray cluster.

With one process the learner plays and learns in turns. With more, every other process plays a part
of the games while the learner learns. Rollouts always lag one update behind, so results do not
depend on timing, and a run is reproduced by its seed and its number of processes.

A rollout is a job that depends only on the collector's state, the weights and the past policies
that join it. So a rollout whose worker or machine is lost is played again, and a checkpoint holds
the inputs of the rollouts in progress.
"""

import pickle
from collections.abc import Mapping
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Final

from experiments.training.checkpoint import packed, unpacked
from experiments.training.config import Config
from experiments.training.rollouts import Collector, Improvement, Rollout, past_policy, tensors
from skyenv.work import Pool, open_pool
from skyenv_agents.learned.networks import Network
from skyenv_agents.learned.torch_network import PolicyNetwork, use_processor

# Time between two checks for an interrupt.
WAIT_SECONDS: Final = 0.2


# The collector that played in this process last, and its state: a cache.
_latest: tuple[bytes, Collector] | None = None


def play(
    kind: type[Improvement],
    config: Config,
    part: int,
    state: bytes | None,
    weights: bytes,
    past: bytes,
) -> bytes:
    """Play a rollout in a worker.

    Args:
        kind: how the policy improves. config: of the training. part: of the games, from 0.
        state: of its collector (:func:`packed`); None: games begin.
        weights: of the network (:func:`packed`).
        past: the past policies that join first (:func:`packed`).

    Returns:
        The rollout and the collector's next state, pickled.
    """
    global _latest
    use_processor(1)
    if _latest is not None and state == _latest[0]:
        collector = _latest[1]
    else:
        collector = Collector(config, part, None if state is None else unpacked(state), kind)
    _latest = None
    rollout = played(collector, config.make_network(started=False), weights, past)
    _latest = packed(collector.state()), collector
    return pickle.dumps((rollout, _latest[0]))


def played(collector: Collector, network: PolicyNetwork, weights: bytes, past: bytes) -> Rollout:
    """Return a rollout with some weights, which are loaded into `network`."""
    for policy in unpacked(past):
        collector.add_opponent(past_policy(**policy))
    network.load_state_dict(unpacked(weights))
    return collector.collect(network)


class Actors:
    """All actors of a training.

    Args:
        kind: how the policy improves. config: of the training. network: to begin with.
        kept: what :meth:`pack` gave, to continue from.

    Attributes:
        own: the learner's collector; None: other processes play.

    Raises:
        OptionError: there is no such Ray.
    """

    def __init__(
        self,
        kind: type[Improvement],
        config: Config,
        network: PolicyNetwork,
        kept: Mapping[str, Any] | None = None,
    ) -> None:
        self._work = partial(play, kind, config)
        self._weights = packed(network.state_dict()) if kept is None else kept["weights"]
        self._past: bytes = packed([]) if kept is None else kept["past"]
        self._joining: list[dict[str, Any]] = [] if kept is None else unpacked(kept["joining"])
        self._states: list[bytes | None] = [None] * config.parts
        if kept is not None:
            self._states = list(kept["states"])
        self.own: Collector | None = None
        self._pools: list[Pool] = []
        self._jobs: list[Future[bytes]] = []
        if config.processes == 1:
            (state,) = self._states
            self.own = Collector(config, 0, None if state is None else unpacked(state), kind)
            self._network = config.make_network(started=False)
        else:
            # Of this machine a process for each part: it keeps the part's collector.
            self._pools = (
                [open_pool(1) for _ in self._states]
                if config.ray is None
                else [open_pool(config.parts, config.ray)] * config.parts
            )
            self._begin()

    def rollouts(self, network: PolicyNetwork) -> list[Rollout]:
        """Return a rollout of each part, and start the next ones with the current network.

        Raises:
            WorkerDiedError: workers keep dying over a part. Exception: what an actor raised.
        """
        if self.own is not None:
            self._next(network)
            return [played(self.own, self._network, self._weights, self._past)]
        self.wait()
        results = [pickle.loads(job.result()) for job in self._jobs]
        self._states = [state for _, state in results]
        self._next(network)
        self._begin()
        return [rollout for rollout, _ in results]

    def add_past(self, name: str, network: Network) -> None:
        """Add a past policy to the opponents, from the next rollout that begins."""
        about, weights = dict(network.about), tensors(network.weights)
        self._joining.append({"name": name, "about": about, "weights": weights})

    def pack(self) -> dict[str, Any]:
        """Return the state from which a new object continues identically."""
        return {
            "states": self._states if self.own is None else [packed(self.own.state())],
            "weights": self._weights,
            "past": self._past if self._pools else packed([]),
            "joining": packed(self._joining),
        }

    def wait(self) -> None:
        """Wait until all workers are idle, in short intervals, so that Ctrl-C is handled."""
        while wait(self._jobs, WAIT_SECONDS).not_done:
            pass

    def end(self) -> None:
        """End all workers."""
        for pool in self._pools:
            pool.close()

    def _next(self, network: PolicyNetwork) -> None:
        """Set the weights and past policies of the next rollouts."""
        self._weights, self._past = packed(network.state_dict()), packed(self._joining)
        self._joining = []

    def _begin(self) -> None:
        """Submit a rollout of every part."""
        self._jobs = [
            pool.submit(self._work, part, state, self._weights, self._past)
            for part, (pool, state) in enumerate(zip(self._pools, self._states, strict=True))
        ]
