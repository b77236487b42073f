"""What teaches the game, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from accessibility import check_accessible
from pages import RunningServer, quick_catalogue
from test_browser import begin

from experiments.tools.chromium import Browser, browser
from skyenv.page.storage import Storage
from skyenv.page.web import application


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(application(Storage(tmp_path / "games.sqlite3"), quick_catalogue(), ["127.0.0.1"]))
    yield running
    running.stop()


@pytest.fixture
def ann() -> Iterator[Browser]:
    with browser() as opened:
        yield opened
        assert opened.complaints() == []


def test_the_rules_as_a_page(ann: Browser, server: RunningServer) -> None:
    ann.open(f"{server.address}/rules#AUC-4")
    ann.wait_until(lambda: "coloured" in ann.text(".here"), "the rule of the address")
    in_view = (
        "const box = document.querySelector('.here').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"
    )
    ann.wait_until(lambda: ann.run(in_view), "the rule in view")
    for theme in ("light", "dark"):
        check_accessible(ann)
        shown = "return [...document.querySelectorAll('.rules-text img')].filter((image) => image.getClientRects().length).length"
        assert ann.run(shown) == 9, theme
        ann.click("header button[aria-label='Light or dark']")


def test_the_rules_beside_a_game(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="6")
    ann.wait("#log a.rule")
    ann.run("document.querySelector('#log a.rule').focus()")
    ann.click("#log a.rule")
    ann.wait(".rules-panel .here")
    assert "SET-4" in ann.text(".rules-panel .here")
    check_accessible(ann, ".rules-panel")
    ann.click(".rules-panel a[href='#rules-scoring']")
    top = "return document.querySelector('.rules-panel #rules-scoring').getBoundingClientRect().top"
    ann.wait_until(lambda: -5 < float(ann.run(top)) < 400, "the chapter")
    ann.run("document.querySelector('.rules-panel').dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    ann.wait_until(lambda: ann.find(".rules-panel") is None, "the end of the panel")
    assert ann.run("return document.activeElement.matches('#log a.rule')")
    ann.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'r', bubbles: true}))")
    ann.wait(".rules-panel")
    ann.click("#rules")
    ann.wait_until(lambda: ann.find(".rules-panel") is None, "the end of the panel")
    ann.click("#rules")
    ann.wait(".rules-panel .chapter")
