"""Bidding puzzles: the deal of each number, the other bidder, and the exact worth of choices."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from skyenv.analysis.choices import Path, text
from skyenv.analysis.recording import Recording
from skyenv.array_types import Bool, Float64
from skyenv.engine.game import Game
from skyenv.engine.openings import NUM_OPENINGS
from skyenv.page.view.payloads import Payload
from skyenv.rules.actions import BID, BID_DONE
from skyenv.rules.components import BLACK, CARD_VALUES
from skyenv.solving.best_response import Evaluator, seat_value
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.tree import ALEA_SETS, LEAF, Opening, TaskTree
from skyenv.work import Report

# Tasks whose openings are solved in seconds.
TASKS: Final = ("alea-3", "duel-4")
# The other bidder's name.
EQUILIBRIUM: Final = "equilibrium"
# A puzzle has more legal actions than this.
LEAST_CHOICES: Final = 3
SEEDS: Final = 64  # deals that are tried for a puzzle
# NashConv of a solution, as a share of the payoffs' range. Choices are judged exactly against it.
SHARE: Final = 0.0025
MOST_ITERATIONS: Final = 4096
SHOWN: Final = 6


def puzzle(number: int) -> Game:
    """Return a puzzle's deal by its number, 0 or more; equal for everybody."""
    task = f"{TASKS[number % len(TASKS)]}/{number % NUM_OPENINGS}"
    seeds = range(number * SEEDS, (number + 1) * SEEDS)
    games = (Game(task=task, seed=seed) for seed in seeds)
    fits = (game for game in games if len(game.legal_actions) > LEAST_CHOICES)
    return next(fits, Game(task=task, seed=seeds[0]))


@lru_cache(maxsize=4)
def _solved(task: str) -> tuple[Opening, Float64, float]:
    """Return an opening, an equilibrium with the best last decisions, and its NashConv in VP.

    Off the equilibrium's path the average policy of CFR+ is arbitrary, and may play dominated
    actions. A best action where no other seat acts any more never helps the other seat: NashConv
    doesn't grow.
    """
    opening = Opening(task)
    tree, solver, evaluator = opening.tree, Solver(opening.tree), Evaluator(opening.tree)
    uniform = solver.solution().policy  # before any iteration; it reaches every decision
    *_, solution = solve(solver, SHARE, MOST_ITERATIONS)
    node, *_ = tree.places
    best = np.where(tree.kind[node], *(evaluator.best_response(uniform, seat) for seat in (1, 0)))
    policy = np.where(_last_decisions(tree)[node], best, solution.policy)
    return opening, policy, sum(evaluator.best_responses(policy))


def _last_decisions(tree: TaskTree) -> Bool:
    """Return for each node whether one seat acts there and no other seat nor chance afterwards."""
    acting = 1 << tree.kind.astype(np.int64)  # a bit for each kind from a node on
    parents = np.repeat(np.arange(len(acting)), np.diff(tree.first))
    for parent, child in zip(parents[::-1].tolist(), tree.child[::-1].tolist(), strict=True):
        acting[parent] |= acting[child]
    return np.isin(acting & ~(1 << LEAF), (1 << 0, 1 << 1))


def _line(tree: TaskTree, recording: Recording) -> list[int]:
    """Return the node of a game's tree after each number of actions."""
    nodes = [0]
    for events in recording.events[1:]:
        nodes.append(nodes[-1])
        for event in events:
            if event["event"] == "alea":
                cards = tuple(event["cards"].count(value) for value in CARD_VALUES)
                nodes[-1] = _child(tree, nodes[-1], [*ALEA_SETS].index(cards))
            elif event["event"] == "action":
                nodes[-1] = _child(tree, nodes[-1], event["action"])
    return nodes


def _child(tree: TaskTree, node: int, action: int) -> int:
    """Return the node after an action, or after a set of Alea's cards."""
    edges = slice(tree.first[node], tree.first[node + 1])
    return int(tree.child[edges][tree.action[edges] == action][0])


