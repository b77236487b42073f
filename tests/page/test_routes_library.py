"""Games to look through and the ladders: by the interface, and in a browser."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from accessibility import check_accessible
from folders import record_of
from pages import RunningServer, another, client_of, quick_catalogue
from starlette.applications import Starlette
from starlette.testclient import TestClient

from experiments.tools.chromium import Browser, browser
from processes import wait_until
from skyenv.page.library import Library
from skyenv.page.roots import key_of, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application

TWO = key_of("played/two.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Records, one of them damaged."""
    folder = tmp_path / "played"
    folder.mkdir()
    two = [record_of(seed, ["<img src=x>", "greedy"]) for seed in range(4)]
    (folder / "two.jsonl").write_text("".join(two))
    three = record_of(1, ["crowd", "random", "greedy"], players=3)
    (folder / "three.jsonl").write_text(three + three.replace('"vp"', '"VP"', 1))
    return folder


def made(folder: Path, host: str = "localhost") -> Starlette:
    """The application with those games."""
    library = Library(folder.parent, roots_of([folder]))
    return application(Storage(MEMORY), quick_catalogue(), [host], library=library)


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with client_of(made(folder)) as client:
        client.get("/library")
        yield client


def state(client: TestClient) -> Any:
    """The state of the library, once the folders are read."""
    wait_until(lambda: client.get("/api/library/state").json()["done"])
    return client.get("/api/library/state").json()


def test_the_folders_are_read_when_they_are_asked_for(client: TestClient, folder: Path) -> None:
    told = state(client)
    assert (told["folders"], told["games"], told["left"]) == (["played"], 5, 0)
    assert told["complaints"][0].startswith("played/three.jsonl: line ")
    assert str(folder.parent) not in json.dumps(told)
    found = client.get("/api/library?agent=crowd&agent=random&agent=greedy").json()
    assert [game["players"] for game in found["games"]] == [3]
    assert client.get("/api/library?sort=id").status_code == 400
    pages = client.get("/api/options").json()["pages"]
    assert ("/library" in pages, "/runs" in pages) == (True, False)


def test_every_browser_can_open_a_game_by_its_address(client: TestClient, folder: Path) -> None:
    """Also when nothing has been read yet."""
    page = client.get(f"/library/{TWO}/3")
    assert (page.status_code, "replay.js" in page.text) == (200, True)
    replay = client.get(f"/api/replays/{TWO}/3").json()
    record = client.get(f"/api/library/{TWO}/3").text
    assert record == record_of(2, ["<img src=x>", "greedy"])
    other = another(client.app)  # type: ignore[arg-type]
    assert other.get(f"/api/replays/{TWO}/3").json() == replay
    game = client.get(f"/api/library?file={TWO}&sort=length").json()["games"][0]
    replay = client.get(f"/api/replays/{TWO}/{game['number']}").json()
    assert (replay["steps"], replay["scores"][-1]) == (game["actions"], game["scores"])
    assert client.get(f"/api/replays/{TWO}/1/3/chances").status_code == 200
    assert client.get("/api/replays").json() == {"replays": []}
    (folder / "two.jsonl").write_text(record_of(7))
    assert client.get(f"/api/replays/{TWO}/2").status_code in (404, 409)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{'0' * 16}/1", 404),
        (f"{TWO}/0", 404),
        (f"{TWO}/99", 404),
        (f"{TWO}/x", 400),
        (f"{TWO}/{'1' * 30}", 400),
    ],
)
def test_nothing_else_can_be_opened(path: str, status: int, client: TestClient) -> None:
    for where in ("library", "replays"):
        answer = client.get(f"/api/{where}/{path}")
        assert (answer.status_code, bool(answer.json()["error"])) == (status, True)


