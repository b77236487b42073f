"""Addresses of works in the background: POST begins one, GET tells how far it is, DELETE ends it,
all at the same address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from skyenv.page.background import Background, Name, Work
from skyenv.page.requests import Handler, browser_of

METHODS: Final = ["GET", "POST", "DELETE"]


def background_of(request: Request) -> Background:
    """The works of the server that was asked."""
    background: Background = request.app.state.background
    return background


def work(make: Callable[[Request], Awaitable[tuple[Name, Work]]]) -> Handler:
    """The address of a work; `make`: its name behind the browser's, and the work itself, which is
    begun if it is wanted.
    """

    async def handle(request: Request) -> Response:
        background = background_of(request)
        name, made = await make(request)
        browser = browser_of(request)
        name = browser, *name
        if request.method == "POST":
            return JSONResponse(background.start(name, made).payload(), 202)
        there = background.get(name) if request.method == "GET" else await background.stop(name)
        return await asyncio.to_thread(lambda: JSONResponse(there.payload()))

    return handle
