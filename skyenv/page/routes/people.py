"""The people at a table: who is there, who plays which seat, spectators, rematch, takeback."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.errors import PageError
from skyenv.page.game_requests import checked_key
from skyenv.page.requests import json_object, people_of, seat_of, whole


async def _people(request: Request) -> Response:
    _, link, session = await seat_of(request)
    return JSONResponse(await people_of(request).payload(link, session))


async def _change_player(request: Request) -> Response:
    """``{"agent": NAME}``: an agent is to play a seat; ``{"agent": null}``: a person."""
    agent = (await json_object(request)).get("agent")
    if agent is not None and not isinstance(agent, str):
        raise PageError("agent must be an agent's name, or null for a person")
    _, link, _ = await seat_of(request)
    await people_of(request).change_player(link, whole(request.path_params["seat"], "seat"), agent)
    return await _people(request)


async def _rematch(request: Request) -> Response:
    _, link, _ = await seat_of(request)
    made = await people_of(request).rematch(link)
    return JSONResponse({"page": f"/seat/{made.token}"}, 201)


async def _take_back(request: Request) -> Response:
    key = checked_key(await json_object(request))
    _, link, _ = await seat_of(request)
    made = await people_of(request).take_back(link, key)
    return JSONResponse({"page": f"/seat/{made.token}"}, 201)


_SEAT: Final = "/api/seats/{token}"
ROUTES: Final[list[BaseRoute]] = [
    Route(f"{_SEAT}/people", _people, methods=["GET"]),
    Route(f"{_SEAT}/people/{{seat}}", _change_player, methods=["POST"]),
    Route(f"{_SEAT}/rematch", _rematch, methods=["POST"]),
    Route(f"{_SEAT}/takeback", _take_back, methods=["POST"]),
]
