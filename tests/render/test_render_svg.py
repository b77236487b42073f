"""The picture: valid, pure, complete, legible, drawn of parts, and everything that can be chosen
marked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from scenario import built_up
from skyenv import Game, OptionError, make_agent
from skyenv.agents import decide_game
from skyenv.render import city, panels, svg
from skyenv.render.colours import THEMES, VARIABLES, variables
from skyenv.render.marks import width_of
from skyenv.render.parts import ROOT, Drawing, Part, digests, slot
from skyenv.render.svg import drawing
from skyenv.render.words import log
from skyenv.rules.actions import BID, BID_DONE, OPTION_B, OPTION_C, OPTION_D, PASS
from skyenv.rules.components import BUSINESSES, COLOURS, DISTRICTS, PLACES
from skyenv.rules.state import NONE

NAMESPACE = "{http://www.w3.org/2000/svg}"
TEXT = f"{NAMESPACE}text"
TABLES = [(2, "front"), (3, "back"), (4, "front")]
PICTURES = [(*table, width) for table in TABLES for width in (1200, 640)]
NAMES = ["ann", "a name with many words that is as long as that", "cid", "dee"]
PLACED = {*range(OPTION_B, OPTION_C), *range(OPTION_D, PASS), *range(BID, BID_DONE)}
"""The actions that have a place on the table."""
TSQ = DISTRICTS.index("TSQ")
SHAPES = {"svg", "g", "title", "text", "rect", "circle", "ellipse", "path"}
NEEDY = re.compile(r'\s(id|style|href|on\w+)="|url\(|<style|<script|None|nan')
"""What a picture in HTML may not hold: ids, sheets, links and scripts; and what isn't a number."""

Element = ElementTree.Element


def parsed(picture: str) -> Element:
    """The picture as a tree; it must be well-formed."""
    assert not NEEDY.search(picture)
    root = ElementTree.fromstring(picture)
    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= SHAPES
    return root


def texts(root: Element) -> list[str]:
    """All that is written in a picture, titles left out."""
    return [element.text or "" for element in root.iter(TEXT)]


def titles(root: Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAMESPACE}title")]


def things(root: Element, kind: str) -> dict[str, Element]:
    """The elements with ``data-kind``, by its value."""
    elements = [element for element in root.iter() if f"data-{kind}" in element.attrib]
    by_value = {element.attrib[f"data-{kind}"]: element for element in elements}
    assert len(by_value) == len(elements), f"two elements with one data-{kind}"
    return by_value


@functools.cache
def positions(players: int, side: str, every: int = 17) -> list[Game]:
    """Positions of one game, its first and last among them."""
    game, player, found = Game(players, side, 3, max_turns=40), make_agent("crowd"), []
    while not game.is_over:
        found.append(game.copy())
        game.play(decide_game(game, player))
    return [*found[::every], game]


