"""What agents do wrong in auctions (docs/tasks.md): their play in bidding tasks, beside the best
response to it and an equilibrium.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from experiments.figures import Figure, Scale
from skyenv.agents import make_agent
from skyenv.arena.estimates import Floats
from skyenv.checks import Int64
from skyenv.rules.actions import BID, BID_DONE, BUILD, PASS
from skyenv.rules.components import CARD_VALUES, NUM_RANKS
from skyenv.tasks.best_response import Judge, Policy
from skyenv.tasks.equilibrium import solve
from skyenv.tasks.responses import policy_of
from skyenv.tasks.tree import CHANCE, Beginning

TASKS: Final = ("duel-4", "alea-4")
AGENTS: Final = {"greedy": 4, "trained": 16, "ismcts-trained": 1}
"""At how many random numbers every decision of theirs is asked."""
SHARE: Final = 0.002
"""Of the payoffs' range: NashConv of what counts as an equilibrium."""

PASSES, ENDS, CARDS, BUILDS = 0, 1, 2, 5
"""Levels of actions, the more is bid the higher; those of cards are 2 to 4, by value."""
SHARES: Final = ("gives up", "goes on", "jump")
NEVER: Final = -1e9
"""VP of what isn't legal."""


def bidding(scale: Scale) -> Iterator[Figure]:
    """Agents in both seats of bidding tasks, from 16 beginnings. "NashConv": what best responses
    win against them, in VP. It is the sum of what single actions lose beside the best ones:
    "passes", where a bid is best; "bids", where passing is; "low": a card of a lower value, or none
    where another one is best; "high": the reverse; "other": a black card for a coloured one or the
    reverse, or another building. "Gives up": the share of passes where a bid is best; "goes on": of
    bids where passing is. "Price": points that the winner pays. "Jump": the share of raises by more
    than 6 points. Means over beginnings and their 95 % intervals. An agent is asked at 4 (greedy),
    16 (trained) or 1 (ismcts-trained) random numbers; an equilibrium has a NashConv of at most
    0.2 % of the payoffs' range.
    """
    for task in TASKS:
        found: dict[str, list[dict[str, float]]] = {}
        for number in range(scale.of(16)):
            beginning = Beginning(f"{task}/{number}")
            for name, samples in AGENTS.items():
                *_, policy = policy_of(make_agent(name), beginning, samples)
                found.setdefault(name, []).append(play(beginning, policy))
            *_, solution = solve(beginning.tree, SHARE)
            found.setdefault("equilibrium", []).append(play(beginning, solution.policy))
        for name, rows in found.items():
            for column in rows[0]:
                yield mean(f"{name}, {task}", column, [row[column] for row in rows])


def mean(row: str, column: str, values: list[float]) -> Figure:
    """Return a mean with its 95 % interval."""
    scale, unit = (100.0, "%") if column in SHARES else (1.0, "")
    middle = scale * float(np.mean(values))
    half = 1.96 * scale * float(np.std(values)) / max(1, len(values) - 1) ** 0.5
    return Figure(f"{row}: {column}", middle, middle - half, middle + half, unit, len(values))


def play(beginning: Beginning, policy: Policy) -> dict[str, float]:
    """Return what a policy of both seats does and loses, by the columns of the table."""
    judge = Judge(beginning.tree)
    deciding = beginning.tree.kind < CHANCE
    states, _ = beginning.positions(deciding)
    place, halves = np.cumsum(deciding) - 1, []
    for seat in range(2):
        chosen = choices(beginning, judge, policy, seat)
        state = states[place[chosen.node]]
        halves.append(habits(chosen, state["bid_total"][:, seat, None], state["highest"][:, None]))
    sums = {name: sum(half[name] for half in halves) for name in halves[0]}
    lost = {name: sums[name] for name in ("passes", "bids", "low", "high", "other")}
    shares = {"gives up": "should bid", "goes on": "should pass", "price": "won", "jump": "raises"}
    told = {name: sums[name] / max(sums[of], 1e-12) for name, of in shares.items()}
    return {"NashConv": judge.nash_conv(policy), **lost, **told}


