"""Replays step by step, their charts, and the exported page."""

import base64
import gzip
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import pytest
from pages import opened, payload, play_to_end, played, replay_of
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.analysis.variations import variation
from skyenv.page.errors import PageError
from skyenv.page.library import export, replays
from skyenv.page.library.chart import NARROW, NOW, TOP, WIN, Rows, chart
from skyenv.page.table.server import new_game
from skyenv.page.table.session import Session
from skyenv.records.replay import verify
from skyenv.render import words
from skyenv.render.colours import VARIABLES
from skyenv.rules.actions import OPTION_A


@pytest.mark.parametrize(("players", "side"), [(2, "back"), (4, "front")])
def test_every_step_of_a_replay_equals_the_game(players: int, side: str) -> None:
    """Positions, the log, and the steps that jumps lead to."""
    game, names = played(players, seed=players, side=side), list("abcd")[:players]
    replay, again = replay_of(game, names), Game(players, side, players)
    for step, events in enumerate(replay.events[1:], 1):
        again.play(events[0]["action"])
        kinds = {event["event"] for event in events}
        assert replay.states[step].tobytes() == again.batch.state[0].tobytes()
        assert (step in replay.steps_with("auction")) == ("auction" in kinds)
    assert (again.is_over, replay.steps) == (True, int(game.state["decisions"]))
    told = words.Narrator(names).lines(game.events)
    assert [line for _, line, _ in replay.lines()] == [line.text for line in told]


def test_games_beyond_the_limit_of_actions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MAX_ACTIONS", 30)
    assert replay_of(played(2, actions=30)).steps == 30
    with pytest.raises(PageError, match="more than 30"):
        replay_of(played(2, actions=31))


# ---- the chart ----


def nodes(drawn: str, kind: str) -> list[ElementTree.Element]:
    """Return the elements of a class in a chart, in order."""
    every = ElementTree.fromstring(drawn).iter()
    return [node for node in every if kind in node.get("class", "").split()]


@pytest.mark.parametrize("end", [[4, 30, 0, 0], [999] * 4])
def test_lines_of_a_chart_differ_and_labels_do_not_overlap(end: list[int]) -> None:
    drawn = chart([[0] * 4, end], ["ann", "<&>", "", "d"], NOW, NARROW)
    assert len({line.get("stroke-dasharray") for line in nodes(drawn, "line")}) == 4
    places = [(label.get("x"), label.get("y")) for label in nodes(drawn, "label")]
    assert len(set(places)) == 4
    assert max(int(str(y)) for _, y in places) < TOP - 10, "above the plot"


def test_a_win_chart_has_the_known_values_and_marks_mistakes() -> None:
    rows: Rows = [[None, None], [0.5, None], [0.25, 0.75], [0.545, 0.455], [None, None]]
    drawn = chart(rows, ["ann", ""], WIN, marks=[(2, 1)])
    left, right = (int(x) for x in re.findall(r'data-(?:left|right)="(\d+)"', drawn))
    ends = [re.findall(r"[MH]([\d.]+)", str(line.get("d"))) for line in nodes(drawn, "line")]
    width = (right - left) / 4
    assert [(float(one[0]), float(one[-1])) for one in ends] == [
        (left + width, left + 3 * width),
        (left + 2 * width, left + 3 * width),
    ]
    assert [float(str(mark.get("cx"))) for mark in nodes(drawn, "mark")] == [left + 2 * width]
    assert ["".join(label.itertext()) for label in nodes(drawn, "label")] == [
        "1 ann · –",
        "seat 2 · –",
    ]
    values = [label[0].get("data-values") for label in nodes(drawn, "label")]
    assert values == ["–,50\u00a0%,25\u00a0%,55\u00a0%,–", "–,–,75\u00a0%,45\u00a0%,–"]


# ---- the exported page ----


def test_modules_become_one_script_however_their_imports_are_broken_into_lines() -> None:
    first = "export const a = 1;\nexport function b() {}\n"
    second = (
        'import { a } from "./a.js";\nimport {\n  b,\n  c,\n} from "./b.js";\nexport const d = b;\n'
    )
    assert export.bundled(first, second) == "const a = 1;\nfunction b() {}\nconst d = b;\n"


def test_exports_hold_every_view_and_no_external_resource() -> None:
    replay = replay_of(played(2, seed=5, actions=25), ["ann", "</script>"])
    page = export.exported(replay, "<game>", ("light", "dark"))
    (packed,) = re.findall(r'<script type="text/plain" id="data">(.*?)</script>', page, re.DOTALL)
    data: Any = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert data["game"] == json.loads(json.dumps(replay.payload()))
    assert len(data["views"]) == 2 * (2 + 1)
    for seat in (None, 0, 1):
        shown: dict[str, str] = {}
        for step, changed in enumerate(data["views"][f"{'all' if seat is None else seat}/wide"]):
            numbers = zip(changed[::2], changed[1::2], strict=True)
            shown |= {data["names"][name]: data["parts"][part] for name, part in numbers}
            for name, part in replay.drawing(step, seat, VARIABLES).parts.items():
                assert shown[name] == part.text
        assert step == 25
    assert not re.search(r"""<game>|\{\{|\b(?:src|href)\s*=\s*["'](?!data:)""", page)
    assert page.count("</script>") == 2


def test_a_reloaded_variation_is_the_same_and_can_undo() -> None:
    replay = replay_of(played(2, seed=3))
    steps = range(60, replay.steps)
    step = next(step for step in steps if OPTION_A in replay.at(step).legal_actions)
    begun: dict[str, Any] = {
        "beginning": variation(replay, step),
        "actions": tuple(replay.actions()[:step]),
    }
    stored = replace(new_game("ann", 9, ("human",) * 2), **begun)
    first = Session(stored)
    first.become(first.played([OPTION_A]))
    again = Session(replace(stored, actions=first.position.actions))
    assert (again.game, again.game.events) == (first.game, first.game.events)
    assert again.can_undo(int(replay.states[step]["seat"]))


@pytest.mark.parametrize("resample", [True, False])
@pytest.mark.usefixtures("short_games")
def test_a_replay_can_be_continued(ann: TestClient, resample: bool) -> None:
    game = played(2, seed=3, turns=8)
    api = f"{opened(ann, game)}/1"
    step = next(step for step in range(60, 200) if replay_of(game).at(step).seat == 1)
    made = ann.post(
        f"{api}/{step}/variations", json={"seats": ["agent:crowd", "me"], "resample": resample}
    )
    seat = made.json()["page"].replace("/seat/", "/api/seats/")
    assert (payload(ann, seat)["step"], payload(ann, seat)["yours"]) == (step, True)
    ann.post(f"{seat}/pause", json={"seconds": 0})
    play_to_end(ann, seat)
    record = ann.get(f"{seat}/record").text
    assert verify(io.StringIO(record)).games == 1
    hands = [Game.from_record(text, step=step).state["hand"] for text in (game.to_record(), record)]
    assert hands[0][1].tolist() == hands[1][1].tolist()
    assert resample != (hands[0].tolist() == hands[1].tolist())
