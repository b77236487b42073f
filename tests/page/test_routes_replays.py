"""Replays by the API: every step, and exported files."""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import another, drawn, in_library, opened, played
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import Game
from skyenv.page import routes
from skyenv.page.library import replays
from skyenv.render.svg import svg


def upload(client: TestClient, content: bytes | str) -> Any:
    """Send a record."""
    client.get("/")
    return client.post("/api/replays", content=content)


def test_a_record_is_replayed_step_by_step(ann: TestClient) -> None:
    game = played(3, seed=6)
    api = opened(ann, game, ["ann", "<b>bob</b>", "c\u0000\n" + "long" * 20])
    (summary,) = ann.get(api).json()["games"]
    replay = ann.get(f"{api}/1").json()
    assert summary["scores"] == game.scores
    assert replay["names"] == ["ann", "<b>bob</b>", "clonglonglonglonglonglonglong"[:24]]
    hands = np.argwhere(Game.from_record(game.to_record(), 1, 40).state["hand"]).tolist()
    for query, seats in (("", [0, 1, 2]), ("?seat=1&theme=dark&narrow=1", [1])):
        text = drawn(ann.get(f"{api}/1/40{query}").json())
        cards = {tuple(map(int, card)) for card in re.findall(r'data-card="(\d):(\d):(\d)"', text)}
        assert cards == {tuple(card) for card in hands if card[0] in seats}
        assert "<b>" not in text + json.dumps(replay["charts"])
    assert ann.get(f"{api}/1/{replay['steps']}/hint?agent=greedy").status_code == 409
    wrong = ["2", f"1/{replay['steps'] + 1}", "1/3?seat=3", "1/3?theme=x", "1/3/hint?agent=no"]
    for path in [*wrong, "1/40/picture.bmp", "1/40/picture.png?seat=3"]:
        assert ann.get(f"{api}/{path}").status_code in (400, 404), path


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 10, "-1", "x", "1.0", "²", "%20"])
def test_invalid_numbers_in_addresses_are_refused(ann: TestClient, number: str) -> None:
    api = opened(ann, played(2, actions=5))
    for path in (number, f"{number}/1", f"1/{number}/hint?agent=random", f"1/3?seat={number}"):
        answer = ann.get(f"{api}/{path}")
        assert (answer.status_code, len(answer.text) < 1000) == (400, True)
        assert "must be a whole number" in answer.json()["error"]


def test_replays_are_private_to_a_browser_until_deleted(app: Starlette, ann: TestClient) -> None:
    game, names = played(2, actions=5), ["x", "greedy"]
    second, first = opened(ann, played(2, actions=7), names), opened(ann, game, names)
    assert opened(ann, game, names) == first, "it is kept once"
    replays = ann.get("/api/replays").json()["replays"]
    assert [one["page"].replace("/replay/", "/api/replays/") for one in replays] == [first, second]
    assert replays[0]["names"] == ["x", "Banker"]  # as the page calls it; the record stays
    assert ann.get(f"{first}/record").text == game.to_record(names)
    bob = another(app)
    assert bob.get("/api/replays").json() == {"replays": []}
    for path in ("", "/1", "/1/3", "/record"):
        assert (bob.get(first + path).status_code, ann.get(first + path).status_code) == (404, 200)
    assert (bob.delete(first).status_code, ann.delete(first).status_code) == (404, 200)
    assert ann.get(f"{first}/1").status_code == 404


@pytest.mark.parametrize(
    ("module", "limit", "most"),
    [
        (routes.replays, "MAX_RECORD", 1000),
        (replays, "MAX_ACTIONS", 14),
        (replays, "MAX_GAMES", 2),
    ],
)
def test_uploads_are_limited_in_size_games_and_actions(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch, module: Any, limit: str, most: int
) -> None:
    record = played(2, actions=5).to_record() * 3
    assert upload(ann, record).status_code == 201
    monkeypatch.setattr(module, limit, most)
    answer = upload(ann, record)
    assert (answer.status_code, str(most) in answer.json()["error"]) == (413, True)


LINES = played(2, seed=9, side="back").to_record(["a", "b"]).encode().splitlines(keepends=True)
WHOLE = b"".join(LINES)
DAMAGED = [
    b"",
    b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    WHOLE[: len(WHOLE) // 2],
    b"".join(LINES[1:]),
    b"".join([*LINES[:20], *LINES[21:]]),
    WHOLE + LINES[-1],
    WHOLE.replace(b'"players": 2', b'"players": 1000000', 1),
    WHOLE.replace(b'"name": "', b'"name": "<script>', 1),
    b"[" * 50_000 + b"\n" + WHOLE,
    LINES[0].replace(b'"a"', b'"\\ud800"') + b"".join(LINES[1:]),
]


@pytest.mark.parametrize("record", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_records_are_refused_with_their_line(ann: TestClient, record: bytes) -> None:
    answer = upload(ann, record)
    assert 400 <= answer.status_code < 500
    assert re.match(r"line \d+: ", answer.json()["error"])
    assert len(answer.text) < 1000


# ---- files ----


def test_steps_are_drawn_as_svg_and_png(ann: TestClient) -> None:
    api = f"{opened(ann, played(2, seed=3, actions=9))}/1/5"
    drawing = svg(played(2, seed=3, actions=5).state, 1, theme="dark", agents=["", ""])
    assert ann.get(f"{api}/picture.svg?theme=dark&seat=1").text == drawing
    assert Image.open(io.BytesIO(ann.get(f"{api}/picture.png").content)).format == "PNG"


def test_exported_pages_are_cached_and_private_to_a_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_library(tmp_path, played(2, seed=3, actions=9)) as (ann, bob, api):
        assert ann.post(f"{api}/made").status_code == 202
        wait_until(lambda: ann.get(f"{api}/made").json()["state"] == "done")
        assert ann.post(f"{api}/made?theme=dark&seat=1").json()["state"] == "done"
        assert b"<html" in ann.get(f"{api}/made/file").content
        assert bob.get(f"{api}/made/file").status_code == 404
        monkeypatch.setattr(routes.replays, "MAX_STEPS", 8)
        assert "at most 8 actions, not 9" in ann.post(f"{api}/made").json()["error"]
