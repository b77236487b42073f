"""Who meets whom in a tournament.

A paired seed is a deal, setup, stacks and Alea's cards, that is played in several seatings. All
agents of the *field* play the same paired seeds, so that the luck of the deal and that of the seat
cancel. Agents that think long (`slow`) may leave the field after so many paired seeds.

* With two players every pair meets in both seatings.
* With N > 2 players and a field of at least N there are *mixed tables* of N different agents, each
  in all N rotations. All combinations of N agents fall into classes: the agents stand in a circle,
  and a class is what one table becomes by moving everybody on. Each paired seed plays one class, in
  which every agent sits as often as every other; after all classes, each N agents have met as often
  as any others. In which order a table sits is drawn anew for each paired seed. So the work grows
  with the number of agents, not with that of their combinations.
* With N > 2 players there are also *duels*: one agent alone against another in all other seats,
  once in each seat, both ways round. Each paired seed plays those of the pairs at one distance in
  the circle; the distances take turns.
"""

from __future__ import annotations

import itertools
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

import skyenv
from skyenv.agents import Agent, Decisions, ReportingAgent, checkpoint_in, make_agent
from skyenv.checks import check_choice, check_integer
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.errors import AgentError, OptionError
from skyenv.files import digest_of
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.seeds import HIGHEST_SEED

MOST_PAIRED_SEEDS: Final = 10**7

Group = tuple[int, ...]
"""Agents, counted from 0, that play a paired seed's games with each other: two (a pair), or all
(the mixed tables).
"""


@dataclass(frozen=True)
class Entrant:
    """An agent as config.json has it; `digest` is the SHA-256 of a checkpoint's file or folder,
    else empty.
    """

    spec: str
    name: str
    version: str
    description: str
    digest: str = ""

    def make(self, *, deterministic: bool = False) -> Agent:
        """The agent; `deterministic`: as for :func:`skyenv.make_agent`.

        Raises:
            AgentError, CheckpointError: it can't be made, or its checkpoint is another one here.
        """
        agent = make_agent(self.spec, deterministic=deterministic)
        self.check()
        return agent

    def check(self) -> None:
        """Raise AgentError if its checkpoint is another one here."""
        if _digest(self.spec) != self.digest:
            raise AgentError(
                f"{self.spec} on {socket.gethostname()} isn't the file that the games were begun "
                "with"
            )


class TimedAgent(ReportingAgent):
    """An agent in a worker, whose decisions are timed.

    Attributes:
        spent: decisions and seconds. The first call isn't counted: it may compile or load
            something.
    """

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self.spent = [0.0, 0.0]
        self._is_new = True

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer]:
        """See :class:`skyenv.agents.Agent`."""
        started = time.perf_counter()
        try:
            actions = super().act(decisions)
        except KeyboardInterrupt:
            if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
                raise
            raise AgentError(f"agent {self.name} raised KeyboardInterrupt") from None
        if not self._is_new:
            self.spent[0] += len(decisions)
            self.spent[1] += time.perf_counter() - started
        self._is_new = False
        return actions


@lru_cache(64)
def timed_agent(entrant: Entrant, *, deterministic: bool = False) -> TimedAgent:
    """Return an agent, which is made once in each process; see :meth:`Entrant.make`."""
    return TimedAgent(entrant.make(deterministic=deterministic))


