"""Trainings while they go on: by the interface, and in a browser."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from accessibility import check_accessible
from folders import make_run, record_of, write_curve
from pages import RunningServer, client_of, payload, quick_catalogue
from starlette.applications import Starlette
from starlette.testclient import TestClient

from experiments.tools.chromium import Browser, browser
from skyenv.page.indexing import update_once
from skyenv.page.library import Library, key_of, roots_of
from skyenv.page.runs import Runs
from skyenv.page.storage import Storage
from skyenv.page.web import HEADERS, application


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs."""
    run = make_run(tmp_path / "runs" / "first")
    (run / "games.jsonl").write_text(record_of(1, ["first", "greedy"]))
    make_run(tmp_path / "runs" / "second", 9)
    return tmp_path / "runs"


def made(folder: Path, host: str) -> Starlette:
    """The application, as the command makes it."""
    roots, beside = roots_of([folder]), folder.parent
    index = beside / "library.sqlite3"
    assert update_once(index, [folder]) == ""
    runs = Runs([folder], roots, beside / "networks")
    return application(
        Storage(beside / "games.sqlite3"),
        quick_catalogue(),
        [host],
        library=Library(index, roots),
        runs=runs,
    )


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with client_of(made(folder, "localhost")) as client:
        client.get("/runs")
        yield client


def test_the_list_the_curve_and_the_games(client: TestClient, folder: Path) -> None:
    told = client.get("/api/runs").json()
    assert {run["name"] for run in told["runs"]} == {"runs/first", "runs/second"}
    assert str(folder.parent) not in json.dumps(told)
    first = next(run for run in told["runs"] if run["name"] == "runs/first")
    curve = client.get(f"/api/runs/{first['key']}/curve").json()
    assert len(curve["points"]) == 5
    write_curve(folder / "first", 6)
    news = client.get(f"/api/runs/{first['key']}/curve?from=5&age={curve['age']}").json()
    assert (news["from"], len(news["points"])) == (5, 1)
    games = client.get("/api/library", params={"file": first["games"][0]}).json()
    assert [game["names"] for game in games["games"]] == [["first", "greedy"]]


def test_a_network_of_a_run_is_played_against(client: TestClient, folder: Path) -> None:
    key = key_of("runs/first")
    answer = client.post(f"/api/runs/{key}/networks", json={"seconds": 240})
    assert answer.status_code == 201
    name = answer.json()["name"]
    assert name.startswith("first @ 4 min (")
    game = {"players": 2, "side": "front", "seats": ["me", f"agent:{name}"]}
    page = client.post("/api/games", json=game).json()["page"]
    assert payload(client, page.replace("/seat/", "/api/seats/"))["names"][1] == name
    assert name in [agent["name"] for agent in client.get("/api/options").json()["agents"]]
    shutil.rmtree(folder / "first")
    with client_of(
        made(folder, "localhost")
    ) as later:  # the page was started again, and the run is gone
        later.cookies = client.cookies
        assert later.post("/api/games", json=game).status_code == 201


@pytest.mark.parametrize(
    ("key", "value", "status"),
    [
        ("x", None, 404),
        ("first", 7, 404),
        ("first", "240", 400),
        ("first", -1, 404),
        ("first", 10**12, 400),
    ],
)
def test_no_other_network_can_be_named(
    key: str, value: object, status: int, client: TestClient
) -> None:
    answer = client.post(f"/api/runs/{key_of('runs/' + key)}/networks", json={"seconds": value})
    assert answer.status_code == status
    assert answer.json()["error"]


