"""Who plays for a training: this process, in turns with learning, or others, while it learns.

With others, all that is learned from was played with the weights before the latest update: an actor plays on as soon as its last
rollout is fetched, with the network as it is then, and writes into a second place while the first is learned from. So nobody
waits longer than the slower side needs, and what is learned doesn't depend on who that is: a run is reproduced by its seed and
its number of processes. As playing takes longer than learning, one other process alone would let the learner wait: then the
learner plays a share of the games, too, with the same weights as the other.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import pickle
import signal
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import RawArray
from typing import Any, Final

import torch

from experiments.training.network import PolicyNetwork
from experiments.training.processor import use_processor
from experiments.training.recipe import Config
from experiments.training.rollouts import Playing, Rollout
from skyenv.arena.workers import begin_worker, for_a_worker
from skyenv.errors import SkyenvError
from skyenv_agents.learned.networks import NetworkAgent, ThingsNetwork

PLACES: Final = 2
"""Rollouts of an actor that there is room for: one that is learned from, one that is played."""

SECONDS_TO_DIE: Final = 1.0

Weights = dict[str, Any]

Numbered = tuple[int, Weights]
"""Weights as they are sent, and how many updates have made them."""


class Actor:
    """Plays in this process.

    Args:
        config: of the training. part: which of those that play, from 0.
        kept: what :meth:`pack` gave, to go on from.
    """

    def __init__(self, config: Config, part: int, kept: bytes | None = None) -> None:
        self.network = config.make_network(started=False).to(config.playing_device)
        self.collector: Playing = config.make_playing(part) if kept is None else pickle.loads(kept)

    def play(self, weights: Mapping[str, Any]) -> Rollout:
        """Collect a rollout."""
        self.network.load_state_dict(weights)
        return self.collector.collect(self.network)

    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """Take a past policy in among the opponents."""
        self.collector.add_opponent(NetworkAgent(network, name=name))

    def pack(self) -> bytes:
        """All that is needed to go on as if nothing had happened."""
        return pickle.dumps(self.collector)


class Actors(ABC):
    """All that play for a training.

    Attributes:
        updates: so often rollouts of others were fetched. stale: so many updates the oldest of the weights lay behind with which
            the latest rollouts were played.
    """

    updates = 0
    stale = 0

    @abstractmethod
    def rollouts(self, network: PolicyNetwork) -> list[Rollout]:
        """What has been played, one rollout of each actor."""

    @abstractmethod
    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """Take a past policy in among the opponents."""

    @abstractmethod
    def wait(self) -> None:
        """Until nobody plays."""

    @abstractmethod
    def pack(self) -> dict[str, Any]:
        """All that is needed to go on as if nothing had happened; it will be pickled."""

    @abstractmethod
    def end(self) -> None:
        """Let nobody play any more."""

    def figures(self) -> dict[str, float]:
        """What the curve shall tell: how stale the latest rollouts are."""
        return {"stale": float(self.stale)}

    def numbered(self, weights: Weights) -> Numbered:
        """Weights, to be sent: those of the network that the latest rollouts were asked for with, or of the first one."""
        return max(self.updates - 1, 0), weights

    def count(self, numbers: Iterable[int]) -> None:
        """Rollouts are about to be learned from, which were played with weights of these numbers."""
        self.stale = self.updates - min(numbers)
        self.updates += 1


def make_actors(config: Config, network: PolicyNetwork, kept: Mapping[str, Any] | None = None) -> Actors:
    """Who plays, as many processes as the configuration says.

    Args:
        config: of the training. network: to begin with.
        kept: what :meth:`Actors.pack` gave, to go on from.
    """
    return Here(config, kept) if config.processes == 1 else Elsewhere(config, network, kept)


class Here(Actors):
    """This process plays, when a rollout is wanted, with the network as it is then."""

    def __init__(self, config: Config, kept: Mapping[str, Any] | None) -> None:
        self.actor = Actor(config, 0, None if kept is None else kept["actors"][0])

    def rollouts(self, network: PolicyNetwork) -> list[Rollout]:
        """See :meth:`Actors.rollouts`."""
        return [self.actor.play(network.state_dict())]

    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """See :meth:`Actors.add_past`."""
        self.actor.add_past(name, network)

    def wait(self) -> None:
        """See :meth:`Actors.wait`."""

    def pack(self) -> dict[str, Any]:
        """See :meth:`Actors.pack`."""
        return {"actors": [self.actor.pack()]}

    def end(self) -> None:
        """See :meth:`Actors.end`."""


class Elsewhere(Actors):
    """Other processes play, always; and this one before it learns, where there is one part more than others."""

    def __init__(self, config: Config, network: PolicyNetwork, kept: Mapping[str, Any] | None) -> None:
        self._connections: list[Connection] = []
        self._processes: list[SpawnProcess] = []
        self._places: list[list[Any]] = []
        self._batch = config.BATCH
        self._own: _Worker | None = None
        self._own_answer: Any = None
        self._weights: Weights = portable(network.state_dict()) if kept is None else kept["weights"]
        self.updates = 0 if kept is None else kept["updates"]
        self._pending: list[tuple[Any, ...]] | None = None
        self._past: list[tuple[str, ThingsNetwork]] = []
        try:
            for part in range(config.parts):
                self._start(config, part, None if kept is None else kept["actors"][part])
            self._send("play", self.numbered(self._weights))
        except BaseException:  # nobody else knows those that play already
            self.end()
            raise

    def _start(self, config: Config, part: int, kept: bytes | None) -> None:
        """Let a process play a part of the games: this one the last, where there are as many parts as processes."""
        size = config.room_of(part)
        places = [RawArray(ctypes.c_byte, size) for _ in range(PLACES)]
        self._places.append(places)
        if part == config.processes - 1:
            self._own = _Worker(config, part, kept, places)
            return
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, config, part, kept, places), daemon=True, name=f"actor {part}")
        with for_a_worker():
            process.start()
        theirs.close()
        self._connections.append(mine)
        self._processes.append(process)

    def rollouts(self, network: PolicyNetwork) -> list[Rollout]:
        """See :meth:`Actors.rollouts`; the actors play on with the network as it is now."""
        self.wait()
        played, self._pending = self._pending, None
        assert played is not None
        self.count(weights for weights, *_ in played)
        self._tell_past()
        self._weights = portable(network.state_dict())
        self._send("play", self.numbered(self._weights))
        return [
            Rollout(self._batch.within(places[place], number), *rest)
            for places, (_, place, number, *rest) in zip(self._places, played, strict=True)
        ]

    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """See :meth:`Actors.add_past`; from the rollout after the next on."""
        # Actors are told when they listen: while they play, a message that is larger than a pipe would wait for them.
        self._past.append((name, network))

    def wait(self) -> None:
        """See :meth:`Actors.wait`."""
        if self._pending is None:
            self._pending = self._receive()

    def pack(self) -> dict[str, Any]:
        """See :meth:`Actors.pack`; waits until the rollouts under way are played."""
        self.wait()
        self._tell_past()
        self._send("pack", None)
        return {"actors": self._receive(), "weights": self._weights, "updates": self.updates}

    def end(self) -> None:
        """See :meth:`Actors.end`."""
        for connection, process in zip(self._connections, self._processes, strict=True):
            connection.close()
            process.kill()
            process.join()

    def _tell_past(self) -> None:
        for name, network in self._past:
            self._send("past", (name, network))
        self._past.clear()

    def _send(self, what: str, value: Any) -> None:
        for connection in self._connections:
            try:
                connection.send((what, value))
            except OSError as error:
                raise self._dead() from error
        if self._own is not None:
            self._own_answer = self._own.do(what, value)

    def _receive(self) -> list[Any]:
        try:
            answers = [connection.recv() for connection in self._connections]
        except (EOFError, OSError) as error:
            raise self._dead() from error
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers if self._own is None else [*answers, self._own_answer]

    def _dead(self) -> SkyenvError:
        ended = wait_for([process.sentinel for process in self._processes], SECONDS_TO_DIE)  # a pipe closes a little earlier
        for process in self._processes:
            if process.sentinel in ended:
                process.join(SECONDS_TO_DIE)  # and the sentinel is a pipe as well
        codes = {process.name: process.exitcode for process in self._processes if not process.is_alive()}
        return SkyenvError(
            f"a process that plays has ended ({codes}); what was trained is kept, --resume goes on from the last checkpoint"
        )


def portable(weights: Mapping[str, torch.Tensor]) -> Weights:
    """Weights as arrays of their own, which can be sent."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in weights.items()}


