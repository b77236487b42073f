"""What every request goes through: names, other sites, headers, files."""

from __future__ import annotations

import json
import re

import pytest
from pages import (
    begin,
    client_of,
    payload,
    quick_catalogue,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from skyenv.page.browsers import COOKIE, Browsers
from skyenv.page.game_server import GameServer
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import HEADERS, application


def test_a_browser_keeps_its_name_and_a_made_up_one_is_replaced(
    app: Starlette, ann: TestClient
) -> None:
    ann.get("/")
    cookie = ann.cookies[COOKIE]
    assert f"{COOKIE}={cookie};" in ann.get("/").headers["set-cookie"]
    name, _, signature = cookie.partition(".")
    others = Browsers(b"another server's key").signed(name)
    for made_up in (
        "short",
        name,
        "x" * 32,
        f"{'x' * 32}.{signature}",
        f"{name}.{'x' * 32}",
        f"{cookie}x",
        others,
    ):
        odd = client_of(app)
        headers = {"cookie": f"{COOKIE}={made_up}"}
        assert odd.get("/api/games", headers=headers).status_code == 403
        assert odd.post("/api/games", json={}, headers=headers).status_code == 403
        given = odd.get("/", headers=headers).headers["set-cookie"].partition(";")[0]
        assert made_up not in given
        assert name not in given


def test_a_seats_owner_is_known_by_the_signed_name_alone(app: Starlette, ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    assert ann.get(seat).status_code == 200
    name = ann.cookies[COOKIE].partition(".")[0]
    assert client_of(app).get(seat, headers={"cookie": f"{COOKIE}={name}"}).status_code == 403


@pytest.mark.parametrize("port", ["", ":8443"])
def test_behind_a_server_with_https(port: str) -> None:
    """Its name is known, with https alone; the machine's own names go on working."""
    public = f"games.example.org{port}"
    with TestClient(
        application(Storage(MEMORY), quick_catalogue(), ["localhost"], public),
        base_url=f"https://{public}",
    ) as ann:
        assert "Secure" in ann.get("/").headers["set-cookie"]
        seat = begin(ann, ["me", "agent:random"])
        for host, origin, wanted in (
            (public, f"https://{public}", 200),
            (
                "localhost:8421",
                f"https://{public}",
                200,
            ),  # a server that tells the name by which it calls this one
            ("localhost:8421", "http://localhost:8421", 200),
            (public, f"http://{public}", 403),
            (public, "https://evil.example", 403),
            (public, "null", 403),
            ("evil.example", f"https://{public}", 400),
        ):
            headers = {"host": host, "origin": origin, "cookie": f"{COOKIE}={ann.cookies[COOKIE]}"}
            assert (
                ann.post(f"{seat}/pause", json={"seconds": 1}, headers=headers).status_code
                == wanted
            ), (host, origin)
        with ann.websocket_connect(
            f"wss://{public}{seat}/changes", headers={"origin": f"https://{public}"}
        ):
            pass


def test_other_sites_pages_can_do_nothing(app: Starlette, ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    state = payload(ann, seat)
    action = {"action": state["legal"][0]["action"], "step": 0}
    for origin in (
        "http://evil.example",
        "http://localhost.evil.example",
        "null",
        "https://localhost:81",
    ):
        headers = {"origin": origin}
        assert ann.post(f"{seat}/act", json=action, headers=headers).status_code == 403
        assert ann.post("/api/replays", content=b"x", headers=headers).status_code == 403
        with pytest.raises(WebSocketDisconnect), watch(ann, seat, headers):
            pass
    assert (
        ann.post(
            f"{seat}/act", content=json.dumps(action), headers={"content-type": "text/plain"}
        ).status_code
        == 415
    )
    assert (
        ann.get("/", headers={"host": "evil.example"}).status_code == 400
    )  # a name that points to this machine
    assert payload(ann, seat) == state
    assert (
        ann.post(f"{seat}/act", json=action, headers={"origin": "http://localhost"}).status_code
        == 200
    )


def test_every_answer_has_the_security_headers(ann: TestClient) -> None:
    for path in (
        "/",
        "/seat/x",
        "/replay/x",
        "/static/table.js",
        "/api/options",
        "/api/nothing",
        "/nothing",
    ):
        headers = ann.get(path).headers
        for name, value in HEADERS.items():
            assert headers[name] == value, path
        assert headers["cache-control"] == (
            "no-cache" if not path.startswith("/api") and path != "/nothing" else "no-store"
        )
    assert "unsafe-eval" not in str(HEADERS)
    assert "script-src 'self';" in HEADERS["content-security-policy"]


def test_whatever_goes_wrong_has_them_too(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("secret")

    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as ann:
        seat = begin(ann, ["me", "agent:random"])
        monkeypatch.setattr(GameServer, "pace", fail)
        answers = {
            500: ann.post(f"{seat}/pause", json={"seconds": 1}),
            403: ann.post(
                f"{seat}/pause", json={"seconds": 1}, headers={"origin": "https://evil.example"}
            ),
            400: ann.get("/", headers={"host": "evil.example"}),
            415: ann.post("/api/replays", content=b"x", headers={"content-encoding": "gzip"}),
        }
        for status, answer in answers.items():
            assert answer.status_code == status
            assert set(answer.json()) == {"error"}
            assert "secret" not in answer.text
            assert HEADERS.items() | {("cache-control", "no-store")} <= dict(answer.headers).items()


@pytest.mark.parametrize(
    "path",
    [
        "/static/../web.py",
        "/static/%2e%2e/web.py",
        "/static/..%2fweb.py",
        "/static//etc/passwd",
        "/../../etc/passwd",
    ],
)
def test_no_file_but_the_pages_own_is_read(ann: TestClient, path: str) -> None:
    answer = ann.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error": "there is no such page"}


@pytest.mark.parametrize(("path", "root"), [("/nothing", "./"), ("/a/b/nothing", "../../")])
def test_browsers_that_ask_for_a_page_are_refused_by_one(
    ann: TestClient, path: str, root: str
) -> None:
    """Its addresses are relative, as the page may be served below a path."""
    answer = ann.get(path, headers={"accept": "text/html,*/*"})
    assert answer.status_code == 404
    assert "there is no such page" in answer.text
    assert f'href="{root}static/page.css"' in answer.text
    assert not re.search('(href|src)="/', answer.text)
    for other in ("/api/nothing", "/static/nothing"):
        refused = ann.get(other, headers={"accept": "text/html"})
        assert (refused.status_code, set(refused.json())) == (404, {"error"})


def test_answers_are_compressed_if_the_browser_takes_that(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    for address in (seat, "/static/dom.js"):
        for said, wanted in (("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("identity", None)):
            answer = ann.get(address, headers={"accept-encoding": said})
            assert answer.status_code == 200
            assert answer.headers.get("content-encoding") == wanted, address
