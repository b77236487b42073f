"""Agents' policies in a task, measured by querying every reachable decision.

A policy is measured by an agent's actions, not by the probabilities that it reports. Each decision
is queried at evenly spaced random numbers, which have equal weights. Decisions that the agent's own
earlier choices never reach are skipped.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from skyenv.agents.deciding import checked_actions, decisions_in
from skyenv.agents.interface import Agent
from skyenv.array_types import Bool, Float64, Int64, RecordArray
from skyenv.engine.games import Games
from skyenv.rules.components import BLACK
from skyenv.solving.best_response import Policy, spread_level
from skyenv.solving.tree import CHANCE, MAX_SEATS, Opening

# Decisions in one batch.
ROWS: Final = 4096
# Nodes for the estimate of time.
TRIED: Final = 32


@dataclass(frozen=True)
class Queries:
    """A batch of decisions to query: nodes and hands of the seat to act.

    Attributes:
        node, hand: int64 (q,).
        states: GAME_DTYPE (q,), positions in which that seat holds the hand, and the others any
            consistent ones.
    """

    node: Int64
    hand: Int64
    states: RecordArray


def depths_of(opening: Opening) -> Int64:
    """Return the depth of each node in edges, int64 (n,)."""
    tree = opening.tree
    depths = np.zeros(len(tree.kind), np.int64)
    parents = np.repeat(np.arange(len(tree.kind)), np.diff(tree.first))
    for parent, child in zip(parents.tolist(), tree.child.tolist(), strict=True):
        depths[child] = depths[parent] + 1  # children come after their parents
    return depths


def most_decisions(opening: Opening) -> Int64:
    """Return the most decisions to query at each depth, int64 (d,): one for every hand with a
    choice.
    """
    tree = opening.tree
    depths = depths_of(opening)
    rows = np.repeat(depths, np.diff(tree.first_legal))
    several = (tree.legal & (tree.legal - 1)) != 0
    return np.bincount(rows, several, int(depths.max()) + 1).astype(np.int64)


def seconds_for(agent: Agent, opening: Opening, samples: int) -> float:
    """Return an upper estimate of the queries' CPU time in seconds, from a sample of the tree.

    It counts all decisions, and an agent's own choices may reach few of them.
    """
    tree = opening.tree
    deciding = np.flatnonzero(tree.kind < CHANCE)
    reach = np.ones((*tree.payoff.shape, tree.numbers.max()))
    asked = queries(opening, deciding[:: len(deciding) // TRIED + 1], reach)
    ask(agent, asked, 1)  # compiles
    begun = time.process_time()
    ask(agent, asked, 1)
    each = (time.process_time() - begun) / max(len(asked.node), 1)
    return each * samples * float(most_decisions(opening).sum())


def queries(opening: Opening, nodes: Int64, reach: Any, last: bool = False) -> Queries:
    """Return the decisions to query in some nodes of one depth.

    Args:
        opening: of the task.
        nodes: int64 (k,), ascending.
        reach: float64 (n, N, h), reach probabilities by the agent's own choices.
        last: which consistent hands the others get, the last or first; agents can't see them.
    """
    tree = opening.tree
    wanted = np.zeros(len(tree.kind), np.bool_)
    wanted[nodes] = True
    states, held = opening.states_of(wanted)
    parts: list[tuple[Any, Any, Any]] = []
    for seat, own in enumerate(opening.hands):
        here = np.flatnonzero(tree.kind[nodes] == seat)
        entries = tree.first_legal[nodes[here], None] + np.arange(len(own))
        bits = tree.legal[entries]
        several = (bits & (bits - 1)) != 0  # more than one legal action
        row, hand = np.nonzero(several & (reach[nodes[here], seat, : len(own)] > 0))
        row = here[row]
        asked = states[row]
        asked["hand"][:, seat, BLACK] += own[hand] - own[held[row, seat]]
        chances = tree.joint[seat, tree.cards[nodes[row]] + 1, hand]
        possible = deal_others(opening, seat, asked, held[row], chances, last)
        hidden = asked["hand"] - asked["known"]
        asked["face_down"] = asked["unlocated"] - hidden.sum(axis=1)
        asked["random"] = 1  # a valid state of the generator, which stays unused
        parts.append((nodes[row[possible]], hand[possible], asked[possible]))
    node, hands, found = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Queries(node, hands, found)


def deal_others(
    opening: Opening,
    seat: int,
    states: RecordArray,
    held: Int64,
    chances: Float64,
    last: bool,
) -> Bool:
    """Give the other seats hands consistent with the cards that they have shown.

    Args:
        opening: of the task.
        seat: the seat whose hand stays.
        states: GAME_DTYPE (q,), written in place.
        held: int64 (q, N), the hands of all seats.
        chances: float64 (q, h, h), the probabilities of the others' hands.
        last: whether to take the last consistent hands or the first.

    Returns:
        bool (q,): whether consistent hands exist.
    """
    others = [other for other in range(MAX_SEATS) if other != seat]
    deals = np.indices(opening.tree.numbers[others]).reshape(len(others), -1)
    fits = chances[:, deals[0], deals[1]] > 0
    there = [*zip(others, deals, strict=True)][: len(opening.hands) - 1]
    shown = {}
    for other, hands in there:
        theirs = opening.hands[other]
        shown[other] = states["hand"][:, other, BLACK] - theirs[held[:, other]]
        holds = shown[other][:, None] + theirs >= states["known"][:, other, BLACK][:, None]
        fits &= np.all(holds, axis=2)[:, hands]
    chosen = fits.shape[1] - 1 - fits[:, ::-1].argmax(axis=1) if last else fits.argmax(axis=1)
    for other, hands in there:
        states["hand"][:, other, BLACK] = shown[other] + opening.hands[other][hands[chosen]]
    return np.asarray(fits.any(axis=1))


def ask(agent: Agent, asked: Queries, samples: int) -> Int64:
    """Return the agent's actions, int64 (samples, q), at evenly spaced random numbers."""
    actions = np.zeros((samples, len(asked.node)), np.int64)
    numbers = (np.arange(samples) + 0.5) / samples
    for first in range(0, len(asked.node), ROWS):
        games = Games.of(asked.states[first : first + ROWS])
        for sample, number in enumerate(numbers):
            uniform = np.full(games.num_games, number)
            decisions = decisions_in(games, agent, uniform=uniform)
            actions[sample, first : first + ROWS] = checked_actions(agent, decisions)
    return actions


