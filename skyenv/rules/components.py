"""COM: the components of the game.

Counts, values, score tables, and the order of all indices. A variant may change the constants
marked as changeable (:mod:`skyenv.rules.variant`).
"""

from typing import Final

import numpy as np

from skyenv.rules.variant import changeable, check

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 4

COLOURS: Final = ("green", "violet", "brown", "orange", "gray")
CARD_COLOURS: Final = (*COLOURS, "black")
NUM_COLOURS: Final = len(COLOURS)
BLACK: Final = 5  # index of black among the card colours

CARD_VALUES: Final = (4, 5, 6)
LOWEST_CARD: Final = 4  # A card is stored as its *rank*: value − LOWEST_CARD, so 0, 1 or 2
NUM_RANKS: Final = len(CARD_VALUES)

COLOURED_CARDS: Final = changeable("coloured_cards", (5, 4, 3), 1, 10)
"""COM-1: number of 4s, 5s and 6s of each colour."""
BLACK_CARDS: Final = changeable("black_cards", (20, 16, 14), 1, 20)
"""COM-1: number of black 4s, 5s and 6s."""
CARD_COUNTS: Final = np.array([COLOURED_CARDS] * NUM_COLOURS + [BLACK_CARDS], dtype=np.int8)
"""COM-1: the full pack, int8[card colour, rank]."""
HIGHEST_TOTAL: Final = int((CARD_COUNTS[[0, BLACK]] * np.array(CARD_VALUES)).sum())
"""Upper bound of bids: every card of one colour and every black one."""
BUILD_LIMIT: Final = np.array(changeable("build_limit", (3, 2, 1), 0, 3), dtype=np.int8)
"""COM-10: number of skyscrapers that a bid's highest card allows, by rank."""

STARTING_SKYSCRAPERS: Final = 2
STARTING_SUPPLY: Final = changeable("starting_supply", 3, 0, 15)
STARTING_GENERAL_SUPPLY: Final = changeable("starting_general_supply", 12, 0, 12)
SKYSCRAPERS_PER_OPTION: Final = changeable("skyscrapers_per_option", 3, 1, 6)
ALEA_SKYSCRAPERS: Final = changeable("alea_skyscrapers", 18, 0, 18)
STARTING_BLACK_CARDS: Final = changeable("starting_black_cards", 4, 0, 8)

BUSINESSES: Final = ("boutique", "jeweller", "gallery", "perfumery")
NUM_BUSINESSES: Final = len(BUSINESSES)
TILES_PER_BUSINESS: Final = changeable("tiles_per_business", 9, 7, 9)
SET_SIZES: Final = (3, 2, 3, 2, 3, 2, 3, 2)
"""SET-3: sizes of the supply row's sets, from left to right."""
ROW_SIZE: Final = sum(SET_SIZES)
SET_START: Final = np.array([sum(SET_SIZES[:i]) for i in range(len(SET_SIZES) + 1)], dtype=np.int8)
"""First space of every set, and the end of the row."""
BUSINESSES_TO_PLACE: Final = sum(SET_SIZES) - len(SET_SIZES)
"""BUS-5: number of times that option B can be taken; the last one ends the game."""

DISTRICTS: Final = ("W34", "E34", "W42", "TSQ", "E42", "W52", "E52")
NUM_DISTRICTS: Final = len(DISTRICTS)
CENTRAL_PARK: Final = 7
CITY_HALL: Final = 8
PLACES: Final = (*DISTRICTS, "CENTRAL_PARK", "CITY_HALL")
NUM_PLACES: Final = len(PLACES)
STREETS: Final = (
    (2, 3),
    (3, 4),
    (5,),
    (5, 6),
    (6,),
    (CENTRAL_PARK,),
    (CENTRAL_PARK,),
    (CITY_HALL,),
    (0, 1),
)
"""COM-5: the next places of every place."""
NEXT_PLACES: Final = np.array(
    [sum(1 << place for place in nexts) for nexts in STREETS], dtype=np.int64
)
"""COM-5 as bit masks: bit p of NEXT_PLACES[q] is set if a street leads from q to p."""

COMMISSIONERS: Final = ("white", "beige")
NUM_COMMISSIONERS: Final = len(COMMISSIONERS)
MARKERS: Final = 3

SIDES: Final = ("front", "back")
FRONT: Final = 0
BACK: Final = 1
SIXTH: Final = 5  # COM-8: index of the back side's sixth plot
PLOTS: Final = (*COLOURS, "sixth")
NUM_PLOTS: Final = len(PLOTS)
MAX_TILES_ON_PLOT: Final = 2

OPTIONS: Final = ("A", "B", "C", "D")

PLOT_VALUE: Final = np.array(changeable("plot_value", (1, 2, 3, 5, 8), 0, 8), dtype=np.int8)
"""SCO-2 and END-3: VP of a skyscraper by the number of different business types that count for it.
"""
BONUS_EVERY: Final = 3
"""BUS-4: special points come after every third business, except the last (BUS-5)."""
BONUS_VP: Final = np.array(changeable("bonus_vp", (4, 6, 8), 0, 20), dtype=np.int8)
BONUS_DISTRICTS: Final = np.array(changeable("bonus_districts", (3, 4, 5), 0, 7), dtype=np.int8)
MAX_STOPS: Final = changeable("max_stops", 2, 1, 2)  # STOP-6: the second stop ends the game
TILES_TURNED_UP: Final = changeable("tiles_turned_up", 3, 0, 3)
"""END-3: number of tiles of the park area that count at the end."""

check(
    {
        "coloured_cards must be 5 to 12 cards": 5 <= sum(COLOURED_CARDS) <= 12,
        "black_cards must be at most 50 cards": sum(BLACK_CARDS) <= 50,
        "four seats' starting_black_cards must be among the black_cards": (
            sum(BLACK_CARDS) >= 4 * STARTING_BLACK_CARDS
        ),
        "starting_supply and starting_general_supply must be at most 15 together": (
            STARTING_SUPPLY + STARTING_GENERAL_SUPPLY <= 15
        ),
    }
)
