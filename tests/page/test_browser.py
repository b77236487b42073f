"""Flows of the page in a real browser, from stored positions and through a whole game.

Sizes are measured in test_fits.py; the lesson is played in test_teaching_browser.py.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from accessibility import check_accessible, violations
from chromium import Browser
from clicks import (
    GONE,
    HERE,
    PASS,
    Site,
    Step,
    begin,
    click,
    follow,
    press,
    read,
    set_value,
    sit_at,
)
from pages import check_is_told_to, few, played, quick
from test_fits import LEAST_TEXT, PHONES, measured

from conftest import pytest_runtest_setup
from skyenv import Game
from skyenv.errors import OptionError
from skyenv.page.browsers import COOKIE
from skyenv.page.library.export import exported
from skyenv.page.library.replays import Replay


def test_the_accessibility_check_finds_violations(page: Browser, site: Site) -> None:
    """With the page's strict content security policy in force."""
    page.open(f"{site.address}/rules")
    page.run("""
        const [icon, pale] = ["img", "p"].map((name) => document.createElement(name));
        Object.assign(icon, {id: "unnamed", src: "/static/icon.svg"});
        Object.assign(pale, {id: "pale", textContent: "hard to read", style: "color: #ccc; background: #fff"});
        document.querySelector("main").append(icon, pale);
    """)
    found = violations(page, "#unnamed") + violations(page, "#pale")
    assert {one.split(" (")[0] for one in found} == {"image-alt", "color-contrast"}


