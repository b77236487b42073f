"""The network that evaluates leaves."""

import numpy as np
import pytest

from positions import positions
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.rules.compiling import entry_point
from skyenv.rules.components import NUM_DISTRICTS
from skyenv.rules.record import Array, as_records, new_records
from skyenv.rules.state import GAME_DTYPE, PHASE_START
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE, extract_board, extract_features
from skyenv_agents.heuristic.inputs import (
    DISTRICT_INPUTS,
    NUM_POSITION_INPUTS,
    SEAT_INPUTS,
    write_position,
)
from skyenv_agents.search.leaf_network import (
    MEMORY,
    SHAPES,
    extract_open_hands,
    leaf_network,
    predict,
)


@entry_point("inputs of networks")
def write_inputs(views: Array, weights: Array, heuristic: Array, inputs: Array) -> None:
    """Write the inputs of each view, float32 (n, NUM_POSITION_INPUTS)."""
    for i in range(len(views)):
        extract_features(views[i], weights[0], heuristic[0])
        write_position(views[i], heuristic[0], inputs[i])


@entry_point("values of the network for leaves")
def write_values(
    games: Array, weights: Array, heuristic: Array, network: Array, memory: Array, values: Array
) -> None:
    """The network's values of games, [game, seat]."""
    h = heuristic[0]
    for i in range(len(games)):
        extract_board(games[i], weights[0], h)
        extract_open_hands(games[i], h)
        predict(games[i], h, network, memory)
        for seat in range(games[i].num_players):
            values[i, seat] = h.win[seat]


def test_the_leaf_network_agrees_with_numpy() -> None:
    """Computed with NumPy from inputs of fully visible views."""
    players = 3
    network, weights = leaf_network(players), GreedyAgent().weights(players)
    games = np.asarray(positions(players, "back").state)
    games = games[(games["phase"] > PHASE_START) & (games["seat"] >= 0)]
    memory = new_records(1, HEURISTIC_DTYPE)
    values = np.zeros((len(games), players))
    room = np.zeros(MEMORY, np.float32)
    write_values(as_records(games, GAME_DTYPE), weights, memory, network, room, values)

    views = new_records(len(games), VIEW_DTYPE)
    views["game"] = games
    inputs = np.zeros((len(games), NUM_POSITION_INPUTS), np.float32)
    write_inputs(views, weights, memory, inputs)
    told = inputs.reshape(len(games), 4, -1)[:, :players]
    districts = told[..., SEAT_INPUTS:].reshape(-1, players, NUM_DISTRICTS, DISTRICT_INPUTS)
    ends = np.cumsum([np.prod(shape) for shape in SHAPES.values()])[:-1]
    parts = zip(np.split(network.astype(np.float64), ends), SHAPES.values(), strict=True)
    layer, layer_bias, seat, seat_bias, strength = (part.reshape(shape) for part, shape in parts)
    units = np.maximum(districts @ layer + layer_bias, 0)
    units *= (games["stopped"] == 0)[:, None, :, None]
    hidden = np.concatenate([told[..., :SEAT_INPUTS], units.sum(axis=2)], axis=2) @ seat
    wanted = np.exp(np.maximum(hidden + seat_bias, 0) @ strength)
    assert values == pytest.approx(wanted / wanted.sum(axis=1, keepdims=True), abs=1e-4)
