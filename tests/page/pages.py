"""Helpers of the page's tests: an application with fast agents, clients, and played games."""

import asyncio
import json
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from crowd_games import Judge as Judge
from crowd_games import actions_of as actions_of
from crowd_games import played as played
from crowd_games import positions as positions
from processes import wait_until
from skyenv import Game
from skyenv.agents import Agent, CrowdAgent, RandomAgent
from skyenv.page.agents.catalogue import Catalogue, CatalogueEntry
from skyenv.page.browsers import COOKIE, new_token
from skyenv.page.library.games import Library, key_of, roots_of
from skyenv.page.library.replays import Replay
from skyenv.page.storage import ANY_BROWSER, HUMAN, MEMORY, Link, Storage
from skyenv.page.table.server import GameServer, new_game
from skyenv.page.web import application
from skyenv.rules.actions import BID, BID_DONE, PASS
from skyenv_agents import GreedyAgent

Json = dict[str, Any]
Client = httpx2.Client


def few(values: Iterable[Any], *kept: Any) -> list[Any]:
    """Return parameters, of which all but `kept` are marked as long."""
    return [
        pytest.param(value, marks=() if value in kept else pytest.mark.long, id=str(value))
        for value in values
    ]


def quick_catalogue(*more: Agent) -> Catalogue:
    """Return fast agents, and those given."""
    agents = GreedyAgent(), RandomAgent(), CrowdAgent(), *more
    return Catalogue(CatalogueEntry(agent.name, agent) for agent in agents)


def judged_catalogue() -> Catalogue:
    """Return fast agents and an estimator of win chances."""
    return quick_catalogue(Judge())


def make_app(path: str | Path = MEMORY) -> Starlette:
    """Return the application with a database."""
    return application(Storage(path), quick_catalogue(), ["localhost"])


def client_of(app: Starlette, address: str = "127.0.0.1") -> TestClient:
    """Return a new client of a running application, at an address; as a context it runs the
    application.
    """
    return TestClient(app, base_url="http://localhost", client=(address, 50_000))


def led_to(answer: Any) -> str:
    """Return the API address of the seat or replay that a response leads to."""
    assert answer.status_code == 201, answer.text
    return re.sub(r"^/(\w+)/", r"/api/\1s/", answer.json()["page"])


def begin(client: Client, seats: Sequence[str], **options: Any) -> str:
    """Open the page and start a game.

    Returns: the API address of the client's seat.
    """
    client.get("/")
    wanted = {"players": len(seats), "side": "front", "seats": list(seats), **options}
    seat = led_to(client.post("/api/games", json=wanted))
    assert client.post(f"{seat}/pause", json={"seconds": 0}).status_code == 200
    return seat


def payload(client: Client, seat: str) -> Json:
    """Return a seat's payload."""
    answer = client.get(seat)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def wait_for_turn(client: Client, seat: str) -> Json:
    """Wait until the seat is to act or the game is over, by the lobby's list, which draws nothing."""
    there = [(seat.replace("/api/seats/", "/seat/"), state) for state in ("your turn", "over")]
    wait_until(
        lambda: any(
            (game["page"], game["state"]) in there
            for game in client.get("/api/games").json()["games"]
        )
    )
    return payload(client, seat)


def act(client: Client, seat: str, state: Json, *actions: int) -> Any:
    """Play a choice from `state`; without actions, one that shortens the game."""
    choice = {"actions": actions or choice_of(state), "step": state["step"]}
    return client.post(f"{seat}/act", json=choice)


def play_to_end(client: TestClient, seat: str) -> Json:
    """Play to the end; return the last payload."""
    while not (state := wait_for_turn(client, seat))["over"]:
        assert act(client, seat, state).status_code == 200
    return state


def choice_of(state: Json) -> list[int]:
    """Return a complete choice that shortens the game: bids of one card if passing is illegal."""
    actions = [choice["action"] for choice in state["legal"]]
    action = PASS if PASS in actions else quick(actions)
    return [action, BID_DONE] if BID <= action < BID_DONE else [action]


def quick(actions: Sequence[int]) -> int:
    """Return the action that shortens the game most: businesses and high bids."""
    return min(
        actions,
        key=lambda action: (0 if 1 <= action <= 4 else 2 if action in (0, 5, 78) else 1, action),
    )


