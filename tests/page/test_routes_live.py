"""What agents have come to so far: told while they think, and the end is the same as without it."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from pages import Json, begin, client_of, played, quick_catalogue, wait_for_turn
from pondering import MOST, PonderingAgent
from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient

from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.routes.live import answered
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Report


@pytest.fixture
def agent() -> PonderingAgent:
    """One that needs permits."""
    return PonderingAgent()


@pytest.fixture
def bob(agent: PonderingAgent) -> Any:
    """A browser of an application that offers it."""
    quick = quick_catalogue()
    entries = [CatalogueEntry("pondering", agent), *(quick[name] for name in quick.names)]
    with client_of(application(Storage(MEMORY), Catalogue(entries), ["localhost"])) as client:
        yield client


def events(answer: Any) -> list[dict[str, Any]]:
    """What was told, one after the other."""
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [
        json.loads(event.removeprefix("data: ")) for event in answer.text.split("\n\n") if event
    ]


def replay_of(client: TestClient) -> str:
    """The address of a step in the interface."""
    client.get("/")
    key = (
        client.post("/api/replays", content=played(2, seed=3).to_record())
        .json()["page"]
        .rpartition("/")[2]
    )
    return f"/api/replays/{key}/1/9"


def test_visits_are_told_while_they_grow(bob: TestClient, agent: PonderingAgent) -> None:
    step = replay_of(bob)
    agent.permits.release(2 * MOST)
    *so_far, end = events(bob.get(f"{step}/hint?agent=pondering&live=1"))
    assert [one["so_far"]["tries"] for one in so_far] == [
        [done, MOST] for done in range(1, MOST + 1)
    ]
    for one in so_far:
        assert sum(each["sure"] or 0 for each in one["so_far"]["best"]) <= 1.001
    assert end["answer"]["tries"] == [MOST, MOST]
    assert bob.get(f"{step}/hint?agent=pondering").json() == end["answer"]


def test_what_is_told_at_once_and_what_goes_wrong(bob: TestClient, agent: PonderingAgent) -> None:
    step = replay_of(bob)
    quick = bob.get(f"{step}/hint?agent=crowd&live=1")
    assert quick.headers["content-type"] == "application/json"
    assert quick.json() == bob.get(f"{step}/hint?agent=crowd").json()
    assert quick.json()["tries"] is None
    assert bob.get(f"{step}/hint?agent=nobody&live=1").status_code == 404
    agent.fails = True
    agent.permits.release(3)
    *so_far, end = events(bob.get(f"{step}/hint?agent=pondering&live=1"))
    assert len(so_far) == 2
    assert end == {"error": "it has lost its thread"}


def test_a_seat_hears_of_a_hint_that_grows(bob: TestClient, agent: PonderingAgent) -> None:
    seat = begin(bob, ["me", "agent:crowd"], seed="5")
    step = wait_for_turn(bob, seat)["step"]
    agent.permits.release(MOST)
    told = events(bob.get(f"{seat}/hint?agent=pondering&live=1"))
    assert {(one.get("so_far") or one["answer"])["step"] for one in told} == {step}


def test_who_leaves_before_the_first_event_ends_it() -> None:
    """The head of the answer finds nobody any more."""

    async def leave() -> None:
        ended = asyncio.Event()

        async def question(report: Report) -> Json:
            report({"tries": 1})
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return {}

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            raise OSError("nobody is there")

        app = SimpleNamespace(state=SimpleNamespace(server=SimpleNamespace(ending=asyncio.Event())))
        scope: Json = {
            "type": "http",
            "query_string": b"live=1",
            "headers": [],
            "app": app,
            "asgi": {"spec_version": "2.4"},
        }
        answer = await answered(Request(scope, receive), question)
        with pytest.raises(ClientDisconnect):
            await answer(scope, receive, send)
        assert ended.is_set()

    asyncio.run(leave())
