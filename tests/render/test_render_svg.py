"""The picture: valid, pure, complete, nothing hidden in it, and everything that can be clicked
marked.

This file is also a program that draws the golden pictures anew:
``PYTHONPATH=.:agents:tests python tests/render/test_render_svg.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from positions import deal_anew
from scenario import built_up
from skyenv import Game, OptionError, make_agent
from skyenv.agents import Evaluation, decide_game
from skyenv.records import nth_game
from skyenv.render import city, svg
from skyenv.render.colours import THEMES
from skyenv.render.marks import width_of
from skyenv.render.reasons import why_illegal
from skyenv.render.words import log
from skyenv.rules.actions import (
    BID,
    BID_DONE,
    NUM_ACTIONS,
    OPTION_B,
    OPTION_C,
    OPTION_D,
    PASS,
    PLOT,
)
from skyenv.rules.components import BUSINESSES, COLOURS, DISTRICTS, NUM_PLOTS, PLACES
from skyenv.rules.state import NONE

GOLDEN = Path(__file__).parents[1] / "golden"
NAMESPACE = "{http://www.w3.org/2000/svg}"
TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
KINDS = ("district", "plot", "stack", "place", "commissioner", "card", "row-type")
PLACED = {*range(OPTION_B, OPTION_C), *range(OPTION_D, PASS), *range(BID, BID_DONE)}
"""The actions that have a place on the table."""
TSQ = DISTRICTS.index("TSQ")

Element = ElementTree.Element


def parsed(picture: str) -> Element:
    """The picture as a tree; it must be well-formed."""
    return ElementTree.fromstring(picture)


def texts(root: Element) -> list[str]:
    """All that is written in a picture, titles left out."""
    return [element.text or "" for element in root.iter(f"{NAMESPACE}text")]


def titles(root: Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAMESPACE}title")]


def things(root: Element, kind: str) -> dict[str, Element]:
    """The elements with ``data-kind``, by its value."""
    elements = [element for element in root.iter() if f"data-{kind}" in element.attrib]
    by_value = {element.attrib[f"data-{kind}"]: element for element in elements}
    assert len(by_value) == len(elements), f"two elements with one data-{kind}"
    return by_value


def played(players: int, side: str, seed: int, agent: str, actions: int) -> Game:
    """A game after some actions, or at its end."""
    game, player = Game(players, side, seed, max_turns=60), make_agent(agent)
    while not game.is_over and actions > 0:
        game.play(decide_game(game, player))
        actions -= 1
    return game


def positions(players: int, side: str, agent: str = "crowd", every: int = 9) -> Iterator[Game]:
    """Positions of one game, its first and last among them."""
    game, player = Game(players, side, 3, max_turns=40), make_agent(agent)
    number = 0
    while not game.is_over:
        if number % every == 0:
            yield game
        game.play(decide_game(game, player))
        number += 1
    yield game


ANY_GAME = st.builds(
    played,
    players=st.integers(2, 4),
    side=st.sampled_from(["front", "back"]),
    seed=st.integers(0, 2**40),
    agent=st.sampled_from(["random", "crowd", "hoard"]),
    actions=st.integers(0, 300),
)
quick = settings(max_examples=25)


# ---- a picture at all ----


@quick
@given(ANY_GAME, st.sampled_from([1200, 640]), st.sampled_from(sorted(THEMES)))
def test_every_picture_is_valid_and_pure(game: Game, width: int, theme: str) -> None:
    before = game.state.tobytes()
    for seat in (None, game.seat):
        options: dict[str, Any] = {
            "theme": theme,
            "width": width,
            "events": game.events,
            "legal": game.mask,
        }
        picture = svg(game.state, seat, **options)
        assert picture == svg(game.state.copy(), seat, **options)
        root = parsed(picture)
        assert root.tag == f"{NAMESPACE}svg"
        assert root.attrib["width"] == str(width)
        assert "None" not in picture
        assert "nan" not in picture
        assert not re.search(r'\sid="|url\(|<style|<script|href', picture)
        assert all(set(element.attrib) <= ALLOWED for element in root.iter())
    assert game.state.tobytes() == before


ALLOWED = {
    *(f"data-{kind}" for kind in KINDS),
    *(
        "data-action",
        "data-piece",
        "data-count",
        "data-theme",
        "class",
        "viewBox",
        "width",
        "height",
        "role",
        "transform",
        "opacity",
    ),
    *(
        "x",
        "y",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "d",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-width",
        "stroke-opacity",
    ),
    *(
        "stroke-dasharray",
        "stroke-linecap",
        "stroke-linejoin",
        "font-size",
        "font-weight",
        "font-family",
        "text-anchor",
    ),
}
"""Presentation attributes and our own: nothing that needs an id, a style sheet or a script."""


@quick
@given(ANY_GAME, st.sampled_from([1200, 640]))
def test_nothing_is_written_outside_of_the_picture(game: Game, width: int) -> None:
    root = parsed(
        svg(
            game.state,
            game.seat,
            events=game.events,
            width=width,
            agents=["a long name indeed"] * game.num_players,
        )
    )
    _, _, breadth, height = map(float, root.attrib["viewBox"].split())
    for x, y, size, text in placed_texts(root):
        assert 0 <= x <= breadth, text
        assert size * 0.7 <= y <= height, text


def placed(
    element: Element, x: float = 0.0, y: float = 0.0, scale: float = 1.0
) -> Iterator[tuple[Element, float, float, float]]:
    """Every element, where its own coordinates begin, and how much they are enlarged, in the
    picture's own units.
    """
    match = re.match(
        r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?$", element.attrib.get("transform", "")
    )
    if match:
        x, y = x + scale * float(match[1]), y + scale * float(match[2])
        scale *= float(match[3] or 1)
    yield element, x, y, scale
    for child in element:
        yield from placed(child, x, y, scale)


def placed_texts(root: Element) -> Iterator[tuple[float, float, float, str]]:
    """Where texts stand, and their size, in the picture's own units."""
    for element, x, y, scale in placed(root):
        if element.tag == f"{NAMESPACE}text":
            size = scale * float(element.attrib["font-size"])
            yield (
                x + scale * float(element.attrib["x"]),
                y + scale * float(element.attrib["y"]),
                size,
                element.text or "",
            )


