"""Games to look through and the published ladders: the tables, and opening one of the games."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.arena import ladder
from skyenv.page.again import Again
from skyenv.page.errors import PageError
from skyenv.page.library import Library, Query
from skyenv.page.requests import browser_of, from_disk, page, server_of, whole
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

PATIENCE: Final = 1.0
"""Seconds that a request waits for a game that is played again, before the browser asks once more.
"""
NO_LIBRARY: Final = "this page was started without folders of games; start it with --games FOLDER"
_OF_A_LADDER: Final = (
    "date",
    "players",
    "side",
    "paired_seeds",
    "games",
    "anchors",
    "agents",
    "better",
    "pairs",
    "predicted",
    "duels",
)
_OF_AN_AGENT: Final = (
    "name",
    "version",
    "description",
    "rating",
    "wins",
    "vp",
    "margin",
    "paired_seeds",
)


def _library(request: Request) -> Library:
    library: Library | None = request.app.state.library
    if library is None:
        raise PageError(NO_LIBRARY, 404)
    return library


async def _search(request: Request) -> Response:
    """A page of the table."""
    query = Query.checked(request.query_params.multi_items())
    return JSONResponse(await from_disk(request, _library(request).search, query))


async def _state(request: Request) -> Response:
    """The folders, and how far they have been read."""
    if request.app.state.library is None:
        return JSONResponse({"folders": [], "trouble": NO_LIBRARY})
    return JSONResponse(await from_disk(request, _library(request).state))


async def _open(request: Request) -> Response:
    """Make a replay of a game; if it has to be played again first, that may take several
    requests.
    """
    library, server, browser = _library(request), server_of(request), browser_of(request)
    number = whole(request.path_params["number"], "the game's number")
    game = await from_disk(request, library.game, request.path_params["file"], number)
    if not isinstance(game, bytes):
        again: Again = request.app.state.again
        record = await again.record(game, PATIENCE, browser)
        if record is None:
            return JSONResponse(
                {
                    "wait": "The tournament has kept how this game came out. "
                    "It is being played again …"
                },
                202,
            )
        game = record.encode()
    key, _ = await server.replays.add(game, browser)
    return JSONResponse({"page": f"/replay/{key}"}, 201)


@cache
def _ladders() -> list[dict[str, Any]]:
    """The ladders that ship, as far as the page shows them."""
    shown = []
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        for side in SIDES:
            content = ladder.read(ladder.path_of(players, side))
            agents = [{name: agent[name] for name in _OF_AN_AGENT} for agent in content["agents"]]
            shown.append({**{name: content[name] for name in _OF_A_LADDER}, "agents": agents})
    return shown


async def _list_ladders(request: Request) -> Response:
    offered = server_of(request).catalogue.names
    return JSONResponse({"ladders": await from_disk(request, _ladders), "offered": offered})


ROUTES: Final[list[BaseRoute]] = [
    Route("/library", page("library.html"), methods=["GET"]),
    Route("/library/{file}/{number}", page("opening.html"), methods=["GET"]),
    Route("/ladder", page("ladder.html"), methods=["GET"]),
    Route("/api/library", _search, methods=["GET"]),
    Route("/api/library/state", _state, methods=["GET"]),
    Route("/api/library/{file}/{number}", _open, methods=["POST"]),
    Route("/api/ladders", _list_ladders, methods=["GET"]),
]
