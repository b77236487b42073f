"""Editing a position: what can be changed, and the position that comes of it, which is looked at
like a replay.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.browsers import new_token
from skyenv.page.editor import Edited, described, edited
from skyenv.page.kept import Kept
from skyenv.page.requests import browser_of, client_of, json_object, server_of
from skyenv.page.routes.replays import EDITED, GAME, found, step_of


async def _what(request: Request) -> Response:
    replay = await found(request)
    return JSONResponse(described(replay.states[replay.checked(step_of(request))]))


async def _edit(request: Request) -> Response:
    replay, edit = await found(request), await json_object(request)
    position = await server_of(request).drawers.ask(
        browser_of(request), edited, replay, step_of(request), edit
    )
    positions: Kept[tuple[str, str], Edited] = request.app.state.edited
    key = EDITED + new_token()
    positions.add((browser_of(request), key), position, client_of(request))
    return JSONResponse({"page": f"/replay/{key}"}, 201)


ROUTES: Final[list[BaseRoute]] = [
    Route(f"{GAME}/{{step}}/edit", _what, methods=["GET"]),
    Route(f"{GAME}/{{step}}/edit", _edit, methods=["POST"]),
]