class Choices(NamedTuple):
    """What a seat chooses, an edge a row and a hand a column.

    Attributes:
        node: int64 (e,), where each edge begins.
        level, best: int64 (e, h), of its action, and of the best one there.
        lost: float64 (e, h), VP. there, taken: float64 (e, h), how probable it is that the seat
            decides there, and that it takes the edge.
    """

    node: Int64
    level: Int64
    best: Int64
    lost: Floats
    there: Floats
    taken: Floats


def choices(beginning: Beginning, judge: Judge, policy: Policy, seat: int) -> Choices:
    """Return what a seat chooses that follows a policy."""
    judge.losses(policy, seat)
    tree, hands = beginning.tree, np.arange(len(beginning.hands[seat]))
    parents = np.repeat(np.arange(len(tree.kind)), np.diff(tree.first))
    edge = np.flatnonzero(tree.kind[parents] == seat)
    node = parents[edge]
    number = (edge - tree.first[node])[:, None]
    share = policy[tree.block[node][:, None] + number * len(hands) + hands]
    legal = tree.legal[tree.first_legal[node][:, None] + hands] >> number & 1
    worth = np.where(legal, judge.worth[tree.child[edge]][:, hands], NEVER)
    action = tree.action[edge].astype(np.int64)
    named = [action == PASS, action == BID_DONE, action >= BUILD]
    level = np.select(named, [PASSES, ENDS, BUILDS], CARDS + (action - BID) % NUM_RANKS)[:, None]
    group = np.unique(node, return_inverse=True)[1]
    starts = np.unique(group, return_index=True)[1]
    of_level = [np.where(level == one, worth, NEVER) for one in range(BUILDS + 1)]
    tops = np.stack([np.maximum.reduceat(values, starts) for values in of_level])
    own = judge.reach[node, seat][:, hands]
    lost = own * share * (tops.max(axis=0)[group] - worth)
    there = own * others_of(beginning, judge, seat)[node] * legal
    best = tops.argmax(axis=0)[group]
    return Choices(node, np.broadcast_to(level, best.shape), best, lost, there, there * share)


def habits(chosen: Choices, total: Int64, top: Int64) -> dict[str, float]:
    """Return what is lost, and how often things are done, and could be, in a play of the task.

    Args:
        total, top: int8 (e, 1), the seat's bid so far, and the highest bid.
    """
    _, level, best, lost, there, taken = chosen
    passes, should_pass, raises = level == PASSES, best == PASSES, (level == ENDS) & (top > 0)
    won = taken * (level == BUILDS)
    sums = {
        "passes": lost[passes],
        "bids": lost[~passes & should_pass],
        "low": lost[~passes & (level < best)],
        "high": lost[~should_pass & (level > best)],
        "other": lost[~passes & (level == best)],
        "gives up": taken[passes & ~should_pass],
        "should bid": there[passes & ~should_pass],
        "goes on": taken[~passes & should_pass],
        "should pass": there[passes & should_pass],
        "jump": taken[raises & (total - top > max(CARD_VALUES))],
        "raises": taken[raises],
        "won": won,
        "price": won * total,
    }
    return {name: float(values.sum()) for name, values in sums.items()}


def others_of(beginning: Beginning, judge: Judge, seat: int) -> Floats:
    """Return the chance of a hand and of the other's choices at each node, float64 (n, h)."""
    rows, joint = beginning.tree.cards.astype(np.int64) + 1, beginning.tree.joint
    deals = joint if seat == 0 else joint.transpose(0, 2, 1)
    chance = np.zeros((len(rows), deals.shape[1]))
    for row in np.unique(rows):
        here = rows == row
        chance[here] = judge.reach[here, 1 - seat, : deals.shape[2]] @ deals[row].T
    return chance
