"""Drawings of named parts. Each part is a pure function of its content, so clients can cache it.

A part's text is SVG that may contain other parts by a :func:`slot`. Numerous parts are
drawn by functions cached by their arguments (numbers, texts and tuples of them); the others are
drawn from the :class:`Scene`.
"""

import base64
import hashlib
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from skyenv.render.colours import Theme
from skyenv.render.marks import element, group, title
from skyenv.render.table import Table

ROOT: Final = "table"  # the part that holds all others
_SLOT: Final = re.compile(r'<g data-part="([^"]*)"/>')
# Letters of a digest, 36 bits: enough to distinguish a hundred parts in one browser, not meant as
# cryptography.
_DIGEST: Final = 6

# The players' names by seat.
Names = tuple[str | None, ...] | None
# The legal ones of an element's actions; None: the page decides, and every glow is drawn hidden.
Marks = tuple[int, ...] | None


def slot(name: str) -> str:
    """Return the placeholder of another part in a part's text."""
    return f'<g data-part="{name}"/>'


@dataclass(frozen=True)
class Part:
    """A part of a drawing.

    Attributes:
        name: its unique name in the drawing: letters, digits, dots, spaces.
        text: SVG, with slots for the parts in it.
    """

    name: str
    text: str

    @cached_property
    def pieces(self) -> list[str]:
        """Its text split at the names of its parts: text, name, text, …, text."""
        return _SLOT.split(self.text)

    @cached_property
    def digest(self) -> str:
        """A hash of its name and text: six letters of A-Z a-z 0-9 - _."""
        content = f"{self.name}\0{self.text}".encode("utf-8", "replace")
        hashed = hashlib.blake2b(content, digest_size=6).digest()
        return base64.urlsafe_b64encode(hashed).decode()[:_DIGEST]


class Drawing:
    """A drawing as its parts.

    Attributes:
        parts: the parts by name, including ROOT.
    """

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}

    def add(self, part: Part) -> str:
        """Add a part; return its slot for the text that contains it."""
        self.parts[part.name] = part
        return slot(part.name)

    def text(self, name: str = ROOT) -> str:
        """Return the whole drawing, or one of its parts with those in it."""
        pieces = self.parts[name].pieces
        return "".join(self.text(piece) if i % 2 else piece for i, piece in enumerate(pieces))

    def changes(self, known: Container[str] = ()) -> dict[str, list[str]]:
        """Return the parts whose digests aren't `known` to a client: digest and text by name."""
        parts = self.parts.values()
        return {part.name: [part.digest, part.text] for part in parts if part.digest not in known}


def digests(text: str) -> frozenset[str]:
    """Return the digests in their concatenation."""
    return frozenset(text[i : i + _DIGEST] for i in range(0, len(text), _DIGEST))


# ---- shared helpers ----


@dataclass(frozen=True)
class Scene:
    """The input of a drawing: a position and its style.

    Attributes:
        table: the position as its viewer sees it.
        game: its record as plain numbers and tuples of them.
        theme: the colours.
        legal: the actions that may be chosen; None: the page decides.
        agents: the players' names by seat.
        upright: whether the picture is for a narrow screen.
        drawing: its parts so far.
    """

    table: Table
    game: Any
    theme: Theme
    legal: frozenset[int] | None
    agents: Names
    upright: bool
    drawing: Drawing

    def marks(self, *actions: int) -> Marks:
        """Return which of these actions are legal."""
        if self.legal is None:
            return None
        return tuple(action for action in actions if action in self.legal)


def thing(actions: Iterable[int], marks: Marks, what: str, *body: str, **data: object) -> str:
    """Draw an element that actions refer to: a group with its ``data-`` attributes.

    Args:
        actions: the numbers of the actions that refer to it, legal or not.
        marks: which of them are legal.
        what: its description.
        body: its picture.
        data: attributes without ``data_``.
    """
    attributes: dict[str, object] = {"class": "legal"} if marks else {}
    attributes |= {f"data_{name}": str(value) for name, value in data.items()}
    attributes["data_action"] = " ".join(map(str, actions)) or None
    return element("g", title(what), *body, **attributes)


def piece(kind: str, count: int = 1) -> dict[str, Any]:
    """Return attributes of a piece that the page may animate: its kind and number.

    The page moves pieces of a kind from places with fewer now to places with more. A suffix after a
    colon distinguishes pieces of one kind in one part.
    """
    return {"data_piece": kind, "data_count": count if count > 1 else None}


def glow(theme: Theme, marks: Marks, outline: str) -> str:
    """Draw the outline of a legal choice as a glow."""
    if marks == ():
        return ""
    wide = group(outline, fill="none", stroke=theme.legal, stroke_width=7, stroke_opacity=0.3)
    shining = wide + group(outline, fill="none", stroke=theme.legal, stroke_width=2.4)
    return shining if marks else hidden(shining, "glow")


def hidden(picture: str, name: str) -> str:
    """Draw a picture that the page shows only for legal choices, by its class (page.css)."""
    return group(picture, **{"class": name}, visibility="hidden")
