"""The parts of a drawing: together they are the picture, what was kept is what would be drawn anew,
and only changes are sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from skyenv import Game, make_agent
from skyenv.agents import decide_game
from skyenv.render import parts
from skyenv.render.colours import DARK, LIGHT, VARIABLES, variables
from skyenv.render.parts import ROOT, Drawing, Fields, Part, digests, slot
from skyenv.render.svg import drawing, svg


def whole_game(players: int, side: str = "front", every: int = 1) -> Iterator[Game]:
    """Positions of a game between crowd agents, its last among them."""
    game, player, number = Game(players, side, 3, max_turns=40), make_agent("crowd"), 0
    while not game.is_over:
        if number % every == 0:
            yield game
        game.play(decide_game(game, player))
        number += 1
    yield game


def test_parts_stand_in_their_slots() -> None:
    drawn = Drawing()
    inner = drawn.add(Part("inner", "<b/>"))
    assert inner == slot("inner")
    outer = drawn.add(Part("outer 1", f"<a>{inner}</a>"))
    drawn.add(Part(ROOT, f"<svg>{outer}<c/>{inner}</svg>"))
    assert drawn.text() == "<svg><a><b/></a><c/><b/></svg>"
    assert drawn.parts["outer 1"].pieces == ["<a>", "inner", "</a>"]


def test_digests_tell_parts_apart_by_name_and_text() -> None:
    all_of_them = [Part(name, text) for name in ("a", "b") for text in ("x", "y")]
    assert len({part.digest for part in all_of_them}) == 4
    assert all(re.fullmatch(r"[\w-]{6}", part.digest) for part in all_of_them)
    assert digests("".join(part.digest for part in all_of_them)) == {
        part.digest for part in all_of_them
    }
    assert digests("") == frozenset()


def test_a_name_that_looks_like_a_slot_is_none() -> None:
    name = f'"/>{slot("title")}'
    picture = drawing(Game(2, seed=1).state, agents=[name, None])
    assert "<g data-part" not in picture.text()
    assert all(
        piece in picture.parts for part in picture.parts.values() for piece in part.pieces[1::2]
    )


@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back")])
def test_what_was_kept_is_what_would_be_drawn_anew(players: int, side: str) -> None:
    """Views, themes and sizes come in turns, so that a part that leaves something out of its key
    would be told.
    """
    kept = []
    games = [game.copy() for game in whole_game(players, side, every=40)]
    looks: list[dict[str, Any]] = [
        {"seat": seat, "theme": theme, "width": width, "agents": agents}
        for seat in (None, 0, players - 1)
        for theme in ("light", "dark")
        for width in (1200, 640)
        for agents in (None, ["ann", *[None] * (players - 1)])
    ]
    for number, game in enumerate(games):
        for look in looks[number % 2 :: 2]:
            kept.append((game, look, svg(game.state, events=game.events, legal=game.mask, **look)))
    for game, look, picture in kept[:: len(looks) // 4 + 1]:
        parts.forget()
        assert svg(game.state, events=game.events, legal=game.mask, **look) == picture


def test_a_step_changes_few_parts() -> None:
    known: dict[str, list[str]] = {}
    sizes = []
    for game in whole_game(4):
        drawn = drawing(game.view(0), is_live=True)
        changes = drawn.changes({digest for digest, _ in known.values()})
        known |= changes
        assert {name: known[name] for name in drawn.parts} == drawn.changes()
        sizes.append(sum(len(text) for _, text in changes.values()))
    assert sizes[0] > 60_000
    assert np.median(sizes[1:]) < 9_000


def test_what_may_be_chosen_changes_nothing_of_a_live_drawing() -> None:
    """The page shows and hides what glows."""
    game = Game(3, seed=1)
    live = [drawing(game.state, legal=legal, is_live=True).text() for legal in (None, game.mask)]
    assert live[0] == live[1]
    assert 'class="legal"' not in live[0]
    for what in ("plot", "district", "stack", "card", "row-type", "commissioner"):
        things = re.findall(
            rf'<g data-{what}="[^"]*" data-action="[^"]*">(.*?)</title>(.*?)'
            '<g class="glow" visibility="hidden">',
            live[0],
        )
        assert things, what
    assert len(re.findall(r'data-place="\d:\d"', live[0])) == 2 * 8  # all places but their own
    assert "visibility" not in svg(game.state, legal=game.mask)


def test_threads_draw_the_same() -> None:
    games = [game.copy() for game in whole_game(3, every=11)]
    alone = [svg(game.state, events=game.events) for game in games]
    parts.forget()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda game: svg(game.state, events=game.events), games * 3))
    assert together == alone * 3


def test_fields_are_read_as_keys_and_as_numbers() -> None:
    game = Game(4, "back", seed=2)
    raw = game.state.tobytes()
    one = Fields("tiles", "floors", depth=2)
    for district, plot in ((0, 0), (6, 4), (3, 2)):
        found = one.numbers(one.read(raw, district, plot))
        assert found.tiles == game.state["tiles"][district, plot].tolist()
        assert found.floors == game.state["floors"][district, plot]
    whole = Fields("score", "hand", "phase")
    found = whole.numbers(whole.read(raw))
    assert found.hand == game.state["hand"].tolist()
    assert (found.score, found.phase) == (game.state["score"].tolist(), int(game.state["phase"]))
    before = whole.read(raw)
    game.state["score"][2] += 1
    assert whole.read(game.state.tobytes()) != before


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colours_can_be_variables_of_a_style_sheet(theme: Any) -> None:
    colours = dict(declaration.split(":") for declaration in variables(theme).split(";"))
    for game in whole_game(2, every=40):
        picture = drawing(game.state, theme=VARIABLES).text()
        written = re.sub(r"var\(([\w-]+)\)", lambda match: colours[match[1]], picture)
        assert written.replace('data-theme="any"', f'data-theme="{theme.name}"') == svg(
            game.state, theme=theme.name
        )
