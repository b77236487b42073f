"""What agents have come to so far: told while they think, and the end is the same as without it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pages import Json, begin, client_of, quick_catalogue
from pondering import MOST, PonderingAgent
from starlette.requests import ClientDisconnect, Request
from starlette.testclient import TestClient

from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.routes.live import answered
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Report

AGENT = PonderingAgent()


@pytest.fixture
def bob() -> Iterator[TestClient]:
    """A browser of an application with an agent that needs permits."""
    entries = [CatalogueEntry("pondering", AGENT), quick_catalogue()["crowd"]]
    with client_of(application(Storage(MEMORY), Catalogue(entries), ["localhost"])) as client:
        yield client


def events(answer: Any) -> list[Json]:
    """What was told, one after the other."""
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = answer.text.strip().split("\n\n")
    return [json.loads(event.removeprefix("data: ")) for event in told]


def test_visits_are_told_while_they_grow(bob: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what goes wrong, before or after."""
    hint = begin(bob, ["me", "agent:crowd"], seed="5") + "/hint"
    AGENT.permits.release(2 * MOST + 3)
    *so_far, end = events(bob.get(f"{hint}?agent=pondering&live=1"))
    assert [one["so_far"]["tries"] for one in so_far] == [[done + 1, MOST] for done in range(MOST)]
    assert {one["so_far"]["step"] for one in so_far} == {0}
    assert bob.get(f"{hint}?agent=pondering").json() == end["answer"]
    assert end["answer"]["tries"] == [MOST, MOST]
    (quick,) = events(bob.get(f"{hint}?agent=crowd&live=1"))
    assert quick == {"answer": bob.get(f"{hint}?agent=crowd").json()}
    assert "error" in events(bob.get(f"{hint}?agent=nobody&live=1"))[0]
    assert bob.get(f"{hint}?agent=nobody").status_code == 404
    monkeypatch.setattr(AGENT, "fails", True)
    *so_far, end = events(bob.get(f"{hint}?agent=pondering&live=1"))
    assert (len(so_far), end) == (2, {"error": "it has lost its thread"})


@pytest.mark.parametrize("query", [b"", b"live=1"])
def test_a_question_ends_when_its_browser_has_gone(query: bytes) -> None:
    told: list[str] = []

    async def question(report: Report) -> Json:
        told.append("begun")
        report({"tries": 1})
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")
        return {}

    async def receive() -> Json:
        while not told:
            await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    async def leave() -> None:
        server = SimpleNamespace(ending=asyncio.Event())
        app = SimpleNamespace(state=SimpleNamespace(server=server))
        scope: Json = {"type": "http", "query_string": query, "headers": [], "app": app}
        scope["asgi"] = {"spec_version": "2.4"}
        with contextlib.suppress(ClientDisconnect):
            await (await answered(Request(scope, receive), question))(scope, receive, send)
        assert told == ["begun", "ended"]

    asyncio.run(leave())
