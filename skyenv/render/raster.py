"""Pictures made of pixels, and films, from SVG texts, without a display.

Needs the extra ``[pictures]``.

ThorVG draws, and the font comes with the extra (:mod:`skyenv.render.glyphs`), so pictures look the
same on every machine.
"""

from __future__ import annotations

import functools
import io
import math
import threading
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_integer
from skyenv.errors import OptionError, shown
from skyenv.files import replacing
from skyenv.render.extras import needed
from skyenv.render.glyphs import outlined

LARGEST: Final = 8192
"""Pixels of the longer side."""
HIGHEST_FPS: Final = 60.0
"""Pictures a second."""
SUFFIXES: Final = (".gif", ".mp4")
"""What films can be."""

_FAR_OFF: Final = 48
"""A colour that is so wrong in a channel is another colour."""
_MOST_STRANGE: Final = 0.002
"""Share of a picture that may have wrong colours."""

RGB = npt.NDArray[np.uint8]

_BLOCK: Final = 1 << 16
"""Bytes; the lengths of what ThorVG is given are multiples of it."""

_lock: Final = threading.Lock()
"""Held while ThorVG draws, and while letters are made outlines: fontTools unpacks the font bit by
bit.
"""


@functools.cache
def _engine() -> Any:
    """ThorVG without threads of its own, so that a process may fork."""
    return needed("thorvg_python").Engine(threads=0)


def rgb(svg_text: str, width: int | None = None) -> RGB:
    """An SVG as pixels, uint8 (height, width, 3).

    Args:
        svg_text: what :func:`skyenv.render.svg.svg` has made.
        width: pixels; None: as the SVG says.

    Raises:
        OptionError: it is no SVG, `width` is not from 1 to LARGEST, or the picture would be higher
            than that.
        RenderError: the extra isn't installed.
    """
    pixels = None if width is None else check_integer("width", width, 1, LARGEST)
    thorvg = needed("thorvg_python")
    with _lock:
        return _drawn(thorvg, _padded(outlined(svg_text).encode()), pixels)


def _padded(content: bytes) -> bytes:
    """An SVG with spaces behind it, so that few lengths occur.

    The binding makes a type of its own for every length, and ctypes keeps each of them for ever.
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
    """Give an SVG to ThorVG; how wide and high it is to be drawn."""
    if picture.load_data(content, "svg", None, True) != thorvg.Result.SUCCESS:
        raise OptionError("this SVG can't be drawn: it is none, or it is broken")
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
    """An SVG as the content of a PNG file; arguments and errors as for :func:`rgb`."""
    pixels = rgb(svg_text, width)
    content = io.BytesIO()
    needed("PIL.Image").fromarray(pixels).save(content, "PNG")
    return content.getvalue()


# ---- films ----


def animation(
    svgs: Iterable[str],
    path: str | Path,
    *,
    fps: float = 2.0,
    width: int | None = None,
    hold: float = 3.0,
) -> int:
    """Pictures as a film, an animated GIF or an MP4 (H.264), as the path's suffix says.

    The pictures are drawn one after the other, so they may come from a generator. All must have one
    size, as wide pictures of one game have.

    Args:
        svgs: at least one SVG text.
        path: the file to write, ``….gif`` or ``….mp4``. A file that is there is replaced when the
            film is done.
        fps: pictures a second, above 0, at most HIGHEST_FPS.
        width: pixels; None: as the SVGs say.
        hold: seconds for which the last picture stays.

    Returns:
        The number of pictures.

    Raises:
        OptionError: an argument has a wrong value, there is no picture, or one has another size.
        RenderError: the extra isn't installed.
        OSError: the file can't be written.
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise OptionError(f"a film is a .gif or an .mp4 file, not {shown(str(path))}")
    if not 0 < fps <= HIGHEST_FPS:
        raise OptionError(f"fps must be above 0 and at most {HIGHEST_FPS:g}, not {shown(fps)}")
    if not 0 <= hold <= 60:
        raise OptionError(f"hold must be from 0 to 60 seconds, not {shown(hold)}")
    write = _write_gif if target.suffix.lower() == ".gif" else _write_mp4
    with replacing(target) as part:  # a path that can't be written is told before the work begins
        frames = _frames(svgs, width)
        first = next(frames, None)
        if first is None:
            raise OptionError("a film needs at least one picture")
        return write(part, first, frames, fps, hold)


def _frames(svgs: Iterable[str], width: int | None) -> Iterator[RGB]:
    """The pictures' pixels; all must have one size."""
    shape: tuple[int, ...] | None = None
    for svg_text in svgs:
        frame = rgb(svg_text, width)
        if shape is not None and frame.shape != shape:
            raise OptionError(
                f"the pictures of a film must have one size; one has {frame.shape}, the first "
                f"{shape}"
            )
        shape = frame.shape
        yield frame


def _write_gif(path: Path, first: RGB, frames: Iterator[RGB], fps: float, hold: float) -> int:
    """Frames keep the palette of those before them while it fits: what doesn't change stays equal,
    and isn't stored again.
    """
    image = needed("PIL.Image")
    needed("PIL.GifImagePlugin")
    pictures: list[Any] = []
    palette: Any = None
    for frame in chain([first], frames):
        picture = None if palette is None else _in_palette(image, frame, palette)
        if picture is None:
            palette = image.fromarray(frame).quantize(256, image.Quantize.MEDIANCUT)
            picture = palette
        pictures.append(picture)
    pause = max(round(1000 / fps), 20)
    durations = [pause] * (len(pictures) - 1) + [pause + round(1000 * hold)]
    pictures[0].save(
        path,
        "GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=durations,
        loop=0,
        optimize=False,
    )
    return len(pictures)


def _in_palette(image: Any, frame: RGB, palette: Any) -> Any:
    """The frame in the colours of a palette; None if some of its own aren't among them."""
    picture = image.fromarray(frame).quantize(palette=palette, dither=image.Dither.NONE)
    strange = np.abs(np.asarray(picture.convert("RGB"), np.int16) - frame).max(axis=2) > _FAR_OFF
    return None if strange.mean() > _MOST_STRANGE else picture


def _write_mp4(path: Path, first: RGB, frames: Iterator[RGB], fps: float, hold: float) -> int:
    """H.264 in a form that all browsers play; its sides must be even."""
    ffmpeg = needed("imageio_ffmpeg")
    height, width = first.shape[0] // 2 * 2, first.shape[1] // 2 * 2
    options = {
        "codec": "libx264",
        "pix_fmt_out": "yuv420p",
        "macro_block_size": 1,
        "quality": 8,
        "ffmpeg_log_level": "error",
    }
    writer = ffmpeg.write_frames(str(path), (width, height), fps=fps, **options)
    writer.send(None)
    number, last = 0, first
    try:
        for last in chain([first], frames):
            writer.send(np.ascontiguousarray(last[:height, :width]))
            number += 1
        for _ in range(round(hold * fps)):
            writer.send(np.ascontiguousarray(last[:height, :width]))
    finally:
        writer.close()
    return number
