"""Questions that agents think about: answered at once when they are done, or live, with what they
have come to so far.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from skyenv.errors import SkyenvError
from skyenv.page.payloads import Payload
from skyenv.page.requests import number, unless_gone
from skyenv.page.workers import Report

STREAM: Final = "text/event-stream"  # which is sent line by line, and not packed

# What is asked; it may report what there is so far, payloads as well.
Question = Callable[[Report], Awaitable[Payload]]


async def answered(request: Request, question: Question) -> Response:
    """The answer as JSON; it is cancelled if the browser goes.

    With ``?live=1`` and something reported before the end: events, ``{"so_far": …}`` each, then
    ``{"answer": …}`` or ``{"error": "…"}``.

    Raises:
        SkyenvError: as for the question, before anything is reported.
        ClientDisconnect: the browser has gone.
    """
    told: asyncio.Queue[Payload | None] = asyncio.Queue()

    async def ask() -> Payload:
        try:
            return await question(told.put_nowait)
        finally:
            told.put_nowait(None)

    task = asyncio.create_task(ask())
    try:
        if number(request, "live"):
            first = await unless_gone(request, told.get())
            if first is not None:
                return _Live(_events(request, task, told, first), task)
        return JSONResponse(await unless_gone(request, _result(task)))
    except BaseException:
        await _end(task)
        raise


class _Live(StreamingResponse):
    """Events about a task, which ends with the answer: also where the browser has gone before the
    first event.

    Args:
        events: what is told.
        task: about what.
    """

    def __init__(self, events: AsyncIterator[str], task: asyncio.Task[Payload]) -> None:
        super().__init__(events, media_type=STREAM)
        self._task = task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See Starlette."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await _end(self._task)


async def _events(
    request: Request,
    task: asyncio.Task[Payload],
    told: asyncio.Queue[Payload | None],
    first: Payload,
) -> AsyncIterator[str]:
    so_far: Payload | None = first
    try:
        while so_far is not None:
            yield _event({"so_far": so_far})
            so_far = await unless_gone(request, told.get())
        yield _event({"answer": await task})
    except SkyenvError as error:
        yield _event({"error": str(error)})
    except ClientDisconnect:
        pass  # nobody hears it


async def _result(task: asyncio.Task[Payload]) -> Payload:
    return await task


async def _end(task: asyncio.Task[Payload]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"
