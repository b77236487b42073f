"""URLs of a seat: its state, its moves, its people, the lesson, and notification of changes."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from io import BytesIO
from typing import Final

import segno
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from skyenv.checks import check_number
from skyenv.errors import SkyenvError, shown
from skyenv.page.addresses import LOOPBACK_NAMES, is_called
from skyenv.page.agents.jobs import Question
from skyenv.page.errors import PageError
from skyenv.page.library.ending import ending
from skyenv.page.requests import (
    Handler,
    browser_of,
    integer,
    json_object,
    made,
    number,
    page,
    seat_of,
    server_of,
    theme,
    unless_gone,
)
from skyenv.page.routes.library import RECORD, attachment
from skyenv.page.storage import Link
from skyenv.page.table import people
from skyenv.page.table.new_games import checked_name
from skyenv.page.table.server import GameServer, Watcher, puzzle_number
from skyenv.page.table.session import Session
from skyenv.page.view.payloads import Payload, SeatView
from skyenv.page.view.recent import alea_since
from skyenv.render.parts import digests
from skyenv.render.text import text
from skyenv.render.words import TASK_PAYS

LONGEST_PAUSE: Final = 10.0


def tab_of(connection: HTTPConnection) -> str:
    """Return the name that a page has chosen for itself, as for :meth:`GameServer.tell`."""
    return connection.query_params.get("tab", "")


async def answer(request: Request, server: GameServer, link: Link, session: Session) -> Response:
    """Return the answer to a seat's action: with ``?page=1`` the full state."""
    if not number(request, "page"):
        return JSONResponse({})
    return await _state(request, server, link, session)


async def _table(request: Request) -> Response:
    """Return the full state of a seat."""
    try:
        server, link, session = await seat_of(request)
    except PageError as error:
        if error.status != 403 or not number(request, "page"):
            raise
        # A page that shows the new state needs no error for it.
        ways = "Ask for another seat's link, or start your own game.", "Take it to play here."
        advice = ways["free" in error.fields]
        return JSONResponse({"refused": f"{error}. {advice}", "free": False, **error.fields})
    return await _state(request, server, link, session)


async def _state(request: Request, server: GameServer, link: Link, session: Session) -> Response:
    about_people = await people.payload(server, session, link)
    if curtain := people.curtain(session, link):
        return JSONResponse({"curtain": curtain})
    viewer = session.viewer(link)
    after, behind = number(request, "after"), 0
    game = session.game
    if after is not None:
        game, behind = session.after(after)
    game = game.copy()
    can_act = session.is_human(link.seat) and not behind
    narrow = bool(number(request, "narrow"))
    view = SeatView(game, viewer, session.names(link.seat), theme(request), narrow, can_act=can_act)
    known = number(request, "lines") or 0
    if (number(request, "undone") or 0) != session.undone:
        known = 0  # they contain what was taken back
    is_owner = session.stored.owner == link.browser
    about: Payload = {  # of the same moment as the state: no await in between
        "step": int(game.state["decisions"]),
        "behind": behind,
        "alea": [] if after is None else alea_since(game.events, after),
        "undo": not behind and session.can_undo(link.seat),
        "undone": session.undone,
        "paused": session.paused,
        "pause": session.stored.pause,
        "trouble": session.trouble,
        "adviser": server.catalogue.adviser(session.stored.players, session.stored.side),
        "lesson": None if session.lesson is None else session.lesson.payload(),
        "puzzle": None if link.seat is None else _puzzle(session),
        "watching": link.seat is None,
        "open_hands": viewer is None,
        "owner": is_owner,
        "people": about_people,
        "invitations": [
            {"seat": each.seat, "page": f"/seat/{each.token}"}
            for each in session.links
            if is_owner and each.browser is None
        ],
    }
    parts = digests(request.query_params.get("drawn", ""))  # already on the page

    def whole() -> Response:
        is_told = game.is_over and game.options.task is None
        ended = ending(game, view.names, viewer) if is_told else None
        return JSONResponse(view.payload(known, parts) | about | {"ended": ended})

    return await asyncio.to_thread(whole)


