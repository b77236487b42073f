"""Games to look through and the ladders: what the index tells of files, by the interface, and in a
browser.
"""

from __future__ import annotations

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
from starlette.applications import Starlette
from starlette.testclient import TestClient

from experiments.tools.chromium import Browser, browser
from processes import wait_until
from skyenv import Game
from skyenv.errors import OptionError
from skyenv.files import writing
from skyenv.page import indexing
from skyenv.page.errors import PageError
from skyenv.page.indexing import bring_up_to_date, leads
from skyenv.page.library import PAGE, Library
from skyenv.page.roots import key_of, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application

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


def indexed(folder: Path, *roots: Path) -> Library:
    """A library whose index, in a folder, is up to date."""
    library = Library(folder, roots_of(roots))
    update(library)
    return library


def update(library: Library) -> list[int]:
    """Bring the index up to date; how many bytes were told to be left, each time."""
    told: list[int] = []
    while not bring_up_to_date(library.path, library.roots, told.append):
        pass
    return told


@pytest.fixture(scope="module")
def library(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """All of it."""
    return indexed(tmp_path_factory.mktemp("index"), folder)


def search(library: Library, *asked: tuple[str, str]) -> list[dict[str, Any]]:
    games: list[dict[str, Any]] = library.search(asked)["games"]
    return games


@pytest.mark.parametrize(("players", "seed", "options"), [(2, 3, {}), (3, 4, {"side": "back"})])
def test_a_game_is_told_as_it_was_played(
    players: int, seed: int, options: dict[str, Any], tmp_path: Path
) -> None:
    game = played(players, seed=seed, **options)
    names = ["crowd", "b\n\x1b[31m", "x" * 100][:players]
    (tmp_path / "games.jsonl").write_text(game.to_record(names), encoding="utf-8")
    library = indexed(tmp_path, tmp_path / "games.jsonl")
    (told,) = search(library)
    outcome, (first, second) = game.outcome, sorted(game.scores, reverse=True)[:2]
    assert outcome is not None
    wanted = {
        "names": ["crowd", "b  [31m", "x" * 59 + "…"][:players],
        **{"players": players, "side": game.side, "number": 1, "scores": game.scores},
        **{"winners": [*outcome.winners], "ending": outcome.reason, "margin": first - second},
        "actions": game.state["decisions"],
    }
    assert wanted.items() <= told.items()
    step, content = told["swing_step"], library.game(told["file"], 1).decode()
    ways = [leads(Game.from_record(content, step=at).scores) for at in (step - 1, step)]
    assert max(abs(now - then) for then, now in zip(*ways, strict=True)) == told["swing"]


FILTERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "agent=ann": lambda game: "ann" in game["names"],
    "agent=ann&agent=bob": lambda game: {"ann", "bob"} <= {*game["names"]},
    "agent=&agent=cy": lambda game: "cy" in game["names"],
    "winner=bob": lambda game: "bob" in [game["names"][seat] for seat in game["winners"]],
    "players=3": lambda game: game["players"] == 3,
    "side=back": lambda game: game["side"] == "back",
    "ending=truncated": lambda game: game["ending"] == "truncated",
    "ending=unfinished": lambda game: game["ending"] == "unfinished",
    "least_margin=10&most_margin=30": lambda game: 10 <= game["margin"] <= 30,
    "least_length=100": lambda game: game["actions"] >= 100,
    "least_swing=1": lambda game: game["swing"] >= 1,
    "text=TWO <img": lambda game: "two" in game["label"] and "<img src=x>" in game["names"],
    "text=50%_": lambda game: "50%_off" in game["names"],
    **{
        f"{name}={text}": lambda game: False
        for name in ("file", "agent", "side", "text")
        for text in ("'; DROP TABLE game; --", "\\", "\x00", "a" * 5000)
    },
}


