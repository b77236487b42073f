"""The SVG drawing: well-formed, complete, legible, cached in parts, with marked actions."""

import functools
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest

from scenario import TABLES, built_up, stages
from skyenv import Game, OptionError
from skyenv.render import city, panels, svg
from skyenv.render.colours import THEMES, VARIABLES, variables
from skyenv.render.marks import width_of
from skyenv.render.parts import digests
from skyenv.render.svg import drawing
from skyenv.rules.actions import BID, BID_DONE, OPTION_B, OPTION_C, OPTION_D, PASS
from skyenv.rules.components import DISTRICTS, LOWEST_CARD, PLACES
from skyenv.rules.state import ALEA, NONE

NAMESPACE = "{http://www.w3.org/2000/svg}"
TEXT, TITLE = f"{NAMESPACE}text", f"{NAMESPACE}title"
NAMES = ["ann", "a name with many words that is as long as that", "cid", "dee"]
# The actions that have a place on the table.
PLACED = {*range(OPTION_B, OPTION_C), *range(OPTION_D, PASS), *range(BID, BID_DONE)}
TSQ = DISTRICTS.index("TSQ")
# What a picture in HTML may not hold: ids, sheets, links and scripts; and what isn't a number.
NEEDY = re.compile(r'\s(id|style|href|on\w+)="|url\(|<style|<script|None|nan')
each_theme = pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))


def parsed(picture: str) -> Element:
    """Parse the picture, which must be well-formed, into a tree."""
    root = ElementTree.fromstring(picture)
    kinds = {element.tag.removeprefix(NAMESPACE) for element in root.iter()}
    assert kinds <= {"svg", "g", "title", "text", "rect", "circle", "ellipse", "path"}
    return root


def said(root: Element, tag: str) -> list[str]:
    """Return the texts of the elements with a tag."""
    return [element.text or "" for element in root.iter(tag)]


def things(root: Element, kind: str) -> dict[str, Element]:
    """Return the elements with ``data-kind``, by its value."""
    elements = [element for element in root.iter() if f"data-{kind}" in element.attrib]
    by_value = {element.attrib[f"data-{kind}"]: element for element in elements}
    assert len(by_value) == len(elements), f"two elements with one data-{kind}"
    return by_value


@functools.cache
def positions(players: int, side: str) -> list[Game]:
    """Return positions of one game, including the first and last."""
    return [game.copy() for game in stages(players, side, "crowd", 3, every=17, max_turns=40)]


