"""Whether the whole table stands on the screen: places and sizes in pixels, at every usual size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from accessibility import check_accessible
from pages import RunningServer, quick_catalogue

from experiments.tools.chromium import Browser, browser, sit_down
from skyenv.page.storage import Storage
from skyenv.page.teaching import tutorial
from skyenv.page.web import application

DESKTOPS: Final = ((1920, 950), (1536, 730), (1440, 900), (1366, 768), (1280, 720))
ZOOMED: Final = (720, 450)
"""A screen of 1440x900 at 200 %."""
PHONES: Final = ((390, 844), (844, 390))
BEATS: Final = {"choice": 2, "taking": 3, "auction": 13}
"""Steps of the lesson whose positions are looked at, in a game of one's own."""
LEAST_TEXT: Final = 12.0
LEAST_TARGET: Final = 22
"""Pixels: tiles of the supply row on the smallest desktop. Fingers have 44, which test_browser.py checks."""
MOST_OF_BOARD: Final = 0.55
_MEASURE: Final = """
    const box = (part) => {
      const rect = (typeof part === "string" ? document.querySelector(part) : part)?.getBoundingClientRect();
      return rect?.width ? [rect.left, rect.top, rect.right, rect.bottom].map(Math.round) : null;
    };
    const svg = document.querySelector("#board svg");
    const drawn = [...svg.querySelectorAll("text")].map((text) => {
      const matrix = text.getScreenCTM();
      return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(matrix.a, matrix.b);
    });
    const isRead = (one) => !one.closest("svg") && one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const written = [...document.querySelectorAll("main *, header *")].filter(isRead).map((one) => parseFloat(getComputedStyle(one).fontSize));
    const targets = [...document.querySelectorAll("button, select, #board [role=button]")].filter((one) => one.checkVisibility())
      .map((one) => one.getBoundingClientRect()).filter((rect) => rect.width).map((rect) => Math.min(rect.width, rect.height));
    return {window: [innerWidth, innerHeight], board: box("#board [data-part='city']"), row: box("#board [data-part='supply row']"),
            hand: box("#board [data-part='seat 1.hand']"), stacks: box("#board [data-part='stacks']"), dock: box("#dock"),
            strip: box("#strip"), taught: box("#board .taught"), told: box("#lesson"), text: Math.min(...drawn, ...written),
            target: Math.min(...targets), wide: document.documentElement.scrollWidth - innerWidth};
"""


def played(beats: int) -> list[int]:
    """The lesson's actions before one of its steps."""
    done = [len(beat.names) + len(beat.reply) for beat in tutorial.BEATS[:beats]]
    return tutorial.line()[: sum(done)]


def resize(page: Browser, width: int, height: int) -> None:
    """Give the page a screen of another size."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    touch = {"enabled": (width, height) in PHONES}
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", touch)


def measured(page: Browser) -> dict[str, Any]:
    """Boxes (left, top, right, bottom) and sizes of text in pixels, once the page is laid out."""
    page.driver.execute_async_script(
        "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => done()), 300)"
    )
    sizes: dict[str, Any] = page.run(_MEASURE)
    return sizes


@pytest.fixture(scope="module")
def ann() -> Iterator[Browser]:
    with browser() as opened:
        yield opened
        assert opened.complaints() == []


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Storage:
    return Storage(tmp_path_factory.mktemp("fits") / "games.sqlite3")


@pytest.fixture(scope="module")
def address(storage: Storage) -> Iterator[str]:
    running = RunningServer(application(storage, quick_catalogue(), ["127.0.0.1"]))
    yield running.address
    running.stop()


def sit(page: Browser, address: str, storage: Storage, position: str) -> None:
    """Show a position of a game, or the lesson."""
    if position == "lesson":
        page.open(f"{address}/tutorial")
        page.wait("#board .taught")
    else:
        sit_down(page, address, storage, 2, tutorial.SEED, played(BEATS[position]))
    page.wait("body.yours #board svg")
    page.wait_until(lambda: page.find(".preparing") is None, "the end of the bar")


def check_inside(sizes: dict[str, Any], *parts: str) -> None:
    """Fail unless the parts are in the window as a whole."""
    width, height = sizes["window"]
    for part in parts:
        left, top, right, bottom = sizes[part]
        assert min(left, top, width - right, height - bottom) >= 0, (part, sizes)
    assert sizes["wide"] <= 0, sizes


@pytest.mark.parametrize("position", [*BEATS, "lesson"])
def test_the_whole_table_stands_on_a_desktop(
    ann: Browser, address: str, storage: Storage, position: str
) -> None:
    """Board, hand, stacks and what to do now are in the window together, and can be read."""
    sit(ann, address, storage, position)
    for width, height in DESKTOPS:
        resize(ann, width, height)
        sizes = measured(ann)
        check_inside(sizes, "board", "row", "hand", "stacks", "dock")
        assert sizes["text"] >= LEAST_TEXT, sizes
        assert sizes["target"] >= LEAST_TARGET, sizes
    check_accessible(ann)


@pytest.mark.parametrize("size", [ZOOMED, *PHONES])
@pytest.mark.parametrize("position", ["choice", "auction", "lesson"])
def test_small_screens_keep_the_board(
    ann: Browser, address: str, storage: Storage, size: tuple[int, int], position: str
) -> None:
    """The board has more than half of the height; hand and stacks are lines of the dock."""
    resize(ann, *size)
    sit(ann, address, storage, position)
    sizes = measured(ann)
    check_inside(sizes, "dock", "strip")
    low = sizes["dock"][1] if size == (390, 844) else sizes["window"][1]
    seen = min(low, sizes["board"][3]) - max(
        sizes["told"][3] if sizes["told"] else 0, sizes["board"][1]
    )
    assert seen >= MOST_OF_BOARD * sizes["window"][1], sizes
    assert sizes["text"] >= LEAST_TEXT, sizes
    if position == "lesson":
        left, top, right, bottom = sizes["taught"]
        assert min(left, top - sizes["told"][3], size[0] - right, low - bottom) >= 0, sizes
    assert ("tap" in ann.text("#situation")) == (size in PHONES and position == "lesson")
    check_accessible(ann)
