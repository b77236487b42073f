"""A hostile neighbour: connections that say nothing, or slowly, or too much.

Others are answered meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import time
from collections.abc import Iterator

import httpx2
import pytest
from pages import Json, RunningServer, make_app
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from processes import wait_until
from skyenv.page import connections, kept_replays, requests
from skyenv.page.connections import HEADERS, Crowd

REQUEST = {"players": 2, "side": "front", "seats": ["me", "human"]}


@pytest.fixture
def crowd() -> Crowd:
    return Crowd(most=20)


@pytest.fixture
def server(crowd: Crowd) -> Iterator[RunningServer]:
    running = RunningServer(make_app(), crowd=crowd)
    try:
        yield running
    finally:
        running.stop()


class Neighbour:
    """Opens connections, and keeps them.

    Args:
        server: which.
    """

    def __init__(self, server: RunningServer) -> None:
        self._port = server.port
        self.sockets: list[socket.socket] = []

    def say(self, words: bytes) -> socket.socket:
        """Begin a request."""
        one = socket.create_connection(("127.0.0.1", self._port))
        one.sendall(words)
        self.sockets.append(one)
        return one

    def close(self) -> None:
        """End them all."""
        for one in self.sockets:
            one.close()


@pytest.fixture
def neighbour(server: RunningServer) -> Iterator[Neighbour]:
    one = Neighbour(server)
    yield one
    one.close()


def heard(one: socket.socket) -> bytes:
    """All that a connection says until it is closed."""
    answer = b""
    with contextlib.suppress(ConnectionError):
        while part := one.recv(65536):
            answer += part
    return answer


@contextlib.contextmanager
def plays(server: RunningServer) -> Iterator[httpx2.Client]:
    """A browser that begins a game and plays."""
    with httpx2.Client(base_url=server.address, timeout=600) as client:
        assert client.get("/").status_code == 200
        seat = begin(client)
        state = client.get(seat).json()
        answer = client.post(
            f"{seat}/act", json={"action": state["legal"][0]["action"], "step": state["step"]}
        )
        assert answer.status_code == 200
        yield client


def begin(client: httpx2.Client, **more: str) -> str:
    """A new game; the seat's address in the interface."""
    answer = client.post("/api/games", json=REQUEST | more)
    assert answer.status_code == 201
    made: Json = answer.json()
    return str(made["page"]).replace("/seat/", "/api/seats/")


STARTS = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "headers without an end": b"GET / HTTP/1.1\r\nhost: localhost\r\nx: y\r\n",
    "a body that does not come": b"POST /api/games HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n",
    "a chunk that does not come": b"POST /api/games HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n63\r\n{",
}


@pytest.mark.parametrize("start", STARTS)
def test_connections_without_a_request_make_room(
    server: RunningServer, neighbour: Neighbour, crowd: Crowd, start: str
) -> None:
    """More than there are places, none of which ends by itself."""
    for _ in range(3):
        for _ in range(30):
            neighbour.say(STARTS[start])
        with plays(server):
            assert len(crowd) <= 20


def test_a_request_that_takes_too_long_is_ended(
    server: RunningServer, neighbour: Neighbour, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.05)
    monkeypatch.setattr(connections, "CHECKS", 0.01)
    for start in STARTS.values():
        heard(neighbour.say(start))  # until it is closed
    monkeypatch.setattr(connections, "PATIENCE", 600.0)
    with plays(server):
        pass
    wait_until(lambda: len(crowd) == 0)


