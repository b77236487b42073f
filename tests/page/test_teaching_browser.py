"""The lesson and the rules page in a real browser."""

import pytest
from accessibility import check_accessible
from chromium import Browser
from clicks import GONE, HERE, Site, click, follow
from pages import few

from skyenv.page.teaching.tutorial import BEATS

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
GLOWS = "#board .taught[role=button]:not([data-commissioner]), #choices .taught"


def test_the_rules_page_shows_the_linked_rule_and_pictures(page: Browser, site: Site) -> None:
    page.open(f"{site.address}/rules#AUC-4")
    follow(page, [("", ".here", "coloured")])
    in_view = "const box = document.querySelector('.here').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight"
    page.wait_until(lambda: page.run(in_view), "the rule in view")
    for theme in ("light", "dark"):
        check_accessible(page)
        shown = "return [...document.querySelectorAll('.rules-text img')].filter((image) => image.getClientRects().length).length"
        assert page.run(shown) == 9, theme
        page.click("header button[aria-label='Light or dark']")


def glowing(page: Browser) -> tuple[str, list[str]]:
    """Return the lesson's heading and all marked elements."""
    return page.text("#lesson h2"), list(
        page.run("return [...document.querySelectorAll('.taught')].map((one) => one.outerHTML)")
    )


def click_what_glows(page: Browser) -> None:
    """Click the first marked part and wait for the next step."""
    before = glowing(page)
    part = page.run(
        "return document.querySelector(arguments[0])?.closest('#board, #choices').id", GLOWS
    )
    click(page, f"#{part} .taught" + ("[role=button]:not([data-commissioner])" * (part == "board")))

    def has_gone_on() -> bool:
        heading, marked = glowing(page)
        if heading.startswith("The lesson is over"):
            return True
        return bool(marked) and (heading, marked) != before

    page.wait_until(has_gone_on, "what follows")


@pytest.mark.parametrize("phone", few([False, True], False))
def test_the_lesson_is_completed_by_clicks(page: Browser, site: Site, phone: bool) -> None:
    """Clicking the marked parts completes the lesson; it can go back a step and on to a game."""
    still = [
        {"name": "prefers-reduced-motion", "value": "reduce"}
    ]  # nothing scrolls under the mouse
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": still})
    if phone:
        page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
        page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.open(f"{site.address}/tutorial")
    follow(page, [("set #pause 0", "#lesson", "step 1 of"), ("check", GLOWS, HERE)])
    told: list[str] = []
    while not page.text("#lesson h2").startswith("The lesson is over"):
        todo = page.text("#lesson-todo")
        told += [todo] if todo not in told[-1:] else []
        click_what_glows(page)
    words = ("click", "tap") if phone else ("", "")
    assert [todo.lower() for todo in told] == [
        str(beat["todo"]).lower().replace(*words) for beat in BEATS
    ]
    follow(
        page,
        [
            ("check", "#lesson-restart", HERE),
            ("click #lesson-back", "#lesson", f"step {len(BEATS)} of"),
        ],
    )
    if phone:
        page.click("#lesson-more")
    follow(page, [("click #lesson-leave", "#leads", "Banker"), ("", "#lesson", GONE)])
