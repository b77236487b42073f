"""Screenshots for docs/page.md, taken by the browser of the tests: ``make pictures``."""

from pathlib import Path
from tempfile import TemporaryDirectory

from chromium import Browser, browser, open_game
from clicks import GONE, HERE, Step, follow
from pages import RunningServer

from docs.build.drawings import greedy_game
from skyenv.cli import main as command
from skyenv.page.agents.catalogue import catalogue
from skyenv.page.library.games import Library, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application


def show(page: Browser, name: str, *steps: Step) -> None:
    """Perform steps, then save what the window shows as a picture of the docs."""
    follow(page, steps)
    page.wait_until(lambda: not page.run("return document.getAnimations().length"))
    page.driver.save_screenshot(f"docs/page-{name}.png")


def main() -> None:
    """Take all pictures."""
    with TemporaryDirectory() as folder, browser() as page, browser(phone=True) as phone:
        seed = 7
        record = f"record --players 2 --agents trained,greedy --games 9 --seed {seed} -o"
        command([*record.split(), f"{folder}/games.jsonl"])
        storage, library = Storage(MEMORY), Library(roots_of([Path(folder, "games.jsonl")]))
        server = RunningServer(application(storage, catalogue(), ["127.0.0.1"], library=library))
        page.open(f"{server.address}/")
        show(page, "lobby", ("", "#strengths input", HERE))
        show(page, "library", ("click a[href$=library]", "main", "9 games"))
        show(
            page,
            "replay",
            ("click tbody tr:nth-child(2) a", "#board svg", "VP"),
            ("click #tools label:nth-of-type(2)", "#analyse", "analyse"),
            ("click #analyse", "#analyse:enabled", "analyse"),
            ("click #mistakes button", "#situation", "better"),
        )
        for one, name, card in (
            (page, "bid", "#board .legal[data-card]"),
            (phone, "phone", "[data-more]:enabled"),
        ):
            open_game(one, server.address, storage, 2, seed, greedy_game(2, seed, "bid", 8)[1])
            show(
                one,
                name,
                ("click #news button", "#news", GONE),
                *[(f"click {card}", "#foot", "Total")] * 2,
                ("point #situation", "#bid-done:enabled", "bid"),
            )
        server.stop()


if __name__ == "__main__":
    main()
