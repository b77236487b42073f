"""Recorded games, step by step, and their charts; the exported page."""

from __future__ import annotations

import base64
import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise, product
from typing import Any

import pytest
from pages import played

from skyenv import Game
from skyenv.page import export, replays
from skyenv.page.chart import HEIGHT, NOW, WIN, chart
from skyenv.page.errors import PageError
from skyenv.page.replays import Replay, summaries
from skyenv.render import words
from skyenv.render.colours import VARIABLES


def replay_of(game: Game, names: list[str] | None = None) -> Replay:
    """The game's replay."""
    return Replay.of(game.to_record(names).encode(), 1)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_is_the_games(players: int) -> None:
    game = played(players, seed=players, side="back")
    replay = replay_of(game)
    again = Game(players, "back", players)
    for step, events in enumerate(replay.events[1:], 1):
        again.play(events[0]["action"])
        at = replay.at(step)
        assert at.state["score"].tolist() == again.state["score"].tolist()
        assert at.legal_actions == again.legal_actions
        assert at.state["hand"].tolist() == again.state["hand"].tolist()
    assert again.is_over
    assert replay.steps == int(again.state["decisions"])
    with pytest.raises(PageError, match="no step"):
        replay.at(replay.steps + 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_log_is_that_of_the_whole_game_with_the_step_of_each_line(seed: int) -> None:
    game = played(3, seed)
    replay = replay_of(game, ["a", "b", "c"])
    lines = replay.lines()
    assert [line for _, line, _ in lines] == words.log(game.events, ["a", "b", "c"])
    assert [step for step, *_ in lines] == sorted(step for step, *_ in lines)
    for step, line, _ in lines:
        if line.startswith("seat ") and "wins the auction" in line:
            assert any(event["event"] == "won" for event in replay.events[step])


def test_jumps_lead_to_auctions_and_scorings() -> None:
    replay = replay_of(played(2, seed=4))
    assert replay.auctions()
    for step in range(1, replay.steps + 1):
        kinds = {event["event"] for event in replay.events[step]}
        assert (step in replay.auctions()) == ("auction" in kinds)
        assert (step in replay.scorings()) == ("vp" in kinds)


def test_an_unfinished_game_can_be_looked_at() -> None:
    game = played(2, actions=30)
    replay = replay_of(game)
    assert (replay.steps, replay.payload()["over"]) == (30, False)


def test_summaries_tell_all_games() -> None:
    games = [played(2, seed=1), played(3, seed=2, actions=10)]
    content = b"".join(game.to_record().encode() for game in games)
    first, second = summaries(content)
    assert (first.number, first.scores, first.is_over, first.names) == (
        1,
        games[0].scores,
        True,
        ["", ""],
    )
    assert (second.actions, second.is_over) == (10, False)
    with pytest.raises(PageError, match="no game 3"):
        Replay.of(content, 3)


def test_a_game_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MOST_ACTIONS", 30)
    assert replay_of(played(2, actions=30)).steps == 30
    with pytest.raises(PageError, match="more than 30"):
        replay_of(played(2, actions=31))


# ---- the chart ----


def test_the_chart_ends_where_the_scores_do() -> None:
    drawn = chart([[0, 0], [4, 0], [4, 30]], ["ann", "<&>"])
    root = ElementTree.fromstring(drawn)
    lines = [path for path in root.iter() if "line" in path.get("class", "").split()]
    assert len({path.get("stroke-dasharray") for path in lines}) == 2
    heights = [float(re.findall(r"V([\d.]+)", str(path.get("d")))[-1]) for path in lines]
    assert heights[0] > heights[1]  # y grows downwards
    assert "ann · 4" in drawn
    assert "&lt;&amp;&gt; · 30" in drawn


@pytest.mark.parametrize("scores", [[[0, 0]], [[0] * 4] * 3, [[999] * 4] * 2])
def test_a_chart_of_nothing_much(scores: list[list[int]]) -> None:
    labels = [
        node
        for node in ElementTree.fromstring(chart(scores, ["a"] * len(scores[0]))).iter()
        if node.get("class", "").startswith("label")
    ]
    heights = [float(str(node.get("y"))) for node in labels]
    assert all(b - a >= 15 for a, b in pairwise(heights))
    assert max(heights) < HEIGHT


def test_a_chart_of_shares_begins_where_they_are_known_and_marks_what_stands_out() -> None:
    root = ElementTree.fromstring(
        chart([[None, None], [0.5, None], [0.25, 0.75]], ["ann", ""], WIN, marks=[(2, 1)])
    )
    texts = [str(node.text) for node in root.iter() if node.get("class") == "axis" and node.text]
    assert texts[:5] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    lines = {
        node.get("class"): str(node.get("d"))
        for node in root.iter()
        if "line" in node.get("class", "").split()
    }
    starts = [
        float(re.findall(r"M([\d.]+)", path)[0])
        for path in (lines["line seat-0"], lines["line seat-1"])
    ]
    ends = float(str(root.get("data-left"))), float(str(root.get("data-right")))
    assert starts == [sum(ends) / 2, ends[1]]
    (mark,) = [node for node in root.iter() if node.get("class") == "mark seat-1"]
    assert float(str(mark.get("cx"))) == ends[1]
    labels = [node.text for node in root.iter() if node.get("class", "").startswith("label")]
    assert labels == ["seat 2 · 75 %", "1 ann · 25 %"]


def test_the_chart_of_if_scored_now_ends_at_the_scores() -> None:
    replay = replay_of(played(3, seed=4), ["a", "b", "c"])
    charts = replay.payload()["charts"]
    assert set(charts) == {"now", "vp"}
    for score, name in zip(replay.game.scores, "abc", strict=True):
        assert f"{name} · {score}<" in charts["now"]["wide"]
        assert f"{name} · {score}<" in charts["vp"]["narrow"]
    assert NOW.name in charts["now"]["wide"]


# ---- the exported page ----


def exported_data(page: str) -> Any:
    """What the page carries."""
    (packed,) = re.findall(r'<script type="text/plain" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_an_export_carries_every_view_of_every_step_and_nothing_from_outside() -> None:
    replay = replay_of(played(2, seed=5, actions=25), ["ann", "</script>"])
    page = export.exported(replay, "<game>", ("light", "dark"))
    data = exported_data(page)
    assert data["game"] == json.loads(json.dumps(replay.payload()))
    assert len(data["views"]) == 2 * (2 + 1)
    for seat, narrow in product((None, 0, 1), (False, True)):
        steps = data["views"][f"{'all' if seat is None else seat}/{'narrow' if narrow else 'wide'}"]
        assert len(steps) == 26
        shown: dict[str, str] = {}
        for step, changed in enumerate(steps):
            numbers = zip(changed[::2], changed[1::2], strict=True)
            shown |= {data["names"][name]: data["parts"][part] for name, part in numbers}
            drawn = replay.drawing(step, seat, VARIABLES, narrow)
            assert {name: shown[name] for name in drawn.parts} == {
                name: part.text for name, part in drawn.parts.items()
            }
    assert "<game>" not in page
    assert page.count("</script>") == 2
    assert not re.search(r"""\b(?:src|href)\s*=\s*["'](?!data:)""", page)
    assert "{{" not in page
    assert len(page.encode()) < 3_000_000


@pytest.mark.long
def test_an_export_of_a_whole_game_of_four_in_both_themes_is_small() -> None:
    """Drawings share their parts, whatever the game's length."""
    game = played(4, seed=2)
    assert game.is_over
    page = export.exported(replay_of(game), "a game", ("light", "dark"))
    assert len(exported_data(page)["views"]) == 2 * (4 + 1)
    assert len(page.encode()) < 600_000


def test_the_scripts_of_an_export_are_one_and_allowed_by_its_digest() -> None:
    import hashlib

    page = export.exported(replay_of(played(2, actions=1)), "game")
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    assert "import " not in re.sub(r"//.*|/\*.*?\*/", "", script, flags=re.DOTALL)
    assert not re.search(r"^export ", script, re.MULTILINE)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
