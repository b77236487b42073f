"""The page behind a reverse proxy that serves it below a path and lets no WebSockets through."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from pages import RunningServer, make_app
from starlette.types import ASGIApp, Receive, Scope, Send

from experiments.tools.chromium import Browser, browser

PREFIX = "/user/me/proxy/8731"
PLACES = "/nothing/here", "/rules", "/ladder", "/library", "/runs"


class Proxy:
    """Passes on what is asked for below PREFIX, as such that starts there."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.strays: list[str] = []
        """What was asked for elsewhere."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        path = scope.get("path", PREFIX)
        if not path.startswith(PREFIX):
            self.strays.append(path)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            await self.app({**scope, "path": path.removeprefix(PREFIX)}, receive, send)


@pytest.fixture
def ann() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


def test_a_game_is_played_below_a_path_without_web_sockets(ann: Browser) -> None:
    proxy = Proxy(make_app())
    server = RunningServer(proxy)
    home = f"{server.address}{PREFIX}"
    try:
        for place in PLACES:
            ann.open(f"{home}{place}")
            assert ann.wait("main h1")
            ann.wait("button[aria-label='Light or dark']")  # its scripts run
            ann.click("a.home")
            ann.wait("#play-now:not(:disabled)")
        ann.click("#play-now")
        ann.wait("#board svg")
        assert urlsplit(ann.driver.current_url).path.startswith(f"{PREFIX}/seat/")
        ann.click("#board [role=button]")
        ann.wait_until(lambda: ann.run("return document.querySelectorAll('#log li').length > 1"))
        assert ann.find("#offline") is None
        ann.driver.refresh()
        ann.wait("#board svg")
        assert proxy.strays == []
    finally:
        server.stop()
