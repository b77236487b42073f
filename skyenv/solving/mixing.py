"""How much a policy mixes its actions, and how many decisions a tree has."""

from typing import Final, NamedTuple

import numpy as np

from skyenv.rules.compiling import entry_point
from skyenv.rules.record import Array
from skyenv.solving.best_response import Evaluator, Policy, seat_value
from skyenv.solving.tree import CHANCE, TaskTree

MIXED: Final = 0.99
"""A decision is mixed if no action has this probability."""


@entry_point("mixed policies")
def purify(tree: TaskTree, policy: Array, pure: Array) -> None:
    """Write a policy that takes every decision's most probable action, the first of several."""
    for node in range(len(tree.kind)):
        if tree.kind[node] >= CHANCE:
            continue
        hands, begin, end = tree.numbers[tree.kind[node]], tree.block[node], tree.block[node + 1]
        for hand in range(hands):
            best, chosen = 0.0, -1
            for place in range(begin + hand, end, hands):
                pure[place] = 0.0
                if policy[place] > best:
                    best, chosen = policy[place], place
            if chosen >= 0:
                pure[chosen] = 1.0


@entry_point("mixed policies")
def count_mixed(
    tree: TaskTree, policy: Array, reach: Array, values: Array, seat: int, totals: Array
) -> None:
    """Add a seat's decisions with a choice to `totals`, float64 (3,), weighted by the probability
    to reach them: all, those that are mixed, and entropies in nats.

    `reach` and `values` are those of :func:`skyenv.solving.best_response.seat_value` for payoffs
    of 1.
    """
    for node in range(len(tree.kind)):
        if tree.kind[node] != seat:
            continue
        hands, begin, end = tree.numbers[seat], tree.block[node], tree.block[node + 1]
        for hand in range(hands):
            bits = tree.legal[tree.first_legal[node] + hand]
            weight = reach[node, seat, hand] * values[node, hand]
            if bits & (bits - 1) == 0 or weight == 0.0:
                continue
            largest = 0.0
            for place in range(begin + hand, end, hands):
                share = policy[place]
                largest = max(largest, share)
                if share > 0.0:
                    totals[2] -= weight * share * np.log(share)
            totals[0] += weight
            if largest < MIXED:
                totals[1] += weight


def purified(tree: TaskTree, policy: Policy) -> Policy:
    """Return the policy that always takes a policy's most probable action, the first of several.

    Its NashConv is the *purified gap*: what play without mixing loses.
    """
    pure = np.zeros_like(policy)
    purify(tree, policy, pure)
    return pure


class Mixing(NamedTuple):
    """How much a policy mixes in the decisions that it reaches, weighted by their probability.

    Decisions are those with several legal actions, of all seats.

    Attributes:
        share: share of decisions in which no action has a probability of MIXED.
        entropy: mean entropy of a decision in nats.
    """

    share: float
    entropy: float


def mixing_of(tree: TaskTree, policy: Policy) -> Mixing:
    """Return how much a policy mixes; (0, 0) if it reaches no decision."""
    evaluator, totals = Evaluator(tree._replace(payoff=np.ones_like(tree.payoff))), np.zeros(3)
    for seat in range(tree.payoff.shape[1]):
        # With payoffs of 1 a node is worth the probability that chance and the others reach it.
        seat_value(evaluator.tree, policy, evaluator.reach, evaluator.worth, seat, True)
        count_mixed(tree, policy, evaluator.reach, evaluator.worth, seat, totals)
    decisions, mixed, entropy = totals.tolist()
    return Mixing(mixed / decisions, entropy / decisions) if decisions else Mixing(0.0, 0.0)


class InformationSets(NamedTuple):
    """Numbers of information sets: public positions, each with every hand that fits them.

    Attributes:
        all: those in which a seat is to act.
        choices: those with several legal actions.
    """

    all: int
    choices: int


def information_sets(tree: TaskTree) -> InformationSets:
    """Return the number of information sets of a tree."""
    several = tree.legal & (tree.legal - 1)
    return InformationSets(int(np.count_nonzero(tree.legal)), int(np.count_nonzero(several)))
