"""The people at a table: names, who is there, who takes over a seat, spectators, rematch, takeback,
one screen for several.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.game_requests import checked_key
from skyenv.page.requests import json_object, people_of, seat_of, whole


async def _people(request: Request) -> Response:
    _, link, session = await seat_of(request)
    return JSONResponse(await people_of(request).payload(link, session))


async def _rename(request: Request) -> Response:
    value = await json_object(request)
    _, link, _ = await seat_of(request)
    await people_of(request).rename(link, value.get("name"), value.get("in_record"))
    return JSONResponse({})


async def _take_over(request: Request) -> Response:
    """An agent, by its name, or a person is to play a seat from now on."""
    value = await json_object(request)
    _, link, _ = await seat_of(request)
    seat = whole(request.path_params["seat"], "seat")
    if value.get("agent") is None:
        await people_of(request).let_person_play(link, seat)
    else:
        await people_of(request).let_agent_play(link, seat, str(value["agent"]))
    return JSONResponse({})


async def _spectators(request: Request) -> Response:
    _, link, _ = await seat_of(request)
    made = await people_of(request).spectators_link(link)
    return JSONResponse({"page": f"/seat/{made.token}"}, 201)


async def _withdraw(request: Request) -> Response:
    _, link, _ = await seat_of(request)
    await people_of(request).withdraw(link)
    return JSONResponse({})


async def _rematch(request: Request) -> Response:
    _, link, _ = await seat_of(request)
    made = await people_of(request).rematch(link)
    return JSONResponse({"page": f"/seat/{made.token}"}, 201)


async def _take_back(request: Request) -> Response:
    value = await json_object(request)
    _, link, session = await seat_of(request)
    session.check_uncovered(link)
    made = await people_of(request).take_back(link, checked_key(value))
    return JSONResponse({"page": f"/seat/{made.token}"}, 201)


async def _lift(request: Request) -> Response:
    _, link, _ = await seat_of(request)
    await people_of(request).lift(link)
    return JSONResponse({})


_SEAT: Final = "/api/seats/{token}"
ROUTES: Final[list[BaseRoute]] = [
    Route(f"{_SEAT}/people", _people, methods=["GET"]),
    Route(f"{_SEAT}/people/{{seat}}", _take_over, methods=["POST"]),
    Route(f"{_SEAT}/name", _rename, methods=["POST"]),
    Route(f"{_SEAT}/spectators", _spectators, methods=["POST"]),
    Route(f"{_SEAT}/spectators", _withdraw, methods=["DELETE"]),
    Route(f"{_SEAT}/rematch", _rematch, methods=["POST"]),
    Route(f"{_SEAT}/takeback", _take_back, methods=["POST"]),
    Route(f"{_SEAT}/lift", _lift, methods=["POST"]),
]
