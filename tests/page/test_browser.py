"""The page in a real browser: played by clicking, by keyboard, on a phone; replays and exports."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from damage import damaged
from pages import RunningServer, played, quick, quick_offers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from test_web import check_is_known

from experiments.chromium import Browser, browser
from skyenv import Game, record
from skyenv.page.browsers import COOKIE
from skyenv.page.export import exported
from skyenv.page.replays import Replay
from skyenv.page.storage import Storage
from skyenv.page.web import application

HOSTS = ["127.0.0.1"]


class Listener:
    """Writes down all that goes to the browsers, by their names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.heard: list[tuple[str, str, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        cookies = dict(scope.get("headers", ())).get(b"cookie", b"").decode()
        found = re.search(rf"{COOKIE}=([\w.-]+)", cookies)
        name, content, packed = found[1] if found else "", bytearray(), False

        async def listen(message: Message) -> None:
            nonlocal packed
            if message["type"] == "http.response.start":
                packed = (b"content-encoding", b"gzip") in message["headers"]
            content.extend(message.get("body", b"") or (message.get("text") or "").encode())
            if message["type"] in ("http.response.body", "websocket.send") and not message.get("more_body"):
                self.heard.append((name, scope["path"], gzip.decompress(bytes(content)) if packed else bytes(content)))
                content.clear()
            await send(message)

        await self._app(scope, receive, listen)


@pytest.fixture
def listener(tmp_path: Path) -> Listener:
    return Listener(application(Storage(tmp_path / "games.sqlite3"), quick_offers(), HOSTS))


@pytest.fixture
def server(listener: Listener) -> Iterator[RunningServer]:
    running = RunningServer(listener)
    yield running
    running.stop()


@pytest.fixture
def ann() -> Iterator[Browser]:
    with browser() as opened:
        yield opened
        assert opened.complaints() == []


def begin(page: Browser, server: RunningServer, *seats: str, seed: str = "") -> None:
    """Fill in the lobby's form."""
    page.open(f"{server.address}/")
    page.wait("#seat-1")
    if len(seats) > 2:
        page.run(
            "const p = document.getElementById('players'); p.value = arguments[0]; p.dispatchEvent(new Event('change'))",
            str(len(seats)),
        )
    for number, seat in enumerate(seats):
        page.run("document.getElementById(arguments[0]).value = arguments[1]", f"seat-{number}", seat)
    page.wait("#seed").send_keys(seed)
    page.click("#new button.primary")
    page.wait("#board svg")
    page.run("const p = document.getElementById('pause'); p.value = 0; p.dispatchEvent(new Event('change'))")


def state(page: Browser) -> dict[str, Any]:
    """What of the table can be clicked now, and whether the game is over."""
    found: dict[str, Any] = page.run("""
        const numbers = (all, name) => [...document.querySelectorAll(all)].map((one) => Number(one.dataset[name]));
        return {over: !document.getElementById("finished").hidden, yours: document.body.classList.contains("yours"),
                step: document.getElementById("hint").dataset.step, table: numbers("#board [role=button][data-action]", "action"),
                buttons: numbers("#buttons [data-choice]", "choice"), listed: numbers("#places [data-choice]", "choice")};
    """)
    return found


def play(page: Browser, seen: dict[str, Any], action: int) -> None:
    """Click on the table what stands for an action; on a button if nothing does. Wait until the page shows what follows."""
    where = f'#board [role=button][data-action="{action}"]' if action in seen["table"] else f'#buttons [data-choice="{action}"]'
    if action in seen["table"]:
        page.run(
            """
            const part = document.querySelector(arguments[0]);
            part.scrollIntoView({block: "center", behavior: "instant"});
        """,
            where,
        )
        click_shape(page, where)
    else:
        page.click(where)
    page.wait_until(lambda: state(page)["step"] != seen["step"], f"what follows from action {action}")


def click_shape(page: Browser, selector: str) -> None:
    """Click a point at which the part itself is on top, as a person would: its middle may be covered or empty."""
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
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **button})


def play_to_end(page: Browser, most: int = 400) -> int:
    """Play a whole game by clicking; the number of clicks."""
    for clicks in range(most):
        page.wait_until(lambda: state(page)["over"] or state(page)["yours"], "a turn")
        seen = state(page)
        if seen["over"]:
            return clicks
        assert sorted(seen["listed"]) == sorted(set(seen["table"])), "every listed choice can be clicked on the table"
        play(page, seen, quick(seen["table"] + seen["buttons"]))
    raise AssertionError("the game has no end")


