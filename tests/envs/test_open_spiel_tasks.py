"""Bidding tasks in OpenSpiel: equal games, and the values of OpenSpiel's algorithms."""

import random
from typing import Any

import pyspiel
import pytest
from open_spiel.python.algorithms import cfr, exploitability

from positions import paid_at_random
from skyenv import Game, OptionError
from skyenv.engine.openings import OF_AUCTIONS, TASKS
from skyenv.envs.open_spiel import HIGHEST_PAYOFF, SHORT_NAME
from skyenv.solving.best_response import Evaluator
from skyenv.solving.equilibrium import Solver
from skyenv.solving.tree import Opening


def loaded(task: str, opening: int = -1) -> Any:
    return pyspiel.load_game(SHORT_NAME, {"task": task, "opening": opening})


def finished(game: Any, seed: int) -> Any:
    """A state at the end of a random game."""
    state, rng = game.new_initial_state(), random.Random(seed)
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize(
    ("task", "opening"), [("alea-4", -1), ("duel-3", 7), ("three-3", 2), ("last-turns", 5)]
)
def test_openspiel_plays_bidding_tasks(task: str, opening: int) -> None:
    """OpenSpiel's simulation, and the payoff of the other interfaces."""
    game = loaded(task, opening)
    assert game.num_players() == TASKS[task].num_players
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    for seed in range(5):
        state = finished(game, seed)
        assert sum(move.player >= 0 for move in state.full_history()) <= game.max_game_length()
        played = state.to_game()
        assert played.options.task == state.position.task
        assert played.events[-1]["payoff"] == state.returns()
        again = Game.from_record(played.to_record())
        assert again.events == played.events


def test_best_responses_and_cfr_are_those_of_openspiel() -> None:
    made, game = Opening("park-4/31"), loaded("park-4", 31)
    evaluator, ours, theirs = Evaluator(made.tree), Solver(made.tree), cfr.CFRPlusSolver(game)
    for _ in range(3):
        ours.run(1)
        theirs.evaluate_and_update_policy()
        conv = exploitability.nash_conv(game, theirs.average_policy())
        assert ours.solution().nash_conv == pytest.approx(conv, abs=1e-9)
        assert evaluator.nash_conv(ours.solution().policy) == pytest.approx(conv, abs=1e-9)


@pytest.mark.parametrize("task", OF_AUCTIONS)
def test_no_payoff_exceeds_the_bounds(task: str) -> None:
    assert abs(paid_at_random(task, 2000, seed=4)).max() < HIGHEST_PAYOFF / 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"task": "chess"}, "task must be one of"),
        ({"task": "duel-3", "opening": 32}, "openings duel-3/0 to duel-3/31"),
        ({"opening": 3}, "name the task"),
    ],
)
def test_wrong_tasks_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises((OptionError, pyspiel.SpielError), match=message):
        pyspiel.load_game(SHORT_NAME, params)
