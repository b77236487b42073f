"""Variations: recorded games continued with new chance.

That hidden cards are resampled is tested in tests/guarantees.
"""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from pages import opened, payload, play_to_end, played, replay_of
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.page.errors import PageError
from skyenv.page.game_server import new_game
from skyenv.page.session import Session
from skyenv.analysis.variations import to_play_on, variation_of
from skyenv.records.replay import verify
from skyenv.rules.actions import OPTION_A
from skyenv.rules.board import make_board


def whole(beginning: str, seed: int, more: int) -> Game:
    """Return a variation continued for `more` actions."""
    game = to_play_on(beginning, seed, 5)
    end = int(game.state["decisions"]) + more
    while not game.is_over and (step := int(game.state["decisions"])) < end:
        game.play(game.legal_actions[step % len(game.legal_actions)])
    return game


@pytest.mark.parametrize("players", [2, 4])
def test_a_variation_keeps_the_past_and_has_new_chance(players: int) -> None:
    game = played(players, seed=7)
    beginning = variation_of(replay_of(game), 60)["beginning"]
    begun, at = whole(beginning, 1, 0), Game.from_record(game.to_record(), step=60)
    assert (begun.events, begun.seed) == (at.events, None)
    assert len({str(whole(beginning, seed, 80).events) for seed in range(4)}) > 1
    on = whole(beginning, 3, 10_000)
    assert (on.is_over, verify(io.StringIO(on.to_record())).games) == (True, 1)
    assert whole(beginning, 3, 10_000).events == on.events


def test_a_reloaded_variation_is_the_same_and_can_undo() -> None:
    replay = replay_of(played(2, seed=3))
    steps = range(60, replay.steps)
    step = next(step for step in steps if OPTION_A in replay.at(step).legal_actions)
    stored = replace(new_game("ann", 9, ("human",) * 2), **variation_of(replay, step))
    first = Session(stored)
    first.become(first.played([OPTION_A]))
    again = Session(replace(stored, actions=first.position.actions))
    assert (again.game, again.game.events) == (first.game, first.game.events)
    assert again.can_undo(int(replay.states[step]["seat"]))


@pytest.mark.parametrize("resample", [True, False])
@pytest.mark.usefixtures("short_games")
def test_a_replay_can_be_continued(ann: TestClient, resample: bool) -> None:
    game = played(2, seed=3, turns=8)
    api = f"{opened(ann, game)}/1"
    step = next(step for step in range(60, 200) if replay_of(game).at(step).seat == 1)
    made = ann.post(
        f"{api}/{step}/variations", json={"seats": ["agent:crowd", "me"], "resample": resample}
    )
    seat = made.json()["page"].replace("/seat/", "/api/seats/")
    assert (payload(ann, seat)["step"], payload(ann, seat)["yours"]) == (step, True)
    ann.post(f"{seat}/pause", json={"seconds": 0})
    play_to_end(ann, seat)
    record = ann.get(f"{seat}/record").text
    assert verify(io.StringIO(record)).games == 1
    hands = [Game.from_record(text, step=step).state["hand"] for text in (game.to_record(), record)]
    assert hands[0][1].tolist() == hands[1][1].tolist()
    assert resample != (hands[0].tolist() == hands[1].tolist())


def test_finished_games_are_refused() -> None:
    replay = replay_of(played(2))
    with pytest.raises(PageError, match="over"):
        variation_of(replay, replay.steps)


def test_hidden_cards_are_resampled_on_own_boards() -> None:
    """The record replays; the seat's hand, the board and what was scored stay."""
    game = Game(2, "back", seed=6, board=make_board("back", {"TSQ": RING}))
    while int(game.state["decisions"]) < 90:
        game.play(game.legal_actions[int(game.state["decisions"]) % len(game.legal_actions)])
    hands = set()
    for uniform in (0.1, 0.5, 0.9):
        beginning = variation_of(replay_of(game), 90, 0, uniform)["beginning"]
        one = Game.from_record(beginning)
        assert (one.board, one.scores, one.legal_actions) == (
            game.board,
            game.scores,
            game.legal_actions,
        )
        assert one.state["hand"][0].tolist() == game.state["hand"][0].tolist()
        hands.add(one.state["hand"][1].tobytes())
    assert len(hands) > 1


RING = ["green", "brown", "violet", "orange", "gray", "sixth"]
