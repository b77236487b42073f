"""What greedy and the appraiser have in common: legal, strong, the same in any batch, and blind to what is hidden."""

from __future__ import annotations

import numpy as np
import pytest
from positions import deal_anew, decisions_compiled_or_not, positions

from agents import AppraiserAgent, GreedyAgent
from agents.advisor import JudgingAgent
from experiments.matches import play_games, rotations
from skyenv.agents import Decisions, RandomAgent, decide, decisions_in
from skyenv.knowledge import view
from skyenv.rules.state import PHASES

both = pytest.mark.parametrize("agent", [GreedyAgent(), AppraiserAgent()], ids=lambda agent: agent.name)


@both
@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("side", ["front", "back"])
def test_plays_legally_to_the_end_and_beats_random(agent: JudgingAgent, num_players: int, side: str) -> None:
    seating = rotations(num_players, 24)
    seeds = np.repeat(np.arange(24), num_players)
    played = play_games([agent, RandomAgent()], seating, seeds, side)  # an illegal action would raise AgentError
    assert played.finished.all()
    assert not played.truncated.any()
    assert played.shares[seating == 0].mean() >= 0.9


@both
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_ends_games_against_itself(agent: JudgingAgent, num_players: int) -> None:
    played = play_games([agent], np.zeros((60, num_players), int), np.arange(60), "back")
    assert played.finished.all()
    assert not played.truncated.any()


@both
@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (4, "back")])
def test_decides_alone_as_in_a_batch(agent: JudgingAgent, num_players: int, side: str) -> None:
    games = positions(num_players, side)
    alone = [decide(games, agent, [row])[0] for row in range(games.num_games)]
    assert decide(games, agent).tolist() == alone
    assert decide(games, agent, np.arange(games.num_games)[::-1]).tolist() == alone[::-1]


@both
@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_does_not_see_what_its_seat_cannot_know(agent: JudgingAgent, num_players: int, side: str) -> None:
    games = positions(num_players, side)
    seen = decisions_in(games, agent)
    before = agent.act(seen)
    rng = np.random.default_rng(5)
    phases = set()
    for _ in range(4):
        state = games.state.copy()
        for row in range(games.num_games):
            deal_anew(state[row], int(games.seat[row]), rng)
            phases.add(PHASES[state[row].phase])
        assert (state["hand"] != games.state["hand"]).any()
        other = Decisions(seen.mask, seen.seat, num_players, seen.uniform, view=view(state, games.seat))
        assert np.array_equal(agent.act(other), before)
    assert phases >= {"option", "take", "move", "bid"}


@both
def test_decides_the_same_without_compilation(agent: JudgingAgent) -> None:
    told = decisions_compiled_or_not(type(agent).__name__)
    assert told[0] == told[1]
    assert told[0].count(",") == 119
