"""URLs of training runs: the list, curves, networks as opponents."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.page.errors import PageError
from skyenv.page.requests import browser_of, from_disk, page, server_of
from skyenv.page.runs import Runs


def _runs(request: Request) -> Runs:
    runs: Runs | None = request.app.state.runs
    if runs is None:
        raise PageError(
            "this page was started without training runs; start it with --runs FOLDER", 404
        )
    return runs


async def _list(request: Request) -> Response:
    return JSONResponse({"runs": await from_disk(request, _runs(request).overview)})


async def _picture(request: Request) -> Response:
    """Return the curves drawn by the trainer."""
    return FileResponse(
        await from_disk(request, _runs(request).picture, request.path_params["key"]),
        media_type="image/png",
    )


async def _offer(request: Request) -> Response:
    """Add a network to the agents on offer; return its name."""
    browser_of(request)  # it writes a file: only for browsers that have opened the page
    name = await from_disk(request, _runs(request).offered, request.path_params["key"])
    await server_of(request).catalogue.look_up(name)
    return JSONResponse({"name": name}, 201)


ROUTES: Final[list[BaseRoute]] = [
    Route("/runs", page("runs.html")),
    Route("/api/runs", _list),
    Route("/api/runs/pictures/{key}", _picture),
    Route("/api/runs/networks/{key}", _offer, methods=["POST"]),
]
