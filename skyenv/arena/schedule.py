"""Pairings of a tournament, and the jobs of a pool of workers.

A paired seed fixes the deal, setup, stacks and Alea's cards, and is played in several seatings. All
agents play the same paired seeds, so the luck of deal and seat cancels.

* With two players every pair meets in both seatings. A newcomer meets the ladder's searches only in
  every sixth paired seed, because they take most of the time, unless all are searches.
* With N > 2 players there are *mixed tables* of N different agents, each in all N rotations. The
  combinations of N agents fall into classes under cyclic shifts of the agents' numbers. Each paired
  seed plays one class, in which all agents sit equally often. Over all classes, every combination
  of N agents meets equally often. The seat order of a table is shuffled for each paired seed. The
  work thus grows with the number of agents, not of their combinations.
* With N > 2 players there are also *duels*: one agent alone against another in all other seats,
  once in each seat, in both directions. Each paired seed plays the pairs at one cyclic distance;
  the distances alternate.

A job is some paired seeds of one pair, or of the mixed tables: all of a round, or fewer where
workers would be idle. The first round is one paired seed; a short round is followed by a larger
one.
"""

import itertools
import math
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

import numpy as np

import skyenv
from skyenv.agents import Agent, ReportingAgent, checkpoint_in, make_agent
from skyenv.array_types import Int64
from skyenv.checks import check_integer
from skyenv.engine.options import DEFAULT_MAX_TURNS, GameOptions
from skyenv.errors import AgentError, OptionError, shown
from skyenv.files import digest_of
from skyenv.seeds import HIGHEST_SEED
from skyenv.work.on_ray import digest_of_sources

MAX_PAIRED_SEEDS: Final = 10**7
# Most paired seeds of a round: larger batches are not faster.
LARGEST_ROUND: Final = 2048
# A longer round isn't followed by a larger one, as Ctrl-C discards unfinished paired seeds.
ROUND_SECONDS: Final = 15.0
# With two players a newcomer meets searches in one of so many paired seeds.
SEARCH_INTERVAL: Final = 6

# Indices of the agents that play a paired seed's games with each other: two (a pair), or all (the
# mixed tables).
Group = tuple[int, ...]


@cache
def code_version() -> str:
    """Return skyenv's version and a digest of the code that decides games: rules, engine, and the
    agents that ship, such as ``"0.2.0+1a2b3c4d"``.
    """
    packages = ("skyenv.rules", "skyenv.engine", "skyenv_agents")
    digests = "".join(map(digest_of_sources, packages))
    return f"{skyenv.__version__}+{sha256(digests.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Entrant:
    """An agent of a tournament, as in config.json.

    `digest` is the SHA-256 of a checkpoint's file or folder, else empty. `description` and
    `searches_with` (:class:`skyenv.agents.Agent`) do not affect the games.
    """

    spec: str
    name: str
    version: str
    description: str
    digest: str = ""
    searches_with: tuple[str, ...] = ()

    def knows(self, other: "Entrant") -> bool:
        """Return whether this agent searches with another entrant."""
        return not {other.name, other.spec}.isdisjoint(self.searches_with)


