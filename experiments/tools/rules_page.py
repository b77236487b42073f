"""The page of the rules: made of ``skyenv/page/teaching/rules.md``, of RULES.md, and of drawings of
the lesson's game.

All of it is written by ``make docs`` and ships as files, so that the page answers before anything
is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from skyenv import ACTION_NAMES, Game
from skyenv.page.teaching import tutorial
from skyenv.render import svg
from skyenv.render.colours import THEMES
from skyenv.render.marks import number
from skyenv.render.words import seat_name
from skyenv.rules.components import BUSINESSES, DISTRICTS, NUM_COLOURS, PLOTS
from skyenv.rules.state import NONE

STATIC: Final = Path("skyenv") / "page" / "static"
PAGE: Final = STATIC / "rules.html"
PICTURES: Final = STATIC / "rules"
TSQ: Final = DISTRICTS.index("TSQ")
_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_ID: Final = r"[A-Z]+-\d+"


def written() -> dict[Path, str]:
    """All files of the page, by their paths in the repository."""
    return {PAGE: page()} | pictures()


# ---- pictures ----

Box = tuple[float, float, float, float]
Find = Callable[[ElementTree.Element], bool]


@dataclass(frozen=True)
class Picture:
    """A part of a drawing of the lesson's game.

    Attributes:
        action: the decision before which it is drawn, by its name; "" is the end of the lesson.
        count: the how manyeth decision of that name, from 1.
        box: the part: x, y, width, height, from where `find` is, or from the corner of the drawing.
        find: what the part lies about.
        width: of the drawing in which it is.
        is_marked: whether what may be chosen glows.
    """

    action: str
    box: Box
    count: int = 1
    find: Find | None = None
    width: int = 1200
    is_marked: bool = False


def _district(element: ElementTree.Element) -> bool:
    return element.get("data-district") == str(TSQ)


def _says(text: str) -> Find:
    return lambda element: element.tag.endswith("text") and (element.text or "").startswith(text)


_BLOCK: Final = (-96.0, -96.0, 192.0, 192.0)
SHOWN: Final = {
    "board": Picture("option C", (18, 78, 870, 605)),
    "district": Picture("option D TSQ", _BLOCK, find=_district),
    "stacks": Picture("option A", (-14, -23, 284, 152), find=_says("CARD STACKS")),
    "row": Picture("option D TSQ", (-16, -28, 608, 172), find=_says("SUPPLY ROW"), width=640),
    "move": Picture("move white W34", (18, 170, 320, 425), is_marked=True),
    "auction": Picture("bid black 4", (-42, -27, 286, 222), count=2, find=_says("AUCTION:")),
    "stop": Picture("", _BLOCK, find=_district),
    "example": Picture("option D TSQ", _BLOCK, find=_district),
    "park": Picture("", (752, 330, 136, 353)),
}
"""The pictures, by their names in rules.md."""


def pictures() -> dict[Path, str]:
    """Every picture in every theme, by its path."""
    return {
        PICTURES / f"{name}-{theme}.svg": _cut(picture, _game_before(picture), theme)
        for name, picture in SHOWN.items()
        for theme in THEMES
    }


def _game_before(picture: Picture) -> Game:
    """The lesson's game, right before a decision."""
    game, left = Game(tutorial.PLAYERS, tutorial.SIDE, tutorial.SEED), picture.count
    for action in tutorial.line():
        left -= ACTION_NAMES[action] == picture.action
        if left == 0:
            return game
        game.play(action)
    return game


