"""The tools beside a replay's board, in a real browser: asking, analysing, simulating."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from accessibility import check_accessible
from pages import RunningServer, few, judged_catalogue, played

from experiments.tools.chromium import Browser, browser
from skyenv.page.storage import Storage
from skyenv.page.web import application

SMALL = """
    return [...document.querySelectorAll("main :is(button:not(.line), select, summary, a.button, input[type=number])")]
        .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 43.5)
        .map((one) => one.id || one.textContent);
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RunningServer]:
    """A page with an agent that estimates chances to win."""
    storage = Storage(tmp_path / "bench.db")
    running = RunningServer(application(storage, judged_catalogue(), ["127.0.0.1"]))
    yield running
    running.stop()


def tool(page: Browser, name: str) -> None:
    """Open a tab beside a replay's board, which is accessible."""
    page.run("document.querySelector(`#tools [value=${arguments[0]}]`).click()", name)
    check_accessible(page)


def set_value(page: Browser, name: str, value: str) -> None:
    """Choose in a control."""
    page.run("document.getElementById(arguments[0]).value = arguments[1]", name, value)


def run(page: Browser, button: str) -> None:
    """Begin a work by its button, and wait for its end."""
    page.click(button)
    page.wait_until(lambda: page.wait(button).is_enabled(), "the end")


@pytest.mark.parametrize("phone", few([False, True], False))
def test_a_game_is_asked_about_analysed_and_simulated(
    bench: RunningServer, tmp_path: Path, phone: bool
) -> None:
    """All tabs are accessible, and large enough to touch."""
    path = tmp_path / "game.jsonl"
    path.write_text(played(2, seed=3, turns=12).to_record(["greedy", "greedy"]), encoding="utf-8")
    with browser(dark=phone, phone=phone) as page:
        page.open(f"{bench.address}/")
        page.wait("#strengths input")
        page.driver.find_element("id", "file").send_keys(str(path))
        page.wait("#board svg")
        set_value(page, "adviser-1", "greedy")
        page.click("#ask")
        columns = "return document.querySelectorAll('#hint thead th').length"
        page.wait_until(lambda: page.run(columns) == 4, "both agents, and the chance to win")
        assert "Chance to win now: seat 1" in page.text("#hint .wins")
        assert page.run("return document.querySelectorAll('.badge').length") > 0
        tool(page, "analyse")
        set_value(page, "analyst", "greedy")
        run(page, "#analyse")
        mistake = page.wait("#mistakes button")
        assert " — better: " in mistake.text
        step = mistake.get_attribute("data-step")
        page.click("#mistakes button")
        page.wait_until(lambda: page.text("#count").startswith(f"{step} /"), "the mistake's step")
        tool(page, "simulate")
        set_value(page, "out-number", "26")
        run(page, "#play-out")
        assert "95 % interval" in page.text("#out-results")
        page.click("#chances summary")
        page.wait("#chances table")
        check_accessible(page)
        assert not phone or page.run(SMALL) == []
        set_value(page, "on-hidden", "anew")
        page.click("#play-myself")
        page.wait_until(lambda: "/seat/" in page.driver.current_url, "the table")
        assert page.complaints() == []
