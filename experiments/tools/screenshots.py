"""Pictures of the page in its main states: ``python -m experiments.tools.screenshots --out
runs/screenshots``.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from PIL import Image

from experiments.tools.chromium import Browser, browser, sit_down
from experiments.training import train
from skyenv import Game, cli
from skyenv.agents import decide_game
from skyenv.commands import exit_code
from skyenv.options import Options, option, parse
from skyenv.page.catalogue import catalogue
from skyenv.page.commands import listen
from skyenv.page.connections import server_of
from skyenv.page.library import Library, roots_of
from skyenv.page.runs import Runs
from skyenv.page.storage import Storage
from skyenv.page.web import application
from skyenv_agents import GreedyAgent

SEED: Final = 7
FEWEST_TURNS: Final = {"start": 0, "option": 8, "move": 12, "bid": 10, "over": 0}
"""By phase, turns that are over in the picture."""


class Site(NamedTuple):
    """A running page: its address and its database."""

    address: str
    storage: Storage


@contextmanager
def serving(folder: Path, shown: Path | None = None) -> Iterator[Site]:
    """The page on a free port; `shown`: a folder of tournaments and trainings to look through."""
    listening = listen("127.0.0.1", 0)
    storage = Storage(folder / "games.sqlite3")
    roots = roots_of([] if shown is None else [shown])
    library = Library(folder / "library.sqlite3", roots)
    runs = Runs([root.path for root in roots], roots, folder / "networks")
    app = application(storage, catalogue(), ["127.0.0.1"], library=library, runs=runs)
    library.start()
    server = server_of(app, log_level="error", timeout_graceful_shutdown=1)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield Site(f"http://127.0.0.1:{listening.getsockname()[1]}/", storage)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def played(players: int, phase: str) -> list[int]:
    """The actions of greedy players until seat 0 is to act in a phase, after the setup, or to the
    end.
    """
    game, agent = Game(players, seed=SEED), GreedyAgent()
    actions: list[int] = []
    while not (
        game.is_over
        or (game.seat == 0 and game.phase == phase and game.turn >= FEWEST_TURNS[phase])
    ):
        actions.append(decide_game(game, agent))
        game.play(actions[-1])
    return actions


def take_a_seat(page: Browser, site: Site, players: int, phase: str) -> None:
    """A game against greedy players in which this browser is to act in a phase."""
    sit_down(page, site.address.rstrip("/"), site.storage, players, SEED, played(players, phase))


def take(folder: Path) -> None:
    """All pictures."""
    with tempfile.TemporaryDirectory() as data, serving(Path(data)) as site:
        with browser() as page:
            page.open(site.address)
            page.wait("#strengths input")
            page.picture(folder / "lobby.png")
            for phase in ("start", "bid"):
                take_a_seat(page, site, 2, phase)
                page.picture(folder / f"{phase}.png")
            _with_a_hint(page, site, folder)
            _to_the_end(page, site, folder)
        with browser(dark=True) as page:
            take_a_seat(page, site, 4, "move")
            page.picture(folder / "dark-move.png")
            page.open(site.address)
            page.wait("#games li")
            page.picture(folder / "dark-lobby.png")
        with browser(phone=True) as page:
            for phase in ("option", "bid"):
                take_a_seat(page, site, 2, phase)
                page.picture(folder / f"phone-{phase}.png")


def _with_a_hint(page: Browser, site: Site, folder: Path) -> None:
    take_a_seat(page, site, 3, "option")
    page.click("#ask-hint")
    page.wait("#hint li")
    page.picture(folder / "option-hint.png")


def _to_the_end(page: Browser, site: Site, folder: Path) -> None:
    take_a_seat(page, site, 2, "over")
    page.click("#final-all")
    page.picture(folder / "final.png")
    page.click("#replay")
    page.wait("#step")
    page.run(
        "const s = document.getElementById('step'); s.value = 90; s.dispatchEvent(new "
        "Event('input'))"
    )
    page.click("#ask")
    page.wait("#hint li")
    page.run("window.scrollTo(0, 0)")
    page.picture(folder / "replay.png")
    page.run("window.scrollTo(0, document.body.scrollHeight)")
    page.picture(folder / "replay-below.png")


def take_of_folders(folder: Path) -> None:
    """Pictures of what looks through folders: a small tournament's, and those of two short
    trainings.
    """
    with tempfile.TemporaryDirectory() as data:
        shown = Path(data) / "runs"
        agents = ["crowd", "greedy", "builder", "bidder", "trained"]
        cli.main(
            [
                "tournament",
                *agents,
                "--players",
                "2",
                "--paired-seeds",
                "8",
                "--out",
                str(shown / "tournament"),
            ]
        )
        for name, options in (("nothing", ()), ("prior", ("--prior", "greedy"))):
            common = [
                "--run",
                str(shown / name),
                "--decisions",
                "400000",
                "--milestone-minutes",
                "0.1",
                "--checkpoint-seconds",
                "2",
            ]
            train.main([*common, "--against", "random,greedy", "--paired-seeds", "20", *options])
        with serving(Path(data), shown) as site, browser() as page:
            page.open(f"{site.address}library?players=2&sort=margin&order=rising")
            page.wait("#games tbody a")
            page.wait_until(lambda: page.find("#reading") is None, "all games")
            page.picture(folder / "library.png")
            page.open(f"{site.address}ladder?one=trained&other=greedy")
            page.wait("#pair-games a")
            page.picture(folder / "ladder.png")
            page.open(f"{site.address}runs")
            page.click("#runs .run:not(.chosen) input")
            page.wait_until(
                lambda: page.run("return document.querySelectorAll('#pace .line').length") == 2,
                "both runs",
            )
            page.picture(folder / "runs.png")


def _shrink(path: Path) -> None:
    """Keep 256 colours, which are enough for drawings: a third of the size."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256).save(path, optimize=True)


@dataclass(frozen=True)
class ScreenshotOptions(Options):
    """What the program takes."""

    out: Path = option(Path("runs/screenshots"), "where to", metavar="FOLDER")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; the exit code."""
    description = "Write pictures of the page in its main states, taken in headless Chromium."

    def run() -> int:
        folder = parse(
            ScreenshotOptions, "experiments.tools.screenshots", description, arguments
        ).out
        folder.mkdir(parents=True, exist_ok=True)
        take(folder)
        take_of_folders(folder)
        for path in folder.glob("*.png"):
            _shrink(path)
        print(f"{folder}: {len(list(folder.glob('*.png')))} pictures")
        return 0

    return exit_code("screenshots", run)


if __name__ == "__main__":
    sys.exit(main())