@lru_cache(64)
def agent_of(entrant: Entrant, *, deterministic: bool = False) -> ReportingAgent:
    """Return an entrant's agent, cached in each process; `deterministic`: as for
    :func:`skyenv.make_agent`.

    Raises:
        AgentError, CheckpointError: it can't be made, or its checkpoint differs on this machine.
    """
    agent = ReportingAgent(make_agent(entrant.spec, deterministic=deterministic))
    if _digest(entrant.spec) != entrant.digest:
        raise AgentError(
            f"{entrant.spec} on {socket.gethostname()} differs from the file with which the games "
            "began"
        )
    return agent


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament. Paired seed i, counted from 0, is the seed `seed` + i.

    Attributes:
        agents: the entrants.
        players, side, seed, max_turns: as for :class:`skyenv.Games`.
        secret: as for :func:`skyenv.arena.matches.play_games`.
        newcomer: whether only games with agent 0 are played.
        project: :func:`code_version`.

    Raises:
        OptionError: invalid value.
    """

    agents: tuple[Entrant, ...]
    players: int
    side: str = "front"
    seed: int = 1
    max_turns: int = DEFAULT_MAX_TURNS
    secret: int | None = None
    newcomer: bool = False
    project: str = field(default_factory=code_version)

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0, HIGHEST_SEED - MAX_PAIRED_SEEDS)
        if len(self.agents) < self.options.num_players:
            raise OptionError(
                f"a tournament for {self.players} players needs at least {self.players} agents, "
                f"not {len(self.agents)}"
            )

    @property
    def options(self) -> GameOptions:
        """Return the options of the games."""
        return GameOptions(self.players, self.side, max_turns=self.max_turns)

    @property
    def apart(self) -> list[Group]:
        """Return the unrated pairs: with two players, a search and an agent it searches with."""
        agents = self.agents
        return [
            (one, other)
            for one, other in itertools.combinations(range(len(agents)), 2)
            if self.players == 2
            and (agents[one].knows(agents[other]) or agents[other].knows(agents[one]))
        ]

    def groups(self, paired_seed: int = 0) -> list[Group]:
        """Return the groups of agents that play a paired seed."""
        everybody = tuple(range(len(self.agents)))
        pairs: Iterable[Group] = itertools.combinations(everybody, 2)
        if self.players > 2:
            pairs = pairs_of(len(everybody), paired_seed)
        if self.newcomer:
            pairs = (pair for pair in pairs if 0 in pair and self._meets(pair[1], paired_seed))
        groups = list(pairs)
        return groups if self.players == 2 else [*groups, everybody]

    def _meets(self, opponent: int, paired_seed: int) -> bool:
        """Return whether a newcomer plays against an agent in a paired seed."""
        searches = [bool(agent.searches_with) for agent in self.agents[1:]]
        is_due = self.players > 2 or all(searches) or paired_seed % SEARCH_INTERVAL == 0
        return is_due or not searches[opponent - 1]

    def seatings(self, group: Group, paired_seed: int) -> Int64:
        """Return a group's seatings in a paired seed, int64 (games, players): agents by seat."""
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
    """Return all combinations of `players` agents by class, int64 (tables, players) each: a table
    and its cyclic shifts.
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
    """Return the pairs of agents at a paired seed's cyclic distance."""
    pairs = itertools.combinations(range(agents), 2)
    distance = 1 + paired_seed % (agents // 2)
    return [pair for pair in pairs if distance in (pair[1] - pair[0], agents - pair[1] + pair[0])]


@cache
def pair_seatings(pair: Group, players: int) -> Int64:
    """Return the seatings of a duel, int64 (games, players): each agent alone in each seat."""
    alone = np.eye(players, dtype=bool)
    one = np.where(alone, pair[0], pair[1])
    return one if players == 2 else np.concatenate([one, np.where(alone, pair[1], pair[0])])


def entrant(spec: Agent | str | Path, players: int, side: str) -> Entrant:
    """Return the entrant of a specification, with the agent's version at a table.

    Raises:
        OptionError: not a name or path. AgentError, CheckpointError: the agent can't be made.
    """
    if not isinstance(spec, (str, Path)):
        raise OptionError(f"workers need agents as names or paths, not {shown(spec)}")
    spec = str(spec)
    agent = make_agent(spec)
    version = agent.version_at(players, side)
    digest = _digest(spec)
    return Entrant(spec, agent.name, version, agent.description, digest, agent.searches_with)


def entrants(specs: Sequence[str], players: int, side: str = "front") -> tuple[Entrant, ...]:
    """Return the entrants of specifications, see :func:`entrant`.

    Raises:
        AgentError, CheckpointError: an agent can't be made. OptionError: duplicate name.
    """
    entries = {one.name: one for one in (entrant(spec, players, side) for spec in specs)}
    if len(entries) < len(specs):
        raise OptionError(f"agents must have different names; got {', '.join(entries)}")
    return tuple(entries.values())


def with_newcomer(spec: str, specs: Sequence[str], players: int, side: str) -> tuple[Entrant, ...]:
    """Return a newcomer and :func:`entrants`; a name that is taken gets the prefix "new"."""
    others = entrants(specs, players, side)
    newcomer = entrant(spec, players, side)
    if newcomer.name in [one.name for one in others]:
        newcomer = replace(newcomer, name=f"new {newcomer.name}")
    return newcomer, *others


def _digest(spec: str) -> str:
    """Return the digest of a specification's checkpoint, "" without one."""
    path = checkpoint_in(spec)
    return "" if path is None else digest_of(path)


# ---- jobs ----


class GroupSeeds(NamedTuple):
    """A job of a tournament: a group's games of some paired seeds."""

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
    """Yield jobs, round by round; at least one round.

    Args:
        missing: returns the groups without games in a paired seed.
        limit: number of paired seeds.
        workers: returns the number of jobs that can run at once.
        minutes: time after which no round starts.
        clock: returns seconds.
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
        taken = clock() - began
        if left and taken < ROUND_SECONDS:
            size = min(size * (16 if taken < ROUND_SECONDS / 16 else 2), LARGEST_ROUND)


def shared_out(missing: Mapping[Group, Sequence[int]], workers: int) -> Iterator[GroupSeeds]:
    """Yield the jobs of a round: one for each group, several if workers would be idle."""
    work = sum(map(len, missing.values()))
    most = -(-work // workers) if workers > len(missing) else work
    for group, paired_seeds in missing.items():
        for start in range(0, len(paired_seeds), most):
            yield GroupSeeds(group, tuple(paired_seeds[start : start + most]))
