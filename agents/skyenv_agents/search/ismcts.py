"""A player that searches a tree: information-set Monte Carlo tree search (Cowling, Powley and
Whitehouse 2012).

For every simulation a determinization is drawn from the seat's view alone
(:func:`skyenv.engine.knowledge.resample`); the actions that all seats are expected to play there
are followed in one tree for all of them, chosen by their results so far and by a prior. Where the
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

from skyenv.agents import Agent, Decisions, Evaluations, SearchProgress, checked_decisions
from skyenv.checks import check_integer, check_number
from skyenv.engine.kernels import observe_rows, outcome_of, share_of
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.engine.knowledge import view as view_of
from skyenv.engine.observation import CODES_DTYPE, OBSERVATION_SIZE
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE, NONE, as_records, new_records
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.heuristic.win_probability import win_probabilities_seen
from skyenv_agents.search.budgets import BudgetedAgent, seed_of
from skyenv_agents.search.leaf_network import leaf_network
from skyenv_agents.search.rollouts import LEAF_VALUES, NETWORK, new_scratch, search_options
from skyenv_agents.search.tree import (
    LEAF_DTYPE,
    NO_ACTIONS,
    NODE_DTYPE,
    PRIOR_FLOOR,
    backup_leaves,
    simulate,
)

DEFAULT_SIMULATIONS: Final = 1000
SLICE: Final = 16  # simulations between two looks at the clock, and at Ctrl-C
NODES_PER_SIMULATION: Final = 24
"""Room in the tree: a simulation expands one node, which has so many actions or fewer (more only
where it places skyscrapers).
"""
FEWEST_NODES: Final = 4096
MOST_NODES: Final = 2_000_000
PROGRESS: Final = 0.2  # seconds between two reports of a search's progress
SEED_BITS: Final = 25  # low bits of a determinization's seed that number those of a decision
SIDE_BY_SIDE: Final = 64  # trees whose leaves are evaluated together …
NODES_SIDE_BY_SIDE: Final = 4_000_000  # … unless they need more nodes than this, together

Floats = npt.NDArray[np.float64]
Records = npt.NDArray[np.void]
Check = Callable[[], None]


# ---- trees and their leaves ----


class LeafBatch:
    """Where simulations have ended, until they are evaluated.

    Args:
        number: how many there can be.

    Attributes:
        games: GAME_DTYPE (number,), the positions there.
        leaves: LEAF_DTYPE (number,).
        masks: int8 (number, 103), legal actions.
        priors: float64 (number, 103), their probabilities by the evaluator.
    """

    def __init__(self, number: int) -> None:
        self.games = new_records(number, GAME_DTYPE)
        self.leaves = new_records(number, LEAF_DTYPE)
        self.masks = np.zeros((number, NUM_ACTIONS), np.int8)
        self.priors = np.zeros((number, NUM_ACTIONS))

    def evaluate(self, number: int, evaluator: Agent, weight: float = 1.0) -> None:
        """Let an agent evaluate the first leaves, so many as `number`; its values have a share in
        the leaves', the weight.

        Raises:
            AgentError: the agent doesn't tell the outcome that it expects.
        """
        rows = np.flatnonzero(self.leaves["number"][:number] > 0)
        if not len(rows):
            return
        games = self.games[rows]
        seats, players = games["seat"].astype(np.int64), int(games["num_players"][0])
        observation = np.empty((len(rows), OBSERVATION_SIZE), np.float32)
        observe_rows(games, new_records(1, CODES_DTYPE), np.arange(len(rows)), seats, observation)
        views = view_of(games, seats)
        decisions = Decisions(
            self.masks[rows], seats, players, np.zeros(len(rows)), observation, views
        )
        evaluations = evaluator.evaluate(decisions.as_trusted())
        if evaluations is None or evaluations[1] is None:
            raise AgentError(
                f"agent {evaluator.name} can't guide a search: it doesn't tell the outcome that it "
                "expects"
            )
        # In single precision its answers don't depend on the number of leaves.
        probabilities, outcomes = (
            np.asarray(array, np.float32).astype(np.float64) for array in evaluations
        )
        self.priors[rows] = probabilities
        if weight > 0:
            by_holdings = win_probabilities_seen(np.asarray(views))
            expected = seat_values(outcomes, seats, players, by_holdings)
            before = self.leaves["value"][rows]
            self.leaves["value"][rows] = weight * expected + (1 - weight) * before


def seat_values(
    outcomes: Floats, seats: npt.NDArray[np.int64], players: int, by_holdings: Floats
) -> Floats:
    """Return every seat's win probability, float64 (k, 4).

    Args:
        outcomes: float64 (k,), −1/(N−1) to 1, the outcome that a seat expects. seats: int64 (k,),
            which seat.
        players: N.
        by_holdings: float64 (k, 4), win probabilities by what seats have, in proportion to which
            the other seats share the rest.
    """
    rows = np.arange(len(seats))
    own = np.clip(share_of(outcomes, players), 0.0, 1.0)
    others = by_holdings.copy()
    others[rows, seats] = 0.0
    others[:, players:] = 0.0
    values: Floats = others * ((1 - own) / others.sum(axis=1))[:, None]
    values[rows, seats] = own
    return values


class Tree:
    """The tree of one decision.

    Args:
        view: of the seat, VIEW_DTYPE (1,).
        room: for so many nodes.
        seed: of its determinizations.
        weights: those of the greedy player.
        options: SEARCH_DTYPE (1,).
        root: nodes to begin with, of :func:`expanded_root`; None: none.

    Attributes:
        nodes: as in :mod:`skyenv_agents.search.tree`.
    """

    def __init__(
        self,
        view: Records,
        room: int,
        seed: int,
        weights: Records,
        options: Records,
        root: Records | None = None,
    ) -> None:
        self._view, self._weights, self._options = view, weights, options
        self._first_seed = seed << SEED_BITS
        begun = empty_nodes(1) if root is None else root
        self.nodes = new_records(room + len(begun) - 1, NODE_DTYPE)
        self.nodes[: len(begun)] = begun
        self._used = np.full(1, len(begun), np.int64)
        by_network = options["leaf_value"][0] == NETWORK
        players = int(view["game"]["num_players"][0])
        self._scratch = new_scratch(leaf_network(players) if by_network else None)

    @property
    def simulations(self) -> int:
        """Simulations so far."""
        return int(self.nodes["visits"][0])

    @property
    def size(self) -> int:
        """Nodes so far."""
        return int(self._used[0])

    def run(self, done: int, number: int, batch: LeafBatch, first: int = 0) -> None:
        """Add so many simulations as `number`, after `done` others; batched ones end at leaves of
        the batch from `first` on.
        """
        seeds = np.arange(self._first_seed + done, self._first_seed + done + number)
        how = self._options, self._weights, batch.games[first:], self._scratch
        tree = self.nodes, self._used, batch.leaves[first:], batch.masks[first:]
        simulate(self._view, seeds, *how, *NO_ACTIONS, *tree)

    def backup(self, batch: LeafBatch, first: int, number: int) -> None:
        """Expand and back up leaves of the batch that have been evaluated, so many from `first`
        on.
        """
        part = slice(first, first + number)
        leaves = batch.leaves[part], batch.masks[part], batch.priors[part]
        backup_leaves(self.nodes, self._used, *leaves)

    def children(self) -> Records:
        """Return the root's children, NODE_DTYPE (k,)."""
        rows, child = [], int(self.nodes["child"][0])
        while child != NONE:
            rows.append(child)
            child = int(self.nodes["sibling"][child])
        return self.nodes[rows]


