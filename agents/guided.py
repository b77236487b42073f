"""A tree search guided by a network, as in AlphaZero (Silver et al. 2018), in positions that a seat can't tell from the real one.

It grows the tree of :mod:`agents.ismcts`, but a network's policy, not greedy, tells how probable actions are before any search,
and the outcome that the network expects has a share in the assessment of a leaf, or all of it. It is asked about many leaves at
once: some of one tree, and those of all trees that grow side by side. At each leaf it sees what the seat to act there sees.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.budgets import budget_in, fractional, whole
from agents.ismcts import WORLD_BITS, Job, SearchAgent, Tree
from agents.learned import Network, NetworkAgent, TrainedAgent
from agents.leaves import LEAF_DTYPE, back_up, descend
from agents.playouts import EARLY, LATE, outlook
from skyenv.agents import Agent, Decisions
from skyenv.errors import AgentError
from skyenv.kernels import observe_rows
from skyenv.knowledge import view as view_of
from skyenv.observation import OBSERVATION_SIZE, SCRATCH_DTYPE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE, new_records

NAME: Final = "ismcts-trained"
PREFIX: Final = f"{NAME}-"
"""What a name begins with that tells the budget."""
DEFAULT_SIMULATIONS: Final = 200
SIDE_BY_SIDE: Final = 64
"""Trees that grow side by side …"""
NODES_SIDE_BY_SIDE: Final = 4_000_000
"""… unless they need more nodes than this, together."""


class Leaves:
    """Where simulations of several trees have ended, until they are judged.

    Args:
        number: how many there can be.
    """

    def __init__(self, number: int) -> None:
        self.worlds = new_records(number, GAME_DTYPE)
        self.records = new_records(number, LEAF_DTYPE)
        self.masks = np.zeros((number, NUM_ACTIONS), np.int8)
        self.priors = np.zeros((number, NUM_ACTIONS))
        self.scratch = new_records(1, GAME_DTYPE), np.zeros(NUM_ACTIONS, np.int8)

    def judge(self, number: int, guide: Agent, trust: float = 1.0) -> None:
        """Ask the guide about the first leaves, so many as `number`; its chances have the share `trust`, those there the rest."""
        rows = np.flatnonzero(self.records["number"][:number] > 0)
        if not len(rows):
            return
        seats = self.worlds["seat"][rows].astype(np.int64)
        players = int(self.worlds["num_players"][0])
        observation = np.empty((len(rows), OBSERVATION_SIZE), np.float32)
        observe_rows(self.worlds, new_records(1, SCRATCH_DTYPE), rows, seats, observation)
        views = view_of(self.worlds, seats, rows)
        thoughts = guide.think(Decisions(self.masks[rows], seats, players, np.zeros(len(rows)), observation, views))
        if thoughts is None or thoughts[1] is None:
            raise AgentError(f"agent {guide.name} can't guide a search: it doesn't tell the outcome that it expects")
        # In single precision what it says doesn't depend on how many leaves it is asked about.
        probabilities, outcomes = (np.asarray(found, np.float32).astype(np.float64) for found in thoughts)
        self.priors[rows] = probabilities
        if trust > 0:
            told = chances(outcomes, seats, players, outlook(np.asarray(views)))
            self.records["chance"][rows] = trust * told + (1 - trust) * self.records["chance"][rows]


def chances(
    outcomes: npt.NDArray[np.float64], seats: npt.NDArray[np.int64], players: int, outlooks: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Every seat's chance to win, float64 (k, 4).

    Args:
        outcomes: float64 (k,), −1/(N−1) to 1, the outcome that a seat expects. seats: int64 (k,), which seat.
        players: N.
        outlooks: float64 (k, 4), chances by what seats have, in proportion to which the other seats share the rest.
    """
    rows = np.arange(len(seats))
    own = np.clip(1 / players + outcomes * (players - 1) / players, 0.0, 1.0)
    others = outlooks.copy()
    others[rows, seats] = 0.0
    others[:, players:] = 0.0
    found: npt.NDArray[np.float64] = others * ((1 - own) / others.sum(axis=1))[:, None]
    found[rows, seats] = own
    return found


