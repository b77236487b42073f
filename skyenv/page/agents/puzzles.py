"""Bidding puzzles: which deal each number is, and the exact worth of its first bids."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from skyenv.analysis.choices import Path, text
from skyenv.array_types import Float64
from skyenv.engine.game import Game
from skyenv.engine.openings import NUM_OPENINGS
from skyenv.page.view.payloads import Payload
from skyenv.rules.actions import BID_DONE, PASS
from skyenv.rules.components import BLACK
from skyenv.solving.best_response import Evaluator, seat_value
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.tree import Opening, TaskTree
from skyenv.work import Report

# Tasks whose openings are solved in seconds.
TASKS: Final = ("alea-3", "duel-4")
# A puzzle has more legal actions than this.
LEAST_CHOICES: Final = 3
SEEDS: Final = 64  # deals that are tried for a puzzle
SHARE: Final = 0.001  # NashConv of a solution, as a share of the payoffs' range
MOST_ITERATIONS: Final = 4096
SHOWN: Final = 6


class Puzzle(NamedTuple):
    """A puzzle: the opening's name, the deal's seed, and the seat that bids first."""

    task: str
    seed: int
    seat: int


def puzzle(number: int) -> Puzzle:
    """Return a puzzle by its number, 0 or more; equal for everybody."""
    task = f"{TASKS[number % len(TASKS)]}/{number % NUM_OPENINGS}"
    seeds = range(number * SEEDS, (number + 1) * SEEDS)
    games = (Game(task=task, seed=seed) for seed in seeds)
    game = next((one for one in games if len(one.legal_actions) > LEAST_CHOICES), None)
    game = Game(task=task, seed=seeds[0]) if game is None else game
    return Puzzle(task, int(game.state["seed"]), int(str(game.seat)))


def first_bid(actions: tuple[int, ...]) -> Path:
    """Return the first bid of a game, or the pass; empty if it isn't complete."""
    ends = (place for place, action in enumerate(actions) if action in (PASS, BID_DONE))
    return actions[: next(ends, -1) + 1]


@lru_cache(maxsize=4)
def _solved(task: str) -> tuple[Opening, Float64, float]:
    """Return an opening, its equilibrium and that one's NashConv in VP."""
    opening = Opening(task)
    *_, solution = solve(Solver(opening.tree), SHARE, MOST_ITERATIONS)
    return opening, solution.policy, solution.nash_conv


def answer(deal: Puzzle, path: Path, report: Report) -> Payload:
    """Return what a first bid is worth against the equilibrium, beside the best ones.

    Args:
        deal: the puzzle.
        path: the actions of the bid.
        report: not called.

    Returns:
        ``own`` and ``best``: ``{"text", "value"}`` of the bid and of the best one, in VP if its
        bidder plays on perfectly; ``cost``: the difference; ``choices``: the best ones, at most
        SHOWN; ``error``: the equilibrium's NashConv in VP.
    """
    opening, policy, error = _solved(deal.task)
    tree, seat = opening.tree, deal.seat
    position = Game(task=deal.task, seed=deal.seed).state
    hand = int(
        np.flatnonzero((opening.hands[seat] == position["hand"][seat, BLACK]).all(axis=1))[0]
    )
    evaluator = Evaluator(tree)
    seat_value(tree, policy, evaluator.reach, evaluator.worth, seat, True)
    weight = np.moveaxis(tree.deals, seat, 0)[hand].sum()
    values = {
        way: float(evaluator.worth[node, hand] / weight) for way, node in _bids(tree, seat, hand)
    }
    told = [
        {"text": text(position, way), "value": round(values[way], 2)}
        for way in sorted(values, key=lambda way: -values[way])
    ]
    own = {"text": text(position, path), "value": round(values[path], 2)}
    cost = round(max(values.values()) - values[path], 2)
    return {"own": own, "best": told[0], "cost": cost, "choices": told[:SHOWN], "error": error}


def _bids(
    tree: TaskTree, seat: int, hand: int, node: int = 0, path: Path = ()
) -> Iterator[tuple[Path, int]]:
    """Yield the legal bids of a hand at a node, and the pass, with the nodes that they lead to."""
    legal = int(tree.legal[tree.first_legal[node] + hand])
    for edge, place in enumerate(range(int(tree.first[node]), int(tree.first[node + 1]))):
        if legal >> edge & 1:
            way, child = (*path, int(tree.action[place])), int(tree.child[place])
            if way[-1] in (PASS, BID_DONE):
                yield way, child
            else:
                yield from _bids(tree, seat, hand, child, way)
