"""Trainings: lists, networks as opponents, and files that are damaged or hostile."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accessibility import check_accessible
from folders import NETWORK, PICTURE, make_run
from pages import RunningServer, client_of, payload, quick_catalogue
from starlette.applications import Starlette
from starlette.testclient import TestClient

from experiments.tools.chromium import browser
from skyenv.page.roots import key_of, roots_of
from skyenv.page.runs import Runs
from skyenv.page.storage import Storage
from skyenv.page.web import application

FIRST = key_of("runs/first")


def runs_of(*folders: Path) -> Runs:
    return Runs(roots_of(folders), folders[0].parent / "kept")


def test_a_run_is_told_without_its_path(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "first", start="/home/ann/model.npz")
    (told,) = runs_of(tmp_path / "runs").overview()
    assert told.pop("changed") > 0
    assert told == {
        "key": FIRST,
        "name": "runs/first",
        "players": 3,
        "side": "back",
        "networks": [
            {"age": "newest", "seconds": None},
            {"age": "0 s", "seconds": 0},
            {"age": "4 min", "seconds": 240},
            {"age": "4 min 10 s", "seconds": 250},
        ],
        "picture": True,
    }


@pytest.mark.parametrize("content", ["", "{", "[]", '{"players": 7, "side": [], "x": {}}'])
def test_runs_are_found_in_folders_of_folders_without_links_and_whatever_their_options_say(
    content: str, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    for name in ("a", "b/c", "b/e/f/g/h", ".hidden"):
        (make_run(runs / name) / "config.json").write_text(content)
    (runs / "d").mkdir()
    (runs / "d" / "model.npz").symlink_to(NETWORK)
    (runs / "link").symlink_to(runs / "b")
    told = {(run["name"], run["players"], run["side"]) for run in runs_of(runs).overview()}
    assert told == {(f"runs/{name}", 2, "front") for name in ("a", "b/c", "b/e/f/g/h")}


# ---- by the interface ----


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_run(tmp_path / "runs" / "first")
    return tmp_path / "runs"


def made(folder: Path, host: str = "localhost") -> Starlette:
    """The application, as the command makes it."""
    runs = Runs(roots_of([folder]), folder.parent / "networks")
    storage = Storage(folder.parent / "games.sqlite3")
    return application(storage, quick_catalogue(), [host], runs=runs)


def offer(client: TestClient, seconds: object = None, key: str = FIRST) -> Any:
    return client.post(f"/api/runs/{key}/networks", json={"seconds": seconds})


def begin(client: TestClient, agent: str) -> Any:
    """The answer to a wish for a game with an agent."""
    game = {"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    return client.post("/api/games", json=game)


def test_a_network_of_a_run_is_played_against(folder: Path) -> None:
    with client_of(made(folder)) as client:
        client.get("/runs")
        told = client.get("/api/runs").json()
        assert str(folder.parent) not in json.dumps(told)
        assert client.get(f"/api/runs/{told['runs'][0]['key']}/curves.png").content == PICTURE
        name = offer(client, 240).json()["name"]
        assert re.fullmatch(r"first @ 4 min \([0-9a-f]{8}\)", name)
        page = begin(client, name).json()["page"]
        assert payload(client, page.replace("/seat/", "/api/seats/"))["names"][1] == name
        shutil.copy(NETWORK.parent / "3-players.npz", folder / "first" / "milestones/000240.npz")
        assert offer(client, 240).json()["name"] != name  # of a run that was begun anew
        shutil.rmtree(folder / "first")
        assert client.get(f"/api/runs/{FIRST}/curves.png").status_code == 404
    with client_of(made(folder)) as later:  # the page was started again, and the run is gone
        later.cookies = client.cookies
        assert begin(later, name).status_code == 201


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize("name", ["model.zip", "model.npz", "milestones/000240.npz"])
@pytest.mark.parametrize("is_pickle", [True, False])
def test_nothing_of_a_run_is_unpickled(name: str, is_pickle: bool, folder: Path) -> None:
    """Neither a run's file nor its copy, which the page finds when it is started again."""
    run, mark, copies = folder / "first", folder / "unpickled", folder.parent / "networks"
    for model in (run / "model.npz", run / "milestones" / "000240.npz"):
        model.unlink()
    with open(run / name, "wb") as stream:
        if is_pickle:
            pickle.dump(Hostile(mark), stream)
        else:
            np.savez(stream, network=np.array([Hostile(mark)], object), allow_pickle=True)
    copies.mkdir()
    with client_of(made(folder)) as client:
        client.get("/runs")
        assert {offer(client, seconds).status_code for seconds in (None, 240)} <= {400, 404}
        for agent in ("first @ newest (01234567)", "first @ 4 min (01234567)"):
            shutil.copy(run / name, copies / f"{key_of(agent)}{Path(name).suffix}")
            assert begin(client, agent).status_code in (400, 404)
    assert not mark.exists()
    with open(run / name, "rb") as stream:  # so this test can fail
        pickle.load(stream) if is_pickle else np.load(stream, allow_pickle=True)["network"]
    assert mark.exists()


def test_no_other_network_can_be_named_and_strangers_make_no_copies(folder: Path) -> None:
    with client_of(made(folder)) as client:
        assert offer(client, 240).status_code == 403
        client.get("/runs")
        for key, seconds, status in (
            *(("x", None, 404), (FIRST, 7, 404), (FIRST, -1, 404)),
            *((FIRST, "240", 400), (FIRST, 1e12, 400)),
        ):
            answer = offer(client, seconds, key)
            assert (answer.status_code, {*answer.json()}) == (status, {"error"})
    assert not (folder.parent / "networks").exists()


def test_playing_against_a_milestone(folder: Path) -> None:
    server = RunningServer(made(folder, "127.0.0.1"))
    with ExitStack() as stack:
        stack.callback(server.stop)
        page = stack.enter_context(browser())
        page.open(f"{server.address}/runs")
        page.wait("#runs details[open] img")
        check_accessible(page)
        page.run("document.querySelector('#runs select').value = 2")
        page.click("#runs button.primary")
        page.wait("#board svg")
        page.wait_until(lambda: "first @ 4 min" in page.text("body"), "the network's name")
        assert page.complaints() == []