def test_names_that_no_agent_can_have_are_one_line(client: TestClient) -> None:
    for name, status in (("\ud800", 400), ("\x00", 404), ("../first", 404), ("a" * 2000, 404)):
        wanted = {"players": 2, "side": "front", "seats": ["me", f"agent:{name}"]}
        answer = client.post(
            "/api/games", content=json.dumps(wanted), headers={"content-type": "application/json"}
        )
        assert (answer.status_code, "\n" in answer.json()["error"]) == (status, False)
        assert HEADERS.items() <= dict(answer.headers).items()
    assert (
        client.get(
            "/api/replays/x/1/0/hint", params={"agent": "\udcff".encode(errors="surrogatepass")}
        ).status_code
        == 404
    )


def test_looking_for_a_network_keeps_nobody_waiting(client: TestClient) -> None:
    app: Any = client.app
    catalogue, may_go_on = app.state.server.catalogue, threading.Event()
    catalogue.find = lambda name: may_go_on.wait(20) and None  # a disk that takes its time
    wanted = {"players": 2, "side": "front", "seats": ["me", "agent:first @ 9 min (01234567)"]}
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(client.post, "/api/games", json=wanted)
        try:
            assert client.get("/api/options").status_code == 200
            assert (
                client.post(
                    "/api/games", json=wanted | {"seats": ["me", "agent:random"]}
                ).status_code
                == 201
            )
            assert not asked.done()
        finally:
            may_go_on.set()
        assert asked.result().status_code == 404


def test_a_damaged_network_is_one_line(client: TestClient, folder: Path) -> None:
    (folder / "first" / "milestones" / "000240.npz").write_bytes(b"no network")
    answer = client.post(f"/api/runs/{key_of('runs/first')}/networks", json={"seconds": 240})
    assert answer.status_code == 400
    assert str(folder.parent) not in answer.text
    assert "\n" not in answer.json()["error"]


def test_strangers_make_no_copies(folder: Path) -> None:
    with client_of(made(folder, "localhost")) as stranger:
        assert (
            stranger.post(
                f"/api/runs/{key_of('runs/first')}/networks", json={"seconds": 240}
            ).status_code
            == 403
        )
    assert not (folder.parent / "networks").exists()


def test_without_folders_the_page_says_what_to_do(ann: TestClient) -> None:
    assert ann.get("/runs").status_code == 200
    assert "--runs FOLDER" in ann.get("/api/runs").json()["trouble"]
    assert ann.get("/api/runs/x/curve").status_code == 404


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


def last_x(page: Browser) -> float:
    """Where the entropy's line ends, in minutes of training."""
    label: str = page.run(
        "return document.querySelector('#entropy svg').getAttribute('aria-label')"
    )
    assert label.startswith("Entropy in nats. At the end: ")
    return float(label.rpartition(" ")[2])


@pytest.mark.long
def test_curves_grow_as_the_run_goes_on(page: Browser, server: RunningServer, folder: Path) -> None:
    page.open(f"{server.address}/runs?run={key_of('runs/first')}")
    page.wait("#wins svg .line")
    assert last_x(page) == 0.3
    assert "greedy" in page.text("#kinds")
    check_accessible(page)
    write_curve(folder / "first", 50, entropy=0.125)
    page.wait_until(lambda: last_x(page) == 0.125, "the new points")
    page.click(f"[data-run='{key_of('runs/second')}'] input")
    page.wait_until(
        lambda: page.run("return document.querySelectorAll('#entropy .line').length") == 2,
        "both runs",
    )
    assert page.driver.current_url.count("run=") == 2
    page.run(
        "const over = document.getElementById('over'); over.value = 'decisions'; "
        "over.dispatchEvent(new Event('change'))"
    )
    page.wait_until(lambda: "decisions" in page.text("#entropy svg"), "decisions below")
    check_accessible(page)


def test_playing_against_a_milestone(page: Browser, server: RunningServer) -> None:
    page.open(f"{server.address}/runs?run={key_of('runs/first')}")
    page.wait("#network")
    page.run("const field = document.getElementById('network'); field.value = 2")
    page.click("#play-it")
    page.wait("#board svg")
    page.wait_until(lambda: "first @ 4 min" in page.text("body"), "the network's name")
