"""Actors on machines that Ray connects: ``--ray`` with ``--processes``.

A training is the same one as with processes of this machine, whoever plays where, and whoever is
lost: each actor plays one part of the games, one rollout ahead of the learner, with the weights
before the latest update. The weights are sent once per update as an object that Ray's machines
share; what was played comes back as it lies in memory, with all that its actor needs to go on. It
is copied three times: by the actor, by Ray into the memory that it shares, and from there to where
it is learned from. An actor that dies, or whose machine is gone, is begun again somewhere else as
it was before the rollout that was lost, and plays it again. No actor is given a rollout to play
before its last one has been fetched, so nothing piles up, however slow the learner is.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from experiments.training.actors import Actor, Actors, Numbered, Weights, make_actors, portable
from experiments.training.network import PolicyNetwork
from experiments.training.processor import use_processor
from experiments.training.recipe import Config
from experiments.training.rollouts import Rollout
from skyenv.agents import checkpoint_in
from skyenv.arena.on_ray import Host, connect, cpus, sent
from skyenv.arena.schedule import Entrant, entrant
from skyenv.arena.workers import MachineLostError, WorkerDiedError
from skyenv.errors import OptionError, SkyenvError
from skyenv.work import ATTEMPTS
from skyenv.work.pool import PATIENCE
from skyenv_agents.learned.networks import ThingsNetwork

SECONDS_TO_BEGIN: Final = 10.0
"""After so long without a CPU for an actor it is told what is being waited for."""
LOSSES: Final = 10
"""So many actors may be lost over a rollout before the training gives up."""

Past = tuple[str, ThingsNetwork]
Played = tuple[int, npt.NDArray[np.uint8], int, int, list[Any], dict[str, float], bytes]
"""A rollout as it is sent: the number of its weights, its batch, how many decisions that has, the
rest of it, its collector.
"""


def begin_actors(
    config: Config, network: PolicyNetwork, kept: Mapping[str, Any] | None = None
) -> Actors:
    """Who plays, where the configuration says.

    Args:
        config: of the training. network: to begin with.
        kept: what :meth:`experiments.training.actors.Actors.pack` gave, wherever that was, to go on
            from.
    """
    return (
        make_actors(config, network, kept) if config.ray is None else OnRay(config, network, kept)
    )


# ---- elsewhere ----


class Remote:
    """Plays a part of the games on some machine.

    Args:
        config: of the training. part: which one, from 0.
        state: the collector to go on with; None: a new one.
        fixed: the fixed opponents, which a new one makes, as they are at the learner's.

    Raises:
        AgentError, CheckpointError: one of these can't be made, or its checkpoint is another one
            here.
    """

    def __init__(
        self, config: Config, part: int, state: bytes | None, fixed: Sequence[Entrant]
    ) -> None:
        use_processor(1)
        self._actor = Actor(config, part, state)
        for opponent in fixed if state is None else ():
            opponent.check()

    def play(self, numbered: Numbered, past: list[Past]) -> Played:
        """Take past policies in, and collect a rollout."""
        updates, weights = numbered
        for name, network in past:
            self._actor.add_past(name, network)
        rollout = self._actor.play(
            {name: torch.from_numpy(array) for name, array in weights.items()}
        )
        number = len(rollout.batch)
        memory = np.empty(rollout.batch.room(*rollout.batch.codes.shape), np.uint8)
        rollout.batch.write(memory)
        return (
            updates,
            memory,
            number,
            rollout.decisions,
            rollout.ended,
            rollout.figures,
            self._actor.pack(),
        )


# ---- at the learner's ----


class Part:
    """One part of the games, at the learner's: who plays it, and how to begin again if that is
    lost.

    Args:
        ray: the package. config: of the training. number: which part.
        state: the collector to go on with; None: a new one. fixed: as for :class:`Remote`.
    """

    def __init__(
        self,
        ray: ModuleType,
        config: Config,
        number: int,
        state: bytes | None,
        fixed: Sequence[Entrant] = (),
    ) -> None:
        self._ray, self._config, self._number, self._fixed = ray, config, number, fixed
        self.state = state
        self.told: list[Past] = []
        self._weights: Any = None
        self._host = self._hosted(cpus=1)

    def _hosted(self, cpus: int) -> Host:
        return Host(
            self._ray, Remote, self._config, self._number, self.state, self._fixed, cpus=cpus
        )

    def play(self, weights: Any, past: list[Past]) -> None:
        """Let a rollout be played with weights that Ray holds, after past policies have come."""
        self._weights, self.told = weights, past
        self._ticket = self._host.ask("play", weights, past)

    def fetch(self) -> tuple[Played, int]:
        """What was played, and how often an actor was lost over it.

        Each loss is told on stderr; so is it if no CPU is free.

        Raises:
            SkyenvError: processes keep dying over it, or machines. Exception: what the actor
                raised.
        """
        deaths = lost = 0
        while True:
            self._await()
            try:
                return self._host.answer(self._ticket), lost
            except (WorkerDiedError, MachineLostError) as error:
                lost += 1
                deaths += isinstance(error, WorkerDiedError)
                if deaths == ATTEMPTS or lost == LOSSES:
                    what = (
                        f"{deaths} processes died"
                        if deaths == ATTEMPTS
                        else f"{lost} actors were lost"
                    )
                    raise SkyenvError(
                        f"{what} while they played part {self._number};"
                        " what was trained is kept, --resume goes on from the last checkpoint"
                    ) from None
                gone = "died" if isinstance(error, WorkerDiedError) else "is gone with its machine"
                tell(
                    f"ray: the actor of part {self._number} {gone}; another one plays its rollout "
                    "again"
                )
                self._host = self._hosted(cpus=0)  # where it was may have been the last free CPU
                self.play(self._weights, self.told)

    def _await(self) -> None:
        """Until there is an answer or none will come, a while at a time, so that Ctrl-C is
        heard.
        """
        since: float | None = time.monotonic()
        while not self._host.answers_within(self._ticket, PATIENCE):
            if since is None or time.monotonic() - since < SECONDS_TO_BEGIN:
                continue
            since = None
            if not self._host.begun():
                tell(
                    f"ray: part {self._number} waits for a CPU; other work has all "
                    f"{cpus(self._ray)}"
                )

    def packed(self) -> bytes:
        """The collector before the rollout under way, with the past policies that it was told of
        then.
        """
        actor = Actor(self._config, self._number, self.state)
        for name, network in self.told:
            actor.add_past(name, network)
        return actor.pack() if self.told or self.state is None else self.state

    def end(self) -> None:
        """Let it not be played any more."""
        self._host.end()


def tell(text: str) -> None:
    """Say something beside the progress."""
    tqdm.write(text, file=sys.stderr)


class OnRay(Actors):
    """Actors of Ray play, always; see :class:`experiments.training.actors.Elsewhere`, whose
    rollouts they have.

    Attributes:
        lost: so many actors were lost and begun again.
    """

    def __init__(
        self, config: Config, network: PolicyNetwork, kept: Mapping[str, Any] | None
    ) -> None:
        assert config.ray is not None
        self._ray = connect(config.ray, config.parts)
        if cpus(self._ray) < config.parts:
            raise OptionError(
                f"processes {config.processes} need {config.parts} CPUs; ray has {cpus(self._ray)}"
            )
        self._batch, self._inputs = config.BATCH, config.inputs
        self._weights: Weights = portable(network.state_dict()) if kept is None else kept["weights"]
        self.updates = 0 if kept is None else kept["updates"]
        self._pending: list[Played] | None = None
        self._past: list[Past] = []
        # Each rollout is copied here when it is learned from, so that it doesn't take Ray's memory
        # meanwhile.
        self._places = [np.empty(config.room_of(part), np.uint8) for part in range(config.parts)]
        self._parts: list[Part] = []
        self.lost = 0
        names = config.fixed_opponents if kept is None else ()
        table = (config.players[0], config.side[0])
        fixed = [entrant(spec, *table) for spec in names if checkpoint_in(spec) is not None]
        try:
            for number in range(config.parts):
                state = None
                if kept is not None:
                    state, self._past = pickle.loads(kept["actors"][number])
                self._parts.append(Part(self._ray, config, number, state, fixed))
            self._play([])
        except BaseException:  # nobody else knows those that play already
            self.end()
            raise

    def _play(self, past: list[Past]) -> None:
        weights = self._ray.put(sent(self.numbered(self._weights)))
        for part in self._parts:
            part.play(weights, past)

    def rollouts(self, network: PolicyNetwork) -> list[Rollout]:
        """See :meth:`experiments.training.actors.Actors.rollouts`; the actors play on with the
        network as it is now.
        """
        self.wait()
        played, self._pending = self._pending, None
        assert played is not None
        self.count(weights for weights, *_ in played)
        for part, (*_, state) in zip(self._parts, played, strict=True):
            part.state = state
        self._weights = portable(network.state_dict())
        past, self._past = self._past, []
        self._play(past)
        rollouts = []
        for place, (_, memory, number, decisions, ended, figures, _) in zip(
            self._places, played, strict=True
        ):
            place[: len(memory)] = memory
            rollouts.append(
                Rollout(self._batch.within(place, number, self._inputs), decisions, ended, figures)
            )
        return rollouts

    def add_past(self, name: str, network: ThingsNetwork) -> None:
        """See :meth:`experiments.training.actors.Actors.add_past`; from the rollout after the next
        on.
        """
        self._past.append((name, network))

    def wait(self) -> None:
        """See :meth:`experiments.training.actors.Actors.wait`."""
        if self._pending is None:
            fetched_now = [part.fetch() for part in self._parts]
            self.lost += sum(lost for _, lost in fetched_now)
            self._pending = [played for played, _ in fetched_now]

    def pack(self) -> dict[str, Any]:
        """See :meth:`experiments.training.actors.Actors.pack`; processes of one machine can go on
        from it, too.
        """
        self.wait()
        actors = [pickle.dumps((part.packed(), self._past)) for part in self._parts]
        return {"actors": actors, "weights": self._weights, "updates": self.updates}

    def end(self) -> None:
        """See :meth:`experiments.training.actors.Actors.end`."""
        for part in self._parts:
            part.end()
        self._parts = []

    def figures(self) -> dict[str, float]:
        """See :meth:`experiments.training.actors.Actors.figures`; and how many actors were lost and
        begun again.
        """
        return {**super().figures(), "lost": float(self.lost)}