def span(element: Element) -> tuple[float, float]:
    """From where to where a text (by its estimated width), a rectangle, a circle or a path of
    straight lines goes, unmoved.
    """
    numbers = {
        name: float(value)
        for name, value in element.attrib.items()
        if re.fullmatch(r"-?[\d.]+", value)
    }
    match element.tag.removeprefix(NAMESPACE):
        case "text":
            wide = width_of(element.text or "", numbers["font-size"]) * (
                1.08 if "font-weight" in element.attrib else 1.0
            )
            left = numbers["x"] - wide * {"middle": 0.5, "end": 1.0}.get(
                element.attrib.get("text-anchor", ""), 0.0
            )
            return left, left + wide
        case "rect":
            return numbers["x"], numbers["x"] + numbers["width"]
        case "circle":
            return numbers["cx"] - numbers["r"], numbers["cx"] + numbers["r"]
        case "path":
            xs = [float(x) for x in re.findall(r"[MLH](-?[\d.]+)", element.attrib["d"])]
            return min(xs), max(xs)
        case tag:
            raise AssertionError(tag)


PICTURES = [
    (players, side, width) for players, side in ((2, "front"), (4, "back")) for width in (1200, 640)
]


@pytest.mark.parametrize(("players", "side", "width"), PICTURES)
def test_names_of_signs_have_room(players: int, side: str, width: int) -> None:
    """In the corners of the board every name keeps away from its own sign, and every sign from the
    name before it.
    """
    entries = []
    for element, x, y, _ in placed(parsed(svg(Game(players, side, 1).state, width=width))):
        if len(element) and element[-1].text in (*BUSINESSES, *COLOURS):
            sign, label = span(element[0]), span(element[-1])
            assert label[0] - sign[1] >= 4, element[-1].text
            entries.append((y, x + sign[0], x + label[1], element[-1].text))
    assert sorted(entry[3] for entry in entries) == sorted([*BUSINESSES, *COLOURS])
    for (y, _, end, name), (next_y, begin, _, _) in pairwise(sorted(entries)):
        assert y != next_y or begin - end >= 8, name


