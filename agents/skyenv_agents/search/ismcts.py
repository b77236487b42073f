"""A player that searches a tree: information-set Monte Carlo tree search (Cowling, Powley and
Whitehouse 2012).

For every simulation a determinization is drawn from the seat's view alone
(:func:`skyenv.engine.knowledge.resample`); the actions that all seats are expected to play there are
looked up in one tree for all of them, and tried by what they have led to and by a prior. Where the
tree ends, the position is evaluated. Every seat is taken to want its own win.

The evaluation is a parameter: a small compiled network, if wanted behind a rollout by the greedy
player, whose scores are the prior; or any agent's, another network's for instance as in AlphaZero
(Silver et al. 2018), alone or beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, Evaluations, Thought, checked_decisions
from skyenv.checks import check_integer, check_number
from skyenv.engine.kernels import outcome_of
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import NONE, as_records, new_records
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.heuristic.win_probability import EARLY, LATE
from skyenv_agents.search.budgets import BudgetedAgent, Check, on_threads, seed_of
from skyenv_agents.search.evaluation import LeafBatch
from skyenv_agents.search.leaves import leaf_network
from skyenv_agents.search.reuse import Memory
from skyenv_agents.search.rollouts import LEAF_VALUES, NETWORK, new_scratch, search_options
from skyenv_agents.search.tree import NODE_DTYPE, PRIOR_FLOOR, backup_leaves, run_simulations

DEFAULT_SIMULATIONS: Final = 1000
MARGIN: Final = 0.2
"""Share that VP have in the value of a finished game."""
SLICE: Final = 16
"""Simulations between two looks at the clock, and at Ctrl-C."""
NODES_PER_SIMULATION: Final = 24
"""Room in the tree: a simulation expands one node, which has so many actions or fewer (more only
where it places skyscrapers).
"""
FEWEST_NODES: Final = 4096
MOST_NODES: Final = 2_000_000
LOOKS: Final = 0.2
"""Seconds between two times that it is told how far a search is."""
SEED_BITS: Final = 25
"""Low bits of a determinization's seed that number those of a decision."""
SIDE_BY_SIDE: Final = 64
"""Trees whose leaves are evaluated together …"""
NODES_SIDE_BY_SIDE: Final = 4_000_000
"""… unless they need more nodes than this, together."""


class Tree:
    """The tree of one decision.

    Args:
        view: what the seat sees, VIEW_DTYPE (1,).
        room: for so many nodes.
        seed: of its determinizations.
        weights: those of the greedy player.
        options: SEARCH_DTYPE (1,).
        known: a tree to begin with, its root first, NODE_DTYPE (k,), as
            :func:`skyenv_agents.search.reuse.subtree` makes it; None: an empty one.

    Attributes:
        nodes, used: the tree, as in :mod:`skyenv_agents.search.tree`.
    """

    def __init__(
        self,
        view: npt.NDArray[np.void],
        room: int,
        seed: int,
        weights: npt.NDArray[np.void],
        options: npt.NDArray[np.void],
        known: npt.NDArray[np.void] | None = None,
    ) -> None:
        self.view, self.weights, self.options = view, weights, options
        self._first_seed = seed << SEED_BITS
        size = 1 if known is None else len(known)
        self.nodes = new_records(room + size - 1, NODE_DTYPE)
        if known is None:
            self.nodes["child"][0] = self.nodes["sibling"][0] = NONE
        else:
            self.nodes[:size] = known
        self.used = np.full(1, size, np.int64)
        players = int(view["game"]["num_players"][0])
        self._scratch = new_scratch(
            leaf_network(players) if options["leaf_value"][0] == NETWORK else None
        )

    @property
    def simulations(self) -> int:
        """Simulations so far, with those that were known."""
        return int(self.nodes["visits"][0])

    @property
    def size(self) -> int:
        """Nodes so far."""
        return int(self.used[0])

    def run(self, done: int, number: int, batch: LeafBatch, first: int = 0) -> None:
        """Add so many simulations as `number`, after `done` others; batched ones end at leaves of
        the batch from `first` on.
        """
        seeds = np.arange(self._first_seed + done, self._first_seed + done + number)
        games, leaves, masks = batch.games[first:], batch.leaves[first:], batch.masks[first:]
        run_simulations(
            self.view,
            seeds,
            self.options,
            self.weights,
            self.nodes,
            self.used,
            games,
            leaves,
            masks,
            self._scratch,
        )

    def backup(self, batch: LeafBatch, first: int, number: int) -> None:
        """Expand and back up leaves of the batch that have been evaluated, so many from `first`
        on.
        """
        part = slice(first, first + number)
        backup_leaves(
            self.nodes, self.used, batch.leaves[part], batch.masks[part], batch.priors[part]
        )

    def children(self) -> npt.NDArray[np.void]:
        """The root's children, NODE_DTYPE (k,)."""
        rows = []
        child = int(self.nodes["child"][0])
        while child != NONE:
            rows.append(child)
            child = int(self.nodes["sibling"][child])
        return self.nodes[rows]


