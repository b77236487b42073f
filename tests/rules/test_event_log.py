"""The event log: what events leave empty is empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scenario import bare_game, black_stack, district, passes, start_auction, turn_of
from skyenv import Game, make_agent
from skyenv.agents import decide
from skyenv.engine import events
from skyenv.engine import game as single_game
from skyenv.rules import event_log
from skyenv.rules.event_log import EVENT_ALEA, EVENT_PARK, EVENT_WIDTH, EVENT_WON, NOBODY

USED = {
    event_log.EVENT_TOP: 2,
    event_log.EVENT_SHUFFLE: 0,
    event_log.EVENT_BLACK: 2,
    EVENT_ALEA: 5,
    event_log.EVENT_ALEA_BUILDS: 2,
    event_log.EVENT_TILE_TO_PARK: 1,
    event_log.EVENT_AUCTION: 2,
    EVENT_WON: 2,
    event_log.EVENT_STOP: 2,
    event_log.EVENT_VP: 6,
    EVENT_PARK: 4,
    event_log.EVENT_END: 1,
}
"""Of each kind of event: how many numbers say what happened."""


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Events of all games that are played from now on, as the log has them."""
    kept: list[list[int]] = []

    def keep(rows: Any, *others: Any) -> Any:
        plain = [[int(number) for number in row] for row in rows]
        kept.extend(plain)
        return events.events_of(plain, *others)

    monkeypatch.setattr(single_game, "events_of", keep)
    return kept


def play_on(game: Game, name: str = "crowd") -> None:
    """To the end."""
    agent = make_agent(name)
    while game.seat is not None:
        game.play(int(decide(game.games, agent)[0]))


def nothing_behind(row: Sequence[int]) -> bool:
    """Whether the places are 0 that the event doesn't use."""
    used = 1 if row[0] == EVENT_WON and row[1] == NOBODY else USED[row[0]]
    return len(row) == EVENT_WIDTH and not any(row[1 + used :])


def test_places_that_an_event_does_not_use_are_0(rows: list[list[int]]) -> None:
    play_on(Game(2, seed=3))
    play_on(Game(3, "back", seed=4))
    game = bare_game(3)  # the black stack is shuffled
    black_stack(game, [], [4, 5, 6], keeper=0)
    turn_of(game, 0)
    game.play("option C", [4])
    game = bare_game(3)  # nobody bids
    district(game, "TSQ", orange=(1, 1))
    start_auction(game, ["TSQ"], starter=0)
    passes(game, 0, 1, 2)
    assert {row[0] for row in rows} == set(USED)
    assert [EVENT_WON, NOBODY] in [row[:2] for row in rows]
    assert all(nothing_behind(row) for row in rows)
