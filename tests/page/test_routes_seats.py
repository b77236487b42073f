"""Seats by the API: ownership, disconnects, refused requests, and bidding tasks."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pages import (
    act,
    another,
    begin,
    client_of,
    led_to,
    make_app,
    payload,
    play_to_end,
    seated,
    watch,
)
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from skyenv import Game
from skyenv.engine.openings import TASKS
from skyenv.page.requests import MAX_JSON, unless_gone
from skyenv.page.table import server as game_server


def test_a_hint_is_cancelled_when_its_client_disconnects() -> None:
    async def question(answer: asyncio.Future[None]) -> None:
        await answer

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def ask() -> bool:
        answer = asyncio.get_running_loop().create_future()
        with pytest.raises(ClientDisconnect):
            await unless_gone(Request({"type": "http", "app": app}, receive), question(answer))
        return answer.cancelled()

    app = SimpleNamespace(state=SimpleNamespace(server=SimpleNamespace(ending=asyncio.Event())))
    assert asyncio.run(ask())


PATHS = [
    *(("GET", path) for path in ("", "/hint?agent=random", "/words", "/record", "/people")),
    *(("POST", f"/{path}") for path in ("act", "undo", "release", "pause", "claim", "lift")),
    ("POST", "/replay"),
    ("DELETE", ""),
]


def test_a_seat_belongs_to_its_browser_until_released(app: Starlette, ann: TestClient) -> None:
    seat, _ = seated(ann, "random")
    eve, state = another(app), payload(ann, seat)
    action = {"action": state["legal"][0]["action"], "step": 0}
    for method, path in PATHS:
        answer = eve.request(method, seat + path, json=action if method == "POST" else None)
        assert (answer.status_code, "drawing" in answer.text) == (403, False), path
    with pytest.raises(WebSocketDisconnect), watch(eve, seat):
        pass
    assert (payload(ann, seat), eve.get("/api/games").json()) == (state, {"games": []})
    assert client_of(app).get(seat).status_code == 403, "without a name"
    assert (
        "; HttpOnly; Max-Age=31536000; Path=/; SameSite=lax" in ann.get("/").headers["set-cookie"]
    )
    with watch(ann, seat) as socket:
        assert ann.post(f"{seat}/release").status_code == 200
        with pytest.raises(WebSocketDisconnect):
            list(iter(socket.receive_text, "never"))
    assert ann.get(seat).status_code == 403
    assert eve.post(f"{seat}/claim", json={"name": "Eve"}).status_code == 200
    assert ann.post(f"{seat}/claim").status_code == 403
    assert payload(eve, seat)["drawing"] == state["drawing"]
    assert eve.delete(seat).status_code == 403, "the game isn't hers"


# ---- what is refused ----

BODIES = [
    *(b"", b"[]", b"1", b"{", b"\xff", b"[" * 4000, b'{"action": 1}', b'{"actions": 7, "step": 0}'),
    *(b'{"action": %s, "step": 0}' % each for each in (b'"13"', b"13.0", b"1e999", b"-1")),
    b'{"action": 13, "step": null}',
]
PACES = [
    *({"seconds": each} for each in (11, -1, 1e300, "1", None, True)),
    *({"paused": each} for each in (1, "yes", None)),
]
GAME = {"players": 2, "side": "front", "seats": ["me", "agent:random"]}
GAMES: list[dict[str, Any]] = [
    *({"seats": each} for each in (None, ["me"], ["me", 1], ["me", "you"], ["me", "agent:"])),
    *(
        {"seats": ["me", f"agent:{each}"]}
        for each in ("os:system", "/etc/passwd", "runs/model.zip", "odd_agents:Odd")
    ),
    *({"players": each} for each in (5, True, "2")),
    *({"side": each} for each in ("left", ["front"])),
    *({"task": each} for each in ("duel-9", ["duel-3"], "three-3")),
    {"task": "duel-3", "side": "back"},
    {"names": ["greedy", ""]},
    *({"seed": each} for each in (1, "-1", "1e3", "9223372036854775808", "²")),
    *({"idempotency_key": each} for each in ("", "short", "x" * 65, "ä" * 10, 7, ["12345678"])),
]
WRONG: list[tuple[str, str, bytes]] = [
    *(("POST", "SEAT/act", each) for each in BODIES),
    *(("POST", "SEAT/pause", json.dumps(each).encode()) for each in PACES),
    *(("POST", "/api/games", json.dumps(GAME | each).encode()) for each in GAMES),
    ("POST", "SEAT/claim", b'{"name": "greedy"}'),
    *(("GET", f"SEAT?{each}", b"") for each in ("theme=blue", "lines=x", "narrow=99999999999")),
]


def test_invalid_requests_are_refused_with_a_message(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is imported and no file is read: agents are looked up in the server's catalogue."""
    seat = seated(ann, None)[0]
    state, sent = payload(ann, seat), {"content-type": "application/json"}
    for method, path, content in WRONG:
        path = path.replace("SEAT", seat)
        answer = ann.request(method, path, content=content, headers=sent)
        assert (answer.status_code in (400, 404), set(answer.json())) == (True, {"error"}), content
    large = json.dumps({"action": 13, "step": 0, "more": "x" * MAX_JSON})
    assert ann.post(f"{seat}/act", content=large, headers=sent).status_code == 413
    assert payload(ann, seat) == state
    assert act(ann, seat, state).status_code == 200
    monkeypatch.setattr(game_server, "MAX_GAMES", 1)
    assert ann.post("/api/games", json=GAME).status_code == 503
    assert len(ann.get("/api/games").json()["games"]) == 1


@pytest.mark.parametrize("task", TASKS)
def test_tasks_are_played_to_their_payoff_across_restarts(task: str, tmp_path: Path) -> None:
    seats = ["me", *["agent:greedy"] * (TASKS[task].num_players - 1)]
    with client_of(make_app(tmp_path / "games")) as ann:
        seat = begin(ann, seats, task=task, seed="7")
        (offered,) = (one for one in ann.get("/api/options").json()["tasks"] if one["name"] == task)
        before = payload(ann, seat)
        assert before["task"].partition(": ")[2] == offered["text"]
    with client_of(make_app(tmp_path / "games")) as again:
        again.cookies = ann.cookies
        assert payload(again, seat)["task"] == before["task"]
        final = play_to_end(again, seat)["final"]
        record = again.get(f"{seat}/record").text
        end = json.loads(record.splitlines()[-1])
        assert (final[-1]["pays"], final[-1]["scores"]) == (end["payoff"], end["scores"])
        assert Game.from_record(record).options == Game(seed=7, task=task).options
        replay = led_to(again.post(f"{seat}/replay"))
        shown = again.get(f"{replay}/1").json()
        assert (shown["task"], shown["names"][0]) == (before["task"], "you")
        rematch = led_to(again.post(f"{seat}/rematch"))
        assert f"Task {task}/" in payload(again, rematch)["task"]


def test_hints_and_analyses_are_refused_in_tasks(ann: TestClient) -> None:
    watched = begin(ann, ["agent:greedy", "agent:greedy"], task="duel-3/1")
    replay = led_to(ann.post(f"{watched}/replay"))
    for asked in (f"{watched}/hint", f"{replay}/1/0/hint", f"{replay}/1/analysis"):
        answer = ann.get(f"{asked}?agent=greedy")
        assert answer.status_code == 409
        assert answer.json()["error"] == "available only in whole games, not in task duel-3/1"