@pytest.mark.parametrize("asked", FILTERS)
def test_filters(asked: str, library: Library) -> None:
    every = search(library)
    pairs = [(name, value) for name, _, value in (one.partition("=") for one in asked.split("&"))]
    wanted = [game for game in every if FILTERS[asked](game)]
    assert search(library, *pairs) == wanted != every
    assert library.search(pairs)["total"] == len(wanted)
    assert len(every) == 10


@pytest.mark.parametrize("field", ["actions", "margin", "swing"])
def test_order(field: str, library: Library) -> None:
    sort = ("sort", {"actions": "length"}.get(field, field))
    falling = [game[field] for game in search(library, sort)]
    rising = [game[field] for game in search(library, sort, ("order", "rising"))]
    assert falling == sorted(falling, reverse=True) != rising == sorted(rising)


def test_pages(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(record_of(1, actions=1) * (2 * PAGE + 1))
    library = indexed(tmp_path, tmp_path / "many.jsonl")
    pages = [library.search([("page", str(page))]) for page in (1, 2, 3, 99)]
    assert [(page["page"], page["pages"]) for page in pages] == [(1, 3), (2, 3), (3, 3), (3, 3)]
    numbers = [game["number"] for page in pages[:3] for game in page["games"]]
    assert numbers == list(range(1, 2 * PAGE + 2))


@pytest.mark.parametrize(
    "asked", ["players=x", "least_margin=-1", "most_length=1e3", f"page={'9' * 30}", "sort=id"]
)
def test_what_cannot_be_asked_for_is_told(asked: str, library: Library) -> None:
    name, _, value = asked.partition("=")
    with pytest.raises(PageError, match=name):
        library.search([(name, value)])


def test_files_come_change_and_go_and_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = tmp_path / "games"
    games.mkdir()
    (games / "a.jsonl").write_text(record_of(1) + record_of(2))
    library = indexed(tmp_path, games)

    def there() -> list[tuple[str, int, bool]]:
        return sorted(
            (g["label"], g["number"], g["ending"] != "unfinished") for g in search(library)
        )

    assert there() == [("games/a.jsonl", 1, True), ("games/a.jsonl", 2, True)]
    assert update(library) == [0]
    whole = record_of(3)
    with open(games / "a.jsonl", "a") as file:
        file.write(whole[:5000])
    (games / "b.jsonl").write_text(record_of(4))
    monkeypatch.setattr(indexing, "TURN", -1.0)  # other jobs may begin after each file
    assert not bring_up_to_date(library.path, library.roots, print)
    assert update(library) == [(games / "b.jsonl").stat().st_size, 0]
    assert there()[2:] == [("games/a.jsonl", 3, False), ("games/b.jsonl", 1, True)]
    assert library.state()["complaints"] == []  # it is being written
    with writing(games / "c.jsonl") as stream:
        stream.write(whole.encode())
        stream.flush()
        assert update(library) == [0]
    (games / "a.jsonl").unlink()
    update(library)
    assert there() == [("games/b.jsonl", 1, True), ("games/c.jsonl", 1, True)]


def test_damage_costs_its_game_and_is_told_without_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "MOST_RECORD", 100_000)
    games, good = tmp_path / "games", record_of(1, actions=5)
    games.mkdir()
    bad = record_of(2).replace('"vp": [', '"vp": [-1, ', 1)
    for name, content in {
        "bad": bad + good + "junk\n",
        "cut": good[: good.index("\n") + 1],
        "long": good + '{"event": "shuffle"}\n' * 6000 + good,
        os.fsdecode(b"\xff"): good + "x" * 70_000 + "\n" + good,
    }.items():
        (games / f"{name}.jsonl").write_text(content)
    state = indexed(tmp_path, games).state()
    assert (state["damaged"], state["games"]) == (4, 2)
    told = [
        *("games/ .jsonl: line 8: no JSON object: longer", "games/bad.jsonl: line "),
        *("games/cut.jsonl: line 2: the record ends", "games/long.jsonl: line 1: a game of more"),
    ]
    for complaint, wanted in zip(state["complaints"], told, strict=True):
        assert complaint.startswith(wanted)
    assert state["complaints"][1].endswith("(and 1 more)")
    assert str(tmp_path) not in json.dumps(state)