def _work(connection: Connection, config: Config, part: int, kept: bytes | None, places: list[Any]) -> None:
    """What another process does: it plays as it is told, until nobody tells it any more."""
    begin_worker()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is the learner that ends in order
    use_processor(1)
    worker: _Worker | None = None
    while True:
        try:
            what, value = connection.recv()
        except (EOFError, OSError):
            return  # the learner is gone
        try:
            worker = worker or _Worker(config, part, kept, places)
            answer = worker.do(what, value)
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = error
        if what != "past" or isinstance(answer, Exception):
            with suppress(OSError):
                connection.send(answer)


class _Worker:
    """An actor that writes where the learner reads, and can tell how it was before its latest rollout."""

    def __init__(self, config: Config, part: int, kept: bytes | None, places: list[Any]) -> None:
        self._places, self._next = places, 0
        earlier, self._later = (None, []) if kept is None else pickle.loads(kept)
        self._past: list[tuple[str, ThingsNetwork]] = []  # added since the latest rollout began
        self._actor = Actor(config, part, earlier)
        self._before = self._actor.collector

    def do(self, what: str, value: Any) -> Any:
        """What the learner asks for, and the answer to it."""
        if what == "play":
            return self.play(value)
        return self.add_past(*value) if what == "past" else self.pack()

    def play(self, numbered: Numbered) -> tuple[int, int, int, int, list[Any], dict[str, float]]:
        """A rollout: the number of its weights, the place where its batch is, how many decisions that has, and the rest of it."""
        updates, weights = numbered
        self._before, self._past = self._actor.collector.snapshot(), []
        rollout = self._actor.play({name: torch.from_numpy(array) for name, array in weights.items()})
        later, self._later = self._later, []
        for name, network in later:
            self.add_past(name, network)
        place, self._next = self._next, (self._next + 1) % PLACES
        rollout.batch.write(self._places[place])
        return updates, place, len(rollout.batch), rollout.decisions, rollout.ended, rollout.figures

    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """See :meth:`Actor.add_past`."""
        self._past.append((name, network))
        self._actor.add_past(name, network)

    def pack(self) -> bytes:
        """The collector before the latest rollout, and past policies that came after that began."""
        return pickle.dumps((pickle.dumps(self._before), self._past))
