"""What a request says, read and checked: who asks, what was sent, numbers in addresses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from skyenv.checks import check_choice, check_integer, parse_integer
from skyenv.errors import shown
from skyenv.page.browsers import COOKIE, Browsers, new_token
from skyenv.page.errors import PageError
from skyenv.page.game_server import GameServer
from skyenv.page.payloads import THEMES
from skyenv.page.session import Session
from skyenv.page.storage import Link

COOKIE_SECONDS: Final = 365 * 24 * 3600
MOST_JSON: Final = 4096
"""Bytes of a request that isn't a record."""
PATIENCE: Final = 5.0
"""Seconds that a request's body may take to come in …"""
RATE: Final = 65_536
"""… and bytes of its limit that give it a second more."""
LOOK: Final = 0.1
"""Seconds between looks whether a browser that waits is still there."""
STATIC: Final = Path(str(files("skyenv.page"))) / "static"
Handler = Callable[[Request], Awaitable[Response]]
Answer = TypeVar("Answer")
_Values = ParamSpec("_Values")


def html(request: HTTPConnection, name: str, status: int = 200, **texts: str) -> Response:
    """A page; its addresses, written from the server's root, become relative to the request's, so
    that a reverse proxy may serve it below a path.

    Args:
        request: what is answered.
        name: the page's file.
        status: the HTTP status.
        texts: what takes the place of ``{name}`` in the file.
    """
    text = (STATIC / name).read_text(encoding="utf-8")
    for place, words in texts.items():
        text = text.replace(f"{{{place}}}", escape(words))
    root = "../" * (request.url.path.count("/") - 1) or "./"
    text = text.replace('href="/', f'href="{root}').replace('src="/', f'src="{root}')
    return HTMLResponse(text, status, {"cache-control": "no-cache"})


def refusal(request: HTTPConnection, message: str, status: int, **told: object) -> Response:
    """The answer to a request that is refused: a line that says why, and what else the page's
    scripts may need to know; a page, if a browser asks for one.
    """
    is_page = not request.url.path.startswith(("/api/", "/static/"))
    if not (is_page and "text/html" in request.headers.get("accept", "")):
        return JSONResponse({"error": message, **told}, status)
    title = "Getting ready" if "preparing" in told else "This page can't be shown"
    waits = "rules" if "preparing" in told else ""
    return html(request, "refused.html", status, title=title, message=message, waits=waits)


def name_of(connection: HTTPConnection) -> str | None:
    """The browser's own unguessable name; None: it tells none that this server has given it."""
    browsers: Browsers = connection.app.state.browsers
    return browsers.name(connection.cookies.get(COOKIE, ""))


def known(request: Request) -> str:
    """The browser's own unguessable name; a new one if it has none yet."""
    return name_of(request) or new_token()


def browser_of(connection: HTTPConnection) -> str:
    """The browser's own unguessable name.

    Raises:
        PageError: it has none yet: it has opened no page.
    """
    if name := name_of(connection):
        return name
    raise PageError("no session cookie: open the page in a browser first", 403)


def made(link: Link) -> Response:
    """The answer that leads to a game that was made."""
    return JSONResponse({"page": f"/seat/{link.token}"}, 201)


def page(name: str) -> Handler:
    """A page that is the same for all; it gives a browser its name."""

    async def page(request: Request) -> Response:
        return remembered(request, html(request, name), known(request))

    return page


def remembered(request: Request, response: Response, browser: str) -> Response:
    """The response, by which the browser learns its name."""
    browsers: Browsers = request.app.state.browsers
    is_https = (
        request.url.scheme == "https" or request.headers.get("host") == request.app.state.public
    )
    # Lax: links that people send each other must find the cookie; requests that change anything
    # check the origin.
    response.set_cookie(
        COOKIE,
        browsers.signed(browser),
        COOKIE_SECONDS,
        httponly=True,
        samesite="lax",
        secure=is_https,
    )
    return response


async def body(request: Request, limit: int) -> bytes:
    """What was sent, if it isn't too much.

    Raises:
        PageError: it is, or it comes too slowly.
    """
    if request.headers.get("content-encoding", "identity") != "identity":
        raise PageError("a request must not be compressed", 415)
    content = bytearray()
    try:
        async with asyncio.timeout(PATIENCE + limit / RATE):
            async for part in request.stream():
                content += part
                if len(content) > limit:
                    raise PageError(f"that is too large; at most {limit} bytes are taken", 413)
    except TimeoutError as error:
        raise PageError("the request comes in too slowly", 408) from error
    return bytes(content)


async def json_object(request: Request) -> dict[str, Any]:
    """The object that was sent.

    Raises:
        PageError: it is none.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise PageError("a request must be JSON (application/json)", 415)
    content = await body(request, MOST_JSON)
    try:
        value = json.loads(content)
        # "\ud800" can be written, but neither stored nor told.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise PageError("a request must be JSON") from error
    if not isinstance(value, dict):
        raise PageError(f"a request must be one JSON object, not {shown(value)}")
    return value


async def unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """Wait for something; if the browser goes meanwhile, it is cancelled.

    Nothing that was sent can be read afterwards.

    Raises:
        ClientDisconnect: the browser has gone.
        PageError: the page ends.
    """
    task, ending = asyncio.create_task(work), server_of(request).ending
    try:
        while not (await asyncio.wait([task], timeout=LOOK))[0]:
            if ending.is_set():
                raise PageError("the page has been ended", 503)
            if await request.is_disconnected():
                raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def from_disk(
    request: Request, read: Callable[_Values, Answer], *values: _Values.args, **more: _Values.kwargs
) -> Answer:
    """What is read of folders, whose disk may be slow: only some of the threads wait for it."""
    reading: asyncio.Semaphore = request.app.state.reading
    async with reading:
        return await asyncio.to_thread(read, *values, **more)


def integer(value: object, name: str) -> int:
    """A number that was sent; `name`: what it is called.

    Raises:
        PageError: it is no whole number, or far too large.
    """
    return check_integer(name, value, -(1 << 31), 1 << 31, PageError)


def theme(request: Request) -> str:
    """The theme that is asked for.

    Raises:
        PageError: there is no such theme.
    """
    return check_choice("theme", request.query_params.get("theme", THEMES[0]), THEMES, PageError)


def number(request: Request, name: str) -> int | None:
    """A number in what follows the question mark of an address; None if it isn't there."""
    digits = request.query_params.get(name, "")
    return None if digits == "" else whole(digits, name)


def whole(digits: str, name: str) -> int:
    """A number in an address; `name`: what it is called.

    Raises:
        PageError: it is no whole number, or has more than nine digits.
    """
    number = parse_integer(digits, 0, 10**9 - 1)
    if number is None:
        raise PageError(f"{name} must be a whole number, not {shown(digits)}")
    return number


def server_of(connection: HTTPConnection) -> GameServer:
    """The games of the server that was asked."""
    server: GameServer = connection.app.state.server
    return server


async def seat_of(connection: HTTPConnection) -> tuple[GameServer, Link, Session]:
    """The server, the link in the address and its game, if the link is this browser's.

    Raises:
        PageError: it isn't.
    """
    server = server_of(connection)
    link = await server.link(connection.path_params["token"], browser_of(connection))
    return server, link, await server.session(link)
