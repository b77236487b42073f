"""Analyses and simulations by the API, and background jobs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pages import (
    in_library,
    judged_catalogue,
    opened,
    played,
    quick_catalogue,
    replay_of,
)
from starlette.testclient import TestClient

from processes import Threads, wait_until
from skyenv.analysis import choices, playouts
from skyenv.analysis.mistakes import analyse, assess, decisions_of, rows_of
from skyenv.page.background import MAX_RUNNING, Background
from skyenv.page.errors import PageError
from skyenv.analysis.hints import advise
from skyenv.page.payloads import Payload
from skyenv.page.workers import Report, Workers

JUDGE = judged_catalogue()["trained"]


def test_an_analysis_judges_every_choice_of_a_game() -> None:
    """Its choices are those of replays and hints: bids, two cards, moves."""
    replay = replay_of(played(2, seed=3, turns=8))
    told: list[Payload] = []
    greedy = quick_catalogue()["greedy"]
    analyse(replay.record, greedy, JUDGE, told.append)
    decisions = {one.step: one for one in decisions_of(replay)}
    assert [told[0]["done"], told[-1]["done"], told[-1]["of"]] == [0, *[len(decisions)] * 2]
    assert decisions.keys() < set(replay.payload()["choices"])
    assert {len(one.played) for one in decisions.values()} > {1, 2, 3}
    costs = [one["cost"] for one in told[-1]["mistakes"]]
    assert costs == sorted(costs, reverse=True) != []
    for one in told[-1]["mistakes"]:
        position, path = decisions[one["step"]].position, decisions[one["step"]].played
        hint = advise(greedy, None, replay.at(one["step"]), lambda so_far: None)
        assert one["played"] == choices.text(position, path) != one["best"] == hint["text"]
        assert choices.same(position, path) != choices.same(position, tuple(one["actions"]))
        assert one["games"] or one["error"] < one["cost"]


def test_win_chances_sum_to_one_and_equal_those_of_hints() -> None:
    """At every step of the chart, once each seat's chance is known."""
    replay = replay_of(played(3, seed=4, turns=4))
    decisions = decisions_of(replay)
    bunches = assess(quick_catalogue()["random"], JUDGE, decisions)
    rows = rows_of(replay, {one.decision.step: one for bunch in bunches for one in bunch})
    assert all(sum(share or 0 for share in row) == pytest.approx(1, abs=1e-3) for row in rows[1:])
    for one in decisions[:2]:
        told = advise(JUDGE, JUDGE, replay.at(one.step), lambda so_far: None)
        assert rows[one.step] == told["win"]


def test_simulations_report_win_shares_and_margins() -> None:
    game, told = played(2, seed=3, actions=200), list[Payload]()
    playouts.play_out([quick_catalogue()["crowd"]] * 2, game.batch.state[0], 30, 0, told.append)
    assert [one["done"] for one in told] == [25, 30]
    first, second = told[-1]["seats"]
    assert playouts.wilson(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert first["share"] + second["share"] == pytest.approx(1, abs=1e-3)
    assert first["margin"] == -second["margin"]


@pytest.mark.parametrize(
    ("address", "body", "status"),
    [
        ("9/playouts?agent=crowd", {}, 400),
        ("9/playouts?agent=crowd&agent=nobody", {}, 404),
        ("9/playouts?agent=crowd&agent=crowd&number=1001", {}, 400),
        ("9/playouts?agent=crowd&agent=crowd&seat=2", {}, 400),
        ("16/playouts?agent=crowd&agent=crowd", {}, 404),
        ("analysis?agent=crowd", {}, 409),
        ("9/variations", {"seats": ["me", "me"], "resample": True}, 400),
        ("9/variations", {"seats": ["me", "agent:no"]}, 404),
        ("16/variations", {"seats": ["me", "me"]}, 404),
    ],
)
def test_invalid_simulations_analyses_and_variations_are_refused(
    ann: TestClient, address: str, body: Payload, status: int
) -> None:
    api = f"{opened(ann, played(2, actions=15))}/1"
    assert ann.post(f"{api}/{address}", json=body).status_code == status


# ---- works in the background ----


@pytest.mark.parametrize(
    "work", ["0/playouts?agent=random&agent=random&number=1000", "analysis?agent=random", "made"]
)
def test_jobs_are_private_to_a_browser_and_can_be_stopped(tmp_path: Path, work: str) -> None:
    """Clients share the library's games but not the jobs on them."""
    with in_library(tmp_path, played(2, seed=3)) as (ann, bob, game):
        address = f"{game}/{work}"
        assert [bob.get(game).status_code, ann.get(address).status_code] == [200, 404]
        assert ann.post(address).json()["state"] == "running"
        wait_until(lambda: ann.get(address).json()["done"] > 0)
        assert [ask(address).status_code for ask in (bob.get, bob.delete)] == [404, 404]
        assert ann.get(address).json()["state"] == "running"
        stopped = ann.delete(address).json()
        assert (stopped["state"], 0 < stopped["done"] < stopped["of"]) == ("stopped", True)


def fail(report: Report) -> None:
    """A job that fails after reporting progress."""
    report({"found": 1})
    raise PageError("it has failed")


async def use_works() -> None:
    """Start jobs up to the limit; stop one and let one fail."""
    works = Background(Workers(Threads()))
    for number in [*range(MAX_RUNNING)] * 2:  # a repeated request starts no second job
        works.start(("eve", number), fail)
    with pytest.raises(PageError, match="jobs are running"):
        works.start(("eve", "more"), fail)
    assert (await works.stop(("eve", 0))).state == "stopped"  # before it has begun
    while works.get(("eve", 1)).state == "running":
        await asyncio.sleep(0)
    told = {"state": "failed", "trouble": "it has failed", "found": 1}
    assert works.get(("eve", 1)).payload() == told
    await works.close()


def test_jobs_are_limited_and_report_failures() -> None:
    asyncio.run(use_works())
