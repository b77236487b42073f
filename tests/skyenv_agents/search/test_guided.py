"""The search that a network guides: it begins with what that holds, and is better than its
network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from positions import positions
from skyenv.agents import Decisions, Evaluations, RandomAgent, decide, decisions_in
from skyenv.arena.matches import play_games, rotations
from skyenv.errors import AgentError, CheckpointError
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.networks import TRAINED, Network, ThingsNetwork, TrainedAgent
from skyenv_agents.search.guided import GuidedAgent
from skyenv_agents.search.ismcts import SearchAgent

PATH = TRAINED / "2-players.npz"


@pytest.mark.long
@pytest.mark.parametrize(
    "opponent", [TrainedAgent(), SearchAgent(100)], ids=lambda agent: agent.name
)
def test_beats_its_network_and_a_search_without(opponent: TrainedAgent | SearchAgent) -> None:
    """In wins and in VP; the paired seeds are few, but the same each time."""
    paired_seeds = 40
    seating = rotations(2, paired_seeds)
    played = play_games(
        [GuidedAgent(), opponent], seating, np.repeat(np.arange(3000, 3000 + paired_seeds), 2)
    )
    assert played.finished.all()
    assert played.shares[seating == 0].mean() > 0.5
    assert played.scores[seating == 0].mean() > played.scores[seating == 1].mean()


@pytest.mark.parametrize("flatness", [1.0, 4.0, 100.0])
def test_searches_with_the_guides_probabilities(flatness: float) -> None:
    """Their root of that degree; with those of a call instead, if there are some."""
    games = positions(3, "front", 40)
    guided, plain = GuidedAgent(60, flatness=flatness, trees=2), SearchAgent(60, trees=2)
    decisions = decisions_in(games, guided)
    probabilities, _ = TrainedAgent().evaluate(decisions)
    expected = plain.search(decisions, probabilities ** (1 / flatness))
    assert np.array_equal(guided.search(decisions).visits, expected.visits)
    assert not np.array_equal(expected.visits, plain.search(decisions).visits)
    alike = decisions.mask.astype(np.float64)
    assert np.array_equal(
        guided.search(decisions, alike).visits, plain.search(decisions, alike).visits
    )


class LastOfAll(RandomAgent):
    """Holds the last legal action to be right, and wants no observation."""

    name = "last"

    def evaluate(self, decisions: Decisions) -> Evaluations:
        last = decisions.mask.shape[1] - 1 - decisions.mask[:, ::-1].argmax(axis=1)
        return (np.arange(decisions.mask.shape[1]) == last[:, None]).astype(np.float64), None


def test_a_guide_of_ones_own() -> None:
    """Any agent that tells probabilities; one that doesn't is refused."""
    games = positions(3, "back", 30)
    player = GuidedAgent(8, guide=LastOfAll(), exploration=10.0)
    assert (player.name, player.uses_observation, player.uses_view) == (
        "ismcts-last-8",
        False,
        True,
    )
    last = games.mask.shape[1] - 1 - games.mask[:, ::-1].argmax(axis=1)
    assert (decide(games, player) == last).mean() > 0.9
    with pytest.raises(
        AgentError,
        match="agent greedy can't guide a search: it doesn't tell how probable actions are",
    ):
        decide(games, GuidedAgent(8, guide=GreedyAgent()))


def test_a_network_of_ones_own(tmp_path: Path) -> None:
    """By path or as an object it is the same; one without a prior will do, too, and one that tells
    no outcome.
    """
    games = positions(2, "front", 20)
    network = Network.load(PATH)
    by_path, shipped = GuidedAgent(20, guide=PATH), GuidedAgent(20)
    assert by_path.name == "ismcts-2-players-20"
    assert decide(games, by_path).tolist() == decide(games, shipped).tolist()
    assert decide(games, GuidedAgent(20, guide=network)).tolist() == decide(games, shipped).tolist()
    rng = np.random.default_rng(1)
    weights = {
        name: rng.normal(scale=0.2, size=shape).astype(np.float32)
        for name, shape in Sizes(6, 1, 3).shapes().items()
    }
    plain = ThingsNetwork(weights, {"reward": "points"})
    assert decide(games, GuidedAgent(20, guide=plain)).tolist() != decide(games, shipped).tolist()
    with pytest.raises(CheckpointError, match="there is no network file"):
        GuidedAgent(guide=tmp_path / "none.npz")


def test_goes_on_with_its_tree() -> None:
    """With reuse, a tree that is known is gone on with; the guide speaks where there is none."""
    games = positions(2, "front", 40)
    player = GuidedAgent(40, reuse=True)
    first = player.search(decisions_in(games, player))
    several = games.mask.sum(axis=1) > 1
    assert (first.simulations[several] == 40).all()
    seats = games.seat.copy()
    games.step(first.actions)
    again = several & (games.mask.sum(axis=1) > 1) & (games.seat == seats) & ~games.done
    assert again.any()
    assert (player.search(decisions_in(games, player)).simulations[again] > 40).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations must be a whole number from 1 to 1000000, not 0"),
        ({"flatness": 0.5}, "flatness must be a number from 1"),
        ({"exploration": -1}, "exploration must be a number from 0"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        GuidedAgent(**options)