def _hand(opening: Opening, recording: Recording, seat: int) -> int:
    """Return the index of the black hand that a seat was dealt."""
    dealt = recording.states[0]["hand"][seat, BLACK]
    return int(np.flatnonzero((opening.hands[seat] == dealt).all(axis=1))[0])


def _is_open(path: Sequence[int]) -> bool:
    """Return whether a choice isn't whole: it is empty, or a bid's cards without its end."""
    return not path or BID <= path[-1] < BID_DONE


def reply(game: Game, report: Report) -> list[int]:
    """Return the equilibrium's next choice in a game of a task; `report` isn't called."""
    opening, policy, _ = _solved(str(game.options.task))
    recording = Recording.of(game.to_record())
    tree, seat, path = opening.tree, int(str(game.seat)), list[int]()
    node, hand = _line(tree, recording)[-1], _hand(opening, recording, seat)
    # As for agents: a choice that comes again after a takeback is the same.
    random = np.random.default_rng(int(game.batch.uniforms()[0] * 2**32))
    while _is_open(path):
        shares = policy[tree.block[node] : tree.block[node + 1]]
        chances = shares.reshape(-1, tree.numbers[seat])[:, hand]
        edge = tree.first[node] + random.choice(len(chances), p=chances / chances.sum())
        node = int(tree.child[edge])
        path.append(int(tree.action[edge]))
    return path


def answer(game: Game, seat: int, report: Report) -> Payload:
    """Return what each choice of a seat was worth against the equilibrium, beside the best ones.

    Args:
        game: a game of a task, against the equilibrium.
        seat: the seat.
        report: not called.

    Returns:
        ``about``: a sentence about the equilibrium; ``decisions``: for each choice among several
        ``own`` and ``best``: ``{"text", "value"}`` of the one made and of the best one, in VP from
        the opening to the end if the seat plays on perfectly; ``cost``: the difference;
        ``choices``: the best SHOWN ones, and the one made after them if it isn't among them.
    """
    opening, policy, error = _solved(str(game.options.task))
    recording = Recording.of(game.to_record())
    tree, evaluator = opening.tree, Evaluator(opening.tree)
    nodes, hand, decisions = _line(tree, recording), _hand(opening, recording, seat), []
    seat_value(tree, policy, evaluator.reach, evaluator.worth, seat, True)
    for step, path in recording.choices():
        node = nodes[step]
        if tree.kind[node] != seat or not path:
            continue
        # The probability of this hand, of Alea's cards and of what the other bidder did.
        chances = tree.joint[seat, tree.cards[node] + 1, hand, :, 0]
        weight = chances @ evaluator.reach[node, 1 - seat]
        values = {
            way: float(evaluator.worth[child, hand] / weight)
            for way, child in _choices(tree, seat, hand, node)
        }
        if len(values) > 1:
            decisions.append(_judged(recording.states[step], path, values))
    return {
        "about": f"Exact against the other seat, an equilibrium to {error:.3f} VP. It may err "
        "after bids that no equilibrium makes, but never where only it still decides.",
        "decisions": decisions,
    }


def _judged(position: np.void, path: Path, values: dict[Path, float]) -> Payload:
    """Return a choice beside the best ones."""
    told = [
        {"text": text(position, way), "value": round(values[way], 2)}
        for way in sorted(values, key=lambda way: -values[way])
    ]
    return {
        "own": {"text": text(position, path), "value": round(values[path], 2)},
        "best": told[0],
        "cost": round(max(values.values()) - values[path], 2),
        "choices": [
            one
            for rank, one in enumerate(told)
            if rank < SHOWN or one["text"] == text(position, path)
        ],
    }


def _choices(
    tree: TaskTree, seat: int, hand: int, node: int, path: Path = ()
) -> Iterator[tuple[Path, int]]:
    """Yield the legal choices of a hand at a node, with the nodes that they lead to."""
    legal = int(tree.legal[tree.first_legal[node] + hand])
    for edge, place in enumerate(range(int(tree.first[node]), int(tree.first[node + 1]))):
        if legal >> edge & 1:
            way, child = (*path, int(tree.action[place])), int(tree.child[place])
            if _is_open(way):
                yield from _choices(tree, seat, hand, child, way)
            else:
                yield way, child
