"""Purified policies, shares of mixed decisions, and numbers of information sets."""

import numpy as np
import pytest

from policies import blocks_of, uniform_policy
from skyenv import Games
from skyenv.solving.best_response import Evaluator
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.mixing import information_sets, mixing_of, purified
from skyenv.solving.tree import CHANCE, Opening

pytestmark = pytest.mark.compiled


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
