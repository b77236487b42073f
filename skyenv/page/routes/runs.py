"""Trainings while they go on: their list, their curves, their networks as opponents."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.errors import PageError
from skyenv.page.requests import (
    browser_of,
    from_disk,
    integer,
    json_object,
    number,
    page,
    server_of,
)
from skyenv.page.runs import Runs

NO_RUNS: Final = "this page was started without folders of trainings; start it with --runs FOLDER"


def _runs(request: Request) -> Runs:
    runs: Runs | None = request.app.state.runs
    if runs is None:
        raise PageError(NO_RUNS, 404)
    return runs


async def _list(request: Request) -> Response:
    if request.app.state.runs is None:
        return JSONResponse({"runs": [], "trouble": NO_RUNS})
    return JSONResponse(
        {
            "runs": await from_disk(request, _runs(request).overview),
            "trouble": "",
        }
    )


async def _curve(request: Request) -> Response:
    """What is new of a curve."""
    start, age = number(request, "from") or 0, number(request, "age") or 0
    curve = from_disk(request, _runs(request).curve, request.path_params["key"], start, age)
    return JSONResponse(await curve)


async def _offer(request: Request) -> Response:
    """Make a network one of the agents on offer; its name."""
    runs, catalogue = _runs(request), server_of(request).catalogue
    browser_of(request)  # it writes a file: only who has opened the page may ask
    seconds = (await json_object(request)).get("seconds")
    wanted = None if seconds is None else integer(seconds, "seconds")
    name = await from_disk(request, runs.offered, request.path_params["key"], wanted)
    await catalogue.look_up(name)
    return JSONResponse({"name": name}, 201)


ROUTES: Final[list[BaseRoute]] = [
    Route("/runs", page("runs.html"), methods=["GET"]),
    Route("/api/runs", _list, methods=["GET"]),
    Route("/api/runs/{key}/curve", _curve, methods=["GET"]),
    Route("/api/runs/{key}/networks", _offer, methods=["POST"]),
]
