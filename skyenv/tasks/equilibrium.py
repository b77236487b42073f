"""Equilibria of tasks with two seats, by CFR+, and the value of best responses to any policy.

A policy has a number for every edge of a tree and every hand of the seat to act, in the order of
:attr:`skyenv.tasks.tree.Tree.block`: the probability with which that hand takes that edge.

Sources: Tammelin, Burch, Johanson, Bowling, *Solving Heads-up Limit Texas Hold'em* (2015), for
CFR+; Johanson, Waugh, Bowling, Zinkevich, *Accelerating Best Response Calculation in Large
Extensive Games* (2011), for walking a public tree with vectors of hands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.errors import OptionError
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.state import Array
from skyenv.tasks.tree import CHANCE, LEAF, Tree

Policy = npt.NDArray[np.float64]


class Nodes(NamedTuple):
    """A tree as compiled code walks it; see :class:`skyenv.tasks.tree.Tree`.

    Attributes:
        joint: float64 (2, 1 + sets, own, other), the probabilities of deals from the view of either
            seat.
        numbers: int64 (2,), the hands of each seat.
    """

    kind: Any
    first: Any
    child: Any
    payoff: Any
    cards: Any
    joint: Any
    legal: Any
    first_legal: Any
    block: Any
    numbers: Any


def nodes_of(tree: Tree) -> Nodes:
    """A tree of two seats for compiled code.

    Raises:
        OptionError: it has more seats.
    """
    if len(tree.hands) != 2:
        raise OptionError(f"equilibria are of two seats, not of {len(tree.hands)}")
    most = max(len(own) for own in tree.hands)
    joint = np.zeros((2, len(tree.joint), most, most))
    first, second = (len(own) for own in tree.hands)
    joint[0, :, :first, :second] = tree.joint
    joint[1, :, :second, :first] = tree.joint.transpose(0, 2, 1)
    numbers = np.array([first, second])
    arrays = {name: getattr(tree, name) for name in Nodes._fields if hasattr(tree, name)}
    return Nodes(**{**arrays, "joint": joint, "numbers": numbers})


@rule
def match_regrets(nodes: Nodes, regrets: Array, policy: Array, node: int) -> None:
    """Write the policy of a node in proportion to its regrets, which are 0 or more; all legal edges
    alike where there are none.
    """
    edges = nodes.first[node + 1] - nodes.first[node]
    hands = nodes.numbers[nodes.kind[node]]
    block, entry = nodes.block[node], nodes.first_legal[node]
    for hand in range(hands):
        bits, total, legal = nodes.legal[entry + hand], 0.0, 0
        for edge in range(edges):
            total += regrets[block + edge * hands + hand]
            legal += (bits >> edge) & 1
        for edge in range(edges):
            place = block + edge * hands + hand
            if total > 0.0:
                policy[place] = regrets[place] / total
            else:
                policy[place] = ((bits >> edge) & 1) / max(legal, 1)


@rule
def pass_on(nodes: Nodes, policy: Array, reach: Array, node: int) -> None:
    """Write with which probability the seats' own choices lead to a node's children, for each of
    their hands.
    """
    kind, first = nodes.kind[node], nodes.first[node]
    for edge in range(nodes.first[node + 1] - first):
        child = nodes.child[first + edge]
        for seat in range(2):
            hands = nodes.numbers[seat]
            block = nodes.block[node] + edge * hands
            for hand in range(hands):
                reach[child, seat, hand] = reach[node, seat, hand]
                if seat == kind:
                    reach[child, seat, hand] *= policy[block + hand]


@rule
def spread(nodes: Nodes, policy: Array, reach: Array) -> None:
    """Write with which probability the seats' own choices lead to every node: `reach`, float64 (n,
    2, h).
    """
    for hand in range(reach.shape[2]):
        reach[0, 0, hand] = reach[0, 1, hand] = 1.0
    for node in range(len(nodes.kind)):
        pass_on(nodes, policy, reach, node)


@entry_point("policies of agents")
def spread_level(nodes: Nodes, policy: Array, reach: Array, level: Array) -> None:
    """As :func:`spread`, for nodes of one depth, int64 (k,). A hand with one legal edge takes
    it.
    """
    for node in level:
        kind = nodes.kind[node]
        if kind < CHANCE:
            hands, entry = nodes.numbers[kind], nodes.first_legal[node]
            for hand in range(hands):
                bits = nodes.legal[entry + hand]
                for edge in range(nodes.first[node + 1] - nodes.first[node]):
                    if bits == 1 << edge:
                        policy[nodes.block[node] + edge * hands + hand] = 1.0
        pass_on(nodes, policy, reach, node)


@rule
def pay_leaf(nodes: Nodes, reach: Array, values: Array, node: int, seat: int) -> None:
    """Write what a leaf is worth to each hand of a seat, weighted by how probable it is that the
    deal and the other's choices lead there.
    """
    other, payoff = 1 - seat, nodes.payoff[node, seat]
    row = nodes.cards[node] + 1
    for hand in range(nodes.numbers[seat]):
        total = 0.0
        for theirs in range(nodes.numbers[other]):
            total += nodes.joint[seat, row, hand, theirs] * reach[node, other, theirs]
        values[node, hand] = total * payoff


@rule
def best_of(nodes: Nodes, values: Array, node: int) -> None:
    """Write what a node is worth to each hand of its seat that takes the best legal edge."""
    first, entry = nodes.first[node], nodes.first_legal[node]
    for hand in range(nodes.numbers[nodes.kind[node]]):
        bits, best, found = nodes.legal[entry + hand], 0.0, False
        for edge in range(nodes.first[node + 1] - first):
            value = values[nodes.child[first + edge], hand]
            if (bits >> edge) & 1 and (value > best or not found):
                best, found = value, True
        values[node, hand] = best


@rule
def learn(
    nodes: Nodes, reach: Array, values: Array, policy: Array, sums: Array, node: int, weight: float
) -> None:
    """CFR+ in a node: what it is worth by the policy; regrets grow by what each edge is worth more,
    and stay at 0 or more; the policy joins the average, `sums` being (regrets, weighted policies).
    """
    first, block, entry = nodes.first[node], nodes.block[node], nodes.first_legal[node]
    seat = nodes.kind[node]
    hands, edges = nodes.numbers[seat], nodes.first[node + 1] - nodes.first[node]
    for hand in range(hands):
        value = 0.0
        for edge in range(edges):
            child = nodes.child[first + edge]
            value += policy[block + edge * hands + hand] * values[child, hand]
        values[node, hand] = value
        for edge in range(edges):
            if (nodes.legal[entry + hand] >> edge) & 1:
                place = block + edge * hands + hand
                gain = values[nodes.child[first + edge], hand] - value
                sums[0, place] = max(sums[0, place] + gain, 0.0)
                sums[1, place] += weight * reach[node, seat, hand] * policy[place]


@rule
def sum_children(nodes: Nodes, values: Array, node: int, hands: int) -> None:
    """Write what a node is worth whose edge the seat doesn't choose: what all of them are worth, as
    their probabilities are in the leaves' weights.
    """
    first, end = nodes.first[node], nodes.first[node + 1]
    for hand in range(hands):
        total = 0.0
        for edge in range(first, end):
            total += values[nodes.child[edge], hand]
        values[node, hand] = total


@entry_point("best responses")
def respond(nodes: Nodes, policy: Array, reach: Array, values: Array, seat: int) -> float:
    """What a seat gets that answers a policy in the best way; every node's part stays in `values`,
    float64 (n, h).
    """
    spread(nodes, policy, reach)
    for node in range(len(nodes.kind) - 1, -1, -1):
        if nodes.kind[node] == LEAF:
            pay_leaf(nodes, reach, values, node, seat)
        elif nodes.kind[node] == seat:
            best_of(nodes, values, node)
        else:
            sum_children(nodes, values, node, nodes.numbers[seat])
    total = 0.0
    for hand in range(nodes.numbers[seat]):
        total += values[0, hand]
    return total


@entry_point("equilibria")
def iterate(
    nodes: Nodes, policy: Array, sums: Array, reach: Array, values: Array, begin: int, end: int
) -> None:
    """Iterations `begin` to `end` − 1 of CFR+, the seats in turns."""
    for number in range(begin, end):
        for seat in range(2):
            for node in range(len(nodes.kind)):
                if nodes.kind[node] < CHANCE:
                    match_regrets(nodes, sums[0], policy, node)
            spread(nodes, policy, reach)
            for node in range(len(nodes.kind) - 1, -1, -1):
                if nodes.kind[node] == LEAF:
                    pay_leaf(nodes, reach, values, node, seat)
                elif nodes.kind[node] == seat:
                    learn(nodes, reach, values, policy, sums, node, float(number + 1))
                else:
                    sum_children(nodes, values, node, nodes.numbers[seat])


@entry_point("equilibria")
def average(nodes: Nodes, sums: Array, policy: Array) -> None:
    """Write the average policy of all iterations."""
    for node in range(len(nodes.kind)):
        if nodes.kind[node] < CHANCE:
            match_regrets(nodes, sums[1], policy, node)


def best_responses(tree: Tree, policy: Policy) -> tuple[float, float]:
    """What seats 0 and 1 get, in VP, with the best response to the other's part of a policy.

    Their sum is the policy's NashConv.

    Raises:
        OptionError: the tree has more than two seats.
    """
    nodes = nodes_of(tree)
    values = np.zeros((len(tree.kind), int(nodes.numbers.max())))
    reach = np.zeros((len(tree.kind), 2, values.shape[1]))
    first, second = (respond(nodes, policy, reach, values, seat) for seat in range(2))
    return first, second


class Solution(NamedTuple):
    """How far a task's beginning is solved.

    Attributes:
        policy: of both seats.
        iterations: of CFR+ so far.
        responses: what seats 0 and 1 get in VP with the best responses to it.
        payoff_range: the largest payoff less the smallest.
    """

    policy: Policy
    iterations: int
    responses: tuple[float, float]
    payoff_range: float

    @property
    def nash_conv(self) -> float:
        """What both seats could gain together by best responses, in VP; 0 in equilibrium."""
        return sum(self.responses)


class Solver:
    """CFR+ on a tree of two seats.

    Args:
        tree: of a beginning.

    Raises:
        OptionError: the tree has more seats.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree, self._nodes = tree, nodes_of(tree)
        most = int(self._nodes.numbers.max())
        self._policy = np.zeros(tree.block[-1])
        self._sums = np.zeros((2, tree.block[-1]))
        self._reach = np.zeros((len(tree.kind), 2, most))
        self._values = np.zeros((len(tree.kind), most))
        self.iterations = 0

    def run(self, iterations: int) -> Solution:
        """So many iterations more, and what they come to."""
        end = self.iterations + iterations
        iterate(
            self._nodes,
            self._policy,
            self._sums,
            self._reach,
            self._values,
            self.iterations,
            end,
        )
        self.iterations = end
        average(self._nodes, self._sums, self._policy)
        leaves = self.tree.payoff[self.tree.kind == LEAF, 0]
        return Solution(
            self._policy.copy(), end, best_responses(self.tree, self._policy), float(np.ptp(leaves))
        )


def solve(tree: Tree, share: float, most: int = 100_000) -> Iterator[Solution]:
    """Solve a tree until NashConv is at most a share of the payoffs' range, or `most` iterations
    are done.

    Yields:
        What has been reached after 16 iterations, 32, 64 and so on.
    """
    solver, iterations = Solver(tree), 16
    while True:
        solution = solver.run(iterations)
        yield solution
        if solution.nash_conv <= share * solution.payoff_range or solution.iterations >= most:
            return
        iterations = min(solution.iterations, most - solution.iterations)
