"""Bidding tasks: sizes, equilibria, the need to mix, agents' losses and mistakes."""

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from experiments.figures import Figure, Scale, figure
from skyenv.agents import Agent, make_agent
from skyenv.agents.simple import RandomAgent
from skyenv.array_types import Int16, Int64
from skyenv.engine.openings import measured, task_name
from skyenv.rules.actions import BID, BID_DONE, BUILD, NUM_ACTIONS, PASS
from skyenv.rules.components import NUM_RANKS
from skyenv.solving.best_response import Evaluator, Policy
from skyenv.solving.commands import measure
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.mixing import information_sets, mixing_of, purified
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import Opening, TaskTree

USUAL: Final = 32
# Openings of each task.
MEASURED: Final = {
    **dict.fromkeys(("park-4", "duel-3", "set-2", "bluff-2", "alea-3", "duel-4", "alea-4"), USUAL),
    **{"duel-5": 8, "alea-5": 4, "set-3": 4, "duel-6": 2},
}
# Tasks whose equilibria cost too much.
UNSOLVED: Final = ("alea-5", "set-3", "duel-6")
# Share of the payoffs' range that an equilibrium may lose.
ACCURACY: Final = 0.001
AGENTS: Final = ("random", "greedy", "appraiser", "trained-2026a")
UNITS: Final = {"range": "VP", "seconds": "s", "memory": "MB", "entropy": "nats"}
SHARES: Final = ("equilibrium", "purified gap", "best pure", "mixed")
# CFR+ iterations between the policies that are purified.
PURIFIED: Final = (*[1] * 40, *[8] * 20)
# Tasks in which single decisions are judged.
BIDDING: Final = ("bluff-2", "duel-4", "alea-4")

# Levels of actions, the more is bid the higher; those of cards are 2 to 4, by value.
PASSES = 0
ENDS = 1
CARDS = 2
BUILDS = 5
# Kinds of mistakes, which add up to NashConv.
MISTAKES: Final = ("passes", "bids", "low", "high", "other")
NEVER: Final = -1e9  # VP of what isn't legal


class PassingAgent(RandomAgent):
    """An agent that passes where it can."""

    weights = np.where(np.arange(NUM_ACTIONS) == PASS, 1e15, 1.0)


def tasks(scale: Scale) -> Iterator[Figure]:
    """Measured openings of bidding tasks: median, smallest and largest. "Information sets": of all
    seats; "decisions": those with a choice; "positions": nodes of the public tree; "range": the
    highest payoff less the lowest. "Equilibrium": its NashConv in % of the range, at most 0.1;
    "seconds", of one core, and "memory": of its tree and CFR+. "Purified gap": NashConv of the
    equilibrium's most probable actions, in % of the range. "Best pure": an upper bound of the
    least NashConv without mixing: that of the best pure policies found among CFR+'s iterates, which
    are searched where the gap exceeds 0.1 %. "Spared": openings in which that is at most 0.1 %.
    "Mixed": share of decisions, by how often play reaches them, in which no action has 99 %;
    "entropy": of the actions, likewise.
    """
    sizes(measured("duel-3", 1)[0], True)  # compiles
    for label, names in openings_of(scale, MEASURED):
        rows = [sizes(name, task_name(name) not in UNSOLVED) for name in names]
        for column in rows[0]:
            times, unit = (100, "%") if column in SHARES else (1, UNITS.get(column, ""))
            yield figure(f"{label}: {column}", unit, [times * row[column] for row in rows], 2)
        if "best pure" in rows[0]:
            spared = sum(row["best pure"] <= ACCURACY for row in rows)
            yield figure(f"{label}: spared", "", [spared], 0)


def openings_of(scale: Scale, numbers: Mapping[str, int]) -> Iterator[tuple[str, list[str]]]:
    """Return the label of each task and its measured openings."""
    for task, number in numbers.items():
        names = measured(task, scale.of(number))
        yield task if number == USUAL else f"{task}, {len(names)} openings", names


def sizes(name: str, solved: bool) -> dict[str, float]:
    """Return the columns of :func:`tasks` for an opening; those of its equilibrium if `solved`."""
    begun = time.process_time()
    tree = Opening(name).tree
    evaluator = Evaluator(tree)
    counts = information_sets(tree)
    found = {
        "information sets": float(counts.all),
        "decisions": float(counts.choices),
        "positions": float(len(tree.kind)),
        "range": evaluator.payoff_range,
    }
    if not solved:
        return found
    *_, solution = solve(Solver(tree), ACCURACY)
    policy, seconds = solution.policy, time.process_time() - begun
    arrays = (*tree, evaluator.reach, evaluator.worth, *[policy] * 3)  # a solver's are as large
    share, entropy = mixing_of(tree, policy)
    gap = evaluator.nash_conv(purified(tree, policy)) / evaluator.payoff_range
    return found | {
        "seconds": seconds,
        "memory": sum(array.nbytes for array in arrays) / 1e6,
        "equilibrium": solution.nash_conv / solution.payoff_range,
        "purified gap": gap,
        "best pure": gap if gap <= ACCURACY else min(gap, pure_loss(tree) / evaluator.payoff_range),
        "mixed": share,
        "entropy": entropy,
    }


def pure_loss(tree: TaskTree) -> float:
    """Return the NashConv of the best pure policies found: for each seat the best among CFR+'s
    purified iterates and averages.
    """
    solver, evaluator, least = Solver(tree), Evaluator(tree), np.full(2, np.inf)
    for iterations in PURIFIED:
        solver.run(iterations)
        for policy in (solver.solution().policy, solver.current):
            least = np.minimum(least, evaluator.best_responses(purified(tree, policy)))
    return float(least.sum())


# ---- agents ----


def panel(scale: Scale) -> Iterator[Figure]:
    """NashConv of agents in VP and in % of the payoffs' range: exact means over the measured
    openings. "Passing" passes where it can, "random" plays uniformly.
    """
    agents = {"passing": PassingAgent()} | {name: make_agent(name) for name in AGENTS}
    solved = {task: number for task, number in MEASURED.items() if task not in UNSOLVED}
    for label, names in openings_of(scale, solved):
        rows = [
            {agent: measure(made, opening) for agent, made in agents.items()}
            for opening in map(Opening, names)
        ]
        for agent in agents:
            yield mean(f"{label}: {agent}", "VP", [row[agent]["nash_conv"] for row in rows])
            share = [100 * row[agent]["share"] for row in rows]
            yield mean(f"{label}, of the range: {agent}", "%", share, 1)


def answers(agent: Agent, opening: Opening) -> Policy:
    """Return the policy of an agent that is deterministic or reports its probabilities."""
    return policy_of(agent, opening).policy


def mean(name: str, unit: str, values: Sequence[float], digits: int = 2) -> Figure:
    """Return the exact mean over all openings of a fixed set as a figure."""
    exact = float(np.mean(values))
    return Figure(name, exact, exact, exact, unit, len(values), digits)


# ---- mistakes ----


def bidding(scale: Scale) -> Iterator[Figure]:
    """Agents in both seats of bidding tasks: exact means over 32 held-out openings. "NashConv":
    what best responses win against them, in VP. It is the sum of what single actions lose beside
    the best ones: "passes", where a bid is best; "bids", where passing is; "low": a card of a lower
    value, or none where another one is best; "high": the reverse; "other": a black card for a
    coloured one or the reverse, or another building. An equilibrium has a NashConv of at most 0.1 %
    of the payoffs' range.
    """
    for task, name in itertools.product(BIDDING, (*AGENTS[1:], "equilibrium")):
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
