"""Generator of the rules page from ``skyenv/page/teaching/rules.md``, RULES.md and drawings.

``make docs`` writes the page and its drawings as files, so that the server can send them before
anything is compiled.
"""

import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final

from markdown import markdown

from docs.build.drawings import cropped
from skyenv import ACTION_NAMES, Game
from skyenv.page.teaching import tutorial
from skyenv.render import svg
from skyenv.render.colours import THEMES
from skyenv.render.marks import number

STATIC: Final = Path("skyenv") / "page" / "static"
PAGE: Final = STATIC / "rules.html"
PICTURES: Final = STATIC / "rules"
_ID: Final = r"[A-Z]+-\d+"


def written() -> dict[Path, str]:
    """Return all files of the page, by their paths in the repository."""
    return {PAGE: page()} | pictures()


# ---- pictures ----


@dataclass(frozen=True)
class Picture:
    """A cropped drawing of a position in the lesson's game.

    Attributes:
        action: name of the action that follows the position; "": the end of the lesson.
        box: the visible part: x, y, width, height.
        count: number of the action among those of this name, from 1.
        width: width of the whole drawing.
        is_marked: whether legal actions are highlighted.
    """

    action: str
    box: tuple[float, float, float, float]
    count: int = 1
    width: int = 1200
    is_marked: bool = False


_TIMES_SQUARE: Final = (344, 284, 192, 192)
# The drawings by their names in rules.md.
SHOWN: Final = {
    "board": Picture("option C", (18, 78, 870, 605)),
    "district": Picture("option D TSQ", _TIMES_SQUARE),
    "stacks": Picture("option A", (898, 77, 284, 152)),
    "row": Picture("option D TSQ", (16.4, 1646.4, 608, 172), width=640),
    "move": Picture("move white W34", (18, 170, 320, 425), is_marked=True),
    "auction": Picture("bid black 4", (898, 236, 286, 222), count=2),
    "stop": Picture("", _TIMES_SQUARE),
    "example": Picture("option D TSQ", _TIMES_SQUARE),
    "park": Picture("", (752, 330, 136, 353)),
}


def pictures() -> dict[Path, str]:
    """Return every drawing in every theme, by its path."""
    return {
        PICTURES / f"{name}-{theme}.svg": _drawn(picture, theme)
        for name, picture in SHOWN.items()
        for theme in THEMES
    }


def _drawn(picture: Picture, theme: str) -> str:
    game = game_before(picture)
    legal = game.mask if picture.is_marked else None
    whole = svg(game.state, 0, theme=theme, legal=legal, width=picture.width)
    box = [number(one) for one in picture.box]
    size = f' width="{box[2]}" height="{box[3]}"'
    return cropped(whole, " ".join(box), size)


def game_before(picture: Picture) -> Game:
    """Return the lesson's game before the picture's action."""
    game, left = Game(len(tutorial.AGENTS), tutorial.SIDE, tutorial.SEED), picture.count
    for action in tutorial.line():
        left -= ACTION_NAMES[action] == picture.action
        if left == 0:
            return game
        game.play(action)
    return game


# ---- the text ----


def exact_rules() -> dict[str, str]:
    """Return the rules of RULES.md by their ids, in order."""
    text = (files("skyenv.rules") / "RULES.md").read_text(encoding="utf-8")
    blocks = re.findall(
        rf"^- \*\*({_ID})\*\* (.*?)(?=\n- \*\*|\n\n|\n## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return {name: " ".join(words.split()) for name, words in blocks}


# Rule ids at the end of a paragraph, in Markdown or HTML.
_CITED: Final = re.compile(rf" *\[({_ID}(?:, {_ID})*)\](?=$|</)", re.MULTILINE)


def page() -> str:
    """Return the page as HTML."""
    texts = files("skyenv.page.teaching")
    template = (texts / "rules.html").read_text(encoding="utf-8")
    links, sections = [], []
    for chapter in re.split(
        r"^## ", (texts / "rules.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )[1:]:
        head, _, body = chapter.partition("\n")
        name, _, title = head.partition(" ")
        links.append(f'<li><a href="#rules-{name}">{_inline(title)}</a></li>')
        sections.append(_section(name, title, body))
    made = template.replace("{{chapters}}", "\n".join(links))
    return made.replace("{{text}}", "\n".join(sections))


def _section(name: str, title: str, body: str) -> str:
    """Return a chapter of rules.md: its paragraphs, lists, tables and pictures, and the exact text
    of the rules that it cites, without their tables, which are in the chapter.
    """
    exact = exact_rules()
    blocks = [block.strip("\n") for block in body.split("\n\n") if block.strip()]
    cited = [rule for rules in _CITED.findall("\n".join(blocks)) for rule in rules.split(", ")]
    words = "\n".join(
        f"<dt>{rule}</dt><dd>{_inline(exact[rule].partition(' | ')[0])}</dd>" for rule in cited
    )
    detail = (
        f"<details><summary>word for word</summary><dl>\n{words}\n</dl></details>" if words else ""
    )
    text = "\n".join(map(_block, blocks))
    section = f'<section id="rules-{name}" class="chapter">'
    return f"{section}\n<h2>{_inline(title)}</h2>\n{text}\n{detail}\n</section>"


def _inline(text: str) -> str:
    """Return a line of Markdown as HTML without a paragraph."""
    return str(markdown(text)).removeprefix("<p>").removesuffix("</p>")


def _block(block: str) -> str:
    if picture := re.fullmatch(r"!\[(.*)\]\((\w+)\)", block):
        return _figure(picture[2], picture[1])
    html = _CITED.sub(_rule_links, markdown(block, extensions=["tables"]))
    if not block.startswith("|"):
        return html
    rows = re.sub("<th>", '<th scope="col">', html)
    rows = re.sub(r"(<tr>\s*)<td>(.*?)</td>", r'\1<th scope="row">\2</th>', rows)
    return f'<div class="scroll">{rows}</div>'


def _rule_links(cited: re.Match[str]) -> str:
    """Return links to the rules that a paragraph cites."""
    decided = {name: " (d)" if "(d" in exact_rules()[name] else "" for name in cited[1].split(", ")}
    return "".join(
        f' <a class="id" id="{name}" href="#{name}">{name}{sign}</a>'
        for name, sign in decided.items()
    )


def _figure(name: str, words: str) -> str:
    _, _, width, height = SHOWN[name].box
    images = "".join(
        f'<img class="in-{theme}" loading="lazy" src="/static/rules/{name}-{theme}.svg"'
        f' alt="{escape(words)}" width="{number(width)}" height="{number(height)}">'
        for theme in THEMES
    )
    return f'<figure class="of-{name}">{images}</figure>'
