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
from folders import make_tournament, record_of
from pages import RunningServer, client_of, quick_catalogue
from starlette.applications import Starlette
from starlette.testclient import TestClient

from experiments.tools.chromium import Browser, browser
from skyenv.page.indexing import update_once
from skyenv.page.library import Library, Query, key_of, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records, a damaged one, and a tournament."""
    folder = tmp_path_factory.mktemp("library") / "played"
    folder.mkdir()
    (folder / "two.jsonl").write_text(
        "".join(record_of(seed, ["<img src=x>", "greedy"]) for seed in range(4))
    )
    (folder / "three.jsonl").write_text(
        record_of(1, ["crowd", "random", "greedy"], players=3) + "damaged\n"
    )
    make_tournament(folder / "tournament")
    return folder


def made(folder: Path, index: Path, hosts: list[str]) -> Starlette:
    """The application with those games, indexed."""
    library = Library(index, roots_of([folder]))
    assert update_once(index, [folder]) == ""
    return application(Storage(MEMORY), quick_catalogue(), hosts, library=library)


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    with client_of(made(folder, tmp_path / "library.sqlite3", ["localhost"])) as client:
        client.get("/library")
        yield client


def opened(client: TestClient, file: str, number: int) -> Any:
    """The replay of a game, once it is there."""
    for _ in range(200):
        answer = client.post(f"/api/library/{file}/{number}")
        if answer.status_code != 202:
            return answer
        assert "played again" in answer.json()["wait"]
    raise AssertionError("it is never played")


def test_a_slow_disk_holds_up_nothing_else(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    file = next(
        one["file"] for one in client.get("/api/library", params={"players": "2"}).json()["games"]
    )
    replay = (
        client.post(f"/api/library/{file}/1").json()["page"].replace("/replay/", "/api/replays/")
    )

    def search(self: Library, query: Query) -> Any:
        if not may_go_on.wait(20):
            may_go_on.set()  # what is held up comes too late
        return {}

    monkeypatch.setattr(Library, "search", search)
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(client.get, "/api/library") for _ in range(40)]
        try:
            for address in (
                f"{replay}/1/3/chances",
                f"{replay}/1/3/hint?agent=random",
                "/api/runs",
            ):
                assert client.get(address).status_code == 200
            assert not any(one.done() for one in asked)
        finally:
            may_go_on.set()
        assert {one.result().status_code for one in asked} == {200}


def test_the_table_and_a_game_of_it(client: TestClient) -> None:
    found = client.get(
        "/api/library", params={"players": "2", "agent": "<img src=x>", "sort": "length"}
    ).json()
    assert (found["total"], found["page"], found["pages"]) == (4, 1, 1)
    game = found["games"][0]
    assert game["label"] == "played/two.jsonl"
    answer = opened(client, game["file"], game["number"])
    assert answer.status_code == 201
    replay = client.get(answer.json()["page"].replace("/replay/", "/api/replays/") + "/1").json()
    assert replay["steps"] == game["actions"]
    assert replay["scores"][-1] == game["scores"]


def test_agents_may_be_asked_for_together(client: TestClient) -> None:
    found = client.get("/api/library?agent=crowd&agent=random&agent=greedy").json()
    assert [game["players"] for game in found["games"]] == [3]


def test_a_tournaments_game_is_played_again(client: TestClient) -> None:
    file = key_of("played/tournament/games.jsonl")
    game = client.get("/api/library", params={"file": file, "sort": "margin"}).json()["games"][0]
    answer = opened(client, file, game["number"])
    assert answer.status_code == 201, answer.text
    replay = client.get(answer.json()["page"].replace("/replay/", "/api/replays/") + "/1").json()
    assert (replay["names"], replay["scores"][-1]) == (game["names"], game["scores"])


def test_how_far_the_folders_are_read(client: TestClient, folder: Path) -> None:
    state = client.get("/api/library/state").json()
    assert (state["folders"], state["files"], state["done"]) == (["played"], 3, True)
    assert [one["file"] for one in state["complaints"]] == ["played/three.jsonl"]
    assert str(folder.parent) not in json.dumps(state)


@pytest.mark.parametrize(
    ("file", "number"),
    [
        ("0" * 16, "1"),
        ("..%2Ftwo.jsonl", "1"),
        (key_of("played/two.jsonl"), "0"),
        (key_of("played/two.jsonl"), "99"),
        ("%00", "1"),
    ],
)
def test_nothing_else_can_be_opened(file: str, number: str, client: TestClient) -> None:
    answer = client.post(f"/api/library/{file}/{number}")
    assert answer.status_code == 404
    assert "no such" in answer.json()["error"]


@pytest.mark.parametrize("number", ["x", "-1", "1" * 30])
def test_a_number_that_is_none(number: str, client: TestClient) -> None:
    assert client.post(f"/api/library/{key_of('played/two.jsonl')}/{number}").status_code == 400


def test_a_bad_filter_is_told(client: TestClient) -> None:
    answer = client.get("/api/library?sort=id")
    assert answer.status_code == 400
    assert "sort must be one of" in answer.json()["error"]


def test_who_has_not_opened_the_page_gets_no_replay(folder: Path, tmp_path: Path) -> None:
    with client_of(made(folder, tmp_path / "library.sqlite3", ["localhost"])) as stranger:
        assert stranger.post(f"/api/library/{key_of('played/two.jsonl')}/1").status_code == 403
        assert (
            stranger.post(
                f"/api/library/{key_of('played/two.jsonl')}/1",
                headers={"origin": "https://other.example"},
            ).status_code
            == 403
        )


def test_without_folders_the_page_says_what_to_do(ann: TestClient) -> None:
    assert ann.get("/library").status_code == 200
    assert "--games FOLDER" in ann.get("/api/library/state").json()["trouble"]
    for answer in (ann.get("/api/library"), ann.post("/api/library/x/1")):
        assert answer.status_code == 404
        assert "--games FOLDER" in answer.json()["error"]


def test_all_published_ladders_are_told(ann: TestClient) -> None:
    content = ann.get("/api/ladders").json()
    assert [(one["players"], one["side"]) for one in content["ladders"]] == [
        (players, side) for players in (2, 3, 4) for side in ("front", "back")
    ]
    for ladder in content["ladders"]:
        number = len(ladder["agents"])
        assert (
            [len(row) for row in ladder["pairs"]]
            == [len(row) for row in ladder["predicted"]]
            == [number] * number
        )
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
def server(folder: Path, tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(made(folder, tmp_path / "library.sqlite3", ["127.0.0.1"]))
    yield running
    running.stop()


def shown(page: Browser) -> list[str]:
    """The agents of the games in the table, as they are read aloud."""
    texts: list[str] = page.run(
        "return [...document.querySelectorAll('#games tbody td:first-child')].map((cell) => "
        "cell.textContent)"
    )
    return texts


def choose(page: Browser, selector: str, value: str) -> None:
    """Choose as a person does: the form hears of it."""
    page.run(
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        " field.dispatchEvent(new Event('input', {bubbles: true}))",
        selector,
        value,
    )


def test_looking_through_games(page: Browser, server: RunningServer, folder: Path) -> None:
    page.open(f"{server.address}/library")
    page.wait("#games tbody a")
    everything = page.text("#count")
    assert page.run("return document.querySelector('#games img')") is None
    check_accessible(page)
    choose(page, "[name=players]", "3")
    page.wait_until(lambda: page.text("#count") == "1 game", "the filtered table")
    assert "players=3" in page.driver.current_url
    assert "greedy" in shown(page)[0]
    page.run("history.back()")
    page.wait_until(lambda: page.text("#count") == everything, "the table before")
    assert page.run("return document.querySelector('[name=players]').value") == ""
    choose(page, "[name=agent]", "greedy")
    page.wait_until(lambda: page.text("#count") == "5 games", "greedy's games")
    page.open(page.driver.current_url)  # the address is all there is
    page.wait_until(lambda: page.text("#count") == "5 games", "the same games by the address")
    page.click("#games th:nth-child(5) button")
    page.wait_until(
        lambda: page.find("#games th[aria-sort=descending]:nth-child(5)"), "the order by length"
    )
    lengths = page.run(
        "return [...document.querySelectorAll('#games td[data-name=actions]')].map((cell) => "
        "Number(cell.textContent))"
    )
    page.wait_until(
        lambda: (
            (
                now := page.run(
                    "return [...document.querySelectorAll('#games "
                    "td[data-name=actions]')].map((cell) => Number(cell.textContent))"
                )
            )
            == sorted(now, reverse=True)
        ),
        "games by length",
    )
    assert len(lengths) == 5
    game = page.run(
        "return document.querySelector('#games td[data-name=swing] a').getAttribute('href')"
    )
    page.click("#games tbody a")
    page.wait("#step")
    assert "/replay/" in page.driver.current_url
    page.open(f"{server.address}{game}")
    page.wait("#step")
    step = int(game.rpartition("=")[2])
    assert step > 0
    page.wait_until(
        lambda: page.run("return Number(document.getElementById('step').value)") == step,
        "the biggest swing",
    )


@pytest.mark.long
def test_a_file_that_grows_is_seen_and_a_phone_shows_cards(
    server: RunningServer, folder: Path, tmp_path: Path
) -> None:
    with browser(phone=True) as page:
        page.open(f"{server.address}/library?file={key_of('played/two.jsonl')}")
        page.wait("#games tbody a")
        assert page.text("#count") == "4 games"
        assert page.run(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
        small = page.run(
            "return [...document.querySelectorAll('a, button, select, input, "
            "summary')].filter((one) => one.offsetParent)"
            ".filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => "
            "one.outerHTML)"
        )
        assert small == []
        check_accessible(page)
        with open(folder / "two.jsonl", "a") as file:
            file.write(record_of(99, ["new", "greedy"]))
        update_once(tmp_path / "library.sqlite3", [folder])
        page.wait_until(lambda: page.text("#count") == "5 games", "the new game")


@pytest.mark.long
def test_a_new_game_of_the_same_agents(page: Browser, server: RunningServer) -> None:
    page.open(f"{server.address}/library?players=3")
    page.wait("#games tbody a")
    page.click("#games tbody button")
    page.wait("#board svg")
    assert "/seat/" in page.driver.current_url
    page.driver.back()
    page.click("#games tbody button")  # another one
    page.wait("#board svg")


def test_the_ladder_and_a_match(page: Browser, server: RunningServer) -> None:
    page.open(f"{server.address}/ladder?players=3&side=front&one=greedy&other=builder")
    page.wait("#matrix button[aria-pressed=true]")
    page.wait_until(lambda: "games of them" in page.text("#pair-games"), "how many games they have")
    check_accessible(page)
    page.click("#which a[href*='players=2&side=front']")
    page.wait_until(lambda: "random" in page.text("#ratings"), "the ladder of two players")
    page.run(
        "for (const name of ['random', 'greedy']) {"
        " const select = document.querySelectorAll('#ladder .two label select')[name === 'random' "
        "? 0 : 1];"
        " select.value = name; select.dispatchEvent(new Event('change')); }"
    )
    page.wait_until(
        lambda: (
            "one=random" in page.driver.current_url and "other=greedy" in page.driver.current_url
        ),
        "the pair",
    )
    assert "random" in page.text(".two .big + *, .two p")
    page.click(".match button")
    page.wait("#board svg")
    assert "/seat/" in page.driver.current_url
    page.driver.back()
    page.click(".match button")  # another one
    page.wait("#board svg")


def test_without_folders_the_browser_says_so(page: Browser) -> None:
    running = RunningServer(application(Storage(MEMORY), quick_catalogue(), ["127.0.0.1"]))
    try:
        page.open(f"{running.address}/library")
        page.wait_until(lambda: "--games FOLDER" in page.text("#note"), "what to do")
        page.open(f"{running.address}/library/0000/1")
        page.wait_until(lambda: "--games FOLDER" in page.text("#note"), "what to do")
    finally:
        running.stop()