@pytest.mark.parametrize(("players", "side", "width"), PICTURES)
def test_nothing_is_written_across_the_edge_of_a_district(
    players: int, side: str, width: int
) -> None:
    root = parsed(svg(Game(players, side, 1).state, width=width))
    districts = list(things(root, "district").values())
    inside = {text for district in districts for text in district.iter(f"{NAMESPACE}text")}
    elements = list(placed(root))
    blocks = [
        (x - city.BLOCK / 2, x + city.BLOCK / 2, y)
        for element, x, y, _ in elements
        if element in districts
    ]
    assert len(blocks) == 7
    for element, x, y, scale in elements:
        if element.tag == f"{NAMESPACE}text" and element not in inside:
            (left, right), base = span(element), y + scale * float(element.attrib["y"])
            for begin, end, middle in blocks:
                beside = x + scale * right <= begin or x + scale * left >= end
                assert beside or abs(base - middle) > city.BLOCK / 2, element.text


@pytest.mark.parametrize(("players", "side", "width"), PICTURES)
def test_returned_cards_stay_below_their_own_stack(players: int, side: str, width: int) -> None:
    game = Game(players, side, 1)
    game.state["returned"][:5] = [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]
    for number in range(1, 13):
        game.state["num_returned"][:5] = number
        root = parsed(svg(game.state, width=width))
        stacks = [
            (element, x, scale)
            for element, x, _, scale in placed(root)
            if "data-stack" in element.attrib
        ]
        spans = [
            (x + scale * span(stack[-1])[0], x + scale * span(stack[-1])[1])
            for stack, x, scale in stacks[:5]
        ]
        assert all((stack[-1].text or "").startswith("445"[:number]) for stack, _, _ in stacks[:5])
        assert all(following[0] - before[1] >= 4 for before, following in pairwise(spans))


@pytest.mark.parametrize(
    "names", [["you", None], ["a name with many words that is as long as that"] * 2]
)
@pytest.mark.parametrize("width", [1200, 640])
def test_the_headline_keeps_its_place_above_the_board(names: list[str | None], width: int) -> None:
    for game in positions(2, "front", every=20):
        root = parsed(svg(game.state, 0, agents=names, width=width))
        breadth, elements = float(root.attrib["viewBox"].split()[2]), list(placed(root))
        is_ground = [
            float(element.attrib.get("width", 0)) == city.size(width < 700)[0]
            for element, *_ in elements
        ]
        board = is_ground.index(True)
        above = [item for item in elements[:board] if item[0].tag == f"{NAMESPACE}text"]
        assert len(above) >= 2
        for text, x, y, scale in above:
            assert y + scale * float(text.attrib["y"]) + 6 <= elements[board][2], text.text
            assert x + scale * span(text)[1] <= breadth - 18, text.text


