"""Leagues: payoffs, mixtures, errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skyenv import OptionError, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.arena.league import League


def test_new_agents_play_all_others() -> None:
    league = League(["random", "greedy"], paired_seeds=20, seed=5, task="duel-3")
    league.add(make_agent("appraiser"))
    assert [agent.name for agent in league.agents] == ["random", "greedy", "appraiser"]
    (again,) = evaluate("appraiser", ["greedy"], paired_seeds=20, seed=5, task="duel-3")
    assert league.shares[:, 2, 1].tolist() == [again.share.mean, again.share.low, again.share.high]
    mean, low, high = league.shares
    assert np.allclose(mean + mean.T, 1)
    assert np.allclose(low + high.T, 1)
    assert (low <= mean).all()
    assert (mean <= high).all()
    lines = league.table().splitlines()
    assert lines[0].split() == ["wins,", "%", "random", "greedy", "appraiser"]
    assert lines[-1].startswith("appraiser")


def test_with_three_players_each_is_alone_once() -> None:
    league = League(["random", "greedy"], paired_seeds=20, task="three-3")
    (alone,) = evaluate("random", ["greedy"], paired_seeds=20, task="three-3")
    (other,) = evaluate("greedy", ["random"], paired_seeds=20, task="three-3")
    assert league.shares[0].tolist() == [[1 / 3, alone.share.mean], [other.share.mean, 1 / 3]]
    assert league.mixture("uniform").tolist() == [0.5, 0.5]
    with pytest.raises(OptionError, match=r"has the mixture 'uniform' alone$"):
        league.mixture()


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]], [1 / 3, 1 / 3, 1 / 3]),
        ([[0.5, 0.8, 0.4], [0.2, 0.5, 0.7], [0.6, 0.3, 0.5]], [1 / 3, 1 / 6, 1 / 2]),
        ([[0.5, 0.6, 0.7], [0.4, 0.5, 0.9], [0.3, 0.1, 0.5]], [1, 0, 0]),
    ],
)
def test_the_mixture_is_an_equilibrium(shares: list[list[float]], expected: list[float]) -> None:
    """Known ones: a cycle, a weighted cycle, an agent that beats all others."""
    league = League(["random"] * 3, paired_seeds=1, task="duel-3")
    league.shares[0] = shares
    assert league.mixture() == pytest.approx(expected, abs=1e-9)
    assert (league.mixture() @ league.shares[0]).min() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda league: league.mixture(), "^the league has no agents$"),
        (lambda league: league.mixture("best"), "^kind must be one of nash, uniform, not 'best'$"),
        (lambda _: League(["random"] * 2, paired_seeds=0, task="duel-3"), "paired_seeds must be"),
    ],
)
def test_invalid_leagues_are_refused(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call(League(task="duel-3"))
