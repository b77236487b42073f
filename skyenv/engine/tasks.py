"""Bidding tasks: short games that begin where an auction opens and end when it is over.

A task is a name, a table of beginnings and a number of auctions. Beginnings are public positions of
games between strong agents; a reset takes one and deals the cards that nobody can locate anew, so
nothing is gained by learning hands by heart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.errors import OptionError, shown
from skyenv.rules.state import GAME_DTYPE, as_records


@dataclass(frozen=True)
class Task:
    """What a task asks for.

    Its payoff, in VP: the change of the margin over the best other seat, had all districts been
    scored, minus CARD_VP for every card paid; the others share what one pays. With two seats it is
    zero-sum.

    Attributes:
        cards: cards that every seat can bid with, in the first auction.
        auctions: how many auctions it lasts.
        num_players: 2 or 3.
        alea: whether Alea bids as well (ALEA-2).
        park: whether it is the park area's auction (AUC-12) instead of a district's.
    """

    cards: int
    auctions: int = 1
    num_players: int = 2
    alea: bool = False
    park: bool = False


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
    "park-4": Task(4, park=True),
}
"""The tasks by name."""

FILE: Final = "beginnings.npz"


@cache
def _stored() -> dict[str, npt.NDArray[np.void]]:
    """The beginnings of all tasks, GAME_DTYPE (b,) each."""
    with files("skyenv.engine").joinpath(FILE).open("rb") as file, np.load(file) as content:
        return {name: content[name] for name in content.files}


def beginnings(name: str) -> npt.NDArray[np.void]:
    """A task's beginnings before their hidden cards are dealt, GAME_DTYPE (b,); a copy.

    Args:
        name: a task, such as "alea-4", or one of its beginnings, such as "alea-4/0".

    Raises:
        OptionError: there is no such task or beginning.
    """
    task, slash, number = name.partition("/")
    if task not in TASKS:
        raise OptionError(f"task must be one of {', '.join(TASKS)}, not {shown(name)}")
    games = as_records(_stored()[task].copy(), GAME_DTYPE)
    if not slash:
        return games
    if not number.isascii() or not number.isdigit() or int(number) >= len(games):
        raise OptionError(
            f"task {task} has the beginnings {task}/0 to {task}/{len(games) - 1}, not {shown(name)}"
        )
    return games[int(number) : int(number) + 1]
