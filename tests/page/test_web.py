"""Hosts, origins, cookies, headers and static files; silent and slow clients."""

import contextlib
import socket

import httpx2
import pytest
from pages import RunningServer, begin, client_of, make_app, quick_catalogue, watch
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from skyenv.page.addresses import address_to_listen_on, is_called, is_loopback, names_of
from skyenv.page.browsers import COOKIE, signed
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.table.server import GameServer
from skyenv.page.web import HEADERS, application

# ---- addresses, however they are written ----

LOOPBACK = "127.0.0.1", "0x7f.1", "2130706433", "localhost", "LOCALHOST.", "::ffff:127.0.0.1"
OTHERS = "0.0.0.0", "0", "192.0.2.1"
CALLED = "localhost", "LocalHost:80", "127.0.0.7:1", "[::1]:1"
NOT_CALLED = (
    *("", None, "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::1"),
    *("localhost:port", "user@localhost", "192.0.2.1", "*"),
)


@pytest.mark.parametrize("host", [*LOOPBACK, *OTHERS])
def test_servers_on_loopback_check_the_host_header(host: str) -> None:
    """With other addresses the names by which clients reach the server are unknown."""
    address, names = address_to_listen_on(host), names_of(host)
    assert is_loopback(address) == (names is not None) == (host in LOOPBACK)
    assert names is None or is_called("localhost:1", names)


@pytest.mark.parametrize("header", [*CALLED, *NOT_CALLED])
def test_only_known_host_names_are_accepted(header: str | None) -> None:
    assert is_called(header, ["localhost"]) == (header in CALLED)


# ---- who asks, and from where ----


def test_forged_cookies_are_replaced(app: Starlette, ann: TestClient) -> None:
    seat, cookie = begin(ann, ["me", "agent:random"]), ann.cookies[COOKIE]
    name, _, signature = cookie.partition(".")
    others = signed(b"another server's key", name)
    for made_up in ("short", name, f"{'x' * 32}.{signature}", f"{cookie}x", others):
        headers, odd = {"cookie": f"{COOKIE}={made_up}"}, client_of(app)
        assert odd.get(seat, headers=headers).status_code == 403
        given = odd.get("/", headers=headers).headers["set-cookie"]
        assert name not in given.partition(";")[0]


OWN = "localhost:8421"
EVIL = "https://evil.example"
PUBLIC = "games.example.org:8443"
ASKED = [  # a Host, an Origin, and what becomes of it on a server that is called PUBLIC as well
    (PUBLIC, f"https://{PUBLIC}", 200),
    (OWN, f"https://{PUBLIC}", 200),  # a proxy that tells the name by which it calls this server
    (OWN, f"http://{OWN}", 200),
    (PUBLIC, f"http://{PUBLIC}", 403),
    *((OWN, origin, 403) for origin in (EVIL, "null", f"http://{OWN}.evil.example")),
    ("evil.example", EVIL, 400),  # a name that points to this machine
]


def test_foreign_hosts_and_origins_are_refused() -> None:
    """Over HTTPS the public name is accepted too; cookies are secure."""
    app = application(Storage(MEMORY), quick_catalogue(), ["localhost"], PUBLIC)
    with TestClient(app, base_url=f"https://{PUBLIC}") as ann:
        assert "Secure" in ann.get("/").headers["set-cookie"]
        seat = begin(ann, ["me", "agent:random"])
        for host, origin, wanted in ASKED:
            cookie = f"{COOKIE}={ann.cookies[COOKIE]}"
            asked = {"host": host, "origin": origin, "cookie": cookie}
            answer = ann.post(f"{seat}/pause", json={"seconds": 1}, headers=asked)
            assert answer.status_code == wanted, (host, origin)
            refused = pytest.raises(WebSocketDisconnect)
            with contextlib.nullcontext() if wanted == 200 else refused, watch(ann, seat, asked):
                pass
        simple = {"content-type": "text/plain"}
        assert ann.post(f"{seat}/act", content=b"{}", headers=simple).status_code == 415


# ---- answers ----


def test_every_response_has_the_security_headers(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as ann:
        seat = begin(ann, ["me", "agent:random"])
        monkeypatch.setattr(GameServer, "pace", None)
        refused = {
            500: ann.post(f"{seat}/pause", json={"seconds": 1}),
            403: ann.post(f"{seat}/pause", json={}, headers={"origin": EVIL}),
            400: ann.get("/", headers={"host": "evil.example"}),
            404: ann.get("/nothing"),
        }
        for status, answer in refused.items():
            assert (answer.status_code, {*answer.json()}) == (status, {"error"})
            assert "NoneType" not in answer.text
        for answer in (ann.get("/"), ann.get("/static/table.js"), *refused.values()):
            assert HEADERS.items() <= dict(answer.headers).items()
    assert "script-src 'self';" in HEADERS["content-security-policy"]


@pytest.mark.parametrize(
    "path", ["/static/../web.py", "/static/%2e%2e/web.py", "/static//etc/passwd"]
)
def test_only_static_files_are_served(ann: TestClient, path: str) -> None:
    answer = ann.get(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "there is no such page"})


# ---- on a real port ----


def test_silent_connections_do_not_block_other_clients() -> None:
    server = RunningServer(make_app())
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        for start in ("", "GET / HT", "GET / HTTP/1.1\r\nhost: localhost\r\nx: y\r\n") * 300:
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            one.sendall(start.encode())
        late = stack.enter_context(httpx2.Client(base_url=server.address, timeout=600))
        begin(late, ["me", "agent:random"])
