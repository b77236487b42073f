"""Raster images and films from SVG texts, without a display.

Needs the extra ``[pictures]``.

ThorVG renders, with a font from the extra (:mod:`skyenv.render.glyphs`), so pictures look the same
on every machine.
"""

import functools
import io
import math
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_integer
from skyenv.errors import OptionError, shown
from skyenv.files import replacing
from skyenv.render.extras import needed
from skyenv.render.glyphs import outlined

# Maximum of the longer side, in pixels.
LARGEST: Final = 8192
# Maximum of pictures per second; browsers slow down faster films.
HIGHEST_FPS: Final = 50.0
# Extra time of a film's last picture, in milliseconds.
_HOLD: Final = 3000

# Error in a channel from which a palette's colour counts as wrong.
_WRONG_BY: Final = 48
# Maximum share of a picture with wrong colours.
_MAX_WRONG: Final = 0.002

RGB = npt.NDArray[np.uint8]

# Input to ThorVG is padded to multiples of this many bytes.
_BLOCK: Final = 1 << 16

# Held while ThorVG draws, and while fontTools makes outlines, as it unpacks the font lazily.
_lock: Final = threading.Lock()


@functools.cache
def _engine() -> Any:
    """Return ThorVG without threads of its own, so that a process may fork."""
    return needed("thorvg_python").Engine(threads=0)


def rgb(svg_text: str, width: int | None = None) -> RGB:
    """Return an SVG as pixels, uint8 (height, width, 3).

    Args:
        svg_text: the result of :func:`skyenv.render.svg.svg`.
        width: pixels; None: as the SVG says.

    Raises:
        OptionError: the text is no SVG, or `width` or the height is not from 1 to LARGEST.
        RenderError: the extra isn't installed.
    """
    pixels = None if width is None else check_integer("width", width, 1, LARGEST)
    thorvg = needed("thorvg_python")
    with _lock:
        return _drawn(thorvg, _padded(outlined(svg_text).encode()), pixels)


def _padded(content: bytes) -> bytes:
    """Return an SVG padded with spaces, so that few lengths occur.

    The binding makes a type for every length, which ctypes never frees.
    """
    return content.ljust(-(-len(content) // _BLOCK) * _BLOCK)


def _drawn(thorvg: Any, content: bytes, width: int | None) -> RGB:
    picture = thorvg.Picture(_engine())
    try:
        wide, high = _loaded(thorvg, picture, content, width)
    except BaseException:
        picture._rel()  # noqa: SLF001 (no canvas owns it yet)
        raise
    picture.set_size(wide, high)
    canvas = thorvg.SwCanvas(_engine())
    try:
        canvas.set_target(wide, high)
        canvas.add(picture)
        canvas.update()
        canvas.draw(True)
        canvas.sync()
        colours: RGB = (
            np.frombuffer(canvas.buffer_arr, np.uint8).reshape(high, wide, 4)[:, :, :3].copy()
        )
    finally:
        canvas.destroy()
    return colours


def _loaded(thorvg: Any, picture: Any, content: bytes, width: int | None) -> tuple[int, int]:
    """Load an SVG into ThorVG; return the width and height of the picture."""
    if picture.load_data(content, "svg", None, True) != thorvg.Result.SUCCESS:
        raise OptionError("this SVG can't be drawn: it is not valid SVG")
    _, own_width, own_height = picture.get_size()
    if not (1 <= own_width < math.inf and 1 <= own_height < math.inf):
        raise OptionError("this SVG can't be drawn: it has no size")
    wide = round(own_width) if width is None else width
    high = max(round(own_height * wide / own_width), 1)
    if max(wide, high) > LARGEST:
        raise OptionError(
            f"this SVG can't be drawn: {wide} × {high} pixels are too many; the longer side has at "
            f"most {LARGEST}"
        )
    return wide, high


def png(svg_text: str, width: int | None = None) -> bytes:
    """Return an SVG as the content of a PNG file; arguments and errors as for :func:`rgb`."""
    content = io.BytesIO()
    needed("PIL.Image").fromarray(rgb(svg_text, width)).save(content, "PNG")
    return content.getvalue()


# ---- films ----


def animation(
    svgs: Iterable[str], path: str | Path, *, fps: float = 2.0, width: int | None = None
) -> int:
    """Write pictures as an animated GIF.

    The pictures are drawn one by one, so they may come from a generator. All must have one size, as
    wide pictures of one game have.

    Args:
        svgs: at least one SVG text.
        path: the file to write, ``….gif``. An existing file is replaced when the film is done.
        fps: pictures per second, above 0, at most HIGHEST_FPS.
        width: pixels; None: as the SVGs say.

    Returns:
        The number of pictures.

    Raises:
        OptionError: an argument has a wrong value, there is no picture, or one has another size.
        RenderError: the extra isn't installed.
        OSError: the file can't be written.
    """
    target = Path(path)
    if target.suffix.lower() != ".gif":
        raise OptionError(f"path must be a .gif file, not {shown(str(path))}")
    if not 0 < fps <= HIGHEST_FPS:
        raise OptionError(f"fps must be above 0 and at most {HIGHEST_FPS:g}, not {shown(fps)}")
    with replacing(target) as part:  # fail before the work if the path can't be written
        pictures = list(_frames(svgs, width))
        if not pictures:
            raise OptionError("a film needs at least one picture")
        pause = round(1000 / fps)
        durations = [pause] * (len(pictures) - 1) + [pause + _HOLD]
        options = {"save_all": True, "append_images": pictures[1:], "duration": durations}
        pictures[0].save(part, "GIF", **options, loop=0, optimize=False)
    return len(pictures)


def _frames(svgs: Iterable[str], width: int | None) -> Iterator[Any]:
    """Yield the pictures in at most 256 colours; all must have one size.

    They reuse the previous palette while it fits, so that unchanged areas stay equal and are stored
    once.
    """
    image = needed("PIL.Image")
    needed("PIL.GifImagePlugin")
    palette: Any = None
    for svg_text in svgs:
        frame = image.fromarray(rgb(svg_text, width))
        if palette is not None and frame.size != palette.size:
            raise OptionError(
                f"the pictures of a film must have one size; one has {frame.size}, the first "
                f"{palette.size}"
            )
        picture = None if palette is None else _in_palette(image, frame, palette)
        if picture is None:
            picture = palette = frame.quantize(256, image.Quantize.MEDIANCUT)
        yield picture


def _in_palette(image: Any, frame: Any, palette: Any) -> Any:
    """Return the frame in the colours of a palette; None if the palette lacks some."""
    picture = frame.quantize(palette=palette, dither=image.Dither.NONE)
    off = np.asarray(picture.convert("RGB"), np.int16) - np.asarray(frame)
    strange = np.abs(off).max(axis=2) > _WRONG_BY
    return None if strange.mean() > _MAX_WRONG else picture
