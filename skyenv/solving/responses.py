"""Agents' policies in a task, from every decision that their own choices can reach.

* An agent that samples its evaluation (:attr:`skyenv.agents.Agent.samples_evaluation`) reports its
  probabilities.
* Others are asked for actions at random numbers. An agent that gives the same answers to two
  different numbers, in all decisions, is deterministic.
* Policies of the rest are sampled, with random numbers drawn anew for each position and hand. Best
  responses to such a policy also exploit its sampling error, so there is a lower estimate, too.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.agents.deciding import checked_actions, checked_probabilities, decisions_in
from skyenv.agents.interface import Agent
from skyenv.array_types import Float64, Int64, RecordArray
from skyenv.console.progress import progress
from skyenv.engine.games import Games
from skyenv.engine.knowledge import resample, view
from skyenv.errors import AgentError, OptionError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.chance import hash32
from skyenv.rules.compiling import entry_point
from skyenv.rules.components import BLACK
from skyenv.rules.record import Array
from skyenv.solving.best_response import Evaluator, Policy, spread
from skyenv.solving.equilibrium import average
from skyenv.solving.tree import CHANCE, Opening, TaskTree

LEAST_SAMPLES: Final = 32
"""Fewest random numbers per decision of a stochastic agent."""
REPORTED: Final = "reported"
"""How a policy is known: by the agent's own probabilities."""
DETERMINISTIC: Final = "deterministic"
"""How a policy is known: by an action per decision, the same at two random numbers."""
SAMPLED: Final = "sampled"
"""How a policy is known: by actions at several random numbers."""
# Decisions in one batch.
ROWS: Final = 4096
# Share of uniform play in the policy to which the lower estimate responds. It decides where the
# samples don't lead.
TREMBLE: Final = 1e-6


@dataclass(frozen=True)
class Queries:
    """A batch of decisions to query: nodes and hands of the seat to act.

    Attributes:
        node, hand: int64 (q,).
        states: GAME_DTYPE (q,), determinizations of the positions in which that seat holds the
            hand.
    """

    node: Int64
    hand: Int64
    states: RecordArray


def queries(opening: Opening, nodes: Int64, reach: Float64) -> Queries:
    """Return the decisions to query in some nodes of one depth.

    Args:
        opening: of the task.
        nodes: int64 (k,), ascending.
        reach: float64 (n, N, h), reach probabilities by the agent's own choices.
    """
    tree = opening.tree
    wanted = np.zeros(len(tree.kind), np.bool_)
    wanted[nodes] = True
    states, held = opening.states_of(wanted)
    parts: list[tuple[Any, Any, Any]] = []
    for seat, own in enumerate(opening.hands):
        here = np.flatnonzero(tree.kind[nodes] == seat)
        bits = tree.legal[tree.first_legal[nodes[here], None] + np.arange(len(own))]
        several = (bits & (bits - 1)) != 0  # more than one legal action
        row, hand = np.nonzero(several & (reach[nodes[here], seat, : len(own)] > 0))
        row = here[row]
        asked = states[row]
        asked["hand"][:, seat, BLACK] += own[hand] - own[held[row, seat]]
        hidden = asked["hand"] - asked["known"]
        asked["face_down"] = asked["unlocated"] - hidden.sum(axis=1)  # only its sums count
        dealt = (hidden[:, seat, BLACK] <= asked["unlocated"][:, BLACK]).all(axis=1)
        parts.append((nodes[row[dealt]], hand[dealt], asked[dealt]))
    node, hands, found = (np.concatenate(part) for part in zip(*parts, strict=True))
    seen = view(found, tree.kind[node].astype(np.int64))
    return Queries(node, hands, resample(seen, np.arange(len(node))))


# ---- asking ----


class AgentPolicy(NamedTuple):
    """An agent's policy in all seats of an opening.

    Attributes:
        policies: float64 (1, n), the exact policy; of a SAMPLED one (3, n), by all samples and by
            each half of them.
        known: how it is known: REPORTED, DETERMINISTIC or SAMPLED.
    """

    policies: Float64
    known: str

    @property
    def policy(self) -> Policy:
        """The policy, by all samples."""
        return np.asarray(self.policies[0])


# Returns an agent's probabilities, float64 (m, k, 103), in the decisions of a batch: its games,
# nodes and hands, int64 (k,).
Answer = Callable[[Games, Int64, Int64], Float64]


def policy_of(
    agent: Agent, opening: Opening, samples: int = LEAST_SAMPLES, *, shown: bool = False
) -> AgentPolicy:
    """Return an agent's policy.

    Args:
        agent: the agent.
        opening: of a task.
        samples: random numbers per decision of a stochastic agent, even, at least 32.
        shown: show progress bars.

    Raises:
        OptionError: too few samples, or an odd number.
        AgentError: the agent returned illegal actions, or doesn't repeat its answers.
    """
    if samples < LEAST_SAMPLES or samples % 2:
        raise OptionError(
            f"samples must be even and at least {LEAST_SAMPLES}, not {samples}: with fewer, the "
            "NashConv of a stochastic agent means nothing (one gave 0.28 VP for 3.20). Agents that "
            "are deterministic are asked twice, whatever the number"
        )
    if agent.samples_evaluation:
        return AgentPolicy(traverse(opening, partial(reported, agent), 1, shown), REPORTED)
    number = zlib.crc32(opening.name.encode())
    twice = traverse(opening, partial(frequencies, agent, number, 2), 3, shown)
    if np.array_equal(twice[1], twice[2]):
        return AgentPolicy(twice[:1], DETERMINISTIC)
    answer = partial(frequencies, agent, number, samples)
    return AgentPolicy(traverse(opening, answer, 3, shown), SAMPLED)


