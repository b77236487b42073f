"""The server bears a full disk, damaged games, failing agents, restarts, and requests that are sent
twice; it tells the state with the answer, and lists games without playing them.
"""

from __future__ import annotations

import contextlib
import json
import resource
import threading
import time
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
    seated,
    storage_of,
    wait_for_turn,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import wait_until
from skyenv.agents import Decisions, RandomAgent
from skyenv.engine.game import Game
from skyenv.page import game_server
from skyenv.page.game_server import GameServer

REQUEST = {"players": 2, "side": "front", "seats": ["me", "human"]}


@contextlib.contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """No file of this process may become larger than the database's log is now."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Path(f"{path}-wal").stat().st_size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Gate(RandomAgent):
    """Decides only when the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = threading.Event(), threading.Event()

    def act(self, decisions: Decisions) -> Any:
        self.asked.set()
        self.go.wait()
        return super().act(decisions)


def server_of(client: TestClient) -> GameServer:
    app: Any = client.app
    server: GameServer = app.state.server
    return server


def replace_random(client: TestClient, agent: object) -> None:
    """Have another agent answer to the name of the random one."""
    object.__setattr__(server_of(client).catalogue["random"], "source", agent)


def first_choice(client: TestClient, seat: str) -> Any:
    """Play the first of the choices."""
    state = payload(client, seat)
    return act(client, seat, state, state["legal"][0]["action"])


def in_auction() -> Game:
    """A game of two in which seat 0 may bid."""
    return next(
        game
        for actions in range(10, 300)
        if (game := played(2, seed=5, actions=actions)).seat == 0 and cards(game.legal_actions)
    )


def cards(actions: list[int]) -> list[int]:
    """The cards of a bid among some actions."""
    return [action for action in actions if 79 <= action < 97]


# ---- the answer tells the state ----


def test_an_action_is_answered_with_the_state_and_other_pages_are_told(
    app: Starlette, ann: TestClient
) -> None:
    """Two pages of a seat stay in step, and no other seat hears of a draft."""
    bob = another(app)
    first, second = seated(ann, bob, game=in_auction())
    changes = f"ws://localhost{first}/changes"
    with (
        ann.websocket_connect(f"{changes}?tab=one") as one,
        ann.websocket_connect(f"{changes}?tab=two") as two,
        watch(bob, second) as bobs,
    ):
        while people_there(ann, first) < 2:
            pass
        state, other = payload(ann, first), payload(bob, second)
        laid = cards([choice["action"] for choice in state["legal"]])[:1]
        choice = {"actions": laid, "step": state["step"]}
        asked = "page=1&tab=one&theme=light"
        answer = ann.post(f"{first}/act?{asked}", json=choice).json()
        assert answer == payload(ann, first)
        assert answer["step"] == state["step"] + 1
        assert heard(two, "changed")
        assert payload(bob, second) == other, "nothing is told of a draft"
        known = "".join(digest for digest, _ in answer["drawing"].values())
        undone = ann.post(f"{first}/undo?{asked}&drawn={known}").json()
        assert undone["legal"] == state["legal"]
        assert 0 < len(undone["drawing"]) < len(answer["drawing"]), "only what has changed"
        assert ann.post(f"{first}/undo").status_code == 409
        passing = {"actions": [78], "step": state["step"]}
        assert ann.post(f"{first}/act", json=passing).json() == {}
        assert heard(bobs, "changed")
        assert heard(one, "changed"), "for the first time: it was sent without this page's name"
        assert payload(bob, second)["step"] == state["step"] + 1


def people_there(client: TestClient, seat: str) -> int:
    """How many people a page shows the table to."""
    return sum(each["is_here"] for each in client.get(f"{seat}/people").json()["seats"])


def heard(socket: Any, what: str) -> bool:
    """Wait for news; whether the first one that isn't about people is that."""
    news = (str(text) for text in iter(socket.receive_text, ""))
    return next(text for text in news if text != "people") == what


# ---- lists ----


