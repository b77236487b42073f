"""Leaves of a tree that an agent evaluates: as it evaluates decisions, many at once, in the tree's
values and priors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from positions import positions
from skyenv.agents import Decisions, Evaluations, RandomAgent, decide, decisions_in
from skyenv.errors import AgentError
from skyenv.rules.actions import OPTION_A
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.networks import NetworkAgent, ThingsNetwork, TrainedAgent
from skyenv_agents.search.evaluation import LeafBatch, seat_values
from skyenv_agents.search.ismcts import SearchAgent


def test_leaves_are_judged_as_the_network_judges_decisions() -> None:
    games = positions(2, "front", 40)
    guide = TrainedAgent()
    batch = LeafBatch(40)
    batch.games[:] = np.asarray(games.state)
    batch.masks[:] = games.mask
    batch.leaves["number"] = games.mask.sum(axis=1)
    batch.leaves["number"][7] = 0
    batch.leaves["value"][7] = 0.25
    batch.evaluate(39, guide)
    weights, outcomes = guide.evaluate(decisions_in(games, guide))
    assert outcomes is not None
    rows = np.delete(np.arange(39), 7)
    assert batch.priors[rows] == pytest.approx(weights[rows], abs=1e-6)
    own = batch.leaves["value"][rows, games.seat[rows]]
    assert own == pytest.approx((outcomes[rows] + 1) / 2, abs=1e-6)
    assert batch.leaves["value"][rows].sum(axis=1) == pytest.approx(1)
    assert (batch.leaves["value"][7] == 0.25).all(), "a game that is over isn't judged"
    assert not batch.priors[7].any()
    assert not batch.priors[39].any(), "there are only 39"
    assert own.min() < 0.4 < 0.6 < own.max()


def test_chances_share_what_a_seat_leaves() -> None:
    estimates = np.array([[0.5, 0.2, 0.3, 0.0], [0.1, 0.6, 0.3, 0.0], [0.2, 0.4, 0.4, 0.0]])
    values = seat_values(np.array([1.0, -0.5, 0.25]), np.array([0, 1, 2]), 3, estimates)
    assert values == pytest.approx(
        np.array([[1, 0, 0, 0], [0.25, 0, 0.75, 0], [1 / 6, 1 / 3, 1 / 2, 0]])
    )


def test_what_nodes_count_adds_up() -> None:
    games = positions(3, "front", 40)
    player = SearchAgent(150, evaluator=TrainedAgent(), leaves=7, trees=2)
    result = player.search(decisions_in(games, player))
    several = games.mask.sum(axis=1) > 1
    assert (result.simulations[several] == 150).all(), "expanding the root doesn't count"
    assert (result.visits[several].sum(axis=1) == 150).all()
    assert ((result.values[several] > 0) & (result.values[several] < 1)).all()
    assert (result.visits[games.mask == 0] == 0).all()


class Counting(RandomAgent):
    """Judges a position by the skyscrapers on the board, and the option A by far the best."""

    name = "counting"
    asked = 0

    def evaluate(self, decisions: Decisions) -> Evaluations:
        assert decisions.view is not None
        Counting.asked = max(Counting.asked, len(decisions))
        floors, owner = (
            decisions.view["game"][field].astype(np.int64) for field in ("floors", "owner")
        )
        mine = (floors * (owner == decisions.seat[:, None, None])).sum(axis=(1, 2))
        weights = decisions.mask * np.where(
            np.arange(decisions.mask.shape[1]) == OPTION_A, 1000.0, 1.0
        )
        return weights / weights.sum(axis=1, keepdims=True), np.clip(mine / 10 - 1, -1, 1)


def test_an_evaluation_of_ones_own() -> None:
    """Any agent that evaluates can do it, many leaves at once; one that tells no outcome is
    refused.
    """
    games = positions(3, "back", 30)
    player = SearchAgent(24, evaluator=Counting(), exploration=1.0)
    assert player.name == "ismcts-counting-24"
    result = player.search(decisions_in(games, player))
    options = np.flatnonzero(games.mask[:, OPTION_A] & (games.mask.sum(axis=1) > 1))
    assert len(options)
    assert (result.actions[options] == OPTION_A).all()
    assert Counting.asked > len(games.seat)
    with pytest.raises(
        AgentError, match="agent random can't guide a search: it doesn't tell the outcome"
    ):
        decide(games, SearchAgent(24, evaluator=RandomAgent()))


def test_a_network_that_tells_no_outcome() -> None:
    games = positions(2, "front", 20)
    rng = np.random.default_rng(1)
    weights = {
        name: rng.normal(scale=0.2, size=shape).astype(np.float32)
        for name, shape in Sizes(6, 1, 3).shapes().items()
    }
    silent = NetworkAgent(ThingsNetwork(weights, {"reward": "points"}))
    evaluations = silent.evaluate(decisions_in(games, silent))
    assert evaluations is not None
    assert evaluations[1] is None
    with pytest.raises(
        AgentError, match="agent network can't guide a search: it doesn't tell the outcome"
    ):
        decide(games, SearchAgent(20, evaluator=silent))


@pytest.mark.usefixtures("ticking")
def test_budget_in_milliseconds() -> None:
    games = positions(2, "front", 20)
    several = games.mask.sum(axis=1) > 1
    for milliseconds, simulations in (
        (0.01, 8),
        (4.5, 5 * 8),
    ):  # the leaves that are judged at once, between two looks
        player = SearchAgent(milliseconds=milliseconds, evaluator=TrainedAgent())
        result = player.search(decisions_in(games, player))
        assert (result.simulations[several] == simulations).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"leaves": 0}, "leaves must be a whole number from 1 to 1024, not 0"),
        ({"value_weight": 1.5}, "value_weight must be a number from 0"),
        ({"temperature": 0.0}, "temperature must be above 0 with an evaluator"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        SearchAgent(evaluator=TrainedAgent(), **options)
