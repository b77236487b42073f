"""External-sampling MCCFR on a task's public tree, for hands one by one.

Source: Lanctot, Waugh, Zinkevich, Bowling, *Monte Carlo Sampling for Regret Minimization in
Extensive Games* (2009).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.state import Array
from skyenv.tasks.best_response import Nodes, Policy, nodes_of
from skyenv.tasks.equilibrium import average
from skyenv.tasks.tree import CHANCE, LEAF, Tree


class Walk(NamedTuple):
    """What walks write, and from what they draw.

    Attributes:
        policy: float64 (p,), by block. sums: float64 (2, p), regrets, and policies played.
        deals: float64 (d,), the probability of each pair of hands.
        chances: float64 (sets · d,), that of Alea's sets, given each pair.
        order, chosen: int64 (n,), nodes as they were visited, and the child drawn at each.
        value: float64 (n,), what a visited node is worth to the seat that learns.
        hands: int64 (2,), those that were dealt.
    """

    policy: Any
    sums: Any
    deals: Any
    chances: Any
    order: Any
    chosen: Any
    value: Any
    hands: Any


@rule
def draw(weights: Array, first: int, step: int, number: int) -> int:
    """Draw one of so many by weights of sum 1, which begin at `first` and are `step` apart."""
    left, last = np.random.random(), 0
    for one in range(number):
        weight = weights[first + one * step]
        if weight > 0.0:
            last = one
            if left < weight:
                return one
            left -= weight
    return last


@rule
def match_regrets_of(nodes: Nodes, walk: Walk, node: int, hand: int) -> bool:
    """Write the policy of a hand in proportion to its positive regrets, all legal edges alike where
    there are none; returns whether it has a choice.
    """
    bits, total, legal = nodes.legal[nodes.first_legal[node] + hand], 0.0, 0
    step, edges = nodes.numbers[nodes.kind[node]], nodes.first[node + 1] - nodes.first[node]
    for edge in range(edges):
        total += max(walk.sums[0, nodes.block[node] + edge * step + hand], 0.0)
        legal += (bits >> edge) & 1
    for edge in range(edges):
        place = nodes.block[node] + edge * step + hand
        if total > 0.0:
            walk.policy[place] = max(walk.sums[0, place], 0.0) / total
        else:
            walk.policy[place] = ((bits >> edge) & 1) / legal
    return legal > 1


@rule
def draw_child(nodes: Nodes, walk: Walk, node: int) -> int:
    """Draw Alea's cards, or what the other seat does, whose policy joins its average."""
    kind, edges = nodes.kind[node], nodes.first[node + 1] - nodes.first[node]
    if kind == CHANCE:
        deal = walk.hands[0] * nodes.numbers[1] + walk.hands[1]
        edge = draw(walk.chances, deal, len(walk.deals), edges)
    else:
        begin, step = nodes.block[node] + walk.hands[kind], nodes.numbers[kind]
        edge = draw(walk.policy, begin, step, edges)
        for other in range(edges):
            walk.sums[1, begin + other * step] += walk.policy[begin + other * step]
    return int(nodes.child[nodes.first[node] + edge])


@rule
def descend(nodes: Nodes, walk: Walk, seat: int, made: Array) -> int:
    """Visit all that a seat can do, and one thing that the other does; returns the number of nodes,
    and adds the decisions to `made`.
    """
    walk.order[0], visited, place = 0, 1, 0
    while place < visited:
        node = walk.order[place]
        kind = nodes.kind[node]
        place += 1
        if kind < CHANCE:
            made[0] += match_regrets_of(nodes, walk, node, walk.hands[kind])
        if kind == seat:
            bits = nodes.legal[nodes.first_legal[node] + walk.hands[seat]]
            for edge in range(nodes.first[node + 1] - nodes.first[node]):
                if (bits >> edge) & 1:
                    walk.order[visited] = nodes.child[nodes.first[node] + edge]
                    visited += 1
        elif kind != LEAF:
            walk.chosen[node] = walk.order[visited] = draw_child(nodes, walk, node)
            visited += 1
    return visited


@rule
def ascend(nodes: Nodes, walk: Walk, seat: int, visited: int) -> None:
    """Write what the visited nodes are worth, and add to the regrets of the seat."""
    for place in range(visited - 1, -1, -1):
        node = walk.order[place]
        first, kind = nodes.first[node], nodes.kind[node]
        if kind == LEAF:
            walk.value[node] = nodes.payoff[node, seat]
        elif kind != seat:
            walk.value[node] = walk.value[walk.chosen[node]]
        else:
            hand, step = walk.hands[seat], nodes.numbers[seat]
            bits, value = nodes.legal[nodes.first_legal[node] + hand], 0.0
            for edge in range(nodes.first[node + 1] - first):
                if (bits >> edge) & 1:
                    share = walk.policy[nodes.block[node] + edge * step + hand]
                    value += share * walk.value[nodes.child[first + edge]]
            for edge in range(nodes.first[node + 1] - first):
                if (bits >> edge) & 1:
                    gain = walk.value[nodes.child[first + edge]] - value
                    walk.sums[0, nodes.block[node] + edge * step + hand] += gain
            walk.value[node] = value


@entry_point("MCCFR")
def sample(nodes: Nodes, walk: Walk, made: Array, seed: int, walks: int) -> None:
    """Walk so many times for each seat; `made`, int64 (1,), counts decisions with a choice."""
    np.random.seed(seed)
    for number in range(2 * walks):
        deal = draw(walk.deals, 0, 1, len(walk.deals))
        walk.hands[0], walk.hands[1] = deal // nodes.numbers[1], deal % nodes.numbers[1]
        visited = descend(nodes, walk, number % 2, made)
        ascend(nodes, walk, number % 2, visited)


class Sampler:
    """External-sampling MCCFR on a tree of two seats.

    Args:
        tree: of a beginning.
        seed: of all draws.
    """

    def __init__(self, tree: Tree, seed: int) -> None:
        self._nodes, self._made = nodes_of(tree), np.zeros(1, np.int64)
        self._rng = np.random.default_rng(seed)
        deals = tree.joint[0].ravel()
        chances = tree.joint[1:].reshape(-1, len(deals)) / np.maximum(deals, 1e-300)
        number, size = len(tree.kind), int(tree.block[-1])
        self._walk = Walk(
            policy=np.zeros(size),
            sums=np.zeros((2, size)),
            deals=deals,
            chances=chances.ravel(),
            order=np.zeros(number, np.int64),
            chosen=np.zeros(number, np.int64),
            value=np.zeros(number),
            hands=np.zeros(2, np.int64),
        )

    @property
    def decisions(self) -> int:
        """How many decisions with a choice have been visited."""
        return int(self._made[0])

    def run(self, walks: int) -> None:
        """So many walks more for each seat."""
        seed = int(self._rng.integers(2**31))
        sample(self._nodes, self._walk, self._made, seed, walks)

    def policy(self) -> Policy:
        """The average policy of all walks."""
        policy: Policy = np.zeros_like(self._walk.policy)
        average(self._nodes, self._walk.sums, policy)
        return policy
