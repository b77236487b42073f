"""The layout of the table at common screen sizes, in pixels."""

from pathlib import Path
from typing import Any, Final

import pytest
from accessibility import check_accessible
from chromium import Browser, open_game
from clicks import Site, click, sit_at
from pages import played

from skyenv.page.library.games import Library, roots_of
from skyenv.page.teaching import tutorial

DESKTOPS: Final = (
    *((1920, 950), (1536, 730), (1440, 900), (1366, 768), (1280, 720)),
    *((1180, 820), (1024, 768)),
)
# A screen of 1440x900 at 200 %.
ZOOMED: Final = (720, 450)
PHONES: Final = ((390, 844), (844, 390), (932, 430), (360, 640))
# Steps of the lesson whose positions are looked at, in a game of one's own.
BEATS: Final = {"choice": 2, "taking": 3, "auction": 13}
LEAST_TEXT: Final = 12.0
# Pixels: tiles of the supply row on the smallest desktop.
LEAST_TARGET: Final = 22
# The height of the own cards in pixels, at 1440x900.
CARD: Final = range(70, 91)
# The board's share of the height of small screens.
LEAST_BOARD: Final = 0.55
LEAST_OF_LOW: Final = 0.35
# Pixels: what is new, in three lines.
MOST_NEWS: Final = 60
_MEASURE: Final = """
    const box = (part) => {
      const found = document.querySelector(part), rect = found?.getBoundingClientRect();
      return rect?.width && getComputedStyle(found).clipPath === "none" ? [rect.left, rect.top, rect.right, rect.bottom].map(Math.round) : null;
    };
    const drawn = [...document.querySelectorAll("#board svg text")].map((text) => {
      const matrix = text.getScreenCTM();
      return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(matrix.a, matrix.b);
    });
    // The drawing's text is at least 9 px where the drawing is fitted, 12 px elsewhere.
    const isFitted = innerWidth > innerHeight && innerWidth < 1263, legible = drawn.map((size) => size * (isFitted ? 4 / 3 : 1));
    const isRead = (one) => !one.closest("svg") && one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const written = [...document.querySelectorAll("main *, header *")].filter(isRead).map((one) => parseFloat(getComputedStyle(one).fontSize));
    const targets = [...document.querySelectorAll("button, select, #board [role=button]")].filter((one) => one.checkVisibility())
      .map((one) => one.getBoundingClientRect()).filter((rect) => rect.width).map((rect) => Math.min(rect.width, rect.height));
    const tray = box(".tray"), cards = [...document.querySelectorAll(".tray li")].map((one) => one.getBoundingClientRect());
    const cut = cards.filter(({top, bottom}) => top < tray[3] - 1 && bottom > tray[3] + 1);
    const part = (name) => box(`#board [data-part='${name}']`), side = document.querySelector("#beside");
    return {window: [innerWidth, innerHeight], drawing: box("#board svg"), scrolls: side && side.scrollHeight - side.clientHeight, board: part("city"), row: part("supply row"), hand: part("seat 1.hand"),
            stacks: part("stacks"), auction: part("auction"), dock: box("#dock") ?? box(".transport"), strip: box("#strip"), tray, cut: cut.length, taught: box("#board .taught"), told: box("#lesson"),
            bid: box("#bid-done"), pass: box("#foot .apart"), news: box("#news"), mistakes: box("#mistakes"), happened: box("#happened"), latest: box("#log-lines li:last-child"), card: box("#board [data-card^='0:'] rect"), text: Math.min(...legible, ...written), target: Math.min(...targets), wide: document.documentElement.scrollWidth - innerWidth};
"""


def measured(page: Browser, size: tuple[int, int]) -> dict[str, Any]:
    """Return boxes (left, top, right, bottom) and text sizes in pixels, at a screen size."""
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": size in PHONES})
    page.driver.execute_async_script(
        "const [done] = arguments, isMoving = () => document.querySelector('.flying');"
        "const wait = () => isMoving() ? setTimeout(wait, 50) : requestAnimationFrame(() => done());"
        "setTimeout(wait, 300)"
    )
    return dict(page.run(_MEASURE))


def sit(page: Browser, site: Site, position: str) -> None:
    """Show a position of a game, the lesson, or the end of a replay."""
    if position == "lesson":
        page.open(f"{site.address}/tutorial")
        page.wait("#board .taught")
    elif position == "puzzle":
        page.open(f"{site.address}/")
        page.wait("#strengths input")
        page.open(f"{site.address}/puzzle?number=2")
    elif position == "replay":
        sit_at(page, site, "over")
        page.click("#replay")
        page.click("#last")
    else:
        actions = tutorial.line()[: tutorial.BEGINS[BEATS[position]]]
        open_game(page, site.address, site.storage, 2, tutorial.SEED, actions)
    page.wait("#board svg")
    page.wait_until(lambda: page.find(".preparing") is None, "the end of the bar")


