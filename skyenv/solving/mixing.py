"""How much a policy mixes its actions, and how many decisions a tree has."""

from typing import Final, NamedTuple

import numpy as np

from skyenv.array_types import Float64
from skyenv.solving.best_response import Evaluator, Policy, seat_value
from skyenv.solving.tree import TaskTree

MIXED: Final = 0.99
"""A decision is mixed if no action has this probability."""


def purified(tree: TaskTree, policy: Policy) -> Policy:
    """Return the policy that always takes a policy's most probable action, the first of several.

    Its NashConv is the *purified gap*: what purifying this policy loses. Another pure policy may
    lose less.
    """
    node, hand, _ = tree.places
    chosen = np.flatnonzero((policy == most_of(tree, policy)[node, hand]) & (policy > 0))
    decisions = np.stack([node, hand])[:, chosen]
    first = np.unique(decisions, axis=1, return_index=True)[1]
    pure = np.zeros_like(policy)
    pure[chosen[first]] = 1.0
    return pure


def most_of(tree: TaskTree, policy: Policy) -> Float64:
    """Return the largest probability of each decision, by node and hand, float64 (n, h)."""
    most = np.zeros((len(tree.kind), tree.numbers.max()))
    np.maximum.at(most, tree.places[:2], policy)
    return most


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
    evaluator = Evaluator(tree._replace(payoff=np.ones_like(tree.payoff)))
    weight = np.zeros_like(evaluator.worth)
    nodes = np.repeat(np.arange(len(tree.kind)), np.diff(tree.first_legal))
    held, several = np.arange(len(nodes)) - tree.first_legal[nodes], tree.legal & (tree.legal - 1)
    for seat in range(tree.payoff.shape[1]):
        # With payoffs of 1 a node is worth the probability that chance and the others reach it.
        seat_value(evaluator.tree, policy, evaluator.reach, evaluator.worth, seat, True)
        own = (several != 0) & (tree.kind[nodes] == seat)
        node, hand = nodes[own], held[own]
        weight[node, hand] = evaluator.reach[node, seat, hand] * evaluator.worth[node, hand]
    total = weight.sum()
    if total == 0:
        return Mixing(0.0, 0.0)
    nats = weight[tree.places[:2]] @ (policy * np.log(np.maximum(policy, np.finfo(float).tiny)))
    return Mixing(float(weight[most_of(tree, policy) < MIXED].sum() / total), float(-nats / total))


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
