"""What every request goes through: addresses and names, other sites, headers, files; and clients
that say nothing, or say it slowly, or nonsense.
"""

from __future__ import annotations

import contextlib
import logging
import select
import socket
from collections.abc import Callable, Iterator

import httpx2
import pytest
from pages import RunningServer, begin, client_of, make_app, payload, quick_catalogue, watch
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from skyenv.errors import OptionError
from skyenv.page import kept_replays, requests
from skyenv.page.addresses import address_to_listen_on, is_called, is_loopback, names_of
from skyenv.page.browsers import COOKIE, Browsers
from skyenv.page.game_server import GameServer
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import HEADERS, application

# ---- addresses, however they are written ----

LOOPBACK = (
    *("127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.2"),
    *(" 127.0.0.1 ", "localhost", "LOCALHOST", "localhost."),
    *("::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "[::FFFF:7f00:1]", "::1%1"),
)
OTHERS = "0.0.0.0", "0", "0x0", "192.0.2.1", "::", "::ffff:192.0.2.1"
WRONG = (
    *("", " ", "[]", "\t", "a b", "1.2.3.4.5", "::g", "x" * 64 + ".example", "a\0b"),
    *("127.0.0.256", "..", "*"),
)
CALLED = (
    *("localhost", "localhost:80", "LocalHost", "localhost.:8421", "127.0.0.1", "[::1]"),
    *("127.0.0.7:1", "[::1]:1"),
)
NOT_CALLED = (
    *("", None, "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::1"),
    *("::1]", "localhost:port", "localhost:80:80", "a localhost", "localhost/", "user@localhost"),
    *("192.0.2.1", "*", "[fe80::1]:8421"),
)


@pytest.mark.parametrize("host", [*LOOPBACK, *OTHERS])
def test_a_server_on_loopback_has_its_hosts_checked(host: str) -> None:
    """Nobody knows by which names other machines reach this one."""
    try:
        socket.create_server(("::1" if ":" in host else "", 0), family=socket.AF_INET6).close()
    except OSError:
        if ":" in host:
            pytest.skip("there is no IPv6 here")
    address, names = address_to_listen_on(host), names_of(host)
    assert is_loopback(address) == (names is not None) == (host in LOOPBACK)
    if names is not None:
        assert is_called(f"[{address}]:1" if ":" in address else f"{address}:1", names)
        assert [is_called(header, names) for header in ("localhost:1", *NOT_CALLED)].count(
            True
        ) == 1


@pytest.mark.parametrize("host", WRONG)
def test_what_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(OptionError, match=r"host must be an address|can't listen on"):
        address_to_listen_on(host)


@pytest.mark.parametrize("header", [*CALLED, *NOT_CALLED])
def test_a_host_is_known_by_its_names(header: str | None) -> None:
    assert is_called(header, ["localhost"]) == (header in CALLED)


# ---- who asks, and from where ----


def test_a_browser_keeps_its_name_and_a_made_up_one_is_replaced(
    app: Starlette, ann: TestClient
) -> None:
    seat = begin(ann, ["me", "agent:random"])
    cookie = ann.cookies[COOKIE]
    assert f"{COOKIE}={cookie};" in ann.get("/").headers["set-cookie"]
    name, _, signature = cookie.partition(".")
    others = Browsers(b"another server's key").signed(name)
    for made_up in (
        *("short", name, f"{'x' * 32}.{signature}", f"{name}.{'x' * 32}", f"{cookie}x", others),
    ):
        headers = {"cookie": f"{COOKIE}={made_up}"}
        odd = client_of(app)
        assert {odd.get(path, headers=headers).status_code for path in (seat, "/api/games")} == {
            403
        }
        given = odd.get("/", headers=headers).headers["set-cookie"].partition(";")[0]
        assert made_up not in given
        assert name not in given


OWN = "localhost:8421"
EVIL = "https://evil.example"
ASKED = [  # a Host, an Origin, and what becomes of it on a server that is called PUBLIC as well
    ("PUBLIC", "https://PUBLIC", 200),
    (OWN, "https://PUBLIC", 200),  # a proxy that tells the name by which it calls this server
    (OWN, f"http://{OWN}", 200),
    ("PUBLIC", "http://PUBLIC", 403),
    *(("PUBLIC", origin, 403) for origin in (EVIL, "null")),
    *(
        (OWN, origin, 403)
        for origin in (EVIL, "null", f"http://{OWN}.evil.example", f"http://{OWN}1")
    ),
    ("evil.example", "https://PUBLIC", 400),
    ("evil.example", EVIL, 400),  # a name that points to this machine
]


@pytest.mark.parametrize("public", ["games.example.org", "games.example.org:8443"])
def test_other_names_and_other_sites_pages_can_do_nothing(public: str) -> None:
    """By HTTPS the public name is known as well; cookies are for it alone."""
    app = application(Storage(MEMORY), quick_catalogue(), ["localhost"], public)
    with TestClient(app, base_url=f"https://{public}") as ann:
        assert "Secure" in ann.get("/").headers["set-cookie"]
        seat = begin(ann, ["me", "agent:random"])
        cookie = f"{COOKIE}={ann.cookies[COOKIE]}"
        for host, origin, wanted in ASKED:
            asked = {"host": host.replace("PUBLIC", public), "cookie": cookie}
            asked["origin"] = origin.replace("PUBLIC", public)
            answers = [
                ann.post(f"{seat}/pause", json={"seconds": 1}, headers=asked),
                ann.post("/api/replays", content=b"x", headers=asked),
            ]
            refused = {200: 400}.get(wanted, wanted)  # it is no record
            assert [one.status_code for one in answers] == [wanted, refused], (host, origin)
            with contextlib.ExitStack() as stack:
                if wanted != 200:
                    stack.enter_context(pytest.raises(WebSocketDisconnect))
                stack.enter_context(watch(ann, seat, asked))
        simple = {"content-type": "text/plain"}
        assert ann.post(f"{seat}/act", content=b"{}", headers=simple).status_code == 415
        assert payload(ann, seat)["step"] == 0


# ---- answers ----


def test_every_answer_has_the_security_headers_whatever_goes_wrong(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("secret")

    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as ann:
        seat = begin(ann, ["me", "agent:random"])
        monkeypatch.setattr(GameServer, "pace", fail)
        pages = "/", "/seat/x", "/replay/x", "/static/table.js"
        refused = {
            500: ann.post(f"{seat}/pause", json={"seconds": 1}),
            403: ann.post(f"{seat}/pause", json={}, headers={"origin": EVIL}),
            400: ann.get("/", headers={"host": "evil.example"}),
            404: ann.get("/nothing"),
            415: ann.post("/api/replays", content=b"x", headers={"content-encoding": "gzip"}),
        }
        shown = [ann.get(page) for page in pages]
        for status, answer in refused.items():
            assert (answer.status_code, {*answer.json()}) == (status, {"error"})
            assert "secret" not in answer.text
        for answer in (*shown, *refused.values(), ann.get("/api/options")):
            cache = "no-cache" if answer in shown else "no-store"
            assert HEADERS.items() | {("cache-control", cache)} <= dict(answer.headers).items()
    assert "script-src 'self';" in HEADERS["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        *("/static/../web.py", "/static/%2e%2e/web.py", "/static/..%2fweb.py"),
        *("/static//etc/passwd", "/../../etc/passwd"),
    ],
)
def test_no_file_but_the_pages_own_is_read(ann: TestClient, path: str) -> None:
    answer = ann.get(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "there is no such page"})


