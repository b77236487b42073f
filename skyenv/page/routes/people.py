"""URLs of the people at a table: presence, changes of player, rematch, takeback, the lesson."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page import people
from skyenv.page.errors import PageError
from skyenv.page.game_requests import checked_key
from skyenv.page.requests import json_object, made, seat_of, whole


async def _people(request: Request) -> Response:
    server, link, session = await seat_of(request)
    return JSONResponse(await people.payload(server, session, link))


async def _change_player(request: Request) -> Response:
    """Give a seat to an agent, ``{"agent": NAME}``, or to a person, ``{"agent": null}``."""
    agent = (await json_object(request)).get("agent")
    if agent is not None and not isinstance(agent, str):
        raise PageError("agent must be an agent's name, or null for a person")
    server, link, session = await seat_of(request)
    seat = whole(request.path_params["seat"], "seat")
    await people.change_player(server, session, link, seat, agent)
    return await _people(request)


async def _rematch(request: Request) -> Response:
    server, link, session = await seat_of(request)
    return made(await people.rematch(server, session, link))


async def _take_back(request: Request) -> Response:
    key = checked_key(await json_object(request))
    server, link, session = await seat_of(request)
    return made(await people.take_back(server, session, link, key))


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
    Route(f"{_SEAT}/people/{{seat}}", _change_player, methods=["POST"]),
    Route(f"{_SEAT}/rematch", _rematch, methods=["POST"]),
    Route(f"{_SEAT}/takeback", _take_back, methods=["POST"]),
    Route(f"{_SEAT}/lesson/back", _back, methods=["POST"]),
    Route(f"{_SEAT}/lesson/leave", _leave, methods=["POST"]),
]
