"""Statistics of a training's latest episodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from experiments.training.config import PAST

# The curves show means over this many latest episodes (win shares: against each opponent).
RECENT_EPISODES: Final = 1000
# Means of fewer games are not shown.
FEWEST_EPISODES: Final = 50


class Episodes:
    """Statistics of the latest episodes: win shares against each opponent, lengths, VP."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = {"shares": {}, "lengths": [], "points": [], "count": 0} if state is None else state
        self.shares: dict[str, deque[float]] = {
            kind: deque(shares, RECENT_EPISODES) for kind, shares in state["shares"].items()
        }
        self.lengths: deque[int] = deque(state["lengths"], RECENT_EPISODES)
        self.points: deque[float] = deque(state["points"], RECENT_EPISODES)
        self.count = int(state["count"])

    def state(self) -> dict[str, Any]:
        """Return the state from which the constructor makes an equal object."""
        shares = {kind: list(won) for kind, won in self.shares.items()}
        return {
            "shares": shares,
            "lengths": list(self.lengths),
            "points": list(self.points),
            "count": self.count,
        }

    def note(self, length: int, points: float) -> None:
        """Add a finished episode: its decisions of all seats, and the mean VP of the learner's
        seats.
        """
        self.count += 1
        self.lengths.append(length)
        self.points.append(points)

    def note_share(self, opponent: str, share: float) -> None:
        """Add the learner's share of a win against one kind of opponent."""
        kind = PAST if opponent.startswith(f"{PAST}-") else opponent
        self.shares.setdefault(kind, deque(maxlen=RECENT_EPISODES)).append(share)

    def means(self) -> dict[str, float]:
        """Return the share of wins against each kind of opponent in the latest episodes."""
        return {
            kind: float(np.mean(won))
            for kind, won in sorted(self.shares.items())
            if len(won) >= FEWEST_EPISODES
        }
