"""Files made of a recorded game: pictures, one page."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree

import pytest
from pages import another, played
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import wait_until
from skyenv.page import making
from skyenv.page.workers import Report
from skyenv.render.svg import svg


def opened(client: TestClient) -> str:
    """A short game's replay in the interface, opened once more."""
    content = played(2, seed=3, actions=9).to_record()
    return "/api" + str(client.post("/api/replays", content=content).json()["page"]).replace(
        "/replay/", "/replays/"
    )


@pytest.fixture
def api(ann: TestClient) -> str:
    """A short game's replay in the interface."""
    ann.get("/")
    return opened(ann)


def test_a_step_as_a_picture(ann: TestClient, api: str) -> None:
    drawn = ann.get(f"{api}/1/5/picture.svg?theme=dark&seat=1")
    assert drawn.headers["content-disposition"] == 'attachment; filename="fifth-avenue-step-5.svg"'
    game = played(2, seed=3, actions=5)
    assert drawn.text == svg(game.state, 1, theme="dark", agents=["", ""])
    assert ElementTree.fromstring(drawn.text).tag.endswith("svg")
    picture = Image.open(io.BytesIO(ann.get(f"{api}/1/5/picture.png").content))
    assert (picture.format, picture.width) == ("PNG", 1200)
    for wrong in ("5/picture.bmp", "10/picture.svg", "5/picture.png?seat=2"):
        assert ann.get(f"{api}/1/{wrong}").status_code == 404


def made(client: TestClient, address: str) -> bytes:
    """The page that a browser has had made."""
    assert client.post(f"{address}/made").status_code == 202
    wait_until(lambda: client.get(f"{address}/made").json()["state"] != "running")
    told = client.get(f"{address}/made").json()
    assert (told["state"], told["trouble"], told["done"]) == ("done", "", told["of"])
    content = client.get(f"{address}/made/file").content
    assert len(content) == told["bytes"]
    return content


def test_a_page_is_made_once_whatever_is_looked_at(
    app: Starlette, ann: TestClient, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(record: str, report: Report) -> bytes:
        calls.append(record)
        return make_page(record, report)

    make_page = making.make_page
    monkeypatch.setattr(making, "make_page", counted)
    assert ann.get(f"{api}/1/made/file").status_code == 404
    page = made(ann, f"{api}/1")
    assert page.startswith(b"<!doctype html>")
    for query in ("theme=dark", "seat=0", "seat=1&theme=light"):
        assert ann.post(f"{api}/1/made?{query}").json()["state"] == "done"
    assert len(calls) == 1
    assert another(app).get(f"{api}/1/made/file").status_code == 404
    monkeypatch.setattr(making, "MOST_STEPS", 8)
    assert "at most 8 actions, not 9" in ann.post(f"{api}/1/made").json()["error"]


def test_a_browser_throws_out_no_page_of_another_browser(
    app: Starlette, ann: TestClient, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "make_page", lambda record, report: record.encode())
    page, bob = made(ann, f"{api}/1"), another(app, "10.0.0.9")
    for _ in range(6):
        made(bob, f"{opened(bob)}/1")
    assert ann.get(f"{api}/1/made/file").content == page


def test_the_record_is_given_back(app: Starlette, ann: TestClient, api: str) -> None:
    assert ann.get(f"{api}/record").text == played(2, seed=3, actions=9).to_record()
    assert another(app).get(f"{api}/record").status_code == 404
