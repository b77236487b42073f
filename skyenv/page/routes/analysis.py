"""What can be made of recorded games: analyses, playing a position out, playing on from it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.checks import check_flag
from skyenv.page.analysis import Analysis
from skyenv.page.background import Name, Work
from skyenv.page.chances import what_can_come
from skyenv.page.errors import PageError
from skyenv.page.game_requests import ME, GameRequest
from skyenv.page.payloads import Payload
from skyenv.page.playouts import MOST, USUAL, PlayOut
from skyenv.page.requests import browser_of, json_object, number, server_of
from skyenv.page.routes.replays import GAME, found, seat_of_replay, step_of
from skyenv.page.routes.works import METHODS, background_of, work
from skyenv.page.storage import Link, Storage, StoredGame
from skyenv.page.variations import Variation
from skyenv.page.win_chance import ESTIMATOR
from skyenv.seeds import HIGHEST_SEED, fresh_seed

MOST_LISTED: Final = 20
"""Variations in a list, the newest ones."""


async def _analysis(request: Request) -> tuple[Name, Work]:
    """An agent's analysis of a game: ``?agent=NAME``."""
    replay, server = await found(request), server_of(request)
    name = request.query_params.get("agent", "")
    entry = await server.catalogue.look_up(name)
    estimator = server.estimator()
    if estimator is None:
        raise PageError(f"analyses need the agent {ESTIMATOR}, which isn't ready here", 409)
    return ("analysis", _origin(request), entry.name), Analysis(replay, entry, estimator)


def _origin(request: Request) -> str:
    """The game in the address: the replay's key and the game's number in it."""
    return f"{request.path_params['key']}/{request.path_params['game']}"


async def _analyses(request: Request) -> Response:
    """Which agents' analyses of a game this browser has begun, the newest first."""
    names = background_of(request).named(browser_of(request), "analysis", _origin(request))
    return JSONResponse({"analyses": [{"agent": name[-1]} for name in names]})


async def _play_out(request: Request) -> tuple[Name, Work]:
    """Playing a position out: ``?agent=NAME`` for each seat, ``number``, and ``seat``, for which
    hidden cards are drawn anew.
    """
    replay = await found(request)
    step, seat = replay.checked(step_of(request)), seat_of_replay(request, replay)
    names = request.query_params.getlist("agent")
    times = number(request, "number") or USUAL
    if times > MOST:
        raise PageError(f"a position is played out at most {MOST} times, not {times}")
    if len(names) != replay.players:
        raise PageError(
            f"there must be {replay.players} agents, one for each seat, not {len(names)}"
        )
    entries = [await server_of(request).catalogue.look_up(name) for name in names]
    position: Any = replay.states[step]
    if position["seat"] < 0:
        raise PageError("the game is over; there is nothing to play", 409)
    name = "playout", _origin(request), step, times, seat, *names
    return name, PlayOut(position, entries, times, seat)


async def _chances(request: Request) -> Response:
    """What can come at a step; ``?seat=`` for what a seat can expect."""
    replay = await found(request)
    step, seat = replay.checked(step_of(request)), seat_of_replay(request, replay)
    chances = partial(what_can_come, replay.states[step], seat)
    return await asyncio.to_thread(lambda: JSONResponse(chances()))


async def _play_on(request: Request) -> Response:
    """Play a game on from a step: ``{"seats": …}`` as for a new game, and ``idempotency_key``
    and ``seed`` if wanted.

    With ``"anew": true`` what the browser's own seat couldn't know is drawn anew; it must have one
    seat then.
    """
    replay = await found(request)
    server, step = server_of(request), step_of(request)
    wanted = await json_object(request) | {"players": replay.players, "side": replay.game.side}
    game = await GameRequest.checked(wanted, server.catalogue)
    seat = None
    if check_flag("anew", wanted.get("anew", False)):
        if game.seats.count(ME) != 1:
            raise PageError("hidden cards are drawn anew for one seat, so you must play one alone")
        seat = game.seats.index(ME)
    uniform = fresh_seed() / (HIGHEST_SEED + 1)
    variation = await asyncio.to_thread(Variation.of, replay, step, _origin(request), seat, uniform)
    link = await server.make(game, browser_of(request), variation)
    return JSONResponse({"page": f"/seat/{link.token}"}, 201)


async def _variations(request: Request) -> Response:
    """The games that this browser plays on from a record's game; none of them is played for it."""
    await found(request)
    storage = server_of(request).storage
    return JSONResponse(
        {"variations": await storage.ask(_listed, storage, browser_of(request), _origin(request))}
    )


def _listed(storage: Storage, browser: str, origin: str) -> list[Payload]:
    listed = []
    for link in storage.variations(browser, origin)[:MOST_LISTED]:
        with contextlib.suppress(PageError):  # a damaged game; the lobby says so
            listed.append(_variation(link, storage.game(link.game), storage.links(link.game)))
    return listed


def _variation(link: Link, game: StoredGame, links: Sequence[Link]) -> Payload:
    return {
        "page": f"/seat/{link.token}",
        "step": game.origin_step,
        "seat": link.seat,
        "drawn_for": game.drawn_for,
        "names": game.names(links, link.seat),
        "over": game.to_act is None,
        "scores": game.scores,
        "actions": len(game.actions),
    }


ROUTES: Final[list[BaseRoute]] = [
    Route(f"{GAME}/analysis", work(_analysis), methods=METHODS),
    Route(f"{GAME}/analyses", _analyses, methods=["GET"]),
    Route(f"{GAME}/{{step}}/playouts", work(_play_out), methods=METHODS),
    Route(f"{GAME}/variations", _variations, methods=["GET"]),
    Route(f"{GAME}/{{step}}/variations", _play_on, methods=["POST"]),
    Route(f"{GAME}/{{step}}/chances", _chances, methods=["GET"]),
]
