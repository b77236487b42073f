"""Reference players: the appraiser with other weights, fixed once and for all, as rungs of the
ladders.

No other agent is made of them, searches with them or was trained against them, and they cost as
little as the appraiser. The ladders' scale hangs on some of them (:mod:`skyenv.arena.ratings`), so
their weights never change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from skyenv_agents.heuristic.player import AppraiserAgent
from skyenv_agents.heuristic.weights import APPRAISER_WEIGHTS, AppraiserWeights

_TIMES: Final = {
    "bidder": {
        "target": 1.4,
        "floors": 1.5,
        "lead": 1.5,
        "call": 1.6,
        "near": 1.6,
        "point": 1.4,
        "limit": 1.5,
    },
    "builder": {
        "growth": 1.6,
        "entry": 1.6,
        "presence": 1.5,
        "sky": 1.3,
        "option_a": 1.15,
        "stand_own": 1.5,
    },
}
"""How many times the appraiser's each weight is that differs."""


def _weights(name: str) -> dict[int, AppraiserWeights]:
    """A reference player's weights by number of players."""
    return {
        players: replace(
            weights,
            **{field: times * getattr(weights, field) for field, times in _TIMES[name].items()},
        )
        for players, weights in APPRAISER_WEIGHTS.items()
    }


class BidderAgent(AppraiserAgent):
    """Sets much store by auctions; weaker than the appraiser, and in other ways."""

    name = "bidder"
    description = "a reference for ratings: the appraiser with more store set by auctions"
    measured = _weights("bidder")


class BuilderAgent(AppraiserAgent):
    """Sets much store by plots and skyscrapers; nearly as strong as the appraiser."""

    name = "builder"
    description = (
        "a reference for ratings: the appraiser with more store set by plots and skyscrapers"
    )
    measured = _weights("builder")
