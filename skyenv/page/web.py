"""The page's web server: addresses, checks of what comes in, headers of what goes out. The only module that knows Starlette."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from skyenv.checks import parse_integer
from skyenv.errors import PageError, SkyenvError, shown
from skyenv.page.browsers import COOKIE, Browsers, new_token
from skyenv.page.catalogue import Catalogue
from skyenv.page.game_server import GameRequest, GameServer, snapshot
from skyenv.page.hints import hint
from skyenv.page.payloads import THEMES, Look, Payload, hint_payload
from skyenv.page.replays import Replay
from skyenv.page.session import Session
from skyenv.page.storage import Link, Storage

COOKIE_SECONDS: Final = 365 * 24 * 3600
MOST_JSON: Final = 4096
"""Bytes of a request that isn't a record."""
MOST_RECORD: Final = 8 << 20
"""Bytes of a record."""
PATIENCE: Final = 60.0
"""Seconds that a request may take to come in."""
MOST_SAID: Final = 500
"""Characters of a message."""
MOST_LISTED: Final = 40
"""Games in the lobby's list, the newest ones."""
STATIC: Final = Path(str(files("skyenv.page"))) / "static"
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # addresses of seats are secret
    "x-content-type-options": "nosniff",
}
Handler = Callable[[Request], Awaitable[Response]]


def application(storage: Storage, catalogue: Catalogue, hosts: list[str] | None = None, public: str | None = None) -> Starlette:
    """The page as an ASGI application.

    Args:
        storage: the database; closed when the application ends.
        catalogue: the agents that can be chosen.
        hosts: names that a request may call the server by; None: any. On loopback a fixed list keeps other sites' pages out,
            whatever address their names point to.
        public: the name, with its port if it isn't 443, by which browsers call a server with HTTPS before this one.
    """
    names = None if hosts is None else [*hosts, *([public.partition(":")[0]] if public else [])]

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.server = GameServer(storage, catalogue)
        app.state.browsers = Browsers(storage.key())
        app.state.public = public
        yield
        await app.state.server.close()
        storage.close()

    return Starlette(
        routes=_routes(),
        lifespan=lifespan,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=["*"] if names is None else names, www_redirect=False),
            Middleware(_Headers, public=public),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1),
        ],
        exception_handlers={SkyenvError: _mistake, ClientDisconnect: _gone, 404: _nothing, 405: _nothing},
    )


