"""A drawing made of named parts: each is a pure function of what it shows, so a client that has a
part isn't sent it again.

A part's text is SVG that may name other parts by a :func:`slot`. Parts of which there are many are
drawn by functions cached by their arguments (numbers, texts and tuples of them); the others are
drawn from the :class:`Scene`.
"""

from __future__ import annotations

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
# Letters of a digest, 36 bits: it tells a hundred parts of one browser apart, and isn't meant to
# withstand anybody.
_DIGEST: Final = 6

Names = tuple[str | None, ...] | None
"""Who sits where."""
Marks = tuple[int, ...] | None
"""Which of the actions that a thing can mean are legal; None: the page decides that, and every glow
is drawn, but hidden.
"""


def slot(name: str) -> str:
    """The place of another part in a part's text."""
    return f'<g data-part="{name}"/>'


@dataclass(frozen=True)
class Part:
    """A part of a drawing.

    Attributes:
        name: what it is of: letters, digits, dots, spaces; one part of a drawing has it.
        text: SVG, with slots for the parts in it.
    """

    name: str
    text: str

    @cached_property
    def pieces(self) -> list[str]:
        """Its text, in turns with the names of the parts in it: text, name, text, …, text."""
        return _SLOT.split(self.text)

    @cached_property
    def digest(self) -> str:
        """Six letters of A-Z a-z 0-9 - _ that tell it from others by its name and its text."""
        content = f"{self.name}\0{self.text}".encode("utf-8", "replace")
        hashed = hashlib.blake2b(content, digest_size=6).digest()
        return base64.urlsafe_b64encode(hashed).decode()[:_DIGEST]


class Drawing:
    """All parts of a drawing.

    Attributes:
        parts: by their names, ROOT among them.
    """

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}

    def add(self, part: Part) -> str:
        """Add a part; its slot, for the text in which it stands."""
        self.parts[part.name] = part
        return slot(part.name)

    def text(self, name: str = ROOT) -> str:
        """The whole drawing, or one of its parts with those in it."""
        pieces = self.parts[name].pieces
        return "".join(self.text(piece) if i % 2 else piece for i, piece in enumerate(pieces))

    def changes(self, known: Container[str] = ()) -> dict[str, list[str]]:
        """The parts that a client lacks which has those with the digests `known`: by name their
        digest and their text.
        """
        parts = self.parts.values()
        return {part.name: [part.digest, part.text] for part in parts if part.digest not in known}


def digests(text: str) -> frozenset[str]:
    """Digests that were written one behind the other."""
    return frozenset(text[i : i + _DIGEST] for i in range(0, len(text), _DIGEST))


# ---- what all parts share ----


@dataclass(frozen=True)
class Scene:
    """What is drawn, and how.

    Attributes:
        table: the position as its reader sees it.
        game: its record as plain numbers and tuples of them.
        theme: the colours.
        legal: the actions that may be chosen; None: the page decides.
        agents: who sits where.
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
        """Which of these actions may be chosen."""
        if self.legal is None:
            return None
        return tuple(action for action in actions if action in self.legal)


def thing(actions: Iterable[int], marks: Marks, what: str, *body: str, **data: object) -> str:
    """Draw something that an action can mean: a group with its ``data-`` attributes.

    Args:
        actions: the numbers of the actions that choosing it can mean, legal or not.
        marks: which of them may be chosen.
        what: what it is, in words.
        body: its picture.
        data: attributes without ``data_``.
    """
    attributes: dict[str, object] = {"class": "legal"} if marks else {}
    attributes |= {f"data_{name}": str(value) for name, value in data.items()}
    attributes["data_action"] = " ".join(map(str, actions)) or None
    return element("g", title(what), *body, **attributes)


def piece(kind: str, count: int = 1) -> dict[str, Any]:
    """Attributes of something that the page may let move: its kind, and how many are there.

    A piece that is more often in one place and less often in another has gone from there to here.
    What stands behind a colon tells pieces of one kind in one part of the drawing apart.
    """
    return {"data_piece": kind, "data_count": count if count > 1 else None}


def glow(theme: Theme, marks: Marks, outline: str) -> str:
    """The outline of something that may be chosen, drawn as a glow."""
    if marks == ():
        return ""
    wide = group(outline, fill="none", stroke=theme.legal, stroke_width=7, stroke_opacity=0.3)
    shining = wide + group(outline, fill="none", stroke=theme.legal, stroke_width=2.4)
    return shining if marks else hidden(shining, "glow")


def hidden(picture: str, name: str) -> str:
    """What the page shows only where something may be chosen, by its class (page.css)."""
    return group(picture, **{"class": name}, visibility="hidden")