def test_without_a_browser_tests_are_skipped_but_fail_on_ci(
    browsers: Callable[..., Any],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        pytest_runtest_setup(request.node)
    monkeypatch.setenv("CI", "true")
    pytest_runtest_setup(request.node)
    with pytest.raises(OptionError, match="apt-get install chromium"), browsers():
        pass


# ---- flows ----

TAB_REST: Final = "#tabs label:has([value=rest])"
FLOWS: Final[dict[str, tuple[str, list[Step]]]] = {
    "a bid is laid together in any order, explained, and can be taken back": (
        "bid",
        [
            ("", "#bid-done:disabled", HERE),
            ("", "[data-more]", GONE),  # the hand itself is at hand
            ("click #board [data-card='0:5:0']", "#foot", "the first card must be a coloured one"),
            ("click #board [data-card='0:1:1']", "#foot", "Total 9"),
            ("", "#board [data-card='0:2:0']:not(.legal)", HERE),
            ("click [data-more='1:5']", "#foot", "Total 14, builds up to 2"),
            ("click #board .draft.suit-5", "#foot", "Total 10"),
            ("reload", "#board .draft.suit-1", HERE),
            ("click [data-less='1:5']", "#foot", "Total 5"),
            ("click #bid-empty", "#foot", "Total 0"),
            ("", "#board .draft", GONE),
            ("focus #log", "#log:focus", HERE),
            ("press TAB", "#dock :focus", HERE),  # old lines have no tab stops
        ],
    ),
    "a limit bids and passes by itself, in its auction alone": (
        "bid",
        [
            ("click #proxy-title", "#proxy-set", "start"),
            ("set #proxy-most 4", "#proxy-set", "start"),
            ("click #proxy-set", "#situation", "Bid for E42"),
            ("", "#proxy:not([open]) #proxy-title", "bid or pass for me"),
            ("", "#log .own", "by your limit"),
        ],
    ),
    "a limit keeps the draft's colour and build": (
        "bid",
        [
            ("click #proxy-title", "#proxy-now", "now: bid 4 for 3 in violet"),
            ("click #board [data-card='0:2:1']", "#foot", "Total 5, builds up to 2"),
            ("set #proxy-most 3", "#proxy-now", "now: pass"),
            ("set #proxy-most 18", "#proxy-now", "now: bid 4 for 2 in brown"),
            ("click #proxy-set", "#log", "by your limit.*You bid 4 with brown 4"),
        ],
    ),
    "a limit that finds no such bid leaves the decision to the player, and is gone": (
        "bid",
        [
            ("click #proxy-title", "#proxy-set", "start"),
            ("click #board [data-card='0:1:0']", "#foot", "Total 4"),
            ("set #proxy-most 9", "#proxy-now", "now: bid 4 for 3 in violet"),
            ("click #proxy-set", "#note", "you decide: no bid up to 9 for 3 in violet"),
            ("", "#proxy:not([open]) #proxy-title", "bid or pass for me"),
        ],
    ),
    "a limit begins with the least total that leads": (
        "bid",
        [
            ("click #proxy-title", "#proxy-set", "start"),
            ("click #proxy-set", "#log", "by your limit.*You bid"),
        ],
    ),
    "a hint tells whole bids; passing is asked for where cards are laid down": (
        "bid",
        [
            ("set #adviser crowd", "#ask-hint:enabled", HERE),
            ("click #ask-hint", "#hint table", r"bid \d+: \w+ \d \+ black \d"),
            ("check", "#hint", "Crowd would"),
            ("click #board [data-card='0:1:1']", "#foot", "Total 5"),
            ("click #foot [data-choice='78']", "#asked-text", "Cards of a bid are laid down"),
            ("click #asked-no", "#foot", "pass"),
            ("click #bid-empty", "#foot", "Total 0"),
            ("click #foot [data-choice='78']", "#situation", "Bid for E42"),
            ("", "#hint *", GONE),
        ],
    ),
    "a hint tells a raise by its new total and the added cards": (
        "raise",
        [
            ("set #adviser crowd", "#ask-hint:enabled", HERE),
            ("click #ask-hint", "#hint table", r"raise to (2\d): \+ violet \d"),
        ],
    ),
    "an option is chosen by its key and taken back, and then the choice before it": (
        "option",
        [
            ("press a", "[data-take]", "green"),
            ("click #undo", ".option", "Skyscrapers"),
            ("", "#log li:last-child", "You build on W34"),
            ("click #undo", "#situation", "Place the 2nd starting skyscraper"),
            ("click #undo", "#situation", "Place the 1st starting skyscraper"),
            (f"click {TAB_REST}", "#taken-back", "1 decision taken back"),
        ],
    ),
    "two cards are taken in any order": (
        "take",
        [
            ("click #board [data-stack='4']", "[data-take][aria-pressed=true]", "gray"),
            ("click #board [data-stack='4']", "[data-take][aria-pressed=true]", GONE),
            ("click #board [data-stack='3']", "[data-take][aria-pressed=true]", "orange"),
            ("click #board [data-stack='0']", "#log", r"take green 4.*You take orange 4"),
            # cards were turned up
            ("click #undo", "#situation", "Take two"),
            ("", "#log", r"^(?!.*You take orange 4)"),
        ],
    ),
    "a commissioner is chosen, and then its next place": (
        "move",
        [
            ("click #board [data-commissioner='1']", "#board [data-place^='1:']:focus", HERE),
            ("", "#board [data-place^='0:']:not(.faded)", GONE),
            ("press ENTER", "#log", "You move the beige commissioner"),
        ],
    ),
    "agents are paused and stepped; a page shows every position": (
        "place",
        [
            ("press SPACE", "#hold", "resume"),
            ("click #board [data-plot='0:0']", "#situation", "Banker places"),
            ("point #board [data-commissioner='1']", ".tip", "not your turn"),
            ("point #board svg", ".tip", GONE),
            ("press n", "#log .new:last-child", "Banker"),
            ("", "#situation", "Banker places"),
            ("press SPACE", "#situation", "Place the 2nd starting skyscraper"),
        ],
    ),
    "rules are read beside the game; the keyboard returns to where it was": (
        "option",
        [
            ("focus #log a.rule", "#log a.rule:focus", HERE),
            ("press ENTER", ".rules-panel .here", "SET-"),
            ("check", ".rules-panel", HERE),
            ("press ESCAPE", ".rules-panel", GONE),
            ("", "#log a.rule:focus", HERE),
            ("click .option[data-option=C] .brings a.term", ".rules-panel .here", "AUC-4"),
            ("click .option[data-option=A] button", "[data-take]", HERE),  # not covered
            ("click .rules-head button", ".rules-panel", GONE),
            ("press r", ".rules-panel", HERE),
        ],
    ),
    "what can't be chosen says why, and leads to its rule": (
        "place",
        [
            ("click #board [data-stack='1']", "#refusal", "place a starting skyscraper first"),
            ("check", "#refusal", HERE),
            ("click #refusal a.rule", ".rules-panel .here", "SET-7"),
            ("", "#refusal", HERE),
            ("click .rules-head button", ".rules-panel", GONE),
        ],
    ),
    "what is new is explained once": (
        "bid",
        [
            ("", "#news b", "New: Auctions"),
            ("click #news a.rule", ".rules-panel .here", "AUC-1"),
            ("click .rules-head button", ".rules-panel", GONE),
            ("click #news button", "#news", GONE),
            ("reload", "#situation", "Bid for E34"),
            ("", "#news", GONE),
            (f"click {TAB_REST}", "#explain:checked", HERE),
            ("click #explain", "#explain:not(:checked)", HERE),
            ("click #explain", "#explain:checked", HERE),
            ("reload", "#news b", "New: Auctions"),
            ("", "#explain:checked", HERE),  # in the same tab as before
        ],
    ),
    "the final scoring comes before the winner's name, and then what can be done": (
        "last",
        [
            ("", "#situation", "Final scoring, step by step"),
            ("", '#board svg[aria-label*="Final scoring"]', HERE),
            ("click header .quiet:last-child", "#board svg[data-theme=dark]", HERE),
            ("", "#board [data-part=W34].changed > [data-district]", HERE),
            ("click #final-next", "#board [data-part=E34].changed > [data-district]", HERE),
            ("", "#situation", "Final scoring, step by step"),
            ("", "#ended", GONE),
            ("click #final-all", "#situation", "wins? with 14 VP"),
            ("", '#board svg[aria-label*=" with 14 VP"]', HERE),
            ("", "#board .changed", GONE),
        ],
    ),
    "a game that was over when the page was loaded is scored at once": (
        "over",
        [
            ("", "#situation", "wins? with 14 VP"),
            ("", "#final tbody:nth-of-type(6)", HERE),
            ("", "#log li:last-child", "building stop in E52"),  # the scoring stands once
            ("", "#final-next", GONE),
            ("", "#board .changed", GONE),
            ("", "#ended", "Turning point.*Costliest bid.*kept.*record against Banker: . won"),
            ("click #ended button", "#count", "^ [1-9][0-9]* / 251"),
            ("back", "#finished .primary", "analyse my game"),
            ("click #analyse", "#analysis", "needs? the agent trained|isn't ready"),
            ("back", "#replay", HERE),
            ("click #replay", "#count", "^ 0 / 251"),
            ("", "#log .new", HERE),
            ("focus #log", "#log:focus", HERE),
            ("press TAB", "#log .new :focus", HERE),  # of all its lines those of this step alone
            ("press TAB", "#log .new a:focus", HERE),
            ("press TAB", "#first:focus", HERE),
            ("", ".knows .legend", HERE),
            ("back", "#finished #rematch", "rematch"),
            ("click #rematch", "#log li:first-child", "a new game for 2 players"),
            ("", "#finished", GONE),
        ],
    ),
}


@pytest.mark.parametrize("name", FLOWS)
def test_flows_in_a_browser(page: Browser, site: Site, name: str) -> None:
    """Each flow ends in an accessible page."""
    position, steps = FLOWS[name]
    sit_at(page, site, position)
    follow(page, steps)
    check_accessible(page)


# ---- a whole game ----

KINDS: Final = [".option", "[data-take]", ".tray", "#board .legal[data-place]", "#buttons button"]
WHERE: Final = """
    return ["#board svg", "#dock", "#beside"].map((name) => {
      const {left, top, width} = document.querySelector(name).getBoundingClientRect();
      return `${name}: ${left} ${top} ${width}`;
    }).join();
"""


def offered(page: Browser) -> dict[str, Any]:
    """Return the current choices, and whether the game is over.

    `table`: actions that a click on the drawing is; `buttons`: actions of buttons; `stacks`:
    colours of which two can be taken; `cards`: "colour:value" of those that can be laid down.
    """
    return dict(
        page.run("""
        const all = (selector, name) => [...document.querySelectorAll(selector)].map((one) => one.dataset[name]);
        const busy = document.querySelector("[data-take], .tray");
        return {over: !document.getElementById("finished").hidden, yours: document.body.classList.contains("yours"),
                step: document.getElementById("hint").dataset.step,
                table: busy ? [] : all("#board [role=button][data-action]:not([data-commissioner])", "action").map(Number),
                buttons: all("#choices [data-choice]", "choice").map(Number),
                stacks: all("#buttons [data-take]", "take").map(Number), cards: all("#board .legal[data-card]", "card")};
    """)
    )


def your_turn(page: Browser) -> dict[str, Any]:
    """Return the choices once it is this seat's turn or the game is over."""
    page.wait_until(lambda: offered(page)["over"] or offered(page)["yours"], "a turn")
    return offered(page)


def play(page: Browser, shown: dict[str, Any]) -> None:
    """Make a choice, on the drawing if it is there; confirm questions; wait for the result."""
    actions = [*shown["table"], *shown["buttons"]]
    action = quick(actions) if actions else None
    if action in shown["table"]:
        click(page, f'#board [role=button][data-action="{action}"]')
    elif shown["stacks"]:
        for colour in shown["stacks"][-2:]:
            page.click(f'[data-take="{colour}"]')
    elif shown["cards"]:
        bid(page)
    else:
        page.click(f'#choices [data-choice="{action}"]')

    def has_gone_on() -> bool:
        page.run("document.getElementById('asked-yes')?.click()")
        return bool(offered(page)["step"] != shown["step"])

    page.wait_until(has_gone_on, "what follows")


def bid(page: Browser) -> None:
    """Lay down cards until they form a bid; pass if they can't."""
    while page.find("#bid-done:enabled") is None:
        if page.find("#board .legal[data-card]") is None:
            page.click(f'#choices [data-choice="{PASS}"]')
            return
        click(page, "#board .legal[data-card]")
    page.click("#bid-done")


def test_a_whole_game_is_played_by_clicks(page: Browser, site: Site) -> None:
    """Each kind of choice is accessible, the layout stays in place, and the record is complete."""
    begin(page, site, "me", "agent:greedy", seed="11")
    looked: set[str] = set()
    stood: set[str] = set()
    while not (shown := your_turn(page))["over"]:
        stood.add(page.run(WHERE))
        kind = page.run("return arguments[0].find((one) => document.querySelector(one))", KINDS)
        if kind not in looked:
            looked.add(kind)
            check_accessible(page)
        play(page, shown)
    assert set(KINDS[:4]) <= looked
    assert len(stood) == 1, stood
    assert "forced" in page.text("#log")
    page.click("#final-all")
    page.wait("#leads-body td")  # the end has no hints
    address = page.wait("#record").get_attribute("href")
    record = page.run("return fetch(arguments[0]).then((answer) => answer.text())", address)
    game = Game.from_record(record)
    assert (game.is_over, game.seed) == (True, 11)
    assert all(str(score) in page.text("#final tbody:last-of-type") for score in game.scores)


# ---- what flows can't say ----


def tabbed(page: Browser) -> list[tuple[str, int]]:
    """Return everything that Tab reaches: its place, board or choices, and its action (-1: none)."""
    page.run("window.reached = new Set(); document.querySelector('.home').focus()")
    elements: list[tuple[str, int]] = []
    while len(elements) < 300:
        follow(page, [("press TAB", "body", HERE)])
        one = page.run("""
            const a = document.activeElement, where = ["#board", "#choices"].find((each) => a.closest(each)) ?? "";
            if (a === document.body || window.reached.has(a)) return null;
            window.reached.add(a);
            return [where, Number((a.dataset.commissioner ? null : a.dataset.action) ?? a.dataset.choice ?? -1)];
        """)
        if one is None:
            return elements
        elements.append((one[0], one[1]))
    raise AssertionError("Tab finds no end")


def test_the_keyboard_reaches_exactly_the_legal_choices(page: Browser, site: Site) -> None:
    """Focus stays on the board, or among the choices, while others move."""
    sit_at(page, site, "place")
    shown = your_turn(page)
    reached = tabbed(page)
    for where, expected in (("#board", shown["table"]), ("#choices", shown["buttons"])):
        assert {action for place, action in reached if place == where} - {-1} == {*expected}
    for then in ("Place the 2nd", "Choose an option"):
        page.click("#situation")  # behind the last link the browser itself has the keyboard
        follow(page, [("focus .home", ".home:focus", HERE)])
        while not read(page, "#board :focus"):
            press(page, "TAB")
        follow(page, [("press ENTER", "#situation", then), ("", "#board :focus", HERE)])
    follow(page, [("blur", "body", HERE), ("press ?", "#keys[open]", "reach and take")])
    check_accessible(page, "#keys")


WATCH_ALEA: Final = """
    const wait = window.setTimeout;  // time alone takes no cards away
    window.setTimeout = (act, pause, ...more) => pause === 2500 || wait(act, pause, ...more);
    window.turned = [];
    const lines = () => document.getElementById("log-lines").children.length, before = lines();
    const watch = () => {
      const cards = [...document.querySelectorAll("#alea .black-card")];
      window.turned.push([cards.map((one) => Number(one.textContent)), lines() > before]);
    };
    new MutationObserver(watch).observe(document.getElementById("alea"), {childList: true, subtree: true});
"""


@pytest.mark.parametrize("motion", few(["no-preference", "reduce"], "no-preference"))
def test_aleas_cards_turn_up_one_by_one(page: Browser, site: Site, motion: str) -> None:
    """Before the table shows the result; at once with reduced motion (ALEA-2). They go with the
    next position.
    """
    features = {"features": [{"name": "prefers-reduced-motion", "value": motion}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    sit_at(page, site, "alea", pause=0.5)
    page.run(WATCH_ALEA)
    known = page.text("#log").count("Alea bids")
    page.click(f'#choices [data-choice="{PASS}"]')
    page.wait_until(lambda: page.text("#log").count("Alea bids") > known, "what came of them")
    turned = [cards for cards, is_told in page.run("return window.turned") if cards and not is_told]
    steps = [turned[-1][:number] for number in range(1, len(turned[-1]) + 1)]
    expected = steps if motion == "no-preference" else steps[-1:]
    assert [step for step in steps if step in turned] == expected
    page.wait_until(lambda: page.find("#alea") is None, "their end")


def test_a_hint_under_way_can_be_stopped(page: Browser, site: Site) -> None:
    """Another's choice is marked on the board, in both themes."""
    sit_at(page, site, "place")
    site.listener.held.add(f"/api/seats/{page.driver.current_url.rpartition('/')[2]}/hint")
    measured(page, (1280, 720))  # a higher window has hints below the standings
    follow(
        page,
        [
            ("click #tabs label:has([value=hints])", "#adviser", HERE),
            ("press ?", "#keys[open]", HERE),  # the tab's radio button needs no letters
            ("press ESCAPE", "#keys[open]", GONE),
            ("set #adviser random", "#ask-hint:enabled", HERE),
            ("click #ask-hint", "#hint", "Random is thinking"),
            ("click .stop", "#hint *", GONE),
        ],
    )
    site.listener.held.clear()
    follow(
        page,
        [
            ("set #adviser greedy", "#ask-hint:enabled", HERE),
            ("click #ask-hint", "#board .hinted", HERE),
            ("click header .quiet:last-child", "#board svg[data-theme=dark]", HERE),
            ("", "#board .hinted", HERE),
        ],
    )


ASKING: Final = """
    return [...document.querySelectorAll("button, #board [role=button]")]
        .filter((one) => one.checkVisibility() && !one.closest("[inert]")).map((one) => one.id);
"""


def test_the_page_reconnects_to_a_restarted_server(page: Browser, tmp_path: Path) -> None:
    site = Site(tmp_path)
    sit_at(page, site, "place")
    before = page.text("#board svg"), page.text("#log")
    site.stop()
    page.wait("#offline")
    assert page.run(ASKING) == ["sound", "keys-open", "rules", ""], "what needs no server"
    press(page, "u")
    assert read(page, "#note") == ""
    site = Site(tmp_path, site.port)
    page.wait_until(lambda: page.find("#offline") is None, "the connection")
    assert (page.text("#board svg"), page.text("#log")) == before
    play(page, your_turn(page))
    site.stop()


# ---- several people ----


def test_players_and_spectators_receive_no_hidden_cards(
    page: Browser, browsers: Callable[..., Any], site: Site
) -> None:
    """Everything sent to Ann, to Bob (a link to a seat) and to Eve (a spectator) is checked."""
    seed = "4242424242424242"
    begin(page, site, "me", "agent:random", "human", seed=seed, names=["Ann", "", ""])
    link = str(page.wait("#invitation-list a").get_attribute("href"))
    page.click(TAB_REST)
    watching = str(page.wait("#watch-link a").get_attribute("href"))
    with browsers() as bob, browsers() as eve:
        bob.open(link)
        follow(
            bob,
            [
                ("", "#take-button", HERE),
                ("set #take-name Bob", "#take-button", HERE),
                ("click #take-button", "#board svg", HERE),
            ],
        )
        eve.open(watching)
        eve.wait("#board svg")
        follow(
            page,
            [
                ("", "#people-list .here:nth-child(3)", "Bob"),
                ("check", "#lookers", "1 spectator: no"),
            ],
        )
        names = [str((one.driver.get_cookie(COOKIE) or {})["value"]) for one in (page, bob, eve)]
        for _ in range(16):
            page.wait_until(lambda: offered(page)["yours"] or offered(bob)["yours"], "a turn")
            player = page if offered(page)["yours"] else bob
            play(player, offered(player))
        assert eve.run("return document.querySelectorAll('#board [role=button]').length") == 0
        assert bob.console_errors() == eve.console_errors() == []
    follow(page, [("", "#people-list li:nth-child(3)", "Bob.*away since")])
    _check_what_seats_see(site, dict(zip(names, (0, 2, None), strict=True)), seed.encode())


def _check_what_seats_see(site: Site, seats: dict[str, int | None], seed: bytes) -> None:
    """Fail if a client received what its seat can't know; `seats` by client."""
    parts: dict[str, Any] = {name: {} for name in seats}  # of the drawing that each browser has
    for name, path, content in site.listener.heard:
        if re.fullmatch(r"/api/seats/[\w-]+(/act|/undo)?", path) and content.startswith(b'{"seat"'):
            answer = json.loads(content)
            answer["drawing"] = parts[name] = parts[name] | answer["drawing"]
            assert answer["seat"] == seats[name]
            check_is_told_to(-1 if answer["seat"] is None else answer["seat"], answer)
        else:
            assert seed not in content, path
    assert all(parts.values())


# ---- the lobby, and addresses ----


def test_games_are_started_and_deleted_in_the_lobby(page: Browser, site: Site) -> None:
    page.open(f"{site.address}/")
    page.wait("#strengths input:checked")
    check_accessible(page)
    set_value(page, "#name Ann")
    page.run("for (let n = 0; n < 2; n++) document.getElementById('play-now').click()")
    page.wait("#board svg")
    assert site.listener.asked.count("/api/games") == 2, "the lobby's list, and one game"
    page.open(f"{site.address}/")
    page.wait("#games li")
    assert page.wait("#name").get_attribute("value") == "Ann"
    table = "#board svg, #log li, #words-text:not(:empty)"
    follow(
        page,
        [
            ("click #games button", "#asked-yes", HERE),
            ("check", "#asked-yes", HERE),
            ("click #asked-yes", "#games li", GONE),
            ("click #watch button", "#happened li", "a new game"),
        ],
    )
    page.open(f"{site.address}/")
    page.click("#custom summary")
    follow(
        page,
        [
            ("", "#seat-1", HERE),
            ("set #seat-1 me", "#new button.primary", HERE),
            ("click #new button.primary", "#curtain-title", "Pass the device to Ann"),
            ("check", table, GONE),
            ("click #curtain-lift", table, HERE),
        ],
    )


def test_invalid_addresses_show_their_reason(page: Browser, site: Site) -> None:
    """The page doesn't poll them."""
    begin(page, site, "me", "human")
    mine = str(page.driver.current_url)
    page.reset()
    places = {
        mine: ("#take-text", "is taken by another browser"),
        f"{site.address}/nothing": ("h1", HERE),
        f"{site.address}/library": ("main", "--games"),
        f"{site.address}/seat/wrong": ("#gone-text", "there is no such seat"),
    }
    for address, (where, text) in places.items():
        page.open(address)
        follow(page, [("", where, text), ("check", where, text)])
    asked = len(site.listener.asked)
    page.driver.execute_async_script("setTimeout(arguments[0], 1500)")
    assert not [path for path in site.listener.asked[asked:] if path.startswith("/api")]


# ---- replays ----


def steps_through(game: Game) -> list[Step]:
    """Return the steps through a replay."""
    steps = int(game.state["decisions"])
    return [
        ("", "#count", f"^ 0 / {steps}"),
        ("click #next", "#count", f"^ 1 / {steps}"),
        ("click #auction-next", "#situation", "bids for"),
        ("click #last", "#situation", "win"),
        *(("", "#board svg", f"{score} VP") for score in game.scores),
        ("click #first", "#count", "^ 0 /"),
        ("click #play", "#count", "^ [3-9] /"),
        ("click #play", "#play", "play"),
    ]


IN_VIEW: Final = """
    return ["[data-part=auction]", ".transport"].map((part) =>
        document.querySelector(part).getBoundingClientRect().toJSON());
"""


def test_a_replays_address_restores_its_step(page: Browser, site: Site, tmp_path: Path) -> None:
    """Leaving it stops its jobs."""
    game = played(3, seed=12)
    record = game.to_record(["ann", "bob", "<i>eve</i>"])
    (tmp_path / "game.jsonl").write_text(record + record, encoding="utf-8")
    page.open(f"{site.address}/")
    page.wait("#strengths input")
    page.driver.find_element("id", "file").send_keys(str(tmp_path / "game.jsonl"))
    follow(page, [("click tbody tr:nth-child(2) button", "#board svg", HERE)])
    follow(page, steps_through(game))
    cards = "return document.querySelectorAll('#board [data-card], i').length"
    all_cards = page.run(cards)
    set_value(page, "#whose 1")
    page.wait_until(lambda: page.run(cards) < all_cards, "one seat's view")
    page.click("#auction-next")
    page.wait_until(lambda: "step=" in page.driver.current_url, "the step in the address")
    address, count = page.driver.current_url, page.text("#count")
    page.click("#last")
    page.wait_until(lambda: page.driver.current_url != address, "the last step in the address")
    follow(page, [("back", "#count", count)])
    measured(page, PHONES[0])
    page.open(address)
    follow(page, [("", "#board svg", HERE), ("check", "#count", count)])
    auction, transport = page.run(IN_VIEW)
    assert 0 <= auction["top"] < auction["bottom"] <= transport["top"]
    assert ("game=2" in address, "seat=1" in address) == (True, True)
    follow(page, [("click #tools label:nth-of-type(3)", "#out-number", HERE)])
    follow(page, [("set #out-number 1000", "#play-out", HERE)])
    follow(page, [("click #play-out", "#play-out-stop", HERE)])
    page.open(f"{site.address}/rules")
    heard = site.listener.heard
    page.wait_until(lambda: any(b'"state":"stopped"' in one for *_, one in heard), "their end")


def test_an_export_replays_from_disk_without_a_network(page: Browser, tmp_path: Path) -> None:
    game = played(2, seed=3, turns=20)
    record = game.to_record(["ann", "</script><i>"]).encode()
    (tmp_path / "game.html").write_text(exported(Replay.of(record, 1), "a </title> game"), "utf-8")
    page.open((tmp_path / "game.html").as_uri())
    follow(page, [*steps_through(game), ("", "#log li", "(?<!undefined)$")])
    assert measured(page, PHONES[0])["text"] >= LEAST_TEXT
    strange = (
        "return [...document.querySelectorAll('i'), ...performance.getEntriesByType('resource')]"
    )
    assert page.run(strange) == []
