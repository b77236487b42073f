"""Questions that agents think about: answered when they are done, or live, with what they have come
to so far.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from skyenv.errors import SkyenvError
from skyenv.page.payloads import Payload
from skyenv.page.requests import number, unless_gone
from skyenv.page.workers import Report

STREAM: Final = "text/event-stream"  # which is sent line by line, and not packed

# What is asked; it may report what there is so far, payloads as well.
Question = Callable[[Report], Coroutine[Any, Any, Payload]]


async def answered(request: Request, question: Question) -> Response:
    """The answer as JSON; or with ``?live=1`` events, ``{"so_far": …}`` each, then
    ``{"answer": …}`` or ``{"error": "…"}``. The question is cancelled if the browser goes.

    Raises:
        SkyenvError: as for the question, unless it is live.
        ClientDisconnect: the browser has gone.
    """
    if number(request, "live"):
        return StreamingResponse(_events(request, question), media_type=STREAM)
    return JSONResponse(await unless_gone(request, question(lambda so_far: None)))


async def _events(request: Request, question: Question) -> AsyncIterator[str]:
    told: asyncio.Queue[Payload | None] = asyncio.Queue()
    task = asyncio.create_task(question(told.put_nowait))
    task.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (so_far := await unless_gone(request, told.get())) is not None:
            yield _event("so_far", so_far)
        yield _event("answer", await task)
    except SkyenvError as error:
        yield _event("error", str(error))
    except ClientDisconnect:
        pass  # nobody hears it
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _event(kind: str, value: Payload | str) -> str:
    return f"data: {json.dumps({kind: value}, ensure_ascii=False)}\n\n"
