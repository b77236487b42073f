"""Recorded games: opening a record, its games, every step of them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.errors import PageError
from skyenv.page.replays import Replay
from skyenv.page.requests import body, browser_of, drawn, number, page, server_of, theme, unless_gone, whole

GAME: Final = "/api/replays/{key}/{game}"
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


async def found(request: Request) -> Replay:
    """The game in the address.

    Raises:
        PageError: it isn't there, or another browser's.
    """
    number = whole(request.path_params["game"], "game")
    return await server_of(request).replay(request.path_params["key"], number, browser_of(request))


def step_of(request: Request) -> int:
    """The step in the address, whether there is such a one or not."""
    return whole(request.path_params["step"], "step")


def seat_of_replay(request: Request, replay: Replay) -> int | None:
    """The seat behind the question mark of an address; None: all hands are open.

    Raises:
        PageError: there is no such seat.
    """
    seat = number(request, "seat")
    if seat is not None and seat >= replay.players:
        raise PageError(f"there is no seat {seat}; seats are counted from 0 to {replay.players - 1} in addresses", 404)
    return seat


async def _replay(request: Request) -> Response:
    replay = await found(request)
    return await server_of(request).drawers.ask(browser_of(request), lambda: JSONResponse(replay.payload()))


async def _replay_step(request: Request) -> Response:
    replay = await found(request)
    narrow = bool(number(request, "narrow"))
    draw = partial(replay.drawing, step_of(request), number(request, "seat"), theme(request), narrow)
    known = drawn(request)
    return await server_of(request).drawers.ask(browser_of(request), lambda: JSONResponse({"drawing": draw().changes(known)}))


async def _replay_hint(request: Request) -> Response:
    replay = await found(request)
    server = server_of(request)
    game = await asyncio.to_thread(replay.at, step_of(request))
    hint = server.hint(request.query_params.get("agent", ""), game, request.path_params["key"])
    return JSONResponse(await unless_gone(request, hint))


ROUTES: Final[list[BaseRoute]] = [
    Route("/replay/{key}", page("replay.html"), methods=["GET"]),
    Route("/api/replays", _open_record, methods=["POST"]),
    Route("/api/replays/{key}", _games_of_record, methods=["GET"]),
    Route(GAME, _replay, methods=["GET"]),
    Route(f"{GAME}/{{step}}", _replay_step, methods=["GET"]),
    Route(f"{GAME}/{{step}}/hint", _replay_hint, methods=["GET"]),
]
