"""The page in a real browser: a dozen flows, most of which begin at stored positions.

Sizes are measured in test_fits.py; the lesson is played in test_teaching_browser.py.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from accessibility import check_accessible, violations
from pages import RunningServer, check_is_known, few, played, quick, quick_catalogue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from experiments.tools.chromium import Browser, browser, sit_down
from skyenv import Game
from skyenv.agents import CrowdAgent, decide_game
from skyenv.page import people
from skyenv.page.browsers import COOKIE
from skyenv.page.export import exported
from skyenv.page.replays import Replay
from skyenv.page.storage import Storage
from skyenv.page.web import application

HOSTS = ["127.0.0.1"]
PASS = 78
NO_NEWS = """localStorage.setItem("news", '{"off": true, "seen": []}')"""
"""Cards about what is new lie over the page until they are read."""


class Listener:
    """Writes down all that is asked for and all that goes to the browsers, by their names.

    Attributes:
        held: paths whose answers wait.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.asked: list[str] = []
        self.held: set[str] = set()
        self.heard: list[tuple[str, str, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        path, headers = scope.get("path", ""), dict(scope.get("headers", ()))
        headers.pop(b"accept-encoding", None)  # nothing is packed
        match = re.search(rf"{COOKIE}=([\w.-]+)", headers.get(b"cookie", b"").decode())
        content = bytearray()

        async def listen(message: Message) -> None:
            content.extend(message.get("body", b"") or (message.get("text") or "").encode())
            if content and not message.get("more_body"):
                self.heard.append((match[1] if match else "", path, bytes(content)))
                content.clear()
            await send(message)

        self.asked.append(path)
        while path in self.held:
            await asyncio.sleep(0.01)
        await self.app({**scope, "headers": [*headers.items()]}, receive, listen)


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


def test_what_nobody_can_use_is_found(ann: Browser, server: RunningServer) -> None:
    """The check itself, in a page with the strict policy."""
    ann.open(f"{server.address}/rules")
    ann.run("""
        const [icon, pale] = ["img", "p"].map((name) => document.createElement(name));
        Object.assign(icon, {id: "unnamed", src: "/static/icon.svg"});
        Object.assign(pale, {id: "pale", textContent: "hard to read", style: "color: #ccc; background: #fff"});
        document.querySelector("main").append(icon, pale);
    """)
    found = violations(ann, "#unnamed") + violations(ann, "#pale")
    assert {one.split(" (")[0] for one in found} == {"image-alt", "color-contrast"}


# ---- at the table ----


def set_value(page: Browser, name: str, value: object) -> None:
    """Give a field a value, as a person would."""
    page.run(
        """
        const field = document.getElementById(arguments[0]);
        field.value = arguments[1];
        for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, {bubbles: true}));
        """,
        name,
        value,
    )


def press(page: Browser, key: str) -> None:
    """Press a key, wherever the keyboard is."""
    page.driver.switch_to.active_element.send_keys(key)


def begin(
    page: Browser, server: RunningServer, *seats: str, seed: str = "", name: str = ""
) -> None:
    """Begin a game and play without pauses."""
    page.open(f"{server.address}/rules")
    page.run(NO_NEWS)
    names = [name, *[""] * (len(seats) - 1)]
    game = {"players": len(seats), "side": "front", "seats": seats, "names": names, "seed": seed}
    page.run(
        "const body = JSON.stringify(arguments[0]), headers = {'Content-Type': 'application/json'};"
        "return fetch('/api/games', {method: 'POST', body, headers}).then((answer) => answer.json())"
        ".then(({page}) => { location.href = page; })",
        {key: value for key, value in game.items() if value},
    )
    page.wait("#board svg")
    set_value(page, "pause", 0)


def storage_of(listener: Listener) -> Storage:
    """The server's storage."""
    application: Any = listener.app
    storage: Storage = application.state.server.storage
    return storage


POSITIONS: dict[str, Callable[[Game], bool]] = {
    "place": lambda game: True,
    "option": lambda game: game.phase == "option",
    "take": lambda game: set(range(55, 59)) <= set(game.legal_actions),
    "move": lambda game: sum(69 <= action < 78 for action in game.legal_actions) > 1,
    "bid": lambda game: len(game.legal_actions) > 6 and game.phase == "bid",
    "alea": lambda game: (
        PASS in game.legal_actions and any(one["event"] == "alea" for one in game.copy().play(PASS))
    ),
}


@cache
def moves_before(position: str) -> list[int]:
    """What crowd agents play until seat 0 is to decide that."""
    game, agent, actions = Game(2, seed=2), CrowdAgent(), list[int]()
    while not game.is_over and (game.seat != 0 or not POSITIONS[position](game)):
        actions.append(decide_game(game, agent))
        game.play(actions[-1])
    return actions


def sit_at(
    page: Browser, server: RunningServer, listener: Listener, position: str, pause: float = 0
) -> None:
    """Sit down at a stored position, on seat 0 beside a greedy player."""
    page.open(f"{server.address}/rules")
    page.run(NO_NEWS)
    sit_down(page, server.address, storage_of(listener), 2, 2, moves_before(position))
    set_value(page, "pause", pause)


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
                table: busy ? [] : numbers("#board [role=button][data-action]:not([data-commissioner])", "action"),
                buttons: numbers("#buttons [data-choice], #foot [data-choice]", "choice"),
                listed: numbers("#places [data-choice]", "choice"), stacks: numbers("#buttons [data-take]", "take"),
                cards: [...document.querySelectorAll("[data-more]:enabled")].map((one) => one.dataset.more)};
    """)
    return content


def choices(shown: dict[str, Any]) -> list[int]:
    """Actions that one of the choices begins with."""
    cards = [
        79 + 3 * int(colour) + int(value) - 4
        for colour, value in (card.split(":") for card in shown["cards"])
    ]
    stacks = [55 + colour for colour in shown["stacks"]]
    return [*shown["table"], *shown["buttons"], *stacks, *cards]


def click_shape(page: Browser, selector: str) -> None:
    """Click a point at which the part itself is on top, as a person would: its middle may be
    covered or empty.
    """
    point = page.run(
        """
        const part = document.querySelector(arguments[0]);
        part.scrollIntoView({block: "center", behavior: "instant"});
        const box = part.getBoundingClientRect(), on = (x, y) => document.elementFromPoint(x, y);
        for (let n = 1; n < 40; n++) for (let k = 1; k <= n; k++) {
          const x = box.left + box.width * k / (n + 1), y = box.top + box.height * (n + 1 - k) / (n + 1);
          if (part.contains(on(x, y)) && on(x, y).closest("[role=button]") === part) return [x, y];
        }
        return null;
    """,
        selector,
    )
    assert point is not None, f"{selector} can't be clicked anywhere"
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        event = {"type": kind, "x": round(point[0]), "y": round(point[1]), **button}
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def goes_on(page: Browser, shown: dict[str, Any]) -> None:
    """Wait for what follows a choice; questions before what can't be taken back get a yes."""

    def has_gone_on() -> bool:
        page.run("document.getElementById('asked-yes')?.click()")
        return bool(state(page)["step"] != shown["step"])

    page.wait_until(has_gone_on, "what follows")


def play(page: Browser, shown: dict[str, Any], action: int) -> None:
    """Click what begins with an action: on the table if it stands there, else a button.

    Wait for what follows.
    """
    page.run("for (let n = 0; n < 20; n++) document.querySelector('#news button')?.click()")
    if action in shown["table"]:
        click_shape(page, f'#board [role=button][data-action="{action}"]')
    elif 55 <= action < 60:
        other = next(colour for colour in reversed(shown["stacks"]) if colour != action - 55)
        for colour in (other, action - 55):  # in any order
            page.click(f'#buttons [data-take="{colour}"]')
    elif 79 <= action < 97:
        bid(page, action)
    else:
        page.click(f'#choices [data-choice="{action}"]')
    goes_on(page, shown)


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


def your_turn(page: Browser) -> dict[str, Any]:
    """What can be chosen, once it is this seat's turn or the game is over."""
    page.wait_until(lambda: state(page)["over"] or state(page)["yours"], "a turn")
    return state(page)


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
KINDS = [".option", "[data-take]", ".tray", "#places li", "#buttons button"]


def test_a_whole_game_by_clicks(ann: Browser, server: RunningServer) -> None:
    """Everybody can use each kind of choice, nothing jumps, and the record is whole."""
    begin(ann, server, "me", "agent:greedy", seed="11")
    ann.run(WATCH_SHIFTS)
    looked: set[str] = set()
    while not (shown := your_turn(ann))["over"]:
        kind = ann.run("return arguments[0].find((one) => document.querySelector(one))", KINDS)
        if kind not in looked:
            looked.add(kind)
            check_accessible(ann)
        places = {*shown["listed"], *shown["buttons"]}
        assert places >= set(shown["table"]), "all that can be clicked on the table is a button"
        play(ann, shown, quick(choices(shown)))
    assert set(KINDS[:4]) <= looked
    assert ann.run("return window.shift") < 0.02, ann.run("return window.moved")
    assert "forced" in ann.text("#log")
    check_accessible(ann)
    ann.click("#final-all")
    address = ann.wait("#record").get_attribute("href")
    record = ann.run("return fetch(arguments[0]).then((answer) => answer.text())", address)
    game = Game.from_record(record)
    assert (game.is_over, game.seed) == (True, 11)
    assert all(str(score) in ann.text("#final tbody:last-of-type") for score in game.scores)
    table = ann.driver.current_url
    ann.click("#rematch")
    ann.wait_until(
        lambda: ann.driver.current_url != table and ann.find("#board svg"), "the rematch"
    )
    ann.open(table)
    ann.click("#replay")
    ann.wait("#step")
    assert ann.text("#count") == f"0 / {int(game.state['decisions'])}"


def test_a_bid_is_laid_together_in_any_order_and_explained(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    sit_at(ann, server, listener, "bid")
    assert not ann.wait("#bid-done").is_enabled()
    black, colour = (
        ann.run("return document.querySelector(arguments[0])?.dataset.more", f"[data-more]{rest}")
        for rest in ('[data-more^="5:"]', ':enabled:not([data-more^="5:"])')
    )
    ann.click(f'[data-more="{black}"]')  # the black card first
    assert "must be a coloured one" in ann.text("#foot")
    ann.click(f'[data-more="{colour}"]')
    others = ann.run(
        "return [...document.querySelectorAll('[data-more]')].map((one) => [one.dataset.more[0], one.disabled])"
    )
    assert all(off for which, off in others if which not in ("5", colour[0])), "one colour"
    total = sum(int(card[-1]) for card in (black, colour))
    ann.driver.refresh()  # nothing is lost
    ann.wait_until(lambda: f"Total {total}" in ann.text("#foot"), "the cards that were laid down")
    ann.click(f'[data-less="{black}"]')
    assert f"Total {colour[-1]}" in ann.text("#foot")
    ann.click("#bid-empty")
    assert ann.run("return document.querySelectorAll('#board .chosen').length") == 0
    shown = state(ann)
    ann.click('#foot [data-choice="78"]')
    ann.click("#asked-no")
    assert state(ann)["step"] == shown["step"], "passing is asked for first"
    play(ann, shown, PASS)
    assert "you) passes" in ann.text("#log")


def test_two_cards_are_taken_in_any_order_and_a_choice_is_taken_back(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    sit_at(ann, server, listener, "option")
    before, log = your_turn(ann), ann.text("#log-lines")
    press(ann, "a")
    ann.wait_until(lambda: state(ann)["stacks"], "the cards")
    ann.click("#undo")
    ann.wait_until(lambda: state(ann) == before, "the position before")
    assert ann.text("#log-lines") == log
    sit_at(ann, server, listener, "take")
    shown = your_turn(ann)
    for stack in (4, 4, 3):  # chosen, put back, another one
        click_shape(ann, f'#board [data-stack="{stack}"]')
    for chosen, name in ((".chosen", "stack"), ("[aria-pressed=true][data-take]", "take")):
        found = "return [...document.querySelectorAll(arguments[0])].map((one) => one.dataset[arguments[1]])"
        assert ann.run(found, chosen, name) == ["3"]
    click_shape(ann, '#board [data-stack="0"]')
    goes_on(ann, shown)
    assert re.findall(r"you\) takes (\w+) [456]", ann.text("#log"))[-2:] == ["green", "orange"]
    assert ann.find("#undo") is None, "a card was turned up"


def test_a_commissioner_and_then_its_next_place(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    sit_at(ann, server, listener, "move")
    shown = your_turn(ann)
    number = "return document.querySelectorAll(arguments[0]).length"
    places, own = (ann.run(number, f"#board [data-place{which}]") for which in ("", '^="1:"'))
    assert places > own > 1
    click_shape(ann, '#board [data-commissioner="1"]')
    assert ann.run(number, "#board [data-place].faded") == places - own
    assert ann.run("return document.activeElement.dataset.place[0]") == "1"
    play(ann, shown, next(action for action in shown["table"] if 69 <= action < 78))
    assert "you) moves the beige commissioner" in ann.text("#log")


TAB, ENTER = "\ue004", "\ue007"


def tabbed(page: Browser) -> list[dict[str, Any]]:
    """All that is reached with Tab, from the page's first link to its end."""
    page.run("window.reached = new Set(); document.querySelector('.home').focus()")
    elements: list[dict[str, Any]] = []
    while len(elements) < 300:
        press(page, TAB)
        one = page.run("""
            const a = document.activeElement, where = ["#board", "#choices"].find((each) => a.closest(each)) ?? "";
            if (a === document.body || window.reached.has(a)) return null;
            window.reached.add(a);
            return {where, action: Number((a.dataset.commissioner ? null : a.dataset.action) ?? a.dataset.choice ?? -1)};
        """)
        if one is None:
            return elements
        elements.append(one)
    raise AssertionError("Tab finds no end")


@pytest.mark.parametrize("position", few(["place", "option"], "place"))
def test_every_choice_and_no_other_is_reached_by_keyboard(
    ann: Browser, server: RunningServer, listener: Listener, position: str
) -> None:
    sit_at(ann, server, listener, position)
    shown = your_turn(ann)
    ann.run("document.getElementById('all').open = true")
    reached = tabbed(ann)
    there = {
        place: {one["action"] for one in reached if one["where"] == place} - {-1}
        for place in ("#board", "#choices")
    }
    assert there["#choices"] == {*shown["buttons"], *shown["listed"]}
    assert there["#board"] == set(shown["table"])
    ann.run("document.querySelector('#choices button').focus()")
    press(ann, ENTER)
    goes_on(ann, shown)
    your_turn(ann)
    assert ann.run("return document.activeElement.closest('#choices') !== null")
    ann.run("document.activeElement.blur()")
    press(ann, "?")
    ann.wait("#keys[open]")
    check_accessible(ann, "#keys")
    ann.click("#keys-close")


def test_agents_are_paused_and_stepped_and_every_position_is_shown(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    sit_at(ann, server, listener, "place")
    ann.run("""
        window.steps = [];
        new MutationObserver(() => window.steps.push(document.getElementById("hint").dataset.step))
          .observe(document.getElementById("hint"), {attributes: true});
    """)
    press(ann, " ")
    ann.wait_until(lambda: ann.text("#hold") == "go on", "the pause")
    play(ann, state(ann), state(ann)["listed"][0])
    assert "Seat 2 (greedy) places" in ann.text("#situation")
    assert "not your turn" in explained(ann, '#board [data-commissioner="1"]')
    ann.run("document.activeElement.blur()")
    press(ann, "n")
    ann.wait_until(lambda: state(ann)["step"] == "2", "one move")
    assert "Seat 2 (greedy) places" in ann.text("#situation")
    press(ann, " ")
    your_turn(ann)
    steps = [int(step) for step in dict.fromkeys(ann.run("return window.steps")) if step]
    assert steps[-3:] == [1, 2, 3]
    assert "seat 2 (greedy)" in ann.text("#recent-list")


def explained(page: Browser, selector: str) -> str:
    """What is said about a part of the table under the pointer."""
    page.run(
        "document.querySelector(arguments[0]).dispatchEvent("
        "new PointerEvent('pointermove', {bubbles: true, clientX: 300, clientY: 300}))",
        selector,
    )
    return page.text(".tip")


WATCH_ALEA = """
    window.turned = [];
    const lines = () => document.getElementById("log-lines").children.length, before = lines();
    const watch = () => {
      const cards = [...document.querySelectorAll("#alea .black-card")];
      window.turned.push([cards.map((one) => Number(one.textContent)), lines() > before]);
    };
    new MutationObserver(watch).observe(document.getElementById("alea"), {childList: true, subtree: true});
"""


@pytest.mark.parametrize("motion", few(["no-preference", "reduce"], "no-preference"))
def test_aleas_cards_turn_up_one_by_one(
    ann: Browser, server: RunningServer, listener: Listener, motion: str
) -> None:
    """Before the table shows what came of them; at once where less motion is wanted (ALEA-2)."""
    features = {"features": [{"name": "prefers-reduced-motion", "value": motion}]}
    ann.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    sit_at(ann, server, listener, "alea", pause=0.5)
    ann.run(WATCH_ALEA)
    known = ann.text("#log").count("Alea bids")
    play(ann, your_turn(ann), PASS)
    ann.wait_until(lambda: ann.text("#log").count("Alea bids") > known, "what came of them")
    turned = [cards for cards, is_told in ann.run("return window.turned") if cards and not is_told]
    steps = [turned[-1][:number] for number in range(1, len(turned[-1]) + 1)]
    expected = steps if motion == "no-preference" else steps[-1:]
    assert [step for step in steps if step in turned] == expected
    ann.wait_until(lambda: ann.find("#alea") is None, "their end")
    ann.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_hint_is_waited_for_stopped_and_given(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    sit_at(ann, server, listener, "place")
    path = f"/api/seats/{ann.driver.current_url.rpartition('/')[2]}/hint"
    listener.held.add(path)
    set_value(ann, "adviser", "random")
    ann.click("#ask-hint")
    ann.wait_until(lambda: "random is thinking" in ann.text("#hint"), "that it thinks")
    ann.click("#hint .stop")
    ann.wait_until(lambda: ann.text("#hint") == "", "its end")
    listener.held.clear()
    set_value(ann, "adviser", "greedy")
    ann.click("#ask-hint")
    ann.wait_until(lambda: "greedy would" in ann.text("#hint"), "the answer")
    check_accessible(ann, "#hints")
    play(ann, state(ann), state(ann)["listed"][0])
    assert ann.text("#hint") == ""


def test_a_server_that_is_started_again_is_found(ann: Browser, tmp_path: Path) -> None:
    listener = Listener(application(Storage(tmp_path / "a"), quick_catalogue(), HOSTS))
    server = RunningServer(listener)
    sit_at(ann, server, listener, "bid")
    before = ann.text("#board svg"), ann.text("#log")
    server.stop()
    ann.wait("#offline")
    server = RunningServer(
        application(Storage(tmp_path / "a"), quick_catalogue(), HOSTS), server.port
    )
    ann.wait_until(lambda: ann.find("#offline") is None, "the connection")
    assert (ann.text("#board svg"), ann.text("#log")) == before
    play(ann, state(ann), PASS)
    server.stop()


# ---- several people ----


def test_people_meet_at_a_table_and_see_no_hidden_card(
    ann: Browser, server: RunningServer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ann, Bob with a link to a seat, and Eve with a spectator's: all that goes to them is read."""
    monkeypatch.setattr(people, "AWAY", 0.0)
    begin(ann, server, "me", "agent:random", "human", seed="4242424242424242", name="Ann")
    link = str(ann.wait("#invitation-list a").get_attribute("href"))
    ann.click("#invite-spectators")
    watching = str(ann.wait("#watch-link a").get_attribute("href"))
    with browser() as bob, browser() as eve:
        bob.open(link)
        bob.wait("#take-name").send_keys("Bob")
        bob.click("#take-button")
        eve.open(watching)
        for page in (bob, eve):
            page.wait("#board svg")
        ann.wait_until(lambda: "Bob" in ann.text("#people-list .here:nth-child(3)"), "Bob")
        ann.wait_until(lambda: "1 person looks on" in ann.text("#lookers"), "the spectator")
        check_accessible(ann, "#people")
        names = [page.driver.get_cookie(COOKIE)["value"] for page in (ann, bob, eve)]  # type: ignore[index]
        for _ in range(16):
            ann.wait_until(lambda: state(ann)["yours"] or state(bob)["yours"], "a turn")
            page = ann if state(ann)["yours"] else bob
            play(page, state(page), quick(choices(state(page))))
        assert eve.run("return document.querySelectorAll('#board [role=button]').length") == 0
        assert bob.complaints() == eve.complaints() == []
    ann.wait_until(lambda: "away since" in ann.text("#people-list"), "Bob's going")
    storage = storage_of(listener)
    stored = storage.game(storage.links_of(names[0].partition(".")[0])[0].game)
    game = Game(stored.players, seed=stored.seed)
    for action in stored.actions:
        game.play(action)
    replay = Replay.of(game.to_record().encode(), 1)
    parts: dict[str, Any] = {name: {} for name in names}  # of the drawing that each browser has
    for name, path, content in listener.heard:
        if re.fullmatch(r"/api/seats/[\w-]+(/act|/undo)?", path) and content.startswith(b'{"seat"'):
            told = json.loads(content)
            told["drawing"] = parts[name] = parts[name] | told["drawing"]
            assert told["seat"] == {names[0]: 0, names[1]: 2}.get(name)
            check_is_known(replay, -1 if told["seat"] is None else told["seat"], told)
        else:
            assert b"4242424242424242" not in content, path
    assert all(parts.values())


@pytest.mark.long
def test_two_at_one_screen_pass_the_device(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    """Behind the curtain nothing of a table is in the page, nor sent to it."""
    ann.open(f"{server.address}/#custom")
    ann.wait("#seat-1")
    set_value(ann, "seat-1", "me")
    ann.click("#new button.primary")
    assert ann.wait("#curtain-title").text == "Pass the device to Player 1"
    check_accessible(ann)
    table = "#board svg, #log li, #words-text:not(:empty)"
    assert ann.run("return document.querySelectorAll(arguments[0]).length", table) == 0
    told = [content for _, path, content in listener.heard if path.startswith("/api/seats/")]
    assert told
    assert not any(b"<g " in content for content in told)
    ann.click("#curtain-lift")
    your_turn(ann)


# ---- the lobby, and addresses ----


def test_the_lobby_greets_and_games_are_begun_and_deleted_there(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    ann.open(f"{server.address}/")
    ann.wait("#strengths input:checked")
    check_accessible(ann)
    set_value(ann, "name", "Ann")
    ann.run("for (let n = 0; n < 2; n++) document.getElementById('play-now').click()")
    ann.wait("#board svg")
    assert listener.asked.count("/api/games") == 2, "the lobby's list, and one game"
    ann.open(f"{server.address}/")
    ann.wait("#games li")
    assert ann.wait("#name").get_attribute("value") == "Ann"
    ann.click("#games button")
    check_accessible(ann)
    ann.click("#asked-yes")
    ann.wait_until(lambda: ann.find("#games li") is None, "the game's end")
    ann.click("#watch button")
    ann.wait("#board svg")
    assert ann.text("#recent h2") == "The last turns"


def test_addresses_that_lead_nowhere_say_why(
    ann: Browser, server: RunningServer, listener: Listener
) -> None:
    """And are not asked for again."""
    begin(ann, server, "me", "human")
    mine, storage = str(ann.driver.current_url), storage_of(listener)
    ann.forget()
    ann.open(mine)
    assert "is taken by another browser" in ann.wait("#take-text").text
    check_accessible(ann)
    begin(ann, server, "me", "human")
    key = storage.link(ann.driver.current_url.rpartition("/")[2]).game
    storage.change_game(key, actions=[0])
    application: Any = listener.app
    application.state.server._sessions.clear()
    for address, why in (
        (ann.driver.current_url, "can't be replayed"),
        (f"{server.address}/seat/wrong", "there is no such seat"),
    ):
        ann.open(address)
        assert why in ann.wait("#gone-text").text
    asked = len(listener.asked)
    ann.driver.execute_async_script("setTimeout(arguments[0], 1500)")
    assert not [path for path in listener.asked[asked:] if path.startswith("/api")]


RULES = {"rules": True, "ready": False, "error": "", "about": "the rules", "done": 40, "total": 99}
SEARCH = {"name": "ismcts", "ready": False, "state": "preparing", "error": ""}
WAITING = {
    "rules": {**RULES, "rules": False, "agents": []},
    "agents": {**RULES, "agents": [SEARCH]},
    "error": {**RULES, "rules": False, "error": "no compiler", "agents": []},
}
"""What the server tells while it gets ready."""


@pytest.mark.parametrize("what", few(WAITING, "rules"))
def test_pages_that_wait_are_accessible(server: RunningServer, what: str) -> None:
    script = f"""
        const real = window.fetch, told = {json.dumps(WAITING[what])};
        window.fetch = (address, options) => String(address).endsWith("/api/preparing") ? Promise.resolve(Response.json(told))
          : real(address, options);
    """
    with browser(dark=True) as page:
        page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        page.open(f"{server.address}/")
        page.wait("#preparing")
        assert page.run("return document.documentElement.dataset.theme") == "dark"
        check_accessible(page)


# ---- replays ----


def open_file(page: Browser, server: RunningServer, path: Path, *records: str) -> None:
    """Choose a file with these records in the lobby."""
    path.write_text("".join(records), encoding="utf-8")
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
    page.click("#last")
    page.wait_until(lambda: "win" in page.text("#situation"), "the end")
    points = {f"{score} VP" for score in game.scores}
    page.wait_until(lambda: all(vp in page.text("#board svg") for vp in points), "the drawing")
    page.click("#first")
    page.click("#play")
    page.wait_until(lambda: int(page.text("#count").split(" /")[0]) >= 3, "playing by itself")
    page.click("#play")


def test_a_replay_is_looked_through_and_its_address_leads_back(
    ann: Browser, server: RunningServer, tmp_path: Path
) -> None:
    game = played(3, seed=12)
    record = game.to_record(["ann", "bob", "<i>eve</i>"])
    open_file(ann, server, tmp_path / "game.jsonl", record, record)
    ann.wait("tbody tr:nth-child(2) button").click()
    look_through(ann, game)
    cards = "return document.querySelectorAll('#board [data-card], i').length"
    all_cards = ann.run(cards)
    set_value(ann, "whose", 1)
    ann.wait_until(lambda: ann.run(cards) < all_cards, "one seat's view")
    ann.click("#auction-next")
    ann.wait_until(lambda: "step=" in ann.driver.current_url, "the step in the address")
    auction, count = ann.driver.current_url, ann.text("#count")
    ann.click("#last")
    ann.wait_until(lambda: ann.driver.current_url != auction, "the last step in the address")
    ann.driver.back()
    ann.wait_until(lambda: ann.text("#count") == count, "where it was before")
    ann.open(auction)
    ann.wait("#board svg")
    assert ann.text("#count") == count
    assert ("game=2" in auction, "seat=1" in auction) == (True, True)


def test_an_export_replays_from_disk_without_a_network(tmp_path: Path) -> None:
    game = played(2, seed=3, turns=20)
    record = game.to_record(["ann", "</script><i>"]).encode()
    (tmp_path / "game.html").write_text(exported(Replay.of(record, 1), "a </title> game"), "utf-8")
    with browser() as page:
        page.driver.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        page.open((tmp_path / "game.html").as_uri())
        look_through(page, game)
        assert page.run("return document.querySelectorAll('i').length") == 0
        assert page.run("return performance.getEntriesByType('resource').length") == 0
        assert page.complaints() == []


@pytest.mark.long
def test_the_pictures_of_the_page_are_taken(tmp_path: Path) -> None:
    from experiments.tools import screenshots

    assert screenshots.main(["--out", str(tmp_path)]) == 0
    assert (tmp_path / "phone-bid.png").exists()
