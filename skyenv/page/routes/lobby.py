"""URLs of the lobby: agents, the browser's games, new games, the rules and the lesson."""

from datetime import UTC, datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from skyenv.checks import check_integer
from skyenv.engine.openings import TASK_TEXTS, TASKS
from skyenv.page.errors import PageError
from skyenv.page.requests import (
    browser_of,
    json_object,
    known,
    made,
    name_of,
    number,
    page,
    remembered,
    server_of,
)
from skyenv.page.storage import HUMAN, Storage
from skyenv.page.strengths import strengths
from skyenv.page.table.new_games import GameRequest
from skyenv.page.table.server import puzzle_number
from skyenv.page.view.payloads import Payload
from skyenv.render.words import seat_name
from skyenv.rules.variant import VARIANT

MAX_LISTED: Final = 40  # newest games in the lobby's list
RETURNED: Final = "returned"  # parameter of a URL: the browser has been sent its name


async def _options(request: Request) -> Response:
    """Return the agents, the suggested ones among them, the tasks, and whether there is a library
    of recorded games.
    """
    server = server_of(request)
    offer = {
        "agents": server.preparation.payload()["agents"],
        "strengths": strengths(server.catalogue.names),
        "tasks": [
            {"name": name, "players": task.num_players, "text": TASK_TEXTS[name]}
            for name, task in TASKS.items()
            if not VARIANT
        ],
        "library": request.app.state.library is not None,
    }
    return JSONResponse(offer)


async def _make_game(request: Request) -> Response:
    server, browser = server_of(request), browser_of(request)
    wanted = GameRequest.checked(await json_object(request), server.catalogue)
    return made(await server.make(wanted, browser))


async def _preparing(request: Request) -> Response:
    """Return the progress of preparation."""
    return JSONResponse(server_of(request).preparation.payload())


async def _list_games(request: Request) -> Response:
    """Return the games that this browser plays or watches, without loading them."""
    storage = server_of(request).storage
    games = await storage.ask(_listed, storage, browser_of(request))
    return JSONResponse({"games": games})


def _listed(storage: Storage, browser: str) -> list[Payload]:
    """Return a browser's list of games, as they are stored, without puzzles."""
    payload: list[Payload] = []
    for link in storage.links_of(browser):
        if len(payload) == MAX_LISTED:
            break
        about = {"page": f"/seat/{link.token}", "owner": storage.owner(link.game) == browser}
        try:
            game = storage.game(link.game)
        except PageError as error:
            payload.append(about | {"error": str(error)})
            continue
        if puzzle_number(game) is not None:
            continue
        seat = game.to_act
        state = "over" if seat is None else f"{seat_name(seat)} is to act"
        about |= {
            "seat": link.seat,
            "names": game.names(storage.links(link.game), link.seat),
            "side": game.side,
            "task": game.task,
            "created": game.created,
            "turn": game.turn,
            "scores": game.scores,
            "state": "your turn" if seat is not None and seat == link.seat else state,
            "taken_back": game.taken_back,
            "agents": [player != HUMAN for player in game.agents],
        }
        payload.append(about)
    return payload


async def _tutorial(request: Request) -> Response:
    """Redirect to the browser's lesson.

    A browser without a name gets one first, so that clients without cookies make no games.
    """
    if (browser := name_of(request)) is None:
        if RETURNED in request.query_params:
            raise PageError("the lesson needs cookies; allow them for this page", 403)
        return remembered(request, RedirectResponse(f"tutorial?{RETURNED}=1", 303), known(request))
    link = await server_of(request).lesson(browser)
    return remembered(request, RedirectResponse(f"seat/{link.token}", 303), browser)


async def _puzzle(request: Request) -> Response:
    """Redirect to a puzzle of the browser, ``?number=``, its day's; without a number to today's.

    Raises:
        PageError: the browser has no name, which the lobby gives it, or the day is yet to come.
    """
    today = datetime.now(UTC).date().toordinal()
    day = today if (wanted := number(request, "number")) is None else wanted
    check_integer("number", day, 1, today, PageError)
    link = await server_of(request).puzzle(browser_of(request), day)
    return RedirectResponse(f"seat/{link.token}", 303)


ROUTES: Final[list[BaseRoute]] = [
    Route("/", page("lobby.html")),
    Route("/rules", page("rules.html")),
    Route("/tutorial", _tutorial),
    Route("/puzzle", _puzzle),
    Route("/api/options", _options),
    Route("/api/preparing", _preparing),
    Route("/api/games", _list_games),
    Route("/api/games", _make_game, methods=["POST"]),
]
