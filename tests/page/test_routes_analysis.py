"""Analyses and playing out: by the page's interface, and the works in the background behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pages import Judge, another, client_of, played, quick_catalogue
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import Game
from skyenv.page import background, choices, playouts
from skyenv.page.analysis import Analysis, assess, decisions_of
from skyenv.page.background import MOST_RUNNING, Background, Work
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.errors import PageError
from skyenv.page.hints import advise
from skyenv.page.payloads import Payload
from skyenv.page.replays import Replay
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Workers


def opened(client: TestClient, game: Game) -> str:
    """The address of a game's replay in the interface."""
    client.get("/")
    page: str = client.post("/api/replays", content=game.to_record()).json()["page"]
    return page.replace("/replay/", "/api/replays/") + "/1"


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
    """It speaks of the same choices as the replay and as hints: bids, two cards, moves."""
    game = played(2, seed=3, turns=12)
    replay, api = Replay.of(game.to_record().encode(), 1), opened(ann, game)
    assert ann.get(f"{api}/analysis?agent=greedy").status_code == 404
    answer = done(ann, f"{api}/analysis?agent=greedy")
    decisions = {one.step: one for one in decisions_of(replay)}
    assert (answer["state"], answer["by"], answer["done"]) == ("done", "trained", len(decisions))
    assert decisions.keys() < set(ann.get(api).json()["choices"])
    assert {len(one.played) for one in decisions.values()} > {1, 2, 3}
    assert ann.get(f"{api}/analyses").json() == {"analyses": [{"agent": "greedy"}]}
    costs = [one["cost"] for one in answer["mistakes"]]
    assert (costs, min(costs) > 0) == (sorted(costs, reverse=True), True)
    for one in answer["mistakes"]:
        position, path = decisions[one["step"]].position, decisions[one["step"]].played
        hint = ann.get(f"{api}/{one['step']}/hint?agent=greedy").json()
        assert one["played"] == choices.text(position, path) != one["best"] == hint["text"]
        assert choices.same(position, path) != choices.same(position, tuple(one["actions"]))
        assert one["games"] or one["error"] < one["cost"]


def test_chances_of_all_seats_sum_to_one_and_are_those_of_hints() -> None:
    """At every step of the chart, once each seat's chance is known."""
    replay = Replay.of(played(3, seed=4, turns=4).to_record().encode(), 1)
    judge = CatalogueEntry("trained", Judge())
    analysis = Analysis(replay, quick_catalogue()["random"], judge)
    decisions = decisions_of(replay)
    assess(analysis.entry, judge, decisions, analysis.add)
    rows = analysis.rows()
    assert all(sum(share or 0 for share in row) == pytest.approx(1, abs=1e-3) for row in rows[1:])
    for one in decisions[:2]:
        told = advise(judge, judge, replay.at(one.step), lambda so_far: None)
        assert rows[one.step] == told["win"]


@pytest.mark.parametrize(("share", "number"), [(0.0, 10), (0.5, 40), (1.0, 100)])
def test_intervals_are_wilsons(share: float, number: int) -> None:
    low, high = playouts.wilson(share, number)
    for end in {low, high} - {0.0, 1.0}:
        error = np.sqrt(end * (1 - end) / number)
        assert abs(share - end) == pytest.approx(1.96 * error, abs=1e-6)
    assert low - 1e-9 <= share <= high + 1e-9


def test_a_position_is_played_out_with_paired_chance(ann: TestClient) -> None:
    game = played(2, seed=3)
    end = int(game.state["decisions"])
    api, two = opened(ann, game), "agent=crowd&agent=crowd"
    address = f"{api}/{end - 40}/playouts?{two}&number=30"
    one = done(ann, address)
    assert (one["done"], one["hidden"]) == (30, None)
    assert sum(seat["share"] for seat in one["seats"]) == pytest.approx(1, abs=1e-3)
    assert all(sum(count for _, count in seat["bins"]) == 30 for seat in one["seats"])
    assert one["seats"][0]["margin"] == -one["seats"][1]["margin"]
    assert done(ann, f"{address}&seat=0")["hidden"] == 0
    for step, query, status in (
        (end - 40, "agent=crowd", 400),
        (end - 40, "agent=crowd&agent=nobody", 404),
        (end - 40, f"{two}&number=1001", 400),
        (end - 40, f"{two}&seat=2", 404),
        (end, two, 409),
        (end + 1, two, 404),
    ):
        assert ann.post(f"{api}/{step}/playouts?{query}").status_code == status, query


def test_chances_of_a_step(ann: TestClient) -> None:
    address = f"{opened(ann, played(2, seed=3))}/30/chances"
    told = ann.get(f"{address}?seat=1").json()
    assert (len(told["cards"]), told["seat"]) == (6, 1)
    assert sum(chance for _, chance in told["alea"]) == pytest.approx(1, abs=1e-3)
    assert ann.get(f"{address}?seat=2").status_code == 404


# ---- works in the background ----


def test_a_work_is_its_browsers_alone_and_can_be_stopped(ann: TestClient) -> None:
    address = f"{opened(ann, played(2, seed=3))}/0/playouts?agent=random&agent=random&number=1000"
    assert ann.post(address).json()["state"] == "running"
    app: Any = ann.app
    assert another(app).get(address).status_code == 404
    assert ann.delete(address).json()["state"] == "stopped"
    assert ann.get(address).json()["done"] < 1000


class Waiting(Work):
    """Waits until it may end; then it fails if it is to."""

    def __init__(self, may: asyncio.Event, fails: bool = False) -> None:
        super().__init__()
        self.may, self.fails = may, fails

    async def run(self, workers: Workers) -> None:
        await self.may.wait()
        if self.fails:
            raise PageError("it has failed")

    def found(self) -> Payload:
        return {"found": 1}


async def ended(work: Work) -> Payload:
    """What a work has come to."""
    while work.state == "running":
        await asyncio.sleep(0)
    return work.payload()


async def use_works() -> None:
    """Begin works until they are too many, let them end, fail and be thrown out."""
    works, may = Background(Workers()), asyncio.Event()
    for number in [*range(MOST_RUNNING)] * 2:  # asked for again it is the same
        works.start(("eve", number), Waiting(may))
    with pytest.raises(PageError, match="are under way"):
        works.start(("eve", "more"), Waiting(may))
    failing = works.start(("ann", 0), Waiting(may, fails=True))
    assert (await works.stop(("eve", 0))).state == "stopped"  # before it has begun
    may.set()
    told = {"state": "failed", "trouble": "it has failed", "found": 1}
    assert await ended(failing) == told
    again = works.start(("ann", 0), Waiting(asyncio.Event()))
    for number in range(20):
        assert (await ended(works.start(("eve", number), Waiting(may))))["state"] == "done"
    assert works.get(("ann", 0)) is again  # which is under way
    with pytest.raises(PageError, match="expired"):
        works.get(("eve", 3))
    await works.close()
    assert (again.state, len(asyncio.all_tasks())) == ("stopped", 1)


def test_works_are_a_few_of_a_browser_and_those_that_are_done_are_kept_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "MOST_KEPT", 4)
    asyncio.run(use_works())
