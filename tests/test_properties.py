"""The mask of every position, whatever chance and the players do."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyenv import Game, GameOverError, IllegalActionError, make_agent
from skyenv.agents import decide_game

GAMES = st.builds(
    Game,
    num_players=st.integers(2, 4),
    side=st.sampled_from(["front", "back"]),
    seed=st.integers(0, 2**40),
    max_turns=st.integers(1, 80),
)
AGENTS = st.sampled_from(["random", "crowd", "hoard"]).map(make_agent)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(GAMES, AGENTS, st.integers(0, 12))
def test_exactly_the_actions_of_the_mask_can_be_played(game: Game, agent: Any, first: int) -> None:
    """Some action is legal before the end; illegal ones are refused and change nothing."""
    number = 0
    while not game.is_over:
        game.play(decide_game(game, agent))
        number += 1
        legal = game.legal_actions
        assert bool(legal) != game.is_over
        if number % 13 != first and not game.is_over:
            continue
        before, events = game.state.tobytes(), len(game.events)
        for action in range(-1, 104):
            if action in legal:
                continue
            with pytest.raises(GameOverError if game.is_over else IllegalActionError):
                game.play(action)
        assert game.state.tobytes() == before
        assert len(game.events) == events
        for action in legal:
            twin = game.copy()
            assert twin.play(action)[0]["action"] == action
        assert game.state.tobytes() == before
