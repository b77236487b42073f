"""Seats by the page's interface: whole games, hints, who may do what, what is refused."""

from __future__ import annotations

import http.client
import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pages import (
    RunningServer,
    act,
    another,
    begin,
    check_is_known,
    client_of,
    make_app,
    payload,
    seated,
    wait_for_turn,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from test_game_server import Gate

from processes import Threads, wait_until
from skyenv import Game
from skyenv.page import game_server, requests
from skyenv.page.browsers import COOKIE
from skyenv.page.replays import Replay


@pytest.mark.usefixtures("short_games")
def test_a_whole_game_and_its_record(ann: TestClient) -> None:
    """No answer on the way tells what the seat can't know."""
    seat = begin(ann, ["me", "agent:random", "agent:crowd"], side="back", seed="4242424242424242")
    assert ann.get(f"{seat}/record").status_code == 403
    heard = [wait_for_turn(ann, seat) for _ in range(1)]
    while not heard[-1]["over"]:
        last = heard[-1]["legal"][-1]["action"]
        assert act(ann, seat, heard[-1], last).status_code == 200
        heard.append(wait_for_turn(ann, seat))
    answer = ann.get(f"{seat}/record")
    assert "attachment" in answer.headers["content-disposition"]
    game = Game.from_record(answer.text)
    assert (game.is_over, game.seed) == (True, 4242424242424242)
    assert game.scores == heard[-1]["scores"] == heard[-1]["final"][-1]["scores"]
    header = json.loads(answer.text.splitlines()[0])
    assert header["agents"] == ["human", "random", "crowd"]
    replay = Replay.of(answer.content, 1)
    for state in heard[:-1]:
        check_is_known(replay, 0, state)
    page = ann.post(f"{seat}/replay").json()["page"]
    assert ann.get(page.replace("/replay/", "/api/replays/")).status_code == 200


@pytest.mark.usefixtures("short_games")
def test_agents_alone_play_while_they_are_watched(ann: TestClient) -> None:
    seat = begin(ann, ["agent:random", "agent:crowd"])
    assert payload(ann, seat)["watching"]
    assert payload(ann, seat)["step"] == payload(ann, seat)["step"] == 0
    with watch(ann, seat) as socket:
        while not payload(ann, seat)["over"]:
            assert socket.receive_text() == "changed"
    assert ann.get(f"{seat}/record").status_code == 200
    assert act(ann, seat, payload(ann, seat), 0).status_code == 409


def test_agents_wait_and_move_one_by_one(ann: TestClient) -> None:
    seat = seated(ann, "random", "crowd")[0]
    assert ann.post(f"{seat}/pause", json={"paused": True}).status_code == 200
    state = payload(ann, seat)
    assert act(ann, seat, state, state["legal"][0]["action"]).status_code == 200
    for step in (2, 3):
        assert payload(ann, seat)["step"] == step - 1
        assert ann.post(f"{seat}/next").status_code == 200
        wait_until(lambda step=step: payload(ann, seat)["step"] == step)  # type: ignore[misc]
    ann.post(f"{seat}/pause", json={"seconds": 2.5})
    assert [payload(ann, seat)[name] for name in ("paused", "pause")] == [True, 2.5]


def test_hints_are_for_the_seat_to_act_and_tell_how_sure_the_agent_is(ann: TestClient) -> None:
    seat = seated(ann, None)[0]
    state = payload(ann, seat)
    for name, kind in (("greedy", "vp"), ("random", "probability")):
        hint = ann.get(f"{seat}/hint?agent={name}").json()
        assert hint["actions"][0] in [choice["action"] for choice in state["legal"]]
        assert (hint["kind"], hint["step"]) == (kind, 0)
        assert ann.get(f"{seat}/hint?agent={name}").json() == hint
    act(ann, seat, state, hint["actions"][0])
    assert ann.get(f"{seat}/hint?agent=greedy").status_code == 409


def test_a_hint_ends_when_its_browser_has_gone(tmp_path: Path) -> None:
    gate, app = Gate(), make_app(tmp_path / "games.sqlite3")
    server = RunningServer(app)
    try:
        browser: Any = httpx2.Client(base_url=server.address, timeout=None)
        seat = begin(browser, ["me", "agent:crowd"])
        object.__setattr__(app.state.server.catalogue["random"], "source", gate)
        leaving = http.client.HTTPConnection("127.0.0.1", server.port)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        leaving.request("GET", f"{seat}/hint?agent=random", headers={"Cookie": cookies})
        gate.asked.wait()
        leaving.close()
        wait_until(lambda: not Threads.busy)  # its thread is left to itself
        assert browser.get(f"{seat}/hint?agent=greedy").status_code == 200
        browser.close()
    finally:
        gate.go.set()
        server.stop()


def test_a_seat_belongs_to_its_browser_until_it_is_given_up(
    app: Starlette, ann: TestClient
) -> None:
    seat, _ = seated(ann, "random")
    eve, state = another(app), payload(ann, seat)
    action = {"action": state["legal"][0]["action"], "step": 0}
    asked = [("GET", path) for path in ("", "/hint?agent=greedy", "/words", "/record", "/people")]
    asked += [("POST", f"/{path}") for path in ("act", "undo", "release", "pause", "claim", "lift")]
    for method, path in [*asked, ("POST", "/replay"), ("DELETE", "")]:
        answer = eve.request(method, seat + path, json=action if method == "POST" else None)
        assert (answer.status_code, "drawing" in answer.text) == (403, False), path
    with pytest.raises(WebSocketDisconnect), watch(eve, seat):
        pass
    assert (payload(ann, seat), eve.get("/api/games").json()) == (state, {"games": []})
    assert client_of(app).get(seat).status_code == 403, "without a name"
    with watch(ann, seat) as socket:
        assert ann.post(f"{seat}/release").status_code == 200
        with pytest.raises(WebSocketDisconnect) as closed:
            list(iter(socket.receive_text, "never"))
        assert closed.value.code == 1008
    assert ann.get(seat).status_code == 403
    assert ann.get(f"{seat}?page=1").json()["free"]
    assert eve.post(f"{seat}/claim", json={"name": "Eve"}).status_code == 200
    assert ann.post(f"{seat}/claim").status_code == 403
    assert payload(eve, seat)["drawing"] == state["drawing"]
    assert payload(eve, seat)["owner"] is False
    assert eve.delete(seat).status_code == 403  # the game isn't hers


def test_names_are_unguessable_and_all_different(app: Starlette, ann: TestClient) -> None:
    seats = {begin(ann, ["me", "agent:random"]) for _ in range(5)}
    assert (len(seats), {len(seat.rpartition("/")[2]) for seat in seats}) == (5, {32})
    cookie = client_of(app).get("/").headers["set-cookie"]
    signed = rf"{COOKIE}=[\w-]{{32}}\.[\w-]{{32}}"
    assert re.match(f"{signed}; HttpOnly; Max-Age=31536000; Path=/; SameSite=lax$", cookie)
    assert another(app).cookies[COOKIE] != another(app).cookies[COOKIE]


WRONG = [
    *(b"", b"[]", b"1", b"{", b"\xff", b"[" * 4000, b'{"action": 1}', b'{"actions": 7, "step": 0}'),
    *(b'{"action": %s, "step": 0}' % each for each in (b'"13"', b"13.0", b"1e999", b"-1")),
    b'{"action": 13, "step": null}',
]


def test_wrong_requests_get_a_message(ann: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = seated(ann, None)[0]
    sent = {"headers": {"content-type": "application/json"}}
    for content in WRONG:
        answer = ann.post(f"{seat}/act", content=content, **sent)  # type: ignore[arg-type]
        assert (answer.status_code, set(answer.json())) == (400, {"error"}), content
    large = json.dumps({"action": 13, "step": 0, "more": "x" * requests.MOST_JSON})
    assert ann.post(f"{seat}/act", content=large, **sent).status_code == 413  # type: ignore[arg-type]
    wrong: list[dict[str, Any]] = [{"seconds": each} for each in (11, -1, 1e300, "1", None, True)]
    for pause in [*wrong, {"paused": 1}, {"paused": "yes"}, {}]:
        assert ann.post(f"{seat}/pause", json=pause).status_code == 400, pause
    for query in ("theme=blue", "lines=-1", "lines=x", "narrow=99999999999"):
        assert ann.get(f"{seat}?{query}").status_code == 400
    assert payload(ann, seat)["step"] == 0
    monkeypatch.setattr(game_server, "MOST_GAMES", 1)
    game = {"players": 2, "side": "front", "seats": ["me", "me"]}
    assert ann.post("/api/games", json=game).status_code == 429