def traverse(opening: Opening, answer: Answer, number: int, shown: bool) -> Float64:
    """Return the policies by an agent's answers, float64 (number, n); uniform in decisions that its
    earlier choices never reach, by the first policy, and where only one action is legal.
    """
    tree = opening.tree
    policies = np.tile(uniform(tree), (number, 1))
    reach, level = np.ones((*tree.payoff.shape, tree.numbers.max())), np.zeros(1, np.int64)
    parents = np.repeat(np.arange(len(tree.kind)), np.diff(tree.first))
    with progress(unit="decision", desc=opening.name, shown=shown) as bar:
        while level.size:
            spread(tree, policies[0], reach)
            asked = queries(opening, level[tree.kind[level] < CHANCE], reach)
            for first in range(0, len(asked.node), ROWS):
                rows = slice(first, first + ROWS)
                batch = Games.of(asked.states[rows]), asked.node[rows], asked.hand[rows]
                note(opening, *batch[1:], answer(*batch), policies)
                bar.update(len(batch[1]))
            level = np.sort(tree.child[np.isin(parents, level)])  # of the next depth
    return policies


def uniform(tree: TaskTree) -> Policy:
    """Return the uniform policy over legal actions, as by CFR+ without an iteration."""
    policy = np.zeros(tree.block[-1])
    average(tree, np.zeros((2, len(policy))), policy)
    return policy


def reported(agent: Agent, games: Games, node: Int64, hand: Int64) -> Float64:
    """Return the probabilities that an agent evaluates, float64 (1, k, 103)."""
    return checked_probabilities(agent, decisions_in(games, agent))[None]


def frequencies(
    agent: Agent, opening: int, samples: int, games: Games, node: Int64, hand: Int64
) -> Float64:
    """Return the frequencies of an agent's actions, float64 (3, k, 103): in all samples, and in
    each half.

    Raises:
        AgentError: an action is illegal, or the agent doesn't repeat its answers.
    """
    rows, counts = np.arange(len(node)), np.zeros((2, len(node), NUM_ACTIONS))
    for sample in range(samples):
        actions = _actions(agent, opening, sample, samples, games, node, hand)
        counts[2 * sample // samples, rows, actions] += 1
    if samples > 2:  # two that differ show a stochastic agent, or one to be refused here
        again = _actions(agent, opening, samples - 1, samples, games, node, hand)
        if (again != actions).any():
            raise AgentError(
                f"agent {agent.name} doesn't repeat its answers: it gave another action to the "
                "same decision with the same random number. Decisions.uniform must be its only "
                "source of randomness"
            )
    return np.stack([counts.sum(axis=0), *(2 * counts)]) / samples


def _actions(
    agent: Agent,
    opening: int,
    sample: int,
    samples: int,
    games: Games,
    node: Int64,
    hand: Int64,
) -> Int64:
    """Return an agent's actions with one sample of the random numbers, int64 (k,)."""
    numbers = np.zeros(len(node))
    draw_numbers(opening, node, hand, sample, samples, numbers)
    return checked_actions(agent, decisions_in(games, agent, uniform=numbers))


@entry_point("policies of agents")
def draw_numbers(
    opening: int, nodes: Array, hands: Array, sample: int, samples: int, numbers: Array
) -> None:
    """Write a sample of each decision's random numbers, float64 (k,). Each half of the samples
    covers the interval [0, 1) evenly.

    Args:
        opening: a 32-bit number of the opening.
        nodes, hands: the decisions, int64 (k,).
        sample, samples: which sample, of how many.
        numbers: written.
    """
    half = samples // 2
    for row in range(len(nodes)):
        decision = hash32((nodes[row] << 16) | hands[row], opening)
        numbers[row] = (sample % half + hash32(sample, decision) / 2**32) / half


def note(opening: Opening, node: Int64, hand: Int64, shares: Float64, policies: Float64) -> None:
    """Write the probabilities of actions in some decisions, float64 (m, k, 103), into policies,
    float64 (m, n).
    """
    tree = opening.tree
    hands = tree.numbers[tree.kind[node]]
    first, end = tree.first[node], tree.first[node + 1]
    for edge in range(int((end - first).max(initial=0))):
        there = np.flatnonzero(first + edge < end)
        place = tree.block[node[there]] + edge * hands[there] + hand[there]
        policies[:, place] = shares[:, there, tree.action[first[there] + edge]]


# ---- gains ----


def gains_of(evaluator: Evaluator, agent: AgentPolicy) -> Float64:
    """Return a lower and an upper estimate of each seat's gain by a best response to an agent's
    policy, in VP, float64 (2, N): on average too low and too high, equal for a policy that is known
    exactly. The upper one is the gain against all samples, the lower one that of responses to one
    half of the samples against the other half, at most the upper one.
    """
    values = np.array(evaluator.values(agent.policy))
    high = np.array(evaluator.best_responses(agent.policy)) - values
    if agent.known != SAMPLED:
        return np.stack([high, high])
    halves = agent.policies[1:]
    seats = range(len(values))
    won = [
        [_won(evaluator, known, played, seat) for seat in seats]
        for known, played in (halves, halves[::-1])
    ]
    return np.stack([np.minimum(np.mean(won, axis=0) - values, high), high])


def _won(evaluator: Evaluator, known: Policy, played: Policy, seat: int) -> float:
    """Return what a seat's best response to one policy wins against another."""
    trembling = (1 - TREMBLE) * known + TREMBLE * uniform(evaluator.tree)
    response = evaluator.best_response(trembling, seat)
    return evaluator.value_against(response, played, seat)
