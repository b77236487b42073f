"""URLs of the library and the ladders: the tables, and the record of one game."""

import asyncio
from contextlib import suppress
from functools import cache
from itertools import product
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.arena import ladder
from skyenv.page.errors import PageError
from skyenv.page.library.games import Library
from skyenv.page.requests import from_disk, number, page, server_of, whole
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

RECORD: Final = "application/jsonl; charset=utf-8"


def _library(request: Request) -> Library:
    """Return the library; have a worker scan its folders if that is due."""
    library: Library | None = request.app.state.library
    if library is None:
        raise PageError(
            "this page was started without folders of games; start it with --games FOLDER", 404
        )
    library.refresh(server_of(request).workers)
    return library


async def _search(request: Request) -> Response:
    """Return a page of the table."""
    query, at = request.query_params.multi_items(), number(request, "page") or 1
    return JSONResponse(await from_disk(request, _library(request).search, query, at))


async def _state(request: Request) -> Response:
    """Return the folders, and the progress of reading."""
    return JSONResponse(await from_disk(request, _library(request).state))


async def library_game(request: Request, key: str, which: int) -> bytes:
    """Return the record of a game of the library; scan the folders for an unknown one.

    Raises:
        PageError: there is no such game.
    """
    library = _library(request)
    with suppress(PageError):
        return await from_disk(request, library.game, key, which)
    await asyncio.shield(library.refresh(server_of(request).workers))
    return await from_disk(request, library.game, key, which)


async def _record(request: Request) -> Response:
    which = whole(request.path_params["number"], "the game's number")
    content = await library_game(request, request.path_params["file"], which)
    return attachment(content, RECORD, "record.jsonl")


def attachment(content: bytes, kind: str, name: str) -> Response:
    """Return a file for download; `kind`: its content type."""
    headers = {"content-disposition": f'attachment; filename="fifth-avenue-{name}"'}
    return Response(content, media_type=kind, headers=headers)


@cache
def _ladders() -> list[dict[str, Any]]:
    """Return the published ladders, without the large samples of ratings."""
    tables = product(range(MIN_PLAYERS, MAX_PLAYERS + 1), SIDES)
    contents = [ladder.read(ladder.path_of(players, side)) for players, side in tables]
    return [content | {"samples": None} for content in contents]


async def _list_ladders(request: Request) -> Response:
    has_library = request.app.state.library is not None
    return JSONResponse({"ladders": await from_disk(request, _ladders), "library": has_library})


ROUTES: Final[list[BaseRoute]] = [
    Route("/library", page("library.html")),
    Route("/library/{file}/{number}", page("replay.html")),
    Route("/ladder", page("ladder.html")),
    Route("/api/library", _search),
    Route("/api/library/state", _state),
    Route("/api/library/{file}/{number}", _record),
    Route("/api/ladders", _list_ladders),
]
