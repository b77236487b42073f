"""Helpers of the page's browser tests: a recording site, stored positions, and steps of flows."""

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from accessibility import check_accessible
from chromium import Browser, open_game
from pages import RunningServer, quick_catalogue
from selenium.webdriver.common.keys import Keys
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skyenv import Game
from skyenv.agents import CrowdAgent, decide_game
from skyenv.page.browsers import COOKIE
from skyenv.page.storage import Storage
from skyenv.page.web import application

PASS: Final = 78
# What is to be read of something that is there.
HERE: Final = "."
# What is to be read of something that isn't there, or can't be seen.
GONE: Final = "^$"
# What a person does: one of `VERBS` and its object, or nothing; a selector; a pattern that the
# first such element that can be seen has in its name or text then.
Step = tuple[str, str, str]


class Listener:
    """An ASGI wrapper that records requests and responses, by client.

    Attributes:
        asked: paths.
        heard: for every answer the browser's name, the path and the content.
        held: paths whose answers wait.
        answers: what is answered instead, by path.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.asked: list[str] = []
        self.heard: list[tuple[str, str, bytes]] = []
        self.held: set[str] = set()
        self.answers: dict[str, Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        path, headers = scope.get("path", ""), dict(scope.get("headers", ()))
        headers.pop(b"accept-encoding", None)  # nothing is packed
        cookie = re.search(rf"{COOKIE}=([\w.-]+)", headers.get(b"cookie", b"").decode())
        content = bytearray()

        async def listen(message: Message) -> None:
            content.extend(message.get("body", b"") or (message.get("text") or "").encode())
            if content and not message.get("more_body"):
                self.heard.append((cookie[1] if cookie else "", path, bytes(content)))
                content.clear()
            await send(message)

        self.asked.append(path)
        while path in self.held:
            await asyncio.sleep(0.01)
        app = JSONResponse(self.answers[path]) if path in self.answers else self.app
        await app({**scope, "headers": [*headers.items()]}, receive, listen)


class Site(RunningServer):
    """The page with fast agents, on a real port.

    Args:
        folder: where its games are kept.
        port: 0: a free one.
        options: of the application.
    """

    def __init__(self, folder: Path, port: int = 0, **options: Any) -> None:
        self.storage = Storage(folder / "games.sqlite3")
        self.listener = Listener(
            application(self.storage, quick_catalogue(), ["127.0.0.1"], **options)
        )
        super().__init__(self.listener, port)


# ---- stored positions ----

POSITIONS: Final[dict[str, Callable[[Game], bool]]] = {
    "place": lambda game: True,
    "option": lambda game: game.phase == "option",
    "take": lambda game: set(range(55, 59)) <= set(game.legal_actions),
    "move": lambda game: sum(69 <= action < 78 for action in game.legal_actions) > 1,
    "bid": lambda game: len(game.legal_actions) > 6 and game.phase == "bid",
    "raise": lambda game: (
        PASS in game.legal_actions
        and len(game.legal_actions) > 3
        and game.state["bid_total"][0] > 0
    ),
    "alea": lambda game: (
        PASS in game.legal_actions and any(one["event"] == "alea" for one in game.copy().play(PASS))
    ),
    "last": lambda game: any(
        one["event"] == "end" for one in game.copy().play(game.legal_actions[0])
    ),
    "over": lambda game: False,
}


@cache
def moves_before(position: str, players: int = 2) -> list[int]:
    """Return the actions of crowd agents up to seat 0's decision at a position, or to the end."""
    game, agent, actions = Game(players, seed=2), CrowdAgent(), list[int]()
    while not game.is_over and (game.seat != 0 or not POSITIONS[position](game)):
        actions.append(decide_game(game, agent))
        game.play(actions[-1])
    return actions


def sit_at(page: Browser, site: Site, position: str, pause: float = 0, players: int = 2) -> None:
    """Open a stored position as seat 0 against greedy agents."""
    moves = moves_before(position, players)
    open_game(page, site.address, site.storage, players, 2, moves)
    set_value(page, f"#pause {pause}")