def test_listing_games_plays_nothing(ann: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn, scores and state are stored with each action, and are those that the game has."""
    game = played(3, seed=4, actions=120)
    players: list[Any] = ["random"] * 3
    players[(int(str(game.seat)) + 1) % 3] = ann  # an agent is to move
    (seat,) = (each for each in seated(*players, game=game) if each)
    ended = played(2, seed=4)
    over = seated(ann, "random", game=ended)[0]
    monkeypatch.setattr(Game, "play", lambda *_: pytest.fail("the list has played a game"))
    newest, listed = ann.get("/api/games").json()["games"]
    assert newest["page"] == over.replace("/api", "").replace("seats", "seat")
    assert (newest["state"], newest["scores"]) == ("over", ended.scores)
    assert listed["state"] == f"seat {int(str(game.seat)) + 1} is to act"
    assert (listed["turn"], listed["scores"]) == (game.turn, game.scores)
    assert sorted(listed["names"]) == ["random", "random", "you"]
    assert server_of(ann).loaded() == []
    monkeypatch.undo()
    assert len(storage_of(ann).game(storage_of(ann).link(seat[-32:]).game).actions) == 120


def test_forty_games_are_listed_in_milliseconds_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    game = played(4, seed=2)
    with client_of(make_app(path)) as ann:
        for _ in range(40):
            seated(ann, "random", "random", "random", game=game)
        cookies = dict(ann.cookies)
    with client_of(make_app(path)) as ann:
        ann.cookies.update(cookies)
        began = time.process_time()
        assert len(ann.get("/api/games").json()["games"]) == 40
        assert time.process_time() - began < 0.3


# ---- a disk that is full, damaged games ----


def test_what_is_done_on_a_full_disk_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        seat, other = seated(ann, None, game=in_auction())
        state = payload(ann, seat)
        card = cards([choice["action"] for choice in state["legal"]])[0]
        assert act(ann, seat, state, card).status_code == 200
        requests: list[Callable[[], Any]] = [
            lambda: ann.post(f"{seat}/act", json={"action": card, "step": state["step"]}),
            lambda: ann.post(f"{seat}/undo"),
            lambda: ann.post(f"{seat}/pause", json={"seconds": 3}),
            lambda: ann.post("/api/games", json=REQUEST),
            lambda: ann.post("/api/replays", content=played(2, actions=5).to_record()),
            lambda: ann.post(f"{other}/claim"),
            lambda: ann.post(f"{seat}/release"),
            lambda: ann.delete(seat),
        ]
        before, games = payload(ann, seat), ann.get("/api/games").json()
        with full_disk(path):
            for number, request in enumerate(requests[1:]):
                answer = request()
                assert answer.status_code == 503, number
                assert "nothing has changed; try again when" in answer.json()["error"]
            assert (payload(ann, seat), ann.get("/api/games").json()) == (before, games)
        assert requests[1]().status_code == 200
        assert payload(ann, seat) == state
        assert {request().status_code for request in requests[:-2] if request != requests[1]} == {
            200,
            201,
        }


def test_an_agents_move_waits_for_space_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.sqlite3"
    monkeypatch.setattr(game_server, "FIRST_RETRY", 0.01)
    with client_of(make_app(path)) as ann:
        gate = Gate()
        replace_random(ann, gate)
        (seat, _) = seated(ann, "random")
        assert first_choice(ann, seat).status_code == 200
        with full_disk(path):
            gate.go.set()
            wait_until(lambda: payload(ann, seat)["trouble"])
            state = payload(ann, seat)
            assert state["trouble"].endswith(": the game goes on when it does")
            assert state["step"] == 1
        wait_until(lambda: payload(ann, seat)["step"] == 3)
        assert payload(ann, seat)["trouble"] is None


@pytest.mark.parametrize(
    "damage", ["actions = 'no JSON'", "changes = '[7]'", "actions = '[-7]'", "actions = '[102]'"]
)
def test_a_damaged_game_spoils_no_other(app: Starlette, ann: TestClient, damage: str) -> None:
    bob = another(app)
    broken, healthy = seated(ann, bob), seated(ann, None)[0]
    storage = storage_of(ann)
    key = storage.link(broken[0][-32:]).game
    with storage.transaction() as connection:
        connection.execute(f"UPDATE game SET {damage} WHERE id = ?", (key,))
    assert ann.get(healthy).status_code == 200
    for seat in ("", "/words"):
        answer = ann.get(broken[0] + seat)
        assert answer.status_code == 409
        assert "this game" in answer.json()["error"]
    assert len(ann.get("/api/games").json()["games"]) == 2
    assert [client.delete(broken[n]).status_code for n, client in ((1, bob), (0, ann))] == [
        403,
        200,
    ]
    assert bob.get("/api/games").json() == {"games": []}


# ---- agents ----


def test_an_agent_that_fails_or_is_slow_keeps_only_its_own_games_waiting(ann: TestClient) -> None:
    gate = Gate()
    replace_random(ann, gate)
    slow = [seated(ann, "random")[0] for _ in range(4)]
    try:
        assert ann.get(f"{slow[0]}/thinking").json() == {"agent": None, "seconds": None}
        for seat in slow:
            assert first_choice(ann, seat).status_code == 200
        gate.asked.wait()
        thinking = ann.get(f"{slow[0]}/thinking").json()
        assert thinking["agent"] == "random"
        wait_until(lambda: ann.get(f"{slow[0]}/thinking").json()["seconds"] > thinking["seconds"])
        other = seated(ann, "crowd")[0]
        first_choice(ann, other)
        assert wait_for_turn(ann, other)["step"] == 3
        assert {payload(ann, seat)["step"] for seat in slow} == {1}
    finally:
        gate.go.set()
    assert [wait_for_turn(ann, seat)["step"] for seat in slow] == [3] * 4
    replace_random(ann, object())
    while payload(ann, slow[0])["legal"]:
        first_choice(ann, slow[0])
    wait_until(lambda: payload(ann, slow[0])["trouble"])
    state = payload(ann, slow[0])
    assert state["trouble"] == "random has failed; the server's log tells more"
    assert "Traceback" not in json.dumps(state)


def test_a_restarted_server_has_lost_nothing_and_agents_go_on(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        bid, table, screen = (
            seated(ann, "random", game=in_auction())[0],
            seated(ann, "random")[0],
            "",
        )
        state = payload(ann, bid)
        act(ann, bid, state, cards([choice["action"] for choice in state["legal"]])[0])
        ann.post(f"{table}/pause", json={"seconds": 10})
        first_choice(ann, table)
        screen = begin(ann, ["me", "me"], names=["Ann", "Bob"])[: len(bid)]
        ann.post(f"{screen}/lift")
        before = payload(ann, bid)
        assert before["undo"]
        cookies, games = dict(ann.cookies), ann.get("/api/games").json()
    with client_of(make_app(path)) as ann:
        ann.cookies.update(cookies)
        assert ann.get("/api/games").json() == games
        assert payload(ann, bid) == before
        assert ann.post(f"{bid}/undo").status_code == 200
        assert payload(ann, bid)["step"] == before["step"] - 1
        assert set(payload(ann, screen)) == {"curtain"}
        ann.post(f"{table}/pause", json={"seconds": 0})
        assert wait_for_turn(ann, table)["step"] == 3


def test_a_game_finds_room_though_all_others_are_watched(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_server, "SESSIONS", 1)
    first, second, third = (seated(ann, None)[0] for _ in range(3))
    with watch(ann, first):
        for seat in (second, third, second, first):
            assert payload(ann, seat)["step"] == 0
        assert len(server_of(ann).loaded()) <= 2


# ---- requests that are sent twice ----


def test_a_request_that_is_sent_twice_makes_one_game(app: Starlette, ann: TestClient) -> None:
    ann.get("/")
    eve = another(app)
    request: Json = REQUEST | {"idempotency_key": "1234-abcd"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ann.post("/api/games", json=request), range(8)))
    assert {answer.status_code for answer in answers} == {201}
    pages = {answer.json()["page"] for answer in answers}
    assert len(pages) == 1
    pages.add(eve.post("/api/games", json=request).json()["page"])
    other = request | {"idempotency_key": "5678-abcd"}
    for again in (other, REQUEST, REQUEST):
        pages.add(ann.post("/api/games", json=again).json()["page"])
    assert len(pages) == 5
    for odd in ("", "short", "x" * 65, "ä" * 10, 7, ["12345678"]):
        assert ann.post("/api/games", json=request | {"idempotency_key": odd}).status_code == 400
    seat = answers[0].json()["page"].replace("/seat/", "/api/seats/")
    assert ann.delete(seat).status_code == 200
    again = ann.post("/api/games", json=request).json()["page"]
    assert again not in pages, "the key counts as long as its game is there"
