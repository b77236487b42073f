"""The rollout agent: legal, strong, the same in any batch, within its budget, and blind to what its
seat can't know.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from positions import positions
from skyenv.agents import Agent, Decisions, decisions_in
from skyenv.arena.matches import play_games, rotations
from skyenv.engine.games import Games, results
from skyenv.engine.kernels import uniform32
from skyenv.engine.knowledge import as_views, resample, view
from skyenv.errors import AgentError
from skyenv.rules.compiling import entry_point
from skyenv.rules.state import GAME_DTYPE, Array, as_records, new_records
from skyenv_agents import GreedyAgent, RolloutAgent
from skyenv_agents.search.rollouts import new_scratch, search_options, try_actions

TINY: Any = {"simulations": 8, "turns": 1, "candidates": 3}


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_beats_greedy(num_players: int) -> None:
    """With a small budget, on few paired seeds and with a wide margin: it wins some 90 % of
    two-player games.
    """
    paired_seeds = 12 // num_players
    seating = rotations(num_players, paired_seeds)
    seeds = np.repeat(np.arange(paired_seeds), num_players)
    agents: list[Agent] = [RolloutAgent(24, turns=3, candidates=4), GreedyAgent()]
    played = play_games(agents, seating, seeds)
    assert played.finished.all()
    assert played.shares[seating == 0].mean() > 1.2 / num_players


# ---- what decides ----


def test_the_random_number_decides_which_determinizations_are_drawn() -> None:
    games = positions(3, "front", 40)
    player = RolloutAgent(**TINY)
    decisions = decisions_in(games, player)
    answers = {
        tuple(
            player.act(
                Decisions(
                    decisions.mask,
                    decisions.seat,
                    3,
                    np.full(len(decisions), uniform),
                    view=decisions.view,
                )
            ).tolist()
        )
        for uniform in (0.1, 0.5, 0.9, 1 - 2**-32)
    }
    assert len(answers) > 1


@entry_point("the random numbers of rollouts", 1)
def rollout_uniform(state: Array, salt: int, out: Array) -> None:
    """The random number of a decision in a rollout: that of compiled loops, as nobody else gets to
    know it.
    """
    out[0] = uniform32(state[0], salt) / 4294967296.0


@pytest.mark.parametrize("num_players", [2, 3])
def test_games_are_played_on_as_greedy_players_play_them(num_players: int) -> None:
    """Seats do what the greedy agent does from their views: the compiled rollouts end as such games
    do.
    """
    games = positions(num_players, "back", 12)
    for row in (4, 11):
        me = int(games.seat[row])
        views = view(games.state[row : row + 1], me)
        legal = np.flatnonzero(games.mask[row])[:2].astype(np.int64)
        seeds = np.arange(5, 7)
        values = np.zeros((2, len(legal)))
        options = search_options("greedy", 2**31 - 1, 10.0, 3.0, 0.0)
        weights = GreedyAgent().weights(num_players)
        memory = new_records(1, GAME_DTYPE), new_scratch()
        try_actions(as_views(views), legal, seeds, options, weights, *memory, values)
        for i, seed in enumerate(seeds):
            for j, action in enumerate(legal):
                determinization = Games(1, num_players, "back", 0, autoreset=False)
                determinization.state[:] = resample(views, [seed])
                determinization.refresh()
                determinization.step([action])
                while determinization.seat[0] >= 0:
                    uniform = np.zeros(1)
                    rollout_uniform(
                        as_records(determinization.state, GAME_DTYPE), int(seed), uniform
                    )
                    determinization.step(
                        GreedyAgent().act(
                            replace(decisions_in(determinization, GreedyAgent()), uniform=uniform)
                        )
                    )
                assert values[i, j] == results(determinization.state)[0][0, me]


# ---- the budget ----


def test_budget_in_simulations() -> None:
    games = positions(2, "front", 40)
    choices = games.mask.sum(axis=1)
    for budget in (1, 20, 100):
        player = RolloutAgent(budget, turns=1, candidates=4)
        result = player.search(decisions_in(games, player))
        assert (result.simulations[choices == 1] == 0).all()
        assert (result.simulations <= max(budget, 4 + 2)).all(), (
            "two rounds, with all four actions and with two"
        )
        assert result.simulations.max() >= budget - 8


@pytest.mark.usefixtures("ticking")
def test_budget_in_milliseconds() -> None:
    """More time gives more simulations."""
    games = positions(2, "front", 12)
    rollouts = []
    for milliseconds in (0.01, 40):
        player = RolloutAgent(milliseconds=milliseconds, turns=1)
        rollouts.append(player.search(decisions_in(games, player)).simulations)
    assert (rollouts[1] >= rollouts[0]).all()
    assert rollouts[1].sum() > 2 * rollouts[0].sum() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations must be a whole number from 1 to 1000000, not 0"),
        ({"simulations": True}, "simulations must be"),
        ({"simulations": 2.5}, "simulations must be"),
        ({"milliseconds": 0}, "milliseconds must be above 0"),
        ({"milliseconds": -1}, "milliseconds must be a number from 0"),
        ({"milliseconds": float("nan")}, "milliseconds must be a number from 0"),
        ({"milliseconds": "5"}, "milliseconds must be a number from 0"),
        ({"rollout_policy": "best"}, "rollout_policy must be one of greedy, random, not 'best'"),
        ({"turns": -1}, "turns must be a whole number from 0"),
        ({"candidates": 1}, "candidates must be a whole number from 2"),
        ({"caution": -0.5}, "caution must be a number from 0"),
        ({"threads": 0}, "threads must be a whole number from 1"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        RolloutAgent(**options)
