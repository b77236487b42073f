"""Policies for a task's beginning, judged exactly: what they bring, and what best responses win.

A policy has a number for every edge of a tree and every hand of the seat to act, in the order of
:attr:`skyenv.tasks.tree.Tree.block`: the probability with which that hand takes that edge.

Source: Johanson, Waugh, Bowling, Zinkevich, *Accelerating Best Response Calculation in Large
Extensive Games* (2011), for walking a public tree with vectors of hands.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.state import Array
from skyenv.tasks.tree import CHANCE, LEAF, Tree

Policy = npt.NDArray[np.float64]

MOST_SEATS: Final = 3


class Nodes(NamedTuple):
    """A tree as compiled code walks it; see :class:`skyenv.tasks.tree.Tree`.

    Attributes:
        joint: float64 (N, 1 + sets, own, first other, second other), the probabilities of deals
            from the view of each seat; with two seats there is one second other.
        numbers: int64 (3,), the hands of each seat; 1 of a third that isn't there.
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
    """A tree for compiled code."""
    seats = len(tree.hands)
    numbers = np.ones(MOST_SEATS, np.int64)
    numbers[:seats] = [len(own) for own in tree.hands]
    deals = tree.joint.reshape(len(tree.joint), *numbers)
    most = int(numbers.max())
    joint = np.zeros((seats, len(deals), most, most, most if seats == MOST_SEATS else 1))
    for seat in range(seats):
        others = [1 + other for other in range(MOST_SEATS) if other != seat]
        seen = deals.transpose(0, 1 + seat, *others)
        joint[seat][tuple(slice(length) for length in seen.shape)] = seen
    arrays = {name: getattr(tree, name) for name in Nodes._fields if hasattr(tree, name)}
    return Nodes(**{**arrays, "joint": joint, "numbers": numbers})


# ---- walking ----


@rule
def pass_on(nodes: Nodes, policy: Array, reach: Array, node: int) -> None:
    """Write with which probability the seats' own choices lead to a node's children, for each of
    their hands.
    """
    kind, first = nodes.kind[node], nodes.first[node]
    for edge in range(nodes.first[node + 1] - first):
        child = nodes.child[first + edge]
        for seat in range(reach.shape[1]):
            hands = nodes.numbers[seat]
            block = nodes.block[node] + edge * hands
            for hand in range(hands):
                reach[child, seat, hand] = reach[node, seat, hand]
                if seat == kind:
                    reach[child, seat, hand] *= policy[block + hand]


@rule
def spread(nodes: Nodes, policy: Array, reach: Array) -> None:
    """Write with which probability the seats' own choices lead to every node: `reach`, float64 (n,
    N, h).
    """
    for seat in range(reach.shape[1]):
        for hand in range(reach.shape[2]):
            reach[0, seat, hand] = 1.0
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
    deal and the others' choices lead there.
    """
    first = 1 if seat == 0 else 0
    second = MOST_SEATS - seat - first
    row, payoff = nodes.cards[node] + 1, nodes.payoff[node, seat]
    for hand in range(nodes.numbers[seat]):
        values[node, hand] = 0.0
    for theirs in range(nodes.numbers[first]):
        reached = reach[node, first, theirs] * payoff
        if reached == 0.0:
            continue
        for last in range(nodes.numbers[second]):
            weight = reached
            if second < reach.shape[1]:
                weight *= reach[node, second, last]
            for hand in range(nodes.numbers[seat]):
                values[node, hand] += weight * nodes.joint[seat, row, hand, theirs, last]


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
def expected(nodes: Nodes, policy: Array, values: Array, node: int, hand: int) -> float:
    """What a node is worth to a hand of its seat that follows a policy."""
    first, hands, value = nodes.first[node], nodes.numbers[nodes.kind[node]], 0.0
    for edge in range(nodes.first[node + 1] - first):
        share = policy[nodes.block[node] + edge * hands + hand]
        value += share * values[nodes.child[first + edge], hand]
    return value


@entry_point("best responses")
def evaluate(
    nodes: Nodes, policy: Array, reach: Array, values: Array, seat: int, best: bool
) -> float:
    """What a seat gets that answers a policy in the `best` way, or follows it; every node's part
    stays in `values`, float64 (n, h).
    """
    spread(nodes, policy, reach)
    for node in range(len(nodes.kind) - 1, -1, -1):
        if nodes.kind[node] == LEAF:
            pay_leaf(nodes, reach, values, node, seat)
        elif nodes.kind[node] != seat:
            sum_children(nodes, values, node, nodes.numbers[seat])
        elif best:
            best_of(nodes, values, node)
        else:
            for hand in range(nodes.numbers[seat]):
                values[node, hand] = expected(nodes, policy, values, node, hand)
    total = 0.0
    for hand in range(nodes.numbers[seat]):
        total += values[0, hand]
    return total


@entry_point("best responses")
def find_losses(
    nodes: Nodes, policy: Array, reach: Array, values: Array, seat: int, losses: Array
) -> None:
    """Write what a seat loses in each node with each hand by not playing best there, after
    :func:`evaluate` of its best response: `losses`, float64 (n, h).
    """
    for node in range(len(nodes.kind)):
        if nodes.kind[node] == seat:
            for hand in range(nodes.numbers[seat]):
                less = values[node, hand] - expected(nodes, policy, values, node, hand)
                losses[node, hand] = reach[node, seat, hand] * less


# ---- judging ----


class Judge:
    """Judges policies for a tree.

    Args:
        tree: of a beginning.

    Attributes:
        nodes: the tree for compiled code.
        reach, worth: float64 (n, N, h) and (n, h), scratch memory of walks.
        payoff_range: the largest payoff of a seat less its smallest.
    """

    def __init__(self, tree: Tree) -> None:
        self.nodes = nodes_of(tree)
        most = int(self.nodes.numbers.max())
        self.worth = np.zeros((len(tree.kind), most))
        self.reach = np.zeros((len(tree.kind), len(tree.hands), most))
        self.payoff_range = float(np.ptp(tree.payoff[tree.kind == LEAF], axis=0).max())

    def best_responses(self, policy: Policy) -> tuple[float, ...]:
        """What each seat gets, in VP, with the best response to the others' part of a policy."""
        return self._values_of(policy, True)

    def values(self, policy: Policy) -> tuple[float, ...]:
        """What each seat gets, in VP, where all follow a policy."""
        return self._values_of(policy, False)

    def nash_conv(self, policy: Policy) -> float:
        """What the seats could gain, together, by best responses, in VP; 0 in equilibrium."""
        return sum(self.best_responses(policy)) - sum(self.values(policy))

    def losses(self, policy: Policy, seat: int) -> npt.NDArray[np.float64]:
        """Where a seat loses what its best response would gain, float64 (n, h): in VP, for every
        node and hand, weighted by how often it gets there. Their sum is what it would gain.
        """
        self._evaluate(policy, seat, True)
        losses = np.zeros_like(self.worth)
        find_losses(self.nodes, policy, self.reach, self.worth, seat, losses)
        return losses

    def _values_of(self, policy: Policy, best: bool) -> tuple[float, ...]:
        seats = range(self.reach.shape[1])
        return tuple(self._evaluate(policy, seat, best) for seat in seats)

    def _evaluate(self, policy: Policy, seat: int, best: bool) -> float:
        value = evaluate(self.nodes, policy, self.reach, self.worth, seat, best)
        return float(value)
