"""Games to look through and the ladders: what the index tells of files, by the interface, and in a
browser.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from accessibility import check_accessible
from folders import record_of
from pages import RunningServer, client_of, played, quick_catalogue
from starlette.testclient import TestClient

from experiments.tools.chromium import Browser, browser
from processes import Threads, wait_until
from skyenv.errors import OptionError
from skyenv.page.errors import PageError
from skyenv.page.indexing import read_changed
from skyenv.page.library import PAGE, Library
from skyenv.page.roots import key_of, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Workers

TWO = key_of("played/two.jsonl")
NAMES = ["<img src=x>", "bob"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of several kinds, and files that are none."""
    folder = tmp_path_factory.mktemp("library") / "played"
    two = "".join(record_of(seed, NAMES if seed % 2 else ["50%_off", "bob"]) for seed in range(6))
    others = ["bob", "ann", "cy"]
    three = [record_of(seed, others, players=3, side="back", turns=20) for seed in range(3)]
    for name, content in {
        "two.jsonl": two,
        "deep/three.jsonl": "".join(three),
        "short.jsonl": record_of(9, ["ann", "ann"], actions=30),
        "curve.jsonl": '{"update": 1}\n',
        "notes.txt": two,
        "binary.jsonl": "\x00" * 200_000,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "link.jsonl").symlink_to(folder / "two.jsonl")
    return folder


def serve(library: Library, host: str = "localhost") -> Any:
    """The application with these games."""
    return application(Storage(MEMORY), quick_catalogue(), [host], library=library)


def indexed(root: Path) -> Library:
    """A library that has been read."""
    library = Library(roots_of([root]))

    async def look() -> None:
        await library.look(Workers(Threads()))

    asyncio.run(look())
    return library


@pytest.fixture
def bob(folder: Path) -> Iterator[TestClient]:
    """A browser of a server that has games; nothing has been read yet."""
    with client_of(serve(Library(roots_of([folder])))) as client:
        client.get("/")
        yield client


def read(client: TestClient) -> dict[str, Any]:
    """What is told once the folders have been read."""
    wait_until(lambda: client.get("/api/library/state").json()["done"])
    state: dict[str, Any] = client.get("/api/library/state").json()
    return state


def search(client: TestClient, asked: str = "") -> list[dict[str, Any]]:
    games: list[dict[str, Any]] = client.get(f"/api/library?{asked}").json()["games"]
    return games


@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back")])
def test_a_game_is_told_as_it_was_played(players: int, side: str, tmp_path: Path) -> None:
    game = played(players, seed=4, side=side)
    names = ["crowd", "b\n\x1b[31m", "x" * 100][:players]
    (tmp_path / "games.jsonl").write_text(game.to_record(names), encoding="utf-8")
    (told,) = indexed(tmp_path / "games.jsonl").search([])["games"]
    outcome, (first, second) = game.outcome, sorted(game.scores, reverse=True)[:2]
    assert outcome is not None
    wanted = {
        "names": ["crowd", "b  [31m", "x" * 59 + "…"][:players],
        **{"players": players, "side": side, "number": 1, "scores": game.scores},
        **{"winners": [*outcome.winners], "ending": outcome.reason, "margin": first - second},
        "actions": game.state["decisions"],
    }
    assert wanted.items() <= told.items()


FILTERS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "agent=ann&agent=bob": lambda game: {"ann", "bob"} <= {*game["names"]},
    "agent=&agent=cy": lambda game: "cy" in game["names"],
    "winner=bob": lambda game: "bob" in [game["names"][seat] for seat in game["winners"]],
    "players=3": lambda game: game["players"] == 3,
    "side=back": lambda game: game["side"] == "back",
    "text=TWO <img": lambda game: "two" in game["label"] and "<img src=x>" in game["names"],
    "text=of nobody": lambda game: False,
}


def test_filters_and_order(bob: TestClient) -> None:
    assert read(bob)["games"] == 10
    every = search(bob)
    for asked, passes in FILTERS.items():
        assert search(bob, asked) == [game for game in every if passes(game)] != every
    for sort, field in (("length", "actions"), ("margin", "margin"), ("date", "date")):
        falling = [game[field] for game in search(bob, f"sort={sort}")]
        rising = [game[field] for game in search(bob, f"sort={sort}&order=rising")]
        assert falling == sorted(falling, reverse=True) == rising[::-1]
    for asked in ("page=x", f"page={'9' * 30}", "sort=id"):
        answer = bob.get(f"/api/library?{asked}")
        assert (answer.status_code, asked[:4] in answer.json()["error"]) == (400, True)