def test_a_slow_disk_holds_up_nothing_else(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    assert client.get(f"/api/replays/{TWO}/1").status_code == 200

    def search(self: Library, asked: object) -> Any:
        if not may_go_on.wait(20):
            may_go_on.set()  # what is held up comes too late
        return {}

    monkeypatch.setattr(Library, "search", search)
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(client.get, "/api/library") for _ in range(40)]
        try:
            for address in ("3/chances", "3/hint?agent=random"):
                assert client.get(f"/api/replays/{TWO}/1/{address}").status_code == 200
            assert not any(one.done() for one in asked)
        finally:
            may_go_on.set()
        assert {one.result().status_code for one in asked} == {200}


def test_without_folders_the_page_says_what_to_do(ann: TestClient) -> None:
    assert ann.get("/library").status_code == 200
    for path in ("/api/library", "/api/library/state", "/api/library/x/1"):
        answer = ann.get(path)
        assert (answer.status_code, "--games FOLDER" in answer.json()["error"]) == (404, True)
    assert not {"/library", "/runs"} & {*ann.get("/api/options").json()["pages"]}


def test_all_published_ladders_are_told(ann: TestClient) -> None:
    content = ann.get("/api/ladders").json()
    assert [(one["players"], one["side"]) for one in content["ladders"]] == [
        (players, side) for players in (2, 3, 4) for side in ("front", "back")
    ]
    for ladder in content["ladders"]:
        size = [len(ladder["agents"])] * len(ladder["agents"])
        assert [*map(len, ladder["pairs"])] == [*map(len, ladder["predicted"])] == size
        means = [agent["rating"]["mean"] for agent in ladder["agents"]]
        assert means == sorted(means, reverse=True)
    assert "secret" not in json.dumps(content)


# ---- in a browser ----


@pytest.fixture
def page() -> Iterator[Browser]:
    with browser() as opened:
        yield opened
        assert opened.complaints() == []


@pytest.fixture
def server(folder: Path) -> Iterator[RunningServer]:
    running = RunningServer(made(folder, "127.0.0.1"))
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
    page.wait_until(lambda: page.text("#count") == "5 games", "all games")
    assert page.run("return document.querySelector('#games img')") is None
    check_accessible(page)
    choose(page, "[name=players]", "3")
    page.wait_until(lambda: page.text("#count") == "1 game", "the filtered table")
    assert "players=3" in page.driver.current_url
    page.run("history.back()")
    page.wait_until(lambda: page.text("#count") == "5 games", "the table before")
    assert page.run("return document.querySelector('[name=players]').value") == ""
    page.click("#games th:nth-child(5) a")
    page.wait("#games th[aria-sort=descending]:nth-child(5)")
    choose(page, "[name=winner]", "greedy")
    page.open(page.driver.current_url)  # the address is all there is
    page.wait("#games th[aria-sort=descending]:nth-child(5)")
    cells = (
        "return [...document.querySelectorAll('#games td[data-name={}]')].map((c) => c.innerText)"
    )
    lengths = [int(text) for text in page.run(cells.format("actions"))]
    assert lengths == sorted(lengths, reverse=True)
    game = page.wait("#games td[data-name=swing] a").get_attribute("href")
    page.click("#games td[data-name=swing] a")
    page.wait("#board svg")
    assert page.driver.current_url == game
    assert page.run("return document.getElementById('step').value") == game.rpartition("=")[2]


@pytest.mark.long
def test_a_phone_shows_cards(server: RunningServer) -> None:
    with browser(phone=True) as page:
        page.open(f"{server.address}/library?file={TWO}")
        page.wait_until(lambda: page.text("#count") == "4 games", "the file's games")
        small = page.run(
            "return [...document.querySelectorAll('a, button, select, input, summary')]"
            ".filter((one) => one.offsetParent && one.getBoundingClientRect().height < 43.5)"
            ".map((one) => one.outerHTML)"
        )
        assert small == []
        root = "document.documentElement"
        assert page.run(f"return {root}.scrollWidth <= {root}.clientWidth")
        check_accessible(page)
        page.click("#all-files")
        page.wait_until(lambda: page.text("#count") == "5 games", "all games")


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
    page.driver.back()
    page.click(".match button")  # another one
    page.wait("#board svg")
