"""What teaches the game, by the interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pages import act, client_of, make_app, payload
from starlette.testclient import TestClient

from processes import wait_until
from skyenv.page.teaching.tutorial import BEATS, line


def test_the_rules_have_a_page() -> None:
    with client_of(make_app()) as client:
        answer = client.get("/rules")
        assert answer.status_code == 200
        assert 'id="AUC-4"' in answer.text
        assert (
            client.get("/static/rules/board-dark.svg")
            .headers["content-type"]
            .startswith("image/svg+xml")
        )


def lesson_of(client: TestClient) -> str:
    """Begin the lesson, or go on with it: the address of the seat in the interface."""
    answer = client.get("/tutorial", follow_redirects=False)
    if "seat" not in answer.headers["location"]:  # it has been sent its name first
        answer = client.get("/" + answer.headers["location"], follow_redirects=False)
    assert answer.status_code == 303
    seat = "/api/seats/" + answer.headers["location"].rpartition("/")[2]
    assert client.post(f"{seat}/pause", json={"seconds": 0}).status_code == 200
    return seat


def my_turn(client: TestClient, seat: str) -> dict[str, Any]:
    """Wait until the teacher has moved."""
    wait_until(lambda: not payload(client, seat)["lesson"]["waits"])
    return payload(client, seat)


def play(client: TestClient, seat: str, beats: int) -> dict[str, Any]:
    """Do what is wanted, for so many beats; what the seat is told then."""
    state = my_turn(client, seat)
    until = state["lesson"]["number"] + beats
    while not state["lesson"]["over"] and state["lesson"]["number"] < until:
        assert state["yours"]
        assert act(client, seat, state, state["lesson"]["wanted"][0]).status_code == 200
        state = my_turn(client, seat)
    return state


def test_the_whole_lesson() -> None:
    with client_of(make_app()) as client:
        seat = lesson_of(client)
        state = play(client, seat, len(BEATS))
        assert state["lesson"]["over"]
        assert state["lesson"]["wanted"] == []
        assert state["step"] == len(line())
        assert state["scores"] == [11, 3]
        answer = act(client, seat, state, state["legal"][0]["action"])
        assert (answer.status_code, answer.json()["error"][:18]) == (400, "the lesson is over")


def test_other_choices_are_refused_and_do_nothing() -> None:
    with client_of(make_app()) as client:
        seat = lesson_of(client)
        state = play(client, seat, 2)
        other = next(
            choice["action"]
            for choice in state["legal"]
            if choice["action"] not in state["lesson"]["wanted"]
        )
        answer = act(client, seat, state, other)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("In this lesson: choose option A")
        assert payload(client, seat) == state


def test_a_lesson_is_gone_on_with_and_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as client:
        seat = lesson_of(client)
        assert lesson_of(client) == seat
        step = play(client, seat, 7)["step"]
        cookies = dict(client.cookies)
    app = make_app(path)
    with client_of(app) as client:
        client.cookies.update(cookies)
        assert lesson_of(client) == seat
        assert payload(client, seat)["step"] == step
        assert lesson_of(client_of(app)) != seat  # another browser's


def test_going_back_a_step_and_to_the_beginning() -> None:
    with client_of(make_app()) as client:
        seat = lesson_of(client)
        before = play(client, seat, 13)
        assert before["phase"] == "bid"
        act(client, seat, before, before["lesson"]["wanted"][0])  # a card of a bid
        assert client.post(f"{seat}/lesson/back", json={}).status_code == 200
        assert payload(client, seat) == before
        assert client.post(f"{seat}/lesson/back", json={}).status_code == 200
        assert payload(client, seat)["lesson"]["number"] == 12
        assert play(client, seat, 1) == before | {"undone": 1}
        assert client.post(f"{seat}/lesson/back", json={"anew": True}).status_code == 200
        assert payload(client, seat)["step"] == 0
        assert play(client, seat, len(BEATS))["lesson"]["over"]
        assert (
            payload(client, lesson_of(client))["step"] == 0
        )  # a lesson that is over is begun anew


def test_who_takes_no_cookie_makes_no_games() -> None:
    app = make_app()
    with client_of(app):
        for _ in range(3):
            program = client_of(app)
            answer = program.get("/tutorial", follow_redirects=False)
            program.cookies.clear()
            refused = program.get(answer.headers["location"], follow_redirects=False)
            assert (answer.status_code, refused.status_code) == (303, 403)
            assert "cookies" in refused.json()["error"]
        assert not app.state.server.storage.rows("SELECT token FROM link")


def test_playing_on_freely() -> None:
    with client_of(make_app()) as client:
        seat = lesson_of(client)
        state = play(client, seat, 5)
        assert client.post(f"{seat}/lesson/leave", json={"agent": "nobody"}).status_code == 404
        answer = client.post(f"{seat}/lesson/leave", json={"agent": "random"})
        assert answer.status_code == 201
        free = answer.json()["page"].replace("/seat/", "/api/seats/")
        now = payload(client, free)
        assert now["lesson"] is None
        assert (now["step"], now["names"]) == (state["step"], ["you", "random"])
        assert act(client, free, now, now["legal"][-1]["action"]).status_code == 200
        assert payload(client, seat)["step"] == state["step"]
        assert client.post(f"{free}/lesson/back", json={}).status_code == 400
        assert client.post(f"{free}/lesson/leave", json={"agent": "random"}).status_code == 400


def test_a_lesson_can_be_deleted_and_given_up() -> None:
    with client_of(make_app()) as client:
        seat = lesson_of(client)
        assert client.post(f"{seat}/release").status_code == 200
        assert lesson_of(client) == seat
        assert client.delete(seat).status_code == 200
        assert lesson_of(client) != seat
