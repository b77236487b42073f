"""Recorded games by the page's interface."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import (
    another,
    drawn,
    played,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.page import requests, routes
from skyenv.page.errors import PageError
from skyenv.page.storage import Storage

DAMAGED = Path(__file__).parent.parent / "golden"


# ---- replays ----


def upload(client: TestClient, content: bytes | str) -> Any:
    """Send a record."""
    client.get("/")
    return client.post("/api/replays", content=content)


def test_a_record_is_replayed_step_by_step(ann: TestClient) -> None:
    game = played(3, seed=6)
    key = (
        upload(ann, game.to_record(["ann", "<b>bob</b>", "c\u0000\n" + "long" * 20]))
        .json()["page"]
        .rpartition("/")[2]
    )
    (summary,) = ann.get(f"/api/replays/{key}").json()["games"]
    assert summary["scores"] == game.scores
    replay = ann.get(f"/api/replays/{key}/1").json()
    assert replay["steps"] == int(game.state["decisions"])
    assert replay["names"] == ["ann", "<b>bob</b>", "clonglonglonglonglonglonglong"[:24]]
    assert replay["scores"][-1] == game.scores
    opened = drawn(ann.get(f"/api/replays/{key}/1/40").json())
    assert "<b>" not in opened + json.dumps(replay["charts"])
    closed = drawn(ann.get(f"/api/replays/{key}/1/40?seat=1&theme=dark&narrow=1").json())
    state = Game.from_record(game.to_record(), 1, 40).state
    for text, seen in (
        (opened, state["hand"]),
        (closed, np.where(np.arange(4)[:, None, None] == 1, state["hand"], 0)),
    ):
        cards = {tuple(map(int, card)) for card in re.findall(r'data-card="(\d):(\d):(\d)"', text)}
        assert cards == {tuple(card) for card in np.argwhere(seen[:3]).tolist()}
    for agent in ("greedy", "random"):
        hint = ann.get(f"/api/replays/{key}/1/40/hint?agent={agent}").json()
        assert hint["actions"][0] in Game.from_record(game.to_record(), 1, 40).legal_actions
    end = ann.get(f"/api/replays/{key}/1/{replay['steps']}/hint?agent=greedy")
    assert end.status_code == 409
    for path in (
        f"1/{replay['steps'] + 1}",
        "2",
        "1/3?seat=3",
        "1/3?seat=x",
        "1/3?theme=x",
        "1/3/hint?agent=no",
    ):
        assert ann.get(f"/api/replays/{key}/{path}").status_code in (400, 404)


def test_a_record_that_is_sent_twice_is_kept_once(app: Starlette, ann: TestClient) -> None:
    record = played(2, actions=5).to_record()
    first = upload(ann, record).json()
    assert upload(ann, record).json() == first
    assert upload(ann, played(2, actions=6).to_record()).json() != first
    assert upload(another(app), record).json() != first


def test_kept_replays_are_listed_and_deleted(app: Starlette, ann: TestClient) -> None:
    ann.get("/")
    assert ann.get("/api/replays").json() == {"replays": []}
    text = played(2, actions=5).to_record(["x", "greedy"])
    first = upload(ann, text + played(3, actions=6).to_record()).json()["page"]
    second = upload(ann, played(2, actions=7).to_record()).json()["page"]
    kept = ann.get("/api/replays").json()["replays"]
    assert [(one["page"], one["names"], one["games"]) for one in kept] == [
        (second, ["", ""], 1),
        (first, ["x", "greedy"], 2),
    ]
    assert (
        ann.get(f"/api{first}".replace("/replay/", "/replays/") + "/1/3").status_code == 200
    )  # in memory now
    eve = another(app)
    assert eve.get("/api/replays").json() == {"replays": []}
    address = f"/api/replays/{first.rpartition('/')[2]}"
    assert eve.delete(address).status_code == 404
    assert ann.delete(address).status_code == 200
    assert (
        ann.delete(address).status_code
        == ann.get(address).status_code
        == ann.get(f"{address}/1/3").status_code
        == 404
    )
    assert [one["page"] for one in ann.get("/api/replays").json()["replays"]] == [second]


def test_a_replay_belongs_to_its_browser(app: Starlette, ann: TestClient) -> None:
    key = upload(ann, played(2).to_record()).json()["page"].rpartition("/")[2]
    eve = another(app)
    for path in ("", "/1", "/1/3"):
        assert ann.get(f"/api/replays/{key}{path}").status_code == 200
        assert eve.get(f"/api/replays/{key}{path}").status_code == 404


def test_a_replay_that_is_in_memory_is_not_read_again(
    app: Starlette, ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = upload(ann, played(2, actions=5).to_record()).json()["page"].rpartition("/")[2]
    assert ann.get(f"/api/replays/{key}/1/3").status_code == 200

    def read(*arguments: object) -> bytes:
        raise PageError("read", 418)

    monkeypatch.setattr(Storage, "replay", read)
    assert ann.get(f"/api/replays/{key}/1/4").status_code == 200
    assert (
        another(app).get(f"/api/replays/{key}/1/4").status_code == 418
    )  # not out of another browser's memory


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 10, "-1", "x", "1.0", "²", "%20"])
def test_a_wrong_number_in_an_address_gets_a_message(ann: TestClient, number: str) -> None:
    key = upload(ann, played(2, actions=5).to_record()).json()["page"].rpartition("/")[2]
    for path in (
        number,
        f"{number}/1",
        f"1/{number}",
        f"1/{number}/hint?agent=random",
        f"{number}/1/hint?agent=random",
    ):
        answer = ann.get(f"/api/replays/{key}/{path}")
        assert answer.status_code == 400
        assert "must be a whole number" in answer.json()["error"]
        assert len(answer.text) < 1000


def test_a_record_that_comes_too_slowly_is_refused(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a few slow browsers would keep all others from sending theirs."""
    ann.get("/")
    monkeypatch.setattr(requests, "PATIENCE", 0.05)
    monkeypatch.setattr(Request, "stream", slowly)
    assert ann.post("/api/replays", content=b"x").status_code == 408
    monkeypatch.undo()
    assert upload(ann, played(2, actions=5).to_record()).status_code == 201


