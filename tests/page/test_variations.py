"""Recorded games that are played on with other chance: truthful records, alike however often they
are read.
"""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from pages import act, another, payload, play_to_end, played
from starlette.applications import Starlette
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.page.errors import PageError
from skyenv.page.game_server import new_game
from skyenv.page.replays import Replay
from skyenv.page.session import Session
from skyenv.page.variations import Variation, played_on
from skyenv.records.replay import verify
from skyenv.rules.actions import OPTION_A

pytestmark = pytest.mark.usefixtures("short_games")


def whole(variation: Variation, seed: int, more: int) -> Game:
    """The variation, played on whatever comes, so many times."""
    game = played_on(variation.beginning, variation.actions, seed, 5)
    for _ in range(more):
        if not game.is_over:
            game.play(game.legal_actions[int(game.state["decisions"]) % len(game.legal_actions)])
    return game


@pytest.mark.parametrize("players", [2, 4])
def test_a_variation_has_the_records_past_and_chance_of_its_own(players: int) -> None:
    game = played(players, seed=7)
    variation = Variation.of(Replay.of(game.to_record().encode(), 1), 60, "key/1")
    begun = whole(variation, 1, 0)
    at = Game.from_record(game.to_record(), step=60)
    assert begun.events == at.events
    for field in ("hand", "face_down", "top", "owner", "tiles", "row"):
        assert begun.state[field].tolist() == at.state[field].tolist()
    assert whole(variation, 1, 80).events == whole(variation, 1, 80).events
    assert len({str(whole(variation, seed, 80).events) for seed in range(4)}) > 1
    assert begun.seed is None


def test_its_record_can_be_verified_and_read_again() -> None:
    game = played(3, seed=7)
    variation = Variation.of(Replay.of(game.to_record().encode(), 1), 40, "key/1")
    on = whole(variation, 3, 10_000)
    assert on.is_over
    record = on.to_record()
    assert verify(io.StringIO(record)).actions == int(on.state["decisions"])
    assert Game.from_record(record).events == on.events
    actions = [event["action"] for event in on.events if event["event"] == "action"]
    assert played_on(variation.beginning, actions, 3, 5).events == on.events
    assert (
        played_on(variation.beginning, actions[:20], 3, 5).events
        == Game.from_record(game.to_record(), step=20).events
    )
    with pytest.raises(PageError, match="over"):
        Variation.of(Replay.of(record.encode(), 1), len(actions), "key/1")


def test_a_replay_is_played_on_and_the_variation_is_listed(app: Starlette, ann: TestClient) -> None:
    game = played(2, seed=3, turns=8)
    ann.get("/")
    key = ann.post("/api/replays", content=game.to_record()).json()["page"].rpartition("/")[2]
    api = f"/api/replays/{key}/1"
    step = next(
        step for step in range(60, 200) if Game.from_record(game.to_record(), step=step).seat == 1
    )
    assert ann.get(f"{api}/variations").json() == {"variations": []}
    made = ann.post(f"{api}/{step}/variations", json={"seats": ["agent:random", "me"]})
    assert made.status_code == 201, made.text
    seat = made.json()["page"].replace("/seat/", "/api/seats/")
    ann.post(f"{seat}/pause", json={"seconds": 0})
    state = payload(ann, seat)
    assert (state["step"], state["yours"]) == (step, True)
    assert act(ann, seat, state, state["legal"][0]["action"]).status_code == 200
    (listed,) = ann.get(f"{api}/variations").json()["variations"]
    assert (listed["page"], listed["step"], listed["seat"], listed["over"]) == (
        made.json()["page"],
        step,
        1,
        False,
    )
    play_to_end(ann, seat)
    record = ann.get(f"{seat}/record").text
    lines = game.to_record().splitlines()
    behind = [
        number
        for number, line in enumerate(lines)
        if '"event": "action"' in line or '"event":"action"' in line
    ][step]
    assert record.splitlines()[1:behind] == lines[1:behind]
    assert verify(io.StringIO(record)).games == 1
    eve = another(app)
    assert eve.get(f"{api}/variations").status_code == 404
    assert eve.post(f"{api}/{step}/variations", json={"seats": ["me", "me"]}).status_code == 404
    for seats, status in ((["me"], 400), (["me", "agent:no"], 404)):
        assert ann.post(f"{api}/{step}/variations", json={"seats": seats}).status_code == status
    end = int(game.state["decisions"])
    assert ann.post(f"{api}/{end}/variations", json={"seats": ["me", "me"]}).status_code == 409


def test_a_session_that_is_read_again_is_the_same_and_takes_back_what_it_could() -> None:
    replay = Replay.of(played(2, seed=3).to_record().encode(), 1)
    step = next(
        step for step in range(60, replay.steps) if OPTION_A in replay.at(step).legal_actions
    )
    variation = Variation.of(replay, step, "key/1")
    seat, people = int(replay.states[step]["seat"]), ("human", "human")
    stored = new_game("ann", 9, people)
    stored = replace(
        stored,
        origin_step=step,
        beginning=variation.beginning,
        actions=tuple(variation.actions),
    )
    first = Session(stored)
    first.become(first.played([OPTION_A]))
    again = Session(replace(stored, actions=first.position.actions))
    assert again.game.events == first.game.events
    assert again.game == first.game
    assert again.can_undo(seat)
    assert first.can_undo(seat)


def test_hidden_cards_are_drawn_anew_for_the_one_who_plays_on(
    app: Starlette, ann: TestClient
) -> None:
    game = played(2, seed=3, turns=8)
    ann.get("/")
    key = ann.post("/api/replays", content=game.to_record()).json()["page"].rpartition("/")[2]
    api = f"/api/replays/{key}/1"
    step = next(
        step for step in range(60, 200) if Game.from_record(game.to_record(), step=step).seat == 1
    )
    hands, pages = set(), []
    for _ in range(3):
        made = ann.post(
            f"{api}/{step}/variations", json={"seats": ["agent:crowd", "me"], "anew": True}
        )
        assert made.status_code == 201, made.text
        pages.append(made.json()["page"])
        seat = pages[-1].replace("/seat/", "/api/seats/")
        ann.post(f"{seat}/pause", json={"seconds": 0})
        assert payload(ann, seat)["step"] == step
    (first, *_) = listed = ann.get(f"{api}/variations").json()["variations"]
    assert len(listed) == 3
    assert (first["step"], first["drawn_for"]) == (step, 1)
    for page in pages[:2]:
        seat = page.replace("/seat/", "/api/seats/")
        play_to_end(ann, seat)
        record = ann.get(f"{seat}/record").text
        assert verify(io.StringIO(record)).games == 1
        real, other = (
            Game.from_record(text, step=step).state for text in (game.to_record(), record)
        )
        assert real["hand"][1].tolist() == other["hand"][1].tolist()
        hands |= {str(real["hand"][0].tolist()), str(other["hand"][0].tolist())}
    assert len(hands) > 1
    stays = ann.post(f"{api}/{step}/variations", json={"seats": ["agent:crowd", "me"]}).json()[
        "page"
    ]
    assert {
        one["page"]: one["drawn_for"] for one in ann.get(f"{api}/variations").json()["variations"]
    }[stays] is None
    for seats, anew in (
        (["me", "me"], True),
        (["agent:crowd", "agent:crowd"], True),
        (["agent:crowd", "me"], "yes"),
    ):
        assert (
            ann.post(f"{api}/{step}/variations", json={"seats": seats, "anew": anew}).status_code
            == 400
        )
