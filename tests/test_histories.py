"""Positions with all that has led to them: played one outcome at a time, and drawn anew with other
pasts.
"""

from __future__ import annotations

import random

import pytest

from skyenv import Game
from skyenv.histories.resampling import resampled
from skyenv.histories.states import State, game_of, replayed, table_of
from skyenv.records.format import as_text, header_of


def walked(players: int, side: str, number: int) -> State:
    """A position after so many random actions."""
    generator = random.Random(players)
    position = table_of(players, side, 500).start
    while len(position.steps) <= number or position.pending is not None:
        choices = position.legal or [outcome for outcome, _ in position.outcomes]
        position = position.after(generator.choice(choices))
    return position


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), [(2, "front"), (4, "back")])
def test_a_past_is_a_game_that_the_rules_allow(players: int, side: str) -> None:
    position = walked(players, side, 80)
    again = replayed(position.table, [(step.action, step.chance) for step in position.steps])
    assert (again.record, again.events) == (position.record, position.events)
    for seat in range(players):
        other = resampled(position, seat, lambda: 0.6)
        game = Game.from_record(as_text(header_of(other.board, players, 500, None), other.events))
        assert game.state["hand"].tolist() == game_of(other.record)["hand"][0].tolist()
        assert (
            game.state["hand"][seat].tolist() == game_of(position.record)["hand"][0, seat].tolist()
        )
        assert other.information(seat) == position.information(seat)
        assert other.record != position.record
