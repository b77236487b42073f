"""Files made of a recorded game: pictures, films, one page."""

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
from skyenv.render.svg import svg


@pytest.fixture
def api(ann: TestClient) -> str:
    """A short game's replay in the interface."""
    ann.get("/")
    content = played(2, seed=3, actions=9).to_record()
    return "/api/replays/" + str(
        ann.post("/api/replays", content=content).json()["page"].rpartition("/")[2]
    )


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


def test_a_film_and_a_page_are_made(
    app: Starlette, ann: TestClient, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MOST_PICTURES", 4)
    monkeypatch.setattr(making, "MOST_KEPT", 1)
    monkeypatch.setattr(making, "FILM_WIDTH", 300)
    film, page = f"{api}/1/made/gif", f"{api}/1/made/html"
    assert ann.get(f"{film}/file").status_code == 404
    for address in (film, page):
        assert ann.post(address).status_code == 202
        wait_until(lambda address=address: ann.get(address).json()["state"] != "running")  # type: ignore[misc]
        told = ann.get(address).json()
        assert (told["state"], told["trouble"], told["done"]) == ("done", "", told["of"])
        content = ann.get(f"{address}/file").content
        assert len(content) == told["bytes"]
        assert another(app).get(f"{address}/file").status_code == 404
        if address == film:
            picture = Image.open(io.BytesIO(content))
            assert (picture.format, getattr(picture, "n_frames", 0), picture.width) == (
                "GIF",
                4,
                300,
            )
        else:
            assert content.startswith(b"<!doctype html>")
    assert ann.get(f"{film}/file").status_code == 404  # the newer one has taken its place
    assert ann.post(f"{api}/1/made/mp4").status_code == 404


def test_the_record_is_given_back(app: Starlette, ann: TestClient, api: str) -> None:
    assert ann.get(f"{api}/record").text == played(2, seed=3, actions=9).to_record()
    assert another(app).get(f"{api}/record").status_code == 404
