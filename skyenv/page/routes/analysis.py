"""URLs of the tools for recorded games: analyses, play-outs, draw odds, variations."""

import asyncio
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.analysis.odds import draw_odds
from skyenv.analysis.playouts import USUAL, PlayOuts, digest
from skyenv.analysis.variations import variation
from skyenv.analysis.win_chance import ESTIMATOR
from skyenv.checks import check_flag
from skyenv.page.agents.jobs import analyse, play_out
from skyenv.page.errors import PageError
from skyenv.page.requests import JOB_METHODS, browser_of, json_object, made, number, server_of, work
from skyenv.page.routes.replays import (
    GAME,
    found,
    origin,
    place_of,
    retold,
    seat_of_replay,
    step_of,
)
from skyenv.page.strengths import called
from skyenv.page.table.new_games import ME, GameRequest
from skyenv.page.table.server import GameServer, check_whole
from skyenv.page.workers import Job, Keep, Name, Work
from skyenv.seeds import HIGHEST_SEED, fresh_seed

# Most games of one simulation.
MOST: Final = 1000


async def _analysis(request: Request) -> tuple[Name, Job[PlayOuts], Keep]:
    """Analyse a game by an agent: ``?agent=NAME``."""
    replay, server = await found(request), server_of(request)
    check_whole(replay.game)
    name = request.query_params.get("agent", "")
    entry = server.catalogue[name]
    estimator = server.estimator()
    if estimator is None:
        raise PageError(f"analyses need {called(ESTIMATOR)}, which isn't ready here", 409)
    place, record = await place_of(request), await asyncio.to_thread(lambda: replay.record)
    job = partial(analyse, record, entry, estimator, server.play_outs.copy())

    async def keep(work: Work) -> None:
        """Store an analysis that has found anything for the next visit."""
        await _merge(server, work)
        if work.found.get("chart"):
            await server.storage.ask(server.storage.add_analysis, *place, work.payload())

    return ("analysis", origin(request), entry.name), job, keep


async def _merge(server: GameServer, work: Work) -> None:
    """Store a job's play-outs."""
    if work.result is not None:
        server.play_outs.merge(work.result)


async def _play_out(request: Request) -> tuple[Name, Job[PlayOuts], Keep]:
    """Play a position out: ``?agent=NAME`` for each seat, ``number`` of games, and ``seat``, for
    which hidden cards are resampled; ``to-act``: the seat to act.
    """
    replay = await found(request)
    check_whole(replay.game)
    step = replay.checked(step_of(request))
    if request.query_params.get("seat") == "to-act":
        seat: int | None = int(replay.states[step]["seat"])
    else:
        seat = seat_of_replay(request, replay)
    names = request.query_params.getlist("agent")
    times = number(request, "number") or USUAL
    if times > MOST:
        raise PageError(f"the number of games must be at most {MOST}, not {times}")
    if len(names) != replay.players:
        raise PageError(
            f"there must be {replay.players} agents, one for each seat, not {len(names)}"
        )
    entries = [server_of(request).catalogue[name] for name in names]
    position: Any = replay.states[step]
    if position["seat"] < 0:
        raise PageError("the game is over; there is nothing to play", 409)
    name = "playout", origin(request), step, times, seat, *names
    server = server_of(request)
    job = partial(
        play_out, entries, position, times, seat, server.play_outs.copy(digest(position, seat))
    )
    return name, job, partial(_merge, server)


async def _chances(request: Request) -> Response:
    """Return the draw odds at a step; ``?seat=`` for those of a seat's view."""
    replay = await found(request)
    step, seat = replay.checked(step_of(request)), seat_of_replay(request, replay)
    return JSONResponse(await asyncio.to_thread(draw_odds, replay.states[step], seat))


async def _play_on(request: Request) -> Response:
    """Continue a game from a step: ``{"seats": …}`` as for a new game, optionally
    ``idempotency_key`` and ``seed``.

    With ``"resample": true`` the cards hidden from the browser's seat are resampled; it must have
    exactly one seat then.
    """
    replay = await found(request)
    check_whole(replay.game)
    server, step = server_of(request), step_of(request)
    wanted = await json_object(request) | {"players": replay.players, "side": replay.game.side}
    game = GameRequest.checked(wanted, server.catalogue)
    seat = None
    if check_flag("resample", wanted.get("resample", False)):
        if game.seats.count(ME) != 1:
            raise PageError("to resample hidden cards, play exactly one seat")
        seat = game.seats.index(ME)
    uniform = fresh_seed() / (HIGHEST_SEED + 1)
    beginning = await asyncio.to_thread(variation, replay, step, seat, uniform)
    link = await server.make(
        game,
        browser_of(request),
        beginning=beginning,
        actions=tuple(replay.actions()[:step]),
        max_turns=replay.game.max_turns,
    )
    return made(link)


ROUTES: Final[list[BaseRoute]] = [
    Route(f"{GAME}/analysis", work(_analysis, retold), methods=JOB_METHODS),
    Route(f"{GAME}/{{step}}/playouts", work(_play_out), methods=JOB_METHODS),
    Route(f"{GAME}/{{step}}/variations", _play_on, methods=["POST"]),
    Route(f"{GAME}/{{step}}/chances", _chances),
]
