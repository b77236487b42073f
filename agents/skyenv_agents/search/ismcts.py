"""Information-set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012).

Every simulation samples a determinization from the seat's view
(:func:`skyenv.engine.knowledge.resample`). All determinizations share one tree, in which each seat
maximizes its own win probability; actions are selected by their results and a prior. Leaves are
evaluated by a small compiled network, optionally after a rollout by the greedy agent. Greedy's
scores are also the prior.

Compiled code cannot be interrupted by Ctrl-C, so it runs in slices of bounded size, which do not
affect results.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.agents import Decisions, Evaluations, SearchProgress
from skyenv.array_types import Float64, Int8, Int64, RecordArray
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.engine.rewards import outcome_of
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.record import as_records, new_records
from skyenv.rules.state import GAME_DTYPE, NONE
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.search.budgets import MAX_SIMULATIONS, BudgetedAgent, seed_of
from skyenv_agents.search.leaf_network import leaf_network
from skyenv_agents.search.rollouts import LEAF_VALUES, NETWORK, new_scratch, search_options
from skyenv_agents.search.tree import DEEPEST, NODE_DTYPE, PRIOR_FLOOR, run_simulations

DEFAULT_SIMULATIONS: Final = 1000
SLICE: Final = 16  # simulations between checks of the clock and of Ctrl-C
MAX_TIMED: Final = MAX_SIMULATIONS * SLICE  # simulations of a decision whose budget is time
# Nodes reserved per simulation: each expands one node, which rarely has more actions.
NODES_PER_SIMULATION: Final = 24
FEWEST_NODES: Final = 4096
MAX_NODES: Final = 2_000_000
PROGRESS: Final = 0.2  # seconds between two reports of a search's progress
SEED_BITS: Final = 25  # low bits of a determinization's seed that number those of a decision

Check = Callable[[], None]


# ---- the tree ----


class SearchTree:
    """The tree of one decision.

    Args:
        view: the seat's view, VIEW_DTYPE (1,).
        root: initial nodes, of :func:`empty_nodes` or :func:`expanded_root`.
        room: number of nodes besides the root's children.
        seed: seed of the determinizations.
        weights: the greedy agent's weights.
        options: SEARCH_DTYPE (1,).

    Attributes:
        nodes: as in :mod:`skyenv_agents.search.tree`.
    """

    def __init__(
        self,
        view: RecordArray,
        root: RecordArray,
        room: int,
        seed: int,
        weights: RecordArray,
        options: RecordArray,
    ) -> None:
        self._view, self._weights, self._options = view, weights, options
        self._first_seed = seed << SEED_BITS
        self.nodes = new_records(room + len(root) - 1, NODE_DTYPE)
        self.nodes[: len(root)] = root
        self._used = np.full(1, len(root), np.int64)
        by_network = options["leaf_value"][0] == NETWORK
        players = int(view["game"]["num_players"][0])
        scratch = new_scratch(leaf_network(players) if by_network else None)
        self._memory = new_records(1, GAME_DTYPE), scratch
        self._path = np.zeros(DEEPEST, np.int64)

    @property
    def simulations(self) -> int:
        """Return the number of simulations so far."""
        return int(self.nodes["visits"][0])

    @property
    def size(self) -> int:
        """Return the number of nodes so far."""
        return int(self._used[0])

    def run(self, done: int, number: int) -> None:
        """Run `number` simulations after `done` others."""
        seeds = np.arange(self._first_seed + done, self._first_seed + done + number)
        tree = self.nodes, self._used, self._path
        run_simulations(self._view, seeds, self._options, self._weights, *tree, *self._memory)

    def children(self) -> RecordArray:
        """Return the root's children, NODE_DTYPE (k,)."""
        rows, child = [], int(self.nodes["child"][0])
        while child != NONE:
            rows.append(child)
            child = int(self.nodes["sibling"][child])
        return self.nodes[rows]


def empty_nodes(number: int) -> RecordArray:
    """Return nodes without children or siblings, NODE_DTYPE (number,)."""
    nodes = new_records(number, NODE_DTYPE)
    nodes["child"] = nodes["sibling"] = NONE
    return nodes


def expanded_root(mask: Int8, prior: npt.NDArray[np.floating[Any]]) -> RecordArray:
    """Return a tree's root with a child for each legal action, NODE_DTYPE (k + 1,).

    Args:
        mask: int8 (103,). prior: (103,), weights of the legal actions; they needn't sum to 1.

    Raises:
        AgentError: invalid prior.
    """
    # The same order as in a tree that expands its own root, as order breaks ties.
    actions = np.flatnonzero(mask)[::-1]
    known = prior[actions].astype(np.float64)
    total = known.sum()
    if not (np.isfinite(total) and total > 0 and (known >= 0).all()):
        raise AgentError(
            "a prior must be finite, at least 0, and above 0 for a legal action; it sums to "
            f"{total}"
        )
    nodes = empty_nodes(len(actions) + 1)
    nodes["child"][0] = 1
    nodes["sibling"][1:-1] = np.arange(2, len(nodes))
    nodes["action"][1:] = actions
    nodes["prior"][1:] = (1.0 - PRIOR_FLOOR) * known / total + PRIOR_FLOOR / len(actions)
    return nodes