def test_what_comes_drop_by_drop_is_ended(
    server: RunningServer, neighbour: Neighbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte alone puts nothing off."""
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    monkeypatch.setattr(connections, "CHECKS", 0.01)
    one = neighbour.say(b"GET / HTTP/1.1\r\nhost: localhost\r\n")
    with contextlib.suppress(ConnectionError):
        while True:  # until it is
            one.sendall(b"x")
            time.sleep(0.001)


def test_a_body_that_comes_too_slowly_is_told_so(
    server: RunningServer, neighbour: Neighbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 0.05)
    one = neighbour.say(upload_by(server))
    answer = b""
    while b"slowly" not in answer:
        answer += one.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")


def test_an_answer_that_nobody_reads_is_given_up(
    server: RunningServer, neighbour: Neighbour, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "UNREAD", 0.05)
    monkeypatch.setattr(connections, "CHECKS", 0.01)
    one = neighbour.say(b"")
    with contextlib.suppress(ConnectionError):
        one.setblocking(False)
        for _ in range(200_000):
            with contextlib.suppress(BlockingIOError):
                one.sendall(b"GET /static/page.css HTTP/1.1\r\nhost: localhost\r\n\r\n" * 20)
            if not len(crowd):
                break
    wait_until(lambda: len(crowd) == 0)


NO_REQUESTS = [
    b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 1_000_000 + b"\r\n\r\n",
    b"no request\r\n\r\n",
    b"\x16\x03\x01" * 9 + b"\r\n\r\n",
]


@pytest.mark.parametrize("words", NO_REQUESTS, ids=["huge headers", "no request", "HTTPS"])
def test_what_is_no_request_gets_a_message(
    server: RunningServer, neighbour: Neighbour, words: bytes
) -> None:
    one = neighbour.say(b"")
    with contextlib.suppress(ConnectionError):
        one.sendall(words)
        head, _, body = heard(one).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert all(f"{name}: {value}".encode() in head for name, value in HEADERS.items())
        assert set(json.loads(body)) == {"error"}
    with plays(server):
        pass


def test_many_sockets_of_one_browser_leave_room(
    server: RunningServer, neighbour: Neighbour
) -> None:
    with plays(server) as client:
        seat = begin(client)
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    words = (
        f"GET {seat}/changes HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\nconnection: "
        "upgrade\r\nupgrade: websocket\r\n"
        "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    for _ in range(50):
        assert neighbour.say(words.encode()).recv(65536).startswith(b"HTTP/1.1 101")
    with plays(server):
        pass


def test_one_address_has_not_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the addresses that a server before this one tells, which none of its clients can make
    up.
    """
    monkeypatch.setattr(requests, "PATIENCE", 600.0)
    monkeypatch.setattr(connections, "PATIENCE", 600.0)
    crowd = Crowd(through_proxy=True, most=20, of_one_address=5)
    running = RunningServer(make_app(), crowd=crowd)
    neighbour = Neighbour(running)
    try:
        said = b"x-forwarded-for: 9.9.9.9, 192.0.2.%d\r\n"
        first = neighbour.say(upload_by(running, said % 1))
        wait_until(lambda: crowd._addresses["192.0.2.1"] == 1)
        for _ in range(12):
            neighbour.say(upload_by(running, said % 2))
        wait_until(lambda: crowd._addresses["192.0.2.2"] == 5)
        with plays(running):
            pass
        first.sendall(b"x" * 9998)
        assert first.recv(65536).startswith(b"HTTP/1.1 400")  # heard, and no record
    finally:
        neighbour.close()
        running.stop()


def test_limits_are_those_of_the_address_that_a_server_before_this_one_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many browsers come from it, and whatever the environment tells web servers to
    believe.
    """
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "192.0.2.9")
    app = make_app()

    async def whose(request: Request) -> PlainTextResponse:
        return PlainTextResponse(requests.client_of(request))

    app.router.routes.insert(0, Route("/whose", whose))
    running = RunningServer(app, crowd=Crowd(through_proxy=True))
    try:
        clients = []
        for told in ("192.0.2.1", "9.9.9.9, 192.0.2.1", ""):
            headers = {"x-forwarded-for": told} if told else {}
            with httpx2.Client(base_url=running.address, timeout=600, headers=headers) as client:
                client.get("/")
                clients.append(client.get("/whose").text)
        assert clients[:2] == ["192.0.2.1"] * 2
        assert len(clients[2]) == 32  # on this machine every browser is one
    finally:
        running.stop()


def upload_by(server: RunningServer, header: bytes = b"") -> bytes:
    """A new browser sends a record, of which only the first byte comes."""
    with httpx2.Client(base_url=server.address, timeout=600) as client:
        client.get("/")
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items()).encode()
    words = b"POST /api/replays HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999\r\n"
    return words + header + b"cookie: " + cookie + b"\r\n\r\nx"


def test_records_that_do_not_come_hold_up_no_others(
    server: RunningServer, neighbour: Neighbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 600.0)
    monkeypatch.setattr(kept_replays, "UPLOADS", 4)
    monkeypatch.setattr(kept_replays, "UPLOADS_OF_ONE", 2)
    answers: list[socket.socket] = []
    for _ in range(4):
        words = upload_by(server)
        sent = [neighbour.say(words) for _ in range(3)]
        refused, _, _ = select.select(sent, [], [])
        assert [one.recv(65536)[:12] for one in refused] == [
            b"HTTP/1.1 429"
        ]  # of one browser two are let in
        answers += [one for one in sent if one not in refused]
    with httpx2.Client(base_url=server.address, timeout=600) as client:
        client.get("/")
        assert client.post("/api/replays", content=b"no record").status_code == 400
    assert answers[0].recv(65536).startswith(b"HTTP/1.1 503")
