"""Recorded games that are played on with other chance, and with other hidden cards: truthful
records, alike however often they are read.
"""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from pages import another, payload, play_to_end, played
from starlette.applications import Starlette
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.engine.events import seen_by
from skyenv.engine.knowledge import view
from skyenv.page.errors import PageError
from skyenv.page.game_server import new_game
from skyenv.page.replays import Replay
from skyenv.page.session import Session
from skyenv.page.variations import Variation, drawn_anew, played_on
from skyenv.records.replay import verify
from skyenv.rules.actions import OPTION_A
from skyenv.rules.board import make_board


def replay_of(game: Game) -> Replay:
    """The game's replay."""
    return Replay.of(game.to_record().encode(), 1)


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
    variation = Variation.of(replay_of(game), 60, "key/1")
    begun, at = whole(variation, 1, 0), Game.from_record(game.to_record(), step=60)
    assert (begun.events, begun.seed) == (at.events, None)
    for field in ("hand", "face_down", "top", "owner", "tiles", "row"):
        assert begun.state[field].tolist() == at.state[field].tolist()
    assert whole(variation, 1, 80).events == whole(variation, 1, 80).events
    assert len({str(whole(variation, seed, 80).events) for seed in range(4)}) > 1
    on = whole(variation, 3, 10_000)
    record = on.to_record()
    assert on.is_over
    assert verify(io.StringIO(record)).actions == int(on.state["decisions"])
    actions = [event["action"] for event in on.events if event["event"] == "action"]
    assert played_on(variation.beginning, actions, 3, 5).events == on.events
    early = played_on(variation.beginning, actions[:20], 3, 5).events
    assert early == Game.from_record(game.to_record(), step=20).events
    with pytest.raises(PageError, match="over"):
        Variation.of(Replay.of(record.encode(), 1), len(actions), "key/1")


def test_a_session_that_is_read_again_is_the_same_and_takes_back_what_it_could() -> None:
    replay = replay_of(played(2, seed=3))
    step = next(
        step for step in range(60, replay.steps) if OPTION_A in replay.at(step).legal_actions
    )
    variation, stored = Variation.of(replay, step, "key/1"), new_game("ann", 9, ("human",) * 2)
    stored = replace(stored, origin_step=step, beginning=variation.beginning)
    first = Session(replace(stored, actions=tuple(variation.actions)))
    first.become(first.played([OPTION_A]))
    again = Session(replace(stored, actions=first.position.actions))
    assert again.game == first.game
    assert again.game.events == first.game.events
    assert again.can_undo(int(replay.states[step]["seat"]))


@pytest.mark.parametrize("anew", [True, False])
@pytest.mark.usefixtures("short_games")
def test_a_replay_is_played_on_and_the_variation_is_listed(
    app: Starlette, ann: TestClient, anew: bool
) -> None:
    game = played(2, seed=3, turns=8)
    ann.get("/")
    page = ann.post("/api/replays", content=game.to_record()).json()["page"]
    api = page.replace("/replay/", "/api/replays/") + "/1"
    step = next(step for step in range(60, 200) if replay_of(game).at(step).seat == 1)
    wanted = {"seats": ["agent:crowd", "me"], "anew": anew}
    made = ann.post(f"{api}/{step}/variations", json=wanted)
    assert made.status_code == 201, made.text
    seat = made.json()["page"].replace("/seat/", "/api/seats/")
    ann.post(f"{seat}/pause", json={"seconds": 0})
    assert (payload(ann, seat)["step"], payload(ann, seat)["yours"]) == (step, True)
    end = play_to_end(ann, seat)
    (listed,) = ann.get(f"{api}/variations").json()["variations"]
    told = {"step": step, "seat": 1, "drawn_for": 1 if anew else None, "names": ["crowd", "you"]}
    told |= {"page": made.json()["page"], "over": True, "scores": end["scores"]}
    assert listed == told | {"actions": end["step"]}
    record = ann.get(f"{seat}/record").text
    assert verify(io.StringIO(record)).games == 1
    hands = [Game.from_record(text, step=step).state["hand"] for text in (game.to_record(), record)]
    assert hands[0][1].tolist() == hands[1][1].tolist()
    assert anew or hands[0].tolist() == hands[1].tolist()
    for client, body, status in (
        (another(app), wanted, 404),
        (ann, {"seats": ["me"]}, 400),
        (ann, {"seats": ["me", "me"], "anew": True}, 400),
        (ann, wanted | {"anew": "yes"}, 400),
        (ann, {"seats": ["me", "agent:no"]}, 404),
    ):
        assert client.post(f"{api}/{step}/variations", json=body).status_code == status
    assert another(app).get(f"{api}/variations").status_code == 404
    last = int(game.state["decisions"])
    assert ann.post(f"{api}/{last}/variations", json={"seats": ["me", "me"]}).status_code == 409


# ---- hidden cards drawn anew ----


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back")])
def test_a_seat_has_seen_the_very_same_and_hidden_cards_are_others(players: int, side: str) -> None:
    replay, others = replay_of(played(players, seed=7, side=side)), set()
    for number, step in enumerate(np.linspace(0, replay.steps - 1, 5).astype(int).tolist()):
        before = [event for events in replay.events[: step + 1] for event in events]
        for seat in range(players):
            record = drawn_anew(replay, step, seat, (0.37 * number + 0.11 * seat) % 1.0)
            game, real = Game.from_record(record), replay.states[step]  # every line is checked
            then, now = (
                view(np.array([state], real.dtype), [seat])[0] for state in (real, game.state)
            )
            for field in ("unknown", "unseen", "num_face_down"):
                assert then[field].tolist() == now[field].tolist(), field
            for field in set(then["game"].dtype.names) - {"random", "seed", "bid_order"}:
                assert then["game"][field].tolist() == now["game"][field].tolist(), field
            assert list(seen_by(game.events, seat)) == list(seen_by(before, seat))
            assert game.seed is None
            others.add((game.state["hand"] != real["hand"]).any())
    assert True in others


def test_a_number_decides_which() -> None:
    replay = replay_of(played(2, seed=3))
    drawn = [drawn_anew(replay, 60, 1, number / 8) for number in (*range(8), 2)]
    assert drawn[2] == drawn[8]
    assert len(set(drawn)) > 4


def test_a_board_of_ones_own_is_refused() -> None:
    board = make_board("front", {"W34": ["violet", "green", "brown", "orange", "gray"]})
    with pytest.raises(PageError, match="printed board"):
        drawn_anew(replay_of(Game(2, seed=1, board=board)), 0, 0, 0.5)
