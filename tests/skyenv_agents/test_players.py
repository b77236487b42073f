"""All players: legal play to the end, minimum strength, and validated decisions."""

from dataclasses import replace

import numpy as np
import pytest

from skyenv.agents import Agent, RandomAgent, decisions_in, make_agent
from skyenv.arena.matches import play_games, rotations
from skyenv.engine.games import Games
from skyenv.errors import OptionError
from skyenv_agents import AppraiserAgent, GreedyAgent, GuidedAgent, RolloutAgent, SearchAgent

# By name: an agent, quick if it searches, and how many paired seeds it plays.
QUICK: dict[str, tuple[Agent, int]] = {
    "greedy": (GreedyAgent(), 24),
    "appraiser": (AppraiserAgent(), 24),
    "rollout": (RolloutAgent(8, turns=1, candidates=3), 1),
    "ismcts": (SearchAgent(24, turns=0), 1),
    "ismcts-trained": (GuidedAgent(16), 1),
}


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(("num_players", "side"), [(2, "back"), (3, "front")])
def test_agents_play_legally_and_beat_random(num_players: int, side: str, name: str) -> None:
    """Also in self-play; an illegal action would raise."""
    agent, number = QUICK[name]
    alone = np.zeros((number, num_players), np.int64)
    seating = np.concatenate([rotations(num_players, number), alone])
    played = play_games([agent, RandomAgent()], seating, np.arange(len(seating)), side)
    assert played.finished.all()
    assert not played.truncated.any()
    mixed = seating.any(axis=1)
    assert played.shares[mixed][seating[mixed] == 0].mean() >= 0.9


@pytest.mark.parametrize(
    ("name", "opponent", "number", "share"),
    [
        ("appraiser", "greedy", 200, 0.45),
        pytest.param("lookahead-8", "trained", 12, 0.55, marks=pytest.mark.compiled),
        pytest.param("rollout-24", "greedy", 8, 0.6, marks=pytest.mark.long),
        pytest.param("ismcts-40", "greedy", 10, 0.55, marks=pytest.mark.long),
        pytest.param("ismcts-trained", "trained", 40, 0.5, marks=pytest.mark.long),
        pytest.param("ismcts-trained", "ismcts-100", 40, 0.5, marks=pytest.mark.long),
    ],
)
def test_agents_reach_their_minimum_strength(
    name: str, opponent: str, number: int, share: float
) -> None:
    """The paired seeds are few, but the same each time."""
    seating, seeds = rotations(2, number), np.repeat(np.arange(3000, 3000 + number), 2)
    played = play_games([make_agent(name), make_agent(opponent)], seating, seeds)
    assert played.shares[seating == 0].mean() > share


@pytest.mark.parametrize("name", [*QUICK, "trained"])
def test_untrusted_decisions_are_validated(name: str) -> None:
    """Compiled code would read invalid memory; replacing parts of trusted decisions revokes the
    trust.
    """
    agent = make_agent(name)
    decisions = decisions_in(Games(2, seed=1), agent)
    for made in (replace(decisions, num_players=4), replace(decisions, view=None).as_trusted()):
        for ask in ("act", "scores", "evaluate", "search"):
            if getattr(type(agent), ask, None) is not getattr(Agent, ask, None):
                with pytest.raises(OptionError, match="as_trusted"):
                    getattr(agent, ask)(made)
