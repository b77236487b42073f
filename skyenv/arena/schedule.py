"""Who meets whom in a tournament, and in which tasks of a pool of workers.

A paired seed is a deal, setup, stacks and Alea's cards, that is played in several seatings. All
agents play the same paired seeds, so that the luck of the deal and that of the seat cancel.

* With two players every pair meets in both seatings.
* With N > 2 players there are *mixed tables* of N different agents, each in all N rotations. All
  combinations of N agents fall into classes: the agents stand in a circle, and a class is what one
  table becomes by moving everybody on. Each paired seed plays one class, in which every agent sits
  as often as every other; after all classes, each N agents have met as often as any others. In
  which order a table sits is drawn anew for each paired seed. So the work grows with the number of
  agents, not with that of their combinations.
* With N > 2 players there are also *duels*: one agent alone against another in all other seats,
  once in each seat, both ways round. Each paired seed plays those of the pairs at one distance in
  the circle; the distances take turns.

A task is some paired seeds of one pair, or of the mixed tables: all of a round, or fewer where
workers would be idle. The first round is one paired seed; rounds that are over soon are followed by
larger ones.
"""

from __future__ import annotations

import itertools
import math
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

import numpy as np

import skyenv
from skyenv.agents import Agent, ReportingAgent, checkpoint_in, make_agent
from skyenv.checks import Int64, check_integer
from skyenv.engine.options import DEFAULT_MAX_TURNS, GameOptions
from skyenv.errors import AgentError, OptionError, shown
from skyenv.files import digest_of
from skyenv.seeds import HIGHEST_SEED

MOST_PAIRED_SEEDS: Final = 10**7
# Paired seeds of a round at most: larger batches bring no more speed.
LARGEST_ROUND: Final = 2048
# A longer round isn't followed by a larger one: Ctrl-C leaves its paired seeds unfinished.
ROUND_SECONDS: Final = 15.0

# Agents, counted from 0, that play a paired seed's games with each other: two (a pair), or all
# (the mixed tables).
Group = tuple[int, ...]


@dataclass(frozen=True)
class Entrant:
    """An agent as config.json has it, but for what decides no games: the description, and
    `searches_with` (:class:`skyenv.agents.Agent`); `digest` is the SHA-256 of a checkpoint's file
    or folder, else empty.
    """

    spec: str
    name: str
    version: str
    description: str
    digest: str = ""
    searches_with: tuple[str, ...] = ()

    def knows(self, other: Entrant) -> bool:
        """Return whether it searches with another one."""
        return not {other.name, other.spec}.isdisjoint(self.searches_with)


@lru_cache(64)
def agent_of(entrant: Entrant, *, deterministic: bool = False) -> ReportingAgent:
    """Return an entrant's agent, which is made once in each process; `deterministic`: as for
    :func:`skyenv.make_agent`.

    Raises:
        AgentError, CheckpointError: it can't be made, or its checkpoint is another one here.
    """
    agent = ReportingAgent(make_agent(entrant.spec, deterministic=deterministic))
    if _digest(entrant.spec) != entrant.digest:
        raise AgentError(
            f"{entrant.spec} on {socket.gethostname()} isn't the file that the games were begun "
            "with"
        )
    return agent


@dataclass(frozen=True)
class Settings:
    """What is played. Paired seed i, counted from 0, is the seed `seed` + i.

    Attributes:
        agents: those who play.
        players, side, seed, max_turns: as for :class:`skyenv.Games`.
        secret: as for :func:`skyenv.arena.matches.play_games`.
        newcomer: whether only games with agent 0 are played.
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
    project: str = skyenv.__version__

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0, HIGHEST_SEED - MOST_PAIRED_SEEDS)
        if len(self.agents) < self.options.num_players:
            raise OptionError(
                f"a tournament for {self.players} players needs at least {self.players} agents, "
                f"not {len(self.agents)}"
            )

    @property
    def options(self) -> GameOptions:
        """The kind of game."""
        return GameOptions(self.players, self.side, max_turns=self.max_turns)

    @property
    def apart(self) -> list[Group]:
        """Pairs whose games don't rate: of two players, a search and whom it searches with."""
        agents = self.agents
        return [
            (one, other)
            for one, other in itertools.combinations(range(len(agents)), 2)
            if self.players == 2
            and (agents[one].knows(agents[other]) or agents[other].knows(agents[one]))
        ]

    def groups(self, paired_seed: int = 0) -> list[Group]:
        """Return who plays with whom in a paired seed."""
        everybody = tuple(range(len(self.agents)))
        pairs: Iterable[Group] = itertools.combinations(everybody, 2)
        if self.players > 2:
            pairs = pairs_of(len(everybody), paired_seed)
        groups = [pair for pair in pairs if 0 in pair or not self.newcomer]
        return groups if self.players == 2 else [*groups, everybody]

    def seatings(self, group: Group, paired_seed: int) -> Int64:
        """The games of a group in a paired seed: int64 (games, players), the agent of each seat."""
        if len(group) == 2:
            return pair_seatings(group, self.players)
        classes = classes_of(len(group), self.players)
        tables = classes[paired_seed % len(classes)]
        tables = np.random.default_rng([self.seed, paired_seed]).permuted(tables, axis=1)
        if self.newcomer:
            tables = tables[(tables == 0).any(axis=1)]
        return np.concatenate([np.roll(tables, turn, axis=1) for turn in range(self.players)])