def _puzzle(session: Session) -> Payload | None:
    """Return the puzzle that a game is: number, title with the day whose puzzle it is (from 2026
    on), what it pays, the number of the next deal, and how many decisions have been made.
    """
    number = puzzle_number(session.stored)
    if number is None:
        return None
    last, day = datetime.now(UTC).date().toordinal(), date.fromordinal(number)
    is_recent = day >= date(2026, 1, 1)
    return {
        "number": number,
        "title": f"Puzzle of {day.day} {day:%B} {day.year}" if is_recent else f"Puzzle {number}",
        "goal": f"Goal: {TASK_PAYS}",
        "next": number - 1 or last,
        "decisions": len(session.position.choices.made),
    }


def _doing(
    change: Callable[[GameServer, Session, Link, str], Awaitable[None] | None],
) -> Handler:
    """Return the handler of a request without a body; `change`: its effect."""

    async def do(request: Request) -> Response:
        server, link, session = await seat_of(request)
        if (effect := change(server, session, link, tab_of(request))) is not None:
            await effect
        return await answer(request, server, link, session)

    return do


async def _claim(request: Request) -> Response:
    """Take a seat, or change the name on it."""
    server, name = server_of(request), ""
    if request.headers.get("content-type", "").startswith("application/json"):
        name = checked_name((await json_object(request)).get("name", ""), server.catalogue.names)
    await server.claim(request.path_params["token"], browser_of(request), name)
    return JSONResponse({})


async def _delete_game(request: Request) -> Response:
    server = server_of(request)
    await server.delete(await server.link(request.path_params["token"], browser_of(request)))
    return JSONResponse({})


async def _act(request: Request) -> Response:
    value = await json_object(request)
    server, link, session = await seat_of(request)
    several = value.get("actions", [value.get("action")])
    if not isinstance(several, list):
        raise PageError("actions must be a list of numbers")
    actions = [integer(action, "action") for action in several]
    step = integer(value.get("step"), "step")
    await server.act(session, link, tab_of(request), actions, step)
    return await answer(request, server, link, session)


async def _pause(request: Request) -> Response:
    """Pause or resume agents, ``{"paused": …}``; set the time of moves, ``{"seconds": …}``."""
    value = await json_object(request)
    server, link, session = await seat_of(request)
    paused, seconds = value.get("paused"), value.get("seconds")
    if paused is None or seconds is not None:
        what = "the pause, in seconds,"
        seconds = check_number(what, seconds, 0.0, LONGEST_PAUSE, PageError)
    if paused is not None and not isinstance(paused, bool):
        raise PageError(f"paused must be true or false, not {shown(paused)}")
    await server.pace(session, link, paused, seconds)
    return JSONResponse({})


async def _hint(request: Request) -> Response:
    """Return an agent's hint for this seat; for a spectator who sees all hands, for the seat to act
    at the step shown.

    Spectators of people's games get none: a hint depends on the hand of the seat to act.
    """
    server, link, session = await seat_of(request)
    session.check_uncovered(link)
    viewer, shown = session.viewer(link), number(request, "step")
    if viewer not in (None, session.game.seat):
        raise PageError(
            "hints are available only for the seat to act, or in games without people", 409
        )
    game = session.game
    if viewer is None and shown is not None:
        game, _ = session.after(shown - 1)
    names, games = session.names(link.seat), number(request, "games") or 0
    question = Question(game.copy(), names, games)
    answer = server.hint(request.query_params.get("agent", ""), question)
    hint = await unless_gone(request, answer)
    return JSONResponse(hint | {"step": int(game.state["decisions"])})


async def _words(request: Request) -> Response:
    """Return the table as plain text."""
    _, link, session = await seat_of(request)
    session.check_uncovered(link)
    viewer = session.viewer(link)
    view = SeatView(session.game.copy(), viewer, session.names(link.seat))
    return JSONResponse({"text": await asyncio.to_thread(text, view.position)})


async def _record(request: Request) -> Response:
    _, _, session = await seat_of(request)
    return attachment(session.record().encode(), RECORD, "record.jsonl")


async def _replay_own(request: Request) -> Response:
    """Make a replay of a finished game."""
    server, link, session = await seat_of(request)
    record = session.record(session.names(link.seat)).encode()
    key, _ = await server.replays.add(record, str(link.browser))
    return JSONResponse({"page": f"/replay/{key}"}, 201)