def test_a_game_against_greedy_played_by_clicking(ann: Browser, server: RunningServer, tmp_path: Path) -> None:
    begin(ann, server, "me", "agent:greedy", seed="11")
    assert play_to_end(ann) > 20
    ann.click("#final-next")
    ann.click("#final-all")
    assert "wins" in ann.text("#final tbody tr:last-child") or "share" in ann.text("#final tbody tr:last-child")
    address = ann.wait("#record").get_attribute("href")
    text = ann.run("return fetch(arguments[0]).then((answer) => answer.text())", address)
    game = Game.from_record(text)
    assert game.is_over
    assert game.seed == 11
    for score in game.scores:
        assert str(score) in ann.text("#final tbody tr:last-child")
    ann.click("#replay")
    ann.wait("#step")
    assert ann.text("#count") == f"0 / {int(game.state['decisions'])}"


def test_two_people_in_two_browsers_do_not_see_each_others_hands(ann: Browser, server: RunningServer, listener: Listener) -> None:
    begin(ann, server, "me", "agent:random", "human", "agent:crowd", seed="5050505050505")
    link = ann.wait("#invitation-list a").get_attribute("href")
    with browser() as bob:
        bob.open(str(link))
        bob.click("#take-button")
        bob.wait("#board svg")
        names = {page.driver.get_cookie(COOKIE)["value"]: seat for page, seat in ((ann, 0), (bob, 2))}  # type: ignore[index]
        while not state(ann)["over"]:
            for page in (ann, bob):
                if (seen := state(page))["yours"]:
                    play(page, seen, quick(seen["table"] + seen["buttons"]))
        bob.wait("#finished")
        assert bob.complaints() == []
        text = ann.run("return fetch(document.getElementById('record').href).then((answer) => answer.text())")
    replay = Replay.of(text.encode(), 1)
    checked = 0
    for name, path, content in listener.heard:
        if path.endswith("/record"):
            continue
        assert b"5050505050505" not in content, path
        if re.fullmatch(r"/api/seats/[\w-]+", path) and content.startswith(b'{"seat"'):
            told = json.loads(content)
            check_is_known(replay, names[name], told)
            assert told["seat"] == names[name]
            checked += 1
        elif path.startswith("/api/seats/"):
            assert b"svg" not in content
    assert checked > 50


