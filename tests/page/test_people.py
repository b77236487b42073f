"""The people at a table: what their last decision was."""

from __future__ import annotations

import pytest

from skyenv import Game
from skyenv.agents import CrowdAgent, decide_game
from skyenv.page.people import last_decision
from skyenv.rules.state import NONE


@pytest.mark.parametrize("seed", range(3))
def test_the_last_decision_is_where_a_bid_began(seed: int) -> None:
    """Looked at in every position of a game, whose seats to act are known from playing it."""
    game, agent = Game(2, seed=seed), CrowdAgent()
    begun: list[tuple[int, int]] = []  # seat and step of every decision, a bid being one
    played: list[tuple[int, int]] = []
    cards = 0
    for step in range(200):
        for seat in range(2):
            assert last_decision(played, seat) == next(
                (at for whose, at in reversed(begun) if whose == seat), None
            )
        assert game.seat is not None
        goes_on = game.phase == "bid" and int(game.state["laid"]) != NONE
        cards += goes_on
        if not goes_on:
            begun.append((game.seat, step))
        played.append((game.seat, decide_game(game, agent)))
        game.play(played[-1][1])
    assert cards > 5
