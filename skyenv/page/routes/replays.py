"""URLs of replays: records, their games and steps, exports."""

import asyncio
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.analysis.mistakes import retold as remeasured
from skyenv.arena.schedule import code_version
from skyenv.checks import check_seat
from skyenv.errors import shown
from skyenv.page.agents.jobs import Question
from skyenv.page.errors import PageError
from skyenv.page.library.export import MAX_STEPS, make_page
from skyenv.page.library.games import KEY_LENGTH, MAX_RECORD
from skyenv.page.library.replays import Replay
from skyenv.page.requests import (
    JOB_METHODS,
    body,
    browser_of,
    number,
    page,
    server_of,
    theme,
    unless_gone,
    whole,
    work,
)
from skyenv.page.routes.library import RECORD, attachment, library_game
from skyenv.page.view.payloads import Payload
from skyenv.page.workers import Job, Name
from skyenv.render.parts import Drawing, digests
from skyenv.render.raster import png

GAME: Final = "/api/replays/{key}/{game}"
# The formats of a step's picture, with content types.
PICTURES: Final = {"svg": "image/svg+xml", "png": "image/png"}


async def _open_record(request: Request) -> Response:
    server, browser = server_of(request), browser_of(request)
    key, games = await server.replays.add(await body(request, MAX_RECORD), browser)
    return JSONResponse({"page": f"/replay/{key}", "games": len(games)}, 201)


async def _list_replays(request: Request) -> Response:
    """Return the stored records of this browser."""
    storage = server_of(request).storage
    kept = await storage.ask(storage.replays, browser_of(request))
    replays = [{"page": f"/replay/{one['id']}", **one} for one in kept]
    return JSONResponse({"replays": replays})


async def _forget_record(request: Request) -> Response:
    await server_of(request).replays.delete(request.path_params["key"], browser_of(request))
    return JSONResponse({})


async def _games_of_record(request: Request) -> Response:
    server = server_of(request)
    games = await server.replays.summaries(request.path_params["key"], browser_of(request))
    return JSONResponse({"games": games, "agents": server.catalogue.describe()})


async def found(request: Request) -> Replay:
    """Return the game in the URL: of the browser's stored record, or of the library.

    Raises:
        PageError: this browser has no such game.
    """
    key, number = request.path_params["key"], whole(request.path_params["game"], "game")
    fetch = partial(library_game, request, key, number) if len(key) == KEY_LENGTH else None
    return await server_of(request).replays.replay(key, number, browser_of(request), fetch)


def origin(request: Request) -> str:
    """Return the game's identity in the URL: the replay's key and the game's number in it."""
    return f"{request.path_params['key']}/{request.path_params['game']}"


def step_of(request: Request) -> int:
    """Return the step in the URL, without a check of its range."""
    return whole(request.path_params["step"], "step")


def seat_of_replay(request: Request, replay: Replay) -> int | None:
    """Return the seat in the query string; None: all hands are open.

    Raises:
        OptionError: there is no such seat.
    """
    seat = number(request, "seat")
    return None if seat is None else check_seat(seat, replay.players)


async def place_of(request: Request) -> tuple[str, str]:
    """Return where the latest analysis of the game in the URL is stored: the browser, and a digest
    of the game and the code that decides games.
    """
    replay = await found(request)
    whole = f"{code_version()} {replay.names}".encode() + replay.states.tobytes()
    return browser_of(request), sha256(whole).hexdigest()


async def latest_analysis(request: Request) -> Payload | None:
    """Return the stored analysis of the game in the URL; None if there is none."""
    storage = server_of(request).storage
    return await storage.ask(storage.analysis, *await place_of(request))


async def retold(request: Request, analysis: Payload) -> Payload:
    """Return an analysis of the game in the URL by the play-outs known now."""
    server, replay = server_of(request), await found(request)
    if (estimator := server.estimator()) is None:
        return analysis
    mistakes = await asyncio.to_thread(  # where the agent is made, too
        lambda: remeasured(replay, analysis["mistakes"], estimator.agent, server.play_outs)
    )
    return analysis | {"mistakes": [one.payload(replay.names) for one in mistakes]}


