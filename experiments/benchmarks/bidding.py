"""Agents' errors in auctions, by best responses and equilibria (docs/results/benchmark.md)."""

import itertools
from collections.abc import Iterator
from typing import Final

import numpy as np

from experiments.benchmarks.tasks import ACCURACY, USUAL, answers, mean
from experiments.figures import Figure, Scale
from skyenv.agents import make_agent
from skyenv.array_types import Int16, Int64
from skyenv.engine.openings import measured
from skyenv.rules.actions import BID, BID_DONE, BUILD, PASS
from skyenv.rules.components import NUM_RANKS
from skyenv.solving.best_response import Evaluator, Policy
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.tree import Opening

TASKS: Final = ("bluff-2", "duel-4", "alea-4")
AGENTS: Final = ("greedy", "appraiser", "trained-2026a")

# Levels of actions, the more is bid the higher; those of cards are 2 to 4, by value.
PASSES = 0
ENDS = 1
CARDS = 2
BUILDS = 5
# Kinds of mistakes, which add up to NashConv.
MISTAKES: Final = ("passes", "bids", "low", "high", "other")
NEVER: Final = -1e9  # VP of what isn't legal


def bidding(scale: Scale) -> Iterator[Figure]:
    """Agents in both seats of bidding tasks: exact means over 32 held-out openings. "NashConv":
    what best responses win against them, in VP. It is the sum of what single actions lose beside
    the best ones: "passes", where a bid is best; "bids", where passing is; "low": a card of a lower
    value, or none where another one is best; "high": the reverse; "other": a black card for a
    coloured one or the reverse, or another building. An equilibrium has a NashConv of at most 0.1 %
    of the payoffs' range.
    """
    for task, name in itertools.product(TASKS, (*AGENTS, "equilibrium")):
        rows = []
        for opening in map(Opening, measured(task, scale.of(USUAL))):
            if name in AGENTS:
                policy = answers(make_agent(name), opening)
            else:
                *_, (policy, *_) = solve(Solver(opening.tree), ACCURACY)
            rows.append(play(opening, policy))
        for column in rows[0]:
            yield mean(f"{name}, {task}: {column}", "", [row[column] for row in rows])


def play(opening: Opening, policy: Policy) -> dict[str, float]:
    """Return what a policy of both seats loses, by the columns of the table."""
    evaluator = Evaluator(opening.tree)
    halves = [mistakes(opening, evaluator, policy, seat) for seat in range(2)]
    lost = {name: sum(half[name] for half in halves) for name in MISTAKES}
    return {"NashConv": evaluator.nash_conv(policy), **lost}


def mistakes(opening: Opening, evaluator: Evaluator, policy: Policy, seat: int) -> dict[str, float]:
    """Return what a seat loses in a play of the task, in VP, by kind of mistake.

    Arrays have an edge a row and a hand a column.
    """
    tree = opening.tree
    hands = np.arange(len(opening.hands[seat]))
    deciding = tree.kind == seat
    sizes = np.diff(tree.first)[deciding]
    starts = np.cumsum(sizes) - sizes
    node, start = (np.repeat(one, sizes)[:, None] for one in (np.flatnonzero(deciding), starts))
    number = np.arange(len(node))[:, None] - start
    child = tree.child[tree.first[node] + number]
    level = levels(tree.action[tree.first[node] + number])
    legal = tree.legal[tree.first_legal[node] + hands] >> number & 1
    evaluator.losses(policy, seat)
    own = evaluator.reach[node, seat, hands]
    worth = np.where(legal, evaluator.worth[child, hands], NEVER)
    of_level = np.where(level == np.arange(BUILDS + 1)[:, None, None], worth, NEVER)
    tops = np.maximum.reduceat(of_level, starts, axis=1).repeat(sizes, axis=1)
    share = policy[tree.block[node] + number * len(hands) + hands]
    lost = own * share * (tops.max(axis=0) - worth)
    best = tops.argmax(axis=0)
    passes = level == PASSES
    should_pass = best == PASSES
    kinds = {
        "passes": passes,
        "bids": ~passes & should_pass,
        "low": ~passes & (level < best),
        "high": ~should_pass & (level > best),
        "other": ~passes & (level == best),
    }
    return {name: float((lost * where).sum()) for name, where in kinds.items()}


def levels(actions: Int16) -> Int64:
    """Return the level of each action."""
    named = [actions == PASS, actions == BID_DONE, actions >= BUILD]
    return np.select(named, [PASSES, ENDS, BUILDS], CARDS + (actions - BID) % NUM_RANKS)