def test_indexes_are_for_this_user_alone_and_one_that_is_none_is_told(
    folder: Path, library: Library, tmp_path: Path
) -> None:
    other = indexed(library.path.parent, folder / "deep")
    assert {game["label"] for game in search(other)} == {"deep/three.jsonl"}
    assert len(search(library)) == 10
    assert library.path.stat().st_mode & 0o077 == 0
    broken = Library(tmp_path, roots_of([folder]))
    broken.path.write_text("something else, and long enough for a header" * 40)
    with pytest.raises(PageError, match=r"^library-\S* can't be the index .*delete it$"):
        broken.state()


def test_a_file_that_changes_under_the_index_gives_one_line(tmp_path: Path) -> None:
    path, secret = tmp_path / "games" / "a.jsonl", tmp_path / "secret"
    path.parent.mkdir()
    for file in (path, secret):
        file.write_text(record_of(1) + record_of(2))
    library = indexed(tmp_path, path.parent)
    key = search(library)[0]["file"]
    assert library.game(key, 2) == record_of(2).encode()
    path.write_text(record_of(1)[:100])
    with pytest.raises(PageError, match="changed"):
        library.game(key, 2)
    path.unlink()
    for is_link in (False, True):
        if is_link:
            path.symlink_to(secret)
        with pytest.raises(PageError, match="can't be read"):
            library.game(key, 1)


def test_folders_have_names_of_their_own(tmp_path: Path) -> None:
    names = "a/games", "b/games", "b/../a/games", "games (2)"
    for name in names:
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    roots = roots_of([tmp_path / name for name in names])
    assert [root.label for root in roots] == ["games", "games (2)", "games (2) (2)"]
    with pytest.raises(OptionError, match="there is no folder"):
        roots_of([tmp_path / "c"])


# ---- by the interface ----


def made(folder: Path, index: Path, host: str = "localhost") -> Starlette:
    """The application with those games."""
    library = Library(index, roots_of([folder]))
    return application(Storage(MEMORY), quick_catalogue(), [host], library=library)


