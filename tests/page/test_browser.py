"""The page in a real browser: played by clicking, by keyboard, on a phone; replays and exports."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from accessibility import check_accessible, violations
from damage import damaged
from pages import RunningServer, check_is_known, few, played, quick, quick_catalogue
from pondering import MOST, PonderingAgent
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from experiments.tools.chromium import Browser, browser, sit_down
from processes import Threads
from skyenv import Game
from skyenv.agents import CrowdAgent, Decisions, RandomAgent, decide_game
from skyenv.page import people
from skyenv.page.browsers import COOKIE
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.chart import NARROW, SHARE, WIDTH, chart
from skyenv.page.export import exported
from skyenv.page.replays import Replay
from skyenv.page.storage import Storage
from skyenv.page.web import application
from skyenv_agents import GreedyAgent, TrainedAgent

HOSTS = ["127.0.0.1"]
PASS = 78


class Listener:
    """Writes down all that goes to the browsers, by their names; what is asked of the paths in
    `held` waits.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.asked: list[str] = []
        self.queries: list[str] = []
        self.held: set[str] = set()
        self.heard: list[tuple[str, str, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        cookies = dict(scope.get("headers", ())).get(b"cookie", b"").decode()
        match = re.search(rf"{COOKIE}=([\w.-]+)", cookies)
        name, content, packed = match[1] if match else "", bytearray(), False

        async def listen(message: Message) -> None:
            nonlocal packed
            if message["type"] == "http.response.start":
                packed = (b"content-encoding", b"gzip") in message["headers"]
            content.extend(message.get("body", b"") or (message.get("text") or "").encode())
            if message["type"] in ("http.response.body", "websocket.send") and not message.get(
                "more_body"
            ):
                self.heard.append(
                    (
                        name,
                        scope["path"],
                        gzip.decompress(bytes(content)) if packed else bytes(content),
                    )
                )
                content.clear()
            await send(message)

        self.asked.append(scope.get("path", ""))
        self.queries.append(scope.get("query_string", b"").decode())
        while scope.get("path", "") in self.held:
            await asyncio.sleep(0.01)
        await self.app(scope, receive, listen)


@pytest.fixture
def listener(tmp_path: Path) -> Listener:
    return Listener(application(Storage(tmp_path / "games.sqlite3"), quick_catalogue(), HOSTS))


@pytest.fixture
def server(listener: Listener) -> Iterator[RunningServer]:
    running = RunningServer(listener)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    """One for all tests that need just any browser: it takes seconds to start."""
    with browser() as opened:
        yield opened


@pytest.fixture
def ann(shared: Browser) -> Iterator[Browser]:
    """A browser that knows of nothing."""
    assert shared.driver.get_cookies() == []
    yield shared
    try:
        assert shared.complaints() == []
    finally:
        shared.forget()


def test_a_browser_forgets(ann: Browser, server: RunningServer) -> None:
    ann.open(f"{server.address}/")
    ann.wait("#strengths input")
    ann.run("localStorage.setItem('theme', 'dark')")
    assert ann.driver.get_cookie(COOKIE) is not None
    ann.forget()
    ann.open(f"{server.address}/static/icon.svg")
    assert ann.run("return localStorage.length") == 0
    assert ann.driver.get_cookies() == []


def test_what_nobody_can_use_is_found(ann: Browser, server: RunningServer) -> None:
    """The check itself, in a page with the strict policy."""
    ann.open(f"{server.address}/")
    ann.wait("#strengths input")
    ann.run("""
        const icon = document.querySelector("main").appendChild(document.createElement("img"));
        icon.id = "unnamed";
        icon.src = "/static/icon.svg";
        const pale = document.querySelector("main").appendChild(document.createElement("p"));
        pale.id = "pale";
        pale.style.color = "#ccc";
        pale.textContent = "hard to read";
    """)
    found = violations(ann, "#unnamed") + violations(ann, "#pale")
    assert {one.split(" (")[0] for one in found} == {"image-alt", "color-contrast"}


def begin(
    page: Browser, server: RunningServer, *seats: str, seed: str = "", name: str = ""
) -> None:
    """Fill in the lobby's form."""
    page.open(f"{server.address}/#custom")
    page.wait("#seat-1")
    if len(seats) > 2:
        page.run(
            "const p = document.getElementById('players'); p.value = arguments[0]; "
            "p.dispatchEvent(new Event('change'))",
            str(len(seats)),
        )
    for number, seat in enumerate(seats):
        page.run(
            "document.getElementById(arguments[0]).value = arguments[1]", f"seat-{number}", seat
        )
    page.run("document.getElementById('name-0').value = arguments[0]", name)
    page.wait("#seed").send_keys(seed)
    page.click("#new button.primary")
    page.wait("#board svg")
    page.run(
        "const p = document.getElementById('pause'); p.value = 0; p.dispatchEvent(new "
        "Event('change'))"
    )


def let_timers_run_out(page: Browser) -> None:
    """Wait until the page would have asked again, however busy the machine is.

    A page's timers go off in order: this one comes after the one that tries again (table.js,
    `wait`), and so does what it asks.
    """
    page.driver.execute_async_script("""
        const done = arguments[0];
        setTimeout(() => fetch("/static/icon.svg", {cache: "no-store"}).then(() => done()), 1500);
    """)


def state(page: Browser) -> dict[str, Any]:
    """What can be chosen now, and whether the game is over.

    `table`: actions that a click on the drawing is; `buttons` and `listed`: actions of buttons;
    `stacks`: colours of which two can be taken; `cards`: "colour:value" of those that can be laid
    down.
    """
    content: dict[str, Any] = page.run("""
        const numbers = (all, name) => [...document.querySelectorAll(all)].map((one) => Number(one.dataset[name]));
        const busy = document.querySelector("[data-take], .tray");
        return {over: !document.getElementById("finished").hidden, yours: document.body.classList.contains("yours"),
                step: document.getElementById("hint").dataset.step,
                table: busy ? [] : numbers("#board [role=button][data-action]", "action"),
                buttons: numbers("#buttons [data-choice], #foot [data-choice]", "choice"),
                listed: numbers("#places [data-choice]", "choice"), stacks: numbers("#buttons [data-take]", "take"),
                cards: [...document.querySelectorAll("[data-more]:enabled")].map((one) => one.dataset.more)};
    """)
    return content


def picture(page: Browser) -> str:
    """The table as it is drawn, without what still moves to its place."""
    drawn: str = page.run("""
        const svg = document.querySelector("#board svg").cloneNode(true);
        for (const flying of svg.querySelectorAll(".flying")) flying.remove();
        return svg.outerHTML;
    """)
    return drawn


def choices(shown: dict[str, Any]) -> list[int]:
    """Actions that one of the choices begins with."""
    cards = [
        79 + 3 * int(colour) + int(value) - 4
        for colour, value in (card.split(":") for card in shown["cards"])
    ]
    return [
        *shown["table"],
        *shown["buttons"],
        *(55 + colour for colour in shown["stacks"]),
        *cards,
    ]


def play(page: Browser, shown: dict[str, Any], action: int) -> None:
    """Click what begins with an action: on the table if it stands there, else a button.

    Wait for what follows.
    """
    read_news(page)
    if action in shown["table"]:
        where = f'#board [role=button][data-action="{action}"]'
        bring(page, where)
        click_shape(page, where)
    elif 55 <= action < 60:
        other = next(colour for colour in reversed(shown["stacks"]) if colour != action - 55)
        for colour in (other, action - 55):  # in any order
            page.click(f'#buttons [data-take="{colour}"]')
    elif 79 <= action < 97:
        bid(page, action)
    else:
        page.click(f'#choices [data-choice="{action}"]')
    page.wait_until(
        lambda: agreed(page)["step"] != shown["step"], f"what follows from action {action}"
    )


def bid(page: Browser, action: int) -> None:
    """Lay down a card, and others until it is a bid; pass if it can't be one."""
    colour, rank = divmod(action - 79, 3)
    page.click(f'[data-more="{colour}:{rank + 4}"]')
    while not page.wait("#bid-done").is_enabled():
        if page.find("[data-more]:enabled") is None:
            page.click('#choices [data-choice="78"]')
            return
        page.click("[data-more]:enabled")
    page.click("#bid-done")


def agreed(page: Browser) -> dict[str, Any]:
    """What can be chosen now; questions before what can't be taken back get a yes."""
    if page.find("#asked-yes") is not None:
        page.run("document.getElementById('asked-yes')?.click()")
    return state(page)


def read_news(page: Browser) -> None:
    """Put away the cards about what is new: they lie over the page."""
    page.run("for (let n = 0; n < 20; n++) document.querySelector('#news button')?.click()")


def bring(page: Browser, selector: str) -> None:
    """Scroll something to the middle."""
    page.run(
        "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: "
        "'instant'})",
        selector,
    )


def click_shape(page: Browser, selector: str) -> None:
    """Click a point at which the part itself is on top, as a person would: its middle may be
    covered or empty.
    """
    point = page.run(
        """
        const part = document.querySelector(arguments[0]), box = part.getBoundingClientRect();
        const at = (x, y) => part.contains(document.elementFromPoint(x, y));
        for (let n = 1; n < 40; n++) for (let k = 1; k <= n; k++) {
          const x = box.left + box.width * k / (n + 1), y = box.top + box.height * (n + 1 - k) / (n + 1);
          if (at(x, y) && document.elementFromPoint(x, y).closest("[role=button]") === part) return [x, y];
        }
        return null;
    """,
        selector,
    )
    assert point is not None, f"{selector} can't be clicked anywhere"
    x, y = map(round, point)
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        page.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **button}
        )


def play_to_end(
    page: Browser, most: int = 400, look: Callable[[int], None] = lambda clicks: None
) -> int:
    """Play a whole game by clicking; the number of choices. `look` is called before each."""
    for clicks in range(most):
        page.wait_until(lambda: state(page)["over"] or state(page)["yours"], "a turn")
        shown = state(page)
        read_news(page)
        if shown["over"]:
            return clicks
        look(clicks)
        places = [*shown["listed"], *shown["buttons"]]
        assert set(places) >= set(shown["table"]), (
            "all that can be clicked on the table is a button, too"
        )
        play(page, shown, quick(choices(shown)))
    raise AssertionError("the game has no end")


