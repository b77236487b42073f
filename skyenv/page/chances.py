"""What can come: the next cards of the stacks and what Alea may bid, with their probabilities."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.engine.knowledge import resample, view
from skyenv.page.payloads import Payload
from skyenv.rules.components import BLACK, CARD_VALUES, COLOURS, NUM_RANKS
from skyenv.rules.state import GAME_DTYPE, NONE

DRAWS: Final = 200
"""Positions that a seat can't tell apart, over which its probabilities are averaged."""

Chances = npt.NDArray[np.float64]


def what_can_come(position: Any, seat: int | None) -> Payload:
    """The probabilities of what chance decides next, if it is asked.

    Args:
        position: GAME_DTYPE.
        seat: who wants to know: averaged over positions drawn from all that it can't tell from the
            real one, so they are a per cent or two off; None: somebody who sees all hands, exactly.

    Returns:
        ``cards``: for each stack its name and the probabilities of 4, 5 and 6 as the next card
            behind the visible one, or as the
        next black one; null if there is none. ``alea``: totals of Alea's bid with their
        probabilities; null without Alea.
    """
    one = np.array([position], GAME_DTYPE)
    if seat is not None:
        one = resample(view(one, [seat]), np.arange(DRAWS)).view(np.ndarray)
    cards: list[Payload] = []
    for colour, name in enumerate([*COLOURS, "black"]):
        every = [chance for game in one if (chance := next_card(game, colour)) is not None]
        cards.append(
            {"stack": name, "chances": np.mean(every, axis=0).round(4).tolist() if every else None}
        )
    return {
        "cards": cards,
        "alea": _alea(one) if position["num_players"] == 2 else None,
        "seat": seat,
    }


def next_card(game: np.void, colour: int) -> Chances | None:
    """The probabilities of 4, 5 and 6 as the next card of a stack, float64 (3,); None: there is
    none (AUC-8, AUC-9).
    """
    down = game["face_down"][colour].astype(np.float64)
    if colour == BLACK and not down.any():
        down = game["black_face_up"].astype(np.float64)  # shuffled first
    if down.any():
        return np.asarray(down / down.sum())
    if colour == BLACK or not game["num_returned"][colour] or game["top"][colour] == NONE:
        return None
    known = np.zeros(NUM_RANKS)
    known[game["returned"][colour, 0]] = 1.0
    return known


def _alea(games: npt.NDArray[np.void]) -> list[list[float]]:
    """Totals of Alea's next bid, ascending, with their probabilities."""
    totals: defaultdict[int, float] = defaultdict(float)
    for game in games:
        for total, chance in alea_totals(game["face_down"][BLACK], game["black_face_up"]).items():
            totals[total] += chance / len(games)
    return [[total, round(chance, 4)] for total, chance in sorted(totals.items())]


def alea_totals(down: npt.NDArray[Any], up: npt.NDArray[Any]) -> dict[int, float]:
    """ALEA-2: cards are turned until a value appears for the second time; the totals and their
    probabilities.

    Args:
        down, up: int (3,), black cards by rank that lie face down, and face up below them, which
            are shuffled once the others are gone (AUC-9).
    """
    totals: defaultdict[int, float] = defaultdict(float)

    def turn(
        down: tuple[int, ...], up: tuple[int, ...], seen: frozenset[int], total: int, chance: float
    ) -> None:
        if not sum(down):
            down, up = up, (0,) * NUM_RANKS
        if not sum(down):
            totals[total] += chance  # the black cards have run out
            return
        for rank in range(NUM_RANKS):
            if not down[rank]:
                continue
            more, share = total + CARD_VALUES[rank], chance * down[rank] / sum(down)
            if rank in seen:
                totals[more] += share
            else:
                left = tuple(number - (other == rank) for other, number in enumerate(down))
                turn(left, up, seen | {rank}, more, share)

    turn(tuple(map(int, down)), tuple(map(int, up)), frozenset(), 0, 1.0)
    return dict(totals)
