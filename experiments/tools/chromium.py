"""A headless Chromium for tests and screenshots of the page."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from selenium import webdriver
from selenium.common.exceptions import (
    JavascriptException,
    NoAlertPresentException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from skyenv.errors import OptionError
from skyenv.page.browsers import COOKIE, new_token
from skyenv.page.game_server import new_game
from skyenv.page.storage import HUMAN, Link, Storage

FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
INSTALL: Final = "Chromium is needed, and its driver: apt-get install chromium chromium-driver"
PATIENCE: Final = 300.0
"""Seconds that anything on a page may take on a busy machine."""

AIM: Final = """
    const element = arguments[0];
    element.scrollIntoView({block: "center", behavior: "instant"});
    element.wasClicked = false;
    const note = () => { element.wasClicked = true; };
    element.addEventListener("click", note, {capture: true, once: true});
"""


def find_chromium() -> tuple[str, str]:
    """Paths of the browser and of its driver.

    Raises:
        OptionError: one of them isn't there; the error says what to install.
    """
    browser, driver = (
        shutil.which("chromium") or shutil.which("chromium-browser"),
        shutil.which("chromedriver"),
    )
    if browser is None or driver is None:
        raise OptionError(INSTALL)
    return browser, driver


class Browser:
    """A browser of its own, with an empty profile.

    Args:
        profile: folder of the profile.
        phone: whether it is as large as a phone.
        dark: whether the system has a dark theme.

    Raises:
        OptionError: there is no Chromium.
    """

    def __init__(self, profile: str, *, phone: bool = False, dark: bool = False) -> None:
        browser, driver = find_chromium()
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1400,1000"):
            options.add_argument(flag)
        if phone:
            size = {"width": 390, "height": 844, "pixelRatio": 2}
            options.add_experimental_option("mobileEmulation", {"deviceMetrics": size})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, Service(driver))
        self.driver.set_page_load_timeout(PATIENCE)
        if dark:
            features = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)

    def open(self, address: str) -> None:
        """Go to an address."""
        self.driver.get(address)

    def find(self, selector: str) -> WebElement | None:
        """The first element that can be seen, or None."""
        with contextlib.suppress(StaleElementReferenceException):
            for element in self.driver.find_elements(By.CSS_SELECTOR, selector):
                if element.is_displayed():
                    return element
        return None

    def wait(self, selector: str) -> WebElement:
        """The first element, once it is there and can be seen."""
        element: WebElement | None = None

        def is_there() -> bool:
            nonlocal element
            element = self.find(selector)
            return element is not None

        self.wait_until(is_there, selector)
        assert element is not None
        return element

    def wait_until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Wait for something to become true."""
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, (
                f"{what} did not come; the page says: {self.text('body')[:2000]}"
            )
            time.sleep(0.03)

    def click(self, selector: str) -> None:
        """Click an element as a mouse does, once it is there and can be clicked; again if it moved
        away under the mouse.
        """

        def is_clicked() -> bool:
            element = self.wait(selector)
            try:
                self.driver.execute_script(AIM, element)
                if not element.is_enabled():
                    return False
                element.click()
            except StaleElementReferenceException:  # drawn anew meanwhile
                return False
            return self._was_clicked(element)

        self.wait_until(is_clicked, selector)

    def _was_clicked(self, element: WebElement) -> bool:
        with contextlib.suppress(NoAlertPresentException):
            return bool(
                self.driver.switch_to.alert
            )  # a script would close the question that the click has asked
        with contextlib.suppress(StaleElementReferenceException):
            return bool(self.run("return arguments[0].wasClicked ?? true", element))
        return True  # the click has led on

    def text(self, selector: str) -> str:
        """The text of an element, whether it can be seen or not."""
        return str(
            self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script in the page returns."""
        return self.driver.execute_script(script, *arguments)

    def complaints(self) -> list[str]:
        """Errors on the browser's console, refused requests apart."""
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [
            entry["message"]
            for entry in entries
            if entry["level"] == "SEVERE" and entry["source"] != "network"
        ]

    def forget(self) -> None:
        """Leave the page and lose cookies, what pages have stored, and emulated screens, as a new
        browser would have none.
        """
        with contextlib.suppress(NoAlertPresentException):
            self.driver.switch_to.alert.dismiss()
        with contextlib.suppress(
            JavascriptException
        ):  # pages without an origin can't store anything
            self.run("localStorage.clear(); sessionStorage.clear()")
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.open("about:blank")
        self.complaints()

    def picture(self, path: Path) -> None:
        """Write what is seen."""
        path.write_bytes(self.driver.get_screenshot_as_png())


@contextlib.contextmanager
def browser(**options: bool) -> Iterator[Browser]:
    """A browser that is closed at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        opened = Browser(profile, **options)
        try:
            yield opened
        finally:
            opened.driver.quit()


def sit_down(
    page: Browser, address: str, storage: Storage, players: int, seed: int, actions: Sequence[int]
) -> None:
    """Show a game against greedy players in which this browser has seat 0.

    Args:
        page: the browser.
        address: the server's, without a slash at its end.
        storage: the server's.
        players: at the table.
        seed: the game's.
        actions: played before.
    """
    page.open(f"{address}/")
    page.wait("#strengths input")
    name = str((page.driver.get_cookie(COOKIE) or {})["value"]).partition(".")[0]
    agents = (HUMAN, *["greedy"] * (players - 1))
    game = replace(new_game(name, seed, agents, pause=0.5), actions=tuple(actions))
    link = Link(new_token(), game.id, 0, name)
    storage.add_game(game, [link])
    page.open(f"{address}/seat/{link.token}")
    page.wait("#board svg")
