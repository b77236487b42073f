"""The page's web server: what every request and every answer goes through; addresses stand in
:mod:`skyenv.page.routes`.

These and :mod:`~skyenv.page.requests` alone know Starlette.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from skyenv.errors import SkyenvError
from skyenv.page.addresses import is_called
from skyenv.page.browsers import Browsers
from skyenv.page.catalogue import Catalogue
from skyenv.page.errors import PageError
from skyenv.page.game_server import GameServer
from skyenv.page.library import Library
from skyenv.page.requests import STATIC, refusal
from skyenv.page.routes import analysis, library, lobby, people, replays, runs, seats
from skyenv.page.runs import Runs
from skyenv.page.storage import Storage
from skyenv.page.workers import Workers

PARTS: Final = (lobby, seats, people, analysis, replays, library, runs)
"""In this order their addresses are compared with a request's."""
THREADS: Final = 4
"""Threads that draw and read for requests: Python does one thing at a time, so that more of them
would only keep the event loop waiting.
"""
READERS: Final = 2
"""How many of them may wait for the disk of folders of games and trainings."""
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # addresses of seats are secret
    "x-content-type-options": "nosniff",
}
"""What every answer says."""


def application(
    storage: Storage,
    catalogue: Catalogue,
    hosts: list[str] | None = None,
    public: str | None = None,
    workers: Workers | None = None,
    library: Library | None = None,
    runs: Runs | None = None,
) -> Starlette:
    """The page as an ASGI application.

    Args:
        storage: the database; closed when the application ends.
        catalogue: the agents that can be chosen.
        hosts: names that a request may call the server by; None: any. On loopback a fixed list
            keeps other sites' pages out, whatever address their names point to.
        public: the name, with its port if it isn't 443, by which browsers call a server with HTTPS
            before this one.
        workers: who thinks for the games, and compiles what they need; ended when the application
            ends. None: threads of this process, and what isn't compiled yet is compiled when it is
            needed.
        library: games to look through, shown to every browser. None: there are none.
        runs: trainings to look at, whose networks can be played against. None: there are none.
    """
    names = None if hosts is None else [*hosts, *([public.partition(":")[0]] if public else [])]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "page"))
        app.state.reading = asyncio.Semaphore(READERS)
        app.state.server = GameServer(storage, catalogue, workers)
        app.state.browsers = Browsers(await storage.ask(storage.key))
        app.state.public = public
        app.state.library, app.state.runs = library, runs
        if runs is not None:
            catalogue.find = runs.network
        app.state.server.preparation.begin()
        yield
        await app.state.server.close()

    return Starlette(
        routes=[
            *(route for part in PARTS for route in part.ROUTES),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        lifespan=lifespan,
        middleware=[
            Middleware(_Headers, names=names, public=public),
            # More than level 1 takes longer than it saves.
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1),
        ],
        exception_handlers={
            SkyenvError: _mistake,
            ClientDisconnect: _mistake,  # nobody hears it
            404: _nothing,
            405: _nothing,
            Exception: _broken,
        },
    )


# ---- headers, mistakes, who is there ----


class _Headers:
    """Adds the security headers to every answer, and refuses other names and what comes from other
    sites' pages.
    """

    def __init__(self, app: ASGIApp, names: list[str] | None, public: str | None) -> None:
        self._app = app
        self._names = names
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                cache = {} if b"cache-control" in names else {"cache-control": "no-store"}
                if scope["path"].startswith("/static/"):
                    cache = {"cache-control": "no-cache"}  # ask each time whether it has changed
                extra = [
                    (name.encode(), value.encode()) for name, value in (HEADERS | cache).items()
                ]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        connection = HTTPConnection(scope)
        if self._names is not None and not is_called(connection.headers.get("host"), self._names):
            why, status = "unknown Host header; start the server with --public-host NAME", 400
        elif not _is_same_origin(connection, self._public):
            why, status = "this came from another site's page", 403
        else:
            await self._app(scope, receive, send_with_headers)
            return
        if scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(1008)
        else:
            await refusal(connection, why, status)(scope, receive, send_with_headers)


def _is_same_origin(connection: HTTPConnection, public: str | None) -> bool:
    """Whether a request that changes something comes from this server's own pages, or from no page
    at all.
    """
    if connection.scope["type"] == "http" and connection.scope["method"] in ("GET", "HEAD"):
        return True
    origin, host = connection.headers.get("origin"), connection.headers.get("host")
    if origin is None or (
        public and origin == f"https://{public}"
    ):  # whatever name the server before this one calls it by
        return True
    return host != public and origin.split("://", 1)[-1] == host


async def _mistake(request: Request, error: Exception) -> Response:
    status, told = (error.status, error.told) if isinstance(error, PageError) else (400, {})
    return refusal(request, f"{error!s:.500}", status, **told)  # some list all actions


async def _broken(request: Request, error: Exception) -> Response:
    """A mistake of ours, which the log tells; what would add the headers has been passed by."""
    answer = refusal(request, "something went wrong here; the server's log tells more", 500)
    answer.headers.update({**HEADERS, "cache-control": "no-store"})
    return answer


async def _nothing(request: Request, error: Exception) -> Response:
    return refusal(request, "there is no such page", getattr(error, "status_code", 404))
