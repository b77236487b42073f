"""The game server: full disks, damaged games, slow agents, repeated requests and cached games."""

import asyncio
import resource
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pages import (
    act,
    another,
    begin,
    client_of,
    make_app,
    payload,
    played,
    quick_catalogue,
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
from skyenv.page.cache import LRUCache
from skyenv.page.storage import MEMORY, Link, Storage
from skyenv.page.table import server as game_server

SEATS = ["me", "human"]


class Gate(RandomAgent):
    """A random agent that waits for a gate, in the place of the random agent."""

    def __init__(self, client: TestClient) -> None:
        super().__init__()
        self.go = threading.Event()
        object.__setattr__(server_of(client).catalogue["random"], "source", self)

    def act(self, decisions: Decisions) -> Any:
        self.go.wait()
        return super().act(decisions)


def test_actions_return_the_state_and_notify_other_pages(app: Starlette, ann: TestClient) -> None:
    bob = another(app)
    first, second = seated(ann, bob)
    state = payload(ann, first)
    with watch(bob, second) as other:
        choice = {"action": state["legal"][0]["action"], "step": 0}
        known = "".join(digest for digest, _ in state["drawing"].values())
        lines = len(state["log"]["lines"])
        asked = f"{first}/act?page=1&drawn={known}&lines={lines}"
        answer = ann.post(asked, json=choice).json()
        assert other.receive_text() == "changed"
    assert 0 < len(answer["drawing"]) < len(state["drawing"]), "only what has changed"
    assert payload(ann, first)["log"]["lines"][lines:] == answer["log"]["lines"] != []


def test_listing_games_replays_none(ann: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn, scores and state are stored with each action."""
    game = played(3, seed=4, actions=120)
    players: list[Any] = ["random"] * 3
    players[(int(str(game.seat)) + 1) % 3] = ann  # an agent is to move
    seated(*players, game=game)
    monkeypatch.setattr(Game, "play", lambda *_: pytest.fail("the list has played a game"))
    (listed,) = ann.get("/api/games").json()["games"]
    assert listed["state"] == f"seat {int(str(game.seat)) + 1} is to act"
    assert (listed["turn"], listed["scores"]) == (game.turn, game.scores)


def test_requests_on_a_full_disk_are_refused_and_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Callable[[int], None]
) -> None:
    """An agent's move is retried until there is space."""
    monkeypatch.setattr(game_server, "FIRST_RETRY", 0.01)
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        gate, (seat, other), (waiting, _) = Gate(ann), seated(ann, None), seated(ann, "random")
        act(ann, waiting, payload(ann, waiting))
        before, games = payload(ann, seat), ann.get("/api/games").json()
        requests: list[tuple[str, str, Any]] = [
            ("POST", f"{seat}/act", {"action": before["legal"][0]["action"], "step": 0}),
            ("POST", f"{seat}/pause", {"seconds": 3}),
            ("POST", "/api/games", {"players": 2, "side": "front", "seats": SEATS}),
            ("POST", f"{other}/claim", {}),
            ("POST", f"{seat}/release", {}),
            ("DELETE", seat, None),
        ]
        limit(Path(f"{path}-wal").stat().st_size)
        for method, address, sent in requests:
            answer = ann.request(method, address, json=sent)
            assert answer.status_code == 503, address
            assert "nothing has changed; try again when" in answer.json()["error"]
        assert (payload(ann, seat), ann.get("/api/games").json()) == (before, games)
        gate.go.set()
        wait_until(lambda: payload(ann, waiting)["trouble"])
        assert payload(ann, waiting)["step"] == 1
        limit(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
        assert wait_for_turn(ann, waiting)["trouble"] is None


@pytest.mark.parametrize(
    "damage", ["actions = 'no JSON'", "scores = '7'", "actions = '[-7]'", "actions = '[102]'"]
)
def test_a_damaged_game_affects_no_other_and_can_be_deleted(ann: TestClient, damage: str) -> None:
    broken, healthy = seated(ann, None)[0], seated(ann, None)[0]
    storage = server_of(ann).storage
    key = storage.link(broken[-32:]).game
    with storage.transaction() as connection:
        connection.execute(f"UPDATE game SET {damage} WHERE id = ?", (key,))
    assert (ann.get(healthy).status_code, ann.get(broken).status_code) == (200, 409)
    assert ann.delete(broken).status_code == 200
    assert len(ann.get("/api/games").json()["games"]) == 1


def test_a_slow_agent_delays_only_its_own_game(ann: TestClient) -> None:
    gate, slow, other = Gate(ann), seated(ann, "random")[0], seated(ann, "crowd")[0]
    for seat in (slow, other):
        act(ann, seat, payload(ann, seat))
    assert wait_for_turn(ann, other)["step"] == 3
    assert payload(ann, slow)["step"] == 1
    gate.go.set()
    assert wait_for_turn(ann, slow)["step"] == 3


def test_paused_agents_move_one_step_at_a_time(ann: TestClient) -> None:
    seat = seated(ann, "random", "random")[0]
    ann.post(f"{seat}/pause", json={"paused": True})
    act(ann, seat, payload(ann, seat))
    assert (payload(ann, seat)["paused"], payload(ann, seat)["step"]) == (True, 1)
    ann.post(f"{seat}/next")
    wait_until(lambda: payload(ann, seat)["step"] == 2)
    ann.post(f"{seat}/pause", json={"paused": False})
    assert wait_for_turn(ann, seat)["step"] > 3


def test_repeated_requests_with_one_key_create_one_game(app: Starlette, ann: TestClient) -> None:
    """A key is valid while its game exists, for its client only."""
    eve, key = another(app), "1234-abcd"
    ann.get("/")
    with ThreadPoolExecutor(4) as pool:
        (first,) = set(pool.map(lambda _: begin(ann, SEATS, idempotency_key=key), range(8)))
    assert ann.delete(first).status_code == 200
    others = [begin(eve, SEATS, idempotency_key=key), begin(ann, SEATS, idempotency_key=key)]
    assert len({first, *others, begin(ann, SEATS), begin(ann, SEATS)}) == 5


def test_a_seat_claimed_while_its_game_loads_is_kept() -> None:
    """Replaying the game is delayed by a busy thread."""
    storage, game = Storage(MEMORY), game_server.new_game("ann", 1, ("human", "human"))
    links = [Link("a", game.id, 0, "ann"), Link("b", game.id, 1, None)]
    storage.add_game(game, links)

    async def work() -> list[str | None]:
        server, go = game_server.GameServer(storage, quick_catalogue()), threading.Event()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        loop.run_in_executor(None, go.wait)
        reading = asyncio.create_task(server.session(links[0]))
        taking = asyncio.create_task(server.claim("b", "bob"))
        await asyncio.wait([taking], timeout=0.2)
        go.set()
        await taking
        session = await reading
        await server.close()
        return [link.browser for link in session.links]

    assert asyncio.run(work()) == ["ann", "bob"]


def test_the_cache_evicts_the_least_recently_used_unneeded_entry() -> None:
    needed = {"a"}
    kept: LRUCache[str, int] = LRUCache(2, lambda key, value: key in needed)
    kept["a"], kept["b"], kept["c"] = 1, 2, 3
    assert list(kept) == ["a", "c"]
    needed.clear()
    assert kept["a"] == 1
    kept["d"] = 4
    assert list(kept) == ["a", "d"]
