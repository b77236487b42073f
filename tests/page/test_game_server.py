"""The server bears a full disk, a locked or damaged database, seats that change hands, and requests
that are sent twice.
"""

from __future__ import annotations

import contextlib
import resource
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pages import (
    Json,
    act,
    another,
    begin,
    client_of,
    make_app,
    payload,
    played,
    status,
    wait_for_turn,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from processes import wait_until
from skyenv.agents import Decisions, RandomAgent
from skyenv.page import database, game_server
from skyenv.page.game_server import GameServer
from skyenv.page.web import HEADERS

REQUEST = {"players": 2, "side": "front", "seats": ["me", "human"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.sqlite3"


@contextlib.contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """No file of this process may become larger than the database's log is now."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path(f"{path}-wal").stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Waiting(RandomAgent):
    """An agent that decides when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = threading.Event()

    def act(self, decisions: Decisions) -> Any:
        self.may.wait()
        return super().act(decisions)


def server_of(client: TestClient) -> GameServer:
    app: Any = client.app
    server: GameServer = app.state.server
    return server


def first_choice(client: TestClient, seat: str) -> int:
    """Play the first of the choices; the status."""
    state = payload(client, seat)
    return int(act(client, seat, state, state["legal"][0]["action"]).status_code)


# ---- a disk that is full ----


def test_an_agents_move_waits_for_space_on_the_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_server, "FIRST_RETRY", 0.01)
    with client_of(make_app(path)) as ann:
        agent = Waiting()
        object.__setattr__(server_of(ann).catalogue["random"], "source", agent)
        seat = begin(ann, ["me", "agent:random"])
        assert first_choice(ann, seat) == 200
        with full_disk(path):
            agent.may.set()
            told: list[
                dict[str, Any]
            ] = []  # the server tries again and again, and there is no trouble while it does

            def is_told() -> bool:
                told.append(payload(ann, seat))
                return bool(told[-1]["trouble"])

            wait_until(is_told)
            state = told[-1]
            assert "the disk doesn't take what is written" in state["trouble"]
            assert state["trouble"].endswith(": the game goes on when it does")
            assert "random" not in state["trouble"]
            assert state["step"] == 1
        state = wait_for_turn(ann, seat)
        assert (state["step"], state["trouble"]) == (3, None)


def test_what_people_do_on_a_full_disk_is_refused_whole(path: Path) -> None:
    with client_of(make_app(path)) as ann:
        seat = begin(ann, ["me", "human"])
        (invitation,) = payload(ann, seat)["invitations"]
        other = invitation["page"].replace("/seat/", "/api/seats/")
        action = {"action": payload(ann, seat)["legal"][0]["action"], "step": 0}
        requests: list[Callable[[], Any]] = [
            lambda: ann.post(f"{seat}/act", json=action),
            lambda: ann.post(f"{seat}/pause", json={"seconds": 3}),
            lambda: ann.post("/api/games", json=REQUEST),
            lambda: ann.post("/api/replays", content=played(2, actions=5).to_record()),
            lambda: ann.post(f"{other}/claim"),
            lambda: ann.post(f"{seat}/release"),
            lambda: ann.delete(seat),
        ]
        before, games = payload(ann, seat), ann.get("/api/games").json()
        with full_disk(path):
            for number, request in enumerate(requests):
                answer = request()
                assert answer.status_code == 503, number
                assert "nothing has changed; try again when" in answer.json()["error"]
            assert (payload(ann, seat), ann.get("/api/games").json()) == (before, games)
        assert (payload(ann, seat), ann.get("/api/games").json()) == (before, games)
        assert {request().status_code for request in requests[:-2]} == {200, 201}


def test_cards_of_a_bid_on_a_full_disk(path: Path) -> None:
    """They neither lie there nor are they taken back."""
    with client_of(make_app(path)) as ann:
        seat, state, card = bidding(ann)
        with full_disk(path):
            assert act(ann, seat, state, card).status_code == 503
            assert payload(ann, seat) == state
        assert act(ann, seat, state, card).status_code == 200
        laid = payload(ann, seat)
        assert laid["undo"]
        with full_disk(path):
            assert ann.post(f"{seat}/undo").status_code == 503
            assert payload(ann, seat) == laid
        assert ann.post(f"{seat}/undo").status_code == 200
        assert payload(ann, seat) == state


def bidding(client: TestClient) -> tuple[str, Json, int]:
    """A seat that may bid, what it is told, and a card."""
    seat = begin(client, ["me", "agent:random"], seed="5")
    while True:
        state = wait_for_turn(client, seat)
        choices = [choice["action"] for choice in state["legal"]]
        if cards := [action for action in choices if 79 <= action < 97]:
            return seat, state, cards[0]
        assert act(client, seat, state, choices[0]).status_code == 200


# ---- a database that another program holds ----


def test_who_waits_for_the_database_keeps_nobody_else_waiting(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 1000.0)
    with client_of(make_app(path)) as ann, ThreadPoolExecutor() as pool:
        seat = begin(ann, ["me", "human"])
        state = payload(ann, seat)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        acting = pool.submit(act, ann, seat, state, state["legal"][0]["action"])
        try:
            for _ in range(20):
                assert status(ann, seat) == "your turn"
                assert payload(ann, seat) == state
            assert not acting.done()
        finally:
            other.execute("ROLLBACK")
            other.close()
        assert acting.result().status_code == 200
        assert payload(ann, seat)["step"] == 1


def test_a_busy_database_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.01)
    with client_of(make_app(path)) as ann:
        seat = begin(ann, ["me", "human"])
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            for _ in range(3):
                answer = ann.post(f"{seat}/pause", json={"seconds": 3})
                assert answer.status_code == 503
                assert answer.json()["error"].startswith("the database is busy")
                assert HEADERS.items() <= dict(answer.headers).items()
        assert ann.post(f"{seat}/pause", json={"seconds": 3}).status_code == 200


def test_a_game_that_another_server_has_gone_on_with_is_read_anew(path: Path) -> None:
    with client_of(make_app(path)) as ann, client_of(make_app(path)) as same:
        seat = begin(ann, ["me", "human"])
        same.cookies.update(dict(ann.cookies))
        state = payload(same, seat)
        assert first_choice(ann, seat) == 200
        assert act(same, seat, state, state["legal"][-1]["action"]).status_code == 409
        assert payload(same, seat) == payload(ann, seat)


# ---- a database that is damaged ----


DAMAGES = {
    "UPDATE game SET agents = 'no JSON' WHERE id = ?": "who sits where",
    "UPDATE game SET agents = '[\"human\", 7]' WHERE id = ?": "who sits where",
    "UPDATE game SET agents = '[\"human\"]' WHERE id = ?": "the number of players",
    "UPDATE game SET players = -2 WHERE id = ?": "the number of players",
    "UPDATE game SET side = 'left' WHERE id = ?": "side, seed",
    "UPDATE game SET seed = -5 WHERE id = ?": "side, seed",
    "UPDATE game SET max_turns = -1 WHERE id = ?": "side, seed",
    "UPDATE action SET number = 7 WHERE game = ?": "actions are missing",
    "UPDATE action SET action = -7 WHERE game = ?": "can't be replayed",
    "UPDATE action SET action = 9223372036854775807 WHERE game = ?": "can't be replayed",
    "UPDATE link SET seat = -1 WHERE game = ?": "this seat is damaged",
    "UPDATE link SET seat = 3 WHERE game = ?": "this seat is damaged",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_game_spoils_no_other(ann: TestClient, damage: str) -> None:
    seats = [begin(ann, ["me", "human"]) for _ in range(3)]
    for seat in seats:
        assert first_choice(ann, seat) == 200
    change(ann, damage, seats[1])
    for _ in range(2):
        games = {
            game["page"].replace("/seat/", "/api/seats/"): game
            for game in ann.get("/api/games").json()["games"]
        }
        assert set(games) == set(seats)
        assert [seat for seat in seats if "error" in games[seat]] == [seats[1]]
        assert DAMAGES[damage] in games[seats[1]]["error"]
        assert games[seats[1]]["owner"]
        for method, path in (("GET", ""), ("GET", "/words"), ("POST", "/undo"), ("POST", "/claim")):
            assert ann.request(method, seats[1] + path).status_code in (200, 409), path
    assert ann.delete(seats[1]).status_code == 200
    assert len(ann.get("/api/games").json()["games"]) == 2


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE game SET created = 9e999, pause = -1 WHERE id = ?",
        "INSERT INTO draft VALUES (?, 'no JSON')",
        "INSERT INTO draft VALUES (?, '[\"a\"]')",
        "INSERT INTO draft VALUES (?, '[-3, 79]')",
    ],
)
def test_damages_of_no_weight_are_passed_over(ann: TestClient, damage: str) -> None:
    seat = begin(ann, ["me", "human"])
    change(ann, damage, seat)
    assert [game["state"] for game in ann.get("/api/games").json()["games"]] == ["your turn"]
    assert payload(ann, seat)["pause"] >= 0
    assert first_choice(ann, seat) == 200