def boxes(
    element: Element, x: float = 0.0, y: float = 0.0, scale: float = 1.0
) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield every text with its box in user units: left, right, top, bottom."""
    moved = element.attrib.get("transform", "")
    if match := re.match(r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?$", moved):
        x, y = x + scale * float(match[1]), y + scale * float(match[2])
        scale *= float(match[3] or 1)
    if element.tag == TEXT:
        left, base, size = (scale * float(element.attrib[one]) for one in ("x", "y", "font-size"))
        wide = width_of(element.text or "", size)
        share = {"middle": 0.5, "end": 1.0}.get(element.attrib.get("text-anchor", ""), 0.0)
        left += x - wide * share
        yield element.text or "", left, left + wide, y + base - 0.7 * size, y + base
    for child in element:
        yield from boxes(child, x, y, scale)


def check_marks(game: Game, root: Element) -> None:
    """Fail unless elements name their actions and exactly the legal ones are marked."""
    found = set()
    for element in root.iter():
        actions = {int(action) for action in element.attrib.get("data-action", "").split()}
        is_own = element.attrib.get("data-card", str(game.seat))[0] == str(game.seat)
        legal = actions & set(game.legal_actions) if is_own else set()
        assert (element.attrib.get("class") == "legal") == bool(legal)
        assert not actions or (element[0].tag == TITLE and element[0].text)
        found |= legal
    assert found == PLACED & set(game.legal_actions)


def check_legible(root: Element, width: int) -> float:
    """Fail unless text is at least 12 pixels high at common sizes, inside the picture, and not
    overlapping.

    Widths are estimated; 3 units of overlap are allowed.

    Returns: the picture's height.
    """
    _, _, breadth, height = map(float, root.attrib["viewBox"].split())
    placed = set(boxes(root))  # a count stands on its own halo
    for text, left, right, top, bottom in placed:
        assert bottom - top >= 0.7 * (15.49 if width == 1200 else 12.99), text
        assert 0 <= left < right <= breadth and 0 <= top < bottom <= height, text  # noqa: PT018
    for (one, *room), (other, *beside) in combinations(placed, 2):
        shared = [min(room[i + 1], beside[i + 1]) - max(room[i], beside[i]) for i in (0, 2)]
        assert min(shared) <= 3, (one, other)
    return height


# ---- every picture ----


@pytest.mark.parametrize("width", [1200, 640])
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_pictures_are_complete_marked_and_legible(players: int, side: str, width: int) -> None:
    heights = set()
    for game in positions(players, side):
        options: dict[str, Any] = {"agents": NAMES[:players], "events": game.events}
        before = game.state.tobytes()
        picture = svg(game.state, legal=game.mask, width=width, **options)
        assert game.state.tobytes() == before
        assert not NEEDY.search(picture)
        root = parsed(picture)
        check_marks(game, root)
        heights.add(check_legible(root, width))
        assert said(root, TITLE)[0].startswith(tuple(f"Fifth Avenue: {name} " for name in NAMES))
        plots, hands = range(5 + (side == "back")), np.argwhere(game.state["hand"][:players])
        expected = {"district": set("0123456"), "stack": set("012345"), "commissioner": {*"01"}}
        expected["plot"] = {f"{d}:{p}" for d in range(7) for p in plots}
        expected["card"] = {f"{s}:{c}:{r}" for s, c, r in hands}
        assert {kind: set(things(root, kind)) for kind in expected} == expected
        assert [picture.count(f'data-piece="marker-{which}"') for which in (0, 1)] == [3, 3]
    assert len(heights) == 1 or width == 640, "films would jump"


# ---- what is drawn ----


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_attributes_say_what_the_pages_scripts_read(players: int, side: str) -> None:
    seen: set[str] = set()
    for game in positions(players, side):
        state, picture = game.state, svg(game.state)
        found = {
            name: re.findall(rf' data-{name}="([^"]*)"', picture)
            for name in ("vp", "acting", "copies", "value", "auction", "seat")
        }
        place = int(state["auction_place"])
        tops, hands = state["top"], state["hand"][:players]
        assert found == {
            "vp": [str(vp) for vp in game.scores],
            "acting": [] if game.is_over else [str(game.seat)],
            "copies": [str(copies) for copies in hands.ravel() if copies > 1],
            "value": [str(top + LOWEST_CARD) for top in tops if top != NONE],
            "auction": [PLACES[place]] if place != NONE else [],
            "seat": found["seat"],
        }
        assert set(found["seat"]) <= {str(seat) for seat in (*range(players), ALEA)}
        assert bool(found["seat"]) == bool(found["auction"])
        seen |= {name for name, values in found.items() if values}
    assert len(seen) == 6


def test_titles_name_plots_commissioners_markers_and_stops() -> None:
    state = built_up(TSQ).state
    state["place"], state["visited"], state["stopped"][4] = (TSQ, 7), ((0, -1, -1), (1, 3, 5)), 1
    root = parsed(svg(state, agents=["greedy", None]))
    districts = [things(root, "district")[number] for number in "0123456"]
    assert [title for title in said(districts[TSQ], TITLE) if "TSQ" in title] == [
        "TSQ, Times Square",
        "TSQ green: 12 skyscrapers of greedy; a skyscraper scores 3 VP here",
        "TSQ violet: 1 skyscraper of seat 2; a skyscraper scores 1 VP here",
        "TSQ gray: boutique and gallery",
        "TSQ brown: 3 skyscrapers of Alea; a skyscraper scores 1 VP here",
        "TSQ orange: empty; a skyscraper scores 3 VP here",
        "the white commissioner, in TSQ",
    ]
    assert said(things(root, "plot")[f"{TSQ}:0"], TEXT) == ["3", "×12", "×12"]
    marked = [re.findall("marker of the (.)", " ".join(said(one, TITLE))) for one in districts]
    assert marked == [["w"], ["b"], [], ["b"], [], ["b"], []]
    assert said(districts[4], TEXT)[1:] == [DISTRICTS[4], "BUILDING", "STOP"]


@pytest.mark.rule("COM-7", "COM-9")
def test_rings_are_drawn_in_their_order(tmp_path: Path) -> None:
    """Measured by the angle of each plot about the middle of its district."""
    board, ring = tmp_path / "board.toml", ["gray", "orange", "sixth", "green", "brown", "violet"]
    board.write_text(f"[rings]\nTSQ = {ring}\n", encoding="utf-8")
    parts, angles = drawing(Game(2, "back", 1, board=board).state).parts, []
    for name in ring:
        x, y = re.findall(r"-?[\d.]+", parts[f"TSQ.{name}"].text.partition(' d="M')[2])[:2]
        angles.append((np.arctan2(float(x), -float(y)) + np.pi / 6) % (2 * np.pi))
    assert angles == sorted(angles)


# ---- parts ----


@pytest.mark.parametrize("width", [364.0, 540.0])
@pytest.mark.parametrize("kinds", [1, 11, 18])
def test_cards_of_the_own_hand_lie_side_by_side_in_its_panel(width: float, kinds: int) -> None:
    piles = [(colour, rank) for colour in range(6) for rank in range(3)][:kinds]
    hand = tuple(tuple((rank, 2) for one, rank in piles if one == colour) for colour in range(6))
    part = panels._row_hand(THEMES["light"], 0, hand, (), width, None)
    found = re.findall(r'translate\((\S+) 68\)".*?<rect x="3" y="-3" width="(\S+)"', part.text)
    cards = [(float(left), float(wide)) for left, wide in found]
    ends = [*[left for left, _ in cards[1:]], width - 8]
    assert len(cards) == kinds
    assert all(left + wide + 3 < end for (left, wide), end in zip(cards, ends, strict=True))


def test_a_step_changes_few_parts_of_the_drawing() -> None:
    known: dict[str, list[str]] = {}
    sizes = []
    for game in stages(4, "front", "crowd", 3, every=1, max_turns=6):
        drawn = drawing(game.view(0), is_live=True)
        changes = drawn.changes(digests("".join(digest for digest, _ in known.values())))
        known |= changes
        sizes.append(sum(len(text) for _, text in changes.values()))
        assert {name: known[name] for name in drawn.parts} == drawn.changes()
    assert np.median(sizes[1:]) < 9_000 < 60_000 < sizes[0]


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_cached_parts_equal_fresh_drawings(players: int, side: str) -> None:
    """By several threads, with views, themes and sizes in turns, so that an incomplete cache key
    shows.
    """
    games = positions(players, side)[::2]

    def draw(number: int) -> str:
        game, names = games[number % len(games)], (None, [*NAMES[:players]])[number % 2]
        seat, theme = (None, 0, players - 1)[number % 3], ("light", "dark")[number // 2 % 2]
        options: dict[str, Any] = {"theme": theme, "width": (1200, 640)[number // 3 % 2]}
        return svg(game.state, seat, events=game.events, legal=game.mask, agents=names, **options)

    with ThreadPoolExecutor(4) as pool:
        cached = list(pool.map(draw, range(60)))
    for number in range(0, 60, 5):
        for drawing_one in (*vars(city).values(), *vars(panels).values()):
            getattr(drawing_one, "cache_clear", int)()
        assert draw(number) == cached[number]


def test_legal_actions_do_not_change_a_live_drawing() -> None:
    """The page itself shows and hides the marks."""
    game = Game(3, seed=1)
    live = drawing(game.state, is_live=True).text()
    assert live == drawing(game.state, legal=game.mask, is_live=True).text()
    glowing = r'<g data-([a-z-]+)="[^"]*" data-action="[^"]*">.*?</title>.*?class="glow" vis'
    kinds = {"plot", "district", "stack", "card", "row-type", "commissioner", "place"}
    assert set(re.findall(glowing, live)) == kinds
    assert len(things(parsed(live), "place")) == 2 * 8  # all places but their own
    assert "visibility" not in svg(game.state, legal=game.mask)


# ---- what people write, and what can't be drawn ----

HOSTILE = [
    '</text><script>alert("x")</script>',
    "\"' onload='x' <&>]]>",
    "\x00\x0b\ud800\uffff\x1b[2J",
    '"/><g data-part="title"/>',
    "w" * 500,
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("width", [1200, 640])
def test_names_are_escaped(name: str, width: int) -> None:
    game = positions(2, "front")[3]
    picture = svg(game.state, agents=[name, None], events=game.events, width=width)
    root = parsed(picture.encode("utf-8").decode())
    assert not any(attribute.startswith("on") for e in root.iter() for attribute in e.attrib)
    assert not list(things(root, "part"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": 2}, "seat must be a whole number from 0 to 1"),
        ({"theme": "sepia"}, "theme must be one of light, dark"),
        ({"width": 0}, "width must be a whole number"),
        ({"legal": np.ones(5)}, "legal must be an action mask"),
        ({"agents": ["a"]}, "agents must name each of the 2 seats"),
        ({"events": [{"event": "rain"}]}, "there is no event 'rain'"),
        ({"position": np.zeros(3)}, "position must be a record of GAME_DTYPE or VIEW_DTYPE"),
        ({"position": Game(2, seed=1).view(0), "seat": 1}, "this is the view of seat 0; it can't"),
    ],
)
def test_invalid_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        svg(**({"position": Game(2, seed=1).state} | options))


# ---- colours ----


@each_theme
def test_the_page_has_the_colours_of_the_table(theme: Any) -> None:
    """The colours of seats and suits, and those that pictures reference by variables."""
    sheet = files("skyenv.page").joinpath("static/page.css").read_text(encoding="utf-8")
    (block,) = re.findall(rf"color-scheme: {theme.name};(.*?)\}}", sheet, re.DOTALL)
    assert tuple(re.findall(r"--seat-\d: (#\w+);", block)) == theme.seat_lines
    assert tuple(re.findall(r"--suit-\d: (#\w+);", block)) == theme.suits
    colours = dict(declaration.split(":") for declaration in variables(theme).split(";"))
    state = built_up(TSQ).state
    written = drawing(state, theme=VARIABLES).text().replace("any", theme.name, 1)
    written = re.sub(r"var\(([\w-]+)\)", lambda match: colours[match[1]], written)
    assert written == svg(state, theme=theme.name)


@each_theme
def test_themes_have_sufficient_contrast(theme: Any) -> None:
    """WCAG 2: contrast 4.5 for text, 3 for large text on the seats' colours and suits."""

    def light(colour: str) -> float:
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return 0.05 + float(linear @ (0.2126, 0.7152, 0.0722))

    pairs = [
        *((4.5, theme.ink, ground) for ground in (theme.board, theme.table, theme.block)),
        *((4.5, text, theme.panel) for text in (*theme.seat_lines, theme.ink, theme.faint)),
        (4.5, theme.on_gold, theme.gold),
        *((3, suit, theme.paper) for suit in theme.suits),
        *((3, *pair) for pair in zip(theme.seats, theme.on_seats, strict=True)),
    ]
    for least, *pair in pairs:
        dark, bright = sorted(map(light, pair))
        assert bright / dark >= least, pair
