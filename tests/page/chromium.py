"""A headless Chromium for tests of the page."""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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
from skyenv.page.storage import HUMAN, Link, Storage
from skyenv.page.table.server import new_game

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
INSTALL: Final = "Chromium or its driver is missing: apt-get install chromium chromium-driver"
# Timeout in seconds for anything on a page; a busy machine is slow.
TIMEOUT: Final = 300.0

NOTE_CLICK: Final = """
    const element = arguments[0];
    element.scrollIntoView({block: "center", behavior: "instant"});
    element.wasClicked = false;
    const note = () => { element.wasClicked = true; };
    element.addEventListener("click", note, {capture: true, once: true});
"""


def find_chromium() -> tuple[str, str]:
    """Return the paths of the browser and of its driver.

    Raises:
        OptionError: one of them is missing; the message says what to install.
    """
    browser, driver = (
        shutil.which("chromium") or shutil.which("chromium-browser"),
        shutil.which("chromedriver"),
    )
    if browser is None or driver is None:
        raise OptionError(INSTALL)
    return browser, driver


class Browser:
    """A headless browser with its own profile.

    Args:
        profile: an empty folder for the profile.
        phone: whether to emulate a phone's screen.
        dark: whether to emulate a dark system theme.

    Raises:
        OptionError: Chromium or its driver is missing.
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
        self.driver.set_page_load_timeout(TIMEOUT)
        if dark:
            features = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)

    def open(self, address: str) -> None:
        """Open an address."""
        self.driver.get(address)

    def find(self, selector: str) -> WebElement | None:
        """Return the first visible element, or None."""
        with contextlib.suppress(StaleElementReferenceException):
            for element in self.driver.find_elements(By.CSS_SELECTOR, selector):
                if element.is_displayed():
                    return element
        return None

    def wait(self, selector: str) -> WebElement:
        """Wait for a visible element and return it."""
        element: WebElement | None = None

        def is_visible() -> bool:
            nonlocal element
            element = self.find(selector)
            return element is not None

        self.wait_until(is_visible, selector)
        assert element is not None
        return element

    def wait_until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Wait for a condition; `what` describes it in the error."""
        until = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < until, (
                f"timeout waiting for {what}; text of the page: {self.text('body')[:2000]}"
            )
            time.sleep(0.03)

    def click(self, selector: str) -> None:
        """Click an element as a mouse does, once it is visible and enabled.

        Repeats the click if the element moved in the meantime.
        """

        def is_clicked() -> bool:
            element = self.wait(selector)
            try:
                self.driver.execute_script(NOTE_CLICK, element)
                if not element.is_enabled():
                    return False
                element.click()
            except StaleElementReferenceException:  # redrawn in the meantime
                return False
            return self._was_clicked(element)

        self.wait_until(is_clicked, selector)

    def _was_clicked(self, element: WebElement) -> bool:
        with contextlib.suppress(NoAlertPresentException):
            # the click opened a dialog, which a script would close
            return bool(self.driver.switch_to.alert)
        with contextlib.suppress(StaleElementReferenceException):
            return bool(self.run("return arguments[0].wasClicked ?? true", element))
        return True  # the click opened another page

    def text(self, selector: str) -> str:
        """Return the text of an element, visible or not."""
        return str(
            self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return its result."""
        return self.driver.execute_script(script, *arguments)

    def console_errors(self) -> list[str]:
        """Return and clear the errors on the browser's console, without those of requests."""
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [
            entry["message"]
            for entry in entries
            if entry["level"] == "SEVERE" and entry["source"] != "network"
        ]

    def reset(self) -> None:
        """Restore the state of a new browser: no page, cookies, stored data or emulated screen."""
        with contextlib.suppress(NoAlertPresentException):
            self.driver.switch_to.alert.dismiss()
        with contextlib.suppress(JavascriptException):  # pages without an origin have no storage
            self.run("localStorage.clear(); sessionStorage.clear()")
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.open("about:blank")
        self.console_errors()


@contextlib.contextmanager
def browser(**options: bool) -> Iterator[Browser]:
    """Yield a browser with an empty profile; close it at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        opened = Browser(profile, **options)
        try:
            yield opened
        finally:
            opened.driver.quit()


def open_game(
    page: Browser, address: str, storage: Storage, players: int, seed: int, actions: Sequence[int]
) -> None:
    """Create a game against greedy agents and open it at seat 0.

    Args:
        page: the browser.
        address: the server's address, without a trailing slash.
        storage: the server's database.
        players: number of players.
        seed: seed of the game.
        actions: actions played so far.
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
