"""Analyses and playing out by the page's interface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pages import Judge, another, client_of, played, quick_catalogue
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import Game
from skyenv.page import background, choices, playouts
from skyenv.page.analysis import Analysis, Decision, Opinion, assess, decisions_of
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.hints import advise
from skyenv.page.replays import Replay
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
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


@pytest.fixture
def ann() -> Iterator[TestClient]:
    """A browser of an application that has an estimator."""
    quick = quick_catalogue()
    entries = [*(quick[name] for name in quick.names), CatalogueEntry("trained", Judge())]
    app = application(Storage(MEMORY), Catalogue(entries), ["localhost"])
    with client_of(app) as client:
        yield client


def test_an_analysis_judges_every_whole_choice_of_a_game(ann: TestClient) -> None:
    game = played(2, seed=3, turns=12)
    api = opened(ann, game)
    assert ann.get(f"{api}/analysis?agent=greedy").status_code == 404
    assert ann.get(f"{api}/analyses").json() == {"analyses": []}
    answer = done(ann, f"{api}/analysis?agent=greedy")
    assert (answer["state"], answer["by"], answer["done"]) == ("done", "trained", answer["of"])
    assert ann.get(f"{api}/analyses").json() == {"analyses": [{"agent": "greedy"}]}
    replay = Replay.of(game.to_record().encode(), 1)
    decisions = {one.step: one for one in decisions_of(replay)}
    assert answer["of"] == len(decisions) < sum(len(path) > 0 for _, path in replay.choices())
    costs = [one["cost"] for one in answer["mistakes"]]
    assert costs == sorted(costs, reverse=True)
    assert min(costs) > 0
    for one in answer["mistakes"]:
        position, played_there = decisions[one["step"]].position, decisions[one["step"]].played
        assert one["played"] == choices.text(position, played_there) != one["best"]
        assert one["games"] or one["error"] < one["cost"]
        hint = ann.get(f"{api}/{one['step']}/hint?agent=greedy").json()
        assert one["best"] == hint["text"]


def test_chances_of_all_seats_sum_to_one_and_are_those_of_hints(ann: TestClient) -> None:
    """At every step of the chart, once each seat's chance is known."""
    game = played(3, seed=4, turns=4)
    replay = Replay.of(game.to_record().encode(), 1)
    judge = CatalogueEntry("trained", Judge())
    analysis = Analysis(replay, quick_catalogue()["random"], judge)
    decisions = decisions_of(replay)
    assess(analysis.entry, judge, decisions, analysis.add)
    rows = analysis.rows()
    assert all(sum(share or 0 for share in row) == pytest.approx(1, abs=1e-3) for row in rows[1:])
    step = decisions[1].step
    hint = advise(judge, judge, replay.at(step), lambda so_far: None)
    assert rows[step] == hint["win"]


@pytest.mark.parametrize(("share", "number"), [(0.0, 10), (0.5, 40), (1.0, 100)])
def test_intervals_are_wilsons(share: float, number: int) -> None:
    low, high = playouts.wilson(share, number)
    for end in {low, high} - {0.0, 1.0}:
        error = np.sqrt(end * (1 - end) / number)
        assert abs(share - end) == pytest.approx(1.96 * error, abs=1e-6)
    assert low - 1e-9 <= share <= high + 1e-9


def test_a_work_is_its_browsers_alone_and_can_be_stopped(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MOST_RUNNING", 1)
    api = opened(ann, played(2, seed=3))
    long = f"{api}/0/playouts?agent=random&agent=random&number=1000"
    assert ann.post(long).json()["state"] == "running"
    app: Any = ann.app
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
    analysis = Analysis(replay, entry, entry)

    def opinion(step: int) -> list[Opinion]:
        return [Opinion(Decision(step, None, ()), (0,), [0.5, 0.5])]

    analysis.add(opinion(0))
    for one in analysis.opinions.values():
        analysis.add(opinion(10 + one.decision.step))
    assert sorted(analysis.opinions) == [0, 10]
    work = playouts.PlayOut(game.state, [entry] * 2, 4, None)
    before = work.so_far
    work._add((np.full((2, 2), 0.5), np.full((2, 2), 60.0)))
    assert [len(part) for part in before] == [0, 0]
    found = work.found()
    assert (found["done"], found["seats"][0]["share"], found["seats"][0]["vp"]) == (2, 0.5, 60.0)
