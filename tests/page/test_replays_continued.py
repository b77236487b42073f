"""Variations as games of the page."""

import io
from dataclasses import replace
from typing import Any

import pytest
from pages import opened, payload, play_to_end, played, replay_of
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.analysis.variations import variation
from skyenv.page.table.server import new_game
from skyenv.page.table.session import Session
from skyenv.records.replay import verify
from skyenv.rules.actions import OPTION_A


def test_a_reloaded_variation_is_the_same_and_can_undo() -> None:
    replay = replay_of(played(2, seed=3))
    steps = range(60, replay.steps)
    step = next(step for step in steps if OPTION_A in replay.at(step).legal_actions)
    begun: dict[str, Any] = {
        "beginning": variation(replay, step),
        "actions": tuple(replay.actions()[:step]),
    }
    stored = replace(new_game("ann", 9, ("human",) * 2), **begun)
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
