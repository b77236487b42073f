"""The page behind a reverse proxy with a path prefix and without WebSockets."""

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from chromium import Browser
from clicks import GONE, HERE, follow
from pages import RunningServer, make_app, quick_catalogue
from starlette.types import ASGIApp, Receive, Scope, Send

from skyenv.page.library.games import Library, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application

PREFIX = "/user/me/proxy/8731"
PLACES = "/nothing/here", "/rules", "/ladder", "/library"
# The lobby's links to other pages, each with an element of the page it leads to.
WAYS: Final = {
    "Tutorial": "#lesson-title",
    "Puzzle": "#puzzle-title",
    "Rules": "#rules-text",
    "Ladder": "#ratings",
    "Library": "#filters",
}


class Proxy:
    """A reverse proxy that forwards requests below PREFIX without the prefix."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        # What was asked for elsewhere.
        self.strays: list[str] = []

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


@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_the_lobby_leads_to_every_other_page(page: Browser, prefix: str, tmp_path: Path) -> None:
    """A browser without games is offered the lesson beside *Play now*, too."""
    library = Library(roots_of([tmp_path]))
    app = application(Storage(MEMORY), quick_catalogue(), ["localhost"], library=library)
    server = RunningServer(Proxy(app) if prefix else app)
    lobby = f"{server.address}{prefix}/"
    try:
        page.open(lobby)
        follow(page, [("click #learn", WAYS["Tutorial"], HERE)])
        for number, (name, element) in enumerate(WAYS.items(), 1):
            page.open(lobby)
            follow(page, [("", f"#ways a:nth-child({number})", name)])
            follow(page, [(f"click #ways a:nth-child({number})", element, HERE)])
        page.open(lobby)
        follow(page, [("", "#games li", HERE), ("", "#learn", GONE)])
        assert len(page.driver.find_elements("css selector", "#ways a")) == len(WAYS)
    finally:
        server.stop()