def test_a_record_that_waits_to_be_read_counts_as_being_sent(
    app: Starlette, ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else any number of them could lie in memory."""
    replays = app.state.server.replays
    under_way = []

    async def add(content: bytes, browser: str) -> Any:
        under_way.append(list(replays.uploads._under_way.values()))
        return "key", []

    monkeypatch.setattr(replays, "add", add)
    assert upload(ann, played(2, actions=5).to_record()).status_code == 201
    assert [len(browsers) for browsers in under_way] == [1]


async def slowly(request: Request) -> AsyncIterator[bytes]:
    """A body that doesn't come."""
    await asyncio.sleep(10**6)
    yield b""


def test_records_are_bounded(ann: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from skyenv.page import replays

    monkeypatch.setattr(routes.replays, "MOST_RECORD", 1000)
    answer = upload(ann, played(2).to_record())
    assert (answer.status_code, answer.json()) == (
        413,
        {"error": "that is too large; at most 1000 bytes are taken"},
    )
    monkeypatch.setattr(routes.replays, "MOST_RECORD", 1 << 20)
    monkeypatch.setattr(replays, "MOST_ACTIONS", 20)
    assert upload(ann, played(2).to_record()).status_code == 413
    monkeypatch.setattr(replays, "MOST_GAMES", 2)
    monkeypatch.setattr(replays, "MOST_ACTIONS", 20000)
    assert upload(ann, played(2, actions=5).to_record() * 3).status_code == 413


@pytest.mark.parametrize("number", range(24))
def test_a_damaged_record_gets_a_message(ann: TestClient, number: int) -> None:
    from damage import damaged

    answer = upload(ann, damaged()[number])
    assert 400 <= answer.status_code < 500
    assert set(answer.json()) == {"error"}
    assert re.match(r"line \d+: ", answer.json()["error"])
    assert len(answer.text) < 1000