def _cut(picture: Picture, game: Game, theme: str) -> str:
    """The part of the drawing, without what lies outside and what only the page's script reads."""
    whole = svg(
        game.state,
        0,
        theme=theme,
        legal=game.mask if picture.is_marked else None,
        width=picture.width,
    )
    root = ElementTree.fromstring(whole)
    left, top, width, height = picture.box
    if picture.find is not None:
        x, y = next((x, y) for element, x, y in _placed(root, 0, 0, 1) if picture.find(element))
        left, top = x + left, y + top
    _prune(root, (left - 110, top - 110, left + width + 110, top + height + 110))
    for element in root.iter():
        for name in [
            name for name in element.attrib if name.startswith("data-") and name != "data-theme"
        ]:
            del element.attrib[name]
    root.set("viewBox", " ".join(map(number, (left, top, width, height))))
    root.set("width", number(width))
    root.set("height", number(height))
    ElementTree.register_namespace("", _NAMESPACE)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _moved(
    element: ElementTree.Element, x: float, y: float, scale: float
) -> tuple[float, float, float]:
    """Where the origin of an element lies, if its parent's is at x, y, enlarged."""
    transform = element.get("transform", "")
    if move := re.search(r"translate\(([-.\d]+)(?: ([-.\d]+))?\)", transform):
        x, y = x + scale * float(move[1]), y + scale * float(move[2] or 0)
    if grow := re.search(r"scale\(([-.\d]+)\)", transform):
        scale *= float(grow[1])
    return x, y, scale


def _placed(
    element: ElementTree.Element, x: float, y: float, scale: float
) -> Iterator[tuple[ElementTree.Element, float, float]]:
    """Every element with its place in the drawing."""
    x, y, scale = _moved(element, x, y, scale)
    here = x + scale * float(element.get("x", 0)), y + scale * float(element.get("y", 0))
    yield (element, *here) if element.tag.endswith("text") else (element, x, y)
    for child in element:
        yield from _placed(child, x, y, scale)


def _prune(
    element: ElementTree.Element, box: Box, x: float = 0.0, y: float = 0.0, scale: float = 1.0
) -> None:
    """Take titles away, and what lies outside of the box: left, top, right, bottom."""
    for child in list(element):
        tag = child.tag.removeprefix(f"{{{_NAMESPACE}}}")
        at_x, at_y, at_scale = _moved(child, x, y, scale)
        is_thing = any(name.startswith("data-") for name in child.attrib) or tag == "text"
        if tag == "text":
            at_x, at_y = (
                at_x + at_scale * float(child.get("x", 0)),
                at_y + at_scale * float(child.get("y", 0)),
            )
        outside = not (box[0] <= at_x <= box[2] and box[1] <= at_y <= box[3])
        if tag == "title" or (is_thing and outside and len(child) < _MOST_CHILDREN):
            element.remove(child)
        elif tag == "g":
            _prune(child, box, at_x, at_y, at_scale)


_MOST_CHILDREN: Final = 60
"""A part with more in it isn't a thing at one place."""

# ---- the text ----