def policy_of(agent: Agent, opening: Opening, samples: int = 32) -> Iterator[Policy]:
    """Measure an agent's policy in all seats; yield it after each depth, the last one complete.

    Args:
        agent: the agent.
        opening: of a task.
        samples: random numbers per decision; 1 suffices for deterministic agents.

    Raises:
        AgentError: the agent returned illegal actions.
    """
    tree = opening.tree
    policy = np.zeros(tree.block[-1])
    reach = np.ones((*tree.payoff.shape, tree.numbers.max()))
    depths = depths_of(opening)
    for depth in range(int(depths.max()) + 1):
        level = np.flatnonzero(depths == depth)
        deciding = level[tree.kind[level] < CHANCE]
        if len(deciding):
            asked = queries(opening, deciding, reach)
            actions = ask(agent, asked, samples)
            note_answers(opening, asked, actions, policy)
        spread_level(tree, policy, reach, level)
        yield policy


def note_answers(opening: Opening, asked: Queries, actions: Int64, policy: Policy) -> None:
    """Write the frequencies of the answers into a policy."""
    tree = opening.tree
    hands = tree.numbers[tree.kind[asked.node]]
    first, end = tree.first[asked.node], tree.first[asked.node + 1]
    for edge in range(int((end - first).max(initial=0))):
        there = first + edge < end
        share = (actions[:, there] == tree.action[first[there] + edge]).mean(axis=0)
        place = tree.block[asked.node[there]] + edge * hands[there] + asked.hand[there]
        policy[place] = share
