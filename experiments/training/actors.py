"""Who plays for a training: this process, in turns with learning, or others, while it learns.

With others, all that is learned from was played with the weights before the latest update: an actor
plays on as soon as its last rollout is fetched, with the network as it is then, and writes into a
second place while the first is learned from. One other process alone may need longer for that than
the learner: then the learner plays a share of the games, too, with the same weights. Who has played
its own helps to learn: each gradient step has several pieces, which are computed by whoever is
there. So nobody waits for long, and what is learned doesn't depend on who was faster: a run is
reproduced by its seed, with as many processes.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import pickle
import signal
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.context import SpawnProcess
from multiprocessing.sharedctypes import RawArray
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from experiments.training.gradients import Objective, flat_gradient, parts_of
from experiments.training.network import PolicyNetwork
from experiments.training.processor import use_processor
from experiments.training.recipe import Config
from experiments.training.rollouts import Batch, Collector, Rollout
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
        self.network = config.make_network(started=False)
        self.collector: Collector = (
            config.make_collector(part) if kept is None else pickle.loads(kept)
        )

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
        updates: so often rollouts of others were fetched. stale: so many updates the oldest of the
            weights lay behind with which the latest rollouts were played.
    """

    updates = 0
    stale = 0

    @abstractmethod
    def rollouts(self, network: PolicyNetwork) -> list[Rollout]:
        """What has been played, one rollout of each actor."""

    def add_gradient(
        self,
        network: PolicyNetwork,
        objective: Objective,
        batch: Batch,
        pieces: Sequence[torch.Tensor],
    ) -> torch.Tensor:
        """Add the gradient of a step to the network's.

        Args:
            network: that learns. objective: what it learns. batch: from what; it isn't changed.
            pieces: of the step, rows of the batch.

        Returns:
            See :meth:`experiments.training.gradients.Objective.add_gradient`: the sum of all
            pieces.
        """
        number = sum(map(len, pieces))
        return torch.stack(
            [objective.add_gradient(network, batch, piece, number) for piece in pieces]
        ).sum(dim=0)

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
        """Weights, to be sent: those of the network that the latest rollouts were asked for with,
        or of the first one.
        """
        return max(self.updates - 1, 0), weights

    def count(self, numbers: Iterable[int]) -> None:
        """Rollouts are about to be learned from, which were played with weights of these
        numbers.
        """
        self.stale = self.updates - min(numbers)
        self.updates += 1


def make_actors(
    config: Config, network: PolicyNetwork, kept: Mapping[str, Any] | None = None
) -> Actors:
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


@dataclass(frozen=True)
class Desk:
    """Memory that the learner shares with those who help it.

    Attributes:
        batch: what is learned from. weights: float32, of the network in learning. gradient:
            float32, the helper's own. All are empty where nobody can help.
    """

    batch: Any
    weights: Any
    gradient: Any


