"""Exact evaluation of policies: values, best responses, NashConv and losses by decision.

A policy is an array with the probability of every edge of a tree for every hand of the seat to act,
in the order of :attr:`skyenv.solving.tree.TaskTree.block`.

The public tree is traversed with vectors over hands: Johanson, Waugh, Bowling, Zinkevich,
*Accelerating Best Response Calculation in Large Extensive Games* (2011).
"""

from typing import Final, NamedTuple

import numpy as np

from skyenv.array_types import Float64
from skyenv.errors import OptionError
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import CARD_VALUES
from skyenv.rules.record import Array
from skyenv.solving.tree import ALEA_SETS, CHANCE, LEAF, MAX_SEATS, Opening, TaskTree

Policy = Float64

# Largest difference from 1 of a decision's probabilities, all together.
TOLERANCE: Final = 1e-6

# ---- walking ----


@entry_point("best responses")
def spread(tree: TaskTree, policy: Array, reach: Array) -> None:
    """Write the reach probability of every node by the seats' own choices, for each of their hands:
    `reach`, float64 (n, N, h).
    """
    for seat in range(reach.shape[1]):
        for hand in range(reach.shape[2]):
            reach[0, seat, hand] = 1.0
    for node in range(len(tree.kind)):
        kind, first = tree.kind[node], tree.first[node]
        for edge in range(tree.first[node + 1] - first):
            child = tree.child[first + edge]
            for seat in range(reach.shape[1]):
                hands = tree.numbers[seat]
                block = tree.block[node] + edge * hands
                for hand in range(hands):
                    reach[child, seat, hand] = reach[node, seat, hand]
                    if seat == kind:
                        reach[child, seat, hand] *= policy[block + hand]


@rule
def pay_leaf(tree: TaskTree, reach: Array, values: Array, node: int, seat: int) -> None:
    """Write a leaf's value for each hand of a seat, weighted by the probability of the deal and of
    the others' choices.
    """
    first = 1 if seat == 0 else 0
    second = MAX_SEATS - seat - first
    row, payoff = tree.cards[node] + 1, tree.payoff[node, seat]
    for hand in range(tree.numbers[seat]):
        values[node, hand] = 0.0
    for theirs in range(tree.numbers[first]):
        reached = reach[node, first, theirs] * payoff
        if reached == 0.0:
            continue
        for last in range(tree.numbers[second]):
            weight = reached
            if second < reach.shape[1]:
                weight *= reach[node, second, last]
            for hand in range(tree.numbers[seat]):
                values[node, hand] += weight * tree.joint[seat, row, hand, theirs, last]


@rule
def sum_children(tree: TaskTree, values: Array, node: int, hands: int) -> None:
    """Write the value of a node where another seat or chance acts: the sum over its edges, as the
    leaves' weights include their probabilities.
    """
    first, end = tree.first[node], tree.first[node + 1]
    for hand in range(hands):
        total = 0.0
        for edge in range(first, end):
            total += values[tree.child[edge], hand]
        values[node, hand] = total


@rule
def best_edge(tree: TaskTree, values: Array, node: int, hand: int) -> int:
    """Return the best legal edge of a node for a hand of its seat, the first of several; −1 if none
    is legal.
    """
    first, bits, best = tree.first[node], tree.legal[tree.first_legal[node] + hand], -1
    for edge in range(tree.first[node + 1] - first):
        if (bits >> edge) & 1 and (
            best < 0
            or values[tree.child[first + edge], hand] > values[tree.child[first + best], hand]
        ):
            best = edge
    return best


@rule
def best_of(tree: TaskTree, values: Array, node: int) -> None:
    """Write a node's value for each hand of its seat under the best legal edge."""
    for hand in range(tree.numbers[tree.kind[node]]):
        edge = best_edge(tree, values, node, hand)
        values[node, hand] = 0.0 if edge < 0 else values[tree.child[tree.first[node] + edge], hand]


@rule
def expected(tree: TaskTree, policy: Array, values: Array, node: int, hand: int) -> float:
    """Return a node's value for a hand of its seat under a policy."""
    first, hands, value = tree.first[node], tree.numbers[tree.kind[node]], 0.0
    for edge in range(tree.first[node + 1] - first):
        share = policy[tree.block[node] + edge * hands + hand]
        value += share * values[tree.child[first + edge], hand]
    return value


