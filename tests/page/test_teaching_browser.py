"""What teaches the game, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accessibility import check_accessible
from pages import RunningServer, few, quick_catalogue
from test_browser import begin, choices, click_shape, play, state

from experiments.tools.chromium import Browser, browser
from skyenv.page.storage import Storage
from skyenv.page.teaching.tutorial import BEATS
from skyenv.page.web import application


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(
        application(Storage(tmp_path / "games.sqlite3"), quick_catalogue(), ["127.0.0.1"])
    )
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
    in_view = "const box = document.querySelector('.here').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"
    ann.wait_until(lambda: ann.run(in_view), "the rule in view")
    for theme in ("light", "dark"):
        check_accessible(ann)
        shown = "return [...document.querySelectorAll('.rules-text img')].filter((image) => image.getClientRects().length).length"
        assert ann.run(shown) == 9, theme
        ann.click("header button[aria-label='Light or dark']")


@pytest.mark.long
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
    ann.run(
        "document.querySelector('.rules-panel').dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))"
    )
    ann.wait_until(lambda: ann.find(".rules-panel") is None, "the end of the panel")
    assert ann.run("return document.activeElement.matches('#log a.rule')")
    ann.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'r', bubbles: true}))")
    ann.wait(".rules-panel")
    ann.click(".rules-head button")
    ann.wait_until(lambda: ann.find(".rules-panel") is None, "the end of the panel")
    ann.click("#rules")
    ann.wait(".rules-panel .chapter")


def test_words_of_the_sentence_and_the_cards_lead_to_their_rules(
    ann: Browser, server: RunningServer
) -> None:
    """Their links change neither the size nor the place of anything."""
    begin(ann, server, "me", "agent:greedy", seed="4")
    ann.wait_until(lambda: state(ann)["yours"], "a turn")
    while ann.find(".option") is None:
        play(ann, state(ann), choices(state(ann))[0])
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
    assert ann.text(".option[data-option=A] .brings a.term") == "coloured cards"
    ann.click(".option[data-option=C] .brings a.term")
    ann.wait(".rules-panel .here")
    assert "AUC-4" in ann.text(".rules-panel .here")
    ann.run("document.querySelector('.rules-panel').close()")
    while "commissioner" not in ann.text("#situation a.term"):
        play(ann, state(ann), choices(state(ann))[0])
        ann.wait_until(lambda: state(ann)["yours"], "a turn")
    place = "return JSON.stringify(document.getElementById('situation').getBoundingClientRect())"
    before = ann.run(place)
    ann.run(
        "const title = document.getElementById('situation'); title.textContent = title.textContent"
    )
    assert ann.run(place) == before
    shown = state(ann)
    play(ann, shown, choices(shown)[0])
    ann.wait_until(lambda: state(ann)["yours"], "a turn")
    assert ann.text("#recent-list a.term")
    check_accessible(ann, "#side")


@pytest.mark.long
def test_a_refusal_leads_to_its_rule(ann: Browser, server: RunningServer) -> None:
    begin(ann, server, "me", "agent:greedy", seed="6")
    ann.run("""
        document.querySelector("#board").scrollIntoView({block: "center", behavior: "instant"});
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));  // scrolling takes the line away
    """)

    def is_refused() -> bool:
        """Click a stack; what comes from the server meanwhile takes the line away."""
        ann.run("""
            const click = new MouseEvent("click", {bubbles: true, clientX: 300, clientY: 300});
            document.querySelector("#board [data-stack='1']").dispatchEvent(click);
        """)
        return ann.text("#refusal").startswith("place a starting skyscraper first")

    ann.wait_until(is_refused, "the refusal")
    check_accessible(ann, "#refusal")
    ann.click("#refusal a.rule")
    assert "SET-7" in ann.wait(".rules-panel .here").text
    ann.wait_until(
        lambda: ann.find("#refusal") is not None, "the line stays while the rule is read"
    )
    ann.click(".rules-head button")
    ann.run(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
    )
    assert ann.find("#refusal") is None


# ---- the lesson ----

HERE = "location.pathname.replace('/seat/', '/api/seats/')"


def told(page: Browser) -> dict[str, Any]:
    """What the server tells of the lesson, once it is the person's turn and the page shows that."""
    content: dict[str, Any] = {}

    def is_shown() -> bool:
        nonlocal content
        content = page.run(f"return fetch({HERE}).then((answer) => answer.json())")
        heading = page.text("#lesson h2")
        return (
            not content["lesson"]["waits"]
            and page.run("return document.getElementById('hint').dataset.step")
            == str(content["step"])
            and heading.startswith(
                (f"Lesson, step {content['lesson']['number'] + 1} of", "The lesson is over")
            )
        )

    page.wait_until(is_shown, "the person's turn")
    return content


