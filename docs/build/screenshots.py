"""Screenshots of the page: ``python -m docs.build.screenshots --out runs/screenshots``."""

import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from docs.build.drawings import greedy_game
from skyenv.console.options import Options, option, run_program
from skyenv.page.agents.catalogue import catalogue
from skyenv.page.commands import listen, server_of
from skyenv.page.storage import Storage
from skyenv.page.web import application

sys.path.append(str(Path(__file__).parents[2] / "tests" / "page"))
from chromium import browser, open_game

SEED: Final = 7
# By the screenshot's name: the browser's options, the number of players, the phase in which seat 0
# acts, and the least number of finished turns.
TABLES: Final = {
    "start": ({}, 2, "start", 0),
    "bid": ({}, 2, "bid", 10),
    "final": ({}, 2, "over", 0),
    "dark-move": ({"dark": True}, 4, "move", 12),
    "phone-option": ({"phone": True}, 2, "option", 8),
    "phone-bid": ({"phone": True}, 2, "bid", 10),
}


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, Storage]]:
    """Serve the page on a free port; yield its address and its database."""
    listening = listen("127.0.0.1", 0)
    storage = Storage(folder / "games.sqlite3")
    app = application(storage, catalogue(), ["127.0.0.1"])
    server = server_of(app, log_level="error", timeout_graceful_shutdown=1)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", storage
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def take(folder: Path, address: str, storage: Storage) -> None:
    """Take all screenshots."""
    for name, (options, players, phase, turns) in TABLES.items():
        with browser(**options) as page:
            _, actions = greedy_game(players, SEED, phase, turns)
            open_game(page, address, storage, players, SEED, actions)
            page.screenshot(folder / f"{name}.png")
            if name == "final":
                page.click("#replay")
                page.wait("#step")
                page.screenshot(folder / "replay.png")
    with browser() as page:  # a first visit
        page.open(f"{address}/")
        page.wait("#learn")
        page.screenshot(folder / "lobby.png")


@dataclass(frozen=True)
class ScreenshotOptions(Options):
    """Options of the command line."""

    out: Path = option(Path("runs/screenshots"), "folder of the pictures", metavar="FOLDER")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    text = "Take screenshots of the page."
    return run_program(ScreenshotOptions, "docs.build.screenshots", text, _run, arguments)


def _run(options: ScreenshotOptions) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, serving(Path(data)) as (address, storage):
        take(options.out, address, storage)


if __name__ == "__main__":
    sys.exit(main())
