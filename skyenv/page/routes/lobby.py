"""The lobby: agents to choose from, the browser's games, new ones."""

from __future__ import annotations

import contextlib
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.errors import PageError, StorageError
from skyenv.page.game_requests import GameRequest
from skyenv.page.payloads import Payload
from skyenv.page.requests import browser_of, json_object, page, server_of
from skyenv.page.strengths import strengths
from skyenv.render.words import seat_name

PAGES: Final = ("/tutorial", "/rules", "/ladder", "/library", "/runs")
"""Where the lobby leads to, as far as the server has it."""
MOST_LISTED: Final = 40
"""Games in the lobby's list, the newest ones."""


async def _options(request: Request) -> Response:
    """What the lobby has to offer: agents, those of them that it recommends, and the pages that
    this server has.
    """
    server = server_of(request)
    catalogue = server.catalogue
    state = request.app.state
    empty = {"/library": state.library is None, "/runs": state.runs is None}
    paths = {getattr(route, "path", "") for route in request.app.routes}
    offer = {
        "agents": server.preparation.payload()["agents"],
        "strengths": strengths(catalogue.names),
        "pages": [path for path in PAGES if path in paths and not empty.get(path)],
    }
    return JSONResponse(offer)


async def _make_game(request: Request) -> Response:
    server = server_of(request)
    browser = browser_of(request)
    link = await server.make(
        await GameRequest.checked(await json_object(request), server.catalogue), browser
    )
    return JSONResponse({"page": f"/seat/{link.token}"}, 201)


async def _preparing(request: Request) -> Response:
    """How far the rules and the agents are."""
    return JSONResponse(server_of(request).preparation.payload())


async def _list_games(request: Request) -> Response:
    """The games in which this browser has a seat, or that it watches."""
    server = server_of(request)
    server.preparation.require_rules()
    payload: list[Payload] = []
    browser = browser_of(request)
    links = await server.storage.read(server.storage.links_of, browser, MOST_LISTED)
    links += await server.storage.read(server.storage.watched_by, browser, MOST_LISTED)
    for link in links:
        try:
            session = await server.session(link)
        except PageError as error:  # another version's game, or a damaged one
            owner = False
            with contextlib.suppress(StorageError):
                owner = await server.storage.read(server.storage.owner, link.game) == link.browser
            payload.append({"page": f"/seat/{link.token}", "error": str(error), "owner": owner})
            continue
        game = session.game
        state = (
            "over"
            if game.seat is None
            else "your turn"
            if game.seat == link.seat
            else f"{seat_name(game.seat)} is to act"
        )
        payload.append(
            {
                "page": f"/seat/{link.token}",
                "seat": link.seat,
                "names": session.names(link.seat),
                "side": game.side,
                "owner": session.stored.owner == link.browser,
                "created": session.stored.created,
                "turn": game.turn,
                "scores": game.scores,
                "state": state,
                "taken_back": session.stored.taken_back,
                "agents": [not session.is_human(seat) for seat in range(game.num_players)],
            }
        )
    return JSONResponse({"games": payload})


ROUTES: Final[list[BaseRoute]] = [
    Route("/", page("lobby.html"), methods=["GET"]),
    Route("/api/options", _options, methods=["GET"]),
    Route("/api/preparing", _preparing, methods=["GET"]),
    Route("/api/games", _list_games, methods=["GET"]),
    Route("/api/games", _make_game, methods=["POST"]),
]