class SearchResult(NamedTuple):
    """The result of a search.

    Attributes:
        actions: int64 (k,), the most visited action.
        visits: float64 (k, 103), visits of each action; 1 for a forced action.
        values: float64 (k,), the seat's expected win probability; NaN without a search.
        simulations: int64 (k,), number of simulations.
        nodes: int64 (k,), number of nodes in the tree.
    """

    actions: Int64
    visits: Float64
    values: Float64
    simulations: Int64
    nodes: Int64

    @classmethod
    def of(cls, decisions: Decisions, trees: Sequence[SearchTree | None]) -> "SearchResult":
        """Return the result of each decision's tree; None: a forced action."""
        visits, totals = np.zeros((2, len(decisions), NUM_ACTIONS))
        simulations, nodes = np.zeros((2, len(decisions)), np.int64)
        for i, tree in enumerate(trees):
            if tree is None:
                visits[i] = decisions.mask[i]
                continue
            children = tree.children()
            visits[i, children["action"]] = children["visits"]
            totals[i, children["action"]] = children["total"][:, decisions.seat[i]]
            simulations[i], nodes[i] = tree.simulations, tree.size
        # Ties are broken by value.
        best = np.argmax(visits + 0.5 * totals / np.maximum(visits, 1), axis=1)
        with np.errstate(invalid="ignore"):
            values = np.where(simulations > 0, totals.sum(axis=1), np.nan) / simulations
        return cls(best.astype(np.int64), visits, values, simulations, nodes)


# ---- the player ----


class SearchAgent(BudgetedAgent):
    """The agent ``ismcts``: a tree search over determinizations of its seat's view.

    Args:
        simulations: simulations per decision, 1 to 10⁶.
        milliseconds: time per decision instead, 0.001 to 10⁶; decisions then depend on the machine.
        options: those of :func:`skyenv_agents.search.rollouts.search_options`; by default
            `leaf_value` is ``"network"``.

    Raises:
        AgentError: invalid option.
    """

    name = "ismcts"
    version = "3"
    versions: ClassVar[Mapping[int, str]] = {3: "4", 4: "4"}
    description = "information-set Monte Carlo tree search"
    uses_view = True
    searches_with: tuple[str, ...] = (GreedyAgent.name,)
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(simulations, milliseconds)
        self._options = search_options(**{"leaf_value": LEAF_VALUES[NETWORK], **options})
        self._greedy = GreedyAgent()

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        return self.search(decisions).actions

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`: the actions' visits and the expected outcome."""
        result = self.search(decisions)
        shares = result.visits / result.visits.sum(axis=1, keepdims=True)
        return shares, np.nan_to_num(outcome_of(result.values, decisions.num_players))

    def search_with_progress(
        self, decisions: Decisions, callback: Callable[[SearchProgress], None]
    ) -> SearchProgress | None:
        """See :class:`skyenv.agents.Agent`: the actions' visits so far."""
        if decisions.mask[0].sum() < 2:
            return None  # forced action
        timed = self.milliseconds is not None

        def progress(result: SearchResult) -> SearchProgress:
            value = float(outcome_of(result.values, decisions.num_players)[0])
            return SearchProgress(
                int(result.actions[0]),
                result.visits[0],
                value,
                int(result.simulations[0]),
                None if timed else self.simulations,
            )

        def watch(result: SearchResult) -> None:
            if result.visits.any():
                callback(progress(result))

        return progress(self.search(decisions, watch=watch))

    def search(
        self,
        decisions: Decisions,
        priors: npt.NDArray[np.floating[Any]] | None = None,
        watch: Callable[[SearchResult], None] | None = None,
    ) -> SearchResult:
        """Return the results of the searches.

        Args:
            decisions: k decisions.
            priors: (k, 103), weights of the legal actions at the roots; None: the greedy agent's.
            watch: called every PROGRESS seconds with the result so far, without effect on the final
                one.

        Raises:
            AgentError: priors have another shape, aren't finite, or are 0 for all legal actions.
        """
        if priors is not None and np.shape(priors) != decisions.mask.shape:
            raise AgentError(
                f"priors must have shape {decisions.mask.shape}, not {np.shape(priors)}"
            )
        views = as_records(decisions.trusted_view(), VIEW_DTYPE)
        weights = self._greedy.weights(decisions.num_players)
        wanted = self.simulations * NODES_PER_SIMULATION
        room = min(max(wanted, FEWEST_NODES), MAX_NODES)
        trees: list[SearchTree | None] = []
        for i, mask in enumerate(decisions.mask):
            if mask.sum() < 2:
                trees.append(None)
                continue
            root = empty_nodes(1) if priors is None else expanded_root(mask, priors[i])
            seed = seed_of(decisions.uniform[i])
            trees.append(SearchTree(views[i : i + 1], root, room, seed, weights, self._options))
        check = every(lambda: watch(SearchResult.of(decisions, trees))) if watch else lambda: None
        for tree in trees:
            if tree is not None:
                self._run(tree, check)
        return SearchResult.of(decisions, trees)

    def _run(self, tree: SearchTree, check: Check) -> None:
        """Run a tree's budget, at least one slice; `check` is called between slices."""
        until = time.perf_counter() + (self.milliseconds or math.inf) / 1000
        number = self.simulations if self.milliseconds is None else MAX_TIMED
        done = 0
        while done == 0 or (done < number and time.perf_counter() < until):
            check()
            part = min(SLICE, number - done)
            tree.run(done, part)
            done += part


def every(report: Check) -> Check:
    """Return a function that calls `report` at most once in PROGRESS seconds, first after them."""
    last = time.monotonic()

    def maybe() -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS:
            report()
            last = time.monotonic()

    return maybe
