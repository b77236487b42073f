"""External-sampling MCCFR on a task's public tree, one hand at a time.

Source: Lanctot, Waugh, Zinkevich, Bowling, *Monte Carlo Sampling for Regret Minimization in
Extensive Games* (2009).
"""

from typing import Any, NamedTuple

import numpy as np

from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.record import Array
from skyenv.solving.best_response import expected
from skyenv.solving.equilibrium import Solver, match_regrets_of
from skyenv.solving.tree import CHANCE, LEAF, TaskTree


class Walk(NamedTuple):
    """The arrays that walks read and write.

    Attributes:
        policy: float64 (p,), by block. sums: float64 (2, p), regrets, and policies played.
        deals: float64 (d,), the probability of each pair of hands.
        chances: float64 (sets · d,), that of Alea's sets, given each pair.
        order, chosen: int64 (n,), nodes as they were visited, and the child drawn at each.
        values: float64 (n, h), what a visited node is worth to the hand that learns.
        hands: int64 (3,), those that were dealt, and the number of the deal.
        made: int64 (1,), how many decisions with a choice have been visited.
    """

    policy: Any
    sums: Any
    deals: Any
    chances: Any
    order: Any
    chosen: Any
    values: Any
    hands: Any
    made: Any


@rule
def draw(weights: Array, first: int, step: int, number: int) -> int:
    """Draw one of so many by weights of sum 1, which begin at `first` and are `step` apart."""
    left = np.random.random()
    for one in range(number):
        left -= weights[first + one * step]
        if left < 0.0:
            return one
    return number - 1


@rule
def draw_child(tree: TaskTree, walk: Walk, node: int) -> int:
    """Draw Alea's cards, or what the other seat does, whose policy joins its average."""
    kind, edges = tree.kind[node], tree.first[node + 1] - tree.first[node]
    if kind == CHANCE:
        edge = draw(walk.chances, walk.hands[2], len(walk.deals), edges)
    else:
        place, step = tree.block[node] + walk.hands[kind], tree.numbers[kind]
        edge = draw(walk.policy, place, step, edges)
        for _ in range(edges):
            walk.sums[1, place] += walk.policy[place]
            place += step
    return int(tree.child[tree.first[node] + edge])


@rule
def descend(tree: TaskTree, walk: Walk, seat: int) -> int:
    """Visit all that a seat can do, and one thing that the other does; returns the number of
    tree.
    """
    walk.order[0], visited, place = 0, 1, 0
    while place < visited:
        node = walk.order[place]
        kind, bits = tree.kind[node], 0
        place += 1
        if kind < CHANCE:
            match_regrets_of(tree, walk.sums[0], walk.policy, node, walk.hands[kind])
            bits = tree.legal[tree.first_legal[node] + walk.hands[kind]]
            walk.made[0] += bits & (bits - 1) != 0
        if kind == seat:
            for edge in range(tree.first[node], tree.first[node + 1]):
                if bits & 1:
                    walk.order[visited] = tree.child[edge]
                    visited += 1
                bits >>= 1
        elif kind != LEAF:
            walk.chosen[node] = walk.order[visited] = draw_child(tree, walk, node)
            visited += 1
    return visited


@rule
def ascend(tree: TaskTree, walk: Walk, seat: int, visited: int) -> None:
    """Write what the visited nodes are worth, and add to the regrets of the seat."""
    hand = walk.hands[seat]
    for place in range(visited - 1, -1, -1):
        node = walk.order[place]
        if tree.kind[node] == LEAF:
            walk.values[node, hand] = tree.payoff[node, seat]
        elif tree.kind[node] != seat:
            walk.values[node, hand] = walk.values[walk.chosen[node], hand]
        else:
            value = expected(tree, walk.policy, walk.values, node, hand)
            walk.values[node, hand] = value
            entry, bits = tree.block[node] + hand, tree.legal[tree.first_legal[node] + hand]
            for edge in range(tree.first[node], tree.first[node + 1]):
                if bits & 1:
                    walk.sums[0, entry] += walk.values[tree.child[edge], hand] - value
                bits >>= 1
                entry += tree.numbers[seat]


@entry_point("MCCFR")
def sample(tree: TaskTree, walk: Walk, seed: int, walks: int) -> None:
    """Walk so many times for each seat."""
    np.random.seed(seed)
    for number in range(2 * walks):
        deal = draw(walk.deals, 0, 1, len(walk.deals))
        walk.hands[:] = deal // tree.numbers[1], deal % tree.numbers[1], deal
        visited = descend(tree, walk, number % 2)
        ascend(tree, walk, number % 2, visited)


class Sampler(Solver):
    """External-sampling MCCFR on a tree of two seats; an iteration is a walk for each.

    Args:
        tree: of an opening.
        seed: of all draws.

    Attributes:
        made: int64 (1,), how many decisions with a choice have been visited.
    """

    def __init__(self, tree: TaskTree, seed: int) -> None:
        super().__init__(tree)
        self.made, self._rng = np.zeros(1, np.int64), np.random.default_rng(seed)
        deals, number = tree.deals[0].ravel(), len(tree.kind)
        chances = tree.deals[1:].reshape(-1, len(deals)) / np.maximum(deals, 1e-300)
        self._walk = Walk(
            policy=self.current,
            sums=self._sums,
            deals=deals,
            chances=chances.ravel(),
            order=np.zeros(number, np.int64),
            chosen=np.zeros(number, np.int64),
            values=self._evaluator.worth,
            hands=np.zeros(3, np.int64),
            made=self.made,
        )

    def run(self, iterations: int) -> None:
        """So many iterations more."""
        sample(self.tree, self._walk, int(self._rng.integers(2**31)), iterations)
        self.iterations += iterations