class Elsewhere(Actors):
    """Other processes play; and this one before it learns, where there is one part more than
    others.
    """

    def __init__(
        self, config: Config, network: PolicyNetwork, kept: Mapping[str, Any] | None
    ) -> None:
        self._connections: list[Connection] = []
        self._processes: list[SpawnProcess] = []
        self._places: list[list[Any]] = []
        self._desks: list[Desk] = []
        self._answers: list[
            Any
        ] = []  # of the other processes, to what they were asked last; None: not yet
        self._batch, self._inputs = config.BATCH, config.inputs
        self._own: _Worker | None = None
        self._own_answer: Any = None
        self._weights: Weights = portable(network.state_dict()) if kept is None else kept["weights"]
        self.updates = 0 if kept is None else kept["updates"]
        self._pending: list[tuple[Any, ...]] | None = None
        self._past: list[tuple[str, ThingsNetwork]] = []
        rooms = [config.room_of(part) for part in range(config.parts)]
        helped = config.pieces > 1 and next(network.parameters()).device.type == "cpu"
        parameters = helped * sum(one.numel() for one in network.parameters())
        self._shown = RawArray(ctypes.c_byte, helped * sum(rooms))
        self._batch_shown: Batch | None = None
        self._learning = RawArray(ctypes.c_float, parameters)
        try:
            for part, room in enumerate(rooms):
                places = [RawArray(ctypes.c_byte, room) for _ in range(PLACES)]
                desk = Desk(self._shown, self._learning, RawArray(ctypes.c_float, parameters))
                self._start(
                    config, part, None if kept is None else kept["actors"][part], places, desk
                )
            self._send("play", self.numbered(self._weights))
        except BaseException:  # nobody else knows those that play already
            self.end()
            raise

    def _start(
        self, config: Config, part: int, kept: bytes | None, places: list[Any], desk: Desk
    ) -> None:
        """Let a process play a part of the games: this one the last, where there are as many parts
        as processes.
        """
        self._places.append(places)
        if part == config.processes - 1:
            self._own = _Worker(config, part, kept, places, desk)
            return
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        arguments = theirs, config, part, kept, places, desk
        process = context.Process(target=_work, args=arguments, daemon=True, name=f"actor {part}")
        with for_a_worker():
            process.start()
        theirs.close()
        self._connections.append(mine)
        self._processes.append(process)
        self._desks.append(desk)
        self._answers.append(None)

    def rollouts(self, network: PolicyNetwork) -> list[Rollout]:
        """See :meth:`Actors.rollouts`; the actors play on with the network as it is now."""
        self.wait()
        played, self._pending, self._batch_shown = self._pending, None, None
        assert played is not None
        self.count(weights for weights, *_ in played)
        self._tell_past()
        self._weights = portable(network.state_dict())
        self._send("play", self.numbered(self._weights))
        return [
            Rollout(self._batch.within(places[place], number, self._inputs), *rest)
            for places, (_, place, number, *rest) in zip(self._places, played, strict=True)
        ]

    def add_gradient(
        self,
        network: PolicyNetwork,
        objective: Objective,
        batch: Batch,
        pieces: Sequence[torch.Tensor],
    ) -> torch.Tensor:
        """See :meth:`Actors.add_gradient`: the last pieces are those of others who have played
        their rollouts.
        """
        helpers = list(
            islice(filter(self._has_answered, range(len(self._connections))), len(pieces) - 1)
        )
        if not helpers:
            return super().add_gradient(network, objective, batch, pieces)
        if batch is not self._batch_shown:
            batch.write(self._shown)
            self._batch_shown = batch
        number = sum(map(len, pieces))
        own, others = pieces[: -len(helpers)], pieces[-len(helpers) :]
        with torch.no_grad():
            torch.cat(
                [one.reshape(-1) for one in network.parameters()], out=as_tensor(self._learning)
            )
        for i, piece in zip(helpers, others, strict=True):
            self._ask(i, "gradient", (objective, len(batch), piece.numpy(), number))
        told = [objective.add_gradient(network, batch, piece, number) for piece in own]
        for i in helpers:
            told.append(torch.tensor(self._heard(i)))
            found = parts_of(as_tensor(self._desks[i].gradient), network)
            for one, more in zip(network.parameters(), found, strict=True):
                if one.grad is not None:
                    one.grad.add_(more)
        return torch.stack(told).sum(dim=0)

    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """See :meth:`Actors.add_past`; from the rollout after the next on."""
        # Actors are told when they listen: while they play, a message that is larger than a pipe
        # would wait for them.
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
        """Ask all of them for something."""
        for i in range(len(self._connections)):
            self._ask(i, what, value)
        if self._own is not None:
            self._own_answer = self._own.do(what, value)

    def _ask(self, i: int, what: str, value: Any) -> None:
        """Ask another process for something."""
        try:
            self._connections[i].send((what, value))
        except OSError as error:
            raise self._dead() from error

    def _receive(self) -> list[Any]:
        """The answers of all of them to what they were asked last."""
        for i, answer in enumerate(self._answers):
            if answer is None:
                self._answers[i] = self._heard(i)
        answers, self._answers = self._answers, [None] * len(self._answers)
        return answers if self._own is None else [*answers, self._own_answer]

    def _has_answered(self, i: int) -> bool:
        """Whether another process has done what all were asked for."""
        if self._answers[i] is None and self._connections[i].poll():
            self._answers[i] = self._heard(i)
        return self._answers[i] is not None

    def _heard(self, i: int) -> Any:
        """What another process says next; waits for it."""
        try:
            answer = self._connections[i].recv()
        except (EOFError, OSError) as error:
            raise self._dead() from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _dead(self) -> SkyenvError:
        ended = wait_for(
            [process.sentinel for process in self._processes], SECONDS_TO_DIE
        )  # a pipe closes a little earlier
        for process in self._processes:
            if process.sentinel in ended:
                process.join(SECONDS_TO_DIE)  # and the sentinel is a pipe as well
        codes = {
            process.name: process.exitcode for process in self._processes if not process.is_alive()
        }
        return SkyenvError(
            f"a process that plays has ended ({codes}); what was trained is kept, --resume goes on "
            "from the last checkpoint"
        )