def begin(page: Browser, site: Site, *seats: str, **options: Any) -> None:
    """Start a game without pauses."""
    page.open(f"{site.address}/rules")
    page.run(
        "const body = JSON.stringify(arguments[0]), headers = {'Content-Type': 'application/json'};"
        "return fetch('/api/games', {method: 'POST', body, headers}).then((answer) => answer.json())"
        ".then(({page}) => { location.href = page; })",
        {"players": len(seats), "side": "front", "seats": seats, **options},
    )
    page.wait("#board svg")
    set_value(page, "#pause 0")


# ---- what a person does ----


def click(page: Browser, selector: str) -> None:
    """Click an element; for a part of the drawing, a point where it is on top."""
    if not selector.startswith("#board"):
        page.click(selector)
        return
    page.wait(selector)
    point = page.run(
        """
        const part = document.querySelector(arguments[0]), button = part.closest("[role=button]");
        part.scrollIntoView({block: "center", behavior: "instant"});
        const box = part.getBoundingClientRect(), on = (x, y) => document.elementFromPoint(x, y);
        for (let n = 1; n < 40; n++) for (let k = 1; k <= n; k++) {
          const x = box.left + box.width * k / (n + 1), y = box.top + box.height * (n + 1 - k) / (n + 1);
          if (part.contains(on(x, y)) && on(x, y).closest("[role=button]") === button) return [x, y];
        }
        return null;
    """,
        selector,
    )
    assert point is not None, f"{selector} can't be clicked anywhere"
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        button = "none" if kind == "mouseMoved" else "left"
        event = {
            "type": kind,
            "x": round(point[0]),
            "y": round(point[1]),
            "button": button,
            "clickCount": 1,
        }
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def press(page: Browser, key: str) -> None:
    """Press a key: a letter or one of selenium's names."""
    page.driver.switch_to.active_element.send_keys(getattr(Keys, key, key))


def set_value(page: Browser, field_and_value: str) -> None:
    """Set a field's value."""
    page.run(
        """
        const field = document.querySelector(arguments[0]);
        field.value = arguments[1];
        for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, {bubbles: true}));
        """,
        *field_and_value.rsplit(" ", 1),
    )


VERBS: Final[dict[str, Callable[[Browser, str], object]]] = {
    "click": click,
    "press": press,
    "set": set_value,
    "point": lambda page, selector: page.run(
        "document.querySelector(arguments[0]).dispatchEvent("
        "new PointerEvent('pointermove', {bubbles: true, clientX: 300, clientY: 300}))",
        selector,
    ),
    "blur": lambda page, _: page.run("document.activeElement.blur()"),
    "focus": lambda page, selector: page.run(
        "document.querySelector(arguments[0]).focus()", selector
    ),
    "reload": lambda page, _: page.driver.refresh(),
    "back": lambda page, _: page.driver.back(),
    "check": lambda page, _: check_accessible(page),
}


def read(page: Browser, selector: str) -> str:
    """Return the accessible name and text of the first visible match; "" without one."""
    return str(
        page.run(
            """
            const part = [...document.querySelectorAll(arguments[0])].find((one) => one.checkVisibility());
            return part ? `${part.getAttribute("aria-label") ?? ""} ${part.textContent}` : "";
            """,
            selector,
        )
    )


def follow(page: Browser, steps: Sequence[Step]) -> None:
    """Perform the steps of a flow; after each, wait for its expected text."""
    for does, selector, pattern in steps:
        verb, _, what = does.partition(" ")
        if verb:
            VERBS[verb](page, what)

        def is_read(selector: str = selector, pattern: str = pattern) -> bool:
            return re.search(pattern, read(page, selector)) is not None

        page.wait_until(is_read, f"{pattern!r} in {selector} behind {does!r}")
