"""The weights of the heuristic agents and their records for compiled functions.

The unit is VP unless stated otherwise. Values "at the start" fall linearly as the game goes on.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np

from skyenv.array_types import RecordArray
from skyenv.rules.record import new_records

Weights: TypeAlias = Mapping[str, float]
"""All weights of an agent by name."""
# Values for games of two, three and four players, by name.
WeightTable: TypeAlias = Mapping[str, tuple[float, float, float]]

# Greedy's weights, tuned by an evolution strategy (CMA-ES) in games between variants.
GREEDY: Final[WeightTable] = {
    # -- the rest of the game
    # expected scorings of a district at the start, in addition to the final one
    "scorings": (0.352, 0.334, 0.32),
    # factor on the share of the game left, after the first building stop
    "haste": (0.859, 0.88, 1.05),
    # weight of all others' VP with three and four players (with two: 1)
    "rivalry": (1.19, 1.2, 1.23),
    # lead among the others that multiplies a rival's weight by e
    "chase": (10.8, 9.9, 10.1),
    "push": (5, 4.92, 4.77),  # bringing the end nearer, when far ahead late in the game
    # cost of bringing the end nearer, as a share of my net VP if all districts were scored
    "clock": (0.0261, 0.0293, 0.0246),
    "score": (1.85, 2.29, 2.27),  # a VP scored by option D
    "option_a": (7.31, 6.85, 8.47),  # option A without its skyscrapers and cards
    "option_b": (1.03, 1.14, 1.16),  # cost of option B, which brings the end nearer
    # -- plots and businesses
    # each free space for a business next to a plot, as a share of the plot's next increase, at
    # the start
    "growth": (0.183, 0.155, 0.234),
    # further skyscrapers expected on a plot next to a new business, at the start
    "more": (0.531, 0.538, 0.527),
    # filling an empty plot of a district with my presence, for each rival without presence
    "block": (0.67, 0.566, 0.616),
    # presence in one more district, as a share of the next special points per missing district
    "entry": (0.195, 0.247, 0.182),
    "presence": (0.781, 0.756, 0.734),  # presence in one more district, at the start
    # -- cards and skyscrapers in hand
    "point": (0.577, 0.592, 0.582),  # a point of a coloured card in hand, at the start
    "late": (0.239, 0.177, 0.2),  # share of that value at the end
    "sated": (0.0343, 0.0331, 0.0314),  # relative loss of that value per card in hand
    "black": (1.43, 1.63, 1.55),  # value of a black point, in coloured points
    "low": (0.462, 0.513, 0.585),  # each skyscraper of the building limit of a card taken
    "fit": (0.512, 0.546, 0.419),  # share of the value of plots of a card's colour, at the start
    "far": (0.288, 0.374, 0.41),  # factor on it in districts without commissioner or marker
    "synergy": (0.188, 0.176, 0.161),  # each card of the same colour in hand
    "sky": (3.22, 3.17, 4.22),  # the first skyscraper in the supply, at the start
    "decay": (0.377, 0.352, 0.285),  # value of each further one relative to the one before
    # -- auctions
    "floors": (0.846, 0.94, 1.13),  # expected skyscrapers built by the winner of an auction
    # share of another seat's gain by winning that counts as mine when I prevent it
    "deny": (0.332, 0.303, 0.306),
    "alea": (0.0712, 0.066, 0.0721),  # loss if Alea wins, as a share of the best plot's value
    "target": (15, 17.3, 14.5),  # expected price of winning an auction, in points
    # points in hand that multiply a bidder's odds of winning by e
    "sharp": (10.7, 12.9, 11.3),
    # -- commissioners
    # share of my net VP of a scoring at a commissioner's place
    "stand_own": (0.0732, 0.078, 0.076),
    "stand_other": (0.445, 0.282, 0.369),  # the same for the others
    "lead": (1.31, 1.41, 1.45),  # share of the auction's value where a commissioner goes
    # share of the value of the auctions that a move to City Hall starts
    "call": (0.196, 0.206, 0.203),
    "near": (0.215, 0.189, 0.208),  # the same for a move to Central Park
    "option_c": (0.136, 0.12, 0.126),  # share of the best move's value in option C
    # a point in hand of the plot's colour, for a starting skyscraper
    "start": (0.212, 0.231, 0.198),
    "crowd": (3.25, 2.92, 3.26),  # cost of each other seat in the district of a starting skyscraper
}
# The appraiser's additional weights.
ADDITIONAL: Final[WeightTable] = {
    # -- auctions
    # value of a point to any bidder, relative to the value of a coloured point in my hand
    "limit": (1.0, 1.0, 1.0),
    # relative rise of a card's price per VP of the best plot that it could win elsewhere
    "wanted": (0.01, 0.01, 0.01),
    # `deny` in a full district, where the winner can declare a building stop
    "deny_stop": (0.9, 0.7, 0.7),
    "park": (1.0, 1.0, 1.0),  # an expected VP in the park area
    # -- districts that fill up
    # filling the last empty plot, as a share of the change in the auction's value
    "full": (0.3, 0.3, 0.3),
    "fuller": (0.05, 0.05, 0.05),  # the same for the last but one
    "remote": (0.5, 0.5, 0.5),  # factor on both in districts without commissioner or marker
    # -- commissioners
    # `stand_own` for the worse of the two places, as the others can remove one
    "stand_both": (0.3, 0.3, 0.3),
    "second": (0.3, 0.3, 0.3),  # weight of the worse of the two places for each other seat
    # -- the end and the start
    # placing the last business but one, as a share of the value of ending the game
    "brink": (0.02, 0.02, 0.02),
    "bonus": (1.0, 1.0, 1.0),  # a VP of special points
    # a point of the visible card of a starting plot's colour, relative to `start`
    "sight": (0.3, 0.3, 0.3),
    "same": (0.5, 0.5, 0.5),  # cost of a second starting plot of the same colour
}
# The appraiser's overrides of greedy's weights, measured one by one, not tuned together.
OVERRIDES: Final[WeightTable] = {
    "deny": (0.6, 0.5, 0.5),
    "stand_other": (1.0, 0.5, 0.6),
    "option_a": (3.0, 6.0, 7.0),
    "option_c": (0.08, 0.12, 0.126),
}


def by_players(table: WeightTable) -> dict[int, Weights]:
    """Return the weights for every number of players."""
    return {
        players: {name: values[players - 2] for name, values in table.items()}
        for players in (2, 3, 4)
    }


GREEDY_WEIGHTS: Final = by_players(GREEDY)
APPRAISER_WEIGHTS: Final = by_players({**GREEDY, **OVERRIDES, **ADDITIONAL})
# Weights for compiled functions, with a flag for the appraiser's rules.
WEIGHTS_DTYPE: Final = np.dtype(
    [("appraises", np.bool_), *((name, np.float64) for name in (*GREEDY, *ADDITIONAL))], align=True
)
# Nonzero values of the appraiser's additional weights in greedy's scores.
NEUTRAL: Final = {"limit": 1.0, "park": 1.0, "bonus": 1.0}


def weights_record(weights: Weights) -> RecordArray:
    """Return the record of some weights, WEIGHTS_DTYPE (1,)."""
    record = new_records(1, WEIGHTS_DTYPE)
    record["appraises"] = ADDITIONAL.keys() <= weights.keys()
    for name, value in {**NEUTRAL, **weights}.items():
        record[name] = value
    return record