async def _replay(request: Request) -> Response:
    """Return the game with its latest analysis."""
    replay, server = await found(request), server_of(request)
    analysis = await latest_analysis(request)
    about = {
        "adviser": server.catalogue.adviser(replay.players, replay.game.side),
        "analysis": analysis and await retold(request, analysis),
    }
    return await asyncio.to_thread(lambda: JSONResponse(replay.payload() | about))


def _drawing(request: Request, replay: Replay) -> Callable[[], Drawing]:
    """Return a function that draws the step in the URL, as the query string says."""
    seat, narrow = seat_of_replay(request, replay), bool(number(request, "narrow"))
    return partial(replay.drawing, step_of(request), seat, theme(request), narrow)


async def _replay_step(request: Request) -> Response:
    draw, known = _drawing(request, await found(request)), request.query_params.get("drawn", "")
    return await asyncio.to_thread(
        lambda: JSONResponse({"drawing": draw().changes(digests(known))})
    )


async def _picture(request: Request) -> Response:
    """Return a step as an SVG, or as a PNG where the extra ``[pictures]`` is installed."""
    draw, suffix = _drawing(request, await found(request)), request.path_params["suffix"]
    if suffix not in PICTURES:
        raise PageError(f"a picture must be {' or '.join(PICTURES)}, not {shown(suffix)}", 404)

    def file() -> Response:
        text = draw().text()
        content = text.encode() if suffix == "svg" else png(text)
        return attachment(content, PICTURES[suffix], f"step-{step_of(request)}.{suffix}")

    return await asyncio.to_thread(file)


async def _record(request: Request) -> Response:
    """Return the record as it was uploaded."""
    server = server_of(request)
    content = await server.storage.ask(
        server.storage.replay, request.path_params["key"], browser_of(request)
    )
    return attachment(content, RECORD, "record.jsonl")


async def _making(request: Request) -> tuple[Name, Job[bytes], None]:
    """Export the game as an HTML page."""
    replay = await found(request)
    if replay.steps > MAX_STEPS:
        raise PageError(f"an exported game has at most {MAX_STEPS} actions, not {replay.steps}")
    record = await asyncio.to_thread(lambda: replay.record)
    return ("making", origin(request)), partial(make_page, record), None


async def _made(request: Request) -> Response:
    """Return the exported page."""
    made = server_of(request).background.get((browser_of(request), "making", origin(request)))
    if made.state != "done":
        raise PageError("the page isn't ready yet", 404)
    return attachment(made.result, "text/html; charset=utf-8", "game.html")


async def _replay_hint(request: Request) -> Response:
    """Return an agent's hint at a step, with the mistakes of the game's analysis. The choice played
    and the better one of the analysis are listed.
    """
    replay, step = await found(request), step_of(request)
    game = await asyncio.to_thread(replay.at, step)
    agent, games = request.query_params.get("agent", ""), number(request, "games") or 0
    analysis = await latest_analysis(request) or {"mistakes": []}
    better = [tuple(one["actions"]) for one in analysis["mistakes"] if one["step"] == step]
    listed = dict(replay.choices()).get(step, ()), *better
    question = server_of(request).hint(agent, Question(game, replay.names, games, listed))
    hint = await unless_gone(request, question)
    mistakes = (await retold(request, analysis))["mistakes"] if better else None
    return JSONResponse(hint | {"mistakes": mistakes})


ROUTES: Final[list[BaseRoute]] = [
    Route("/replay/{key}", page("replay.html")),
    Route("/api/replays", _list_replays),
    Route("/api/replays", _open_record, methods=["POST"]),
    Route("/api/replays/{key}", _games_of_record),
    Route("/api/replays/{key}", _forget_record, methods=["DELETE"]),
    Route("/api/replays/{key}/record", _record),
    Route(GAME, _replay),
    Route(f"{GAME}/made", work(_making), methods=JOB_METHODS),
    Route(f"{GAME}/made/file", _made),
    Route(f"{GAME}/{{step}}/picture.{{suffix}}", _picture),
    Route(f"{GAME}/{{step}}", _replay_step),
    Route(f"{GAME}/{{step}}/hint", _replay_hint),
]