def check_inside(sizes: dict[str, Any], *parts: str) -> None:
    """Fail unless the parts are entirely in the window, rows of cards are complete, and text is
    legible.
    """
    width, height = sizes["window"]
    for part in parts:
        left, top, right, bottom = sizes[part]
        assert min(left, top, width - right, height - bottom) >= 0, (part, sizes)
    assert sizes["wide"] <= 0 == sizes["cut"], sizes
    assert sizes["text"] >= LEAST_TEXT, sizes


@pytest.mark.parametrize("position", [*BEATS, "lesson", "replay"])
def test_the_whole_table_fits_a_desktop(page: Browser, site: Site, position: str) -> None:
    """Board, hand, stacks and the current task are visible together and legible."""
    sit(page, site, position)
    for size in DESKTOPS:
        sizes = measured(page, size)
        check_inside(sizes, "board", "row", "hand", "stacks")
        if position == "lesson":  # it begins on the board, with nothing in the dock
            assert sizes["dock"] is sizes["happened"] is None, sizes
        else:
            check_inside(sizes, "dock")
        assert not sizes["scrolls"], sizes
        is_read = position == "replay" or size[0] < 1280
        assert is_read or sizes["target"] >= LEAST_TARGET, sizes
        assert not sizes["latest"] or sizes["latest"][3] <= sizes["happened"][3], sizes
        if size == (1440, 900):
            _, top, _, bottom = sizes["card"]
            assert bottom - top in CARD, sizes
    check_accessible(page)


def test_the_whole_table_fits_beside_the_bar_of_preparation(page: Browser, site: Site) -> None:
    """The lobby's bar is accessible, in the system's theme."""
    features = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    progress = {"about": "the rules", "total": 9, "left": 12.3, "whole": 29}
    site.listener.answers["/api/preparing"] = {"ready": False, "agents": [], **progress}
    page.open(f"{site.address}/")
    page.wait("#preparing")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    check_accessible(page)
    open_game(page, site.address, site.storage, 2, tutorial.SEED, [])
    page.wait(".preparing")
    for size in DESKTOPS:
        sizes = measured(page, size)
        assert max(sizes["hand"][3], sizes["dock"][3]) <= size[1], sizes


@pytest.mark.parametrize("size", [ZOOMED, *PHONES])
@pytest.mark.parametrize("position", ["choice", "auction", "puzzle", "lesson", "replay"])
def test_the_board_keeps_half_of_small_screens(
    page: Browser, site: Site, size: tuple[int, int], position: str
) -> None:
    """Beside it are the hand and the stacks, or the cards of a bid."""
    measured(page, size)
    sit(page, site, position)
    sizes = measured(page, size)
    bid = ["tray", "bid", "pass"]
    parts = {"auction": [*bid, "news"], "puzzle": bid}
    check_inside(sizes, "dock", *parts.get(position, ["strip"]))
    if position in parts:
        (_, _, right, bottom), (left, top, _, _) = sizes["tray"], sizes["bid"]
        assert right <= left or bottom <= top, sizes
    assert not sizes["news"] or sizes["news"][3] - sizes["news"][1] <= MOST_NEWS, sizes
    low = sizes["dock"][1]
    told = sizes["told"][3] if sizes["told"] else 0
    seen = min(low, sizes["board"][3]) - max(told, sizes["board"][1])
    assert seen >= (LEAST_OF_LOW if size == (360, 640) else LEAST_BOARD) * size[1], sizes
    if size[0] > size[1]:  # in its whole width; below it is the dock, with the head of the page
        left, _, right, _ = sizes["drawing"]
        assert left >= 0 < size[0] - right, sizes
        others = {"auction": ["auction"], "choice": ["stacks"], "lesson": ["stacks"]}
        assert all(sizes[part][3] <= low for part in others.get(position, [])), sizes
    if position == "lesson":
        left, top, right, bottom = sizes["taught"]
        assert min(left, top - told, size[0] - right, low - bottom) >= 0, sizes
    assert ("tap" in page.text("#situation")) == (size in PHONES and position == "lesson")
    check_accessible(page)


def test_a_drawing_in_another_theme_leaves_the_log_below_the_auction(
    page: Browser, site: Site
) -> None:
    """The cards of a draft move to the auction from the hand then, which mustn't be measured."""
    measured(page, (1440, 900))
    sit_at(page, site, "bid", players=4)
    click(page, "#board .legal[data-card]")
    page.click("header [title='Light or dark']")
    page.wait("#board svg[data-theme=dark] .draft")
    sizes = measured(page, (1440, 900))
    assert sizes["auction"][3] < sizes["happened"][1], sizes
    assert not measured(page, (1024, 768))["scrolls"]  # the standings of four are seen whole


@pytest.mark.parametrize("size", PHONES)
def test_the_library_fits_a_phone(page: Browser, tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "game.jsonl").write_text(played(2).to_record(["ann", "bob the builder"]), "utf-8")
    site = Site(tmp_path, library=Library(roots_of([tmp_path])))
    measured(page, size)
    page.open(f"{site.address}/library")
    page.wait("tbody tr")
    check_inside(measured(page, size))
    check_accessible(page)
    site.stop()