@entry_point("best responses")
def seat_value(
    tree: TaskTree, policy: Array, reach: Array, values: Array, seat: int, best: bool
) -> float:
    """Return a seat's value against a policy, by its best response (`best`) or by the policy
    itself; `values`, float64 (n, h), receives every node's value.
    """
    spread(tree, policy, reach)
    for node in range(len(tree.kind) - 1, -1, -1):
        if tree.kind[node] == LEAF:
            pay_leaf(tree, reach, values, node, seat)
        elif tree.kind[node] != seat:
            sum_children(tree, values, node, tree.numbers[seat])
        elif best:
            best_of(tree, values, node)
        else:
            for hand in range(tree.numbers[seat]):
                values[node, hand] = expected(tree, policy, values, node, hand)
    total = 0.0
    for hand in range(tree.numbers[seat]):
        total += values[0, hand]
    return total


@entry_point("best responses")
def respond(tree: TaskTree, values: Array, seat: int, policy: Array) -> None:
    """Write a seat's best response into a policy, after :func:`seat_value` with `best`."""
    for node in range(len(tree.kind)):
        if tree.kind[node] == seat:
            for hand in range(tree.numbers[seat]):
                best = best_edge(tree, values, node, hand)
                for edge in range(tree.first[node + 1] - tree.first[node]):
                    place = tree.block[node] + edge * tree.numbers[seat] + hand
                    policy[place] = 1.0 if edge == best else 0.0


@entry_point("policies of agents")
def find_fault(tree: TaskTree, policy: Array, reach: Array) -> int:
    """Return the first node where a policy isn't one; −1 if there is none.

    Probabilities are at least 0, and 0 for illegal edges; where the seat's own choices lead to
    the decision they sum to 1.
    """
    spread(tree, policy, reach)
    for node in range(len(tree.kind)):
        seat = tree.kind[node]
        if seat >= CHANCE:
            continue
        for hand in range(tree.numbers[seat]):
            bits, total = tree.legal[tree.first_legal[node] + hand], 0.0
            for edge in range(tree.first[node + 1] - tree.first[node]):
                share = policy[tree.block[node] + edge * tree.numbers[seat] + hand]
                if not 0.0 <= share <= ((bits >> edge) & 1) * (1.0 + TOLERANCE):
                    return node
                total += share
            if bits != 0 and reach[node, seat, hand] > 0.0 and abs(total - 1.0) > TOLERANCE:
                return node
    return -1


# ---- evaluating ----


class Evaluator:
    """An exact evaluator of policies on a tree.

    Its methods raise OptionError for arrays that aren't policies. Decisions that a seat's own
    choices don't reach may have no probabilities.

    Args:
        tree: the tree of an opening.

    Attributes:
        tree: as given.
        reach, worth: float64 (n, N, h) and (n, h), scratch memory of traversals.
        payoff_range: the largest payoff of a seat less its smallest.
    """

    def __init__(self, tree: TaskTree) -> None:
        self.tree, most = tree, int(tree.numbers.max())
        self.worth = np.zeros((len(tree.kind), most))
        self.reach = np.zeros((*tree.payoff.shape, most))
        self.payoff_range = float(np.ptp(tree.payoff[tree.kind == LEAF], axis=0).max())

    def best_responses(self, policy: Policy) -> tuple[float, ...]:
        """Return each seat's best-response value in VP against the others' part of a policy."""
        return self._values_of(policy, True)

    def best_response(self, policy: Policy, seat: int) -> Policy:
        """Return a policy in which a seat plays its best response, and the others as before."""
        self._check(policy)
        seat_value(self.tree, policy, self.reach, self.worth, seat, True)
        response = policy.copy()
        respond(self.tree, self.worth, seat, response)
        return response

    def values(self, policy: Policy) -> tuple[float, ...]:
        """Return each seat's value in VP if all follow a policy."""
        return self._values_of(policy, False)

    def value_against(self, own: Policy, others: Policy, seat: int) -> float:
        """Return a seat's value in VP if it follows one policy and the others another."""
        acting = np.repeat(self.tree.kind, np.diff(self.tree.block))
        return self.values(np.where(acting == seat, own, others))[seat]

    def gain(self, response: Policy, target: Policy) -> float:
        """Return what a response wins beyond the target among copies of the target, in VP, summed
        over the seats: a lower bound of the target's NashConv.
        """
        values = enumerate(self.values(target))
        return sum(self.value_against(response, target, seat) - value for seat, value in values)

    def nash_conv(self, policy: Policy) -> float:
        """Return the sum of the seats' gains by best responses in VP; 0 in equilibrium."""
        return sum(self.best_responses(policy)) - sum(self.values(policy))

    def losses(self, policy: Policy, seat: int) -> Float64:
        """Return a seat's losses against its best response in VP, float64 (n, h), for every node
        and hand, weighted by reach probability. Their sum is the best response's gain.
        """
        self._check(policy)
        seat_value(self.tree, policy, self.reach, self.worth, seat, True)
        (node, hand, edge), losses = self.tree.places, self.worth.copy()
        np.subtract.at(losses, (node, hand), policy * self.worth[self.tree.child[edge], hand])
        hands = np.arange(losses.shape[1]) < self.tree.numbers[seat]
        own = (self.tree.kind == seat)[:, None] & hands
        return np.where(own, losses * self.reach[:, seat], 0.0)

    def _check(self, policy: Policy) -> None:
        """Raise OptionError if an array isn't a policy."""
        if policy.shape != (self.tree.block[-1],):
            raise OptionError(
                f"a policy of this tree has shape ({self.tree.block[-1]},), not {policy.shape}"
            )
        if (node := find_fault(self.tree, policy, self.reach)) >= 0:
            raise OptionError(
                f"not a policy: at node {node} its numbers aren't probabilities of legal actions "
                "that sum to 1"
            )

    def _values_of(self, policy: Policy, best: bool) -> tuple[float, ...]:
        self._check(policy)
        seats = range(self.reach.shape[1])
        return tuple(
            float(seat_value(self.tree, policy, self.reach, self.worth, seat, best))
            for seat in seats
        )