def opened(client: TestClient, game: Game, names: list[str] | None = None) -> str:
    """Upload a game's record; return the API address of the replay."""
    client.get("/")
    return led_to(client.post("/api/replays", content=game.to_record(names)))


def replay_of(game: Game, names: list[str] | None = None) -> Replay:
    """Return a game's replay."""
    return Replay.of(game.to_record(names).encode(), 1)


@contextmanager
def in_library(folder: Path, game: Game) -> Iterator[tuple[TestClient, TestClient, str]]:
    """Yield two clients of an application with a library game, and the game's API address."""
    (folder / "game.jsonl").write_text(game.to_record(), encoding="utf-8")
    library = Library(roots_of([folder]))
    app = application(Storage(MEMORY), judged_catalogue(), ["localhost"], library=library)
    with client_of(app) as client:
        client.get("/")
        yield client, another(app), f"/api/replays/{key_of(f'{folder.name}/game.jsonl')}/1"


def seated(*players: TestClient | str | None, game: Game | None = None) -> list[str]:
    """Store a game and give the ways to its seats in the interface, "" for agents.

    Args:
        players: for every seat a browser, an agent's name, or None, which leaves it free; the first
            browser has made the game.
        game: what has been played; None: nothing yet.
    """
    browsers = [each for each in players if isinstance(each, TestClient)]
    for browser in browsers:
        browser.get("/")
    game = game or Game(len(players), seed=1)
    agents = tuple(each if isinstance(each, str) else HUMAN for each in players)
    assert game.seed is not None
    options = {"pause": 0.0, "actions": actions_of(game), "max_turns": game.max_turns}
    stored = new_game(name_of(browsers[0]), game.seed, agents, game.side, **options)
    links = [
        Link(new_token(), stored.id, seat, name_of(each) if isinstance(each, TestClient) else None)
        for seat, each in enumerate(players)
        if not isinstance(each, str)
    ]
    links.append(Link(new_token(), stored.id, None, ANY_BROWSER))
    asyncio.run(server_of(browsers[0]).store(stored, links))
    ways = {link.seat: f"/api/seats/{link.token}" for link in links}
    return [ways.get(seat, "") for seat in range(len(players))]


def name_of(client: TestClient) -> str:
    """Return a client's name, assigned by the server."""
    return client.cookies[COOKIE].partition(".")[0]


def server_of(client: TestClient) -> GameServer:
    """Return a client's game server."""
    return cast(GameServer, cast(Any, client.app).state.server)


def address_of(server: subprocess.Popen[str]) -> str:
    """Return the address that a server program prints."""
    assert server.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
    assert found
    return found[0]


class RunningServer:
    """The page on a real port, in a thread.

    Args:
        app: what is served.
        port: 0: a free one.

    Attributes:
        address: where the page is.
    """

    def __init__(self, app: Any, port: int = 0) -> None:
        from skyenv.page.commands import listen, server_of

        listening = listen("127.0.0.1", port)
        self.port: int = listening.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._server = server_of(app, log_level="error", timeout_graceful_shutdown=1)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]})
        self._thread.start()
        wait_until(lambda: self._server.started or not self._thread.is_alive())
        assert self._server.started

    def stop(self) -> None:
        """Stop the server."""
        self._server.should_exit = True
        self._thread.join()


def another(app: Starlette, address: str = "127.0.0.1") -> TestClient:
    """Return another client, which has opened the page."""
    client = client_of(app, address)
    client.get("/")
    return client


def watch(client: TestClient, seat: str, headers: dict[str, str] | None = None) -> Any:
    """Open the WebSocket of a seat's changes."""
    return client.websocket_connect(f"ws://localhost{seat}/changes", headers=headers or {})


def drawn(payload: dict[str, Any]) -> str:
    """Return the SVG of all parts of a payload's drawing."""
    return "".join(text for _, text in payload["drawing"].values())


def check_is_told_to(seat: int, state: Json) -> None:
    """Fail unless only the hand of `seat` is open (-1: none), without the seed and others' drawn
    cards.

    Knowledge of other cards is checked in tests/guarantees.
    """
    text = json.dumps(state)
    assert "4242424242424242" not in text
    assert not re.search(rf"seat [^{seat + 1}] \(\w+\) draws a black [456]", text)
    assert set(re.findall(r'data-card="(\d):', drawn(state))) <= {str(seat)}