def test_pages(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(record_of(1, actions=1) * (2 * PAGE + 1))
    library = indexed(tmp_path)
    pages = [library.search([("page", str(page))]) for page in (1, 2, 3, 99)]
    assert [(page["page"], page["pages"]) for page in pages] == [(1, 3), (2, 3), (3, 3), (3, 3)]
    numbers = [game["number"] for page in pages[:3] for game in page["games"]]
    assert numbers == list(range(1, 2 * PAGE + 2))


def test_files_come_change_and_go(tmp_path: Path) -> None:
    """A file is read again when it has changed; what is about to be written is no damage."""
    roots, told = roots_of([tmp_path]), list[int]()
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_text(record_of(1) + record_of(2))
    (one,) = read_changed(roots, {}, told.append).values()
    assert one is not None
    assert told == [a.stat().st_size, 0]
    known = {one.file.key: one.file}
    assert [*read_changed(roots, known, print).values()] == [None]
    a.write_text(record_of(1) + record_of(2) + record_of(3)[:5000])
    b.write_text(record_of(4))
    both = read_changed(roots, known, print).values()
    assert [one and (len(one.games), one.complaints) for one in both] == [(3, []), (1, [])]
    a.unlink()
    assert len(read_changed(roots, known, print)) == 1


def test_a_file_that_changes_under_the_index_gives_one_line(tmp_path: Path) -> None:
    path, secret = tmp_path / "games" / "a.jsonl", tmp_path / "secret"
    path.parent.mkdir()
    for file in (path, secret):
        file.write_text(record_of(1) + record_of(2))
    library = indexed(path.parent)
    key = key_of("games/a.jsonl")
    assert library.game(key, 2) == record_of(2).encode()
    path.write_text(record_of(1)[:100])
    with pytest.raises(PageError, match="changed"):
        library.game(key, 2)
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(PageError, match="can't be read"):
        library.game(key, 2)


def test_damage_costs_its_game_and_is_told_without_the_path(tmp_path: Path) -> None:
    games, good = tmp_path / "games", record_of(1, actions=5)
    games.mkdir()
    for name, content in {
        "bad": record_of(2).replace('"reason": "', '"reason": "un', 1) + good + "junk\n",
        "cut": good[: good.index("\n") + 1],
        "long": good + '{"event": "shuffle"}\n' * 420_000 + good,
        os.fsdecode(b"\xff"): good + "x" * 70_000 + "\n" + good,
    }.items():
        (games / f"{name}.jsonl").write_text(content)
    state = indexed(games).state()
    assert (state["damaged"], state["games"]) == (4, 2)
    told = [
        *("games/bad.jsonl: line ", "games/cut.jsonl: line 2: the record ends"),
        *("games/long.jsonl: line 1: a game of more", "games/ .jsonl: line 8: no JSON object"),
    ]
    for complaint, wanted in zip(sorted(state["complaints"]), sorted(told), strict=True):
        assert complaint.startswith(wanted)
    assert [one for one in state["complaints"] if one.endswith("(and 1 more)")]
    assert str(tmp_path) not in json.dumps(state)


def test_folders_have_names_of_their_own(tmp_path: Path) -> None:
    names = "a/games", "b/games", "b/../a/games", "games (2)"
    for name in names:
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    roots = roots_of([tmp_path / name for name in names])
    assert [root.label for root in roots] == ["games", "games (2)", "games (2) (2)"]
    with pytest.raises(OptionError, match="there is no folder"):
        roots_of([tmp_path / "c"])


# ---- by the interface ----


def test_the_folders_are_read_when_they_are_asked_for(bob: TestClient, folder: Path) -> None:
    told = read(bob)
    assert [told[name] for name in ("folders", "games", "left")] == [["played"], 10, 0]
    assert told["agents"][0] == "bob"
    assert {*told["agents"]} == {"bob", "ann", "50%_off", "<img src=x>", "cy"}
    assert str(folder.parent) not in json.dumps(told)
    pages = bob.get("/api/options").json()["pages"]
    assert ("/library" in pages, "/runs" in pages) == (True, False)


def test_every_browser_can_open_a_game_by_its_address_and_nothing_else(bob: TestClient) -> None:
    """Also when nothing has been read yet."""
    assert "replay.js" in bob.get(f"/library/{TWO}/4").text
    replay = bob.get(f"/api/replays/{TWO}/4").json()
    assert bob.get(f"/api/library/{TWO}/4").text == record_of(3, NAMES)
    other = client_of(bob.app)  # type: ignore[arg-type]
    other.get("/")
    assert other.get(f"/api/replays/{TWO}/4").json() == replay
    assert bob.get("/api/replays").json() == {"replays": []}
    for path, status in (
        *((f"{'0' * 16}/1", 404), (f"{TWO}/0", 404), (f"{TWO}/99", 404)),
        *((f"{TWO}/x", 400), (f"{TWO}/{'1' * 30}", 400)),
    ):
        for where in ("library", "replays"):
            answer = bob.get(f"/api/{where}/{path}")
            assert (answer.status_code, {*answer.json()}) == (status, {"error"})


class Slow(Library):
    """Games on a disk that takes as long as a test wants."""

    def __init__(self, folder: Path) -> None:
        super().__init__(roots_of([folder]))
        self.may_go_on = threading.Event()

    def search(self, asked: object) -> Any:
        """See :class:`Library`."""
        self.may_go_on.wait(5)  # what is held up comes too late
        return {}


def test_a_slow_disk_holds_up_nothing_else(folder: Path) -> None:
    library = Slow(folder)
    with client_of(serve(library)) as client, ThreadPoolExecutor(40) as pool:
        client.get("/")
        asked = [pool.submit(client.get, "/api/library") for _ in range(40)]
        for address in ("options", "games"):
            assert client.get(f"/api/{address}").status_code == 200
        assert not any(one.done() for one in asked)
        library.may_go_on.set()
        assert {one.result().status_code for one in asked} == {200}


def test_without_folders_the_page_says_what_to_do(ann: TestClient) -> None:
    for what, option in (("library", "--games"), ("runs", "--runs")):
        answer = ann.get(f"/api/{what}")
        assert (answer.status_code, f"{option} FOLDER" in answer.json()["error"]) == (404, True)


def test_all_published_ladders_are_told(ann: TestClient) -> None:
    content = ann.get("/api/ladders").json()
    assert [(one["players"], one["side"]) for one in content["ladders"]] == [
        (players, side) for players in (2, 3, 4) for side in ("front", "back")
    ]
    assert "secret" not in json.dumps(content)


# ---- in a browser ----


@pytest.fixture
def page() -> Iterator[Browser]:
    with browser() as opened:
        yield opened
        assert opened.complaints() == []


@pytest.fixture
def server(folder: Path) -> Iterator[RunningServer]:
    running = RunningServer(serve(Library(roots_of([folder])), "127.0.0.1"))
    yield running
    running.stop()


def choose(page: Browser, selector: str, value: str) -> None:
    """Choose as a person does: the form hears of it."""
    page.run(
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        " field.dispatchEvent(new Event('change', {bubbles: true}))",
        selector,
        value,
    )


def test_looking_through_games(page: Browser, server: RunningServer) -> None:
    page.open(f"{server.address}/library")
    page.wait_until(lambda: page.text("#count") == "10 games", "all games")
    assert page.run("return document.querySelector('#games img')") is None
    check_accessible(page)
    choose(page, "[name=players]", "2")
    page.click("#games th:nth-child(5) a")
    falling = "#games th[aria-sort=descending]:nth-child(5)"
    page.wait(falling)
    page.open(page.driver.current_url)  # the address is all there is
    page.wait(falling)
    page.wait_until(lambda: page.text("#count") == "7 games", "those of two players")
    page.run("history.back()")
    page.click("#games tbody a")
    page.wait("#board svg")


def test_the_ladder_and_a_match(page: Browser, server: RunningServer) -> None:
    page.open(f"{server.address}/ladder?players=3&side=front&one=greedy&other=builder")
    page.wait("#matrix button[aria-pressed=true]")
    page.wait_until(lambda: "games of them" in page.text("#pair-games"), "how many games they have")
    check_accessible(page)
    page.click("#which a[href*='players=2&side=front']")
    page.wait_until(lambda: "random" in page.text("#ratings"), "the ladder of two players")
    page.open(f"{server.address}/ladder?players=2&side=front&one=random&other=crowd")
    page.wait("#matrix button[aria-pressed=true]")
    choose(page, "#ladder .two label + label select", "greedy")
    page.wait_until(lambda: "other=greedy" in page.driver.current_url, "the pair")
    page.click(".match button")
    page.wait("#board svg")