class GuidedAgent(SearchAgent):
    """Searches a tree with a network's policy to begin with and its outlook at the leaves.

    Args:
        simulations: for each decision, 1 to 10⁶.
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the machine).
        network: a network, the path of its file, or ``"trained"``: those that ship with the project. It must tell the outcome
            (``--reward outcome`` of experiments/ppo.py). Or any other agent whose :meth:`~skyenv.agents.Agent.think` tells
            probabilities of the legal actions, which sum to 1, and the outcome that it expects, from −1, lost, to 1, won.
        exploration: weight of what hasn't been tried much, at least 0.
        trust: share that the network's outlook has in the chance to win at a leaf, 0 to 1; the rest is how the position is
            assessed after some turns of greedy play.
        turns: turns of all seats together that are played on for that; nothing is played if `trust` is 1.
        leaves: so many leaves of a tree the network is asked about at once, 1 to 1024: more are faster and a little weaker.
        trees, reuse, margin: as for :class:`agents.ismcts.SearchAgent`.

    Raises:
        AgentError: an option has a wrong value, or (at the first decision) the network doesn't tell the outcome.
        CheckpointError: the network can't be used.
    """

    name = NAME
    version = "3"
    description = "searches a tree guided by the networks that ship with the project"

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        network: Agent | Network | str | Path = TrainedAgent.name,
        exploration: float = 1.0,
        trust: float = 0.25,
        turns: int = 3,
        leaves: int = 8,
        trees: int = 1,
        reuse: bool = False,
        margin: float = 0.2,
    ) -> None:
        super().__init__(
            simulations, milliseconds, exploration=exploration, temperature=1.0, turns=turns, trees=trees, reuse=reuse,
            early=EARLY, late=LATE, margin=margin,
        )  # fmt: skip
        self.trust = fractional("trust", trust, 0.0, 1.0)
        if self.trust == 1.0:
            self._search["turns"] = 0
        self.leaves = whole("leaves", leaves, 1, 1024)
        self.guide = _guide(network)
        self.name = f"ismcts-{self.guide.name}"
        if self.budget.milliseconds is not None:
            self.name += f"-{self.budget.milliseconds:g}ms"
        elif self.budget.simulations != DEFAULT_SIMULATIONS:
            self.name += f"-{self.budget.simulations}"
        self.version = f"{type(self).version}+{self.guide.version}"
        self.description = f"searches a tree guided by {self.guide.description}"

    def _all_grown(self, jobs: Sequence[Job]) -> list[Tree]:
        """The trees, grown side by side; with a budget of time, those of one decision after those of the other."""
        number = -(-self.budget.simulations // self.trees)
        room = self._room(number)
        width = max(1, min(SIDE_BY_SIDE, NODES_SIDE_BY_SIDE // room)) if self.budget.milliseconds is None else self.trees
        found: list[Tree] = []
        for first in range(0, len(jobs), width):
            part = jobs[first : first + width]
            trees = [Tree(view, room, known) for view, _, _, known in part]
            self._grow_together(trees, part, number)
            found += trees
        return found

    def _grow_together(self, trees: Sequence[Tree], jobs: Sequence[Job], number: int) -> None:
        """Let trees use up their budget."""
        room = Leaves(len(trees) * self.leaves)
        started = time.perf_counter()
        self._round(trees, jobs, room, 0, 1)  # opens the roots
        done = 0
        while done < number:
            if self.budget.milliseconds is not None and done and time.perf_counter() - started > self.budget.milliseconds / 1000:
                return
            size = min(self.leaves, number - done)
            self._round(trees, jobs, room, done, size)
            done += size

    def _round(self, trees: Sequence[Tree], jobs: Sequence[Job], room: Leaves, done: int, size: int) -> None:
        """So many further simulations in every tree as `size`."""
        slices = [slice(i * size, (i + 1) * size) for i in range(len(trees))]
        for tree, (_, seed, weights, _), part in zip(trees, jobs, slices, strict=True):
            first = (seed << WORLD_BITS) + done
            seeds = np.arange(first, first + size)
            descend(
                tree.view, seeds, self._options, self._search, weights, tree.nodes, tree.used,
                room.worlds[part], room.records[part], room.masks[part], *room.scratch, *tree.seeing,
            )  # fmt: skip
        room.judge(len(trees) * size, self.guide, self.trust)
        for tree, part in zip(trees, slices, strict=True):
            back_up(tree.nodes, tree.used, room.records[part], room.masks[part], room.priors[part])


def _guide(network: Agent | Network | str | Path) -> Agent:
    """Who is asked about leaves; see :class:`GuidedAgent`."""
    if isinstance(network, Agent):
        return network
    return TrainedAgent() if network == TrainedAgent.name else NetworkAgent(network)


def named(spec: str) -> GuidedAgent:
    """The agent with a budget in its name: ``"ismcts-trained-300"`` (simulations) or ``"ismcts-trained-100ms"`` (milliseconds).

    Raises:
        AgentError: the budget is none.
    """
    budget = budget_in(spec, PREFIX)
    player = GuidedAgent(budget.simulations, budget.milliseconds)
    player.name = spec
    return player