@cache
def classes_of(agents: int, players: int) -> list[Int64]:
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
def pairs_of(agents: int, paired_seed: int) -> list[tuple[int, int]]:
    """The pairs of so many agents at a paired seed's distance in the circle."""
    pairs = itertools.combinations(range(agents), 2)
    distance = 1 + paired_seed % (agents // 2)
    return [pair for pair in pairs if distance in (pair[1] - pair[0], agents - pair[1] + pair[0])]


@cache
def pair_seatings(pair: Group, players: int) -> Int64:
    """Each of two agents alone against the other, once in each seat: int64 (games, players)."""
    alone = np.eye(players, dtype=bool)
    one = np.where(alone, pair[0], pair[1])
    return one if players == 2 else np.concatenate([one, np.where(alone, pair[1], pair[0])])


def entrant(spec: Agent | str | Path, players: int, side: str) -> Entrant:
    """The agent that a specification means, in the version that it has at a table.

    Raises:
        OptionError: it is no name or path. AgentError, CheckpointError: it can't be made.
    """
    if not isinstance(spec, (str, Path)):
        raise OptionError(f"agents of workers must be names or paths, not {shown(spec)}")
    spec = str(spec)
    agent = make_agent(spec)
    version = agent.version_at(players, side)
    digest = _digest(spec)
    return Entrant(spec, agent.name, version, agent.description, digest, agent.searches_with)


def entrants(specs: Sequence[str], players: int, side: str = "front") -> tuple[Entrant, ...]:
    """The agents that specifications mean, in the versions that they have at a table.

    Raises:
        AgentError, CheckpointError: one can't be made. OptionError: two have one name.
    """
    entries = {one.name: one for one in (entrant(spec, players, side) for spec in specs)}
    if len(entries) < len(specs):
        raise OptionError(f"two agents have one name; there are {', '.join(entries)}")
    return tuple(entries.values())


def with_newcomer(spec: str, specs: Sequence[str], players: int, side: str) -> tuple[Entrant, ...]:
    """As :func:`entrants`, behind one more agent, which is called new if it is one of them."""
    others = entrants(specs, players, side)
    newcomer = entrant(spec, players, side)
    if newcomer.name in [one.name for one in others]:
        newcomer = replace(newcomer, name=f"new {newcomer.name}")
    return newcomer, *others


def _digest(spec: str) -> str:
    """What :class:`Entrant` has of a specification's checkpoint."""
    path = checkpoint_in(spec)
    return "" if path is None else digest_of(path)


# ---- tasks ----


class GroupSeeds(NamedTuple):
    """A task: a group's games of some paired seeds."""

    group: Group
    paired_seeds: tuple[int, ...]


def rounds(
    missing: Callable[[int], Iterable[Group]],
    limit: int,
    workers: Callable[[], int],
    *,
    minutes: float = math.inf,
    clock: Callable[[], float] = monotonic,
) -> Iterator[GroupSeeds]:
    """Yield tasks, round by round; at least one round.

    Args:
        missing: groups that have to play a paired seed.
        limit: how many paired seeds there are.
        workers: how many tasks can be under way.
        minutes: no round begins after so long.
        clock: tells seconds.
    """
    until = clock() + 60 * minutes
    first = 0
    size = 1
    while first < limit and (first == 0 or clock() < until):
        began = clock()
        left = dict[Group, list[int]]()
        for paired_seed in range(first, min(first + size, limit)):
            for group in missing(paired_seed):
                left.setdefault(group, []).append(paired_seed)
        yield from shared_out(left, workers())
        first += size
        if left and clock() - began < ROUND_SECONDS:
            size = min(2 * size, LARGEST_ROUND)


def shared_out(missing: Mapping[Group, Sequence[int]], workers: int) -> Iterator[GroupSeeds]:
    """Yield tasks of the paired seeds that groups have to play: one for each group, several where
    there are more workers.
    """
    work = sum(map(len, missing.values()))
    most = -(-work // workers) if workers > len(missing) else work
    for group, paired_seeds in missing.items():
        for start in range(0, len(paired_seeds), most):
            yield GroupSeeds(group, tuple(paired_seeds[start : start + most]))
