"""Bidding tasks: short games from the opening of an auction to its end.

A task is a name, a table of openings and a number of auctions. Openings are public positions of
games between agents. A reset selects one and deals the hidden cards at random, so memorizing hands
doesn't help. Four fifths of the openings are to train on; the others are held out:

* ``"duel-4"`` selects among those to train on,
* ``"duel-4/held-out"`` among those held out,
* ``"duel-4/7"`` is a single one, and ``"duel-4/1024-1031"`` are several, both ends included, of
  either part; the held-out ones come last.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from skyenv.array_types import Float64, Int64, RecordArray
from skyenv.engine.results import write_results
from skyenv.engine.rewards import CARD_VP, OUTCOME, PARK_TASK, TASK, outcome_of
from skyenv.errors import OptionError, shown
from skyenv.rules.chance import hash32
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.record import as_records
from skyenv.rules.state import END_TRUNCATED, GAME_DTYPE
from skyenv.rules.variant import VARIANT
from skyenv.seeds import HIGHEST_SEED


@dataclass(frozen=True)
class Task:
    """The definition of a task.

    Its payoff in VP is the change of the margin over the best other seat, as if all districts were
    scored, minus CARD_VP for every card paid; the other seats share that charge. With two seats it
    is zero-sum. The price is a convention (docs/results/benchmark.md). In a task of the park area
    that is scored, too (END-3), with all its tiles turned up: each skyscraper there counts 1, 2, 3
    or 5 VP for 0, 1, 2 or at least 3 different types among them.

    Attributes:
        cards: cards that every seat can bid with, in the first auction.
        auctions: number of auctions.
        num_players: 2 or 3.
        alea: whether Alea bids as well (ALEA-2).
        park: whether it is the park area's auction (AUC-12) instead of a district's.
        turns: of the whole game's last turns, how many it began before the end, and a third of
            those after which it is truncated (END-5). It pays the game's outcome instead of VP, and
            nothing if it is truncated. 0: it is of auctions.
        least_gap: the least that purifying CFR+'s equilibrium loses in an opening, as a share of
            the payoffs' range: the openings are selected by it
            (:func:`skyenv.solving.mixing.purified`). 0: as games give them.
    """

    cards: int
    auctions: int = 1
    num_players: int = 2
    alea: bool = False
    park: bool = False
    turns: int = 0
    least_gap: float = 0.0

    @property
    def reward(self) -> int:
        """The kind of its reward "outcome", a number of :mod:`skyenv.engine.rewards`."""
        if not self.auctions:
            return OUTCOME
        return PARK_TASK if self.park else TASK


TASKS: Final[dict[str, Task]] = {
    "duel-3": Task(3),
    "duel-4": Task(4),
    "duel-5": Task(5),
    "duel-6": Task(6),
    "alea-3": Task(3, alea=True),
    "alea-4": Task(4, alea=True),
    "alea-5": Task(5, alea=True),
    "three-3": Task(3, num_players=3),
    "set-2": Task(3, auctions=2),
    "set-3": Task(4, auctions=3),
    "bluff-2": Task(3, auctions=2, least_gap=0.02),
    "park-4": Task(4, park=True),
    "last-turns": Task(0, auctions=0, alea=True, turns=4),
}
"""The tasks by name."""
TASK_TEXTS: Final = {
    "duel-3": "two players bid for a district, 3 cards each to bid with",
    "duel-4": "two players bid for a district, 4 cards each to bid with",
    "duel-5": "two players bid for a district, 5 cards each to bid with",
    "duel-6": "two players bid for a district, 6 cards each to bid with",
    "alea-3": "two players and Alea bid for a district, 3 cards each to bid with",
    "alea-4": "two players and Alea bid for a district, 4 cards each to bid with",
    "alea-5": "two players and Alea bid for a district, 5 cards each to bid with",
    "three-3": "three players bid for a district, 3 cards each to bid with",
    "set-2": "two auctions with one hand, 3 cards each to bid with",
    "set-3": "three auctions with one hand, 4 cards each to bid with",
    "bluff-2": "two auctions with one hand, 3 cards each to bid with, where mixing matters",
    "park-4": "two players bid for the park area, 4 cards each to bid with",
    "last-turns": "the last turns of a game for two",
}
"""The description of each bidding task, a line each."""
OF_AUCTIONS: Final = tuple(name for name, task in TASKS.items() if task.auctions)
"""The tasks that pay VP and are solved exactly."""
WHOLE_GAMES: Final = {
    "full-2": (2, "front"),
    "full-2-back": (2, "back"),
    "full-3": (3, "front"),
    "full-4": (4, "front"),
}
"""Names of whole games in benchmarks: players and side."""


def task_name(name: str) -> str:
    """Return the task's name in the name of some of its openings, such as "alea-4/7"."""
    return name.partition("/")[0]


def task_of(name: str) -> Task:
    """Return the task of a name, as for :func:`openings`."""
    return TASKS[task_name(name)]


