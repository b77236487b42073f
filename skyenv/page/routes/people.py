"""URLs of the people at a table: presence, rematch, the lesson."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.requests import json_object, made, seat_of
from skyenv.page.table import people


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


_SEAT: Final = "/api/seats/{token}"
ROUTES: Final[list[BaseRoute]] = [
    Route(f"{_SEAT}/people", _people),
    Route(f"{_SEAT}/rematch", _rematch, methods=["POST"]),
    Route(f"{_SEAT}/lesson/back", _back, methods=["POST"]),
    Route(f"{_SEAT}/lesson/leave", _leave, methods=["POST"]),
]
