"""The weights of the heuristic players, and how compiled functions take them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.rules.state import new_records


@dataclass(frozen=True)
class Weights:
    """What greedy's scores are made of. VP are the unit unless another one is said."""

    # -- the rest of the game
    # further scorings of a district, beside the final one, expected at the start of the game
    scorings: float
    haste: float  # how much of the rest of the game is left after the first building stop (share)
    rivalry: (
        float  # how much others' VP count against the own with three and four players (with two: 1)
    )
    chase: float  # among several others, being so many VP ahead makes a rival count e times as much
    push: float  # worth of bringing the end nearer when far ahead
    # share of what a scoring of all districts would bring me that every business placed costs
    clock: float
    score: float  # a VP that option D scores at once
    option_a: float  # what option A is worth beside the skyscrapers and cards
    option_b: float  # price of option B, which brings the end nearer
    # -- plots and businesses
    # share of the next step in value that each free space for a business next to a plot is worth
    growth: float
    more: float  # skyscrapers yet to come on an own plot, when a business is placed
    block: float  # filling an empty plot where I stand and another doesn't
    entry: float  # share of the next special points for the districts that they ask for
    presence: float  # standing in one district more
    # -- cards and skyscrapers in hand
    point: float  # a point of a card in hand at the start of the game
    late: float  # share of that at the end of the game
    sated: float  # each card in hand makes all cards cheaper by this share
    black: float  # a point of a black card, in points of coloured ones
    low: float  # each skyscraper more that a card taken allows
    fit: float  # share of the worth of a plot for a card of its colour
    far: float  # how much of that where no commissioner is or has been
    synergy: float  # for each card of the same colour in hand
    sky: float  # the first skyscraper of the supply at the start of the game
    decay: float  # each further one in terms of the one before
    # -- auctions
    floors: float  # skyscrapers that the winner of an auction builds
    deny: float  # share of what another would get from winning that counts as own gain
    alea: float  # the same for Alea, of the worth of the plots that she takes
    target: float  # points with which an auction is expected to be won
    sharp: float  # this many points in hand more make the chance to win e times as high
    # -- commissioners
    stand_own: float  # share of the VP of a scoring that a commissioner's place offers to me
    stand_other: float  # the same for the others
    lead: float  # share of what the auction is worth where a commissioner goes
    call: float  # share of what the auctions are worth that a move to City Hall starts
    near: float  # the same of a move to Central Park
    option_c: float  # share of the best move, as the first action of option C
    start: float  # a point in hand of the plot's colour, placing a starting skyscraper
    crowd: float  # each other player in a district, placing a starting skyscraper


@dataclass(frozen=True)
class AppraiserWeights(Weights):
    """Greedy's weights and further ones, which tell what greedy leaves out."""

    # -- auctions
    # what a bidder pays at most for a point, in terms of the worth of a coloured point in my hand
    limit: float
    # a card's price rises by this share for each VP of the best plot that it could win elsewhere
    wanted: float
    deny_stop: float  # as `deny`, in a full district, where others can declare a building stop
    park: float  # a VP that is expected in the park area
    # -- districts that fill up
    # share of what an auction of the full district would change that filling the last empty plot is
    # worth
    full: float
    fuller: float  # the same of filling the last but one
    remote: float  # how much of that where no commissioner is or has been
    # -- commissioners
    stand_both: (
        float  # as `stand_own`, of the worse of the two places: the others can take one away
    )
    second: float  # share of the worse of two places in what they offer to another
    # -- the end and the start
    brink: float  # share of the worth of ending the game that placing the last business but one has
    bonus: float  # a VP of special points
    # a point of the visible card of the plot's colour, in terms of one in hand, placing a starting
    # skyscraper
    sight: float
    same: float  # price of a second starting plot of the same colour


_GREEDY: Final = {
    # of games of 2, 3 and 4 players
    "scorings": (0.352, 0.334, 0.32),
    "haste": (0.859, 0.88, 1.05),
    "rivalry": (1.19, 1.2, 1.23),
    "chase": (10.8, 9.9, 10.1),
    "push": (5, 4.92, 4.77),
    "clock": (0.0261, 0.0293, 0.0246),
    "score": (1.85, 2.29, 2.27),
    "option_a": (7.31, 6.85, 8.47),
    "option_b": (1.03, 1.14, 1.16),
    "growth": (0.183, 0.155, 0.234),
    "more": (0.531, 0.538, 0.527),
    "block": (0.67, 0.566, 0.616),
    "entry": (0.195, 0.247, 0.182),
    "presence": (0.781, 0.756, 0.734),
    "point": (0.577, 0.592, 0.582),
    "late": (0.239, 0.177, 0.2),
    "sated": (0.0343, 0.0331, 0.0314),
    "black": (1.43, 1.63, 1.55),
    "low": (0.462, 0.513, 0.585),
    "fit": (0.512, 0.546, 0.419),
    "far": (0.288, 0.374, 0.41),
    "synergy": (0.188, 0.176, 0.161),
    "sky": (3.22, 3.17, 4.22),
    "decay": (0.377, 0.352, 0.285),
    "floors": (0.846, 0.94, 1.13),
    "deny": (0.332, 0.303, 0.306),
    "alea": (0.0712, 0.066, 0.0721),
    "target": (15, 17.3, 14.5),
    "sharp": (10.7, 12.9, 11.3),
    "stand_own": (0.0732, 0.078, 0.076),
    "stand_other": (0.445, 0.282, 0.369),
    "lead": (1.31, 1.41, 1.45),
    "call": (0.196, 0.206, 0.203),
    "near": (0.215, 0.189, 0.208),
    "option_c": (0.136, 0.12, 0.126),
    "start": (0.212, 0.231, 0.198),
    "crowd": (3.25, 2.92, 3.26),
}

GREEDY_WEIGHTS: Final = {
    players: Weights(**{name: values[players - 2] for name, values in _GREEDY.items()})
    for players in (2, 3, 4)
}
"""Weights by number of players, found by an evolution strategy (CMA-ES) that let variants play
against each other.
"""

_APPRAISER: Final = {
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

APPRAISER_WEIGHTS: Final = {
    players: AppraiserWeights(
        **{**asdict(weights), **{name: values[players - 2] for name, values in _APPRAISER.items()}}
    )
    for players, weights in GREEDY_WEIGHTS.items()
}
"""Weights by number of players: greedy's where nothing better was measured.

Not yet tuned as a whole.
"""

WEIGHTS_DTYPE: Final = np.dtype(
    [("appraises", np.bool_), *((field.name, np.float64) for field in fields(AppraiserWeights))],
    align=True,
)
"""Weights as compiled functions take them, and whether the player appraises, as the one of that
name does.
"""
_LEFT_OUT: Final = {field.name: 0.0 for field in fields(AppraiserWeights)} | {
    "limit": 1.0,
    "park": 1.0,
    "bonus": 1.0,
}
"""The appraiser's further weights as they are in greedy's scores."""


def weights_record(weights: Weights) -> npt.NDArray[np.void]:
    """The record of some weights, WEIGHTS_DTYPE (1,)."""
    record = new_records(1, WEIGHTS_DTYPE)
    record["appraises"] = isinstance(weights, AppraiserWeights)
    for name, value in (_LEFT_OUT | asdict(weights)).items():
        record[name] = value
    return record
