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

FIRST = key_of("runs/first/milestones/000240.npz")


def runs_of(*folders: Path) -> Runs:
    return Runs(roots_of(folders), folders[0].parent / "kept")


def test_a_run_is_told_without_its_path(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "first", start="/home/ann/model.npz")
    (told,) = runs_of(tmp_path / "runs").overview()
    assert told.pop("changed") > 0
    names = "model", "milestones/000000", "milestones/000240", "milestones/000250"
    assert told == {
        "name": "runs/first",
        "networks": [
            {"name": Path(name).name, "key": key_of(f"runs/first/{name}.npz")} for name in names
        ],
        "picture": key_of("runs/first/curves.png"),
    }


def test_runs_are_found_in_folders_of_folders_without_links(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name in ("a", "b/c", "b/e/f/g/h", ".hidden"):
        make_run(runs / name)
    (runs / "d").mkdir()
    (runs / "d" / "model.npz").symlink_to(NETWORK)
    (runs / "link").symlink_to(runs / "b")
    told = {run["name"] for run in runs_of(runs).overview()}
    assert told == {f"runs/{name}" for name in ("a", "b/c", "b/e/f/g/h")}


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


def offer(client: TestClient, key: str = FIRST) -> Any:
    return client.post(f"/api/runs/networks/{key}", json={})


def begin(client: TestClient, agent: str) -> Any:
    """The answer to a wish for a game with an agent."""
    game = {"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    return client.post("/api/games", json=game)


def test_a_network_of_a_run_is_played_against(folder: Path) -> None:
    with client_of(made(folder)) as client:
        client.get("/runs")
        told = client.get("/api/runs").json()
        assert str(folder.parent) not in json.dumps(told)
        assert client.get(f"/api/runs/pictures/{told['runs'][0]['picture']}").content == PICTURE
        name = offer(client).json()["name"]
        assert re.fullmatch(r"first @ 000240 \([0-9a-f]{8}\)", name)
        page = begin(client, name).json()["page"]
        assert payload(client, page.replace("/seat/", "/api/seats/"))["names"][1] == name
        shutil.copy(NETWORK.parent / "3-players.npz", folder / "first" / "milestones/000240.npz")
        assert offer(client).json()["name"] != name  # of a run that was begun anew
        shutil.rmtree(folder / "first")
        assert (
            client.get(f"/api/runs/pictures/{key_of('runs/first/curves.png')}").status_code == 404
        )
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
    files = "model.npz", "milestones/000240.npz"
    run, mark, copies = folder / "first", folder / "unpickled", folder.parent / "networks"
    for file in files:
        (run / file).unlink()
    with open(run / name, "wb") as stream:
        if is_pickle:
            pickle.dump(Hostile(mark), stream)
        else:
            np.savez(stream, network=np.array([Hostile(mark)], object), allow_pickle=True)
    copies.mkdir()
    with client_of(made(folder)) as client:
        client.get("/runs")
        assert {offer(client, key_of(f"runs/first/{file}")).status_code for file in files} <= {
            400,
            404,
        }
        for agent in ("first @ model (01234567)", "first @ 000240 (01234567)"):
            shutil.copy(run / name, copies / f"{key_of(agent)}{Path(name).suffix}")
            assert begin(client, agent).status_code in (400, 404)
    assert not mark.exists()
    with open(run / name, "rb") as stream:  # so this test can fail
        pickle.load(stream) if is_pickle else np.load(stream, allow_pickle=True)["network"]
    assert mark.exists()


def test_no_other_network_can_be_named_and_strangers_make_no_copies(folder: Path) -> None:
    with client_of(made(folder)) as client:
        assert offer(client).status_code == 403
        client.get("/runs")
        for key in ("x", key_of("runs/first/config.json"), key_of("runs/first/curves.png")):
            answer = offer(client, key)
            assert (answer.status_code, {*answer.json()}) == (404, {"error"})
    assert not (folder.parent / "networks").exists()


def test_playing_against_a_milestone(folder: Path) -> None:
    server = RunningServer(made(folder, "127.0.0.1"))
    with ExitStack() as stack:
        stack.callback(server.stop)
        page = stack.enter_context(browser())
        page.open(f"{server.address}/runs")
        page.wait("#runs details[open] img")
        check_accessible(page)
        page.run("document.querySelector('#runs select').value = '000240'")
        page.click("#runs button.primary")
        page.wait("#board svg")
        page.wait_until(lambda: "first @ 000240" in page.text("body"), "the network's name")
        assert page.complaints() == []
