"""The page behind a reverse proxy with a path prefix and without WebSockets."""

from __future__ import annotations

from urllib.parse import urlsplit

from clicks import GONE, HERE, follow
from pages import RunningServer, make_app
from starlette.types import ASGIApp, Receive, Scope, Send

from experiments.tools.chromium import Browser

PREFIX = "/user/me/proxy/8731"
PLACES = "/nothing/here", "/rules", "/ladder", "/library", "/runs"


class Proxy:
    """A reverse proxy that forwards requests below PREFIX without the prefix."""

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


def test_a_game_is_played_below_a_path_without_web_sockets(page: Browser) -> None:
    proxy = Proxy(make_app())
    server = RunningServer(proxy)
    try:
        for place in PLACES:
            page.open(f"{server.address}{PREFIX}{place}")
            follow(page, [("", "main h1", HERE), ("", "button[aria-label='Light or dark']", HERE)])
            follow(page, [("click a.home", "#play-now:enabled", HERE)])
        follow(page, [("click #play-now", "#board svg", HERE)])
        assert urlsplit(page.driver.current_url).path.startswith(f"{PREFIX}/seat/")
        page.click("#board [role=button]")
        follow(page, [("", "#log li:nth-child(2)", HERE)])
        follow(page, [("", "#offline", GONE), ("reload", "#board svg", HERE)])
        assert proxy.strays == []
    finally:
        server.stop()