async def _answer(request: Request) -> Response:
    """Return the exact worth of a seat's choices in a puzzle."""
    server, link, session = await seat_of(request)
    return JSONResponse(await unless_gone(request, server.answer(session, link)))


async def _people(request: Request) -> Response:
    server, link, session = await seat_of(request)
    return JSONResponse(await people.payload(server, session, link))


async def _rematch(request: Request) -> Response:
    server, link, session = await seat_of(request)
    return made(await people.rematch(server, session, link))


async def _back(request: Request) -> Response:
    """Go back a step in a lesson, or with ``{"restart": true}`` to its beginning."""
    value = await json_object(request)
    server, _, session = await seat_of(request)
    await server.repeat(session, value.get("restart") is True)
    return JSONResponse({})


async def _leave(request: Request) -> Response:
    """Continue from a lesson's position in a game."""
    value = await json_object(request)
    server, link, session = await seat_of(request)
    return made(await server.leave_lesson(session, link, str(value.get("agent"))))


async def _changes(socket: WebSocket) -> None:
    """Send a line for every change that this seat can see; the page then requests the state."""
    try:
        server, link, _ = await seat_of(socket)
        async with server.watching(link, tab_of(socket)) as watcher:
            await socket.accept()
            with contextlib.suppress(WebSocketDisconnect, asyncio.CancelledError):
                await _tell_changes(socket, watcher)
    except SkyenvError:
        await socket.close(1008)


async def _tell_changes(socket: WebSocket, watcher: Watcher) -> None:
    """Send changes until the browser disconnects, or the seat is given up."""
    leaving = asyncio.create_task(socket.receive())
    leaving.add_done_callback(lambda _: watcher.news.put_nowait(None))
    try:
        while what := await watcher.news.get():
            await socket.send_text(what)
        if not leaving.done():
            await socket.close(1008)
    finally:
        leaving.cancel()


async def _qr_code(request: Request) -> Response:
    """Return the QR code of a seat's address, for another device's camera; a picture of the reason
    why there is none where the address is that of every device itself.
    """
    storage = server_of(request).storage
    await storage.ask(storage.link, request.path_params["token"])  # refuses long ones, too
    if is_called(request.url.netloc, list(LOOPBACK_NAMES)):
        return Response(NO_CODE, media_type="image/svg+xml")
    address, picture = str(request.url).removesuffix("/qr"), BytesIO()
    segno.make(address, micro=False).save(picture, kind="svg", scale=4, light="white")
    return Response(picture.getvalue(), media_type="image/svg+xml")


# In place of the QR code of a loopback address.
NO_CODE: Final = """<svg xmlns="http://www.w3.org/2000/svg" width="310" height="56">
<rect width="100%" height="100%" fill="white"/><g font-family="sans-serif" font-size="14">
<text x="8" y="22">Other devices can't open this address.</text>
<text x="8" y="44">Start the server with --host 0.0.0.0.</text></g></svg>"""
_SEAT: Final = "/api/seats/{token}"
# What a seat's URLs below its own answer, by method.
_GET: Final[dict[str, Handler]] = {
    "answer": _answer,
    "hint": _hint,
    "words": _words,
    "record": _record,
    "people": _people,
}
_POST: Final[dict[str, Handler]] = {
    "claim": _claim,
    "release": _doing(GameServer.release),
    "act": _act,
    "undo": _doing(GameServer.undo),
    "pause": _pause,
    "next": _doing(GameServer.step),
    "lift": _doing(GameServer.lift),
    "replay": _replay_own,
    "rematch": _rematch,
    "lesson/back": _back,
    "lesson/leave": _leave,
}
ROUTES: Final[list[BaseRoute]] = [
    Route("/seat/{token}", page("table.html")),
    Route("/seat/{token}/qr", _qr_code),
    Route(_SEAT, _table),
    Route(_SEAT, _delete_game, methods=["DELETE"]),
    *(Route(f"{_SEAT}/{path}", handler) for path, handler in _GET.items()),
    *(Route(f"{_SEAT}/{path}", handler, methods=["POST"]) for path, handler in _POST.items()),
    WebSocketRoute(f"{_SEAT}/changes", _changes),
]
