"""The tools beside a replay's board in a real browser: hints, analysis, simulation."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from clicks import GONE, HERE, Step, follow
from pages import RunningServer, few, judged_catalogue, played
from test_fits import check_inside, measured

from skyenv.page.library.games import Library, key_of, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application

SMALL = """
    return [...document.querySelectorAll("main :is(button:not(.line), select, summary, a.button, input[type=number])")]
        .filter((one) => one.offsetParent && one.getBoundingClientRect().height < 43.5)
        .map((one) => one.id || one.textContent);
"""
# Whether the log's last line up to the shown step is in view.
SEEN = """
    const [line] = [...document.querySelectorAll("#log li:not(.later)")].slice(-1);
    const [log, one] = [document.getElementById("log"), line].map((each) => each?.getBoundingClientRect());
    return Boolean(one && log.top <= one.top + 1 && one.bottom <= log.bottom + 1 && log.height);
"""
ANALYSIS: list[Step] = [
    ("", "#board svg", HERE),
    ("set #adviser-1 greedy", "#ask", HERE),
    ("click #ask", "#hint thead th:nth-child(4)", HERE),  # both agents, and the chance to win
    ("", "#hint .wins", "Chance to win now, (estimated|by \\d+ games): 1 Banker"),
    ("", "#hint .choice .unclear", GONE),
    ("", ".badge", HERE),
    ("click #tools label:nth-of-type(2)", "#analyst", HERE),
    ("check", "#analyst", HERE),
    ("set #analyst greedy", "#analyse", HERE),
    ("click #analyse", "#mistakes button", " — better: "),
    ("", "#analyse:enabled", HERE),
    ("reload", "#board svg", HERE),
    ("", "#chart label:has(:checked)", "chance to win"),
    ("click #tools label:nth-of-type(2)", "#mistakes button", " — better: "),
]
SIMULATION: list[Step] = [
    ("click #mistakes button", "#count", r"^\s*[1-9]\d* /"),
    ("", "#situation", " — better: "),
    ("click #tools label:nth-of-type(3)", "#out-number", HERE),
    ("set #out-number 26", "#play-out", HERE),
    ("click #play-out", "#out-results", "95 % interval"),
    ("click #chances summary", "#chances table", HERE),
    ("", "#chances p", "All hands are open"),
    ("check", "#play-myself", HERE),
    ("set #on-hidden resample", "#play-myself", HERE),
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a library game on a page with an estimator of win chances."""
    record = played(2, seed=3, turns=12).to_record(["greedy", "greedy"])
    (tmp_path / "game.jsonl").write_text(record, encoding="utf-8")
    library = Library(roots_of([tmp_path]))
    running = RunningServer(
        application(Storage(MEMORY), judged_catalogue(), ["127.0.0.1"], library=library)
    )
    yield f"{running.address}/library/{key_of(f'{tmp_path.name}/game.jsonl')}/1"
    running.stop()


@pytest.mark.parametrize("phone", few([False, True], False))
def test_replays_offer_hints_analyses_and_simulations(
    browsers: Callable[..., Any], address: str, phone: bool
) -> None:
    """All tabs are accessible, with targets large enough for touch; mistakes are listed in the
    first screen of a desktop.
    """
    with browsers(dark=phone, phone=phone) as page:
        page.open(address)
        follow(page, ANALYSIS)
        if not phone:
            check_inside(measured(page, (1280, 720)), "mistakes")
        follow(page, SIMULATION)
        assert not phone or page.run(SMALL) == []
        follow(page, [("click #play-myself", "#dock", HERE)])
        if not phone:
            page.open(f"{address}?step=70")
            page.wait_until(lambda: page.run(SEEN), "the log's line")
        assert page.console_errors() == []
