"""Outlines of text, for a rasterizer without text support.

Needs the extra ``[pictures]``, which contains the font. Pictures look the same on every machine, as
no system font is used. A character missing in the font becomes a box.
"""

import functools
import re
from html import unescape
from importlib import resources
from typing import Any, Final

from skyenv.render.extras import needed

_FACES: Final = {False: "SourceSansPro-Regular.ttf", True: "SourceSansPro-Bold.ttf"}
_TEXT: Final = re.compile(r"<text([^>]*)>([^<]*)</text>")
_ATTRIBUTE: Final = re.compile(r'\s([\w-]+)="([^"]*)"')
_PLACING: Final = frozenset({"x", "y", "font-size", "font-weight", "font-family", "text-anchor"})
# The share of a text's width that lies before its `x`, by anchor.
_SHARE_BEFORE: Final = {"middle": 0.5, "end": 1.0}


@functools.cache
def face(bold: bool) -> Any:
    """Return the font in one of its two weights."""
    path = resources.files(needed("font_source_sans_pro")) / "files" / _FACES[bold]
    return needed("fontTools.ttLib").TTFont(str(path))


@functools.lru_cache(maxsize=4096)
def _outlines(text: str, bold: bool) -> tuple[str, float]:
    """Return a line of text as path data, upwards positive, and its width, both in font units."""
    glyphs, names = face(bold).getGlyphSet(), face(bold).getBestCmap()
    moved = needed("fontTools.pens.transformPen").TransformPen
    pen = needed("fontTools.pens.svgPathPen").SVGPathPen(glyphs, ntos="{:.0f}".format)
    width = 0.0
    for letter in text:
        glyph = glyphs[names.get(ord(letter), ".notdef")]
        glyph.draw(moved(pen, (1, 0, 0, 1, width, 0)))
        width += glyph.width
    return str(pen.getCommands()), width


def outlined(svg_text: str) -> str:
    """Return a drawing with paths in place of its texts.

    Args:
        svg_text: as the functions of :mod:`skyenv.render.marks` write it: each text an element of
            its own, on one line.

    Raises:
        RenderError: the extra isn't installed.
    """
    return _TEXT.sub(_as_path, svg_text)


def _as_path(match: re.Match[str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(match[1]))
    bold = attributes.get("font-weight") == "bold"
    data, width = _outlines(unescape(match[2]), bold)
    scale = float(attributes.get("font-size", "16")) / face(bold)["head"].unitsPerEm
    x = (
        float(attributes.get("x", "0"))
        - _SHARE_BEFORE.get(attributes.get("text-anchor", ""), 0.0) * width * scale
    )
    if "stroke-width" in attributes:  # the stroke is scaled with the path
        attributes["stroke-width"] = f"{float(attributes['stroke-width']) / scale:.1f}"
    kept = "".join(
        f' {name}="{value}"' for name, value in attributes.items() if name not in _PLACING
    )
    place = f"translate({x:.2f} {attributes.get('y', '0')}) scale({scale:.5f} {-scale:.5f})"
    return f'<path transform="{place}" d="{data}"{kept}/>'