def exact_rules() -> dict[str, str]:
    """The rules of RULES.md by their ids, in its order."""
    text = (files("skyenv.rules") / "RULES.md").read_text(encoding="utf-8")
    blocks = re.findall(
        rf"^- \*\*({_ID})\*\* (.*?)(?=\n- \*\*|\n\n|\n## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return {name: " ".join(words.split()) for name, words in blocks}


@dataclass(frozen=True)
class Chapter:
    """A chapter of rules.md.

    Attributes:
        name: of its anchor.
        title: its heading.
        blocks: its paragraphs, lists, tables and pictures.
    """

    name: str
    title: str
    blocks: tuple[str, ...]

    @property
    def rules(self) -> list[str]:
        """The ids of the rules that it explains, in their order."""
        return [
            name
            for block in self.blocks
            for found in _CITED.findall(block)
            for name in found.split(", ")
        ]


_CITED: Final = re.compile(rf"\[({_ID}(?:, {_ID})*)\]$", re.MULTILINE)


def chapters() -> list[Chapter]:
    """The chapters of rules.md."""
    text = (files("skyenv.page.teaching") / "rules.md").read_text(encoding="utf-8")
    made = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        name, _, title = head.partition(" ")
        made.append(
            Chapter(
                name,
                title,
                tuple(block.strip("\n") for block in body.split("\n\n") if block.strip()),
            )
        )
    return made


def page() -> str:
    """The page as HTML."""
    template = (files("skyenv.page.teaching") / "rules.html").read_text(encoding="utf-8")
    made = chapters()
    links = "\n".join(
        f'<li><a href="#rules-{chapter.name}">{_inline(chapter.title)}</a></li>' for chapter in made
    )
    text = "\n".join(map(_section, made))
    return template.replace("{{chapters}}", links).replace("{{text}}", text)


def _section(chapter: Chapter) -> str:
    exact = exact_rules()
    blocks = "\n".join(map(_block, chapter.blocks))
    words = "\n".join(f"<dt>{name}</dt><dd>{_exact(exact[name])}</dd>" for name in chapter.rules)
    detail = (
        f"<details><summary>word for word</summary><dl>\n{words}\n</dl></details>" if words else ""
    )
    title = _inline(chapter.title)
    section = f'<section id="rules-{chapter.name}" class="chapter">'
    return f"{section}\n<h2>{title}</h2>\n{blocks}\n{detail}\n</section>"


def _exact(text: str) -> str:
    """A rule's own words; tables in them stand in the chapter."""
    return _inline(text.partition(" | ")[0])


def _block(block: str) -> str:
    if picture := re.fullmatch(r"!\[(.*)\]\((\w+)\)", block):
        return _figure(picture[2], picture[1])
    if block == "{example}":
        return f"<p>{escape(example())}</p>"
    if block.startswith("|"):
        return _table(block.split("\n"))
    if block.startswith("- "):
        return _list("ul", [line.removeprefix("- ") for line in block.split("\n")])
    if block.startswith("1. "):
        return _list("ol", [line.partition(". ")[2] for line in block.split("\n")])
    return _cited("p", block)


def _list(tag: str, items: list[str]) -> str:
    inside = "\n".join(_cited("li", item) for item in items)
    return f"<{tag}>\n{inside}\n</{tag}>"


def _cited(tag: str, text: str) -> str:
    """A paragraph with the small signs of its rules behind it."""
    found = _CITED.search(text)
    ids = found[1].split(", ") if found else []
    decided = {name: " (d)" if "(d" in exact_rules()[name] else "" for name in ids}
    signs = "".join(
        f' <a class="id" id="{name}" href="#{name}">{name}{sign}</a>'
        for name, sign in decided.items()
    )
    return f"<{tag}>{_inline(_CITED.sub('', text).strip())}{signs}</{tag}>"


def _table(rows: list[str]) -> str:
    cells = [
        [_inline(cell.strip()) for cell in row.strip("|").split("|")]
        for row in rows
        if not set(row) <= set("|- ")
    ]
    head = "".join(f'<th scope="col">{cell}</th>' for cell in cells[0])
    body = "".join(
        "<tr>"
        + f'<th scope="row">{row[0]}</th>'
        + "".join(f"<td>{cell}</td>" for cell in row[1:])
        + "</tr>"
        for row in cells[1:]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _figure(name: str, words: str) -> str:
    _, _, width, height = SHOWN[name].box
    images = "".join(
        f'<img class="in-{theme}" loading="lazy" src="/static/rules/{name}-{theme}.svg"'
        f' alt="{escape(words)}" width="{number(width)}" height="{number(height)}">'
        for theme in THEMES
    )
    return f'<figure class="of-{name}">{images}</figure>'


def _inline(text: str) -> str:
    text = escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)


def _types(number_of: int) -> str:
    return "there is one type" if number_of == 1 else f"there are {number_of} types"


def example() -> str:
    """SCO-2 in the picture's position, in words."""
    state = _game_before(SHOWN["example"]).state
    ring = [int(plot) for plot in state["ring"][TSQ][:NUM_COLOURS]]
    sentences = ["The example is the lesson's Times Square."]
    for place, plot in enumerate(ring):
        owner = int(state["owner"][TSQ][plot])
        if owner == NONE:
            continue
        sides = [ring[place - 1], ring[(place + 1) % len(ring)]]
        kinds = sorted(
            {int(kind) for side in sides for kind in state["tiles"][TSQ][side].nonzero()[0]}
        )
        shops = " and ".join(BUSINESSES[kind] for kind in kinds)
        vp = int(state["value"][TSQ][plot])
        sentences.append(
            f"The skyscraper of {seat_name(owner)} stands on {PLOTS[plot]}; on the plots beside "
            f"it, {PLOTS[sides[0]]} and"
            f" {PLOTS[sides[1]]}, {_types(len(kinds))} of business ({shops}): {vp} VP."
        )
    return " ".join(sentences)
