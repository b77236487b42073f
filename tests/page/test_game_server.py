"""The server bears a full disk, damaged games, failing agents, restarts, and requests that are sent
twice; it tells the state with the answer, and lists games without playing them.
"""

from __future__ import annotations

import contextlib
import resource
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pages import (
    act,
    another,
    begin,
    client_of,
    first_choice,
    make_app,
    payload,
    played,
    seated,
    server_of,
    wait_for_turn,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import wait_until
from skyenv.agents import Decisions, RandomAgent
from skyenv.engine.game import Game
from skyenv.page import game_server
from skyenv.rules.actions import BID, BID_DONE, PASS

SEATS = ["me", "human"]
REQUEST = {"players": 2, "side": "front", "seats": SEATS}


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
        self.go = threading.Event()

    def act(self, decisions: Decisions) -> Any:
        self.go.wait()
        return super().act(decisions)


def replace_random(client: TestClient, agent: object) -> None:
    """Have another agent answer to the name of the random one."""
    object.__setattr__(server_of(client).catalogue["random"], "source", agent)


def in_auction() -> Game:
    """A game of two in which seat 0 may bid."""
    games = (played(2, seed=5, actions=actions) for actions in range(10, 300))
    return next(game for game in games if game.seat == 0 and cards(game.legal_actions))


def cards(actions: list[int]) -> list[int]:
    """The cards of a bid among some actions."""
    return [action for action in actions if BID <= action < BID_DONE]


def whole_bid(game: Game) -> list[int]:
    """Cards of the seat to act that may be bid, and the end of the bid."""
    laid, bid = game.copy(), []
    while BID_DONE not in laid.legal_actions:
        bid.append(cards(laid.legal_actions)[0])
        laid.play(bid[-1])
    return [*bid, BID_DONE]


def lay_down(client: TestClient, seat: str) -> dict[str, Any]:
    """Lay down a card of a bid; what was told before."""
    state = payload(client, seat)
    card = cards([choice["action"] for choice in state["legal"]])[0]
    assert act(client, seat, state, card).status_code == 200
    return state


def heard(socket: Any) -> bool:
    """Whether the next that a page is told, but of people, is that the game has changed."""
    told: str = next(text for text in iter(socket.receive_text, "") if text != "people")
    return told == "changed"


def test_an_action_is_answered_with_the_state_and_other_pages_are_told(
    app: Starlette, ann: TestClient
) -> None:
    """Two pages of a seat stay in step, and no other seat hears of a draft."""
    bob = another(app)
    first, second = seated(ann, bob, game=in_auction())
    state, other = payload(ann, first), payload(bob, second)
    laid = cards([choice["action"] for choice in state["legal"]])[:1]
    changes = f"ws://localhost{first}/changes?tab=one"
    with (
        ann.websocket_connect(changes) as one,
        watch(ann, first) as two,
        watch(bob, second) as bobs,
    ):
        wait_until(lambda: payload(ann, first)["people"]["seats"][1]["is_here"])
        choice = {"actions": laid, "step": state["step"]}
        answer = ann.post(f"{first}/act?page=1&tab=one&theme=light", json=choice).json()
        assert answer == payload(ann, first)
        assert answer["step"] == state["step"] + 1
        assert heard(two)
        assert payload(bob, second)["drawing"] == other["drawing"], "nothing is told of a draft"
        known = "".join(digest for digest, _ in answer["drawing"].values())
        undone = ann.post(f"{first}/undo?page=1&tab=one&theme=light&drawn={known}").json()
        assert undone["legal"] == state["legal"]
        assert 0 < len(undone["drawing"]) < len(answer["drawing"]), "only what has changed"
        assert act(ann, first, state, PASS).json() == {}
        assert heard(bobs)
        assert heard(one), "for the first time: it was sent without this page's name"
        assert payload(bob, second)["step"] == state["step"] + 1


def test_listing_games_plays_nothing(ann: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn, scores and state are stored with each action, and are those that the game has."""
    game, ended = played(3, seed=4, actions=120), played(2, seed=4)
    players: list[Any] = ["random"] * 3
    players[(int(str(game.seat)) + 1) % 3] = ann  # an agent is to move
    seated(*players, game=game)
    seated(ann, "random", game=ended)
    monkeypatch.setattr(Game, "play", lambda *_: pytest.fail("the list has played a game"))
    newest, listed = ann.get("/api/games").json()["games"]
    assert (newest["state"], newest["scores"]) == ("over", ended.scores)
    assert listed["state"] == f"seat {int(str(game.seat)) + 1} is to act"
    assert (listed["turn"], listed["scores"]) == (game.turn, game.scores)
    assert sorted(listed["names"]) == ["random", "random", "you"]


def test_what_is_done_on_a_full_disk_is_refused_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent's move waits until there is space."""
    monkeypatch.setattr(game_server, "FIRST_RETRY", 0.01)
    path, gate = tmp_path / "games.sqlite3", Gate()
    with client_of(make_app(path)) as ann:
        replace_random(ann, gate)
        (seat, other), (waiting, _) = seated(ann, None, game=in_auction()), seated(ann, "random")
        lay_down(ann, seat)
        first_choice(ann, waiting)
        requests: list[tuple[str, str, Any]] = [
            ("POST", f"{seat}/act", {"action": PASS, "step": payload(ann, seat)["step"] - 1}),
            ("POST", f"{seat}/undo", {}),
            ("POST", f"{seat}/pause", {"seconds": 3}),
            ("POST", "/api/games", REQUEST),
            ("POST", f"{other}/claim", {}),
            ("POST", f"{seat}/release", {}),
            ("DELETE", seat, None),
        ]
        before, games = payload(ann, seat), ann.get("/api/games").json()
        with full_disk(path):
            for method, address, sent in requests[1:]:
                answer = ann.request(method, address, json=sent)
                assert answer.status_code == 503, address
                assert "nothing has changed; try again when" in answer.json()["error"]
            assert (payload(ann, seat), ann.get("/api/games").json()) == (before, games)
            gate.go.set()
            wait_until(lambda: payload(ann, waiting)["trouble"])
            assert payload(ann, waiting)["trouble"].endswith(": the game goes on when it does")
            assert payload(ann, waiting)["step"] == 1
        assert wait_for_turn(ann, waiting)["trouble"] is None
        for method, address, sent in [requests[1], requests[0], *requests[2:5]]:
            assert ann.request(method, address, json=sent).status_code in (200, 201), address


@pytest.mark.parametrize(
    "damage", ["actions = 'no JSON'", "changes = '[7]'", "actions = '[-7]'", "actions = '[102]'"]
)
def test_a_damaged_game_spoils_no_other_and_can_be_deleted(
    app: Starlette, ann: TestClient, damage: str
) -> None:
    bob = another(app)
    broken, healthy = seated(ann, bob), seated(ann, None)[0]
    storage = server_of(ann).storage
    key = storage.link(broken[0][-32:]).game
    with storage.transaction() as connection:
        connection.execute(f"UPDATE game SET {damage} WHERE id = ?", (key,))
    assert ann.get(healthy).status_code == 200
    answer = ann.get(broken[0])
    assert (answer.status_code, "this game" in answer.json()["error"]) == (409, True)
    assert len(ann.get("/api/games").json()["games"]) == 2
    assert (bob.delete(broken[1]).status_code, ann.delete(broken[0]).status_code) == (403, 200)
    assert bob.get("/api/games").json() == {"games": []}


def test_an_agent_that_fails_or_is_slow_keeps_only_its_own_game_waiting(ann: TestClient) -> None:
    gate = Gate()
    replace_random(ann, gate)
    slow, other = seated(ann, "random")[0], seated(ann, "crowd")[0]
    first_choice(ann, slow)
    first_choice(ann, other)
    assert wait_for_turn(ann, other)["step"] == 3
    assert ann.get(f"{slow}/thinking").json()["agent"] == "random"
    wait_until(lambda: ann.get(f"{slow}/thinking").json()["seconds"] > 0)
    assert payload(ann, slow)["step"] == 1
    gate.go.set()
    assert wait_for_turn(ann, slow)["step"] == 3
    replace_random(ann, object())
    while payload(ann, slow)["legal"]:
        first_choice(ann, slow)
    wait_until(lambda: payload(ann, slow)["trouble"])
    assert payload(ann, slow)["trouble"] == "random has failed; the server's log tells more"


def test_a_restarted_server_has_lost_nothing_and_agents_go_on(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        bid, table = (seated(ann, "random", game=game)[0] for game in (in_auction(), None))
        lay_down(ann, bid)
        ann.post(f"{table}/pause", json={"seconds": 10})
        first_choice(ann, table)
        screen = begin(ann, ["me", "me"], names=["Ann", "Bob"])
        ann.post(f"{screen}/lift")
        before, games = payload(ann, bid), ann.get("/api/games").json()
    with client_of(make_app(path)) as again:
        again.cookies.update(dict(ann.cookies))
        assert (payload(again, bid), again.get("/api/games").json()) == (before, games)
        assert again.post(f"{bid}/undo").status_code == 200
        assert payload(again, bid)["step"] == before["step"] - 1
        assert set(payload(again, screen)) == {"curtain"}
        again.post(f"{table}/pause", json={"seconds": 0})
        assert wait_for_turn(again, table)["step"] == 3


def test_a_request_that_is_sent_twice_makes_one_game(app: Starlette, ann: TestClient) -> None:
    """Its key counts as long as its game is there, and for its browser alone."""
    eve, key = another(app), "1234-abcd"
    first = begin(ann, SEATS, idempotency_key=key)
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda _: begin(ann, SEATS, idempotency_key=key), range(8)))
    assert set(again) == {first}
    assert ann.delete(first).status_code == 200
    others = [begin(eve, SEATS, idempotency_key=key), begin(ann, SEATS, idempotency_key=key)]
    assert len({first, *others, begin(ann, SEATS), begin(ann, SEATS)}) == 5