def test_themes_differ_in_colours_alone() -> None:
    """Nothing but colours (and the mark that tells the theme) tells them apart."""
    game = played(3, "back", 5, "crowd", 150)
    light, dark = (svg(game.state, theme=theme, events=game.events) for theme in ("light", "dark"))
    assert light != dark
    colourless = [
        re.sub(r'"#[0-9a-f]+"|data-theme="\w+"', "", picture) for picture in (light, dark)
    ]
    assert colourless[0] == colourless[1]


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, by WCAG."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", sorted(THEMES))
def test_text_stands_out(name: str) -> None:
    """Contrasts of WCAG 2: 4.5 for text, 3 for the bold large text on the seats' colours."""
    theme = THEMES[name]

    def contrast(a: str, b: str) -> float:
        high, low = sorted((luminance(a), luminance(b)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for ground in (theme.panel, theme.board, theme.table, theme.block):
        assert contrast(theme.ink, ground) >= 4.5
    assert contrast(theme.faint, theme.panel) >= 4.5
    assert contrast(theme.on_gold, theme.gold) >= 4.5
    for seat, text in zip(theme.seats, theme.on_seats, strict=True):
        assert contrast(seat, text) >= 3
    assert all(contrast(line, theme.panel) >= 4.5 for line in theme.seat_lines)
    assert all(contrast(suit, theme.paper) >= 3 for suit in theme.suits)


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_wide_pictures_of_a_game_have_one_size(players: int, side: str) -> None:
    """Or films would jump."""
    sizes = {
        parsed(svg(game.state, events=game.events)).attrib["height"]
        for game in positions(players, side)
    }
    assert len(sizes) == 1


def test_narrow_pictures_stand_upright() -> None:
    game = Game(4, seed=1)
    wide, narrow = (parsed(svg(game.state, width=width)).attrib for width in (700, 699))
    assert int(wide["width"]) > int(wide["height"])
    assert int(narrow["width"]) < int(narrow["height"])


# ---- what is hidden ----


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_the_picture_for_a_seat_is_made_of_what_it_may_know(players: int, side: str) -> None:
    """Whoever deals anew what the seat can't know sees the same picture, also of events."""
    rng = np.random.default_rng(1)
    for game in positions(players, side, every=60):
        for seat in range(players):
            twin = game.copy()
            deal_anew(cast(np.recarray, twin.state), seat, rng)
            events = [told_anew(event, seat) for event in game.events]
            assert svg(game.state, seat, events=game.events) == svg(twin.state, seat, events=events)
            assert svg(game.state, seat) == svg(game.view(seat))


def told_anew(event: dict[str, Any], seat: int) -> dict[str, Any]:
    """An event with other values where the seat can't know them."""
    if event["event"] == "setup":
        return {**event, "hands": [{} for _ in event["hands"]]}
    if event["event"] == "black" and event["seat"] != seat:
        return {**event, "card": 10 - event["card"]}
    return event


def test_spectators_see_all_hands_and_a_seat_its_own() -> None:
    game = Game(3, seed=1)
    everything, seen = parsed(svg(game.state)), parsed(svg(game.state, 1))
    assert {card[0] for card in things(everything, "card")} == {"0", "1", "2"}
    assert {card[0] for card in things(seen, "card")} == {"1"}
    hidden = [title for title in titles(seen) if title.endswith("not known")]
    assert len(hidden) == 2 * 6
    assert "4 black cards of seat 1, not known" in hidden
    assert not any(title.endswith("not known") for title in titles(everything))


def test_every_card_of_an_open_hand_is_there() -> None:
    game = played(4, "front", 7, "hoard", 200)
    cards = things(parsed(svg(game.state)), "card")
    hand = game.state["hand"]
    expected = {f"{s}:{c}:{r}" for s, c, r in np.argwhere(hand[:4] > 0)}
    assert set(cards) == expected
    for name, element in cards.items():
        seat, colour, rank = map(int, name.split(":"))
        copies = int(hand[seat, colour, rank])
        assert (f"×{copies}" in texts(element)) == (copies > 1)


# ---- what can be clicked ----


def check_marks(game: Game, root: Element) -> None:
    """Whatever an action can mean names its actions; exactly the legal ones are marked."""
    found, cards = set(), "data-card"
    for element in root.iter():
        if "data-action" not in element.attrib:
            assert "class" not in element.attrib
            continue
        assert element[0].tag == f"{NAMESPACE}title"
        assert element[0].text
        actions = {int(action) for action in element.attrib["data-action"].split()}
        legal = actions & set(game.legal_actions)
        if cards in element.attrib and element.attrib[cards][0] != str(game.seat):
            legal = set()
        assert (element.attrib.get("class") == "legal") == bool(legal)
        found |= legal
    assert found == PLACED & set(game.legal_actions)


@quick
@given(ANY_GAME, st.sampled_from([1200, 640]))
def test_what_can_be_clicked_is_marked(game: Game, width: int) -> None:
    check_marks(game, parsed(svg(game.state, game.seat, legal=game.mask, width=width)))


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_marks_of_a_whole_game(players: int, side: str) -> None:
    for game in positions(players, side, every=19):
        check_marks(game, parsed(svg(game.state, legal=game.mask)))


def test_without_legal_actions_nothing_is_marked() -> None:
    game = played(2, "front", 1, "random", 20)
    root = parsed(svg(game.state))
    assert not [element for element in root.iter() if "class" in element.attrib]
    assert not things(root, "place")


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_everything_has_its_element(players: int, side: str) -> None:
    for game in positions(players, side, every=30):
        root = parsed(svg(game.state))
        plots = 5 if side == "front" else 6
        assert set(things(root, "district")) == {str(d) for d in range(7)}
        assert set(things(root, "plot")) == {f"{d}:{p}" for d in range(7) for p in range(plots)}
        assert set(things(root, "stack")) == {str(colour) for colour in range(6)}
        assert set(things(root, "commissioner")) == {"0", "1"}
        for district, element in things(root, "district").items():
            assert {plot[0] for plot in things(element, "plot")} == {district}


def test_the_types_of_the_current_set_are_there() -> None:
    game = Game(2, seed=1)
    game.state["row"][:3] = (3, 1, 3)
    game.refresh()
    rows = things(parsed(svg(game.state)), "row-type")
    assert set(rows) == {"1", "3"}
    assert titles(rows["3"]) == ["perfumery in the current set"]


# ---- what is drawn ----


def test_plots_tell_what_stands_on_them() -> None:
    state = built_up(TSQ).state
    plots = things(parsed(svg(state, agents=["greedy", None])), "plot")
    assert [titles(plots[f"{TSQ}:{plot}"])[0] for plot in range(5)] == [
        "TSQ green: 12 skyscrapers of seat 1 (greedy); a skyscraper scores 3 VP here",
        "TSQ violet: 1 skyscraper of seat 2; a skyscraper scores 1 VP here",
        "TSQ brown: 3 skyscrapers of Alea; a skyscraper scores 1 VP here",
        "TSQ orange: empty; a skyscraper scores 3 VP here",
        "TSQ gray: boutique and gallery",
    ]
    written = [
        texts(plots[f"{TSQ}:{plot}"]) for plot in range(5)
    ]  # a count is there twice, once as its own halo
    assert written == [["3", "×12", "×12"], ["1"], ["1", "×3", "×3"], ["3"], []]


def test_a_stopped_district_says_so() -> None:
    game = Game(3, "back", seed=1)
    game.state["stopped"][TSQ] = 1
    district = things(parsed(svg(game.state)), "district")[str(TSQ)]
    assert texts(district) == ["TSQ", "TSQ", "BUILDING", "STOP"]
    assert "TSQ, Times Square: building stop" in titles(district)


def test_commissioners_and_markers_stand_where_they_are() -> None:
    game = Game(2, seed=1)
    state = game.state
    state["place"][:] = (TSQ, PLACES.index("CENTRAL_PARK"))
    state["markers"][:] = (1, 3)
    state["visited"][:] = ((0, NONE, NONE), (1, 3, 5))
    root = parsed(svg(state))
    districts = things(root, "district")
    assert list(things(districts[str(TSQ)], "commissioner")) == ["0"]
    assert titles(things(root, "commissioner")["1"]) == ["the beige commissioner, in Central Park"]
    marked = {
        district: [title.split()[3] for title in titles(element) if title.startswith("marker")]
        for district, element in districts.items()
    }
    assert marked == {
        "0": ["white"],
        "1": ["beige"],
        "3": ["beige"],
        "5": ["beige"],
        "2": [],
        "4": [],
        "6": [],
    }


@pytest.mark.rule("COM-7", "COM-9")
def test_rings_are_drawn_in_their_order(tmp_path: Path) -> None:
    """By the angle of every plot's shape about the middle of its district."""
    board = tmp_path / "board.toml"
    board.write_text(
        '[rings]\nTSQ = ["gray", "orange", "sixth", "green", "brown", "violet"]\n', encoding="utf-8"
    )
    game = Game(2, "back", 1, board=board)
    plots = things(parsed(svg(game.state)), "plot")

    def angle(plot: int) -> float:
        points = re.findall(
            r"(-?[\d.]+) (-?[\d.]+)(?=[AL])",
            next(plots[f"{TSQ}:{plot}"].iter(f"{NAMESPACE}path")).attrib["d"],
        )
        (x0, y0), *_ = [(float(x), float(y)) for x, y in points]
        return float(
            np.arctan2(x0, -y0) % (2 * np.pi)
        )  # of the corner where the plot begins, clockwise from the top

    order = sorted(range(6), key=lambda plot: (angle(plot) + np.pi / 6) % (2 * np.pi))
    assert order == [
        COLOURS.index("gray"),
        COLOURS.index("orange"),
        5,
        0,
        COLOURS.index("brown"),
        COLOURS.index("violet"),
    ]


def test_an_auction_shows_bids_and_the_limit() -> None:
    game, player = Game(2, seed=1), make_agent("random")
    while game.phase != "bid" or game.state["highest_bidder"] not in (0, 1):
        game.play(decide_game(game, player))
    state = game.state
    written = texts(parsed(svg(state)))
    place = PLACES[state["auction_place"]]
    assert f"AUCTION: {place}" in written or (
        place == "CENTRAL_PARK" and "AUCTION: PARK AREA" in written
    )
    bidder = int(state["highest_bidder"])
    limit = 3 - int(np.flatnonzero(state["bid_cards"][bidder].sum(axis=0)).max())
    assert f"{state['highest']} by seat {bidder + 1}: builds up to {limit}" in written


@pytest.mark.rule("ALEA-1")
def test_alea_sits_at_the_table_of_two() -> None:
    assert "Alea has 18 skyscrapers left" in texts(parsed(svg(Game(2, seed=1).state)))
    assert not any("Alea" in text for text in texts(parsed(svg(Game(3, seed=1).state))))


def test_the_headline_says_what_the_game_waits_for() -> None:
    for game in positions(2, "front", every=5):
        root = parsed(svg(game.state, agents=["ann", "bob"]))
        headline = titles(root)[0]
        assert headline.startswith("Fifth Avenue: ")
        if game.seat is None:
            assert re.search(r"wins? with \d+ VP|share the win", headline)
        else:
            assert headline.startswith(
                f"Fifth Avenue: seat {game.seat + 1} ({'ann' if game.seat == 0 else 'bob'}) "
            )


@pytest.mark.parametrize(("width", "smallest"), [(1200, 15.5), (640, 13.0)])
@pytest.mark.parametrize("side", ["front", "back"])
def test_text_can_be_read(width: int, smallest: float, side: str) -> None:
    """12 pixels on a screen that gives a wide picture 930 pixels, or an upright one 600."""
    for players in (2, 4):
        for game in positions(players, side, every=40):
            root = parsed(svg(game.state, game.seat, events=game.events, width=width))
            sizes = {text: size for _, _, size, text in placed_texts(root)}
            assert {text: size for text, size in sizes.items() if size < smallest} == {}


def test_many_returned_cards_are_one_line() -> None:
    game = Game(2, seed=1)
    game.state["returned"][0, :9] = [0, 1, 2, 0, 1, 2, 0, 1, 2]
    game.state["num_returned"][0] = 9
    stack = things(parsed(svg(game.state)), "stack")["0"]
    assert "456…" in texts(stack)
    assert titles(stack)[0].endswith("next one first: 4, 5, 6, 4, 5, 6, 4, 5, 6")


def test_the_log_shows_the_newest_events() -> None:
    game = played(3, "front", 2, "random", 90)
    written = texts(parsed(svg(game.state, events=game.events, agents=["a", "b", "c"])))
    assert "WHAT HAPPENED" in written
    assert "WHAT HAPPENED" not in texts(parsed(svg(game.state)))


@pytest.mark.parametrize(
    "names", [["a", "b", "c"], ["a name with many words that is as long as that"] * 3]
)
def test_the_log_begins_with_a_sentences_beginning(names: list[str]) -> None:
    """Whatever room an evaluation leaves."""
    checked = 0
    for game in positions(3, "front", every=15):
        evaluation = None if game.is_over else Evaluation(game.mask / game.mask.sum(), 0.0)
        for options in ({"evaluation": evaluation}, {"width": 640}):
            root = parsed(svg(game.state, events=game.events, agents=names, **options))
            written = texts(root)
            if "WHAT HAPPENED" in written:
                first = written[written.index("WHAT HAPPENED") + 1]
                assert first.split()[:2] in [line.split()[:2] for line in log(game.events, names)]
                checked += 1
    assert checked > 4


# ---- an agent's evaluation ----


def test_an_evaluation_is_drawn_with_its_likeliest_actions_first() -> None:
    game = Game(3, seed=1)
    probabilities = np.zeros(NUM_ACTIONS)
    likely = game.legal_actions[3], game.legal_actions[0]
    probabilities[list(likely)] = (0.75, 0.25)
    written = texts(parsed(svg(game.state, evaluation=Evaluation(probabilities, -0.5))))
    assert written.index("75 %") < written.index("25 %")
    assert "expects -0.50" in written
    assert "AN AGENT'S EVALUATION" in written
    assert not any(
        "expects" in line
        for line in texts(parsed(svg(game.state, evaluation=Evaluation(probabilities))))
    )


@pytest.mark.parametrize(
    "evaluation",
    [
        Evaluation(np.zeros(3), 0.0),
        Evaluation(np.full(NUM_ACTIONS, -1.0), 0.0),
        Evaluation(np.full(NUM_ACTIONS, np.nan), 0.0),
        Evaluation(np.zeros(NUM_ACTIONS), np.inf),
    ],
)
def test_an_evaluation_that_cannot_be(evaluation: Evaluation) -> None:
    with pytest.raises(OptionError, match="evaluation"):
        svg(Game(2, seed=1).state, evaluation=evaluation)


def test_an_evaluation_is_drawn_for_its_own_seat_and_for_who_sees_everything() -> None:
    """It would tell another seat which cards are in that hand."""
    game = Game(3, seed=1)
    evaluation = Evaluation(game.mask / game.mask.sum())
    assert game.seat == 0
    for position, seat in ((game.state, None), (game.state, 0), (game.view(0), None)):
        assert "AN AGENT'S EVALUATION" in svg(position, seat, evaluation=evaluation)
    for position, seat in (
        (game.state, 1),
        (game.state, 2),
        (game.view(1), None),
        (game.view(2), 2),
    ):
        with pytest.raises(OptionError, match="evaluation of another seat"):
            svg(position, seat, evaluation=evaluation)
        assert svg(position, seat)


# ---- what people write ----

HOSTILE = [
    '</text><script>alert("x")</script>',
    "\"' onload='x' <&>]]>",
    "\x00\x0b\ud800\uffff\x1b[2J",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("width", [1200, 640])
def test_names_and_titles_are_escaped(name: str, width: int) -> None:
    game = played(2, "front", 1, "random", 40)
    picture = svg(game.state, agents=[name, name], title=name, events=game.events, width=width)
    picture.encode("utf-8")
    root = parsed(picture)
    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= {
        *("svg", "g", "title", "text", "rect", "circle", "ellipse", "path")
    }
    assert all(set(element.attrib) <= ALLOWED for element in root.iter())


@given(st.text(max_size=60))
@quick
def test_any_name_gives_a_valid_picture(name: str) -> None:
    game = Game(2, seed=1)
    root = parsed(svg(game.state, agents=[name, None], title=name or None))
    _, _, breadth, _ = map(float, root.attrib["viewBox"].split())
    assert breadth == 1200


# ---- what can't be drawn ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": 2}, "seat must be a whole number from 0 to 1, not 2"),
        ({"seat": -1}, "seat must be a whole number from 0 to 1"),
        ({"seat": True}, "seat must be a whole number from 0 to 1"),
        ({"seat": "0"}, "seat must be a whole number from 0 to 1"),
        ({"theme": "sepia"}, "theme must be one of light, dark"),
        ({"width": 0}, "width must be a whole number"),
        ({"width": 1.5}, "width must be a whole number"),
        ({"legal": np.ones(5)}, "legal must be an action mask"),
        ({"agents": ["a"]}, "agents must name each of the 2 seats"),
        ({"events": [{"event": "rain"}]}, "there is no event 'rain'"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        svg(Game(2, seed=1).state, **options)


def test_only_positions_can_be_drawn() -> None:
    with pytest.raises(OptionError, match="a position is a record of GAME_DTYPE or VIEW_DTYPE"):
        svg(np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(
        OptionError, match="this is the view of seat 0; it can't be drawn for seat 1"
    ):
        svg(Game(2, seed=1).view(0), 1)


# ---- golden pictures ----

GOLDEN_PICTURES: dict[str, tuple[str, int | None, dict[str, Any]]] = {
    "auction.svg": ("two_players_alea.jsonl", 34, {"seat": 1}),
    "late.svg": ("four_players_crowd.jsonl", 540, {"theme": "dark"}),
    "end_upright.svg": ("three_players_back.jsonl", None, {"width": 640, "seat": 2}),
}
"""Record, step and options of every golden picture."""


def golden(name: str) -> str:
    source, step, options = GOLDEN_PICTURES[name]
    game = Game.replay(nth_game(GOLDEN / source), step)
    return svg(
        game.state,
        events=game.events,
        legal=game.mask,
        agents=["ann", "bob", "cid", "dee"][: game.num_players],
        **options,
    )


def structure(element: Element) -> list[Any]:
    """What is in an element and where it stands in the tree, without coordinates and colours."""
    kept = {
        key: value
        for key, value in element.attrib.items()
        if key.startswith("data-") or key == "class"
    }
    inside = [structure(child) for child in element]
    text = (element.text or "").strip()
    return [element.tag.removeprefix(NAMESPACE), kept, text, inside]


@pytest.mark.parametrize("name", GOLDEN_PICTURES)
def test_golden_pictures_are_drawn_again(name: str) -> None:
    """The same things, marks, titles and texts in the same order, however they are drawn."""
    assert structure(parsed(golden(name))) == structure(
        parsed((GOLDEN / name).read_text(encoding="utf-8"))
    )


def test_the_golden_pictures_are_those_listed() -> None:
    assert sorted(path.name for path in GOLDEN.glob("*.svg")) == sorted(GOLDEN_PICTURES)


# ---- elsewhere ----


def test_a_notebook_shows_the_game() -> None:
    game = played(3, "front", 1, "random", 30)
    check_marks(game, parsed(game._repr_svg_()))


def test_marks_and_reasons_agree() -> None:
    """What isn't marked can be explained."""
    game = Game(2, seed=1)
    root = parsed(svg(game.state, legal=game.mask))
    for name, element in things(root, "plot").items():
        district, plot = map(int, name.split(":"))
        assert (element.attrib.get("class") == "legal") == (
            why_illegal(game.state, PLOT + NUM_PLOTS * district + plot) == ""
        )


if __name__ == "__main__":
    for picture_name in GOLDEN_PICTURES:
        (GOLDEN / picture_name).write_text(golden(picture_name), encoding="utf-8")
