"""Reading and checking of requests: the browser, the body, numbers in the URL."""

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
from skyenv.page.browsers import COOKIE, name_in, new_token, signed
from skyenv.page.errors import PageError
from skyenv.page.storage import Link
from skyenv.page.table.server import GameServer
from skyenv.page.table.session import Session
from skyenv.page.view.payloads import THEMES, Payload
from skyenv.page.workers import Job, Keep, Name

COOKIE_SECONDS: Final = 365 * 24 * 3600
# Largest request body, except for records, in bytes.
MAX_JSON: Final = 4096
# Seconds between checks whether a waiting client is still connected.
LOOK: Final = 0.1
STATIC: Final = Path(str(files("skyenv.page"))) / "static"
# Of a job's URL: progress, start, stop.
JOB_METHODS: Final = ["GET", "POST", "DELETE"]
Handler = Callable[[Request], Awaitable[Response]]
Answer = TypeVar("Answer")
_Values = ParamSpec("_Values")


def html(request: HTTPConnection, name: str, status: int = 200, **texts: str) -> Response:
    """Return an HTML page. Its root-relative URLs become relative to the request's, so that a
    reverse proxy may serve it below a path.

    Args:
        request: the request.
        name: the page's file.
        status: the HTTP status.
        texts: replacements for ``{name}`` in the file.
    """
    text = (STATIC / name).read_text(encoding="utf-8")
    for place, words in texts.items():
        text = text.replace(f"{{{place}}}", escape(words))
    root = "../" * (request.url.path.count("/") - 1) or "./"
    text = text.replace('href="/', f'href="{root}').replace('src="/', f'src="{root}')
    return HTMLResponse(text, status, {"cache-control": "no-cache"})


def refusal(request: HTTPConnection, message: str, status: int, **fields: object) -> Response:
    """Return the answer to a refused request: a message and further fields as JSON, or an HTML
    page if the client asks for one.
    """
    is_page = not request.url.path.startswith(("/api/", "/static/"))
    if not (is_page and "text/html" in request.headers.get("accept", "")):
        return JSONResponse({"error": message, **fields}, status)
    return html(request, "refused.html", status, message=message)


def name_of(connection: HTTPConnection) -> str | None:
    """Return the browser's name from its signed cookie; None if there is no valid one."""
    return name_in(connection.app.state.key, connection.cookies.get(COOKIE, ""))


def known(request: Request) -> str:
    """Return the browser's name; a new one if it has none yet."""
    return name_of(request) or new_token()


def browser_of(connection: HTTPConnection) -> str:
    """Return the browser's name.

    Raises:
        PageError: it has none, as it has opened no page.
    """
    if name := name_of(connection):
        return name
    raise PageError("no session cookie: open the page in a browser first", 403)


def made(link: Link) -> Response:
    """Return the answer with the URL of a new game."""
    return JSONResponse({"page": f"/seat/{link.token}"}, 201)


def page(name: str) -> Handler:
    """Return the handler of a static page, which also gives the browser its name."""

    async def page(request: Request) -> Response:
        return remembered(request, html(request, name), known(request))

    return page


def remembered(request: Request, response: Response, browser: str) -> Response:
    """Return the response with the cookie that holds the browser's name."""
    is_https = (
        request.url.scheme == "https" or request.headers.get("host") == request.app.state.public
    )
    # Lax: the cookie must be sent when a shared link is opened; requests that change anything
    # check the origin.
    response.set_cookie(
        COOKIE,
        signed(request.app.state.key, browser),
        COOKIE_SECONDS,
        httponly=True,
        samesite="lax",
        secure=is_https,
    )
    return response


async def body(request: Request, limit: int) -> bytes:
    """Return the request body.

    Raises:
        PageError: the body is too large, or compressed.
    """
    if request.headers.get("content-encoding", "identity") != "identity":
        raise PageError("a request must not be compressed", 415)
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > limit:
            raise PageError(f"the request body exceeds {limit} bytes", 413)
    return bytes(content)


async def json_object(request: Request) -> dict[str, Any]:
    """Return the JSON object in the request body.

    Raises:
        PageError: the body is no JSON object.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise PageError("a request must be JSON (application/json)", 415)
    content = await body(request, MAX_JSON)
    try:
        value = json.loads(content)
        # "\ud800" is valid JSON, but can't be encoded as UTF-8.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise PageError("a request must be JSON") from error
    if not isinstance(value, dict):
        raise PageError(f"a request must be one JSON object, not {shown(value)}")
    return value


async def unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """Await a coroutine; cancel it if the client disconnects.

    The request body can't be read afterwards.

    Raises:
        ClientDisconnect: the client has disconnected.
        PageError: the server shuts down.
    """
    task, ending = asyncio.create_task(work), server_of(request).ending
    try:
        while not (await asyncio.wait([task], timeout=LOOK))[0]:
            if ending.is_set():
                raise PageError("the server is shutting down", 503)
            if await request.is_disconnected():
                raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def from_disk(
    request: Request, read: Callable[_Values, Answer], *values: _Values.args, **more: _Values.kwargs
) -> Answer:
    """Call a function that reads folders in one of a few threads, as the disk may be slow."""
    reading: asyncio.Semaphore = request.app.state.reading
    async with reading:
        return await asyncio.to_thread(read, *values, **more)


def integer(value: object, name: str) -> int:
    """Return an integer from JSON; `name` appears in the error.

    Raises:
        PageError: the value is no integer, or far too large.
    """
    return check_integer(name, value, -(1 << 31), 1 << 31, PageError)


def theme(request: Request) -> str:
    """Return the theme in the query string.

    Raises:
        PageError: there is no such theme.
    """
    return check_choice("theme", request.query_params.get("theme", THEMES[0]), THEMES, PageError)


def number(request: Request, name: str) -> int | None:
    """Return a number in the query string; None if it is absent."""
    digits = request.query_params.get(name, "")
    return None if digits == "" else whole(digits, name)


def whole(digits: str, name: str) -> int:
    """Return a number in a URL; `name` appears in the error.

    Raises:
        PageError: `digits` is no whole number, or has more than nine digits.
    """
    number = parse_integer(digits, 0, 10**9 - 1)
    if number is None:
        raise PageError(f"{name} must be a whole number, not {shown(digits)}")
    return number


def server_of(connection: HTTPConnection) -> GameServer:
    """Return the game server of the application."""
    server: GameServer = connection.app.state.server
    return server


async def seat_of(connection: HTTPConnection) -> tuple[GameServer, Link, Session]:
    """Return the server, the link in the URL and its game.

    Raises:
        PageError: the link isn't this browser's.
    """
    server = server_of(connection)
    link = await server.link(connection.path_params["token"], browser_of(connection))
    return server, link, await server.session(link)


def work(
    make: Callable[[Request], Awaitable[tuple[Name, Job[Any], Keep | None]]],
    told: Callable[[Request, Payload], Awaitable[Payload]] | None = None,
) -> Handler:
    """Return the handler of a job's URL.

    Args:
        make: returns the job's name, after the browser's, the job, which POST starts, and what
            stores its findings.
        told: returns the findings of a job that is done as they are sent.
    """

    async def handle(request: Request) -> Response:
        background = server_of(request).background
        own, job, keep = await make(request)
        name = browser_of(request), *own
        if request.method == "POST":
            there = background.start(name, job, keep)
        else:
            there = background.get(name) if request.method == "GET" else await background.stop(name)
        if told is not None and there.state == "done":
            there.found = await told(request, there.found)
        return JSONResponse(there.payload(), 202 if request.method == "POST" else 200)

    return handle
