"""What teaches the game: the rules, and the lesson."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.errors import PageError
from skyenv.page.requests import json_object, known, name_of, page, remembered, seat_of, server_of

RETURNED: Final = "returned"
"""Tells in the address that the browser has been sent its name."""
_LESSON: Final = "/api/seats/{token}/lesson"


async def _tutorial(request: Request) -> Response:
    """Go to the browser's lesson.

    One without a name gets it first, lest each request of a program makes a game.
    """
    if name_of(request) is None:
        if RETURNED in request.query_params:
            raise PageError("the lesson needs cookies; allow them for this page", 403)
        return remembered(request, RedirectResponse(f"tutorial?{RETURNED}=1", 303), known(request))
    browser = known(request)
    link = await server_of(request).lesson(browser)
    return remembered(request, RedirectResponse(f"seat/{link.token}", 303), browser)


async def _back(request: Request) -> Response:
    """Go back a step in a lesson, or with ``{"anew": true}`` to its beginning."""
    value = await json_object(request)
    server, _, session = await seat_of(request)
    await server.repeat(session, value.get("anew") is True)
    return JSONResponse({})


async def _leave(request: Request) -> Response:
    """Play on freely from where a lesson stands."""
    value = await json_object(request)
    server, link, session = await seat_of(request)
    made = await server.leave_lesson(session, link, str(value.get("agent")))
    return JSONResponse({"page": f"/seat/{made.token}"}, 201)


ROUTES: Final[list[BaseRoute]] = [
    Route("/rules", page("rules.html"), methods=["GET"]),
    Route("/tutorial", _tutorial, methods=["GET"]),
    Route(f"{_LESSON}/back", _back, methods=["POST"]),
    Route(f"{_LESSON}/leave", _leave, methods=["POST"]),
]
