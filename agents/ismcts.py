"""A player that searches a tree: information-set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012).

For every simulation a whole position ("world") is drawn from the seat's view alone (:func:`skyenv.knowledge.resample`); the
actions that all seats are expected to play there are looked up in one tree for all worlds, and tried by what they have led to and
by what the greedy player thinks of them. Where the tree ends, the position is assessed, after some turns of play if asked for.
Every seat is taken to want its own chance to win.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from agents.budgets import Budget, budget_in, fractional, seed_of, whole
from agents.greedy import GreedyAgent
from agents.judgement import MIND_DTYPE
from agents.playouts import EARLY, LATE, playing_on
from agents.reuse import Memory
from agents.tree import DEEPEST, NODE_DTYPE, OPTIONS_DTYPE, grow
from skyenv.agents import Agent, Decisions, Thoughts
from skyenv.knowledge import VIEW_DTYPE, as_views
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE, NONE, new_records
from skyenv.rules.tape import TAPE_DTYPE

PREFIX: Final = "ismcts-"
"""What a name begins with that tells the budget."""
DEFAULT_SIMULATIONS: Final = 1000
CHUNK: Final = 16
"""Simulations between two looks at the clock."""
NODES_PER_SIMULATION: Final = 24
"""Room in the tree: a simulation opens one node, which has so many actions or fewer (more only where it places skyscrapers)."""
FEWEST_NODES: Final = 4096
MOST_NODES: Final = 2_000_000
WORLD_BITS: Final = 25
"""Low bits of a world's seed that number the worlds of a decision."""

Job: TypeAlias = tuple[npt.NDArray[np.void], int, npt.NDArray[np.void], npt.NDArray[np.void] | None]
"""A tree to grow: the view, VIEW_DTYPE (1,), a seed, greedy's weights, and the nodes that are known already, if any."""


class Tree:
    """The tree of one decision.

    Args:
        view: what the seat sees, VIEW_DTYPE (1,).
        nodes: room for so many.
        known: a tree to begin with, its root first, NODE_DTYPE (k,), as :func:`agents.reuse.branch` makes it; None: an empty one.

    Attributes:
        nodes, used: the tree, as in :mod:`agents.tree`.
        seeing: memory that compiled functions need: a view, its game, what greedy thinks of it, and a tape.
    """

    def __init__(self, view: npt.NDArray[np.void], nodes: int, known: npt.NDArray[np.void] | None = None) -> None:
        self.view = view
        size = 1 if known is None else len(known)
        self.nodes = new_records(nodes + size - 1, NODE_DTYPE)
        if known is None:
            self.nodes["child"][0] = self.nodes["sibling"][0] = NONE
        else:
            self.nodes[:size] = known
        self.used = np.full(1, size, np.int64)
        seen = new_records(1, VIEW_DTYPE)
        self.seeing = seen, seen["game"], new_records(1, MIND_DTYPE), new_records(1, TAPE_DTYPE)

    @property
    def simulations(self) -> int:
        """Simulations so far, with those that were known."""
        return int(self.nodes["visits"][0])

    @property
    def size(self) -> int:
        """Nodes so far."""
        return int(self.used[0])

    def grow(self, seeds: npt.NDArray[np.int64], *options: Any) -> None:
        """Add a simulation for every seed."""
        scratch = np.zeros(NUM_ACTIONS, np.int8), np.zeros(DEEPEST, np.int64)
        grow(self.view, seeds, *options, self.nodes, self.used, new_records(1, GAME_DTYPE), *self.seeing, *scratch)

    def children(self) -> npt.NDArray[np.void]:
        """The root's children, NODE_DTYPE (k,)."""
        found = []
        child = int(self.nodes["child"][0])
        while child != NONE:
            found.append(child)
            child = int(self.nodes["sibling"][child])
        return self.nodes[found]


class Found(NamedTuple):
    """What a search found.

    Attributes:
        actions: int64 (k,), the action tried most.
        visits: float64 (k, 103), how often each action was tried; 1 for an action that is the only one.
        values: float64 (k,), the chance to win that the seat may expect; NaN where nothing was searched.
        simulations: int64 (k,), how many there were, those with it that were known already.
        nodes: int64 (k,), how many nodes the trees had.
    """

    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    simulations: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, grown: Sequence[tuple[npt.NDArray[np.int8], int, Sequence[Tree]]]) -> Found:
        """From the mask, the seat and the trees (none: there is only one action) of each decision."""
        visits, totals = np.zeros((len(grown), NUM_ACTIONS)), np.zeros((len(grown), NUM_ACTIONS))
        for i, (mask, seat, trees) in enumerate(grown):
            if not trees:
                visits[i] = mask
            for tree in trees:
                children = tree.children()
                visits[i, children["action"]] += children["visits"]
                totals[i, children["action"]] += children["total"][:, seat]
        # Of actions tried equally often the one that did better.
        best = np.argmax(visits + 0.5 * totals / np.maximum(visits, 1), axis=1)
        simulations = np.array([sum(tree.simulations for tree in trees) for _, _, trees in grown], np.int64)
        with np.errstate(invalid="ignore"):
            values = np.where(simulations > 0, totals.sum(axis=1), np.nan) / simulations
        nodes = np.array([sum(tree.size for tree in trees) for _, _, trees in grown], np.int64)
        return cls(best.astype(np.int64), visits, values, simulations, nodes)


