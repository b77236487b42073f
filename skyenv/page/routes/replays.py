"""Recorded games: opening a record, its games, every step of them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.jobs import advise
from skyenv.page.replays import Replay
from skyenv.page.requests import body, browser_of, number, page, server_of, theme, whole
from skyenv.page.workers import Priority

MOST_RECORD: Final = 8 << 20
"""Bytes of a record."""


async def _open_record(request: Request) -> Response:
    server, browser = server_of(request), browser_of(request)
    async with server.uploads.receiving(browser):
        content = await body(request, MOST_RECORD)
    key, games = await server.add_replay(content, browser)
    return JSONResponse({"page": f"/replay/{key}", "games": len(games)}, 201)


async def _games_of_record(request: Request) -> Response:
    server = server_of(request)
    games = await server.summaries(request.path_params["key"], browser_of(request))
    return JSONResponse({"games": [vars(game) for game in games], "agents": server.catalogue.describe()})


async def _found(request: Request) -> Replay:
    number = whole(request.path_params["game"], "game")
    return await server_of(request).replay(request.path_params["key"], number, browser_of(request))


def _step(request: Request) -> int:
    return whole(request.path_params["step"], "step")


async def _replay(request: Request) -> Response:
    replay = await _found(request)
    return await server_of(request).drawers.ask(browser_of(request), lambda: JSONResponse(replay.payload()))


async def _replay_step(request: Request) -> Response:
    replay = await _found(request)
    narrow = bool(number(request, "narrow"))
    draw = partial(replay.drawing, _step(request), number(request, "seat"), theme(request), narrow)
    return await server_of(request).drawers.ask(browser_of(request), lambda: JSONResponse({"svg": draw()}))


async def _replay_hint(request: Request) -> Response:
    replay = await _found(request)
    server = server_of(request)
    entry = server.catalogue[request.query_params.get("agent", "")]
    game = await asyncio.to_thread(replay.at, _step(request))
    key = request.path_params["key"]
    return JSONResponse(await server.workers.ask(partial(advise, entry, game), Priority.HINT, group=key, agent=entry.name))


_GAME: Final = "/api/replays/{key}/{game}"
ROUTES: Final[list[BaseRoute]] = [
    Route("/replay/{key}", page("replay.html"), methods=["GET"]),
    Route("/api/replays", _open_record, methods=["POST"]),
    Route("/api/replays/{key}", _games_of_record, methods=["GET"]),
    Route(_GAME, _replay, methods=["GET"]),
    Route(f"{_GAME}/{{step}}", _replay_step, methods=["GET"]),
    Route(f"{_GAME}/{{step}}/hint", _replay_hint, methods=["GET"]),
]
