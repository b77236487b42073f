"""The lesson, a fixed game with a task at each step."""

import re
from typing import Any

from pages import act, client_of, led_to, payload, wait_for_turn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.page.teaching.tutorial import BEATS, SEED, SIDE, WAITS, Lesson, line
from skyenv.rules.actions import BID, BID_DONE
from test_rule_ids import rule_ids


def test_each_step_of_the_lesson_names_its_task_and_rule() -> None:
    actions, rules, game = tuple(line()), {*rule_ids()}, Game(2, SIDE, SEED)
    while not (lesson := Lesson(actions[: (done := int(game.state["decisions"]))])).is_over:
        told, chosen = lesson.payload(), lesson.answer or lesson.wanted[:1]
        assert (game.seat == 0) == bool(lesson.wanted) == (told["todo"] != WAITS)
        assert told["rule"] in rules
        assert actions[done : done + len(chosen)] == (*chosen,)
        total = re.search(r": (\d+)\.$", told["todo"])
        for action in chosen:
            assert not total or action != BID_DONE or game.state["bid_total"][0] == int(total[1])
            game.play(action)
    assert (done, game.seat) == (len(actions), 0)
    kinds = {event["event"] for event in game.events}
    assert {"alea", "alea builds", "tile to park", "stop"} <= kinds
    assert {event["why"] for event in game.events if event["event"] == "vp"} == {
        *("district", "stop", "bonus")
    }


def lesson_of(client: TestClient) -> str:
    """Start or resume the lesson; return the seat's API address."""
    seat = client.get("/tutorial").url.path.replace("/seat/", "/api/seats/")
    client.post(f"{seat}/pause", json={"seconds": 0})
    return seat


def play(client: TestClient, seat: str, beats: int = len(BEATS)) -> dict[str, Any]:
    """Play the lesson's moves for some beats; return the last payload."""
    state = wait_for_turn(client, seat)
    until = state["lesson"]["number"] + beats
    while not state["lesson"]["over"] and state["lesson"]["number"] < until:
        wanted = state["lesson"]["wanted"]
        whole = wanted.index(BID_DONE) + 1 if BID <= wanted[0] < BID_DONE else 1
        assert act(client, seat, state, *wanted[:whole]).status_code == 200
        state = wait_for_turn(client, seat)
    return state


def test_a_lesson_accepts_only_its_moves_and_can_go_back(app: Starlette, ann: TestClient) -> None:
    seat = lesson_of(ann)
    before = play(ann, seat, 13)
    other = next(one["action"] for one in before["legal"] if one["action"] not in line())
    refused = act(ann, seat, before, other)
    assert (refused.status_code, "In this lesson: " in refused.json()["error"]) == (400, True)
    back = f"{seat}/lesson/back"
    assert ann.post(back, json={}).status_code == 200
    assert payload(ann, seat)["lesson"]["number"] == 12
    assert play(ann, seat, 1) == before | {"undone": 1}
    assert ann.post(back, json={"restart": True}).status_code == 200
    assert payload(ann, seat)["step"] == 0
    state = play(ann, seat)
    assert (state["lesson"]["over"], state["step"], state["scores"]) == (True, len(line()), [11, 3])
    assert payload(ann, lesson_of(ann))["step"] == 0
    assert lesson_of(ann) == seat != lesson_of(client_of(app))


def test_clients_without_cookies_create_no_lessons(app: Starlette, ann: TestClient) -> None:
    program = client_of(app)
    answer = program.get("/tutorial", follow_redirects=False)
    program.cookies.clear()
    assert "cookies" in program.get(answer.headers["location"]).json()["error"]
    assert not app.state.server.storage.rows("SELECT token FROM link")


def test_a_lesson_can_be_continued_as_a_free_game(ann: TestClient) -> None:
    seat = lesson_of(ann)
    state = play(ann, seat, 5)
    free = led_to(ann.post(f"{seat}/lesson/leave", json={"agent": "random"}))
    now = payload(ann, free)
    assert (now["step"], now["names"], now["lesson"]) == (state["step"], ["you", "Random"], None)
    assert act(ann, free, now, now["legal"][-1]["action"]).status_code == 200
    assert ann.post(f"{free}/lesson/back", json={"restart": True}).status_code == 400, "no lesson"
    assert payload(ann, seat)["step"] == state["step"]
