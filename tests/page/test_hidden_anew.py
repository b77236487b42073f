"""Records whose hidden cards are drawn anew: games like any other, in which a seat has seen the
very same.
"""

from __future__ import annotations

import numpy as np
import pytest
from pages import played

from skyenv import Game
from skyenv.engine.events import seen_by
from skyenv.engine.knowledge import view
from skyenv.page.errors import PageError
from skyenv.page.hidden_anew import drawn_anew
from skyenv.page.replays import Replay
from skyenv.rules.board import make_board
from skyenv.rules.state import NONE


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back")])
def test_a_seat_has_seen_the_very_same_and_hidden_cards_are_others(players: int, side: str) -> None:
    replay = Replay.of(played(players, seed=7, side=side).to_record().encode(), 1)
    others = set()
    for number, step in enumerate(np.linspace(0, replay.steps - 1, 5).astype(int)):
        for seat in range(players):
            record = drawn_anew(replay, int(step), seat, (0.37 * number + 0.11 * seat) % 1.0)
            game = Game.from_record(record)  # every line of it is checked
            real = replay.states[step]
            assert (game.seat if game.seat is not None else NONE) == real["seat"]
            then, now = (
                view(np.array([state], real.dtype), [seat])[0] for state in (real, game.state)
            )
            for field in ("unknown", "unseen", "num_face_down"):
                assert then[field].tolist() == now[field].tolist(), field
            for field in (
                "hand",
                "top",
                "known",
                "returned",
                "score",
                "owner",
                "bid_cards",
                "phase",
                "row",
            ):
                assert then["game"][field].tolist() == now["game"][field].tolist(), field
            before = [event for events in replay.events[: step + 1] for event in events]
            assert list(seen_by(game.events, seat)) == list(seen_by(before, seat))
            assert game.seed is None
            others.add((game.state["hand"] != real["hand"]).any())
    assert True in others


def test_a_number_decides_which() -> None:
    replay = Replay.of(played(2, seed=3).to_record().encode(), 1)
    assert drawn_anew(replay, 60, 1, 0.25) == drawn_anew(replay, 60, 1, 0.25)
    assert len({drawn_anew(replay, 60, 1, number / 8) for number in range(8)}) > 4


def test_a_board_of_ones_own_is_refused() -> None:
    game = Game(
        2,
        seed=1,
        board=make_board("front", {"W34": ["violet", "green", "brown", "orange", "gray"]}),
    )
    with pytest.raises(PageError, match="printed board"):
        drawn_anew(Replay.of(game.to_record().encode(), 1), 0, 0, 0.5)
