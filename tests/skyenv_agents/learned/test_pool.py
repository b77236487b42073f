"""The pool of opponents: members and sampling weights."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skyenv.agents import CallableAgent
from skyenv.errors import OptionError
from skyenv_agents.learned.pool import EASIEST, MEMORY, OpponentPool


def named(name: str) -> CallableAgent:
    """An agent of that name."""
    agent = CallableAgent(len)
    agent.name = name
    return agent


def filled(sampling: str, fixed: int = 2, past: int = 3, **options: Any) -> OpponentPool:
    """A pool of fixed opponents a0, a1 … and past policies s0, s1 and so on."""
    pool = OpponentPool([named(f"a{i}") for i in range(fixed)], sampling=sampling, **options)
    for i in range(past):
        pool.add(named(f"s{i}"))
    return pool


@pytest.mark.parametrize(
    ("pool", "weights"),
    [
        (filled("uniform", fixed_share=0.4), [0.2] * 5),
        (filled("hard", fixed_share=0.5), [1 / 4, 1 / 4, 1 / 6, 1 / 6, 1 / 6]),
        (filled("hard", past=0, fixed_share=0.0), [0.5, 0.5]),
        (filled("uniform", fixed_share=1.0), [0.5, 0.5, 0, 0, 0]),
    ],
)
def test_weights_before_the_first_game_follow_the_shares(
    pool: OpponentPool, weights: list[float]
) -> None:
    """A single kind of opponent gets the whole weight."""
    assert pool.weights() == pytest.approx(weights)


def test_hard_weighs_opponents_by_the_square_of_the_loss() -> None:
    """Over the latest games: the mean of a few, a moving mean of many."""
    pool = filled("hard", fixed_share=0.5)
    for name, share in (("a0", 1.0), ("a1", 0.0), ("s0", 0.3), ("s0", 0.1), ("s1", 0.6)):
        pool.note(name, share)
    assert pool.statistics()["share"] == {"a0": 1.0, "a1": 0.0, "s0": pytest.approx(0.2), "s1": 0.6}
    fixed = np.array([EASIEST, 1.0]) / (1 + EASIEST)
    past = np.array([0.64, 0.16, 0.25]) / 1.05  # s2 has not played: half
    assert pool.weights() == pytest.approx(np.concatenate([fixed, past]) / 2)
    twin = pickle.loads(pickle.dumps(pool))
    assert twin.weights().tolist() == pool.weights().tolist()
    for _ in range(3 * MEMORY):
        pool.note("a0", 0.0)
    assert 0 < pool.statistics()["share"]["a0"] < 0.05
    pool.note("stranger", 1.0)
    assert "stranger" not in pool.statistics()["share"]


@pytest.mark.parametrize(
    ("capacity", "left"),
    [(0, []), (1, ["s7"]), (3, ["s5", "s6", "s7"]), (4, ["s3", "s5", "s6", "s7"])],
)
def test_full_pools_evict_old_opponents(capacity: int, left: list[str]) -> None:
    """The oldest, and every other time the second oldest."""
    pool = filled("hard", fixed=1, past=0, capacity=capacity)
    for i in range(8):
        pool.add(named(f"s{i}"))
        pool.note(f"s{i}", 1.0)
    assert [agent.name for agent in pool.agents] == ["a0", *left]
    assert "s0" not in pool.statistics()["share"]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: OpponentPool([], fixed_share=1.1), "fixed_share"),
        (lambda: OpponentPool([], capacity=-1), "capacity"),
        (lambda: OpponentPool([], sampling="best"), "sampling"),
        (lambda: OpponentPool([named("a"), named("a")]), "different names"),
        (lambda: OpponentPool([]).weights(), "empty"),
        (lambda: filled("hard").add(named("s1")), "'s1'"),
        (lambda: filled("hard").note("a0", 1.5), "share"),
    ],
)
def test_invalid_options_are_refused(action: Callable[[], object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        action()
