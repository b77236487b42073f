"""A player that appraises: what is auctioned, what cards could win elsewhere, and what a district that fills up may become.

It judges every legal action by the victory points (VP) that it should bring, as greedy does (:mod:`agents.greedy`), but looks
further where greedy is weak; see :mod:`agents.appraisal`. All parameters stand in :class:`Weights`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents import greedy
from agents.advisor import JudgingAgent
from agents.appraisal import APPRAISAL_DTYPE, decide_all


@dataclass(frozen=True)
class Weights(greedy.Weights):
    """Greedy's weights and further ones. VP are the unit unless another one is told."""

    # -- auctions
    limit: float  # what a bidder pays at most for a point, in terms of the worth of a coloured point in my hand
    wanted: float  # a card's price rises by this share for each VP of the best plot that it could win elsewhere
    deny_stop: float  # as `deny`, in a full district, where others can declare a building stop
    park: float  # a VP that is expected in the park area
    # -- districts that fill up
    full: float  # share of what an auction of the full district would change that filling the last empty plot is worth
    fuller: float  # the same of filling the last but one
    remote: float  # how much of that where no commissioner is or has been
    # -- commissioners
    stand_both: float  # as `stand_own`, of the worse of the two places: the others can take one away
    second: float  # share of the worse of two places in what they offer to another
    # -- the end and the start
    brink: float  # share of the worth of ending the game that placing the last business but one has
    bonus: float  # a VP of special points
    sight: float  # a point of the visible card of the plot's colour, in terms of one in hand, placing a starting skyscraper
    same: float  # price of a second starting plot of the same colour


_FURTHER: Final = {
    # of games of 2, 3 and 4 players
    "limit": (1.0, 1.0, 1.0),
    "wanted": (0.01, 0.01, 0.01),
    "deny_stop": (0.9, 0.7, 0.7),
    "deny": (0.6, 0.5, 0.5),
    "stand_other": (1.0, 0.5, 0.6),
    "option_a": (3.0, 6.0, 7.0),
    "option_c": (0.08, 0.12, 0.126),
    "park": (1.0, 1.0, 1.0),
    "full": (0.3, 0.3, 0.3),
    "fuller": (0.05, 0.05, 0.05),
    "remote": (0.5, 0.5, 0.5),
    "stand_both": (0.3, 0.3, 0.3),
    "second": (0.3, 0.3, 0.3),
    "brink": (0.02, 0.02, 0.02),
    "bonus": (1.0, 1.0, 1.0),
    "sight": (0.3, 0.3, 0.3),
    "same": (0.5, 0.5, 0.5),
}

WEIGHTS: Final = {
    players: Weights(**{**vars(greedy.WEIGHTS[players]), **{name: values[players - 2] for name, values in _FURTHER.items()}})
    for players in (2, 3, 4)
}
"""Weights by number of players: greedy's where nothing better was measured. Not yet tuned as a whole by experiments/tune.py."""


class AppraiserAgent(JudgingAgent):
    """Judges every legal action by what it should bring, and auctions by what everyone could and would bid.

    See :class:`agents.advisor.JudgingAgent`.
    """

    name = "appraiser"
    version = "1"
    description = "appraises auctions, cards and building stops by expected VP and by what others could bid"
    kind = Weights
    measured = WEIGHTS
    mind = APPRAISAL_DTYPE
    decide = staticmethod(decide_all)
