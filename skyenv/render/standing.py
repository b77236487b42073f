"""The standings: each seat's VP if all districts were scored now."""

from typing import Any

import numpy as np

from skyenv.array_types import Int64
from skyenv.rules.state import END_TASK, PHASE_OVER


def if_scored_now(games: Any, players: int) -> Int64:
    """Return the VP of every seat if the game ended by END-2 now: its VP, and SCO-2 of every
    district that isn't stopped.

    The park area is excluded, as its scoring depends on the tiles that END-3 turns up. Scores of
    finished games are returned unchanged; a bidding task ends without that scoring. The inputs are
    public (INF-1).

    Args:
        games: records of GAME_DTYPE, of any shape (…), or one record; of a view its ``game``.
        players: number of seats, equal in all games.

    Returns:
        int64 (…, players).
    """
    owners, worth = games["owner"], games["floors"].astype(np.int64) * games["value"]
    held = [np.where(owners == seat, worth, 0).sum(axis=(-2, -1)) for seat in range(players)]
    is_open = np.asarray((games["phase"] != PHASE_OVER) | (games["end"] == END_TASK))[..., None]
    total: Int64 = games["score"][..., :players] + is_open * np.stack(held, axis=-1)
    return total
