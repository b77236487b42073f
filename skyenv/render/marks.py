"""Helpers that write SVG: elements, numbers, and fitted text, independent of the game."""

import functools
import re
from collections.abc import Mapping
from typing import Final
from xml.sax.saxutils import escape

FONTS: Final = (
    "'Source Sans Pro','Source Sans 3','Segoe UI','Helvetica Neue',"
    "Roboto,Arial,'DejaVu Sans',sans-serif"
)
# Characters that are invalid in XML, escaped or not.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLAIN: Final = re.compile("[ !#$%'-;=?-~]*")  # texts that need no escaping
_ENTITIES: Final = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_NARROW: Final = frozenset("iIjlftr.,:;'|!()[]-· ")
_WIDE: Final = frozenset("mwMWQOGDHNU@%–—×+…")


def number(value: float) -> str:
    """Return a coordinate as text, to a tenth."""
    text = f"{value + 0.0:.1f}"  # -0.0 is 0 here, as it is to caches
    return text[:-2] if text.endswith(".0") else text


def clean(text: str) -> str:
    """Return a text without characters that are invalid in XML."""
    return _FORBIDDEN.sub("\ufffd", text)


@functools.lru_cache(maxsize=4096)
def _attribute(value: object) -> str:
    if isinstance(value, (int, float)):
        return number(value)
    text = str(value)
    return text if _PLAIN.fullmatch(text) else escape(clean(text), _ENTITIES)


def attributes(values: Mapping[str, object]) -> str:
    """Return attributes as text: ``_`` in names → ``-``, None omits one, numbers round."""
    return "".join(
        f' {name.replace("_", "-")}="{_attribute(value)}"'
        for name, value in values.items()
        if value is not None
    )


def element(name: str, *children: str, **values: object) -> str:
    """Return an element with attributes (:func:`attributes`)."""
    inside, begin = "".join(children), f"{name}{attributes(values)}"
    return f"<{begin}>{inside}</{name}>" if inside else f"<{begin}/>"


def group(*children: str, **values: object) -> str:
    """Return a ``<g>``; without attributes only its children."""
    return element("g", *children, **values) if values else "".join(children)


def at(x: float, y: float, *children: str, scale: float = 1.0, **values: object) -> str:
    """Return children moved to a point, and scaled about their origin."""
    size = "" if scale == 1.0 else f" scale({scale:.3g})"
    return element("g", *children, transform=f"translate({number(x)} {number(y)}){size}", **values)


def title(text: str) -> str:
    """Return the ``<title>`` of an element, for tooltips and screen readers."""
    return f"<title>{escape(clean(text))}</title>"


def rectangle(
    x: float, y: float, width: float, height: float, r: float = 0.0, /, **values: object
) -> str:
    """Return a rectangle with round corners."""
    return element("rect", x=x, y=y, width=width, height=height, rx=r or None, **values)


def circle(x: float, y: float, r: float, **values: object) -> str:
    """Return a circle."""
    return element("circle", cx=x, cy=y, r=r, **values)


def path(d: str, **values: object) -> str:
    """Return a path."""
    return element("path", d=d, **values)


def words(
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    middle: object = False,
    end: object = False,
    bold: object = False,
    **values: object,
) -> str:
    """Return text on one line, its baseline at `y`; `middle` centres it, `end` ends it at `x`."""
    anchor = "middle" if middle else "end" if end else None
    place = {"x": x, "y": y, "font_size": size, "text_anchor": anchor}
    weight = "bold" if bold else None
    return element("text", escape(clean(text)), **place, font_weight=weight, **values)


def label(x: float, y: float, text: str, size: float, fill: str, **values: object) -> str:
    """Return bold text on one line, centred at `x`, its baseline at `y`."""
    return words(x, y, text, size, middle=True, bold=True, fill=fill, **values)


def width_of(text: str, size: float) -> float:
    """Return an upper estimate of a text's width, as the font isn't known."""
    return size * sum(
        0.3
        if letter in _NARROW
        else 0.78
        if letter in _WIDE
        else 0.54
        if ord(letter) < 0x2000
        else 1.0
        for letter in text
    )


def fitted(text: str, size: float, width: float) -> str:
    """Return the text, truncated with ``…`` if it is too wide."""
    if width_of(text, size) <= width:
        return text
    while text and width_of(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


@functools.lru_cache(maxsize=1024)
def wrapped(text: str, size: float, width: float) -> tuple[str, ...]:
    """Return the text in lines that fit, broken at spaces; a word that is too wide is truncated."""
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
