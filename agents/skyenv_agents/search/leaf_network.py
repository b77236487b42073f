"""The leaf network of tree searches: every seat's win probability with open hands.

It evaluates determinizations, which have no hidden information, in a few microseconds and replaces
rollouts. All seats and districts share its weights:

1. For every seat a ReLU layer processes each district.
2. A second layer takes the sums over districts and the seat's further inputs.
3. Its weighted sum is the seat's strength; a softmax over seats gives the probabilities.

``python -m experiments.shipping.fit_leaves`` fits the weights. Inputs, `game` and `h` are those of
:mod:`skyenv_agents.heuristic.inputs`.
"""

from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from skyenv.array_types import Float32
from skyenv.errors import CheckpointError
from skyenv.rules.compiling import called_rule
from skyenv.rules.components import LOWEST_CARD, NUM_COLOURS, NUM_DISTRICTS, NUM_RANKS
from skyenv.rules.state import GameRecord
from skyenv_agents.heuristic.features import HeuristicRecord
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, SEAT_INPUTS, write_district, write_seat
from skyenv_agents.heuristic.win_probability import softmax

DISTRICT_UNITS: Final = 16  # width of the district layer
SEAT_UNITS: Final = 32  # width of the seat layer

# The arrays of a network's file; compiled functions take them concatenated.
SHAPES: Final = {
    "district": (DISTRICT_INPUTS, DISTRICT_UNITS),
    "district_bias": (DISTRICT_UNITS,),
    "seat": (SEAT_INPUTS + DISTRICT_UNITS, SEAT_UNITS),
    "seat_bias": (SEAT_UNITS,),
    "strength": (SEAT_UNITS,),
}
_DISTRICT_BIAS: Final = DISTRICT_INPUTS * DISTRICT_UNITS
_SEAT: Final = _DISTRICT_BIAS + DISTRICT_UNITS
_SEAT_BIAS: Final = _SEAT + (SEAT_INPUTS + DISTRICT_UNITS) * SEAT_UNITS
_STRENGTH: Final = _SEAT_BIAS + SEAT_UNITS
NUM_WEIGHTS: Final = _STRENGTH + SEAT_UNITS
# Size of the network's scratch memory in float32 numbers.
MEMORY: Final = DISTRICT_INPUTS + DISTRICT_UNITS + SEAT_INPUTS + DISTRICT_UNITS + SEAT_UNITS
# Folder of the networks.
FOLDER: Final = Path(__file__).resolve().parent / "leaf_networks"


@called_rule
def extract_open_hands(game: GameRecord, h: HeuristicRecord) -> None:
    """Write the points in all hands by colour, with open hands."""
    for seat in range(game.num_players):
        for colour in range(NUM_COLOURS + 1):
            points = 0
            for rank in range(NUM_RANKS):
                points += int(game.hand[seat, colour, rank]) * (rank + LOWEST_CARD)
            h.points[seat, colour] = points


@called_rule
def add_units(network: Float32, first: int, width: int, value: float, units: Float32) -> None:
    """Add an input, times its weights from `first` on, to the units of a layer."""
    for j in range(width):
        units[j] += np.float32(value) * network[first + j]


@called_rule
def strength(
    game: GameRecord, h: HeuristicRecord, network: Float32, seat: int, memory: Float32
) -> float:
    """Return a seat's strength."""
    x = memory[:DISTRICT_INPUTS]
    units = memory[DISTRICT_INPUTS : DISTRICT_INPUTS + DISTRICT_UNITS]
    inputs = memory[DISTRICT_INPUTS + DISTRICT_UNITS : MEMORY - SEAT_UNITS]
    seat_units = memory[MEMORY - SEAT_UNITS :]
    for j in range(DISTRICT_UNITS):
        inputs[SEAT_INPUTS + j] = 0.0
    for district in range(NUM_DISTRICTS):
        if game.stopped[district]:
            continue
        write_district(game, h, district, seat, x)
        for j in range(DISTRICT_UNITS):
            units[j] = network[_DISTRICT_BIAS + j]
        for i in range(DISTRICT_INPUTS):
            if x[i] != 0.0:
                add_units(network, DISTRICT_UNITS * i, DISTRICT_UNITS, x[i], units)
        for j in range(DISTRICT_UNITS):
            inputs[SEAT_INPUTS + j] += max(units[j], np.float32(0.0))
    write_seat(game, h, seat, inputs)
    for j in range(SEAT_UNITS):
        seat_units[j] = network[_SEAT_BIAS + j]
    for i in range(SEAT_INPUTS + DISTRICT_UNITS):
        if inputs[i] != 0.0:
            add_units(network, _SEAT + SEAT_UNITS * i, SEAT_UNITS, inputs[i], seat_units)
    total = 0.0
    for j in range(SEAT_UNITS):
        total += max(seat_units[j], np.float32(0.0)) * network[_STRENGTH + j]
    return total


@called_rule
def predict(game: GameRecord, h: HeuristicRecord, network: Float32, memory: Float32) -> None:
    """Write every seat's win probability into `h.win`; `network`: float32 (NUM_WEIGHTS,),
    `memory`: float32 (MEMORY,).
    """
    for seat in range(game.num_players):
        h.win[seat] = strength(game, h, network, seat, memory)
    softmax(game, h, 1.0)


@cache
def leaf_network(players: int) -> Float32:
    """Return the weights for a number of players, float32 (NUM_WEIGHTS,).

    Raises:
        CheckpointError: the file doesn't hold arrays of SHAPES.
    """
    path = FOLDER / f"{players}-players.npz"
    with np.load(path, allow_pickle=False) as file:
        if {name: file[name].shape for name in file} != SHAPES:
            raise CheckpointError(f"{path} does not hold the arrays of a leaf network")
        return np.concatenate([np.asarray(file[name], np.float32).ravel() for name in SHAPES])
