"""Who meets whom in a tournament.

A paired seed is a deal, setup, stacks and Alea's cards, that is played in several seatings. All agents play the same paired
seeds, each in all these, so that the luck of the deal and that of the seat cancel:

* Every pair: each of the two alone against the other in all other seats, alone once in each seat. With two players that are
  two games a pair, with N > 2 players 2 · N.
* With three or four players and at least as many agents also *mixed tables* of N different agents: the agents stand in a circle,
  in an order drawn anew for each paired seed, every N neighbours make a table, and every table plays in all N rotations. So an
  agent has N² such games a paired seed, N in every seat, and the work grows with the number of agents and not with that of their
  combinations.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

import skyenv
from skyenv.agents import checkpoint_in, make_agent
from skyenv.checks import check_choice, check_integer
from skyenv.errors import OptionError
from skyenv.games import DEFAULT_MAX_TURNS, HIGHEST_SEED
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

MOST_PAIRED_SEEDS: Final = 10**7

Group = tuple[int, ...]
"""Agents, counted from 0, that play a paired seed's games with each other: two (a pair), or all (the mixed tables)."""


@dataclass(frozen=True)
class Entrant:
    """An agent as config.json has it; `digest` is the SHA-256 of a checkpoint's file, else empty."""

    spec: str
    name: str
    version: str
    description: str
    digest: str = ""


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
        check_integer("players", self.players, MIN_PLAYERS, MAX_PLAYERS)
        check_choice("side", self.side, SIDES)
        check_integer("seed", self.seed, 0, HIGHEST_SEED - MOST_PAIRED_SEEDS)

    def groups(self) -> list[Group]:
        """Who plays with whom in every paired seed."""
        everybody = range(len(self.agents))
        groups: list[Group] = [pair for pair in itertools.combinations(everybody, 2) if 0 in pair or not self.newcomer]
        if self.players > 2 and len(self.agents) >= self.players:
            groups.append(tuple(everybody))
        return groups

    def seatings(self, group: Group, paired_seed: int) -> npt.NDArray[np.int64]:
        """The games of a group in a paired seed: int64 (games, players), the agent of each seat."""
        return pair_seatings(group, self.players) if len(group) == 2 else self._mixed_tables(paired_seed)

    def _mixed_tables(self, paired_seed: int) -> npt.NDArray[np.int64]:
        circle = np.random.default_rng([self.seed, paired_seed]).permutation(len(self.agents))
        number = len(circle) if len(circle) > self.players else 1  # with as many agents as seats all tables are the same one
        tables = np.stack([np.roll(circle, -first)[: self.players] for first in range(number)])
        if self.newcomer:
            tables = tables[(tables == 0).any(axis=1)]
        return np.concatenate([np.roll(tables, turn, axis=1) for turn in range(self.players)]).astype(np.int64)

    def games_per_paired_seed(self) -> int:
        """How many games a paired seed has."""
        return sum(len(self.seatings(group, 0)) for group in self.groups())

    def group_of(self, seats: Sequence[int]) -> Group:
        """The group that a game belongs to."""
        members = tuple(sorted(set(seats)))
        return members if len(members) == 2 else tuple(range(len(self.agents)))


@cache
def pair_seatings(pair: Group, players: int) -> npt.NDArray[np.int64]:
    """Each of two agents alone against the other, once in each seat: int64 (games, players)."""
    alone = np.eye(players, dtype=bool)
    one = np.where(alone, pair[0], pair[1])
    return one if players == 2 else np.concatenate([one, np.where(alone, pair[1], pair[0])])


def entrants(specs: Sequence[str]) -> tuple[Entrant, ...]:
    """The agents that specifications mean.

    Raises:
        AgentError, CheckpointError: one can't be made. OptionError: two have one name.
    """
    entries: list[Entrant] = []
    for spec in specs:
        agent = make_agent(spec)
        path = checkpoint_in(spec)
        digest = "" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
        if agent.name in [other.name for other in entries]:
            raise OptionError(f"two agents are called {agent.name}; a ladder tells agents apart by their names")
        entries.append(Entrant(spec, agent.name, str(agent.version), agent.description, digest))
    return tuple(entries)
