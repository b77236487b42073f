"""Analyses and simulations by the API, and background jobs."""

import asyncio
from functools import partial
from pathlib import Path

import httpx2
import pytest
from pages import (
    act,
    another,
    begin,
    client_of,
    in_library,
    judged_catalogue,
    opened,
    payload,
    played,
    quick_catalogue,
    replay_of,
    seated,
    server_of,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import Threads, wait_until
from skyenv.analysis.hints import GAMES
from skyenv.analysis.mistakes import retold
from skyenv.analysis.playouts import PlayOuts
from skyenv.analysis.win_chance import question_of
from skyenv.page.agents import jobs
from skyenv.page.agents.jobs import MOST_REFINED, Question, advise, analyse
from skyenv.page.errors import PageError
from skyenv.page.storage import Storage
from skyenv.page.view.payloads import Payload
from skyenv.page.web import application
from skyenv.page.workers import MAX_RUNNING, Background, Report, Workers

JUDGE, RANDOM = (judged_catalogue()[name] for name in ("trained", "random"))


def test_analyses_report_chart_mistakes_and_progress() -> None:
    """A mistake's better choice is the agent's hint there."""
    replay, told = replay_of(played(2, seed=3, turns=8)), list[Payload]()
    greedy = quick_catalogue()["greedy"]
    known = analyse(replay.record, greedy, JUDGE, PlayOuts(), told.append)
    assert [told[0]["done"], told[0]["chart"], told[-1]["done"]] == [0, None, told[-1]["of"]]
    assert told[-1]["doing"].startswith("playing out the ")
    assert {"wide", "narrow"} == told[-1]["chart"].keys()
    for one in told[-1]["mistakes"]:
        game = replay.at(one["step"])
        path = dict(replay.choices())[one["step"]]
        question = Question(game, replay.names, listed=(path, tuple(one["actions"])))
        hint, *_ = advise(RANDOM, JUDGE, known, question, None, lambda so_far: None)
        wins = {each["text"]: each for each in hint["best"]}
        best, made = wins[one["best"]], wins[one["played"]]
        assert [each["text"] for each in hint["best"] if each["played"]] == [one["played"]]
        assert best["games"] == made["games"] == hint["games"] == one["games"] > 0
        assert best["win"] - made["win"] == pytest.approx(one["cost"], abs=2e-4)
        assert sum(int(share.split("\u00a0")[0]) for share in hint["win"]) == 100
        assert hint["games"] in [way["games"] for way in hint["best"] if way["win"] >= best["win"]]
        for way in question.listed:
            known.extend(question_of(JUDGE.agent, (game.batch.state[0], one["seat"], way)), 25)
        again = retold(replay, told[-1]["mistakes"], JUDGE.agent, known)
        games = [each.games for each in again if each.decision.step == one["step"]]
        assert games == [one["games"] + 25]


def test_hints_are_refined_until_they_are_clear() -> None:
    """The choices that may be best are played out further, and no others."""
    replay, known = replay_of(played(2, seed=3, turns=8)), PlayOuts()
    question = Question(replay.at(9), replay.names)
    advice = None
    while True:
        hint, _, advice, _ = advise(RANDOM, JUDGE, known, question, advice, lambda so_far: None)
        unclear = {each["games"] for each in hint["best"] if each["unclear"]}
        assert not unclear or unclear >= {question.games}
        if not hint["more"]:
            break
        assert unclear
        question = question._replace(games=hint["more"])
    assert question.games >= GAMES
    for each in hint["best"]:  # never certain
        low, high = each["interval"]
        assert 0 <= low <= each["win"] <= high <= 1
        assert low < high
    assert max(each["games"] for each in hint["best"]) == question.games
    assert not unclear or question.games == MOST_REFINED


def test_hints_are_for_the_seat_to_act_and_for_spectators_of_agents(
    app: Starlette, ann: TestClient
) -> None:
    """All hands are open in games between agents; elsewhere a hint would reveal a hand."""
    watched = begin(ann, ["agent:random", "agent:crowd"])
    assert ann.get(f"{watched}/hint?agent=greedy&step=0").json()["step"] == 0
    seat, bob = seated(ann, None)[0], another(app)
    hint, state = ann.get(f"{seat}/hint?agent=greedy").json(), payload(ann, seat)
    spectator = state["people"]["watch"].replace("/seat/", "/api/seats/")
    assert bob.get(f"{spectator}/hint?agent=greedy").status_code == 409
    assert act(ann, seat, state, *hint["actions"]).status_code == 200
    assert ann.get(f"{seat}/hint?agent=greedy").status_code == 409


def test_hints_are_timed_for_the_choice_of_an_adviser(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not with games played out."""
    monkeypatch.setattr(jobs, "perf_counter", iter(range(1, 99, 3)).__next__)
    api, times = f"{opened(ann, played(2, actions=15))}/1", server_of(ann).catalogue.seconds
    for games in (0, 2):
        ann.get(f"{api}/9/hint?agent=greedy&games={games}").raise_for_status()
    assert [*times["greedy"]] == [3]


@pytest.mark.parametrize(
    ("address", "body", "status"),
    [
        ("9/playouts?agent=crowd", {}, 400),
        ("9/playouts?agent=crowd&agent=nobody", {}, 404),
        ("9/playouts?agent=crowd&agent=crowd&number=1001", {}, 400),
        ("9/playouts?agent=crowd&agent=crowd&seat=2", {}, 400),
        ("16/playouts?agent=crowd&agent=crowd", {}, 400),
        ("analysis?agent=crowd", {}, 409),
        ("9/variations", {"seats": ["me", "me"], "resample": True}, 400),
        ("9/variations", {"seats": ["me", "agent:no"]}, 404),
        ("16/variations", {"seats": ["me", "me"]}, 400),
    ],
)
def test_invalid_simulations_analyses_and_variations_are_refused(
    ann: TestClient, address: str, body: Payload, status: int
) -> None:
    api = f"{opened(ann, played(2, actions=15))}/1"
    assert ann.post(f"{api}/{address}", json=body).status_code == status


def test_an_analysis_outlives_the_server(tmp_path: Path) -> None:
    """For its own browser."""
    cookies, kept = httpx2.Cookies(), list[Payload]()
    for _ in range(2):
        app = application(Storage(tmp_path / "games"), judged_catalogue(), ["localhost"])
        with client_of(app) as ann:
            ann.cookies = cookies
            game = f"{opened(ann, played(2, seed=3, turns=8))}/1"
            kept.append(ann.get(game).json()["analysis"])
            wait_until(partial(is_done, ann, f"{game}/analysis?agent=greedy"))
            kept.append(ann.get(game).json()["analysis"])
            cookies = ann.cookies
    assert kept == [None, *[dict(kept[1])] * 3]


def is_done(client: TestClient, job: str) -> bool:
    """Start a job, unless it runs; return whether it is done."""
    return bool(client.post(job).json()["state"] == "done")


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