class SearchAgent(Agent):
    """Searches a tree in positions that its seat can't tell from the real one.

    Args:
        simulations: for each decision, 1 to 10⁶.
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the machine).
        exploration: weight of what hasn't been tried much, at least 0.
        temperature: VP by which the greedy player must hold an action better for it to be tried e times as much at first; 0: what
            the greedy player thinks doesn't count (UCB1 instead of PUCT).
        playout: who plays on where the tree ends: ``"greedy"`` or ``"random"``.
        turns: turns of all seats together that are played on there before the position is assessed; 0: none.
        trees: so many trees share the simulations of a decision (they can grow side by side), 1 to 64.
        threads: threads for the trees, 1 to 1024; decisions don't depend on it.
        reuse: whether a seat that decides again at once goes on with the tree under its action, so that the budget comes on top
            of what is known (see :mod:`agents.reuse`). Then a decision depends on the view, its random number *and* on whether
            this very object has decided just before in that game; not on other games, unless they are more than 1024.
        early, late: VP ahead that make the chance to win e times as high at the start and at the end of the game, when a position
            is assessed, from 0.1.
        margin: share that VP have in the assessment of a finished game, 0 to 1; the win itself has the rest.

    Raises:
        AgentError: an option has a wrong value.
    """

    name = "ismcts"
    version = "2"
    description = "searches a tree in positions that its seat can't tell from the real one"
    uses_view = True

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        exploration: float = 1.0,
        temperature: float = 2.0,
        playout: str = "greedy",
        turns: int = 3,
        trees: int = 1,
        threads: int = 1,
        reuse: bool = False,
        early: float = EARLY,
        late: float = LATE,
        margin: float = 0.2,
    ) -> None:
        self.budget = Budget.checked(simulations, milliseconds)
        self.trees = whole("trees", trees, 1, 64)
        self.threads = whole("threads", threads, 1, 1024)
        self._options = new_records(1, OPTIONS_DTYPE)
        self._options[0] = fractional("exploration", exploration, 0.0, 1e6), fractional("temperature", temperature, 0.0, 1e6)
        self._search = playing_on(playout, turns, early, late, margin)
        self._greedy = GreedyAgent()
        self.reuse = reuse
        self._memory = Memory()
        if self.budget.milliseconds is not None:
            self.name = f"{PREFIX}{self.budget.milliseconds:g}ms"
        elif self.budget.simulations != DEFAULT_SIMULATIONS:
            self.name = f"{PREFIX}{self.budget.simulations}"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self.search(decisions).actions

    def think(self, decisions: Decisions) -> Thoughts:
        """See :class:`skyenv.agents.Agent`: how often each action was tried, and the outcome expected."""
        found = self.search(decisions)
        players = decisions.num_players
        shares = found.visits / found.visits.sum(axis=1, keepdims=True)
        return shares, np.nan_to_num((found.values - 1 / players) * players / (players - 1))

    def search(self, decisions: Decisions) -> Found:
        """Decide, and tell what the trees look like."""
        assert decisions.view is not None
        views = as_views(decisions.view)
        weights = self._greedy.weights(decisions.num_players)
        open_ones = [i for i in range(len(decisions)) if decisions.mask[i].sum() > 1]
        jobs: list[Job] = []
        for i in open_ones:
            known = self._memory.find(views[i : i + 1]) if self.reuse else []
            first = seed_of(decisions.uniform[i]) * self.trees
            for tree in range(self.trees):
                jobs.append((views[i : i + 1], first + tree, weights, known[tree] if known else None))
        trees = self._all_grown(jobs)
        grown = {i: trees[number * self.trees : (number + 1) * self.trees] for number, i in enumerate(open_ones)}
        found = Found.of([(decisions.mask[i], int(decisions.seat[i]), grown.get(i, [])) for i in range(len(decisions))])
        if self.reuse:
            for i in open_ones:
                self._memory.keep(views[i : i + 1], int(found.actions[i]), [tree.nodes for tree in grown[i]])
        return found

    def _room(self, simulations: int) -> int:
        """How many nodes a tree gets for so many simulations."""
        return min(max(simulations * NODES_PER_SIMULATION, FEWEST_NODES), MOST_NODES)

    def _all_grown(self, jobs: Sequence[Job]) -> list[Tree]:
        """The trees, grown on as many threads as there are to be."""
        if self.threads == 1 or len(jobs) < 2:
            return [self._grown(*job) for job in jobs]
        with ThreadPoolExecutor(self.threads, thread_name_prefix="ismcts") as pool:
            return list(pool.map(lambda job: self._grown(*job), jobs))

    def _grown(
        self, view: npt.NDArray[np.void], seed: int, weights: npt.NDArray[np.void], known: npt.NDArray[np.void] | None
    ) -> Tree:
        """A tree that has used up the budget."""
        number = -(-self.budget.simulations // self.trees)
        tree = Tree(view, self._room(number), known)
        first = seed << WORLD_BITS
        options = (self._options, self._search, weights)
        if self.budget.milliseconds is None:
            tree.grow(np.arange(first, first + number), *options)
            return tree
        until = time.perf_counter() + self.budget.milliseconds / 1000
        before = tree.simulations
        while tree.simulations - before < CHUNK or time.perf_counter() < until:
            done = first + tree.simulations - before
            tree.grow(np.arange(done, done + CHUNK), *options)
        return tree


def named(spec: str) -> SearchAgent:
    """The agent with a budget in its name: ``"ismcts-300"`` (simulations) or ``"ismcts-100ms"`` (milliseconds a decision).

    Raises:
        AgentError: the budget is none.
    """
    budget = budget_in(spec, PREFIX)
    player = SearchAgent(budget.simulations, budget.milliseconds)
    player.name = spec
    return player
