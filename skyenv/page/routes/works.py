"""URLs of background jobs: POST starts a job, GET returns its progress, DELETE stops it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from skyenv.page.background import Name
from skyenv.page.requests import Handler, browser_of, server_of
from skyenv.page.workers import Job

METHODS: Final = ["GET", "POST", "DELETE"]


def work(make: Callable[[Request], Awaitable[tuple[Name, Job[Any]]]]) -> Handler:
    """Return the handler of a job's URL; `make`: returns the job's name, after the browser's, and
    the job, which POST starts.
    """

    async def handle(request: Request) -> Response:
        background = server_of(request).background
        own, job = await make(request)
        name = browser_of(request), *own
        if request.method == "POST":
            return JSONResponse(background.start(name, job).payload(), 202)
        there = background.get(name) if request.method == "GET" else await background.stop(name)
        return JSONResponse(there.payload())

    return handle