def test_a_bid_is_laid_down_taken_back_and_explained(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    for _ in range(200):
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        seen = state(ann)
        cards = [action for action in seen["table"] if 79 <= action < 97]
        if cards:
            break
        moves = [action for action in seen["table"] + seen["buttons"] if action != 78]
        play(ann, seen, max(moves))  # moves commissioners, until there is an auction
    before = ann.run("return document.querySelector('#board svg').outerHTML")
    play(ann, seen, cards[0])
    ann.click("#undo")
    ann.wait_until(lambda: state(ann)["step"] == seen["step"], "the taking back")
    assert ann.find("#undo") is None
    assert ann.run("return document.querySelector('#board svg').outerHTML") == before
    ann.run("""
        const plot = document.querySelector("#board [data-plot]");
        plot.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: 300, clientY: 300}));
    """)
    assert "there is an auction" in ann.wait(".tip").text


def test_a_commissioner_and_then_its_next_place(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="2")
    while True:
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        seen = state(ann)
        if any(60 <= action < 78 for action in seen["table"]):
            break
        play(ann, seen, min(seen["table"] + seen["buttons"]))
    places = ann.run("return document.querySelectorAll('#board [data-place]').length")
    own = ann.run("return document.querySelectorAll('#board [data-place^=\"1:\"]').length")
    assert places > own > 1
    click_shape(ann, '#board [data-commissioner="1"]')
    assert ann.run("return document.querySelectorAll('#board [data-place].faded').length") == places - own
    assert ann.run("return document.activeElement.dataset.place[0]") == "1"
    play(ann, seen, next(action for action in seen["table"] if 69 <= action < 78))
    assert "you) moves the beige commissioner" in ann.text("#log")


def test_a_game_is_deleted_in_the_lobby(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy")
    ann.open(f"{server.address}/")
    ann.click("#games button")
    ann.driver.switch_to.alert.accept()
    ann.wait_until(lambda: ann.find("#games li") is None, "the game's end")


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


def test_by_keyboard_alone(ann: Browser, server: RunningServer) -> None:
    """Every choice can be reached with Tab and taken with Enter, and says what it is."""
    begin(ann, server, "me", "agent:greedy", seed="4")
    for _ in range(3):
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
        seen = state(ann)
        ann.run("document.querySelector('#board').focus(); document.activeElement.blur()")
        labels = set()
        active: Any = None
        for _ in range(60):
            ann.driver.switch_to.active_element.send_keys("\ue004")  # Tab
            active = ann.run(
                "const a = document.activeElement;"
                "return [a.closest('#board') !== null, a.getAttribute('aria-label'), a.getAttribute('role')]"
            )
            if active[0]:
                labels.add(active[1])
                break
        assert active[0] is True
        assert active[1]
        assert active[2] == "button"
        ann.driver.switch_to.active_element.send_keys("\ue007")  # Enter
        ann.wait_until(lambda before=seen: state(ann)["step"] != before["step"], "what follows")  # type: ignore[misc]


def test_on_a_phone_and_in_the_dark(server: RunningServer) -> None:
    with browser(phone=True, dark=True) as phone:
        begin(phone, server, "me", "agent:greedy")
        assert phone.run("return document.documentElement.dataset.theme") == "dark"
        assert phone.run("return document.querySelector('#board svg').dataset.theme") == "dark"
        for path in (None, "/"):
            if path:
                phone.open(server.address + path)
                phone.wait("#seat-1")
            assert phone.run("return document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out sideways"
        assert phone.complaints() == []


def test_reconnect_after_a_server_restart(ann: Browser, tmp_path: Path) -> None:
    path = tmp_path / "restarted.sqlite3"
    server = RunningServer(application(Storage(path), quick_offers(), HOSTS))
    begin(ann, server, "me", "agent:greedy", seed="6")
    seen = state(ann)
    play(ann, seen, seen["table"][0])
    ann.wait_until(lambda: state(ann)["yours"], "a turn")
    before = ann.run("return document.querySelector('#board svg').outerHTML"), ann.text("#log")
    server.stop()
    ann.wait("#offline")
    server = RunningServer(application(Storage(path), quick_offers(), HOSTS), server.port)
    ann.wait_until(lambda: ann.find("#offline") is None, "the connection")
    assert (ann.run("return document.querySelector('#board svg').outerHTML"), ann.text("#log")) == before
    seen = state(ann)
    play(ann, seen, seen["table"][0])
    ann.driver.refresh()
    ann.wait("#board svg")
    server.stop()


# ---- replays ----


def open_file(page: Browser, server: RunningServer, path: Path) -> None:
    """Choose a file in the lobby."""
    page.open(f"{server.address}/")
    page.wait("#seat-1")
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
    page.wait_until(lambda: int(page.text("#count").split(" /")[0]) >= 3, "playing by itself")
    page.click("#play")
    all_cards = len(page.run("return [...document.querySelectorAll('#board [data-card]')].map((card) => card.dataset.card[0])"))
    page.run("const w = document.getElementById('whose'); w.value = 1; w.dispatchEvent(new Event('change'))")
    page.wait_until(
        lambda: len(page.run("return [...document.querySelectorAll('#board [data-card]')]")) < all_cards, "one seat's view"
    )
    page.run("const s = document.getElementById('step'); s.value = 50; s.dispatchEvent(new Event('input'))")
    page.wait_until(lambda: page.text("#count") == f"50 / {steps}")
    assert page.run("return document.querySelectorAll('.chart .line').length") == game.num_players


def test_replay_of_a_record_file(ann: Browser, server: RunningServer, tmp_path: Path) -> None:
    game = played(3, seed=12)
    path = tmp_path / "game.jsonl"
    record.write(path, [game], ["ann", "bob", "<i>eve</i>"])
    open_file(ann, server, path)
    look_through(ann, game)
    ann.click("#ask")
    ann.wait("#opinion li.choice")
    assert ann.run("return document.querySelectorAll('i').length") == 0


def test_a_file_dropped_on_the_page_and_several_games(ann: Browser, server: RunningServer) -> None:
    text = "".join(played(2, seed=seed).to_record() for seed in (1, 2))
    ann.open(f"{server.address}/")
    ann.wait("#seat-1")
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


def test_damaged_records_get_a_message(ann: Browser, server: RunningServer, tmp_path: Path) -> None:
    for number, content in enumerate(damaged()):
        path = tmp_path / f"damaged-{number}.jsonl"
        path.write_bytes(content)
        open_file(ann, server, path)
        ann.wait_until(lambda: re.search(r": line \d+: ", ann.text("#note")), f"a message about damaged record {number}")
        assert "Traceback" not in ann.text("body")


def test_an_export_replays_from_disk_without_a_network(tmp_path: Path) -> None:
    game = played(2, seed=3, turns=20)
    path = tmp_path / "game.html"
    content = exported(Replay.of(record.dumps(game, ["ann", "</script><i>"]).encode(), 1), "a </title> game")
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
    from experiments import screenshots

    assert screenshots.main(["--out", str(tmp_path)]) == 0
    assert {"lobby.png", "bid.png", "replay.png", "final.png", "phone-bid.png"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.long
def test_many_games_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    from experiments import page_load

    assert page_load.main(["--games", "10", "--seconds", "20", "--think", "1"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"table: p50 \d+ ms, p99 \d+ ms", told)
    assert int(re.findall(r": (\d+) actions of people", told)[0]) > 20
