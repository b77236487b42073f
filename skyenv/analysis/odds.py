"""Draw odds: exact probabilities of the next cards and of Alea's bid, given a seat's knowledge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.engine.knowledge import view
from skyenv.rules.components import BLACK, CARD_COLOURS, CARD_VALUES, NUM_RANKS
from skyenv.rules.state import GAME_DTYPE, NONE

Chances = npt.NDArray[np.float64]


class Stacks(NamedTuple):
    """The stacks of cards as an observer knows them.

    An observer who can't tell which cards lie face down and which are in hands expects each of
    them next with equal probability.

    Attributes:
        game: the known part of the position, GAME_DTYPE.
        pool: int (6, 3), [colour, rank]: the cards that can come next.
        number: int (6,), the number of them that lie face down.
    """

    game: Any
    pool: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]

    @classmethod
    def of_view(cls, seen: Any) -> Stacks:
        """Return the stacks as the seat of a view, VIEW_DTYPE, knows them."""
        pool = seen["unseen"].astype(np.int64)
        others = [other for other in range(2) if other != seen["seat"]]
        pool[BLACK] -= seen["game"]["deduced"][others].sum(axis=0)
        return cls(seen["game"], pool, seen["num_face_down"].astype(np.int64))

    @classmethod
    def of(cls, position: Any, seat: int | None) -> Stacks:
        """Return the stacks of a position, GAME_DTYPE, as a seat knows them; None: all open."""
        if seat is not None:
            return cls.of_view(view(np.array([position], GAME_DTYPE), [seat])[0])
        down = position["face_down"].astype(np.int64)
        return cls(position, down, down.sum(axis=1))

    def next_card(self, colour: int) -> Chances | None:
        """Return the probabilities of 4, 5 and 6 as the next card of a stack, float64 (3,); None
        if no card is left (AUC-8, AUC-9).
        """
        if self.number[colour]:
            cards = self.pool[colour]
        elif colour == BLACK:
            cards = self.game["black_face_up"]  # shuffled first
        elif self.game["num_returned"][colour] and self.game["top"][colour] != NONE:
            cards = np.arange(NUM_RANKS) == self.game["returned"][colour, 0]
        else:
            cards = np.zeros(NUM_RANKS)
        return cards / cards.sum() if cards.any() else None

    def alea(self) -> dict[int, float]:
        """Return totals of Alea's next bid, ascending, with their probabilities."""
        return alea_totals(self.pool[BLACK], int(self.number[BLACK]), self.game["black_face_up"])


def what_can_come(position: Any, seat: int | None) -> dict[str, Any]:
    """Return the draw odds of a position.

    Args:
        position: GAME_DTYPE.
        seat: the seat whose knowledge counts; None: all hands are open.

    Returns:
        ``cards``: for each stack its name and the probabilities of 4, 5 and 6 as the next card
        behind the visible one, or as the next black one; null if there is none. ``alea``: totals of
        Alea's bid with their probabilities; null without Alea (ALEA-1; not in all tasks).
    """
    stacks = Stacks.of(position, seat)
    return {
        "cards": [
            {"stack": name, "chances": None if chances is None else chances.round(4).tolist()}
            for name, chances in zip(CARD_COLOURS, map(stacks.next_card, range(6)), strict=True)
        ],
        "alea": [[total, round(chance, 4)] for total, chance in stacks.alea().items()]
        if position["num_players"] == 2 and position["alea_supply"] != NONE
        else None,
    }


def alea_totals(pool: Sequence[int], number: int, up: Sequence[int]) -> dict[int, float]:
    """Return the totals of Alea's bid, ascending, with their probabilities (ALEA-2: cards are
    turned up until a value appears for the second time).

    Args:
        pool: number of black cards by rank (3,), of which `number` lie face down.
        number: how many cards lie face down.
        up: black cards by rank (3,) that lie face up below them; they are shuffled once the others
            are used up (AUC-9).
    """
    totals: defaultdict[int, float] = defaultdict(float)

    def turn(
        pool: list[int], number: int, up: list[int], seen: frozenset[int], total: int, chance: float
    ) -> None:
        if not number:
            pool, number, up = up, sum(up), [0] * NUM_RANKS
        if not number:
            totals[total] += chance  # no black cards left
            return
        for rank in range(NUM_RANKS):
            if not pool[rank]:
                continue
            more, share = total + CARD_VALUES[rank], chance * pool[rank] / sum(pool)
            if rank in seen:
                totals[more] += share
            else:
                left = [cards - (other == rank) for other, cards in enumerate(pool)]
                turn(left, number - 1, up, seen | {rank}, more, share)

    turn([*map(int, pool)], number, [*map(int, up)], frozenset(), 0, 1.0)
    return dict(sorted(totals.items()))