@pytest.mark.parametrize(("path", "root"), [("/nothing", "./"), ("/a/b/nothing", "../../")])
def test_browsers_that_ask_for_a_page_are_refused_by_one(
    ann: TestClient, path: str, root: str
) -> None:
    """Its addresses are relative, as the page may be served below a path."""
    answer = ann.get(path, headers={"accept": "text/html,*/*"})
    assert answer.status_code == 404
    for text, is_there in (
        ("there is no such page", True),
        (f'href="{root}static/page.css"', True),
        *(('href="/', False), ('src="/', False)),
    ):
        assert (text in answer.text) == is_there
    for other in ("/api/nothing", "/static/nothing"):
        refused = ann.get(other, headers={"accept": "text/html"})
        assert (refused.status_code, {*refused.json()}) == (404, {"error"})


def test_answers_are_compressed_if_the_browser_takes_that(ann: TestClient) -> None:
    for said, wanted in (("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("identity", None)):
        answer = ann.get("/static/dom.js", headers={"accept-encoding": said})
        assert answer.headers.get("content-encoding") == wanted


# ---- on a real port ----


@pytest.fixture
def server() -> Iterator[RunningServer]:
    running = RunningServer(make_app())
    yield running
    running.stop()


@pytest.fixture
def bob(server: RunningServer) -> Iterator[httpx2.Client]:
    """A browser that has opened the page."""
    with httpx2.Client(base_url=server.address, timeout=600) as client:
        client.get("/").raise_for_status()
        yield client


@pytest.fixture
def say(server: RunningServer) -> Iterator[Callable[..., socket.socket]]:
    """Open a connection, send a line with some headers, and leave it open."""
    with contextlib.ExitStack() as stack:

        def say(line: str, *headers: str) -> socket.socket:
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            one.sendall("\r\n".join((line, *headers)).encode())
            return one

        yield say


Say = Callable[..., socket.socket]
HOST = "host: localhost"
UPLOAD = "POST /api/replays HTTP/1.1", HOST, "content-length: 9999"
UPGRADE = (
    *("connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"),
    *("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", "", ""),
)


def cookie_of(client: httpx2.Client) -> str:
    """The header by which the server knows a client."""
    return f"cookie: {COOKIE}={client.cookies[COOKIE]}"


def seat_of(client: httpx2.Client) -> str:
    """A new game; the seat's address in the interface."""
    wanted = {"players": 2, "side": "front", "seats": ["me", "human"]}
    made = client.post("/api/games", json=wanted).raise_for_status().json()
    return str(made["page"]).replace("/seat/", "/api/seats/")


def test_silent_connections_shut_nobody_out(say: Say, bob: httpx2.Client) -> None:
    starts = ("",), ("GET / HT",), ("GET / HTTP/1.1", HOST, "x: y", "")
    for number in range(900):
        say(*starts[number % len(starts)])
    with httpx2.Client(base_url=bob.base_url, timeout=600) as late:
        late.get("/").raise_for_status()
        seat = seat_of(late)
        changes = say(f"GET {seat}/changes HTTP/1.1", HOST, cookie_of(late), *UPGRADE)
        assert changes.recv(65536).startswith(b"HTTP/1.1 101")
        state = late.get(seat).json()
        action = {"action": state["legal"][0]["action"], "step": state["step"]}
        late.post(f"{seat}/act", json=action).raise_for_status()
        assert changes.recv(65536)


def test_a_body_that_comes_too_slowly_is_told_so(
    say: Say, bob: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 0.05)
    kind = "content-type: application/json"
    one = say("POST /api/games HTTP/1.1", HOST, cookie_of(bob), kind, "content-length: 9", "", "{")
    assert one.recv(65536).startswith(b"HTTP/1.1 408")


def test_a_frame_that_is_no_text_ends_its_connection_and_leaves_no_traceback(
    say: Say, bob: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    one = say(f"GET {seat_of(bob)}/changes HTTP/1.1", HOST, cookie_of(bob), *UPGRADE)
    assert one.recv(65536).startswith(b"HTTP/1.1 101")
    with caplog.at_level(logging.WARNING):
        one.sendall(b"\x81\x82\0\0\0\0\xff\xfe")
        while one.recv(65536):
            pass
        bob.get("/").raise_for_status()
    assert not caplog.records


def test_records_that_do_not_come_hold_up_no_others(
    say: Say, bob: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 600.0)
    monkeypatch.setattr(kept_replays, "UPLOADS", 2)
    monkeypatch.setattr(kept_replays, "UPLOADS_OF_ONE", 1)
    waiting: list[socket.socket] = []
    for _ in range(2):
        cookie = cookie_of(httpx2.Client(cookies=httpx2.get(bob.base_url).cookies))
        sent = [say(*UPLOAD, cookie, "", "x") for _ in range(2)]
        refused, _, _ = select.select(sent, [], [])  # of one browser one is let in
        assert [one.recv(65536)[:12] for one in refused] == [b"HTTP/1.1 429"]
        waiting += [one for one in sent if one not in refused]
    assert bob.post("/api/replays", content=b"no record").status_code == 400
    assert waiting[0].recv(65536).startswith(b"HTTP/1.1 503")
