"""Pictures made of pixels, from the SVG text, without a display. Needs the extra ``[pictures]``.

The font comes with the extra, so that pictures look the same on every machine; the system's fonts serve for what it lacks.
"""

from __future__ import annotations

import functools
import io
from importlib import import_module, resources
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.errors import OptionError, SkyenvError, shown

FAMILY: Final = "Source Sans Pro"
_FACES: Final = ("SourceSansPro-Regular.ttf", "SourceSansPro-Bold.ttf")
LARGEST: Final = 8192
"""Pixels of the longer side."""

RGB = npt.NDArray[np.uint8]


class MissingExtraError(SkyenvError, ImportError):
    """A package of an extra isn't installed."""


def needed(module: str, extra: str = "pictures") -> Any:
    """Import a module of an extra.

    Raises:
        MissingExtraError: it isn't installed; the message says what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{error}; install the extra: pip install 'skyenv[{extra}]'") from error


@functools.cache
def _fonts() -> list[str]:
    """The files of the font."""
    folder = resources.files(needed("font_source_sans_pro")) / "files"
    return [str(folder / face) for face in _FACES]


def png(svg_text: str, width: int | None = None) -> bytes:
    """An SVG as the content of a PNG file.

    Args:
        svg_text: what :func:`skyenv.render.svg.svg` has made.
        width: pixels; None: as the SVG says.

    Raises:
        OptionError: it is no SVG, or `width` is not from 1 to LARGEST.
        MissingExtraError: the extra isn't installed.
    """
    if width is not None and (isinstance(width, bool) or not isinstance(width, (int, np.integer)) or not 1 <= width <= LARGEST):
        raise OptionError(f"width must be an integer from 1 to {LARGEST}, not {shown(width)}")
    resvg = needed("resvg_py")
    try:
        content = resvg.svg_to_bytes(
            svg_string=svg_text,
            width=None if width is None else int(width),
            font_files=_fonts(),
            font_family=FAMILY,
            sans_serif_family=FAMILY,
        )
    except ValueError as error:
        raise OptionError(f"this SVG can't be drawn: {error}") from error
    return bytes(content)


def rgb(svg_text: str, width: int | None = None) -> RGB:
    """An SVG as pixels, uint8 (height, width, 3); arguments and errors as for :func:`png`."""
    image = needed("PIL.Image")
    with image.open(io.BytesIO(png(svg_text, width))) as picture:
        pixels: RGB = np.array(picture.convert("RGB"), np.uint8)
    return pixels
