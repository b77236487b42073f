"""The lesson, a fixed game of which every step says what to do, and the rules' page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pages import act, client_of, make_app, payload
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import ACTION_NAMES, Game
from skyenv.page.teaching.tutorial import BEATS, PLAYERS, SEED, SIDE, Lesson, line
from skyenv.rules.actions import BID, BID_DONE
from test_rule_ids import rule_ids


def test_the_line_shows_everything_and_each_of_its_steps_tells_one_side_to_move() -> None:
    actions, rules = tuple(line()), {*rule_ids()}
    game = Game(PLAYERS, SIDE, SEED)
    while not (lesson := Lesson(actions[: (done := int(game.state["decisions"]))])).is_over:
        told, chosen = lesson.payload(), lesson.answer or lesson.wanted[:1]
        assert (game.seat == 0) == bool(lesson.wanted) == bool(told["todo"]) != told["waits"]
        assert told["rule"] in rules
        assert actions[done : done + len(chosen)] == (*chosen,)
        for action in chosen:
            total = re.search(r": (\d+)\.$", told["todo"])
            if ACTION_NAMES[action] == "bid done" and total:
                assert int(game.state["bid_total"][0]) == int(total[1])
            game.play(action)
        stay = Lesson(actions[:done]).begin_of_last()
        assert Lesson(actions[:stay]).wanted
        assert stay < done or done == 0
    assert (done, game.seat, lesson.payload()["over"]) == (len(actions), 0, True)
    events = game.events
    names = " ".join(ACTION_NAMES[action] for action in actions)
    for name in (*"ABCD", "bid done", "pass", "stop", "build 3"):
        assert (f"option {name}" if len(name) == 1 else name) in names
    happened = {event["event"] for event in events}
    assert {"alea", "alea builds", "tile to park", "stop"} <= happened
    assert {event["why"] for event in events if event["event"] == "vp"} == {
        *("district", "stop", "bonus")
    }
    assert {event["seat"] for event in events if event["event"] == "won"} == {0, -1}


# ---- by the interface ----


def lesson_of(client: TestClient) -> str:
    """Begin the lesson, or go on with it: the address of the seat in the interface."""
    page = client.get("/tutorial").url.path
    assert page.startswith("/seat/")
    assert client.post(f"/api{page.replace('seat', 'seats', 1)}/pause", json={"seconds": 0})
    return f"/api{page.replace('seat', 'seats', 1)}"


def my_turn(client: TestClient, seat: str) -> dict[str, Any]:
    """Wait until the teacher has moved."""
    wait_until(lambda: not payload(client, seat)["lesson"]["waits"])
    return payload(client, seat)


def play(client: TestClient, seat: str, beats: int = len(BEATS)) -> dict[str, Any]:
    """Do what is wanted, for so many beats; what the seat is told then."""
    state = my_turn(client, seat)
    until = state["lesson"]["number"] + beats
    while not state["lesson"]["over"] and state["lesson"]["number"] < until:
        wanted = state["lesson"]["wanted"]
        whole = wanted.index(BID_DONE) + 1 if BID <= wanted[0] < BID_DONE else 1
        assert act(client, seat, state, *wanted[:whole]).status_code == 200
        state = my_turn(client, seat)
    return state


def test_a_lesson_goes_forward_as_told_and_back_and_other_choices_do_nothing(
    ann: TestClient,
) -> None:
    seat = lesson_of(ann)
    before = play(ann, seat, 13)
    assert before["phase"] == "bid"
    other = next(one["action"] for one in before["legal"] if one["action"] not in line())
    refused = act(ann, seat, before, other)
    assert (refused.status_code, "In this lesson: " in refused.json()["error"]) == (400, True)
    back = f"{seat}/lesson/back"
    assert ann.post(back, json={}).status_code == 200
    assert payload(ann, seat)["lesson"]["number"] == 12
    assert play(ann, seat, 1) == before | {"undone": 1}
    assert ann.post(back, json={"anew": True}).status_code == 200
    assert payload(ann, seat)["step"] == 0
    state = play(ann, seat)
    assert (state["lesson"]["over"], state["step"], state["scores"]) == (True, len(line()), [11, 3])
    refused = act(ann, seat, state, state["legal"][0]["action"])
    assert "the lesson is over" in refused.json()["error"]
    assert payload(ann, lesson_of(ann))["step"] == 0


def test_each_browser_has_a_lesson_until_it_deletes_it_also_after_a_restart(tmp_path: Path) -> None:
    with client_of(make_app(tmp_path / "games.sqlite3")) as client:
        seat = lesson_of(client)
        step = play(client, seat, 7)["step"]
    with client_of(app := make_app(tmp_path / "games.sqlite3")) as later:
        later.cookies.update(dict(client.cookies))
        assert lesson_of(later) == seat != lesson_of(client_of(app))
        assert payload(later, seat)["step"] == step
        assert later.post(f"{seat}/release").status_code == 200
        assert lesson_of(later) == seat
        assert later.delete(seat).status_code == 200
        assert lesson_of(later) != seat


def test_who_takes_no_cookie_makes_no_games(app: Starlette, ann: TestClient) -> None:
    program = client_of(app)
    answer = program.get("/tutorial", follow_redirects=False)
    program.cookies.clear()
    refused = program.get(answer.headers["location"], follow_redirects=False)
    assert (answer.status_code, refused.status_code) == (303, 403)
    assert "cookies" in refused.json()["error"]
    assert not app.state.server.storage.rows("SELECT token FROM link")


def test_playing_on_freely(ann: TestClient) -> None:
    seat = lesson_of(ann)
    state = play(ann, seat, 5)
    assert ann.post(f"{seat}/lesson/leave", json={"agent": "nobody"}).status_code == 404
    answer = ann.post(f"{seat}/lesson/leave", json={"agent": "random"})
    free = answer.json()["page"].replace("/seat/", "/api/seats/")
    now = payload(ann, free)
    assert (now["step"], now["names"], now["lesson"]) == (state["step"], ["you", "random"], None)
    assert act(ann, free, now, now["legal"][-1]["action"]).status_code == 200
    assert payload(ann, seat)["step"] == state["step"]
    for way in ("back", "leave"):
        assert ann.post(f"{free}/lesson/{way}", json={"agent": "random"}).status_code == 400
