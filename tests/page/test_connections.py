"""Clients that say nothing, or say it slowly, or nonsense: others are answered meanwhile."""

from __future__ import annotations

import contextlib
import logging
import select
import socket
from collections.abc import Callable, Iterator

import httpx2
import pytest
from pages import RunningServer, make_app
from websockets.sync.client import connect

from processes import wait_until
from skyenv.page import kept_replays, requests

SILENT = 900
REQUEST = {"players": 2, "side": "front", "seats": ["me", "human"]}
Say = Callable[[bytes], socket.socket]


@pytest.fixture
def server() -> Iterator[RunningServer]:
    running = RunningServer(make_app())
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def say(server: RunningServer) -> Iterator[Say]:
    """Open a connection, send some bytes and leave it open."""
    with contextlib.ExitStack() as stack:

        def say(words: bytes) -> socket.socket:
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            one.sendall(words)
            return one

        yield say


@contextlib.contextmanager
def browser(server: RunningServer) -> Iterator[httpx2.Client]:
    """A client that has opened the page."""
    with httpx2.Client(base_url=server.address, timeout=600) as client:
        client.get("/").raise_for_status()
        yield client


def begin(client: httpx2.Client) -> str:
    """A new game; the seat's address in the interface."""
    made = client.post("/api/games", json=REQUEST).raise_for_status().json()
    return str(made["page"]).replace("/seat/", "/api/seats/")


def cookie_of(client: httpx2.Client) -> str:
    """The header by which the server knows a client."""
    return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def upload_by(server: RunningServer) -> bytes:
    """A new browser sends a record, of which only the first byte comes."""
    with browser(server) as client:
        cookie = cookie_of(client)
    head = (
        f"POST /api/replays HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9999\r\ncookie: {cookie}"
    )
    return f"{head}\r\n\r\nx".encode()


def test_silent_connections_shut_nobody_out(server: RunningServer, say: Say) -> None:
    starts = b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: localhost\r\nx: y\r\n"
    for number in range(SILENT):
        say(starts[number % len(starts)])
    with browser(server) as client:
        seat = begin(client)
        state = client.get(seat).raise_for_status().json()
        action = {"action": state["legal"][0]["action"], "step": state["step"]}
        client.post(f"{seat}/act", json=action).raise_for_status()
        with connect(
            f"ws://127.0.0.1:{server.port}{seat}/changes",
            additional_headers={"cookie": cookie_of(client)},
        ) as changes:
            client.post(f"{seat}/pause", json={"seconds": 1}).raise_for_status()
            assert changes.recv(timeout=600)


def test_a_body_that_comes_too_slowly_is_told_so(
    server: RunningServer, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 0.05)
    one, answer = say(upload_by(server)), b""
    while b"slowly" not in answer:
        answer += one.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "words", [b"x: " + b"y" * 1_000_000, b"no request", b"\x16\x03\x01" * 9], ids=range(3)
)
def test_what_is_no_request_is_refused(server: RunningServer, say: Say, words: bytes) -> None:
    one = say(b"")
    with contextlib.suppress(ConnectionError):
        one.sendall(words + b"\r\n\r\n")
        assert one.recv(65536).startswith(b"HTTP/1.1 400 ")
    httpx2.get(server.address).raise_for_status()


def test_a_frame_that_is_no_text_ends_its_connection_and_leaves_no_traceback(
    server: RunningServer, say: Say, caplog: pytest.LogCaptureFixture
) -> None:
    with browser(server) as client:
        words = (
            f"GET {begin(client)}/changes HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n"
            f"upgrade: websocket\r\ncookie: {cookie_of(client)}\r\nsec-websocket-version: 13\r\n"
            "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
    one = say(words.encode())
    assert one.recv(65536).startswith(b"HTTP/1.1 101")
    with caplog.at_level(logging.WARNING):
        one.sendall(b"\x81\x82\0\0\0\0\xff\xfe")
        while one.recv(65536):
            pass
        httpx2.get(server.address).raise_for_status()
    assert not caplog.records


def test_records_that_do_not_come_hold_up_no_others(
    server: RunningServer, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 600.0)
    monkeypatch.setattr(kept_replays, "UPLOADS", 2)
    monkeypatch.setattr(kept_replays, "UPLOADS_OF_ONE", 1)
    answers: list[socket.socket] = []
    for _ in range(2):
        words = upload_by(server)
        sent = [say(words) for _ in range(2)]
        refused, _, _ = select.select(sent, [], [])  # of one browser one is let in
        assert [one.recv(65536)[:12] for one in refused] == [b"HTTP/1.1 429"]
        answers += [one for one in sent if one not in refused]
    with browser(server) as client:
        assert client.post("/api/replays", content=b"no record").status_code == 400
    assert answers[0].recv(65536).startswith(b"HTTP/1.1 503")
    wait_until(lambda: answers[0].recv(65536) == b"")