def root(mask: npt.NDArray[np.int8], prior: npt.NDArray[np.float64]) -> npt.NDArray[np.void]:
    """A tree's root with a child for each legal action, NODE_DTYPE (k + 1,).

    Args:
        mask: int8 (103,). prior: float64 (103,), how probable the legal actions are held to be;
            they needn't sum to 1.

    Raises:
        AgentError: the prior is wrong.
    """
    actions = np.flatnonzero(mask)[
        ::-1
    ]  # the order of a tree that expands its root itself, which decides between equal ones
    known = prior[actions]
    total = known.sum()
    if not (np.isfinite(total) and total > 0 and (known >= 0).all()):
        raise AgentError(
            "a prior must be finite, at least 0, and above 0 for a legal action; it sums to "
            f"{total}"
        )
    nodes = new_records(len(actions) + 1, NODE_DTYPE)
    nodes["child"] = nodes["sibling"] = NONE
    nodes["child"][0] = 1
    nodes["sibling"][1:-1] = np.arange(2, len(nodes))
    nodes["action"][1:] = actions
    nodes["prior"][1:] = (1.0 - PRIOR_FLOOR) * known / total + PRIOR_FLOOR / len(actions)
    return nodes


class SearchResult(NamedTuple):
    """What a search came to.

    Attributes:
        actions: int64 (k,), the action tried most.
        visits: float64 (k, 103), how often each action was tried; 1 for an action that is the only
            one.
        values: float64 (k,), the win probability that the seat may expect; NaN where nothing was
            searched.
        simulations: int64 (k,), how many there were, those with it that were known already.
        nodes: int64 (k,), how many nodes the trees had.
    """

    actions: npt.NDArray[np.int64]
    visits: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    simulations: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, searched: Sequence[tuple[npt.NDArray[np.int8], int, Sequence[Tree]]]
    ) -> SearchResult:
        """From the mask, the seat and the trees (none: there is only one action) of each
        decision.
        """
        visits, totals = (
            np.zeros((len(searched), NUM_ACTIONS)),
            np.zeros((len(searched), NUM_ACTIONS)),
        )
        for i, (mask, seat, trees) in enumerate(searched):
            if not trees:
                visits[i] = mask
            for tree in trees:
                children = tree.children()
                visits[i, children["action"]] += children["visits"]
                totals[i, children["action"]] += children["total"][:, seat]
        # Of actions tried equally often the one that did better.
        best = np.argmax(visits + 0.5 * totals / np.maximum(visits, 1), axis=1)
        simulations = np.array(
            [sum(tree.simulations for tree in trees) for _, _, trees in searched], np.int64
        )
        with np.errstate(invalid="ignore"):
            values = np.where(simulations > 0, totals.sum(axis=1), np.nan) / simulations
        nodes = np.array([sum(tree.size for tree in trees) for _, _, trees in searched], np.int64)
        return cls(best.astype(np.int64), visits, values, simulations, nodes)


