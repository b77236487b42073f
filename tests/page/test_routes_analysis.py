"""Analyses and playing out by the page's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pages import another, played
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import Game
from skyenv.page import background, playouts
from skyenv.page.analysis import Analysis
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.kept_analyses import Opinion
from skyenv.rules.state import GAME_DTYPE


def opened(client: TestClient, game: Game) -> str:
    """The address of a game's replay in the interface."""
    client.get("/")
    key = client.post("/api/replays", content=game.to_record()).json()["page"].rpartition("/")[2]
    return f"/api/replays/{key}/1"


def done(client: TestClient, address: str) -> Any:
    """Begin a work and wait until it has ended."""
    answer = client.post(address)
    assert answer.status_code == 202, answer.text
    wait_until(lambda: client.get(address).json()["state"] != "running")
    return client.get(address).json()


@pytest.mark.parametrize(("agent", "kind"), [("crowd", "probability"), ("greedy", "vp")])
def test_an_analysis_judges_every_choice_of_a_game(ann: TestClient, agent: str, kind: str) -> None:
    game = played(2, seed=3, turns=12)
    api = opened(ann, game)
    assert ann.get(f"{api}/analysis?agent={agent}").status_code == 404
    answer = done(ann, f"{api}/analysis?agent={agent}")
    assert (answer["state"], answer["kind"], answer["done"]) == ("done", kind, answer["of"])
    again, choices = Game.from_record(game.to_record(), step=0), 0
    for event in [event for event in game.events if event["event"] == "action"]:
        choices += len(again.legal_actions) > 1
        again.play(event["action"])
    assert answer["of"] == choices
    assert answer["mistakes"]
    assert [one["loss"] for one in answer["mistakes"]] == sorted(
        (one["loss"] for one in answer["mistakes"]), reverse=True
    )
    for one in answer["mistakes"]:
        told = ann.get(f"{api}/{one['step']}/hint?agent={agent}").json()["sure"]
        assert one["sure"][0] == pytest.approx(max(told.values()), abs=2e-4)
        assert one["loss"] == pytest.approx(one["sure"][0] - one["sure"][1], abs=2e-4)
        assert one["played"] != one["best"]


def test_a_work_is_its_browsers_alone_and_can_be_stopped(
    app: Starlette, ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MOST_RUNNING", 1)
    api = opened(ann, played(2, seed=3))
    long = f"{api}/0/playouts?agent=random&agent=random&number=1000"
    assert ann.post(long).json()["state"] == "running"
    assert another(app).get(long).status_code == 404
    assert ann.post(f"{api}/analysis?agent=greedy").status_code == 429
    assert ann.delete(long).json()["state"] == "stopped"
    assert ann.get(long).json()["done"] < 1000
    assert done(ann, f"{api}/analysis?agent=random")["state"] == "done"


def test_a_position_is_played_out_with_paired_chance(ann: TestClient) -> None:
    game = played(2, seed=3)
    api = opened(ann, game)
    late = int(game.state["decisions"]) - 40
    one = done(ann, f"{api}/{late}/playouts?agent=crowd&agent=crowd&number=30")
    assert one["done"] == 30
    assert sum(seat["share"] for seat in one["seats"]) == pytest.approx(1, abs=1e-3)
    assert all(sum(count for _, count in seat["bins"]) == 30 for seat in one["seats"])
    assert one["seats"][0]["margin"] == -one["seats"][1]["margin"]
    redrawn = done(ann, f"{api}/{late}/playouts?agent=crowd&agent=crowd&number=30&seat=0")
    assert (redrawn["hidden"], redrawn["done"]) == (0, 30)
    for wrong, status in (
        (f"{late}/playouts?agent=crowd", 400),
        (f"{late}/playouts?agent=crowd&agent=nobody", 404),
        (f"{late}/playouts?agent=crowd&agent=crowd&number=1001", 400),
        (f"{late}/playouts?agent=crowd&agent=crowd&seat=2", 404),
        (f"{late + 40}/playouts?agent=crowd&agent=crowd", 409),
        (f"{late + 41}/playouts?agent=crowd&agent=crowd", 404),
    ):
        assert ann.post(f"{api}/{wrong}").status_code == status, wrong


def test_chances_of_a_step(ann: TestClient) -> None:
    api = opened(ann, played(2, seed=3))
    told = ann.get(f"{api}/30/chances").json()
    assert len(told["cards"]) == 6
    assert sum(chance for _, chance in told["alea"]) == pytest.approx(1, abs=1e-3)
    assert ann.get(f"{api}/30/chances?seat=1").json()["seat"] == 1
    assert ann.get(f"{api}/30/chances?seat=2").status_code == 404


def test_starts_differ_by_their_seeds_alone() -> None:
    position = np.array([played(2, actions=50).state], GAME_DTYPE)[0]
    first, second, again = playouts.starts(position, [1, 2, 1], None)
    assert first.tobytes() == again.tobytes() != second.tobytes()
    assert first["hand"].tolist() == position["hand"].tolist()
    drawn = playouts.starts(position, range(20), 0)
    assert (drawn["hand"][:, 0] == position["hand"][0]).all()
    assert (drawn["hand"][:, 1] != position["hand"][1]).any()


def test_what_is_found_may_be_told_while_more_comes() -> None:
    """Another thread tells it."""
    game, entry = played(2, actions=20), CatalogueEntry("greedy", "greedy")
    replay: Any = None  # what comes doesn't depend on it
    analysis = Analysis(replay, entry)
    analysis.add(("probability", [Opinion(step, 0, (1.0, 0.0), None) for step in range(3)]))
    for opinion in analysis.opinions.values():
        analysis.add(("probability", [Opinion(10 + opinion.step, 0, (1.0, 0.0), None)]))
    assert sorted(analysis.opinions) == [0, 1, 2, 10, 11, 12]
    work = playouts.PlayOut(game.state, [entry] * 2, 4, None)
    before = work.so_far
    work._add((np.full((2, 2), 0.5), np.full((2, 2), 60.0)))
    assert [len(part) for part in before] == [0, 0]
    found = work.found()
    assert (found["done"], found["seats"][0]["share"], found["seats"][0]["vp"]) == (2, 0.5, 60.0)