def placed(
    element: Element, x: float = 0.0, y: float = 0.0, scale: float = 1.0
) -> Iterator[tuple[Element, float, float, float]]:
    """Every element, where its own coordinates begin, and how much they are enlarged, in the
    picture's own units.
    """
    moved = element.attrib.get("transform", "")
    if match := re.match(r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?$", moved):
        x, y = x + scale * float(match[1]), y + scale * float(match[2])
        scale *= float(match[3] or 1)
    yield element, x, y, scale
    for child in element:
        yield from placed(child, x, y, scale)


def span(text: Element) -> tuple[float, float]:
    """From where to where a text goes, unmoved, by its estimated width."""
    wide = width_of(text.text or "", float(text.attrib["font-size"]))
    share = {"middle": 0.5, "end": 1.0}.get(text.attrib.get("text-anchor", ""), 0.0)
    left = float(text.attrib["x"]) - share * wide
    return left, left + wide


def check_marks(game: Game, root: Element) -> None:
    """Whatever an action can mean names its actions; exactly the legal ones are marked."""
    found = set()
    for element in root.iter():
        actions = {int(action) for action in element.attrib.get("data-action", "").split()}
        legal = actions & set(game.legal_actions)
        if element.attrib.get("data-card", str(game.seat))[0] != str(game.seat):
            legal = set()
        assert (element.attrib.get("class") == "legal") == bool(legal)
        assert not actions or (element[0].tag == f"{NAMESPACE}title" and element[0].text)
        found |= legal
    assert found == PLACED & set(game.legal_actions)


# ---- every picture ----


@pytest.mark.parametrize(("players", "side", "width"), PICTURES)
def test_pictures_are_complete_marked_and_legible(players: int, side: str, width: int) -> None:
    """Text is 12 pixels high where a wide picture has 930 pixels, or an upright one 600."""
    heights = set()
    for game in positions(players, side):
        options: dict[str, Any] = {"agents": NAMES[:players], "events": game.events}
        before = game.state.tobytes()
        root = parsed(svg(game.state, legal=game.mask, width=width, **options))
        assert game.state.tobytes() == before
        check_marks(game, root)
        assert titles(root)[0].startswith("Fifth Avenue: seat ")
        plots = range(5 if side == "front" else 6)
        hands = np.argwhere(game.state["hand"][:players] > 0)
        assert set(things(root, "plot")) == {f"{d}:{p}" for d in range(7) for p in plots}
        assert set(things(root, "district")) == set("0123456")
        assert set(things(root, "stack")) == set("012345")
        assert set(things(root, "commissioner")) == {"0", "1"}
        assert set(things(root, "card")) == {f"{s}:{c}:{r}" for s, c, r in hands}
        _, _, breadth, height = map(float, root.attrib["viewBox"].split())
        for text, x, y, scale in placed(root):
            if text.tag == TEXT:
                size = scale * float(text.attrib["font-size"])
                assert size >= (15.5 if width == 1200 else 13.0), text.text
                assert x + scale * span(text)[0] >= 0, text.text
                assert x + scale * span(text)[1] <= breadth, text.text
                assert size * 0.7 <= y + scale * float(text.attrib["y"]) <= height, text.text
        heights.add(height)
    assert len(heights) == 1 or width == 640, "films would jump"
    assert (height < breadth) == (width == 1200)


@pytest.mark.parametrize(("players", "side", "width"), PICTURES)
def test_nothing_is_written_across_an_edge(players: int, side: str, width: int) -> None:
    """Of a district, or of the stack beside, also with many returned cards; names in the corners
    keep away from the next sign.
    """
    game = Game(players, side, 1)
    game.state["returned"][:5], game.state["num_returned"][:5] = [0, 0, 1, 1, 2, 2] * 2, 12
    root = parsed(svg(game.state, width=width))
    districts, elements = list(things(root, "district").values()), list(placed(root))
    inside = {text for district in districts for text in district.iter(TEXT)}
    blocks = [(x, y) for element, x, y, _ in elements if element in districts]
    signs, stacks = [], []
    for element, x, y, scale in elements:
        if "data-stack" in element.attrib and element.attrib["data-stack"] != "5":
            assert (element[-1].text or "").startswith("445")
            stacks.append([x + scale * end for end in span(element[-1])])
        if element.tag == TEXT and element not in inside:
            left, right = (x + scale * end for end in span(element))
            base = y + scale * float(element.attrib["y"])
            signs += [(base, left, right)] if element.text in (*BUSINESSES, *COLOURS) else []
            for middle, centre in blocks:
                beside = right <= middle - city.BLOCK / 2 or left >= middle + city.BLOCK / 2
                assert beside or abs(base - centre) > city.BLOCK / 2, element.text
    assert len(blocks) == 7
    assert len(stacks) == 5
    assert len(signs) == 9
    assert all(following[0] - before[1] >= 4 for before, following in pairwise(stacks))
    for (y, _, end), (next_y, begin, _) in pairwise(sorted(signs)):
        assert y != next_y or begin - end >= 20  # the sign's own width and the space before it


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_the_log_is_the_end_of_what_happened_in_whole_sentences(players: int, side: str) -> None:
    for game in positions(players, side)[2:]:
        for width in (1200, 640):
            drawn = drawing(game.state, 0, events=game.events, width=width).parts
            if "log" not in drawn:
                continue
            written = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn["log"].text)[1:])
            lines = log(game.events, seat=0)
            assert any(written == " ".join(lines[-number:]) for number in range(1, 40))


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, by WCAG."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_themes_are_colours_alone_that_can_be_read(theme: Any) -> None:
    """Contrasts of WCAG 2: 4.5 for text, 3 for the bold large text on the seats' colours. A style
    sheet's variables draw the same.
    """

    def contrast(a: str, b: str) -> float:
        high, low = sorted((luminance(a), luminance(b)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    grounds = (theme.panel, theme.board, theme.table, theme.block)
    assert all(contrast(theme.ink, ground) >= 4.5 for ground in grounds)
    assert contrast(theme.faint, theme.panel) >= 4.5
    assert contrast(theme.on_gold, theme.gold) >= 4.5
    seats = zip(theme.seats, theme.on_seats, strict=True)
    assert all(contrast(seat, text) >= 3 for seat, text in seats)
    assert all(contrast(line, theme.panel) >= 4.5 for line in theme.seat_lines)
    assert all(contrast(suit, theme.paper) >= 3 for suit in theme.suits)
    colours = dict(declaration.split(":") for declaration in variables(theme).split(";"))
    for game in positions(2, "front", 40):
        picture = drawing(game.state, theme=VARIABLES).text()
        written = re.sub(r"var\(([\w-]+)\)", lambda match: colours[match[1]], picture)
        written = written.replace('data-theme="any"', f'data-theme="{theme.name}"')
        assert written == svg(game.state, theme=theme.name)


# ---- what is drawn ----


def test_plots_tell_what_stands_on_them() -> None:
    plots = things(parsed(svg(built_up(TSQ).state, agents=["greedy", None])), "plot")
    assert [titles(plots[f"{TSQ}:{plot}"])[0] for plot in range(5)] == [
        "TSQ green: 12 skyscrapers of seat 1 (greedy); a skyscraper scores 3 VP here",
        "TSQ violet: 1 skyscraper of seat 2; a skyscraper scores 1 VP here",
        "TSQ brown: 3 skyscrapers of Alea; a skyscraper scores 1 VP here",
        "TSQ orange: empty; a skyscraper scores 3 VP here",
        "TSQ gray: boutique and gallery",
    ]
    # A count is there twice, once as its own halo.
    written = [texts(plots[f"{TSQ}:{plot}"]) for plot in range(5)]
    assert written == [["3", "×12", "×12"], ["1"], ["1", "×3", "×3"], ["3"], []]


def test_commissioners_markers_and_stops_stand_where_they_are() -> None:
    state = Game(2, seed=1).state
    state["place"][:] = (TSQ, PLACES.index("CENTRAL_PARK"))
    state["visited"][:] = ((0, NONE, NONE), (1, 3, 5))
    state["stopped"][4] = 1
    root = parsed(svg(state))
    districts = things(root, "district")
    assert list(things(districts[str(TSQ)], "commissioner")) == ["0"]
    assert titles(things(root, "commissioner")["1"]) == ["the beige commissioner, in Central Park"]
    marked = [
        [title.split()[3] for title in titles(districts[str(district)]) if "marker" in title]
        for district in range(7)
    ]
    assert marked == [["white"], ["beige"], [], ["beige"], [], ["beige"], []]
    assert texts(districts["4"])[1:] == [DISTRICTS[4], "BUILDING", "STOP"]
    assert titles(districts["4"])[0].endswith(": building stop")


@pytest.mark.rule("COM-7", "COM-9")
def test_rings_are_drawn_in_their_order(tmp_path: Path) -> None:
    """By the angle of every plot's shape about the middle of its district."""
    board, ring = tmp_path / "board.toml", ["gray", "orange", "sixth", "green", "brown", "violet"]
    board.write_text(f"[rings]\nTSQ = {ring}\n", encoding="utf-8")
    plots = things(parsed(svg(Game(2, "back", 1, board=board).state)), "plot")
    angles = {}
    for plot, name in enumerate((*COLOURS, "sixth")):
        outline = next(plots[f"{TSQ}:{plot}"].iter(f"{NAMESPACE}path")).attrib["d"]
        x, y = map(float, re.findall(r"-?[\d.]+", outline)[:2])  # where it begins, clockwise
        angles[name] = (np.arctan2(x, -y) + np.pi / 6) % (2 * np.pi)
    assert sorted(ring, key=lambda name: float(angles[name])) == ring


@pytest.mark.rule("ALEA-1")
def test_an_auction_shows_bids_and_the_limit() -> None:
    game = next(game for game in positions(2, "front", 1) if game.state["highest_bidder"] in (0, 1))
    written, bidder = texts(parsed(svg(game.state))), int(game.state["highest_bidder"])
    limit = 3 - int(np.flatnonzero(game.state["bid_cards"][bidder].sum(axis=0)).max())
    assert f"{game.state['highest']} by seat {bidder + 1}: builds up to {limit}" in written
    place = PLACES[game.state["auction_place"]].replace("CENTRAL_PARK", "PARK AREA")
    assert f"AUCTION: {place}" in written
    assert f"Alea has {game.state['alea_supply']} skyscrapers left" in written


def test_hands_and_types_of_the_current_set() -> None:
    game = Game(3, seed=1)
    game.state["row"][:3] = (3, 1, 3)
    seen = parsed(svg(game.state, 1))
    assert {card[0] for card in things(seen, "card")} == {"1"}
    assert "4 black cards of seat 1, not known" in titles(seen)
    assert sum(title.endswith("not known") for title in titles(seen)) == 2 * 6
    rows = things(seen, "row-type")
    assert titles(rows["3"]) == ["perfumery in the current set"]
    assert set(rows) == {"1", "3"}
    assert not [element for element in seen.iter() if "class" in element.attrib]
    check_marks(game, parsed(game._repr_svg_()))


# ---- parts ----


def test_parts_stand_in_their_slots_and_digests_tell_them_apart() -> None:
    drawn = Drawing()
    outer = drawn.add(Part("outer 1", f"<a>{drawn.add(Part('inner', '<b/>'))}</a>"))
    drawn.add(Part(ROOT, f"<svg>{outer}<c/>{slot('inner')}</svg>"))
    assert drawn.text() == "<svg><a><b/></a><c/><b/></svg>"
    parts = [Part(name, text) for name in ("a", "b") for text in ("x", "y")]
    assert all(re.fullmatch(r"[\w-]{6}", part.digest) for part in parts)
    assert len(digests("".join(part.digest for part in parts))) == 4
    assert digests("") == frozenset()


def test_a_step_changes_few_parts() -> None:
    known: dict[str, list[str]] = {}
    sizes = []
    for game in positions(4, "front", 1)[:80]:
        drawn = drawing(game.view(0), is_live=True)
        changes = drawn.changes({digest for digest, _ in known.values()})
        known |= changes
        assert {name: known[name] for name in drawn.parts} == drawn.changes()
        sizes.append(sum(len(text) for _, text in changes.values()))
    assert sizes[0] > 60_000
    assert np.median(sizes[1:]) < 9_000


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_cached_parts_are_what_would_be_drawn_anew(players: int, side: str) -> None:
    """By several threads, and by views, themes and sizes in turns, so that a part that leaves
    something out of its key would be told.
    """
    games = positions(players, side, 30)

    def draw(number: int) -> str:
        game, names = games[number % len(games)], (None, [*NAMES[:players]])[number % 2]
        seat, theme = (None, 0, players - 1)[number % 3], ("light", "dark")[number // 2 % 2]
        options: dict[str, Any] = {"theme": theme, "width": (1200, 640)[number // 3 % 2]}
        return svg(game.state, seat, events=game.events, legal=game.mask, agents=names, **options)

    numbers = list(range(0, 60, 5))
    with ThreadPoolExecutor(4) as pool:
        cached = list(pool.map(draw, range(60)))[::5]
    for number, picture in zip(numbers, cached, strict=True):
        for drawing_one in (*vars(city).values(), *vars(panels).values()):
            getattr(drawing_one, "cache_clear", int)()
        assert draw(number) == picture


def test_what_may_be_chosen_changes_nothing_of_a_live_drawing() -> None:
    """The page shows and hides what glows."""
    game = Game(3, seed=1)
    live = [drawing(game.state, legal=legal, is_live=True).text() for legal in (None, game.mask)]
    assert live[0] == live[1]
    assert 'class="legal"' not in live[0]
    glowing = r'<g data-{}="[^"]*" data-action="[^"]*">.*?</title>.*?class="glow" visibility="hid'
    for what in ("plot", "district", "stack", "card", "row-type", "commissioner"):
        assert re.search(glowing.format(what), live[0]), what
    assert len(things(parsed(live[0]), "place")) == 2 * 8  # all places but their own
    assert "visibility" not in svg(game.state, legal=game.mask)


# ---- what people write, and what can't be drawn ----

HOSTILE = [
    '</text><script>alert("x")</script>',
    "\"' onload='x' <&>]]>",
    "\x00\x0b\ud800\uffff\x1b[2J",
    f'"/>{slot("title")}',
    "w" * 500,
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_and_titles_are_escaped(name: str) -> None:
    game = positions(2, "front")[3]
    for width in (1200, 640):
        picture = svg(game.state, agents=[name, None], title=name, events=game.events, width=width)
        picture.encode("utf-8")
        root = ElementTree.fromstring(picture)
        assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= SHAPES
        assert not any(attribute.startswith("on") for e in root.iter() for attribute in e.attrib)
        assert not list(things(root, "part"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"seat": seat}, "seat must be a whole number from 0 to 1") for seat in (2, -1, "0")),
        ({"theme": "sepia"}, "theme must be one of light, dark"),
        *(({"width": width}, "width must be a whole number") for width in (0, 1.5)),
        ({"legal": np.ones(5)}, "legal must be an action mask"),
        ({"agents": ["a"]}, "agents must name each of the 2 seats"),
        ({"events": [{"event": "rain"}]}, "there is no event 'rain'"),
        ({"position": np.zeros(3)}, "a position is a record of GAME_DTYPE or VIEW_DTYPE"),
        ({"position": Game(2, seed=1).view(0), "seat": 1}, "this is the view of seat 0; it can't"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        svg(**({"position": Game(2, seed=1).state} | options))
