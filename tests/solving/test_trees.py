"""Trees of bidding tasks, best responses and equilibria."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from dealt import SMALL, Recursion

from policies import uniform_policy
from skyenv import CheckpointError, OptionError, make_agent
from skyenv.solving.best_response import Evaluator, largest_losses
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import Opening

pytestmark = pytest.mark.compiled


@cache
def opening(name: str) -> Opening:
    return Opening(name)


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        *((name, agent) for name in SMALL for agent in ("greedy", "random")),
        ("three-3/326", "greedy"),
    ],
)
def test_values_and_best_responses_are_those_of_dealt_games(name: str, agent: str) -> None:
    """Without the tree: the engine steps every deal, and agents are asked in the dealt games."""
    made, recursion = opening(name), Recursion(name, agent)
    policy, evaluator = policy_of(make_agent(agent), made).policy, Evaluator(made.tree)
    seats, acting = range(len(made.hands)), np.repeat(made.tree.kind, np.diff(made.tree.block))
    responses = [recursion.value(seat, responder=seat) for seat in seats]
    assert evaluator.best_responses(policy) == pytest.approx(responses, abs=1e-9)
    assert evaluator.values(policy) == pytest.approx([recursion.value(seat) for seat in seats])
    assert sum(responses) > sum(evaluator.values(policy))
    best = sum(evaluator.best_response(policy, seat) * (acting == seat) for seat in seats)
    assert evaluator.gain(best, policy) == pytest.approx(evaluator.nash_conv(policy))
    assert evaluator.gain(policy, policy) == 0


@pytest.mark.parametrize("name", ["duel-3/1", "alea-3/0", "three-3/326"])
def test_losses_per_decision_sum_to_the_best_responses_gain(name: str) -> None:
    made = opening(name)
    evaluator, policy = Evaluator(made.tree), uniform_policy(made)
    gains = np.subtract(evaluator.best_responses(policy), evaluator.values(policy))
    losses = [evaluator.losses(policy, seat) for seat in range(len(made.hands))]
    assert min(part.min() for part in losses) > -1e-12
    assert [part.sum() for part in losses] == pytest.approx(gains)
    largest = largest_losses(made, evaluator, policy, 3)
    assert [loss.vp for loss in largest] == sorted((loss.vp for loss in largest), reverse=True)
    assert largest[0].vp == pytest.approx(max(part.max() for part in losses))
    assert largest[0].better != largest[0].played


@pytest.mark.parametrize("name", ["duel-3/0", "alea-3/0", "park-4/1"])
def test_best_responses_to_an_equilibrium_gain_nothing(name: str) -> None:
    *_, solution = solve(Solver(opening(name).tree), 0.0002)
    assert 0 <= solution.nash_conv <= 0.0002 * solution.payoff_range
    value, least = solution.responses[0], -solution.responses[1]
    responses = Evaluator(opening(name).tree).best_responses(uniform_policy(opening(name)))
    assert responses[0] >= least
    assert -responses[1] <= value


def test_solutions_of_other_openings_and_three_seats_are_refused(tmp_path: Path) -> None:
    """That a resumed solver equals an uninterrupted one: tests/guarantees/test_long_work.py."""
    file, solver = tmp_path / "duel-3-0.npz", Solver(opening("duel-3/0").tree)
    solver.save(file)
    with pytest.raises(CheckpointError, match="not a saved solution of this opening"):
        Solver(opening("duel-3/1").tree).load(file)
    with pytest.raises(OptionError, match="solving needs a task with two seats"):
        Solver(opening("three-3/326").tree)