def do_what_glows(page: Browser, wanted: list[int]) -> None:
    """Click what is to be clicked: on the table, or a button."""
    action = wanted[0]
    if 55 <= action < 60 and page.find("[data-take]") is not None:
        for colour in (action - 55 for action in wanted):
            page.click(f"[data-take='{colour}'].taught")
    elif page.find("[data-more]") is not None and 79 <= action < 97:
        for colour, rank in (divmod(action - 79, 3) for action in wanted[:-1]):
            page.click(f"[data-more='{colour}:{rank + 4}'].taught")
        page.click("#bid-done.taught")
    elif page.run(
        f"return document.querySelector('#board [role=button][data-action=\"{action}\"]') !== null"
    ):
        where = f'#board .taught[role=button][data-action="{action}"]'
        page.run(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})",
            where,
        )
        click_shape(page, where)
    else:
        page.click(f"#choices [data-choice='{action}'].taught")
    if page.find("dialog[open] button.primary") is not None:
        page.click("dialog[open] button.primary")


def press(page: Browser, button: str) -> None:
    """Click a button below the lesson's text, which phones show after "more"."""
    folded = "return getComputedStyle(document.querySelector('#lesson-more')).display !== 'none'"
    if page.run(folded) and page.text("#lesson-more") == "more":
        page.click("#lesson-more")
    page.click(button)


@pytest.mark.parametrize("phone", few([False, True], False))
def test_the_lesson_by_clicks(server: RunningServer, phone: bool) -> None:
    with browser(phone=phone) as page:
        if not phone:
            page.driver.set_window_size(1440, 900)
        still = {
            "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]
        }  # so that nothing scrolls under the mouse
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", still)
        page.open(f"{server.address}/tutorial")
        page.wait("#lesson")
        page.run(
            f"return fetch({HERE} + '/pause', {{method: 'POST', headers: {{'Content-Type': 'application/json'}},"
            " body: '{\"seconds\": 0}'})"
        )
        seen: list[int] = []
        while not (state := told(page))["lesson"]["over"]:
            lesson = state["lesson"]
            todo = lesson["todo"].replace("click", "tap") if phone else lesson["todo"]
            assert page.text("#lesson-todo") == todo
            if not seen or seen[-1] != lesson["number"]:
                seen.append(lesson["number"])
            if lesson["number"] in (0, 13):
                check_accessible(page, "#lesson")
                check_accessible(page, "#lesson-todo")
            do_what_glows(page, lesson["wanted"])
            page.wait_until(lambda step=state["step"]: told(page)["step"] != step, "the next step")  # type: ignore[misc]
        assert seen == list(range(len(BEATS)))
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
        press(page, "#lesson-back")
        page.wait_until(lambda: told(page)["lesson"]["number"] == len(BEATS) - 1, "the last step")
        address = page.driver.current_url
        press(page, "#lesson-leave")
        page.wait_until(
            lambda: page.driver.current_url != address and page.find("#board svg") is not None,
            "the game",
        )
        assert page.find("#lesson") is None
        assert page.complaints() == []


def test_another_choice_gets_a_friendly_line(ann: Browser, server: RunningServer) -> None:
    ann.open(f"{server.address}/tutorial")
    step = told(ann)["step"]
    wanted = '#board [role=button]:not(.taught)[data-plot="0:1"]'
    ann.run(
        "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})",
        wanted,
    )
    click_shape(ann, wanted)
    assert (
        "In this lesson: place your first skyscraper on the brown plot of TSQ."
        in ann.wait("#note").text
    )
    assert told(ann)["step"] == step


# ---- what is new ----


@pytest.mark.long
def test_what_happens_for_the_first_time_is_explained_once(
    ann: Browser, server: RunningServer
) -> None:
    begin(ann, server, "me", "agent:greedy", seed="6")
    ann.run("localStorage.removeItem('news')")  # other tests play without
    ann.run("""
        return import("/static/news.js").then(({showNews}) => {
          showNews({log: {rules: []}});
          showNews({log: {rules: [["AUC-3", "AUC-4"], ["ALEA-2"], ["AUC-12"], ["ALEA-2"]]}});
        });
    """)
    assert ann.text("#news b") == "New: Alea bids. "
    check_accessible(ann, "#news")
    ann.click("#news a.rule")
    assert "ALEA-2" in ann.wait(".rules-panel .here").text
    ann.click(".rules-head button")
    ann.click("#news button.primary")
    assert ann.text("#news b") == "New: The park area. "
    ann.click("#news button:not(.primary)")
    ann.wait_until(lambda: ann.find("#news") is None, "no more")
    ann.run(
        "return import('/static/news.js').then(({showNews}) => showNews({log: {rules: [['STOP-4']]}}))"
    )
    assert ann.find("#news") is None
    ann.click("#rules")
    ann.click(".news-switch input")
    ann.run(
        "return import('/static/news.js').then(({showNews}) => showNews({log: {rules: [['STOP-4']]}}))"
    )
    assert ann.text("#news b") == "New: A building stop. "