def empty_nodes(number: int) -> Records:
    """Return nodes without children or siblings, NODE_DTYPE (number,)."""
    nodes = new_records(number, NODE_DTYPE)
    nodes["child"] = nodes["sibling"] = NONE
    return nodes


def expanded_root(mask: npt.NDArray[np.int8], prior: npt.NDArray[np.floating[Any]]) -> Records:
    """Return a tree's root with a child for each legal action, NODE_DTYPE (k + 1,).

    Args:
        mask: int8 (103,). prior: (103,), weights of the legal actions; they needn't sum to 1.

    Raises:
        AgentError: the prior is wrong.
    """
    # In the order of a tree that expands its root itself, which decides between equal ones.
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
        actions: int64 (k,), the action tried most.
        visits: float64 (k, 103), how often each action was tried; 1 for an action that is the only
            one.
        values: float64 (k,), the win probability that the seat may expect; NaN where nothing was
            searched.
        simulations: int64 (k,), how many there were.
        nodes: int64 (k,), how many nodes the tree had.
    """

    actions: npt.NDArray[np.int64]
    visits: Floats
    values: Floats
    simulations: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, decisions: Decisions, trees: Sequence[Tree | None]) -> SearchResult:
        """Sum up the tree of each decision; None: there is only one action."""
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
        # Of actions tried equally often the one that did better.
        best = np.argmax(visits + 0.5 * totals / np.maximum(visits, 1), axis=1)
        with np.errstate(invalid="ignore"):
            values = np.where(simulations > 0, totals.sum(axis=1), np.nan) / simulations
        return cls(best.astype(np.int64), visits, values, simulations, nodes)


# ---- the player ----


class SearchAgent(BudgetedAgent):
    """Searches a tree in positions that its seat can't tell from the real one.

    Args:
        simulations: for each decision, 1 to 10⁶.
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the
            machine).
        evaluator: an agent whose :meth:`~skyenv.agents.Agent.evaluate` tells probabilities of the
            legal actions, which sum to 1, and the outcome that it expects, from −1, lost, to 1,
            won; None: rollouts alone.
        value_weight: share that the evaluator has in the value of a leaf, 0 to 1; the rollout has
            the rest.
        leaves: leaves of a tree that the evaluator evaluates at once, 1 to 1024: more are faster
            and a little weaker.
        options: those of :func:`skyenv_agents.search.rollouts.search_options`; `exploration` is
            0.25, `temperature` 2 (above 0 with an evaluator, whose probabilities are the prior) and
            `leaf_value` ``"network"`` unless said otherwise.

    Raises:
        AgentError: an option has a wrong value, or (at the first decision) the evaluator doesn't
            tell the outcome.
    """

    name = "ismcts"
    version = "3"
    versions = {3: "4", 4: "4"}  # noqa: RUF012
    description = "searches a tree in positions that its seat can't tell from the real one"
    uses_view = True
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        evaluator: Agent | None = None,
        value_weight: float = 1.0,
        leaves: int = 8,
        **options: Any,
    ) -> None:
        super().__init__(simulations, milliseconds)
        usual = {"exploration": 0.25, "temperature": 2.0, "leaf_value": LEAF_VALUES[NETWORK]}
        self._options = search_options(**{**usual, **options})
        self.evaluator = evaluator
        self.value_weight = check_number("value_weight", value_weight, 0.0, 1.0, AgentError)
        self.leaves = check_integer("leaves", leaves, 1, 1024, AgentError)
        self._greedy = GreedyAgent()
        if evaluator is not None:
            if self._options["temperature"][0] == 0.0:
                raise AgentError(
                    "temperature must be above 0 with an evaluator, whose probabilities count then"
                )
            self._options["batched"] = 1
            if self.value_weight == 1.0:
                self._options["turns"] = 0
            self._named_after(evaluator)

    def _named_after(self, guide: Agent) -> None:
        """Take name, version and description from the agent that guides the search."""
        self.name = self.budget.name(f"ismcts-{guide.name}", self.default_simulations)
        self.version = f"{type(self).version}+{guide.version}"
        self.description = f"searches a tree guided by {guide.description}"

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`: with the version of the evaluator."""
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
        shares = result.visits / result.visits.sum(axis=1, keepdims=True)
        return shares, np.nan_to_num(outcome_of(result.values, decisions.num_players))

    def search_with_progress(
        self, decisions: Decisions, callback: Callable[[SearchProgress], None]
    ) -> SearchProgress | None:
        """See :class:`skyenv.agents.Agent`: how often each action has been tried so far."""
        if decisions.mask[0].sum() < 2:
            return None  # nothing is searched
        timed = self.budget.milliseconds is not None

        def progress(result: SearchResult) -> SearchProgress:
            value = float(outcome_of(result.values, decisions.num_players)[0])
            return SearchProgress(
                int(result.actions[0]),
                result.visits[0],
                value,
                int(result.simulations[0]),
                None if timed else self.budget.simulations,
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
        """Decide, and return what the trees look like.

        Args:
            decisions: k of them.
            priors: (k, 103), weights of the legal actions at the roots, in place of the greedy
                player's priors; None: the greedy player's, or the evaluator's.
            watch: called every PROGRESS seconds with the result so far; the final result doesn't
                depend on it.

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
        trees: list[Tree | None] = []
        for i, mask in enumerate(decisions.mask):
            if mask.sum() < 2:
                trees.append(None)
                continue
            root = None if priors is None else expanded_root(mask, priors[i])
            seed = seed_of(decisions.uniform[i])
            one = views[i : i + 1], self._room, seed, weights, self._options, root
            trees.append(Tree(*one))
        check = _every(lambda: watch(SearchResult.of(decisions, trees))) if watch else lambda: None
        self._run([tree for tree in trees if tree is not None], check)
        return SearchResult.of(decisions, trees)

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
    def _room(self) -> int:
        """How many nodes a tree gets."""
        wanted = self.budget.simulations * NODES_PER_SIMULATION
        return min(max(wanted, FEWEST_NODES), MOST_NODES)

    def _run(self, trees: Sequence[Tree], check: Check) -> None:
        """Let trees use up their budget: each alone, or some side by side unless time counts.

        `check`: called between slices.
        """
        if self.evaluator is None:
            for tree in trees:
                self._run_alone(tree, check)
            return
        width = max(1, min(SIDE_BY_SIDE, NODES_SIDE_BY_SIDE // self._room))
        if self.budget.milliseconds is not None:
            width = 1
        for start in range(0, len(trees), width):
            self._run_together(trees[start : start + width], self.evaluator, check)

    def _run_alone(self, tree: Tree, check: Check) -> None:
        """Let a tree use up its budget; leaves are valued by rollouts."""
        batch = LeafBatch(1)
        for done, number in self.budget.slices(self.budget.simulations, SLICE):
            check()
            tree.run(done, number, batch)

    def _run_together(self, trees: Sequence[Tree], evaluator: Agent, check: Check) -> None:
        """Let trees use up their budget; their leaves are evaluated together."""
        batch = LeafBatch(len(trees) * self.leaves)
        for done, number in self.budget.slices(self.budget.simulations, self.leaves):
            check()
            # The first simulation expands the roots.
            for size in (1, number) if done == 0 else (number,):
                for i, tree in enumerate(trees):
                    tree.run(done, size, batch, i * size)
                batch.evaluate(len(trees) * size, evaluator, self.value_weight)
                for i, tree in enumerate(trees):
                    tree.backup(batch, i * size, size)


def _every(report: Check) -> Check:
    """Return a function that reports when it is called, but only once in PROGRESS seconds, and not
    before they have passed.
    """
    last = time.monotonic()

    def maybe() -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS:
            report()
            last = time.monotonic()

    return maybe