def change(client: TestClient, damage: str, seat: str) -> None:
    """Change a game in the database, and have it read anew."""
    server = server_of(client)
    key = server.storage.link(seat.rpartition("/")[2]).game
    server.storage._writer.connection.execute(damage, (key,))
    server._sessions.clear()


# ---- seats that change hands ----


def test_who_gives_a_seat_up_hears_of_nothing_any_more(app: Starlette, ann: TestClient) -> None:
    seat = begin(ann, ["me", "human"])
    with watch(ann, seat) as socket:
        assert ann.post(f"{seat}/release").status_code == 200
        assert told_until_closed(socket) == 1008
    with pytest.raises(WebSocketDisconnect), watch(ann, seat):
        pass
    eve = another(app)
    eve.post(f"{seat}/claim")
    assert server_of(ann)._watchers == {}


def told_until_closed(socket: Any) -> int:
    """Hear of changes; the code with which that ends."""
    try:
        while True:
            assert socket.receive_text() == "changed"
    except WebSocketDisconnect as closed:
        return closed.code


# ---- two servers on one database ----


def test_what_is_taken_back_at_one_server_is_no_move_made_at_the_other(path: Path) -> None:
    with client_of(make_app(path)) as ann, client_of(make_app(path)) as bob:
        seat = begin(ann, ["me", "human"])
        (invitation,) = payload(ann, seat)["invitations"]
        other = invitation["page"].replace("/seat/", "/api/seats/")
        assert first_choice(ann, seat) == 200
        bob.get("/")
        assert bob.post(f"{other}/claim").status_code == 200
        assert first_choice(bob, other) == 200
        assert payload(ann, seat)["undo"], "this server doesn't know yet"
        assert ann.post(f"{seat}/undo").status_code == 409
        state = payload(ann, seat)
        assert (state["step"], state["undo"]) == (2, False)
        assert payload(bob, other)["step"] == 2


# ---- requests that are sent twice ----


def test_a_request_that_is_sent_twice_makes_one_game(app: Starlette, ann: TestClient) -> None:
    ann.get("/")
    eve = another(app)
    request = REQUEST | {"idempotency_key": "1234-abcd"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ann.post("/api/games", json=request), range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["page"] for answer in answers}) == 1
    assert len(ann.get("/api/games").json()["games"]) == 1
    assert eve.post("/api/games", json=request).json() != answers[0].json()
    assert (
        ann.post("/api/games", json=request | {"idempotency_key": "5678-abcd"}).json()
        != answers[0].json()
    )
    for odd in ("", "short", "x" * 65, "ä" * 10, 7, ["12345678"]):
        assert ann.post("/api/games", json=request | {"idempotency_key": odd}).status_code == 400
    for _ in range(2):
        assert ann.post("/api/games", json=REQUEST).status_code == 201
    assert len(ann.get("/api/games").json()["games"]) == 4
    assert ann.delete(answers[0].json()["page"].replace("/seat/", "/api/seats/")).status_code == 200
    assert (
        ann.post("/api/games", json=request).json() != answers[0].json()
    )  # as long as the game is there
