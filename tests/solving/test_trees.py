"""Trees of bidding tasks, best responses, equilibria, purified policies and shares of mixed
decisions.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from dealt import SMALL, Recursion

from policies import blocks_of, uniform_policy
from skyenv import CheckpointError, Games, OptionError, make_agent
from skyenv.solving.best_response import Evaluator, largest_losses
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.mixing import information_sets, mixing_of, purified
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import CHANCE, Opening

pytestmark = pytest.mark.compiled


opening = cache(Opening)


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


# ---- mixing ----


@pytest.mark.parametrize("name", ["bluff-2/0", "bluff-2/1"])
def test_a_purified_policy_takes_the_most_probable_actions(name: str) -> None:
    tree = Opening(name).tree
    *_, solution = solve(Solver(tree), 0.001)
    pure = purified(tree, solution.policy)
    for mixed, taken in zip(blocks_of(tree, solution.policy), blocks_of(tree, pure), strict=True):
        acts = mixed.sum(axis=0) > 0
        assert (taken == acts * (np.arange(len(mixed))[:, None] == mixed.argmax(axis=0))).all()
    gap = Evaluator(tree).nash_conv(pure)
    assert gap > 10 * solution.nash_conv
    assert mixing_of(tree, pure) == (0, 0)
    assert Evaluator(tree).nash_conv(purified(tree, pure)) == gap


@pytest.mark.parametrize("name", ["alea-3/0", "set-2/0", "three-3/0"])
def test_mixing_of_the_uniform_policy_is_that_of_random_games(name: str) -> None:
    games = Games(4000, task=name, seed=3, autoreset=False, observation=False)
    entropies: list[float] = []
    while (games.seat >= 0).any():
        choices = games.mask[games.seat >= 0].sum(axis=1)
        entropies += np.log(choices[choices > 1]).tolist()
        games.play_random(1)
    made = Opening(name)
    mixing = mixing_of(made.tree, uniform_policy(made))
    assert mixing.share == pytest.approx(1)
    error = np.std(entropies) / len(entropies) ** 0.5
    assert mixing.entropy == pytest.approx(np.mean(entropies), abs=6 * error)


def test_information_sets_are_the_positions_with_the_hands_that_fit() -> None:
    tree = Opening("set-2/0").tree
    found = information_sets(tree)
    blocks = [block > 0 for block in blocks_of(tree, uniform_policy(Opening("set-2/0")))]
    assert found.all == sum(int(block.any(axis=0).sum()) for block in blocks)
    assert found.choices == sum(int((block.sum(axis=0) > 1).sum()) for block in blocks)
    assert found.all > np.count_nonzero(tree.kind < CHANCE)
