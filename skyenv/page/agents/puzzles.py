"""Bidding puzzles: the deal of each number, the other bidder, and the exact worth of choices."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from skyenv.analysis.choices import Path, text
from skyenv.analysis.recording import Recording
from skyenv.array_types import Float64
from skyenv.engine.game import Game
from skyenv.engine.openings import NUM_OPENINGS
from skyenv.page.view.payloads import Payload
from skyenv.rules.actions import BID, BID_DONE
from skyenv.rules.components import BLACK, CARD_VALUES
from skyenv.solving.best_response import Evaluator, seat_value
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.tree import ALEA_SETS, Opening, TaskTree
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
    """Return an opening, its equilibrium and that one's NashConv in VP."""
    opening = Opening(task)
    *_, solution = solve(Solver(opening.tree), SHARE, MOST_ITERATIONS)
    return opening, solution.policy, solution.nash_conv


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
        ``error``: the equilibrium's NashConv in VP; ``decisions``: for each choice among several
        ``own`` and ``best``: ``{"text", "value"}`` of the one made and of the best one, in VP from
        the opening to the end if the seat plays on perfectly; ``cost``: the difference;
        ``choices``: the best ones, at most SHOWN.
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
    return {"decisions": decisions, "error": error}


def _judged(position: np.void, path: Path, values: dict[Path, float]) -> Payload:
    """Return a choice beside the best ones."""
    told = [
        {"text": text(position, way), "value": round(values[way], 2)}
        for way in sorted(values, key=lambda way: -values[way])
    ]
    own = {"text": text(position, path), "value": round(values[path], 2)}
    cost = round(max(values.values()) - values[path], 2)
    return {"own": own, "best": told[0], "cost": cost, "choices": told[:SHOWN]}


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