def test_two_people_in_two_browsers_do_not_see_each_others_hands(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    begin(ann, server, "me", "agent:random", "human", "agent:crowd", seed="5050505050505")
    link = ann.wait("#invitation-list a").get_attribute("href")
    with browser() as bob:
        bob.open(str(link))
        bob.click("#take-button")
        bob.wait("#board svg")
        names = {
            page.driver.get_cookie(COOKIE)["value"]: seat  # type: ignore[index]
            for page, seat in ((ann, 0), (bob, 2))
        }
        taken = 0
        while taken < 24:
            for page in (ann, bob):
                if (shown := state(page))["yours"]:
                    play(page, shown, quick(choices(shown)))
                    taken += 1
        assert bob.complaints() == []
    replay = Replay.of(stored_game(ann, listener).to_record().encode(), 1)
    checked = 0
    parts: dict[str, dict[str, list[str]]] = {
        name: {} for name in names
    }  # of the drawing that each browser has
    for name, path, content in listener.heard:
        if path.endswith("/record"):
            continue
        assert b"5050505050505" not in content, path
        if re.fullmatch(r"/api/seats/[\w-]+", path) and content.startswith(b'{"seat"'):
            payload = json.loads(content)
            payload["drawing"] = parts[name] = parts[name] | payload["drawing"]
            check_is_known(replay, names[name], payload)
            assert payload["seat"] == names[name]
            checked += 1
        elif path.startswith("/api/seats/"):
            assert b"<g " not in content
    assert checked > 50


@pytest.mark.long
def test_names_presence_a_leaver_an_agent_for_him_and_his_return(
    ann: Browser, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "AWAY", 0.0)
    begin(ann, server, "me", "human", seed="3", name="Ann")
    link = ann.wait("#invitation-list a").get_attribute("href")
    with browser() as bob:
        bob.open(str(link))
        bob.wait("#take-name").send_keys("Bob")
        bob.click("#take-button")
        bob.wait("#board svg")
        ann.wait_until(lambda: "Bob" in ann.text("#people-list .here:nth-child(2)"), "Bob's coming")
        assert "Ann" in bob.text("#people-list .here:nth-child(1)")
        check_accessible(ann, "#people")
        bob.open("about:blank")
        ann.wait_until(lambda: "away since" in ann.text("#people-list"), "Bob's going")
        play(ann, state(ann), state(ann)["table"][0])
        ann.click("#people-list li:nth-child(2) button")
        ann.wait_until(lambda: "plays for Bob" in ann.text("#people-list"), "the agent")
        ann.wait_until(lambda: state(ann)["yours"], "the agent's moves")
        bob.open(str(link))
        bob.wait("#board svg")
        ann.wait_until(lambda: "who is here" in ann.text("#people-list"), "Bob's return")
        ann.click("#people-list li:nth-child(2) button")
        bob.wait_until(lambda: "agent" not in bob.text("#people-list"), "his seat")
        assert "you" in bob.text("#people-list .here:nth-child(2)")
        assert bob.complaints() == []


def test_a_spectator_sees_no_hidden_card(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="3")
    ann.click("#invite-spectators")
    link = ann.wait("#watch-link a").get_attribute("href")
    with browser() as eve:
        eve.open(str(link))
        eve.wait("#board svg")
        ann.wait_until(lambda: "1 person looks on" in ann.text("#lookers"), "the spectator")
        before = eve.run("return document.querySelector('#board svg').outerHTML")
        play(ann, state(ann), state(ann)["table"][0])
        eve.wait_until(
            lambda: eve.run("return document.querySelector('#board svg').outerHTML") != before,
            "what Ann did",
        )
        assert (
            eve.run(
                "return document.querySelectorAll('#board [data-card], #board "
                "[role=button]').length"
            )
            == 0
        )
        name = str((eve.driver.get_cookie(COOKIE) or {})["value"])
        assert eve.complaints() == []
    heard = b"".join(
        content
        for whose, path, content in listener.heard
        if whose == name and path.startswith("/api/seats/")
    )
    assert b"not known" in heard
    assert b"data-card" not in heard
    ann.wait_until(lambda: ann.text("#lookers") == "", "the end of looking on")


@pytest.mark.long
def test_a_spectator_paces_his_own_view_and_the_link_is_withdrawn(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "human", seed="3")
    assert "seat 2: " in ann.text("#invitation-list li"), "people count from 1"
    ann.click("#invite-spectators")
    link = str(ann.wait("#watch-link a").get_attribute("href"))
    with browser() as eve:
        eve.open(link)
        eve.wait("#board svg")
        assert (eve.find("#pause"), eve.find("#ask-first"), eve.find("#next").is_enabled()) == (  # type: ignore[union-attr]
            None,
            None,
            False,
        )
        eve.click("#hold")
        ann.wait_until(lambda: eve.text("#behind") == "paused", "the pause")
        assert ann.text("#hold") == "pause", "it is no one else's"
        step = state(eve)["step"]
        play(ann, state(ann), state(ann)["table"][0])
        eve.wait_until(lambda: eve.text("#behind") == "more has happened", "the news")
        assert state(eve)["step"] == step
        eve.click("#next")
        eve.wait_until(lambda: state(eve)["step"] == str(int(step) + 1), "the next position")
        eve.click("#hold")
        eve.wait_until(lambda: eve.text("#behind") == "", "going on")
        ann.click("#withdraw")
        ann.click("#asked-yes")
        eve.wait_until(lambda: "was withdrawn" in eve.text("#gone-text"), "the end of looking on")
        assert eve.complaints() == []
    ann.wait_until(
        lambda: ann.find("#withdraw") is None and ann.find("#watch-link a") is None,
        "the link's end",
    )
    ann.click("#invite-spectators")
    assert ann.wait("#watch-link a").get_attribute("href") != link


@pytest.mark.long
def test_two_at_one_screen_pass_the_device(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    """Behind the curtain nothing of a table is in the page, nor sent to it."""
    ann.open(f"{server.address}/#custom")
    ann.wait("#seat-1")
    ann.run(
        "const s = document.getElementById('seat-1'); s.value = 'me'; s.dispatchEvent(new "
        "Event('change'))"
    )
    assert "Several of you" in ann.wait("#hot").text
    for number, name in enumerate(("Ann", "Bob")):
        ann.run(
            "document.getElementById(arguments[0]).value = arguments[1]", f"name-{number}", name
        )
    ann.click("#new button.primary")
    for turn, name in enumerate(("Ann", "Bob", "Ann")):  # SET-7: the starting skyscrapers
        assert ann.wait("#curtain-title").text == f"Pass the device to {name}"
        check_accessible(ann)
        assert (
            ann.run(
                "return document.querySelectorAll('#board svg, #log li, "
                "#words-text:not(:empty)').length"
            )
            == 0
        )
        if turn == 2:
            break
        ann.click("#curtain-lift")
        ann.wait_until(lambda: ann.find("#board svg") and state(ann)["yours"], "the own table")
        for _ in range(1 + turn):  # Bob places two
            play_on(ann, state(ann))
    assert all(
        b"svg" not in content
        for _, _, content in listener.heard
        if content.startswith(b'{"curtain"')
    )
    assert any(content.startswith(b'{"curtain"') for _, _, content in listener.heard)


def play_on(page: Browser, shown: dict[str, Any]) -> None:
    """Take a choice on the table, and wait for what follows or for the curtain."""
    action = shown["table"][0]
    click_shape(page, f'#board [role=button][data-action="{action}"]')
    page.wait_until(
        lambda: (
            page.find("#curtain-title") is not None
            or (page.find("#board svg") and state(page)["step"] != shown["step"])
        ),
        "what follows",
    )


@pytest.mark.long
def test_a_takeback_and_a_rematch_by_clicking(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    game = Game(2, seed=11)
    sit_down_where(ann, server, listener, game, lambda game: int(game.state["decisions"]) > 271)
    first, table = state(ann), ann.driver.current_url
    play(ann, first, first["table"][0])
    ann.wait_until(lambda: state(ann)["yours"], "a turn")
    ann.run("document.getElementById('take-back').click()")  # what is new may still move it
    ann.wait_until(lambda: ann.driver.current_url != table and ann.find("#board svg"), "the copy")
    assert state(ann)["table"] == first["table"]
    assert "1 decision was taken back" in ann.wait("#taken-back").text
    ann.run(
        "const p = document.getElementById('pause'); p.value = 0; p.dispatchEvent(new "
        "Event('change'))"
    )
    play_to_end(ann)
    table = ann.driver.current_url
    ann.click("#rematch")
    ann.wait_until(
        lambda: ann.driver.current_url != table and ann.find("#board svg"), "the rematch"
    )
    assert "you" in ann.text("#people-list li:nth-child(2)")
    ann.open(f"{server.address}/")
    ann.wait_until(lambda: "1 decision taken back" in ann.text("#games"), "the copy's mark")
    assert ann.run("return document.querySelectorAll('#games li').length") == 3


SIZES = {"large": (1440, 900), "small": (1024, 768), "phone": (390, 844)}
"""Screens on which axe-core looks at every position."""
OTHER_SIZES = ((1366, 768), (844, 390), (683, 384))
"""Further ones that everything must fit on; the last is 1366 × 768 at a zoom of 200 %."""


NO_NEWS = """localStorage.setItem("news", '{"off": true, "seen": []}')"""
"""Cards about what is new lie over the page until they are read."""


def resize(page: Browser, width: int, height: int) -> None:
    """Give the page a screen of another size."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width in (390, 844)}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.wait_until(lambda: page.run("return innerWidth") == width, "the size")


FIT = """
    const isPhone = innerWidth === 390 || innerHeight === 390, found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push(`${document.documentElement.scrollWidth} px wide`);
    const all = [...document.querySelectorAll("header :is(a, button), main :is(a, button, select, input, summary)")];
    for (const one of all.filter((each) => each.checkVisibility() && !each.closest("svg, dialog"))) {
      one.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
      const target = one.closest("label") ?? one, box = target.getBoundingClientRect();
      const name = one.id || one.outerHTML.slice(0, 90);
      const inText = one.matches("p a, li a, h1 a");
      if (box.left < -1 || box.right > innerWidth + 1) found.push(`${name} sticks out: ${box.left} to ${box.right}`);
      if (isPhone && !inText && Math.min(box.height, box.width) < 43.5) found.push(`${name} is ${box.width} × ${box.height}`);
      const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      const isCovered = !one.disabled && !target.contains(at) && !at?.contains(target);
      if (isCovered) found.push(`${name} lies under ${at?.outerHTML.slice(0, 90)}`);
      if (one.scrollWidth > one.clientWidth + 1 && one.matches("button")) found.push(`${name} cuts its text`);
    }
    for (const text of ["#situation", "#auction", "#foot"]) {
      const part = document.querySelector(text);
      if (part.scrollWidth > part.clientWidth + 1) found.push(`${text} is cut`);
    }
    scrollTo(0, 0);
    return found;
"""
"""What of the page's controls is cut, covered, or too small for a finger."""
WATCH_SHIFTS = """
    window.shift = 0;
    window.moved = [];
    new PerformanceObserver((list) => {
      for (const one of list.getEntries().filter((each) => !each.hadRecentInput)) {
        window.shift += one.value;
        const names = one.sources.map(({node}) => node?.id || node?.className || node?.nodeName);
        window.moved.push(`${one.value.toFixed(4)} ${names}`);
      }
    }).observe({type: "layout-shift", buffered: true});
"""
KIND = "return ['.option', '[data-take]', '.tray', '#places li', '#buttons button'].find((one) => document.querySelector(one))"


def test_a_whole_game_by_clicks(ann: Browser, server: RunningServer) -> None:
    """Nothing jumps or is cut from the start to the end, where all is told and the record is whole."""
    begin(ann, server, "me", "agent:greedy", seed="11")
    resize(ann, *SIZES["small"])
    ann.run(NO_NEWS)
    try:
        ann.driver.refresh()
        ann.wait("#board svg")
        ann.run(WATCH_SHIFTS)
        looked: set[str] = set()

        def look(clicks: int) -> None:
            kind = ann.run(KIND)
            if kind not in looked:
                looked.add(kind)
                assert ann.run(FIT) == [], (kind, clicks)

        assert play_to_end(ann, look=look) > 20
        assert {".option", "[data-take]", ".tray", "#places li"} <= looked
        assert ann.run("return window.shift") < 0.02, ann.run("return window.moved")
    finally:
        ann.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert " win" in ann.text("#situation")
    ann.click("#final-all")
    address = ann.wait("#record").get_attribute("href")
    text = ann.run("return fetch(arguments[0]).then((answer) => answer.text())", address)
    game = Game.from_record(text)
    assert game.is_over
    assert game.seed == 11
    for score in game.scores:
        assert str(score) in ann.text("#final tbody:last-of-type")
    ann.click("#replay")
    ann.wait("#step")
    assert ann.text("#count") == f"0 / {int(game.state['decisions'])}"


POSITIONS: dict[str, tuple[int, Callable[[Game], bool]]] = {
    "start": (3, lambda game: True),
    "option": (4, lambda game: sum(6 <= action < 13 for action in game.legal_actions) == 2),
    "take": (2, lambda game: 55 in game.legal_actions and len(game.legal_actions) > 1),
    "bid": (2, lambda game: len(game.legal_actions) > 6 and game.phase == "bid"),
    "build": (2, lambda game: game.phase == "build" and len(game.legal_actions) > 1),
    "end": (4, lambda game: False),
}
"""Players, and what is to be decided; two districts that can be scored make the longest list of
options.
"""
BREADTH = "return document.querySelector('#board svg').viewBox.baseVal.width"
LEAST_TEXT = 11.95
"""Pixels."""
READABLE = """
    const [least, tight] = arguments, isPhone = document.getElementById("zoom").checkVisibility(), found = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const part = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
      const isSeen = part.checkVisibility({opacityProperty: true, visibilityProperty: true});
      if (!text || !isSeen || part.closest("script, style, title, .unseen")) continue;
      const scale = part.getScreenCTM && part.closest("svg") ? part.getScreenCTM() : {b: 0, d: 1};
      const size = parseFloat(getComputedStyle(part).fontSize) * Math.hypot(scale.b, scale.d);
      if (size < least) found.push(`${text.slice(0, 20)} is ${size.toFixed(1)} px high`);
    }
    const dock = document.getElementById("dock"), frame = dock.getBoundingClientRect();
    if (frame.bottom > innerHeight + 1 || frame.top < 0) found.push(`the dock reaches from ${frame.top} to ${frame.bottom}`);
    const boxes = [];
    for (const one of dock.querySelectorAll("button, a.button, summary")) {
      if (!one.checkVisibility()) continue;
      const box = one.getBoundingClientRect(), name = one.id || one.textContent, holder = one.closest("#offered");
      const inside = (holder ?? dock).getBoundingClientRect(), mayScroll = holder && !tight;
      if (box.left < inside.left - 1 || box.right > inside.right + 1) found.push(`${name} is cut at a side`);
      if (!mayScroll && (box.top < inside.top - 1 || box.bottom > inside.bottom + 1)) found.push(`${name} is cut`);
      if (isPhone && Math.min(box.width, box.height) < 43.5) found.push(`${name} is ${box.width} × ${box.height}`);
      for (const [other, its] of boxes) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (Math.min(across, down) > 1) found.push(`${name} lies on ${other}`);
      }
      const {left, right} = box, top = Math.max(box.top, inside.top), bottom = Math.min(box.bottom, inside.bottom);
      boxes.push([name, {left, right, top, bottom}]);
    }
    for (const one of dock.querySelectorAll("*")) {
      const isWider = one.clientWidth && !one.matches(".unseen") && one.scrollWidth > one.clientWidth + 1;
      if (isWider) found.push(`${one.id || one.className || one.nodeName} is wider than its place`);
    }
    if (isPhone) {
      for (const part of document.querySelectorAll("#board [data-plot]")) {
        const {width, height} = part.getBoundingClientRect();
        if (Math.min(width, height) < 43.5) found.push(`${part.getAttribute("aria-label")} is ${width} × ${height}`);
      }
    }
    return found;
"""
"""What can't be read, or is cut or covered in the dock; `tight`: all choices have to be seen at
once, without scrolling.
"""


@pytest.mark.parametrize("position", few(POSITIONS, "bid", "end"))
def test_a_position_fits_every_screen_and_can_be_read_and_used(
    ann: Browser, server: RunningServer, listener: Listener, position: str
) -> None:
    """Nothing is cut or covered, all text can be read, and axe-core finds nothing."""
    players, is_there = POSITIONS[position]
    ann.open(f"{server.address}/")
    ann.run(NO_NEWS)
    sit_down_where(ann, server, listener, Game(players, seed=7), is_there)
    if position == "end":
        ann.click("#final-all")
    sizes = *SIZES.values(), *OTHER_SIZES, (1280, 720), (1263, 720), (1262, 720), (1152, 720)
    try:
        for width, height in sizes:
            resize(ann, width, height)
            breadth = 640 if width < 1263 else 1200
            ann.wait_until(lambda its=breadth: ann.run(BREADTH) == its, "the drawing for that size")  # type: ignore[misc]
            ann.run("scrollTo(0, 0)")
            tight = width > 860 and position == "option"
            assert ann.run(READABLE, LEAST_TEXT, tight) == [], (width, height)
            if (width, height) in (*SIZES.values(), *OTHER_SIZES):
                assert ann.run(FIT) == [], (width, height)
            if (width, height) in SIZES.values():
                check_accessible(ann)
    finally:
        ann.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_board_of_a_phone_is_shown_as_a_whole_and_large(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    resize(ann, 390, 844)
    try:
        ann.driver.refresh()
        ann.wait("#board svg")
        width = "const svg = document.querySelector('#board svg'); return svg.getBoundingClientRect().width"
        assert ann.run(width) == 640
        assert (
            ann.run("return document.querySelector('[data-part=city]').getBoundingClientRect().top")
            < 50
        ), "the city comes first"
        ann.click("#zoom")
        assert ann.run(width) <= 390
        ann.driver.refresh()
        ann.wait("#board svg")
        assert ann.run(width) <= 390
        ann.click("#zoom")
        assert ann.run(width) == 640
    finally:
        ann.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


RULES = {
    "rules": False,
    "ready": False,
    "error": "",
    "about": "the rules",
    "done": 40,
    "total": 99,
    "elapsed": 12,
}
SEARCH = {"name": "ismcts", "ready": False, "state": "preparing", "error": ""}
WAITING = {
    "rules": {**RULES, "agents": []},
    "agents": {**RULES, "rules": True, "agents": [SEARCH]},
    "error": {**RULES, "error": "the rules can't be compiled", "agents": []},
}
"""What the server tells while it gets ready."""


@pytest.mark.parametrize("what", few(WAITING, "agents"))
def test_pages_that_wait_are_accessible(ann: Browser, server: RunningServer, what: str) -> None:
    """A game of the library that is being opened, and the lobby, while everything gets ready; in
    both themes.
    """
    script = f"""
        const real = window.fetch, told = {json.dumps(WAITING[what])};
        window.fetch = (address, options) => String(address).endsWith("/api/preparing") ? Promise.resolve(Response.json(told))
          : String(address).includes("/api/library/") ? new Promise(() => {{}}) : real(address, options);
    """
    added = ann.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        for theme in ("light", "dark"):
            for path, shown in (("/library/0123/1", "#status"), ("/", "#strengths input")):
                ann.open(f"{server.address}{path}")
                ann.run("localStorage.setItem('theme', arguments[0])", theme)
                ann.driver.refresh()
                ann.wait(shown)
                ann.wait("#preparing")
                if what == "rules":  # 40 of 99 functions, and something to do
                    assert ann.run(
                        "return document.querySelector('#preparing progress').value"
                    ) == pytest.approx(40 / 99)
                    assert ann.find("#preparing a[href='/rules']") is not None
                assert ann.run("return document.documentElement.dataset.theme") == theme
                check_accessible(ann)
    finally:
        ann.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def until_an_auction(page: Browser) -> dict[str, Any]:
    """Play until a bid can be laid down: commissioners are moved."""
    for _ in range(200):
        page.wait_until(lambda: state(page)["yours"], "a turn")
        shown = state(page)
        if shown["cards"]:
            return shown
        play(page, shown, max(action for action in choices(shown) if action != PASS))
    raise AssertionError("no auction came")


def test_a_bid_is_laid_together_in_any_order_and_explained(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    until_an_auction(ann)
    drawn = ann.run("return document.querySelector('#board svg').outerHTML")
    assert not ann.wait("#bid-done").is_enabled()
    assert "no card laid down" in ann.text("#foot")
    black = ann.run("return document.querySelector('[data-more^=\"5:\"]').dataset.more")
    ann.click(f'[data-more="{black}"]')  # the black card first
    assert "must be a coloured one" in ann.text("#foot")
    colour = ann.run(
        "return document.querySelector('[data-more]:enabled:not([data-more^=\"5:\"])').dataset.more"
    )
    ann.click(f'[data-more="{colour}"]')
    other = ann.run(
        "return [...document.querySelectorAll('[data-more]')].map((one) => [one.dataset.more[0], "
        "one.disabled])"
    )
    assert all(is_disabled for which, is_disabled in other if which not in ("5", colour[0])), (
        "one colour is enough"
    )
    total = sum(int(card[-1]) for card in (black, colour))
    assert f"Total {total}" in ann.text("#foot")
    ann.driver.refresh()  # nothing is lost
    ann.wait_until(lambda: f"Total {total}" in ann.text("#foot"), "the cards that were laid down")
    ann.click(f'[data-less="{black}"]')
    assert f"Total {colour[-1]}" in ann.text("#foot")
    ann.click("#bid-empty")
    assert ann.run("return document.querySelectorAll('#board .chosen').length") == 0
    strip = "return document.querySelector('#board svg').outerHTML.replace(/ (class|role|tabindex|aria-[a-z]+)=.[^\"]*./g, '')"
    assert len(ann.run(strip)) <= len(drawn)
    for card in (black, colour):
        ann.click(f'[data-more="{card}"]')
    shown = state(ann)
    ann.click("#bid-done")
    ann.wait_until(lambda: state(ann)["step"] != shown["step"], "what follows")
    assert f"you) bids {total} with" in ann.text("#log")


def test_two_cards_are_taken_in_any_order(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    while True:
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        shown = state(ann)
        if shown["stacks"]:
            break
        play(ann, shown, min(choices(shown)))
    for stack in (4, 4, 3):  # chosen, put back, another one
        bring(ann, f'#board [data-stack="{stack}"]')
        click_shape(ann, f'#board [data-stack="{stack}"]')
    assert ann.run(
        "return [...document.querySelectorAll('.chosen')].map((one) => one.dataset.stack)"
    ) == ["3"]
    assert ann.run(
        "return [...document.querySelectorAll('[aria-pressed=true]')].map((one) => "
        "one.dataset.take)"
    ) == ["3"]
    click_shape(ann, '#board [data-stack="0"]')
    ann.wait_until(lambda: state(ann)["step"] != shown["step"], "what follows")
    taken = re.findall(r"you\) takes (\w+) [456]", ann.text("#log"))
    assert taken[-2:] == ["green", "orange"]


def test_a_turn_is_taken_back_until_a_card_is_turned_up(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    ann.wait_until(
        lambda: ann.find('[data-option="A"]') is not None or placed_first(ann), "an option"
    )
    before, log = state(ann), ann.text("#log-lines")
    ann.click('[data-option="A"] button')
    ann.wait_until(lambda: state(ann)["stacks"], "the cards")
    ann.click("#undo")
    ann.wait_until(lambda: state(ann) == before, "the position before")
    assert ann.text("#log-lines") == log
    ann.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', bubbles: true}))")
    ann.wait_until(lambda: state(ann)["stacks"], "the cards again")
    play(ann, state(ann), 55)
    assert ann.find("#undo") is None


def placed_first(page: Browser) -> bool:
    """Place the starting skyscrapers; False."""
    shown = state(page)
    if shown["yours"] and shown["listed"]:
        play(page, shown, shown["listed"][0])
    return False


@pytest.mark.long
def test_forced_moves_are_played_and_told_unless_that_is_switched_off(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:greedy", "agent:greedy", seed="2")

    def forced() -> bool:
        for _ in range(30):
            if "forced" in ann.text("#log"):
                return True
            shown = state(ann)
            if shown["over"]:
                return False
            if shown["yours"]:
                play(ann, shown, quick(choices(shown)))
        return False

    ann.wait_until(forced, "a forced move")
    ann.run("const f = document.getElementById('forced'); f.checked = false; f.onchange()")
    told = ann.text("#log").count("forced")

    def single() -> bool:
        shown = state(ann)
        if shown["yours"] and len(choices(shown)) == 1:
            return True
        if shown["yours"]:
            play(ann, shown, quick(choices(shown)))
        return bool(shown["over"])

    ann.wait_until(single, "a decision with one choice")
    assert ann.text("#log").count("forced") == told


def stored_game(page: Browser, listener: Listener) -> Game:
    """The browser's only game, as far as it has been played."""
    storage = storage_of(listener)
    name = str((page.driver.get_cookie(COOKIE) or {})["value"]).partition(".")[0]
    (link,) = storage.links_of(name)
    stored = storage.game(link.game)
    game = Game(stored.players, seed=stored.seed)
    for action in storage.actions(stored.id):
        game.play(action)
    return game


def storage_of(listener: Listener) -> Storage:
    """The server's storage."""
    application: Any = listener.app
    storage: Storage = application.state.server.storage
    return storage


def sit_down_where(
    page: Browser,
    server: RunningServer,
    listener: Listener,
    game: Game,
    is_there: Callable[[Game], bool],
) -> None:
    """Sit down at a game among greedy players, where seat 0 is to act and that is true, or at its
    end.
    """
    agent, actions, seed = GreedyAgent(), [], game.seed
    while not game.is_over and (game.seat != 0 or not is_there(game)):
        actions.append(decide_game(game, agent))
        game.play(actions[-1])
    assert seed is not None
    sit_down(page, server.address, storage_of(listener), game.num_players, seed, actions)


def too_little(listener: Listener, server: RunningServer, page: Browser) -> None:
    """Sit down where the cards of the hand come to less than the highest bid: passing is the only
    choice.
    """

    def no_bid(game: Game) -> bool:
        return game.legal_actions == [PASS] and bool(game.state["hand"][0].any())

    sit_down_where(page, server, listener, Game(3, seed=1), no_bid)


def test_cards_that_come_to_too_little_cannot_be_clicked(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    ann.open(f"{server.address}/")
    ann.run("localStorage.setItem('forced', 'off')")
    too_little(listener, server, ann)
    assert state(ann)["buttons"] == [PASS]
    assert ann.run("return document.querySelectorAll('#board .legal').length") == 0
    assert explained(ann, "#board [data-card^='0:']").partition(" — ")[2], "it says why"
    shown = state(ann)
    play(ann, shown, PASS)


LOSE_FIRST_ACT = """
    const real = window.fetch;
    let lost = 0;
    window.fetch = async (address, options) => {
      if (!String(address).endsWith("/act") || lost++) {
        const answer = await real(address, options);
        if (LOSS !== "undone" || !String(address).includes("?page=1")) return answer;
        const state = await answer.json();
        return Response.json({...state, undone: state.undone + lost});
      }
      window.isLost = true;
      if (LOSS === "gone") throw new TypeError("gone");
      return Response.json({});
    };
"""


@pytest.mark.parametrize("loss", few(["gone", "undone"], "gone"))
def test_a_forced_move_is_played_again_that_did_not_come_through(
    ann: Browser, server: RunningServer, listener: Listener, loss: str
) -> None:
    """The server couldn't be reached; or what was played was taken back, and the same step comes
    again.
    """
    script = ann.driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": f"const LOSS = '{loss}';{LOSE_FIRST_ACT}"},
    )
    try:
        too_little(listener, server, ann)
        ann.wait_until(lambda: ann.run("return window.isLost"), "the move that is lost")
        step = state(ann)["step"]
        ann.click('[aria-label="Light or dark"]')  # everything is asked for anew
        ann.wait_until(lambda: state(ann)["step"] != step, "the forced move")
    finally:
        ann.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


@pytest.mark.long
def test_an_answer_counts_when_the_table_was_told_again_meanwhile(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    shown = until_an_auction(ann)
    ann.click('#foot [data-choice="78"]')
    ann.wait("#asked-yes")
    ann.run("document.querySelector('[aria-label=\"Light or dark\"]').click()")
    ann.wait_until(
        lambda: ann.run("return document.querySelector('#board svg').dataset.theme") == "dark",
        "the dark table",
    )
    ann.click("#asked-yes")
    ann.wait_until(lambda: state(ann)["step"] != shown["step"], "what follows")


def test_agents_are_paused_and_stepped(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    ann.click("#hold")
    ann.wait_until(lambda: ann.text("#hold") == "go on", "the pause")
    play(ann, state(ann), state(ann)["listed"][0])
    assert "Seat 2 (greedy) places" in ann.text("#situation")
    step = state(ann)["step"]
    ann.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}))")
    ann.wait_until(lambda: state(ann)["step"] != step, "one move")
    assert int(state(ann)["step"]) == int(step) + 1
    assert "Seat 2 (greedy) places" in ann.text("#situation")
    ann.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: ' ', bubbles: true}))")
    ann.wait_until(lambda: state(ann)["yours"], "a turn")
    assert "seat 2 (greedy)" in ann.text("#recent-list")


def test_a_page_that_falls_behind_shows_every_position(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    ann.run("""
        window.steps = [];
        new MutationObserver(() => window.steps.push(Number(document.getElementById("hint").dataset.step)))
          .observe(document.getElementById("hint"), {attributes: true});
    """)
    path = "/api/seats/" + ann.driver.current_url.rpartition("/")[2]
    ann.run(
        "const p = document.getElementById('pause'); p.value = 0.1; p.dispatchEvent(new "
        "Event('change'))"
    )
    ann.wait_until(lambda: ann.text("#pause-seconds") == "0.1 s", "the pace")
    listener.held.add(path)  # the page hears of nothing
    first = ann.run("return document.querySelector('#places [data-choice]').dataset.choice")
    ann.run(
        "fetch(`${location.pathname.replace('/seat/', '/api/seats/')}/act`, {method: 'POST', body: "
        "JSON.stringify({action:"
        " Number(arguments[0]), step: 0}), headers: {'Content-Type': 'application/json'}}).then(() "
        "=> { window.acted = true; })",
        first,
    )
    ann.wait_until(lambda: ann.run("return window.acted"), "the move")
    application: Any = listener.app
    (session,) = application.state.server._sessions.values()
    ann.wait_until(lambda: session.step == 3, "two moves of greedy")
    listener.held.clear()
    ann.wait_until(lambda: state(ann)["yours"] and state(ann)["step"] == "3", "the last position")
    assert [step for step in dict.fromkeys(ann.run("return window.steps")) if step] == [1, 2, 3]


def before_alea(seed: int) -> tuple[list[int], int, list[int]]:
    """What crowd agents play until seat 0 is about to do what makes Alea bid, that action, and
    Alea's cards (ALEA-2).
    """
    game, agent, actions = Game(2, seed=seed), CrowdAgent(), list[int]()
    while True:
        seat, action = game.seat, decide_game(game, agent)
        bids = [event["cards"] for event in game.play(action) if event["event"] == "alea"]
        if bids and seat == 0 and action == PASS:
            return actions, action, bids[0]
        actions.append(action)


WATCH_ALEA = """
    window.turned = [];
    const lines = () => document.getElementById("log-lines").children.length, before = lines();
    const watch = () => {
      const cards = [...document.querySelectorAll("#alea .black-card")];
      window.turned.push([cards.map((one) => Number(one.textContent)), lines() > before]);
    };
    new MutationObserver(watch).observe(document.getElementById("alea"), {childList: true, subtree: true});
"""


@pytest.mark.parametrize("motion", few(["no-preference", "reduce"], "reduce"))
def test_aleas_cards_turn_up_one_by_one(ann: Browser, tmp_path: Path, motion: str) -> None:
    """Before the table shows what came of them; by hand while paused; at once for who wants less
    motion.
    """
    seed = 1
    storage = Storage(tmp_path / "games.sqlite3")
    server = RunningServer(application(storage, quick_catalogue(), HOSTS))
    features = {"features": [{"name": "prefers-reduced-motion", "value": motion}]}
    try:
        ann.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
        actions, _, cards = before_alea(seed)
        ann.open(f"{server.address}/")
        ann.run(NO_NEWS)
        sit_down(ann, server.address, storage, 2, seed, actions)
        ann.run(WATCH_ALEA + WATCH_SHIFTS)
        known = ann.text("#log").count("Alea bids")
        if motion == "no-preference":
            ann.click("#hold")
            ann.wait_until(lambda: ann.text("#hold") == "go on", "the pause")
        ann.click('[data-choice="78"]')
        ann.wait_until(lambda: agreed(ann) and ann.find("#alea .black-card"), "Alea's first card")
        if motion == "no-preference":
            for number in range(1, len(cards)):
                ann.wait_until(
                    lambda n=number: len(ann.run("return window.turned.at(-1)[0]")) == n,  # type: ignore[misc]
                    "a card",
                )
                assert ann.text("#log").count("Alea bids") == known
                ann.click("#next" if number < len(cards) - 1 else "#hold")  # goes on by itself then
        ann.wait_until(lambda: ann.text("#log").count("Alea bids") > known, "what came of them")
        inside = "const box = document.getElementById('alea').getBoundingClientRect(); return box.height === 0 || box.top >= 0"
        ann.run("scrollTo(0, 300)")
        assert ann.run(inside), "whoever has scrolled sees them"
        turned = [shown for shown, is_told in ann.run("return window.turned") if not is_told]
        assert turned[-1] == cards
        steps = [cards[:number] for number in range(1, len(cards) + 1)]
        assert [step for step in steps if step in turned] == (
            steps if motion == "no-preference" else [cards]
        )
        ann.wait_until(lambda: ann.find("#alea") is None, "their end")
        assert ann.run("return window.shift") < 0.02, ann.run("return window.moved")
    finally:
        ann.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        server.stop()


def test_passing_is_asked_for_first(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    shown = until_an_auction(ann)
    ann.click('#foot [data-choice="78"]')
    ann.click("#asked-no")
    assert state(ann)["step"] == shown["step"]
    ann.click('#foot [data-choice="78"]')
    ann.click("#asked-yes")
    ann.wait_until(lambda: state(ann)["step"] != shown["step"], "what follows")
    assert "you) passes" in ann.text("#log")


def test_keys_are_listed_in_a_sheet(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    ann.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '?', bubbles: true}))")
    ann.wait("#keys[open]")
    check_accessible(ann)
    ann.click("#keys-close")
    assert ann.find("#keys[open]") is None


def test_a_commissioner_and_then_its_next_place(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    while True:
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        shown = state(ann)
        if any(60 <= action < 78 for action in shown["table"]):
            break
        play(ann, shown, min(choices(shown)))
    places = ann.run("return document.querySelectorAll('#board [data-place]').length")
    own = ann.run("return document.querySelectorAll('#board [data-place^=\"1:\"]').length")
    assert places > own > 1
    click_shape(ann, '#board [data-commissioner="1"]')
    assert (
        ann.run("return document.querySelectorAll('#board [data-place].faded').length")
        == places - own
    )
    assert ann.run("return document.activeElement.dataset.place[0]") == "1"
    play(ann, shown, next(action for action in shown["table"] if 69 <= action < 78))
    assert "you) moves the beige commissioner" in ann.text("#log")


@pytest.mark.parametrize("motion", few(["no-preference", "reduce"], "no-preference"))
def test_pieces_move_unless_somebody_wants_less_motion(
    ann: Browser, server: RunningServer, tmp_path: Path, motion: str
) -> None:
    """Likenesses fly over a table on which all is in its place at once."""
    ann.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-reduced-motion", "value": motion}]},
    )
    try:
        (tmp_path / "game.jsonl").write_text(played(2, seed=3, actions=12).to_record(), "utf-8")
        open_file(ann, server, tmp_path / "game.jsonl")
        ann.wait("#board svg")
        flown = ann.driver.execute_async_script("""
            const done = arguments[0], board = document.getElementById("board"), flown = new Set();
            new MutationObserver((changes) => {
              for (const node of changes.flatMap((change) => [...change.addedNodes])) {
                if (node.classList?.contains("flying")) flown.add(node.querySelectorAll("[data-plot], [data-piece]").length);
              }
            }).observe(board, { childList: true, subtree: true });
            const step = () => {
              if (document.getElementById("count").textContent.startsWith("12 ")) return setTimeout(() => done([...flown]), 300);
              document.getElementById("next").click();
              setTimeout(step, 100);
            };
            step();
        """)
        assert flown == ([0] if motion == "no-preference" else [])
        ann.wait_until(lambda: ann.find("#board .flying") is None, "the landing")
    finally:
        ann.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_lobby_greets_and_one_click_begins_a_game(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    ann.open(f"{server.address}/")
    ann.wait("#strengths input:checked")
    check_accessible(ann)
    ann.driver.find_element("css selector", "#name").send_keys("Ann")
    ann.run(
        "for (const button of [1, 2]) document.getElementById('play-now').click()"
    )  # a double click
    ann.wait("#board svg")
    assert listener.asked.count("/api/games") == 2  # the lobby's list, and one game
    ann.open(f"{server.address}/")
    ann.wait("#games li")
    check_accessible(ann)
    assert ann.run("return document.querySelectorAll('#games li').length") == 1
    assert ann.wait("#name").get_attribute("value") == "Ann"


def test_the_same_request_makes_one_game_and_another_one_a_second(
    ann: Browser, server: RunningServer
) -> None:
    """Its answer was lost: who clicks again gets that very game; who changes the form first gets
    the game of the form.
    """
    ann.open(f"{server.address}/#custom")
    ann.wait("#seat-1")
    ann.run("""
        const real = window.fetch;
        window.lost = 0;
        window.fetch = async (address, options) => {
          const answer = await real(address, options);
          if (String(address).endsWith("/api/games") && options?.method === "POST" && window.lost++ < 2) throw new Error("lost");
          return answer;
        };
    """)
    for lost in (1, 2):
        ann.click("#new button.primary")
        ann.wait_until(
            lambda lost=lost: ann.run("return window.lost") == lost and ann.find("#note"),  # type: ignore[misc]
            "a lost answer",
        )
    ann.run(
        "const s = document.getElementById('side'); s.value = 'back'; s.dispatchEvent(new "
        "Event('change', {bubbles: true}))"
    )
    ann.click("#new button.primary")
    ann.wait("#board svg")
    ann.open(f"{server.address}/")
    ann.wait("#games li")
    sides = ann.run(
        "return [...document.querySelectorAll('#games .small')].map((one) => "
        "one.textContent.match(/(front|back) side/)?.[1])"
    )
    assert sorted(side for side in sides if side) == ["back", "front"]


def test_agents_are_watched_from_the_lobby(ann: Browser, server: RunningServer) -> None:
    ann.open(f"{server.address}/")
    ann.wait("#strengths input:checked")
    ann.run("document.getElementById('watch-0').value = 'agent:random'")
    ann.click("#watch button")
    ann.wait("#board svg")
    assert ann.find("#release") is None
    ann.wait_until(
        lambda: ann.text("#recent h2") == "The last turns", "what isn't called since one's own turn"
    )
    assert ann.wait("#recent .scroll").get_attribute("aria-label") == "The last turns"


def test_a_lobby_without_its_server_says_so(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    listener.held.add("/api/options")
    ann.open(f"{server.address}/")
    assert "Asking the server" in ann.wait("#waiting").text
    assert not ann.wait("#play-now").is_enabled()
    ann.run(
        "window.real = window.fetch; window.fetch = () => Promise.reject(new TypeError('gone'))"
    )
    listener.held.clear()
    ann.wait("#strengths input")  # what had been asked before is answered
    assert "can't be reached" in ann.wait("#waiting").text
    ann.run("window.fetch = window.real")
    ann.click("#waiting button")
    ann.wait_until(lambda: ann.text("#waiting") == "", "the list of games")


def test_a_game_is_deleted_in_the_lobby(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy")
    ann.open(f"{server.address}/")
    ann.click("#games button")
    ann.click("#asked-yes")
    ann.wait_until(lambda: ann.find("#games li") is None, "the game's end")


def test_kept_replays_are_opened_and_deleted_in_the_lobby(
    ann: Browser, server: RunningServer, tmp_path: Path
) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(played(2, seed=3, actions=20).to_record(["Ann", "greedy"]), encoding="utf-8")
    open_file(ann, server, path)
    ann.wait("#board svg")
    replay = ann.driver.current_url.partition("?")[0]
    ann.open(f"{server.address}/")
    assert ann.wait("#replays a").text == "1 Ann, 2 greedy"
    check_accessible(ann, "#kept")
    ann.click("#replays a")
    ann.wait("#board svg")
    assert ann.driver.current_url.partition("?")[0] == replay
    ann.open(f"{server.address}/")
    ann.click("#replays button")
    ann.click("#asked-yes")
    ann.wait_until(lambda: ann.find("#kept") is None, "the replay's end")


def test_hints(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy")
    ann.click("#ask-hint")
    ann.wait("#hint li.choice")
    assert "greedy" in ann.text("#hint")
    assert "VP" in ann.text("#hint")
    ann.run("document.getElementById('adviser').value = 'random'")
    ann.click("#ask-hint")
    ann.wait_until(lambda: "probable" in ann.text("#hint"), "random's hint")
    assert "%" in ann.text("#hint")
    play(ann, state(ann), state(ann)["table"][0])
    assert ann.text("#hint") == ""


class Waiting(TrainedAgent):
    """Tells what it expects only when the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def evaluate(self, decisions: Decisions) -> Any:
        """See the agents' interface."""
        self.go.wait()
        return super().evaluate(decisions)


LEADS = """
    const cells = [...document.querySelectorAll("#leads-body .expected")];
    return cells.filter((one) => one.checkVisibility()).map((one) => one.textContent);
"""


@pytest.mark.long
def test_who_wants_to_see_them_is_told_the_shares_of_the_win(ann: Browser, tmp_path: Path) -> None:
    agent = Waiting()
    agents = Catalogue([CatalogueEntry("trained", agent), CatalogueEntry("greedy", GreedyAgent())])
    running = RunningServer(application(Storage(tmp_path / "games.sqlite3"), agents, HOSTS))
    try:
        begin(ann, running, "me", "agent:greedy", seed="5")
        assert ann.run(LEADS) == []
        ann.click("#expected")
        assert ann.run(LEADS) == ["…", "…"]
        room = ann.run("return document.getElementById('leads').getBoundingClientRect().toJSON()")
        agent.go.set()
        ann.wait_until(lambda: "…" not in ann.run(LEADS), "the shares")
        assert sum(int(text.removesuffix(" %")) for text in ann.run(LEADS)) == 100
        assert (
            ann.run("return document.getElementById('leads').getBoundingClientRect().toJSON()")
            == room
        ), "nothing jumps"
        check_accessible(ann, "#leads")
        ann.driver.refresh()
        ann.wait_until(lambda: "%" in "".join(ann.run(LEADS)), "the browser's memory")
        agent.go.clear()
        play(ann, state(ann), state(ann)["table"][0])
        ann.wait_until(lambda: ann.run(LEADS) == ["…", "…"], "the next position")
        ann.click("#expected")
        assert ann.run(LEADS) == []
        agent.go.set()
        ann.click("#expected")
        ann.wait_until(lambda: "%" in "".join(ann.run(LEADS)), "the shares of the next position")
    finally:
        agent.go.set()
        running.stop()


def test_a_hint_can_be_asked_for_once_there_is_who_gives_it(
    ann: Browser, listener: Listener, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:random")
    listener.held.add("/api/options")
    ann.driver.refresh()
    ann.wait("#board svg")
    assert not ann.wait("#ask-hint").is_enabled()
    listener.held.clear()
    ann.click("#ask-hint")
    ann.wait("#hint li.choice")


class Gate(RandomAgent):
    """Decides only when the gate is open."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def act(self, decisions: Decisions) -> Any:
        """See the agents' interface."""
        self.asked.set()
        self.go.wait()
        return super().act(decisions)


@pytest.mark.long
def test_a_hint_can_be_stopped_and_a_long_turn_is_told(
    ann: Browser, listener: Listener, server: RunningServer
) -> None:
    gate: Any = Gate()
    games = listener.app.state.server  # type: ignore[attr-defined]
    object.__setattr__(games.catalogue["random"], "source", gate)
    try:
        begin(ann, server, "me", "agent:random")
        ann.run("document.getElementById('adviser').value = 'random'")
        ann.click("#ask-hint")
        ann.wait_until(
            lambda: re.search(r"random is thinking … \d+ s", ann.text("#hint")),
            "the time that it takes",
        )
        assert gate.asked.is_set()
        ann.click("#hint .stop")
        ann.wait_until(lambda: ann.text("#hint") == "", "its end")
        ann.wait_until(lambda: not Threads.busy, "the end of the work")
        ann.run("document.getElementById('adviser').value = 'crowd'")
        ann.click("#ask-hint")
        ann.wait("#hint li.choice")
        shown = state(ann)
        ann.run("document.querySelector('#places [data-choice]').click()")
        ann.wait_until(lambda: "random is thinking" in ann.text("#thinking"), "who thinks")
        gate.go.set()
        ann.wait_until(
            lambda: state(ann)["yours"] and state(ann)["step"] != shown["step"], "the next turn"
        )
        ann.wait_until(
            lambda: ann.run("return document.getElementById('thinking').hidden"),
            "no word of it any more",
        )
    finally:
        gate.go.set()


def test_who_waits_for_a_hint_is_told_of_it(
    ann: Browser, listener: Listener, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:random")
    path = "/api/seats/" + ann.driver.current_url.rpartition("/")[2] + "/hint"
    listener.held.add(path)
    ann.click("#ask-hint")
    ann.wait_until(lambda: path in listener.asked, "the question for a hint")
    ann.wait_until(lambda: "is thinking" in ann.text("#hint"), "what is waited for")
    ann.click("#ask-hint")
    listener.held.clear()
    ann.wait("#hint li.choice")
    assert listener.asked.count(path) == 1, "asked once, however often it is clicked"


def test_a_server_that_dies_in_the_middle_of_an_answer_is_said_to(
    ann: Browser, server: RunningServer
) -> None:
    """In the page's words, not in the browser's; who has stopped asking is told what says so."""
    begin(ann, server, "me", "agent:random")
    said = ann.run("""
      const { ask } = await import("/static/dom.js");
      const fetched = window.fetch;
      const broken = (error) => new Response(new ReadableStream({
        start(stream) { stream.enqueue(new TextEncoder().encode('data: {"so_far": {"tries": 1}}\\n\\n')); },
        pull(stream) { stream.error(error); },
      }, { highWaterMark: 0 }), { headers: { "Content-Type": "text/event-stream" } });
      const said = [];
      for (const error of [new TypeError("network error"), new DOMException("stopped", "AbortError")]) {
        window.fetch = async () => broken(error);
        await ask("/nowhere").catch((caught) => said.push(caught.message));
      }
      window.fetch = fetched;
      return said;
    """)
    assert said == ["The server can't be reached.", "stopped"]


def test_another_agent_can_be_asked_while_one_is_thinking(
    ann: Browser, listener: Listener, server: RunningServer
) -> None:
    gate: Any = Gate()
    games = listener.app.state.server  # type: ignore[attr-defined]
    object.__setattr__(games.catalogue["random"], "source", gate)
    try:
        begin(ann, server, "me", "agent:random")
        for name in ("random", "crowd"):
            ann.run(f"document.getElementById('adviser').value = '{name}'")
            ann.click("#ask-hint")
            ann.wait_until(lambda: gate.asked.is_set(), "the question to the first")
        ann.wait("#hint li.choice")
        assert "crowd would" in ann.text("#hint")
        assert "thinking" not in ann.text("#hint")
    finally:
        gate.go.set()


KINDS = {"option": (0, 13), "plot": (13, 55), "card": (55, 60), "move": (60, 78), "bid": (78, 98)}
TAB, ENTER = "\ue004", "\ue007"


def press(page: Browser, key: str) -> None:
    """Press a key, wherever the keyboard is."""
    page.driver.switch_to.active_element.send_keys(key)


def tabbed(page: Browser) -> list[dict[str, Any]]:
    """All that is reached with Tab, from the page's first link to its end."""
    page.run("window.reached = new Set(); document.querySelector('.home').focus()")
    elements: list[dict[str, Any]] = []
    for _ in range(300):
        press(page, TAB)
        one = page.run("""
            const a = document.activeElement, where = ["#board", "#choices"].find((each) => a.closest(each)) ?? "";
            if (a === document.body || window.reached.has(a)) return null;
            window.reached.add(a);
            return {where, action: Number(a.dataset.action ?? a.dataset.choice ?? -1), id: a.id,
                    take: a.dataset.take ?? null, more: a.dataset.more ?? null,
                    label: a.getAttribute("aria-label") ?? a.textContent, role: a.getAttribute("role") ?? a.tagName};
        """)
        if one is None:
            return elements
        elements.append(one)
    raise AssertionError("Tab finds no end")


def enter(page: Browser, selector: str) -> None:
    """Take something by keyboard."""
    page.run("document.querySelector(arguments[0]).focus()", selector)
    press(page, ENTER)


def play_by_keys(page: Browser, shown: dict[str, Any], action: int, place: str) -> None:
    """Take what begins with an action by keyboard alone, in `place`: the drawing or the buttons."""
    if shown["stacks"]:
        other = next(colour for colour in shown["stacks"] if colour != action - 55)
        for colour in (action - 55, other):
            enter(page, f'[data-take="{colour}"]')
    elif 79 <= action < 97:
        colour, rank = divmod(action - 79, 3)
        enter(page, f'[data-more="{colour}:{rank + 4}"]')
        while not page.wait("#bid-done").is_enabled() and page.find("[data-more]:enabled"):
            enter(page, "[data-more]:enabled")
        enter(page, "#bid-done" if page.wait("#bid-done").is_enabled() else '[data-choice="78"]')
    else:
        enter(page, f'{place} [data-{"action" if place == "#board" else "choice"}="{action}"]')
    if page.find("#asked-yes"):
        enter(page, "#asked-yes")
    page.wait_until(lambda: state(page)["step"] != shown["step"], "what follows")


def kind_of(action: int) -> str:
    """The kind of choice that an action is."""
    return next((kind for kind, (low, high) in KINDS.items() if low <= action < high), "build")


@pytest.mark.long
def test_by_keyboard_alone(ann: Browser, server: RunningServer) -> None:
    """Every choice, and no other one, is reached with Tab, says what it is, and is taken with
    Enter.
    """
    begin(ann, server, "me", "agent:greedy", seed="4")
    chance = random.Random(1)
    kinds: set[str] = set()
    for turn in range(100):
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        shown = state(ann)
        action = next((one for one in choices(shown) if kind_of(one) not in kinds), None)
        if action is None:  # such a choice has been looked at
            play(ann, shown, chance.choice(choices(shown)))
            continue
        ann.run("document.getElementById('all').open = arguments[0]", turn % 2 == 1)
        shown = state(ann)
        reached = tabbed(ann)
        assert all(
            one["label"] and one["role"] in ("button", "BUTTON", "SUMMARY", "A")
            for one in reached
            if one["where"]
        )
        there = {
            place: {one["action"] for one in reached if one["where"] == place} - {-1}
            for place in ("#board", "#choices")
        }
        assert there["#choices"] == {*shown["buttons"], *(shown["listed"] if turn % 2 else [])}
        if shown["stacks"] or shown["cards"]:
            assert {one["take"] for one in reached} - {None} == {
                str(colour) for colour in shown["stacks"]
            }
            assert {one["more"] for one in reached} - {None} == set(shown["cards"])
        else:
            assert there["#board"] == set(shown["table"])
        assert {"log", "pause", "adviser", "ask-hint", "release"} <= {one["id"] for one in reached}
        kinds.add(kind_of(action))
        play_by_keys(
            ann,
            shown,
            action,
            next((place for place in there if action in there[place]), "#choices"),
        )
        if kinds >= set(KINDS):
            return
    raise AssertionError(f"only {kinds} came")


def test_the_keyboard_stays_among_the_choices(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="4")
    ann.run(
        "document.getElementById('all').open = true; document.querySelector('#all-title').focus()"
    )
    for _ in range(6):
        press(ann, TAB)
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        shown = state(ann)
        ann.run("document.getElementById('all').open = true")
        if not ann.run("return document.activeElement.closest('#choices button') !== null"):
            ann.run("document.querySelector('#choices button').focus()")
        press(ann, ENTER)
        if shown["stacks"]:  # two make a choice
            press(ann, TAB)
            press(ann, ENTER)
        ann.wait_until(lambda before=shown: state(ann)["step"] != before["step"], "what follows")  # type: ignore[misc]
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        assert ann.run("return document.activeElement.closest('#choices') !== null")


def explained(page: Browser, selector: str) -> str:
    """What is said about a part of the table under the pointer."""
    page.run(
        """
        const part = document.querySelector(arguments[0]);
        part.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: 300, clientY: 300}));
    """,
        selector,
    )
    return page.text(".tip")


def test_a_commissioner_says_why_it_cannot_go_now(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="4")
    assert "place a starting skyscraper first" in explained(ann, '#board [data-commissioner="0"]')
    ann.run(
        "const p = document.getElementById('pause'); p.value = 5; p.dispatchEvent(new "
        "Event('change'))"
    )
    play(ann, state(ann), state(ann)["table"][0])
    assert "not your turn" in explained(ann, '#board [data-commissioner="1"]')


def test_the_table_in_plain_text_follows_the_game(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="4")
    ann.click("#words summary")
    ann.wait_until(lambda: ann.text("#words-text"), "the table in words")
    before = ann.text("#words-text")
    play(ann, state(ann), state(ann)["table"][0])
    ann.wait_until(lambda: ann.text("#words-text") != before, "the new table in words")


def test_why_a_click_was_refused_is_shown_until_something_else_is_done(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="4")
    ann.run("""
        const real = window.fetch;
        window.fetch = (address, options) => {
          if (String(address).endsWith("/act")) options.body = JSON.stringify({...JSON.parse(options.body), step: 99});
          return real(address, options);
        };
    """)
    click_shape(ann, f'#board [role=button][data-action="{state(ann)["table"][0]}"]')
    assert "meant for an earlier position" in ann.wait("#note").text
    ann.run(
        "document.querySelector('[aria-label=\"Light or dark\"]').click()"
    )  # the other theme: everything is loaded anew
    ann.wait_until(
        lambda: ann.run("return document.querySelector('#board svg').dataset.theme") == "dark",
        "the dark table",
    )
    assert "meant for an earlier position" in ann.wait("#note").text
    ann.run(
        "const p = document.getElementById('pause'); p.value = 0.1; p.dispatchEvent(new "
        "Event('change'))"
    )
    ann.wait_until(lambda: ann.find("#note") is None, "the end of the message")


def test_a_wrong_address_is_told_and_not_asked_for_again(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    ann.open(f"{server.address}/seat/wrong")
    assert "there is no such seat" in ann.wait("#gone-text").text
    asked = len(listener.asked)
    let_timers_run_out(ann)
    assert not [path for path in listener.asked[asked:] if path.startswith("/api")]
    assert not [path for path in listener.asked if path.endswith("/changes")]


@pytest.mark.long
def test_somebody_elses_seat_is_told_plainly(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    begin(ann, server, "me", "human")
    free, mine = (
        str(ann.wait("#invitation-list a").get_attribute("href")),
        str(ann.driver.current_url),
    )
    ann.forget()
    asked = len(listener.asked)
    ann.open(mine)
    assert "belongs to another browser" in ann.wait("#take-text").text
    assert ann.find("#take-button") is None
    check_accessible(ann)
    let_timers_run_out(ann)
    api = mine.replace(server.address, "").replace("/seat/", "/api/seats/")
    assert [path for path in listener.asked[asked:] if path.startswith("/api/seats")] == [api]
    assert ann.driver.get_log("browser") == []  # type: ignore[no-untyped-call]
    ann.open(free)
    ann.click("#take-button")
    ann.wait("#board svg")


def test_a_game_that_is_deleted_or_broken_is_told(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    begin(ann, server, "me", "human")
    table = str(ann.driver.current_url)
    ann.wait_until(
        lambda: any(path.endswith("/changes") for path in listener.asked), "the connection"
    )
    application: Any = listener.app
    inner = application.state.server
    key = inner.storage.link(table.rpartition("/")[2]).game
    inner.storage.append(key, 0, [0])
    inner._sessions.clear()
    ann.driver.refresh()
    assert "can't be replayed" in ann.wait("#gone-text").text
    ann.open(f"{server.address}/")
    ann.click("#games button")
    ann.click("#asked-yes")
    ann.wait_until(lambda: ann.find("#games li") is None, "the game's end")
    begin(ann, server, "me", "human")
    ann.run("fetch(location.pathname.replace('/seat/', '/api/seats/'), {method: 'DELETE'})")
    assert "there is no such" in ann.wait("#gone-text").text
    asked = len(listener.asked)
    let_timers_run_out(ann)
    assert not [path for path in listener.asked[asked:] if path.startswith("/api")]


def test_on_a_phone_and_in_the_dark(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "game.html").write_text(
        exported(Replay.of(played(2, actions=9).to_record().encode(), 1), "game"), "utf-8"
    )
    with browser(phone=True, dark=True) as phone:
        begin(phone, server, "me", "agent:greedy")
        assert phone.run("return document.documentElement.dataset.theme") == "dark"
        assert phone.run("return document.querySelector('#board svg').dataset.theme") == "dark"
        phone.run("document.getElementById('all').open = true")
        edges = "const edge = (id) => document.getElementById(id).getBoundingClientRect();"
        below = f"{edges} scrollTo(0, document.body.scrollHeight); return edge('words').bottom <= edge('dock').top"
        phone.wait_until(
            lambda: phone.run(below), "the page's end above the dock, which lies over the page"
        )
        replay = (tmp_path / "game.html").as_uri()
        for address, shown in (
            (None, "#board svg"),
            (f"{server.address}/", "#strengths input"),
            (replay, "#board svg"),
        ):
            if address:
                phone.open(address)
            phone.wait(shown)
            assert phone.run("return document.documentElement.scrollWidth <= innerWidth"), (
                "nothing sticks out sideways"
            )
        drawings = phone.run(
            "return [...document.querySelectorAll('#board svg, .chart')].map((svg) => "
            "svg.viewBox.baseVal.width)"
        )
        assert drawings == [640, 360], "those made for phones"
        assert phone.complaints() == []


def test_reconnect_after_a_server_restart(ann: Browser, tmp_path: Path) -> None:
    path = tmp_path / "restarted.sqlite3"
    server = RunningServer(application(Storage(path), quick_catalogue(), HOSTS))
    begin(ann, server, "me", "agent:greedy", seed="6")
    shown = state(ann)
    play(ann, shown, shown["table"][0])
    ann.wait_until(lambda: state(ann)["yours"], "a turn")
    before = picture(ann), ann.text("#log")
    server.stop()
    ann.wait("#offline")
    server = RunningServer(application(Storage(path), quick_catalogue(), HOSTS), server.port)
    ann.wait_until(lambda: ann.find("#offline") is None, "the connection")
    assert (picture(ann), ann.text("#log")) == before
    shown = state(ann)
    play(ann, shown, shown["table"][0])
    ann.driver.refresh()
    ann.wait("#board svg")
    server.stop()


# ---- replays ----


def open_file(page: Browser, server: RunningServer, path: Path) -> None:
    """Choose a file in the lobby."""
    page.open(f"{server.address}/")
    page.wait("#strengths input")
    page.driver.find_element("id", "file").send_keys(str(path))


def look_through(page: Browser, game: Game) -> None:
    """What a replay must be able to do."""
    steps = int(game.state["decisions"])
    page.wait("#board svg")
    assert page.text("#count") == f"0 / {steps}"
    page.click("#next")
    page.wait_until(lambda: page.text("#count") == f"1 / {steps}")
    page.click("#auction-next")
    page.wait_until(lambda: "bids for" in page.text("#situation"), "an auction")
    page.click("#scoring-next")
    page.click("#last")
    page.wait_until(lambda: "win" in page.text("#situation"), "the end")
    for score in game.scores:
        page.wait_until(lambda vp=f"{score} VP": vp in page.text("#board svg"), "the last position")  # type: ignore[misc]
    page.click("#first")
    page.click("#play")
    assert page.wait("#play").get_attribute("aria-label") == "pause"
    page.wait_until(lambda: int(page.text("#count").split(" /")[0]) >= 3, "playing by itself")
    page.click("#play")
    assert page.wait("#play").get_attribute("aria-label") == "play"
    all_cards = len(
        page.run(
            "return [...document.querySelectorAll('#board [data-card]')].map((card) => "
            "card.dataset.card[0])"
        )
    )
    page.run(
        "const w = document.getElementById('whose'); w.value = 1; w.dispatchEvent(new "
        "Event('change'))"
    )
    page.wait_until(
        lambda: (
            len(page.run("return [...document.querySelectorAll('#board [data-card]')]")) < all_cards
        ),
        "one seat's view",
    )
    page.run(
        "const s = document.getElementById('step'); s.value = 50; s.dispatchEvent(new "
        "Event('input'))"
    )
    page.wait_until(lambda: page.text("#count") == f"50 / {steps}")
    assert page.run("return document.querySelectorAll('.chart .line').length") == game.num_players


def test_replay_of_a_record_file(ann: Browser, server: RunningServer, tmp_path: Path) -> None:
    game = played(3, seed=12)
    path = tmp_path / "game.jsonl"
    path.write_text(game.to_record(["ann", "bob", "<i>eve</i>"]), encoding="utf-8")
    open_file(ann, server, path)
    look_through(ann, game)
    ann.click("#ask")
    ann.wait("#hint li.choice")
    assert ann.run("return document.querySelectorAll('i').length") == 0


def test_the_address_says_what_is_shown_and_leads_back(
    ann: Browser, server: RunningServer, tmp_path: Path
) -> None:
    game = played(2, seed=3)
    path = tmp_path / "game.jsonl"
    path.write_text(game.to_record(["ann", "bob"]) * 2, encoding="utf-8")
    open_file(ann, server, path)
    ann.wait("tbody tr:nth-child(2) button").click()
    ann.wait("#board svg")
    assert ann.driver.current_url.endswith("?game=2")
    ann.click("#auction-next")
    ann.wait_until(lambda: "step=" in ann.driver.current_url, "the step in the address")
    auction = ann.driver.current_url
    ann.click("#last")
    ann.run(
        "const w = document.getElementById('whose'); w.value = 1; w.dispatchEvent(new "
        "Event('change'))"
    )
    ann.wait_until(lambda: "seat=1" in ann.driver.current_url, "the seat in the address")
    steps = int(game.state["decisions"])
    assert f"step={steps}" in ann.driver.current_url
    for wanted, seat in (
        (f"{steps} / {steps}", ""),
        (
            ann.run(
                "return new URLSearchParams(arguments[0]).get('step')", auction.partition("?")[2]
            )
            + f" / {steps}",
            "",
        ),
    ):
        ann.driver.back()
        ann.wait_until(lambda text=wanted: ann.text("#count") == text, "where it was before")  # type: ignore[misc]
        assert ann.run("return document.getElementById('whose').value") == seat
    assert ann.driver.current_url == auction
    ann.driver.back()
    ann.driver.back()
    ann.wait("tbody tr:nth-child(2) button")
    ann.driver.get(auction.replace("game=2", "game=1") + "&seat=0&agent=greedy")
    ann.wait("#board svg")
    assert ann.run(
        "return [document.getElementById('whose').value, document.getElementById('adviser').value]"
    ) == ["0", "greedy"]
    assert ann.text("#count") != f"0 / {steps}"


def test_agents_stand_side_by_side_and_tell_their_numbers_on_the_board(
    ann: Browser, server: RunningServer, tmp_path: Path
) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(played(3, seed=12, actions=60).to_record(), encoding="utf-8")
    open_file(ann, server, path)
    ann.wait("#board svg")
    ann.run(
        "document.getElementById('adviser').value = 'crowd'; "
        "document.getElementById('adviser-1').value = 'greedy'"
    )
    ann.click("#ask")
    ann.wait_until(
        lambda: ann.run("return document.querySelectorAll('#hint .answer li.choice').length") == 2,
        "both answers",
    )
    told = ann.run(
        "return [...document.querySelectorAll('.badge')].map((one) => [Number(one.dataset.badge), "
        "one.textContent])"
    )
    key = ann.driver.current_url.rpartition("/")[2].partition("?")[0]
    answer = ann.run(
        "return fetch(`/api/replays/${arguments[0]}/1/0/hint?agent=crowd`).then((a) => a.json())",
        key,
    )
    assert told
    assert all(
        text
        == f"{100 * answer['sure'][str(action)]:.{1 if answer['sure'][str(action)] < 0.095 else 0}f} %"
        for action, text in told
    )
    ann.run("document.getElementById('always').click()")
    ann.click("#next")
    ann.wait_until(
        lambda: ann.text("#count").startswith("1 /") and ann.find("#hint li.choice") is not None,
        "the next answer",
    )


def test_the_visits_of_a_search_grow_before_ones_eyes(ann: Browser, tmp_path: Path) -> None:
    """And who stops it frees the worker."""
    agent = PonderingAgent()
    agents = Catalogue(
        [CatalogueEntry("pondering", agent), CatalogueEntry("greedy", GreedyAgent())]
    )
    app = application(Storage(tmp_path / "games.sqlite3"), agents, HOSTS)
    running = RunningServer(app)
    path = tmp_path / "game.jsonl"
    path.write_text(played(2, seed=12, turns=12).to_record(), encoding="utf-8")
    try:
        open_file(ann, running, path)
        ann.wait("#board svg")
        ann.click("#ask")
        for tries in (1, 3):
            agent.permits.release(tries - (tries > 1))
            ann.wait_until(
                lambda number=tries: f"in {number} of {MOST} tries" in ann.text("#hint"),  # type: ignore[misc]
                "the tries",
            )
            assert ann.run("return document.querySelectorAll('.badge').length") >= 1
        assert ann.run(
            "return [...document.querySelectorAll('#hint [data-visits]')].some((one) => "
            "one.dataset.visits !== '0')"
        )
        check_accessible(ann, "#asking")
        ann.click("#hint .stop")
        ann.wait_until(lambda: not Threads.busy, "the end of it")
        assert ann.run("return document.querySelectorAll('.badge, #hint li').length") == 0
        agent.permits.release(3 * MOST)  # what was stopped goes on in its thread
        ann.click("#ask")
        ann.wait_until(
            lambda: "would:" in ann.text("#hint") and ann.find("#hint .stop") is None, "the answer"
        )
        assert f"in {MOST} tries" in ann.text("#hint")
    finally:
        agent.permits.release(3 * MOST)
        running.stop()


def test_a_game_is_analysed_and_played_out(
    ann: Browser, server: RunningServer, tmp_path: Path
) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(played(2, seed=12, turns=12).to_record(), encoding="utf-8")
    open_file(ann, server, path)
    ann.wait("#board svg")
    ann.run("document.getElementById('analyst').value = 'greedy'")
    ann.click("#analyse")
    ann.wait("#mistakes li")
    ann.wait_until(lambda: ann.wait("#analyse").is_enabled(), "the end of the analysis")
    edges = "return [...document.querySelectorAll('.chart-box, .below')].map((one) => one.getBoundingClientRect().toJSON())"
    chart, below = ann.run(edges)
    assert below["top"] >= chart["bottom"], "below the chart"
    assert (below["left"], below["right"]) == (chart["left"], chart["right"])
    assert " — it would: " in ann.text("#mistakes li"), "options and actions read alike"
    step = ann.run("return document.querySelector('#mistakes button').dataset.step")
    ann.click("#mistakes button")
    ann.wait_until(lambda: ann.text("#count").startswith(f"{step} /"), "the step of the mistake")
    ann.click("#chances summary")
    ann.wait("#chances table")
    assert "%" in ann.text("#chances .bars")
    ann.click("#play-on summary")
    ann.run("document.getElementById('out-number').value = 26")
    ann.run("for (const seat of [0, 1]) document.getElementById(`out-${seat}`).value = 'random'")
    ann.click("#play-out")
    ann.wait_until(
        lambda: ann.run("return document.querySelectorAll('#out-results h3').length") == 2,
        "how it went",
    )
    ann.wait_until(lambda: ann.wait("#play-out").is_enabled(), "the end of playing out")
    assert "26 games" in str(
        ann.run("return document.querySelector('#out-results ol').getAttribute('aria-label')")
    )
    ann.driver.refresh()
    ann.wait("#mistakes li")
    assert "By greedy (version" in ann.text("#analysis-of")
    assert ann.run("return document.getElementById('analyst').value") == "greedy"


@pytest.mark.parametrize("width", few([WIDTH, NARROW], NARROW))
def test_the_numbers_of_a_chart_are_whole(
    ann: Browser, server: RunningServer, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(played(2, seed=3, actions=5).to_record(), encoding="utf-8")
    open_file(ann, server, path)
    ann.wait("svg.chart")
    drawn = chart([[0.5, 0.5], [1.0, 0.0]], ["trained", "greedy"], SHARE, width)
    cut = ann.run(
        """
        const box = document.querySelector("svg.chart").parentElement;
        box.innerHTML = arguments[0];
        box.style.width = `${arguments[1]}px`;
        const all = box.firstElementChild.getBoundingClientRect();
        return [...box.querySelectorAll("text")].filter((one) => {
            const { left, right } = one.getBoundingClientRect();
            return left < all.left || right > all.right;
        }).map((one) => one.textContent);
        """,
        drawn,
        width,
    )
    assert cut == []


@pytest.mark.long
def test_a_page_is_taken_away(ann: Browser, server: RunningServer, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(played(2, seed=3, actions=5).to_record(), encoding="utf-8")
    open_file(ann, server, path)
    ann.click("#take-away summary")
    ann.click("#make-page")
    assert "is ready" in ann.wait("#made-page").text


@pytest.mark.parametrize("dark", few([False, True], True))
def test_a_replay_with_all_its_panels_is_accessible(
    server: RunningServer, tmp_path: Path, dark: bool
) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(played(2, seed=12, turns=12).to_record(), encoding="utf-8")
    with browser(dark=dark, phone=dark) as page:
        open_file(page, server, path)
        page.wait("#board svg")
        page.open(page.driver.current_url + "?step=41&agent=greedy")
        page.wait("#board svg")
        page.click("#analyse")
        page.wait("#mistakes li")
        page.click("#ask")
        page.wait("#hint li.choice")
        page.run("for (const one of document.querySelectorAll('aside details')) one.open = true")
        page.wait("#chances table")
        check_accessible(page)
        small = page.run("""
            return [...document.querySelectorAll("main :is(button:not(.line), select, summary, a.button, input[type=number])")]
                .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 43.5)
                .map((one) => one.id || one.textContent);
        """)
        assert not dark or small == []
        assert page.complaints() == []


def test_a_replay_is_played_on(ann: Browser, server: RunningServer, tmp_path: Path) -> None:
    game = played(2, seed=12)
    step = next(
        step for step in range(40, 99) if Game.from_record(game.to_record(), step=step).seat == 0
    )
    path = tmp_path / "game.jsonl"
    path.write_text(game.to_record(["greedy", "greedy"]), encoding="utf-8")
    open_file(ann, server, path)
    ann.wait("#board svg")
    replay = ann.driver.current_url
    ann.open(f"{replay}?step={step}")
    ann.wait("#board svg")
    ann.click("#play-on summary")
    ann.click("#play-myself")
    ann.wait_until(lambda: "/seat/" in ann.driver.current_url, "the table")
    ann.wait_until(lambda: state(ann)["yours"], "a turn")
    ann.driver.back()  # the page is as it was left
    assert f"from step {step}, on seat 1" in ann.wait("#variations li").text
    assert "Variations" in ann.wait("#play-on h3").text
    assert ann.wait("#play-myself").is_enabled()
    ann.run("document.getElementById('on-hidden').value = 'anew'")
    ann.click("#play-myself")
    ann.wait_until(lambda: "/seat/" in ann.driver.current_url, "the table")
    ann.open(replay)
    ann.wait("#board svg")
    ann.click("#play-on summary")
    ann.wait_until(
        lambda: "hidden cards drawn anew for seat 1" in ann.text("#variations li"),
        "how it was begun",
    )


def test_a_file_dropped_on_the_page_and_several_games(ann: Browser, server: RunningServer) -> None:
    text = "".join(played(2, seed=seed).to_record() for seed in (1, 2))
    ann.open(f"{server.address}/")
    ann.wait("#strengths input")
    ann.run(
        """
        const data = new DataTransfer();
        data.items.add(new File([arguments[0]], "two.jsonl"));
        const dropped = new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data});
        document.getElementById("drop").dispatchEvent(dropped);
    """,
        text,
    )
    ann.wait("tbody tr:nth-child(2) button").click()
    ann.wait("#board svg")


@pytest.mark.long
def test_damaged_records_get_a_message(ann: Browser, server: RunningServer, tmp_path: Path) -> None:
    for number, content in enumerate(damaged()):
        path = tmp_path / f"damaged-{number}.jsonl"
        path.write_bytes(content)
        open_file(ann, server, path)
        ann.wait_until(
            lambda: re.search(r": line \d+: ", ann.text("#note")),
            f"a message about damaged record {number}",
        )
        assert "Traceback" not in ann.text("body")


def test_an_export_replays_from_disk_without_a_network(tmp_path: Path) -> None:
    game = played(2, seed=3, turns=20)
    path = tmp_path / "game.html"
    content = exported(
        Replay.of(game.to_record(["ann", "</script><i>"]).encode(), 1), "a </title> game"
    )
    path.write_text(content, encoding="utf-8")
    assert len(content.encode()) < 3_000_000
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", content)
    with browser() as page:
        page.driver.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        page.open(path.as_uri())
        look_through(page, game)
        assert page.run("return document.querySelectorAll('i').length") == 0
        assert page.run("return performance.getEntriesByType('resource').length") == 0
        assert page.complaints() == []


@pytest.mark.long
def test_the_pictures_of_the_page_are_taken(tmp_path: Path) -> None:
    from experiments.tools import screenshots

    assert screenshots.main(["--out", str(tmp_path)]) == 0
    assert {"lobby.png", "bid.png", "replay.png", "final.png", "phone-bid.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