@pytest.fixture
def bob(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A browser of a server that has games."""
    with client_of(made(folder, tmp_path)) as client:
        client.get("/library")
        yield client


def test_the_folders_are_read_when_they_are_asked_for(bob: TestClient, folder: Path) -> None:
    wait_until(lambda: bob.get("/api/library/state").json()["done"])
    told = bob.get("/api/library/state").json()
    assert [told[name] for name in ("folders", "games", "left")] == [["played"], 10, 0]
    assert told["agents"] == ["bob", "ann", "50%_off", "<img src=x>", "cy"]
    assert str(folder.parent) not in json.dumps(told)
    found = bob.get("/api/library?agent=ann&agent=cy").json()["games"]
    assert [game["players"] for game in found] == [3, 3, 3]
    assert bob.get("/api/library?sort=id").status_code == 400
    pages = bob.get("/api/options").json()["pages"]
    assert ("/library" in pages, "/runs" in pages) == (True, False)


def test_every_browser_can_open_a_game_by_its_address(bob: TestClient) -> None:
    """Also when nothing has been read yet."""
    assert "replay.js" in bob.get(f"/library/{TWO}/4").text
    replay = bob.get(f"/api/replays/{TWO}/4").json()
    assert bob.get(f"/api/library/{TWO}/4").text == record_of(3, NAMES)
    other = client_of(bob.app)  # type: ignore[arg-type]
    other.get("/")
    assert other.get(f"/api/replays/{TWO}/4").json() == replay
    assert bob.get(f"/api/replays/{TWO}/1/3/chances").status_code == 200
    assert bob.get("/api/replays").json() == {"replays": []}


@pytest.mark.parametrize("where", ["library", "replays"])
def test_nothing_else_can_be_opened(where: str, bob: TestClient) -> None:
    for path, status in (
        *((f"{'0' * 16}/1", 404), (f"{TWO}/0", 404), (f"{TWO}/99", 404)),
        *((f"{TWO}/x", 400), (f"{TWO}/{'1' * 30}", 400)),
    ):
        answer = bob.get(f"/api/{where}/{path}")
        assert (answer.status_code, {*answer.json()}) == (status, {"error"})


def test_a_slow_disk_holds_up_nothing_else(
    bob: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    assert bob.get(f"/api/replays/{TWO}/1").status_code == 200

    def search(self: Library, asked: object) -> Any:
        may_go_on.wait(20)  # what is held up comes too late
        return {}

    monkeypatch.setattr(Library, "search", search)
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(bob.get, "/api/library") for _ in range(40)]
        for address in ("3/chances", "3/hint?agent=random"):
            assert bob.get(f"/api/replays/{TWO}/1/{address}").status_code == 200
        assert not any(one.done() for one in asked)
        may_go_on.set()
        assert {one.result().status_code for one in asked} == {200}


@pytest.mark.parametrize(("what", "option"), [("library", "--games"), ("runs", "--runs")])
def test_without_folders_the_page_says_what_to_do(what: str, option: str, ann: TestClient) -> None:
    assert ann.get(f"/{what}").status_code == 200
    answer = ann.get(f"/api/{what}")
    assert (answer.status_code, f"{option} FOLDER" in answer.json()["error"]) == (404, True)
    assert f"/{what}" not in ann.get("/api/options").json()["pages"]


def test_all_published_ladders_are_told(ann: TestClient) -> None:
    content = ann.get("/api/ladders").json()
    assert [(one["players"], one["side"]) for one in content["ladders"]] == [
        (players, side) for players in (2, 3, 4) for side in ("front", "back")
    ]
    for ladder in content["ladders"]:
        size = [len(ladder["agents"])] * len(ladder["agents"])
        assert [*map(len, ladder["pairs"])] == [*map(len, ladder["predicted"])] == size
    assert "secret" not in json.dumps(content)


# ---- in a browser ----


@pytest.fixture
def page() -> Iterator[Browser]:
    with browser() as opened:
        yield opened
        assert opened.complaints() == []


@pytest.fixture
def server(folder: Path, tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(made(folder, tmp_path, "127.0.0.1"))
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


def shows(page: Browser, count: str) -> None:
    """Wait until the table has so many games."""
    page.wait_until(lambda: page.text("#count") == count, count)


def test_looking_through_games(page: Browser, server: RunningServer) -> None:
    page.open(f"{server.address}/library")
    shows(page, "10 games")
    assert page.run("return document.querySelector('#games img')") is None
    check_accessible(page)
    choose(page, "[name=players]", "3")
    shows(page, "3 games")
    page.run("history.back()")
    shows(page, "10 games")
    assert page.run("return document.querySelector('[name=players]').value") == ""
    page.click("#games th:nth-child(5) a")
    falling = "#games th[aria-sort=descending]:nth-child(5)"
    page.wait(falling)
    choose(page, "[name=winner]", "bob")
    page.open(page.driver.current_url)  # the address is all there is
    page.wait(falling)
    lengths = page.run(
        "return [...document.querySelectorAll('#games td[data-name=actions]')]"
        ".map((cell) => Number(cell.innerText))"
    )
    assert lengths == sorted(lengths, reverse=True)
    swing = "#games td[data-name=swing] a"
    game = page.wait(swing).get_attribute("href")
    page.click(swing)
    page.wait("#board svg")
    assert page.driver.current_url == game
    assert page.run("return document.getElementById('step').value") == game.rpartition("=")[2]


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
