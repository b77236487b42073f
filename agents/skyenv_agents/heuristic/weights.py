"""The weights of the heuristic agents and their records for compiled functions.

The unit is VP unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from skyenv.rules.state import new_records

Weights: TypeAlias = Mapping[str, float]
"""All weights of an agent by name."""
Table: TypeAlias = Mapping[str, tuple[float, float, float]]
"""Values for games of two, three and four players, by name."""

GREEDY: Final[Table] = {
    # -- the rest of the game
    # further scorings of a district, beside the final one, expected at the start of the game
    "scorings": (0.352, 0.334, 0.32),
    # how much of the rest of the game is left after the first building stop (share)
    "haste": (0.859, 0.88, 1.05),
    # how much others' VP count against the own with three and four players (with two: 1)
    "rivalry": (1.19, 1.2, 1.23),
    # among several others, being so many VP ahead makes a rival count e times as much
    "chase": (10.8, 9.9, 10.1),
    "push": (5, 4.92, 4.77),  # worth of bringing the end nearer when far ahead
    # share of what a scoring of all districts would bring me that every business placed costs
    "clock": (0.0261, 0.0293, 0.0246),
    "score": (1.85, 2.29, 2.27),  # a VP that option D scores at once
    "option_a": (7.31, 6.85, 8.47),  # what option A is worth beside the skyscrapers and cards
    "option_b": (1.03, 1.14, 1.16),  # price of option B, which brings the end nearer
    # -- plots and businesses
    # share of the next step in value that each free space for a business next to a plot is worth
    "growth": (0.183, 0.155, 0.234),
    # skyscrapers yet to come on an own plot, when a business is placed
    "more": (0.531, 0.538, 0.527),
    "block": (0.67, 0.566, 0.616),  # filling an empty plot where I stand and another doesn't
    # share of the next special points for the districts that they ask for
    "entry": (0.195, 0.247, 0.182),
    "presence": (0.781, 0.756, 0.734),  # standing in one district more
    # -- cards and skyscrapers in hand
    "point": (0.577, 0.592, 0.582),  # a point of a card in hand at the start of the game
    "late": (0.239, 0.177, 0.2),  # share of that at the end of the game
    "sated": (0.0343, 0.0331, 0.0314),  # each card in hand makes all cards cheaper by this share
    "black": (1.43, 1.63, 1.55),  # a point of a black card, in points of coloured ones
    "low": (0.462, 0.513, 0.585),  # each skyscraper more that a card taken allows
    "fit": (0.512, 0.546, 0.419),  # share of the worth of a plot for a card of its colour
    "far": (0.288, 0.374, 0.41),  # how much of that where no commissioner is or has been
    "synergy": (0.188, 0.176, 0.161),  # for each card of the same colour in hand
    "sky": (3.22, 3.17, 4.22),  # the first skyscraper of the supply at the start of the game
    "decay": (0.377, 0.352, 0.285),  # each further one in terms of the one before
    # -- auctions
    "floors": (0.846, 0.94, 1.13),  # skyscrapers that the winner of an auction builds
    # share of what another would get from winning that counts as own gain
    "deny": (0.332, 0.303, 0.306),
    "alea": (0.0712, 0.066, 0.0721),  # the same for Alea, of the worth of the plots that she takes
    "target": (15, 17.3, 14.5),  # points with which an auction is expected to be won
    # this many points in hand more make the chance to win e times as high
    "sharp": (10.7, 12.9, 11.3),
    # -- commissioners
    # share of the VP of a scoring that a commissioner's place offers to me
    "stand_own": (0.0732, 0.078, 0.076),
    "stand_other": (0.445, 0.282, 0.369),  # the same for the others
    "lead": (1.31, 1.41, 1.45),  # share of what the auction is worth where a commissioner goes
    # share of what the auctions are worth that a move to City Hall starts
    "call": (0.196, 0.206, 0.203),
    "near": (0.215, 0.189, 0.208),  # the same of a move to Central Park
    "option_c": (0.136, 0.12, 0.126),  # share of the best move, as the first action of option C
    # a point in hand of the plot's colour, placing a starting skyscraper
    "start": (0.212, 0.231, 0.198),
    "crowd": (3.25, 2.92, 3.26),  # each other player in a district, placing a starting skyscraper
}
"""Greedy's weights, tuned by an evolution strategy (CMA-ES) in games between variants."""
FURTHER: Final[Table] = {
    # -- auctions
    # what a bidder pays at most for a point, in terms of the worth of a coloured point in my hand
    "limit": (1.0, 1.0, 1.0),
    # a card's price rises by this share for each VP of the best plot that it could win elsewhere
    "wanted": (0.01, 0.01, 0.01),
    # as `deny`, in a full district, where others can declare a building stop
    "deny_stop": (0.9, 0.7, 0.7),
    "park": (1.0, 1.0, 1.0),  # a VP that is expected in the park area
    # -- districts that fill up
    # share of what an auction of the full district would change that filling the last empty plot
    # is worth
    "full": (0.3, 0.3, 0.3),
    "fuller": (0.05, 0.05, 0.05),  # the same of filling the last but one
    "remote": (0.5, 0.5, 0.5),  # how much of that where no commissioner is or has been
    # -- commissioners
    # as `stand_own`, of the worse of the two places: the others can take one away
    "stand_both": (0.3, 0.3, 0.3),
    "second": (0.3, 0.3, 0.3),  # share of the worse of two places in what they offer to another
    # -- the end and the start
    # share of the worth of ending the game that placing the last business but one has
    "brink": (0.02, 0.02, 0.02),
    "bonus": (1.0, 1.0, 1.0),  # a VP of special points
    # a point of the visible card of the plot's colour, in terms of one in hand, placing a
    # starting skyscraper
    "sight": (0.3, 0.3, 0.3),
    "same": (0.5, 0.5, 0.5),  # price of a second starting plot of the same colour
}
"""The appraiser's additional weights."""
CHANGED: Final[Table] = {
    "deny": (0.6, 0.5, 0.5),
    "stand_other": (1.0, 0.5, 0.6),
    "option_a": (3.0, 6.0, 7.0),
    "option_c": (0.08, 0.12, 0.126),
}
"""The appraiser's overrides of greedy's weights, measured one by one, not tuned together."""


def by_players(table: Table) -> dict[int, Weights]:
    """Return the weights for every number of players."""
    return {
        players: {name: values[players - 2] for name, values in table.items()}
        for players in (2, 3, 4)
    }


GREEDY_WEIGHTS: Final = by_players(GREEDY)
APPRAISER_WEIGHTS: Final = by_players({**GREEDY, **CHANGED, **FURTHER})
WEIGHTS_DTYPE: Final = np.dtype(
    [("appraises", np.bool_), *((name, np.float64) for name in (*GREEDY, *FURTHER))], align=True
)
"""Weights for compiled functions, with a flag for the appraiser's rules."""
NEUTRAL: Final = {"limit": 1.0, "park": 1.0, "bonus": 1.0}
"""Values of the appraiser's additional weights in greedy's scores; all others are 0."""


def weights_record(weights: Weights) -> npt.NDArray[np.void]:
    """Return the record of some weights, WEIGHTS_DTYPE (1,)."""
    record = new_records(1, WEIGHTS_DTYPE)
    record["appraises"] = FURTHER.keys() <= weights.keys()
    for name, value in {**NEUTRAL, **weights}.items():
        record[name] = value
    return record