@dataclass(frozen=True)
class Settings:
    """What is played. Paired seed i, counted from 0, is the seed `seed` + i.

    Attributes:
        agents: those who play.
        players, side, seed, max_turns: as for :class:`skyenv.Games`.
        secret: as for :func:`skyenv.arena.matches.play_games`.
        newcomer: whether only games with agent 0 are played.
        slow: names of agents that play fewer paired seeds. slow_paired_seeds: how many these play.
        project: version of skyenv.

    Raises:
        OptionError: a value is wrong.
    """

    agents: tuple[Entrant, ...]
    players: int
    side: str = "front"
    seed: int = 1
    max_turns: int = DEFAULT_MAX_TURNS
    secret: int | None = None
    newcomer: bool = False
    slow: tuple[str, ...] = ()
    slow_paired_seeds: int = MOST_PAIRED_SEEDS
    project: str = skyenv.__version__

    def __post_init__(self) -> None:
        check_integer("players", self.players, MIN_PLAYERS, MAX_PLAYERS)
        check_choice("side", self.side, SIDES)
        check_integer("seed", self.seed, 0, HIGHEST_SEED - MOST_PAIRED_SEEDS)
        if len(self.agents) < self.players:
            raise OptionError(
                f"a tournament for {self.players} players needs at least {self.players} agents, "
                f"not {len(self.agents)}"
            )
        unknown = [name for name in self.slow if name not in [agent.name for agent in self.agents]]
        if unknown:
            raise OptionError(f"{unknown[0]} is called slow, but doesn't play")
        if self.slow and len(self.agents) - len(self.slow) < 2:
            raise OptionError("at least two agents must not be slow")

    def field(self, paired_seed: int) -> Group:
        """Return the agents that play a paired seed."""
        everybody = range(len(self.agents))
        if paired_seed < self.slow_paired_seeds:
            return tuple(everybody)
        return tuple(index for index in everybody if self.agents[index].name not in self.slow)

    def groups(self, paired_seed: int = 0) -> list[Group]:
        """Return who plays with whom in a paired seed."""
        field = self.field(paired_seed)
        pairs = [
            (field[i], field[j])
            for i, j in pairs_of(len(field), None if self.players == 2 else paired_seed)
        ]
        groups: list[Group] = [pair for pair in pairs if 0 in pair or not self.newcomer]
        if self.players > 2 and len(field) >= self.players:
            groups.append(field)
        return groups

    def seatings(self, group: Group, paired_seed: int) -> npt.NDArray[np.int64]:
        """The games of a group in a paired seed: int64 (games, players), the agent of each seat."""
        return (
            pair_seatings(group, self.players)
            if len(group) == 2
            else self._mixed_tables(group, paired_seed)
        )

    def _mixed_tables(self, field: Group, paired_seed: int) -> npt.NDArray[np.int64]:
        classes = classes_of(len(field), self.players)
        tables = np.array(field)[classes[paired_seed % len(classes)]]
        tables = np.random.default_rng([self.seed, paired_seed]).permuted(tables, axis=1)
        if self.newcomer:
            tables = tables[(tables == 0).any(axis=1)]
        return np.concatenate(
            [np.roll(tables, turn, axis=1) for turn in range(self.players)]
        ).astype(np.int64)

    def games_in(self, paired_seed: int) -> int:
        """Return how many games a paired seed has."""
        return sum(len(self.seatings(group, paired_seed)) for group in self.groups(paired_seed))

    def group_of(self, seats: Sequence[int], paired_seed: int) -> Group:
        """Return the group that a game of a paired seed belongs to."""
        members = tuple(sorted(set(seats)))
        return members if len(members) == 2 else self.field(paired_seed)


@cache
def classes_of(agents: int, players: int) -> list[npt.NDArray[np.int64]]:
    """All combinations of `players` of so many agents, by class: int64 (tables, players), what one
    becomes by turns.
    """
    left = set(itertools.combinations(range(agents), players))
    classes = []
    for table in sorted(left):
        if table in left:
            turned = {
                tuple(sorted((agent + turn) % agents for agent in table)) for turn in range(agents)
            }
            left -= turned
            classes.append(np.array(sorted(turned)))
    return classes


@cache
def pairs_of(agents: int, paired_seed: int | None) -> list[tuple[int, int]]:
    """All pairs of so many agents; with a paired seed those at its distance in the circle alone."""
    pairs = list(itertools.combinations(range(agents), 2))
    if paired_seed is None:
        return pairs
    distance = 1 + paired_seed % (agents // 2)
    return [pair for pair in pairs if distance in (pair[1] - pair[0], agents - pair[1] + pair[0])]


@cache
def pair_seatings(pair: Group, players: int) -> npt.NDArray[np.int64]:
    """Each of two agents alone against the other, once in each seat: int64 (games, players)."""
    alone = np.eye(players, dtype=bool)
    one = np.where(alone, pair[0], pair[1])
    return one if players == 2 else np.concatenate([one, np.where(alone, pair[1], pair[0])])


def entrant(spec: str, players: int, side: str) -> Entrant:
    """The agent that a specification means, in the version that it has at a table.

    Raises:
        AgentError, CheckpointError: it can't be made.
    """
    agent = make_agent(spec)
    version = agent.version_at(players, side)
    return Entrant(spec, agent.name, version, agent.description, _digest(spec))


def entrants(specs: Sequence[str], players: int, side: str = "front") -> tuple[Entrant, ...]:
    """The agents that specifications mean, in the versions that they have at a table.

    Raises:
        AgentError, CheckpointError: one can't be made. OptionError: two have one name.
    """
    entries = tuple(entrant(spec, players, side) for spec in specs)
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(
                f"two agents are called {name}; a ladder tells agents apart by their names"
            )
    return entries


def _digest(spec: str) -> str:
    """What :class:`Entrant` has of a specification's checkpoint."""
    path = checkpoint_in(spec)
    return "" if path is None else digest_of(path)