def portable(weights: Mapping[str, torch.Tensor]) -> Weights:
    """Weights as arrays of their own, which can be sent."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in weights.items()}


def as_tensor(memory: Any) -> torch.Tensor:
    """Shared numbers, float32 (n,)."""
    return torch.frombuffer(memory, dtype=torch.float32)


def _work(
    connection: Connection,
    config: Config,
    part: int,
    kept: bytes | None,
    places: list[Any],
    desk: Desk,
) -> None:
    """What another process does: it plays and helps as it is told, until nobody tells it any
    more.
    """
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
            worker = worker or _Worker(config, part, kept, places, desk)
            answer = worker.do(what, value)
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = error
        if what != "past" or isinstance(answer, Exception):
            with suppress(OSError):
                connection.send(answer)


class _Worker:
    """An actor that writes where the learner reads, and can tell how it was before its latest
    rollout.
    """

    def __init__(
        self, config: Config, part: int, kept: bytes | None, places: list[Any], desk: Desk
    ) -> None:
        self._places, self._next, self._desk = places, 0, desk
        self._batch, self._inputs = config.BATCH, config.inputs
        earlier, self._later = (None, []) if kept is None else pickle.loads(kept)
        self._past: list[tuple[str, ThingsNetwork]] = []  # added since the latest rollout began
        self._actor = Actor(config, part, earlier)
        self._before = self._actor.collector

    def do(self, what: str, value: Any) -> Any:
        """What the learner asks for, and the answer to it."""
        asked: dict[str, Callable[[], Any]] = {
            "play": lambda: self.play(value),
            "gradient": lambda: self.gradient(*value),
            "past": lambda: self.add_past(*value),
            "pack": self.pack,
        }
        return asked[what]()

    def play(self, numbered: Numbered) -> tuple[int, int, int, int, list[Any], dict[str, float]]:
        """A rollout: the number of its weights, the place where its batch is, how many decisions
        that has, and the rest of it.
        """
        updates, weights = numbered
        self._before, self._past = self._actor.collector.snapshot(), []
        rollout = self._actor.play(
            {name: torch.from_numpy(array) for name, array in weights.items()}
        )
        later, self._later = self._later, []
        for name, network in later:
            self.add_past(name, network)
        place, self._next = self._next, (self._next + 1) % PLACES
        rollout.batch.write(self._places[place])
        return updates, place, len(rollout.batch), rollout.decisions, rollout.ended, rollout.figures

    def gradient(
        self, objective: Objective, decisions: int, piece: npt.NDArray[np.int64], number: int
    ) -> list[float]:
        """Write the gradient of a piece of a step where the learner reads; see
        :meth:`Objective.add_gradient`.

        Args:
            objective: what is learned. decisions: in the batch. piece: rows of it. number:
                decisions in the step.
        """
        network = self._actor.network
        with torch.no_grad():
            for one, weights in zip(
                network.parameters(), parts_of(as_tensor(self._desk.weights), network), strict=True
            ):
                one.copy_(weights)
        network.zero_grad()
        batch = self._batch.within(self._desk.batch, decisions, self._inputs)
        told: list[float] = objective.add_gradient(
            network, batch, torch.from_numpy(piece), number
        ).tolist()
        as_tensor(self._desk.gradient).copy_(flat_gradient(network))
        return told

    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """See :meth:`Actor.add_past`."""
        self._past.append((name, network))
        self._actor.add_past(name, network)

    def pack(self) -> bytes:
        """The collector before the latest rollout, and past policies that came after that began."""
        return pickle.dumps((pickle.dumps(self._before), self._past))
