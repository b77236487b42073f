"""What an agent does in a task, asked decision by decision, and how much a best response wins
against it.

An agent's policy is what it does, not what it says of itself: it is asked at evenly spaced random
numbers, each of which stands for an equal share of its choices. A decision that its own earlier
choices never lead to isn't asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents.deciding import checked_actions, decisions_in
from skyenv.agents.interface import Agent
from skyenv.engine.games import Games
from skyenv.rules.components import BLACK
from skyenv.tasks.equilibrium import Policy, nodes_of, spread_level
from skyenv.tasks.tree import CHANCE, Beginning

ROWS: Final = 4096
"""Decisions that an agent is asked at once."""


@dataclass(frozen=True)
class Questions:
    """Decisions to ask: nodes and hands of the seat to act.

    Attributes:
        node, hand: int64 (q,).
        states: GAME_DTYPE (q,), positions in which that seat holds the hand, and the other any that
            fits.
    """

    node: npt.NDArray[np.int64]
    hand: npt.NDArray[np.int64]
    states: npt.NDArray[np.void]


def depths_of(beginning: Beginning) -> npt.NDArray[np.int64]:
    """How many edges lead to each node, int64 (n,)."""
    tree = beginning.tree
    depths = np.zeros(len(tree.kind), np.int64)
    parents = np.repeat(np.arange(len(tree.kind)), np.diff(tree.first))
    for parent, child in zip(parents.tolist(), tree.child.tolist(), strict=True):
        depths[child] = depths[parent] + 1  # children come after their parents
    return depths


def questions(
    beginning: Beginning, nodes: npt.NDArray[np.int64], reach: Any, last: bool = False
) -> Questions:
    """The decisions to ask an agent in some nodes of one depth.

    Args:
        beginning: of the task.
        nodes: int64 (k,), ascending.
        reach: float64 (n, 2, h), with which probability its own choices lead there.
        last: which of the other's hands that fit is taken; an agent can't tell.
    """
    tree = beginning.tree
    wanted = np.zeros(len(tree.kind), np.bool_)
    wanted[nodes] = True
    states, held = beginning.positions(wanted)
    parts: list[tuple[Any, Any, Any]] = []
    for seat in range(2):
        here = np.flatnonzero(tree.kind[nodes] == seat)
        own, other = beginning.hands[seat], beginning.hands[1 - seat]
        entries = tree.first_legal[nodes[here], None] + np.arange(len(own))
        bits = tree.legal[entries]
        several = (bits & (bits - 1)) != 0  # more than one legal action
        row, hand = np.nonzero(several & (reach[nodes[here], seat, : len(own)] > 0))
        row = here[row]
        joint = tree.joint if seat == 0 else tree.joint.transpose(0, 2, 1)
        left = states["hand"][row, 1 - seat, BLACK] - other[held[row, 1 - seat]]
        fits = left[:, None] + other >= states["known"][row, 1 - seat, BLACK][:, None]
        fits = fits.all(axis=2) & (joint[tree.cards[nodes[row]] + 1, hand] > 0)
        possible = fits.any(axis=1)
        row, hand, left, fits = row[possible], hand[possible], left[possible], fits[possible]
        theirs = fits.shape[1] - 1 - fits[:, ::-1].argmax(axis=1) if last else fits.argmax(axis=1)
        asked = states[row]
        asked["hand"][:, seat, BLACK] += own[hand] - own[held[row, seat]]
        asked["hand"][:, 1 - seat, BLACK] = left + other[theirs]
        hidden = asked["hand"] - asked["known"]
        asked["face_down"] = asked["unlocated"] - hidden.sum(axis=1)
        asked["random"] = 1  # no stream stands still; nothing is drawn from it
        parts.append((nodes[row], hand, asked))
    node, hands, found = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Questions(node, hands, found)


def ask(agent: Agent, name: str, asked: Questions, samples: int) -> npt.NDArray[np.int64]:
    """The agent's actions, int64 (samples, q), at evenly spaced random numbers."""
    actions = np.zeros((samples, len(asked.node)), np.int64)
    numbers = (np.arange(samples) + 0.5) / samples
    for first in range(0, len(asked.node), ROWS):
        states = asked.states[first : first + ROWS]
        observation = "scaled" if agent.uses_observation else None
        games = Games(len(states), task=name, seed=0, autoreset=False, observation=observation)
        games.state[:] = states
        games.refresh()
        for sample, number in enumerate(numbers):
            uniform = np.full(len(states), number)
            decisions = decisions_in(games, agent, uniform=uniform)
            actions[sample, first : first + ROWS] = checked_actions(agent, decisions)
    return actions


def policy_of(agent: Agent, beginning: Beginning, samples: int = 32) -> Iterator[Policy]:
    """What an agent does from a beginning on, in both seats: the policy as far as it is known after
    each depth of the tree; the last one is whole.

    Args:
        agent: to be asked.
        beginning: of a task with two seats.
        samples: random numbers for every decision; 1 is enough for agents that don't use them.

    Raises:
        AgentError: the agent doesn't answer with legal actions.
        OptionError: the task has more seats.
    """
    tree, nodes = beginning.tree, nodes_of(beginning.tree)
    policy = np.zeros(tree.block[-1])
    reach = np.ones((len(tree.kind), 2, int(nodes.numbers.max())))
    depths = depths_of(beginning)
    for depth in range(int(depths.max()) + 1):
        level = np.flatnonzero(depths == depth)
        deciding = level[tree.kind[level] < CHANCE]
        if len(deciding):
            asked = questions(beginning, deciding, reach)
            actions = ask(agent, beginning.name, asked, samples)
            note_answers(beginning, asked, actions, policy)
        spread_level(nodes, policy, reach, level)
        yield policy


def note_answers(
    beginning: Beginning, asked: Questions, actions: npt.NDArray[np.int64], policy: Policy
) -> None:
    """Write the shares of the answers into a policy."""
    tree = beginning.tree
    hands = np.array([len(own) for own in beginning.hands])[tree.kind[asked.node]]
    first, end = tree.first[asked.node], tree.first[asked.node + 1]
    for edge in range(int((end - first).max(initial=0))):
        there = first + edge < end
        share = (actions[:, there] == tree.action[first[there] + edge]).mean(axis=0)
        place = tree.block[asked.node[there]] + edge * hands[there] + asked.hand[there]
        policy[place] = share
