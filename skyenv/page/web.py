"""The ASGI application: headers, error handlers and lifespan; URLs are in
:mod:`skyenv.page.routes`.

Only these modules and :mod:`~skyenv.page.requests` use Starlette.
"""

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
from skyenv.page.agents.catalogue import Catalogue
from skyenv.page.errors import PageError
from skyenv.page.library.games import Library
from skyenv.page.requests import STATIC, refusal
from skyenv.page.routes import analysis, library, lobby, replays, seats
from skyenv.page.storage import Storage
from skyenv.page.table.server import GameServer
from skyenv.page.workers import Workers
from skyenv.runtime import shortage

# The modules of routes, in matching order.
PARTS: Final = (lobby, seats, analysis, replays, library)
# Threads for drawing and reading: with Python's GIL, more would only delay the event loop.
THREADS: Final = 4
# How many of them may block on folders of games.
READERS: Final = 2
# The headers of every answer.
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # addresses of seats are secret
    "x-content-type-options": "nosniff",
}


def application(
    storage: Storage,
    catalogue: Catalogue,
    hosts: list[str] | None = None,
    public: str | None = None,
    workers: Workers | None = None,
    library: Library | None = None,
) -> Starlette:
    """Return the page as an ASGI application.

    Args:
        storage: the database; closed when the application ends.
        catalogue: the agents that can be chosen.
        hosts: allowed names in the Host header; None: any. On loopback a fixed list defends against
            DNS rebinding.
        public: the host name of an HTTPS reverse proxy, with its port if it isn't 443.
        workers: the processes that run agents and compile; ended with the application. None:
            threads of this process, without preparation: code is compiled on first use.
        library: recorded games, visible to every browser; None: no library.
    """
    names = None if hosts is None else [*hosts, *([public.partition(":")[0]] if public else [])]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "page"))
        app.state.reading = asyncio.Semaphore(READERS)
        app.state.server = GameServer(storage, catalogue, workers)
        app.state.key = await storage.ask(storage.key)
        app.state.public = public
        app.state.library = library
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
            # Higher levels cost more time than they save.
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1),
        ],
        exception_handlers={
            SkyenvError: _mistake,
            ClientDisconnect: _mistake,  # the client has gone
            404: _nothing,
            405: _nothing,
            Exception: _broken,
        },
    )


# ---- headers and errors ----


class _Headers:
    """Middleware that adds security headers, and refuses unknown hosts and cross-site requests."""

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
                    cache = {"cache-control": "no-cache"}  # revalidate each time
                extra = [
                    (name.encode(), value.encode()) for name, value in (HEADERS | cache).items()
                ]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        connection = HTTPConnection(scope)
        if self._names is not None and not is_called(connection.headers.get("host"), self._names):
            why, status = "unknown Host header; start the server with --public-host NAME", 400
        elif not _is_same_origin(connection, self._public):
            why, status = "cross-site request refused; use the server's own pages", 403
        else:
            await self._app(scope, receive, send_with_headers)
            return
        if scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(1008)
        else:
            await refusal(connection, why, status)(scope, receive, send_with_headers)


def _is_same_origin(connection: HTTPConnection, public: str | None) -> bool:
    """Return whether a modifying request comes from this server's own pages, or from a client that
    is no browser.
    """
    if connection.scope["type"] == "http" and connection.scope["method"] in ("GET", "HEAD"):
        return True
    origin, host = connection.headers.get("origin"), connection.headers.get("host")
    if origin is None or (
        public and origin == f"https://{public}"
    ):  # whatever Host the reverse proxy sends
        return True
    return host != public and origin.split("://", 1)[-1] == host


async def _mistake(request: Request, error: Exception) -> Response:
    status, fields = (error.status, error.fields) if isinstance(error, PageError) else (400, {})
    return refusal(request, f"{error!s:.500}", status, **fields)  # some messages list all actions


async def _broken(request: Request, error: Exception) -> Response:
    """Answer an internal error, which the log shows; the middleware's headers are added here."""
    text, status = "internal error; see the server's log", 500
    if why := shortage(error):
        text, status = f"{why} on the server; try again later", 503
    answer = refusal(request, text, status)
    answer.headers.update({**HEADERS, "cache-control": "no-store"})
    return answer


async def _nothing(request: Request, error: Exception) -> Response:
    return refusal(request, "there is no such page", getattr(error, "status_code", 404))