FILE: Final = "openings.npz"
SALT: Final = 0x7A5CBE61
"""Of the choice of an opening by the seed."""
NUM_OPENINGS: Final = 1280
"""The number of openings of each task."""
HELD_OUT: Final = "held-out"
"""What names a task's held-out openings."""


@cache
def _stored() -> dict[str, RecordArray]:
    """Return the openings of all tasks, GAME_DTYPE (b,) each."""
    with (
        files("skyenv.engine").joinpath(FILE).open("rb") as file,
        np.load(file) as content,
    ):
        return {name: content[name] for name in content.files}


def openings(name: str) -> RecordArray:
    """Return a copy of the openings of a name, without hidden cards, GAME_DTYPE (b,).

    Args:
        name: a task, such as "alea-4", its held-out openings, "alea-4/held-out", a single one, such
            as "alea-4/0", or several, such as "alea-4/0-7".

    Raises:
        OptionError: there is no such task or opening.
    """
    numbers = numbers_of(name)
    return as_records(_stored()[task_name(name)][numbers.start : numbers.stop].copy(), GAME_DTYPE)


def measured(name: str, number: int) -> list[str]:
    """Return the names of a task's first held-out openings, at most `number`: the fixed set on
    which agents and algorithms are measured. Of the name of some openings, their names.

    Raises:
        OptionError: there is no such task or opening.
    """
    numbers = numbers_of(name if "/" in name else f"{name}/{HELD_OUT}")
    return [f"{task_name(name)}/{index}" for index in numbers[:number]]


def numbers_of(name: str) -> range:
    """Return the numbers of the openings of a name, as for :func:`openings`.

    Raises:
        OptionError: see :func:`openings`.
    """
    if VARIANT:
        raise OptionError(f"tasks exist for the printed rules only, not for variant {VARIANT}")
    task, slash, which = name.partition("/")
    if task not in TASKS:
        known = ", ".join([*TASKS, *WHOLE_GAMES])
        raise OptionError(f"task must be one of {known}, not {shown(name)}")
    number = len(_stored()[task])
    first_held_out = 4 * number // 5
    if not slash:
        return range(first_held_out)
    if which == HELD_OUT:
        return range(first_held_out, number)
    ends = re.fullmatch("([0-9]{1,4})(?:-([0-9]{1,4}))?", which)
    found = range(int(ends[1]), int(ends[2] or ends[1]) + 1) if ends else range(0)
    if not found or found.stop > number:
        raise OptionError(
            f"task {task} has the openings {task}/0 to {task}/{number - 1}, those from "
            f"{task}/{first_held_out} held out, not {shown(name)}"
        )
    return found


def max_turns_of(name: str) -> int:
    """Return after how many turns the openings of a name are truncated; 0 if they differ in it.

    Raises:
        OptionError: there is no such task or opening.
    """
    numbers = numbers_of(name)
    limits = _stored()[task_name(name)]["max_turns"][numbers.start : numbers.stop]
    return int(limits[0]) if (limits == limits[0]).all() else 0


@rule
def selected(seed: int, number: int) -> int:
    """Return which of a number of openings a seed selects."""
    return hash32(seed & HIGHEST_SEED, SALT) % number


@entry_point("the openings of tasks")
def select(seed: int, number: int) -> int:
    """Return :func:`selected`."""
    return selected(seed, number)


def opening_of(name: str, seed: int) -> str:
    """Return the name of the opening that a seed selects among those of a name, such as
    "alea-4/7".
    """
    numbers = numbers_of(name)
    return f"{task_name(name)}/{numbers[select(seed, len(numbers))]}"


def payoffs(opening: str, state: RecordArray) -> list[float]:
    """Return every seat's payoff in a task: the sum of its rewards "outcome".

    Args:
        opening: the opening's name, such as "alea-4/7".
        state: the game at its end, GAME_DTYPE (1,).
    """
    players, kind = int(state["num_players"][0]), task_of(opening).reward
    shares, margins, cards = _tally(state, kind)
    if kind == OUTCOME:
        if state["end"][0] == END_TRUNCATED:
            return [0.0] * players
        return list(outcome_of(shares[:players], players).tolist())
    _, margins_before, cards_before = _tally(openings(opening), kind)
    paid = (cards_before - cards)[:players]
    from_others = (paid.sum() - paid) / (players - 1)
    payoff = (margins - margins_before)[:players] + CARD_VP * (from_others - paid)
    return [round(vp, 2) for vp in payoff.tolist()]


def _tally(state: RecordArray, kind: int) -> tuple[Float64, Int64, Int64]:
    """Return every seat's share of the win, its margin by a kind of reward
    (:func:`skyenv.engine.results.write_results`), and its cards, dealt or not; each (4,).
    """
    shares, margins = np.zeros((1, MAX_PLAYERS)), np.zeros((1, MAX_PLAYERS), np.int64)
    write_results(as_records(state, GAME_DTYPE), kind, shares, np.zeros_like(margins), margins)
    cards = state["known"].sum(axis=(2, 3)) + state["unknown"].sum(axis=2)
    return shares[0], margins[0], cards[0]