class SearchAgent(BudgetedAgent):
    """Searches a tree in positions that its seat can't tell from the real one.

    Args:
        simulations: for each decision, 1 to 10⁶.
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the
            machine).
        exploration: weight of what hasn't been tried much, at least 0.
        temperature: VP by which the greedy player must hold an action better for it to be tried e
            times as much at first; 0: what the greedy player holds doesn't count (UCB1 instead of
            PUCT). Above 0 with an evaluator, whose probabilities count.
        rollout_policy: who plays on where the tree ends: ``"greedy"`` or ``"random"``.
        turns: turns of all seats together that are played on there before the position is
            evaluated; 0: none.
        leaf_value: what tells the worth of a position that isn't over: ``"network"``, a small
            compiled network (:mod:`skyenv_agents.search.leaves`), or ``"holdings"``, what the seats
            have; see `early`.
        trees: so many trees share the simulations of a decision (they can be searched side by
            side), 1 to 64.
        threads: threads for the trees, 1 to 1024; decisions don't depend on it. With an evaluator
            there is one.
        reuse: whether a seat that decides again at once goes on with the tree under its action, so
            that the budget comes on top of what is known (see :mod:`skyenv_agents.search.reuse`).
            Then a decision depends on the view, its random number *and* on whether this very object
            has decided just before in that game; not on other games, unless they are more than
            1024.
        early, late: VP ahead that make the odds to win e times as high at the start and at the end
            of the game, when a position is evaluated by what the seats have, from 0.1.
        margin: share that VP have in the value of a finished game, 0 to 1; the win itself has the
            rest.
        evaluator: an agent whose :meth:`~skyenv.agents.Agent.evaluate` tells probabilities of the
            legal actions, which sum to 1, and the outcome that it expects, from −1, lost, to 1,
            won; None: rollouts alone.
        value_weight: share that the evaluator has in the value of a leaf, 0 to 1; the rollout has
            the rest.
        leaves: so many leaves of a tree the evaluator is asked about at once, 1 to 1024: more are
            faster and a little weaker.

    Raises:
        AgentError: an option has a wrong value, or (at the first decision) the evaluator doesn't
            tell the outcome.
    """

    name = "ismcts"
    version = "3"
    description = "searches a tree in positions that its seat can't tell from the real one"
    uses_view = True
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        exploration: float = 0.25,
        temperature: float = 2.0,
        rollout_policy: str = "greedy",
        turns: int = 0,
        leaf_value: str = LEAF_VALUES[NETWORK],
        trees: int = 1,
        threads: int = 1,
        reuse: bool = False,
        early: float = EARLY,
        late: float = LATE,
        margin: float = MARGIN,
        evaluator: Agent | None = None,
        value_weight: float = 1.0,
        leaves: int = 8,
    ) -> None:
        super().__init__(simulations, milliseconds)
        self.trees = check_integer("trees", trees, 1, 64, AgentError)
        self.threads = check_integer("threads", threads, 1, 1024, AgentError)
        self._options = search_options(
            rollout_policy, turns, early, late, margin, exploration, temperature, leaf_value
        )
        self.evaluator = evaluator
        self.value_weight = check_number("value_weight", value_weight, 0.0, 1.0, AgentError)
        self.leaves = check_integer("leaves", leaves, 1, 1024, AgentError)
        if evaluator is not None:
            if temperature == 0.0:
                raise AgentError(
                    "temperature must be above 0 with an evaluator, whose probabilities count then"
                )
            self._options["batched"] = 1
            if self.value_weight == 1.0:
                self._options["turns"] = 0
            self.name = self.budget.name(f"ismcts-{evaluator.name}", self.default_simulations)
            self.version = f"{type(self).version}+{evaluator.version}"
            self.description = f"searches a tree guided by {evaluator.description}"
        self._greedy = GreedyAgent()
        self.reuse = reuse
        self._memory = Memory()

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`: with the version of what guides the search."""
        own = super().version_at(players, side)
        return (
            own if self.evaluator is None else f"{own}+{self.evaluator.version_at(players, side)}"
        )

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self.search(decisions).actions

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`: how often each action was tried, and the outcome
        expected.
        """
        result = self.search(decisions)
        players = decisions.num_players
        shares = result.visits / result.visits.sum(axis=1, keepdims=True)
        return shares, np.nan_to_num(outcome_of(result.values, players))

    def ponder(self, decisions: Decisions, tell: Callable[[Thought], None]) -> Thought | None:
        """See :class:`skyenv.agents.Agent`: how often each action has been tried so far.

        With several threads only at the end.
        """
        if decisions.mask[0].sum() < 2:
            return None  # nothing is searched

        def thought(result: SearchResult) -> Thought:
            most = (
                None
                if self.reuse or self.budget.milliseconds is not None
                else self._per_tree * self.trees
            )
            value = float(outcome_of(result.values, decisions.num_players)[0])
            return Thought(
                int(result.actions[0]), result.visits[0], value, int(result.simulations[0]), most
            )

        def watch(result: SearchResult) -> None:
            if result.visits.any():
                tell(thought(result))

        return thought(self.search(decisions, watch=watch))

    def search(
        self,
        decisions: Decisions,
        priors: npt.NDArray[np.floating[Any]] | None = None,
        watch: Callable[[SearchResult], None] | None = None,
    ) -> SearchResult:
        """Decide, and tell what the trees look like.

        Args:
            decisions: k of them.
            priors: (k, 103), how probable the legal actions are held to be at the roots, in place
                of the greedy player's priors; trees that go on from an earlier decision have
                theirs. None: the greedy player's, or the evaluator's.
            watch: told every LOOKS seconds what the search has come to, where it has no threads;
                what it comes to in the end doesn't depend on it.

        Raises:
            AgentError: priors have another shape, aren't finite, or are above 0 for no legal
                action; or the search has an evaluator, or no priors at all.
        """
        decisions = checked_decisions(decisions)
        if priors is not None:
            self._check_priors(priors, len(decisions))
        assert decisions.view is not None
        views = as_records(decisions.view, VIEW_DTYPE)
        weights = self._greedy.weights(decisions.num_players)
        several = [i for i in range(len(decisions)) if decisions.mask[i].sum() > 1]
        trees: dict[int, list[Tree]] = {}
        for i in several:
            view = views[i : i + 1]
            known: list[npt.NDArray[np.void] | None] = [
                *(self._memory.find(view) if self.reuse else [])
            ]
            if not known:
                known = [
                    None
                    if priors is None
                    else root(decisions.mask[i], priors[i].astype(np.float64))
                ] * self.trees
            seed = seed_of(decisions.uniform[i]) * self.trees
            trees[i] = [
                Tree(view, self._room, seed + k, weights, self._options, known[k])
                for k in range(self.trees)
            ]
        rows = [
            (decisions.mask[i], int(decisions.seat[i]), trees.get(i, []))
            for i in range(len(decisions))
        ]
        look = _every(LOOKS, lambda: watch(SearchResult.of(rows))) if watch else lambda: None
        self._run([tree for row in several for tree in trees[row]], look)
        result = SearchResult.of(rows)
        if self.reuse:
            for i in several:
                self._memory.keep(
                    views[i : i + 1], int(result.actions[i]), [tree.nodes for tree in trees[i]]
                )
        return result

    def _check_priors(self, priors: npt.NDArray[np.floating[Any]], number: int) -> None:
        if self.evaluator is not None or self._options["temperature"][0] == 0.0:
            raise AgentError(
                "priors from outside need a search without an evaluator, with a temperature above 0"
            )
        if np.shape(priors) != (number, NUM_ACTIONS):
            raise AgentError(
                f"priors must have shape {(number, NUM_ACTIONS)}, not {np.shape(priors)}"
            )

    @property
    def _per_tree(self) -> int:
        """Simulations of each tree."""
        return -(-self.budget.simulations // self.trees)

    @property
    def _room(self) -> int:
        """How many nodes a tree gets."""
        return min(max(self._per_tree * NODES_PER_SIMULATION, FEWEST_NODES), MOST_NODES)

    def _run(self, trees: Sequence[Tree], look: Check) -> None:
        """Let trees use up their budget: each alone, or some side by side, those of one decision if
        time counts.

        `look`: called between slices.
        """
        if self.evaluator is None:
            on_threads(self._run_alone, trees, self.threads, "ismcts", look)
            return
        width = max(1, min(SIDE_BY_SIDE, NODES_SIDE_BY_SIDE // self._room))
        if self.budget.milliseconds is not None:
            width = self.trees
        for start in range(0, len(trees), width):
            self._run_together(trees[start : start + width], self.evaluator, look)

    def _run_alone(self, tree: Tree, check: Check) -> None:
        """Let a tree use up its budget; leaves are valued by rollouts."""
        leaf = LeafBatch(1)
        for done, number in self.budget.slices(self._per_tree, SLICE):
            check()
            tree.run(done, number, leaf)

    def _run_together(self, trees: Sequence[Tree], evaluator: Agent, look: Check) -> None:
        """Let trees use up their budget; their leaves are evaluated together."""
        batch = LeafBatch(len(trees) * self.leaves)
        for done, number in self.budget.slices(self._per_tree, self.leaves):
            look()
            for size in (
                (1, number) if done == 0 else (number,)
            ):  # the first simulation expands the roots
                for i, tree in enumerate(trees):
                    tree.run(done, size, batch, i * size)
                batch.evaluate(len(trees) * size, evaluator, self.value_weight)
                for i, tree in enumerate(trees):
                    tree.backup(batch, i * size, size)


def _every(seconds: float, look: Check) -> Check:
    """A function that looks when it is called, but only once in so many seconds, and not before
    they have passed.
    """
    last = time.monotonic()

    def maybe() -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            look()
            last = time.monotonic()

    return maybe
