"""The network for leaves: what it is told, what it computes, and that it tells more than what the
seats have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from positions import positions
from skyenv.agents import decide
from skyenv.engine.games import Games, results
from skyenv.rules.compiling import entry_point
from skyenv.rules.components import NUM_DISTRICTS
from skyenv.rules.scoring import district_vp
from skyenv.rules.state import GAME_DTYPE, PHASE_START, Array, as_records, new_records
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE, extract_board
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, SEAT_INPUTS, write_district, write_seat
from skyenv_agents.heuristic.win_probability import win_probabilities
from skyenv_agents.search.leaf_network import (
    MEMORY,
    SHAPES,
    extract_open_hands,
    leaf_network,
    predict,
)

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]


@entry_point("inputs of the network for leaves")
def write_all(
    games: Array,
    weights: Array,
    heuristic: Array,
    network: Array,
    memory: Array,
    districts: Array,
    seats: Array,
    vp: Array,
    values: Array,
) -> None:
    """The network's inputs of games, [game, seat, …], what a scoring of each district gives each
    seat, and the network's values.
    """
    h = heuristic[0]
    for i in range(len(games)):
        extract_board(games[i], weights[0], h)
        extract_open_hands(games[i], h)
        predict(games[i], h, network, memory)
        for seat in range(games[i].num_players):
            values[i, seat] = h.win[seat]
            write_seat(games[i], h, seat, seats[i, seat])
            for district in range(NUM_DISTRICTS):
                vp[i, seat, district] = district_vp(games[i], district, seat)
                if games[i].stopped[district] == 0:
                    write_district(games[i], h, district, seat, districts[i, seat, district])


def inputs(state: npt.NDArray[np.void]) -> tuple[npt.NDArray[Any], ...]:
    """What :func:`write_all` writes."""
    players = int(state["num_players"][0])
    districts = np.zeros((len(state), players, NUM_DISTRICTS, DISTRICT_INPUTS), np.float32)
    seats = np.full((len(state), players, SEAT_INPUTS), np.nan, np.float32)
    vp, values = np.zeros((len(state), players, NUM_DISTRICTS)), np.zeros((len(state), players))
    memory = new_records(1, HEURISTIC_DTYPE), leaf_network(players), np.zeros(MEMORY, np.float32)
    games, weights = as_records(state, GAME_DTYPE), GreedyAgent().weights(players)
    write_all(games, weights, *memory, districts, seats, vp, values)
    return districts, seats, vp, values


def stage(players: int, side: str) -> npt.NDArray[np.void]:
    """Games at all stages that go on, some of them with a stopped district."""
    state = np.asarray(positions(players, side).state)
    return state[(state["phase"] > PHASE_START) & (state["seat"] >= 0)]


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_what_is_told_of_districts_is_what_they_score(players: int, side: str) -> None:
    state = stage(players, side)
    districts, seats, vp, _ = inputs(state)
    assert np.isfinite(seats).all(), "every input is written"
    assert np.abs(seats).max() < 8
    assert districts[..., 1] == pytest.approx(vp / 10, abs=1e-6)
    for seat in range(players):
        others = np.delete(vp, seat, axis=1).max(axis=1)
        assert districts[:, seat, :, 3] == pytest.approx((vp[:, seat] - others) / 10, abs=1e-6)
        assert seats[:, seat, 53] == pytest.approx(
            (vp[:, seat] - others).sum(axis=1) / 20, abs=1e-5
        )
    assert vp.max() > 5


def test_cards_and_turns_are_those_of_the_seat() -> None:
    state = stage(3, "front")
    _, seats, _, _ = inputs(state)
    points = (state["hand"] * np.array([4, 5, 6])).sum(axis=3)[:, :3]
    assert seats[:, :, 13] == pytest.approx(points[:, :, :5].sum(axis=2) / 40, abs=1e-5)
    assert seats[:, :, 14] == pytest.approx(points[:, :, 5] / 40, abs=1e-5)
    away = (np.arange(3) - state["turn_seat"][:, None]) % 3
    assert (seats[:, :, 27:31].argmax(axis=2) == away).all()
    decides = np.arange(3) == state["seat"][:, None]
    assert (seats[:, :, 31:38].sum(axis=2) == decides).all()
    bidding = state["auction_place"] >= 0
    assert (seats[:, :, 54] == bidding[:, None]).all()
    assert 0 < bidding.sum() < len(state)


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_computes_what_the_layers_say(players: int, side: str) -> None:
    """The same in NumPy, from the same inputs."""
    state = stage(players, side)
    districts, seats, _, values = inputs(state)
    parts = np.split(
        leaf_network(players).astype(np.float64),
        np.cumsum([np.prod(shape) for shape in SHAPES.values()])[:-1],
    )
    layers = {
        name: part.reshape(shape) for (name, shape), part in zip(SHAPES.items(), parts, strict=True)
    }
    units = np.maximum(districts @ layers["district"] + layers["district_bias"], 0)
    units *= (state["stopped"] == 0)[:, None, :, None]
    told = np.concatenate([seats, units.sum(axis=2)], axis=2)
    strengths = np.maximum(told @ layers["seat"] + layers["seat_bias"], 0) @ layers["strength"]
    wanted = np.exp(strengths - strengths.max(axis=1, keepdims=True))
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert values == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(("players", "gain"), [(2, 0.03), (3, 0.008), (4, 0.015)])
def test_knows_more_than_what_the_seats_have(players: int, gain: float) -> None:
    """Of games between greedy players that nothing was fitted to: a lower cross entropy, in nats,
    some way through.
    """
    games = Games(1000, players, seed=2**40, autoreset=False, observation=None)
    greedy = GreedyAgent()
    kept = np.zeros(0, GAME_DTYPE)
    step = 0
    while (games.seat >= 0).any():
        rows = np.flatnonzero(games.seat >= 0)
        games.step(decide(games, greedy, rows), rows)
        step += 1
        if step == 25 * players:
            assert (games.seat >= 0).all()
            kept = np.asarray(games.state).copy()
    won = results(games.state)[0][:, :players]

    def loss(probabilities: npt.NDArray[np.float64]) -> float:
        return float(-(won * np.log(probabilities[:, :players])).sum(axis=1).mean())

    assert loss(inputs(kept)[3]) < loss(win_probabilities(kept)) - gain