# ---- where most is lost ----


class Loss(NamedTuple):
    """A suboptimal decision.

    Attributes:
        seat: the deciding seat.
        after: the events since the opening, in words.
        black: values of the black cards dealt to the seat.
        played, share: the most frequent suboptimal action and its probability.
        better: the best action.
        vp: the loss weighted by reach probability. A seat's losses sum to the gain of its best
            response.
    """

    seat: int
    after: list[str]
    black: list[int]
    played: str
    share: float
    better: str
    vp: float

    def text(self) -> str:
        """Return the loss as a line of text."""
        events = [event for event in self.after if not event.endswith(" bid done")]
        after = f" after {', '.join(events)}" if events else ""
        black = " ".join(map(str, self.black)) or "no"
        return (
            f"seat {self.seat} with black {black}{after}: plays {self.played} ({self.share:.0%}), "
            f"{self.better} is better; costs {self.vp:.3f} VP"
        )


def largest_losses(
    opening: Opening, evaluator: Evaluator, policy: Policy, number: int
) -> list[Loss]:
    """Return the largest losses of a policy over all seats, the largest first."""
    found = []
    for seat in range(len(opening.hands)):
        losses = evaluator.losses(policy, seat)
        for place in np.argsort(-losses, axis=None)[:number].tolist():
            node, hand = divmod(place, losses.shape[1])
            if losses[node, hand] > 0:
                vp = float(losses[node, hand])
                found.append(_loss(opening, evaluator, policy, node, hand, vp))
    return sorted(found, key=lambda loss: -loss.vp)[:number]


def _loss(
    opening: Opening, evaluator: Evaluator, policy: Policy, node: int, hand: int, vp: float
) -> Loss:
    tree = opening.tree
    seat = int(tree.kind[node])
    first, end = tree.first[node : node + 2].tolist()
    bits = int(tree.legal[tree.first_legal[node] + hand])
    shares = policy[tree.block[node] : tree.block[node + 1]].reshape(end - first, -1)[:, hand]
    worth = evaluator.worth[tree.child[first:end], hand].copy()
    worth[[not bits >> edge & 1 for edge in range(end - first)]] = -np.inf
    names = [ACTION_NAMES[action] for action in tree.action[first:end]]
    best = int(worth.argmax())
    shares = np.where(np.arange(end - first) == best, 0.0, shares)
    return Loss(
        seat=seat,
        after=path_to(tree, node),
        black=np.repeat(CARD_VALUES, opening.hands[seat][hand]).tolist(),
        played=names[int(shares.argmax())],
        share=float(shares.max()),
        better=names[best],
        vp=vp,
    )


def path_to(tree: TaskTree, node: int) -> list[str]:
    """Return the actions that lead to a node, in words, with Alea's cards."""
    words: list[str] = []
    while node > 0:
        edge = int(np.flatnonzero(tree.child == node)[0])
        node = int(np.searchsorted(tree.first, edge, side="right")) - 1
        seat, action = tree.kind[node], tree.action[edge]
        if seat == CHANCE:
            cards = np.repeat(CARD_VALUES, [*ALEA_SETS][action])
            words.insert(0, f"Alea turns up {' '.join(map(str, cards))}")
        else:
            words.insert(0, f"seat {seat} {ACTION_NAMES[action]}")
    return words