def _routes() -> list[Route | Mount | WebSocketRoute]:
    get, post, delete = ["GET"], ["POST"], ["DELETE"]
    return [
        Route("/", _page("lobby.html"), methods=get),
        Route("/seat/{token}", _page("table.html"), methods=get),
        Route("/replay/{key}", _page("replay.html"), methods=get),
        Route("/api/options", _options, methods=get),
        Route("/api/games", _list_games, methods=get),
        Route("/api/games", _make_game, methods=post),
        Route("/api/seats/{token}", _table, methods=get),
        Route("/api/seats/{token}", _delete_game, methods=delete),
        Route("/api/seats/{token}/claim", _claim, methods=post),
        Route("/api/seats/{token}/release", _release, methods=post),
        Route("/api/seats/{token}/act", _act, methods=post),
        Route("/api/seats/{token}/undo", _undo, methods=post),
        Route("/api/seats/{token}/pause", _pause, methods=post),
        Route("/api/seats/{token}/hint", _hint, methods=get),
        Route("/api/seats/{token}/words", _words, methods=get),
        Route("/api/seats/{token}/record", _record, methods=get),
        Route("/api/seats/{token}/replay", _replay_own, methods=post),
        WebSocketRoute("/api/seats/{token}/changes", _changes),
        Route("/api/replays", _open_record, methods=post),
        Route("/api/replays/{key}", _games_of_record, methods=get),
        Route("/api/replays/{key}/{game}", _replay, methods=get),
        Route("/api/replays/{key}/{game}/{step}", _replay_step, methods=get),
        Route("/api/replays/{key}/{game}/{step}/hint", _replay_hint, methods=get),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


# ---- headers, mistakes, who is there ----


class _Headers:
    """Adds the security headers to every answer, and refuses what comes from other sites' pages."""

    def __init__(self, app: ASGIApp, public: str | None) -> None:
        self._app = app
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if not _is_same_origin(HTTPConnection(scope), self._public):
            if scope["type"] == "websocket":
                await WebSocket(scope, receive, send).close(1008)
            else:
                await _error("this came from another site's page", 403)(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                cache = {} if b"cache-control" in names else {"cache-control": "no-store"}
                if scope["path"].startswith("/static/"):
                    cache = {"cache-control": "no-cache"}  # ask each time whether it has changed
                extra = [(name.encode(), value.encode()) for name, value in (HEADERS | cache).items()]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _is_same_origin(connection: HTTPConnection, public: str | None) -> bool:
    """Whether a request that changes something comes from this server's own pages, or from no page at all."""
    if connection.scope["type"] == "http" and connection.scope["method"] in ("GET", "HEAD"):
        return True
    origin, host = connection.headers.get("origin"), connection.headers.get("host")
    if origin is None or (public and origin == f"https://{public}"):  # whatever name the server before this one calls it by
        return True
    return host != public and origin.split("://", 1)[-1] == host


async def _mistake(request: Request, error: Exception) -> Response:
    message = str(error)
    if len(message) > MOST_SAID:
        message = f"{message[:MOST_SAID]} …"
    return _error(message, error.status if isinstance(error, PageError) else 400)


async def _gone(request: Request, error: Exception) -> Response:
    """Nobody hears this: the browser left while it was sending."""
    return _error("the browser has gone", 400)


async def _nothing(request: Request, error: Exception) -> Response:
    return _error("there is no such page", getattr(error, "status_code", 404))


def _error(message: str, status: int) -> Response:
    return JSONResponse({"error": message}, status)


def _browser(connection: HTTPConnection) -> str:
    """The browser's own unguessable name.

    Raises:
        PageError: it has none yet: it has opened no page.
    """
    browsers: Browsers = connection.app.state.browsers
    name = browsers.name(connection.cookies.get(COOKIE, ""))
    if name is None:
        raise PageError("open the page first; it needs cookies", 403)
    return name


def _page(name: str) -> Handler:
    """A page that is the same for all; it gives a browser its name."""

    async def page(request: Request) -> Response:
        response = FileResponse(STATIC / name, headers={"cache-control": "no-cache"})
        browsers: Browsers = request.app.state.browsers
        value = browsers.signed(browsers.name(request.cookies.get(COOKIE, "")) or new_token())
        is_https = request.url.scheme == "https" or request.headers.get("host") == request.app.state.public
        # Lax: links that people send each other must find the cookie; requests that change anything check the origin.
        response.set_cookie(COOKIE, value, COOKIE_SECONDS, httponly=True, samesite="lax", secure=is_https)
        return response

    return page


async def _body(request: Request, limit: int) -> bytes:
    """What was sent, if it isn't too much.

    Raises:
        PageError: it is, or it comes too slowly.
    """
    content = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                content += part
                if len(content) > limit:
                    raise PageError(f"that is too large; at most {limit} bytes are taken", 413)
    except TimeoutError as error:
        raise PageError(f"the request has not come in within {PATIENCE:g} seconds", 408) from error
    return bytes(content)


async def _json(request: Request) -> dict[str, Any]:
    """The object that was sent.

    Raises:
        PageError: it is none.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise PageError("a request must be JSON (application/json)", 415)
    content = await _body(request, MOST_JSON)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise PageError("the request is no JSON") from error
    if not isinstance(value, dict):
        raise PageError(f"a request must be one JSON object, not {shown(value)}")
    return value


def _integer(value: object, name: str) -> int:
    if type(value) is not int or abs(value) > 1 << 31:
        raise PageError(f"{name} must be a whole number, not {shown(value)}")
    return value


def _theme(request: Request) -> str:
    theme = request.query_params.get("theme", THEMES[0])
    if theme not in THEMES:
        raise PageError(f"theme must be one of {', '.join(THEMES)}, not {shown(theme)}")
    return theme


def _number(request: Request, name: str) -> int | None:
    """A number in what follows the question mark of an address; None if it isn't there."""
    digits = request.query_params.get(name, "")
    return None if digits == "" else _whole(digits, name)


def _whole(digits: str, name: str) -> int:
    number = parse_integer(digits, 0, 10**9 - 1)
    if number is None:
        raise PageError(f"{name} must be a whole number, not {shown(digits)}")
    return number


def _server(connection: HTTPConnection) -> GameServer:
    server: GameServer = connection.app.state.server
    return server


def _seat(connection: HTTPConnection) -> tuple[GameServer, Link, Session]:
    """The server, the link in the address and its game, if the link is this browser's.

    Raises:
        PageError: it isn't.
    """
    server = _server(connection)
    link = server.link(connection.path_params["token"], _browser(connection))
    return server, link, server.session(link.game)


# ---- the lobby ----


async def _options(request: Request) -> Response:
    return JSONResponse({"agents": _server(request).catalogue.describe()})


async def _make_game(request: Request) -> Response:
    server = _server(request)
    browser = _browser(request)
    link = server.make(GameRequest.checked(await _json(request), server.catalogue), browser)
    return JSONResponse({"page": f"/seat/{link.token}"}, 201)


async def _list_games(request: Request) -> Response:
    """The games in which this browser has a seat, or that it watches."""
    server = _server(request)
    payload: list[Payload] = []
    for link in server.storage.links_of(_browser(request))[:MOST_LISTED]:
        try:
            session = server.session(link.game)
        except PageError as error:  # another version's game
            owner = server.storage.game(link.game).owner == link.browser
            payload.append({"page": f"/seat/{link.token}", "error": str(error), "owner": owner})
            continue
        game = session.game
        state = "over" if game.is_over else "your turn" if game.seat == link.seat else f"seat {game.seat} is to act"
        payload.append(
            {
                "page": f"/seat/{link.token}",
                "seat": link.seat,
                "names": session.names(link.seat),
                "side": game.side,
                "owner": session.stored.owner == link.browser,
                "created": session.stored.created,
                "turn": game.turn,
                "scores": game.scores,
                "state": state,
            }
        )
    return JSONResponse({"games": payload})


# ---- a seat ----


async def _table(request: Request) -> Response:
    """All that a seat is told."""
    server, link, session = _seat(request)
    narrow = bool(_number(request, "narrow"))
    look = Look(snapshot(session, link.seat), link.seat, session.names(link.seat), _theme(request), narrow)
    about: Payload = {
        "step": session.step_of(link.seat),
        "undo": session.can_undo(link.seat),
        "pause": session.stored.pause,
        "trouble": session.trouble,
        "watching": link.seat is None,
        "owner": session.stored.owner == link.browser,
        "invitations": [
            {"seat": other.seat, "page": f"/seat/{other.token}"} for other in server.invitations(session, str(link.browser))
        ],
    }
    payload = await asyncio.to_thread(look.payload, _number(request, "lines") or 0)
    return JSONResponse(payload | about)


async def _claim(request: Request) -> Response:
    _server(request).claim(request.path_params["token"], _browser(request))
    return JSONResponse({})


async def _release(request: Request) -> Response:
    server, link, _ = _seat(request)
    server.release(link)
    return JSONResponse({})


async def _delete_game(request: Request) -> Response:
    server = _server(request)
    browser = _browser(request)
    server.delete(server.link(request.path_params["token"], browser), browser)
    return JSONResponse({})


async def _act(request: Request) -> Response:
    value = await _json(request)
    server, link, _ = _seat(request)
    server.act(link, _integer(value.get("action"), "action"), _integer(value.get("step"), "step"))
    return JSONResponse({})


async def _undo(request: Request) -> Response:
    server, link, _ = _seat(request)
    server.undo(link)
    return JSONResponse({})


async def _pause(request: Request) -> Response:
    value = await _json(request)
    server, link, _ = _seat(request)
    server.set_pause(link, value.get("seconds"))
    return JSONResponse({})


async def _hint(request: Request) -> Response:
    """What an agent would do on this seat now."""
    server, link, session = _seat(request)
    if link.seat is None or session.game.seat != link.seat:
        raise PageError("hints are for the seat that is to act", 409)
    game = snapshot(session, link.seat)
    entry = server.catalogue[request.query_params.get("agent", "")]
    payload = await server.ask(entry, lambda: hint_payload(hint(entry, game), game, entry.name))
    return JSONResponse(payload | {"step": session.step_of(link.seat)})


async def _words(request: Request) -> Response:
    """The table as plain text."""
    _, link, session = _seat(request)
    look = Look(snapshot(session, link.seat), link.seat, session.names(link.seat))
    return JSONResponse({"text": await asyncio.to_thread(look.in_words)})


async def _record(request: Request) -> Response:
    _, _, session = _seat(request)
    headers = {"content-disposition": 'attachment; filename="fifth-avenue.jsonl"'}
    return Response(session.record(), media_type="application/jsonl; charset=utf-8", headers=headers)


async def _replay_own(request: Request) -> Response:
    """Make a replay of a game that is over."""
    server, link, session = _seat(request)
    key, _ = await server.add_replay(session.record().encode(), str(link.browser))
    return JSONResponse({"page": f"/replay/{key}"}, 201)


async def _changes(socket: WebSocket) -> None:
    """Sends a line whenever this seat sees something new; the page then asks for it."""
    try:
        server, link, _ = _seat(socket)
    except SkyenvError:
        await socket.close(1008)
        return
    await socket.accept()
    with server.watching(link) as watcher, contextlib.suppress(WebSocketDisconnect, asyncio.CancelledError):
        leaving = asyncio.create_task(socket.receive())
        try:
            while not leaving.done():
                waking = asyncio.create_task(watcher.changed.wait())
                await asyncio.wait([waking, leaving], return_when=asyncio.FIRST_COMPLETED)
                waking.cancel()
                if watcher.changed.is_set():
                    watcher.changed.clear()
                    await socket.send_text("changed")
        finally:
            leaving.cancel()


# ---- replays ----


async def _open_record(request: Request) -> Response:
    server, browser = _server(request), _browser(request)
    async with server.receiving:
        key, games = await server.add_replay(await _body(request, MOST_RECORD), browser)
    return JSONResponse({"page": f"/replay/{key}", "games": len(games)}, 201)


async def _games_of_record(request: Request) -> Response:
    server = _server(request)
    games = await server.summaries(request.path_params["key"], _browser(request))
    return JSONResponse({"games": [vars(game) for game in games], "agents": server.catalogue.describe()})


async def _found(request: Request) -> Replay:
    number = _whole(request.path_params["game"], "game")
    return await _server(request).replay(request.path_params["key"], number, _browser(request))


def _step(request: Request) -> int:
    return _whole(request.path_params["step"], "step")


async def _replay(request: Request) -> Response:
    replay = await _found(request)
    return JSONResponse(await asyncio.to_thread(replay.payload))


async def _replay_step(request: Request) -> Response:
    replay = await _found(request)
    narrow = bool(_number(request, "narrow"))
    draw = partial(replay.drawing, _step(request), _number(request, "seat"), _theme(request), narrow)
    return JSONResponse({"svg": await asyncio.to_thread(draw)})


async def _replay_hint(request: Request) -> Response:
    replay = await _found(request)
    entry = _server(request).catalogue[request.query_params.get("agent", "")]
    step = _step(request)

    def ask() -> Payload:
        game = replay.at(step)
        return hint_payload(hint(entry, game), game, entry.name)

    return JSONResponse(await _server(request).ask(entry, ask))
