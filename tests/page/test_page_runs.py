"""Training runs on the page: lists, networks as opponents, damaged and malicious files."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clicks import HERE, follow
from folders import NETWORK, PICTURE, make_run
from pages import RunningServer, begin, client_of, quick_catalogue
from starlette.applications import Starlette
from starlette.testclient import TestClient

from experiments.tools.chromium import Browser
from skyenv.page.roots import key_of, roots_of
from skyenv.page.runs import Runs
from skyenv.page.storage import Storage
from skyenv.page.web import application

FIRST = key_of("runs/first/milestones/000240.npz")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run, and symbolic links, which aren't followed."""
    make_run(tmp_path / "runs" / "first")
    (tmp_path / "runs" / "linked.npz").symlink_to(NETWORK)
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "runs" / "first")
    return tmp_path / "runs"


def made(folder: Path, host: str = "localhost") -> Starlette:
    """Return the application as the command builds it."""
    runs = Runs(roots_of([folder]), folder.parent / "networks")
    storage = Storage(folder.parent / "games.sqlite3")
    return application(storage, quick_catalogue(), [host], runs=runs)


def offer(client: TestClient, key: str = FIRST) -> Any:
    return client.post(f"/api/runs/networks/{key}", json={})


def test_networks_of_runs_stay_playable_after_the_run_is_deleted(folder: Path) -> None:
    with client_of(made(folder)) as client:
        client.get("/runs")
        runs = client.get("/api/runs")
        assert [run["name"] for run in runs.json()["runs"]] == ["runs/first"]
        assert str(folder.parent) not in runs.text
        picture = client.get(f"/api/runs/pictures/{key_of('runs/first/curves.png')}")
        assert picture.content == PICTURE
        name = offer(client).json()["name"]
        shutil.copy(NETWORK.parent / "3-players.npz", folder / "first" / "milestones/000240.npz")
        assert offer(client).json()["name"] != name  # of a run that was begun anew
    shutil.rmtree(folder / "first")
    with client_of(made(folder)) as later:
        begin(later, ["me", f"agent:{name}"])


class Hostile:
    """An object that writes a file when unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize("name", ["model.zip", "model.npz"])
@pytest.mark.parametrize("is_pickle", [True, False])
def test_files_of_runs_are_never_unpickled(name: str, is_pickle: bool, folder: Path) -> None:
    """Neither a run's file nor its copy, which a restarted server finds."""
    run, mark, copies = folder / "first", folder / "unpickled", folder.parent / "networks"
    (run / "model.npz").unlink()
    with open(run / name, "wb") as stream:
        if is_pickle:
            pickle.dump(Hostile(mark), stream)
        else:
            np.savez(stream, network=np.array([Hostile(mark)], object), allow_pickle=True)
    copies.mkdir()
    agent, model = "first @ model (01234567)", key_of("runs/first/model.npz")
    shutil.copy(run / name, copies / f"{key_of(agent)}{Path(name).suffix}")
    game = {"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    with client_of(made(folder)) as client:
        client.get("/runs")
        assert offer(client, model).status_code in (400, 404)
        assert client.post("/api/games", json=game).status_code in (400, 404)
    assert not mark.exists()
    with open(run / name, "rb") as stream:  # so this test can fail
        pickle.load(stream) if is_pickle else np.load(stream, allow_pickle=True)["network"]
    assert mark.exists()


def test_unknown_networks_and_clients_are_refused(folder: Path) -> None:
    with client_of(made(folder)) as client:
        assert offer(client).status_code == 403
        client.get("/runs")
        for key in ("x", key_of("runs/first/config.json"), key_of("runs/first/curves.png")):
            assert offer(client, key).status_code == 404
    assert not (folder.parent / "networks").exists()


def test_a_milestone_can_be_played_against(page: Browser, folder: Path) -> None:
    server = RunningServer(made(folder, "127.0.0.1"))
    try:
        page.open(f"{server.address}/runs")
        follow(
            page,
            [
                ("", "#runs details[open] img", HERE),
                ("check", "#runs select", HERE),
                ("set #runs select 000240", "#runs button.primary", HERE),
                ("click #runs button.primary", "#board svg", HERE),
                ("", "body", "first @ 000240"),
            ],
        )
    finally:
        server.stop()
