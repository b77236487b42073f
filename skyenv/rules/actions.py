"""The 103 actions: their numbers and their names (INTERFACE.md, "The 103 actions")."""

from typing import Final

from skyenv.rules.components import (
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    PLACES,
    PLOTS,
)

OPTION_A: Final = 0
OPTION_B: Final = OPTION_A + 1  # + business
OPTION_C: Final = OPTION_B + NUM_BUSINESSES
OPTION_D: Final = OPTION_C + 1  # + district
PLOT: Final = OPTION_D + NUM_DISTRICTS  # + 6 · district + plot
TAKE: Final = PLOT + NUM_DISTRICTS * NUM_PLOTS  # + colour
MOVE: Final = TAKE + NUM_COLOURS  # + 9 · commissioner + place
PASS: Final = MOVE + NUM_COMMISSIONERS * NUM_PLACES
BID: Final = PASS + 1  # + 3 · colour + rank (black is colour 5)
BID_DONE: Final = BID + (NUM_COLOURS + 1) * NUM_RANKS
BUILD: Final = BID_DONE + 1  # + number of skyscrapers, 0 to 3
STOP: Final = BUILD + 4
NUM_ACTIONS: Final = STOP + 1  # how many actions there are: they are numbered from 0


ACTION_NAMES: Final[tuple[str, ...]] = (
    "option A",
    *(f"option B {business}" for business in BUSINESSES),
    "option C",
    *(f"option D {district}" for district in DISTRICTS),
    *(f"plot {district} {plot}" for district in DISTRICTS for plot in PLOTS),
    *(f"take {colour}" for colour in COLOURS),
    *(f"move {commissioner} {place}" for commissioner in COMMISSIONERS for place in PLACES),
    "pass",
    *(f"bid {colour} {value}" for colour in CARD_COLOURS for value in CARD_VALUES),
    "bid done",
    *(f"build {number}" for number in range(4)),
    "stop",
)
"""The name of every action, by number."""

ACTION_NUMBERS: Final = {name: number for number, name in enumerate(ACTION_NAMES)}
"""The number of every action, by name."""
