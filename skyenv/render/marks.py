"""SVG as text: elements, numbers, and text that fits. Nothing here knows the game."""

from __future__ import annotations

import functools
import re
from typing import Final
from xml.sax.saxutils import escape

FONTS: Final = (
    "'Source Sans Pro','Source Sans 3','Segoe UI','Helvetica Neue',"
    "Roboto,Arial,'DejaVu Sans',sans-serif"
)
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What may not stand in XML, escaped or not."""
_PLAIN: Final = re.compile("[ !#$%'-;=?-~]*")
"""Texts that need no escaping."""
_NARROW: Final = frozenset("iIjlftr.,:;'|!()[]-· ")
_WIDE: Final = frozenset("mwMWQOGDHNU@%–—×+…")


def number(value: float) -> str:
    """A coordinate, to a tenth."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def clean(text: str) -> str:
    """A text without characters that XML can't hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def _attribute(value: object) -> str:
    if isinstance(value, (int, float)):
        return number(value)
    text = str(value)
    return (
        text
        if _PLAIN.fullmatch(text)
        else escape(clean(text), {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    )


def element(name: str, *children: str, **attributes: object) -> str:
    """An element: ``_`` in the names of attributes becomes ``-``, None leaves one out, numbers are
    rounded.
    """
    listed = "".join(
        f' {key.replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(children)
    return f"<{name}{listed}>{inside}</{name}>" if inside else f"<{name}{listed}/>"


def group(*children: str, **attributes: object) -> str:
    """A ``<g>``; without attributes just what is in it."""
    return element("g", *children, **attributes) if attributes else "".join(children)


def at(x: float, y: float, *children: str, scale: float = 1.0, **attributes: object) -> str:
    """What is in it, moved (and scaled about its own origin)."""
    size = "" if scale == 1.0 else f" scale({scale:.3g})"
    return element(
        "g", *children, transform=f"translate({number(x)} {number(y)}){size}", **attributes
    )


def title(text: str) -> str:
    """What an element is, for pointers and screen readers."""
    return f"<title>{escape(clean(text))}</title>"


def rectangle(
    x: float, y: float, width: float, height: float, r: float = 0.0, /, **attributes: object
) -> str:
    """A rectangle with round corners."""
    return element("rect", x=x, y=y, width=width, height=height, rx=r or None, **attributes)


def circle(x: float, y: float, r: float, **attributes: object) -> str:
    """A circle."""
    return element("circle", cx=x, cy=y, r=r, **attributes)


def path(d: str, **attributes: object) -> str:
    """A path."""
    return element("path", d=d, **attributes)


def polygon(points: list[tuple[float, float]], **attributes: object) -> str:
    """A closed polygon."""
    return path("M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + "Z", **attributes)


def words(x: float, y: float, text: str, size: float, **attributes: object) -> str:
    """Text on one line, its baseline at `y`; ``middle=True`` centres it, ``end=True`` lets it end
    at `x`.
    """
    middle, end = attributes.pop("middle", False), attributes.pop("end", False)
    bold = attributes.pop("bold", False)
    anchor = "middle" if middle else "end" if end else None
    weight = "bold" if bold else None
    inside = escape(clean(text))
    return element(
        "text",
        inside,
        x=x,
        y=y,
        font_size=size,
        text_anchor=anchor,
        font_weight=weight,
        **attributes,
    )


def width_of(text: str, size: float) -> float:
    """About how wide a text will be, rather too much than too little, as the font isn't known."""
    widths = (
        0.3
        if letter in _NARROW
        else 0.78
        if letter in _WIDE
        else 0.54
        if ord(letter) < 0x2000
        else 1.0
        for letter in text
    )
    return size * sum(widths)


def fitted(text: str, size: float, width: float) -> str:
    """The text, cut short with ``…`` where it would be too wide."""
    if width_of(text, size) <= width:
        return text
    while text and width_of(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


@functools.lru_cache(maxsize=1024)
def wrapped(text: str, size: float, width: float) -> tuple[str, ...]:
    """The text in lines that fit, broken at spaces; a word that is too wide alone is cut short."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and width_of(longer, size) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return tuple(fitted(part, size, width) for part in [*lines, line])
