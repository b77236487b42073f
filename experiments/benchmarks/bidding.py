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
from skyenv.rules.components import CARD_VALUES, NUM_RANKS
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
SHARES: Final = ("gives up", "goes on", "jump")
NEVER: Final = -1e9  # VP of what isn't legal


def bidding(scale: Scale) -> Iterator[Figure]:
    """Agents in both seats of bidding tasks: exact means over 32 held-out openings. "NashConv":
    what best responses win against them, in VP. It is the sum of what single actions lose beside
    the best ones: "passes", where a bid is best; "bids", where passing is; "low": a card of a lower
    value, or none where another one is best; "high": the reverse; "other": a black card for a
    coloured one or the reverse, or another building. "Gives up": the share of passes where a bid is
    best; "goes on": of bids where passing is. "Price": points that the winner pays. "Jump": the
    share of raises by more than 6 points. An equilibrium has a NashConv of at most 0.1 % of the
    payoffs' range.
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
            times, unit = (100.0, "%") if column in SHARES else (1.0, "")
            values = [times * row[column] for row in rows]
            yield mean(f"{name}, {task}: {column}", unit, values, 1 if unit else 2)


def play(opening: Opening, policy: Policy) -> dict[str, float]:
    """Return what a policy of both seats does and loses, by the columns of the table."""
    evaluator = Evaluator(opening.tree)
    halves = [habits(opening, evaluator, policy, seat) for seat in range(2)]
    sums = {name: sum(half[name] for half in halves) for name in halves[0]}
    lost = {name: sums[name] for name in MISTAKES}
    shares = {"gives up": "should bid", "goes on": "should pass", "price": "won", "jump": "raises"}
    rates = {name: sums[name] / max(sums[of], 1e-12) for name, of in shares.items()}
    return {"NashConv": evaluator.nash_conv(policy), **lost, **rates}


def habits(opening: Opening, evaluator: Evaluator, policy: Policy, seat: int) -> dict[str, float]:
    """Return what a seat loses, and how often it does things, and could, in a play of the task.

    Arrays have an edge a row and a hand a column: `lost` in VP, `there` and `taken` the chances
    that the seat decides there, and that it takes the edge.
    """
    tree = opening.tree
    hands = np.arange(len(opening.hands[seat]))
    deciding = tree.kind == seat
    (states, _), sizes = opening.states_of(deciding), np.diff(tree.first)[deciding]
    starts = np.cumsum(sizes) - sizes
    of_node = (np.flatnonzero(deciding), states["bid_total"][:, seat], states["highest"], starts)
    node, total, highest, start = (np.repeat(one, sizes)[:, None] for one in of_node)
    number = np.arange(len(node))[:, None] - start
    child = tree.child[tree.first[node] + number]
    level = levels(tree.action[tree.first[node] + number])
    legal = tree.legal[tree.first_legal[node] + hands] >> number & 1
    evaluator.losses(policy, seat)
    own = evaluator.reach[node, seat, hands]
    worth = np.where(legal, evaluator.worth[child, hands], NEVER)
    of_level = np.where(level == np.arange(BUILDS + 1)[:, None, None], worth, NEVER)
    tops = np.maximum.reduceat(of_level, starts, axis=1).repeat(sizes, axis=1)
    chances = Evaluator(tree._replace(payoff=np.ones_like(tree.payoff)))
    chances.losses(policy, seat)  # a node is then worth how probable the others make it
    share = policy[tree.block[node] + number * len(hands) + hands]
    there = own * chances.worth[node, hands] * legal
    lost = own * share * (tops.max(axis=0) - worth)
    taken = there * share
    best = tops.argmax(axis=0)
    passes = level == PASSES
    raises = (level == ENDS) & (highest > 0)
    should_pass = best == PASSES
    builds = level == BUILDS
    parts = {
        "passes": (lost, passes),
        "bids": (lost, ~passes & should_pass),
        "low": (lost, ~passes & (level < best)),
        "high": (lost, ~should_pass & (level > best)),
        "other": (lost, ~passes & (level == best)),
        "gives up": (taken, passes & ~should_pass),
        "should bid": (there, passes & ~should_pass),
        "goes on": (taken, ~passes & should_pass),
        "should pass": (there, passes & should_pass),
        "jump": (taken, raises & (total - highest > max(CARD_VALUES))),
        "raises": (taken, raises),
        "won": (taken, builds),
        "price": (taken, builds * total),
    }
    return {name: float((values * where).sum()) for name, (values, where) in parts.items()}


def levels(actions: Int16) -> Int64:
    """Return the level of each action."""
    named = [actions == PASS, actions == BID_DONE, actions >= BUILD]
    return np.select(named, [PASSES, ENDS, BUILDS], CARDS + (actions - BID) % NUM_RANKS)
