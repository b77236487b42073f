"""INF: what a seat knows. All that agents, pictures and pages learn of a position comes from here or from the observation."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.rules.compiling import EntryPoints, rule
from skyenv.rules.components import MAX_PLAYERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.state import GAME_DTYPE, NONE, Record, new_records

VIEW_DTYPE: Final = np.dtype(
    [
        ("game", GAME_DTYPE),  # the position; what the seat can't know is blanked: other hands hold only cards that
        # everybody knows of, nothing is face down, there is no seed and no stream of chance
        ("seat", np.int8),  # whose view this is
        ("unknown", np.int8, (4, 6)),  # [seat, card colour] → cards in that hand that this seat doesn't know
        (
            "unseen",
            np.int8,
            (6, 3),
        ),  # [card colour, rank] → cards that this seat can't locate: face down or unknown in a hand
        ("num_face_down", np.int8, (6,)),  # [card colour] → cards face down in the stack
        ("spare", np.int8, (7,)),  # 0; fills the record
    ],
    align=True,
)
"""A seat's view of a game."""


@rule
def redact(view: Record, seat: int) -> None:
    """Fill in a view whose `game` is a full copy, then blank there what the seat can't know."""
    game = view.game
    view.seat = seat
    for colour in range(NUM_COLOURS + 1):
        view.num_face_down[colour] = 0
        for rank in range(NUM_RANKS):
            own = game.hand[seat, colour, rank] - game.known[seat, colour, rank]
            view.unseen[colour, rank] = game.unlocated[colour, rank] - own
            view.num_face_down[colour] += game.face_down[colour, rank]
            game.face_down[colour, rank] = 0
        for other in range(MAX_PLAYERS):
            if other != seat:
                view.unknown[other, colour] = game.unknown[other, colour]
                for rank in range(NUM_RANKS):
                    game.hand[other, colour, rank] = game.known[other, colour, rank]
    game.seed = NONE
    for i in range(4):
        game.random[i] = 0


def _make_redact_all(fingerprint: str):  # type: ignore[no-untyped-def]
    def redact_all(views, seats):  # type: ignore[no-untyped-def]
        """Redact every view for its seat."""
        _ = fingerprint
        for i in range(len(views)):
            redact(views[i], seats[i])

    return redact_all


_redact_all = EntryPoints().make(_make_redact_all)


def view(state: npt.NDArray[np.void], seats: int | npt.ArrayLike) -> np.recarray:
    """What seats see of games.

    Args:
        state: games, GAME_DTYPE (k,).
        seats: a seat for all of them or one for each, 0 … N−1.

    Returns:
        New records, VIEW_DTYPE (k,); INF-1 to INF-3.
    """
    views = new_records(len(state), VIEW_DTYPE)
    views["game"] = state
    _redact_all(views, np.broadcast_to(np.asarray(seats, dtype=np.int64), len(state)).copy())
    return views.view(np.recarray)
