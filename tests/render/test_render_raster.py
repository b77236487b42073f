"""Pixels, films and windows: of the right size, with text in them, and refused with one clear
error.
"""

from __future__ import annotations

import copy
import ctypes
import io
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from processes import LONGEST
from skyenv import Game, OptionError, RecordError, records
from skyenv.errors import RenderError
from skyenv.render import glyphs, raster, svg
from skyenv.render.extras import check_installed
from skyenv.render.film import film
from skyenv.render.marks import words
from skyenv.render.raster import animation, png, rgb
from skyenv.render.window import Window

FEW = Path(__file__).parents[1] / "golden" / "two_players_front.jsonl"
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}">'


def square(colour: str, width: int = 40, height: int = 30) -> str:
    """A picture of one colour."""
    ground = f'<rect width="{width}" height="{height}" fill="{colour}"/></svg>'
    return HEAD.format(width, height) + ground


def test_png_and_pixels_are_the_same_and_hold_no_text_that_is_not_drawn() -> None:
    image, picture = pytest.importorskip("PIL.Image"), svg(Game(4, "back", 3).state)
    pixels = rgb(picture, 400)
    assert pixels.dtype == np.uint8
    assert pixels.shape == (rgb(picture).shape[0] * 400 // 1200, 400, 3)
    drawn = image.open(io.BytesIO(png(picture, 400))).convert("RGB")
    assert (np.array(drawn) == pixels).all()
    assert picture.count("<text") > 50
    assert "<text" not in glyphs.outlined(picture)
    letters = {letter for letter in picture if letter.isprintable()} | set("–—‘’“”…−×·")
    for bold in (False, True):
        assert [letter for letter in letters if not glyphs.face(bold).has(letter)] == []
    assert (rgb(square("#c83214")) == (200, 50, 20)).all()
    assert rgb(square("#c83214"), 80).shape == (60, 80, 3)


def written(text: str, **attributes: Any) -> npt.NDArray[np.bool_]:
    """Where a text at (150, 30) is dark."""
    ground = '<rect width="300" height="40" fill="#fff"/>'
    drawn = f"{HEAD.format(300, 40)}{ground}{words(150, 30, text, 24, **attributes)}</svg>"
    dark: npt.NDArray[np.bool_] = np.any(rgb(drawn) < 128, axis=2)
    return dark


@pytest.mark.parametrize("text", ["Fifth Avenue ×12 · VP", "Ærø – naïve …", "<&>'\"", "日本"])
def test_text_shows_in_the_font_that_comes_along(text: str) -> None:
    """A letter that the font lacks is a box."""
    dark = written(text)
    assert dark.sum() > 50
    assert not dark[:, :149].any()
    assert dark[12:31].sum() > 0.8 * dark.sum()


def test_text_stands_where_it_should_as_wide_as_asked_for() -> None:
    left, middle, right = (
        np.flatnonzero(written("Park", **{where: True}).any(axis=0))
        for where in ("bold", "middle", "end")
    )
    assert 150 <= left.min() < 156
    assert abs(150 - (middle.min() + middle.max()) / 2) < 3
    assert 144 < right.max() <= 150
    assert written("Park", bold=True).sum() > written("Park").sum()
    outline = {"fill": "none", "stroke": "#000"}
    narrow, wide = (written("I", **outline, stroke_width=width).sum() for width in (2, 6))
    assert wide > 2 * narrow > 50


@pytest.mark.parametrize(
    ("text", "width", "message"),
    [
        *((square("#fff"), width, "width must be a whole number from 1 to") for width in (0, 1.5)),
        (square("#fff"), raster.LARGEST + 1, "width must be a whole number from 1 to"),
        (square("#fff", 5, 9), raster.LARGEST, "the longer side has at most 8192"),
        (square("#fff", raster.LARGEST + 1, 5), None, "the longer side has at most 8192"),
        *((text, None, "this SVG can't be drawn") for text in ("", "<svg", "<html></html>")),
        (square("#fff", width=0), None, "this SVG can't be drawn"),
    ],
)
def test_what_cannot_be_drawn(text: str, width: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        png(text, width)


def test_many_different_pictures_leave_nothing_behind() -> None:
    """Python 3.11 keeps every array type that a pointer was made of, so their number must be
    small.
    """
    kept: dict[type, type] = ctypes._pointer_type_cache  # type: ignore[attr-defined]
    rgb(square("#fff"))
    before = len(kept)
    for length in range(1, 100):
        rgb(square("#fff").replace("</svg>", f"<desc>{'x' * length}</desc></svg>"))
        with pytest.raises(OptionError):
            rgb("no SVG" + "x" * length)
    assert len(kept) == before


def test_threads_draw_the_same_pictures() -> None:
    """Glyphs are unpacked when they are first drawn, so letters that are new must not meet in two
    threads.
    """
    glyphs.face.cache_clear()
    texts = [f"{chr(start)}{chr(start + 1)}Avenue" for start in range(65, 97)]
    pictures = [f"{HEAD.format(300, 40)}{words(9, 30, text, 24)}</svg>" for text in texts]
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(rgb, pictures))
    pairs = zip(pictures, drawn, strict=True)
    assert all((rgb(picture) == pixels).all() for picture, pixels in pairs)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = r"pip install '\.\[pictures\]'"
    check_installed("thorvg_python")
    with pytest.raises(RenderError, match=f"No module named 'nowhere_at_all'.*{hint}"):
        check_installed("thorvg_python", "nowhere_at_all")
    for module in ("thorvg_python", "fontTools.ttLib", "font_source_sans_pro"):
        with monkeypatch.context() as patch:
            glyphs.face.cache_clear()
            patch.setitem(sys.modules, module, None)
            with pytest.raises(RenderError, match=hint):
                written(f"text without {module}")


# ---- films ----


def frames_of(path: Path) -> list[npt.NDArray[np.uint8]]:
    """The pictures of a film."""
    image = pytest.importorskip("PIL.Image")
    if path.suffix == ".mp4":
        program, folder = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe(), path.parent / "f"
        folder.mkdir()
        command = [program, "-v", "error", "-i", path, folder / "%03d.png"]
        subprocess.run(command, check=True, timeout=LONGEST)
        return [np.asarray(image.open(file).convert("RGB")) for file in sorted(folder.iterdir())]
    sequence = pytest.importorskip("PIL.ImageSequence")
    with image.open(path) as drawn:
        return [np.array(frame.convert("RGB")) for frame in sequence.Iterator(drawn)]


@pytest.mark.parametrize(("suffix", "held"), [(".gif", 0), (".mp4", 4)])
def test_a_film_has_its_pictures_in_order_and_holds_the_last(
    suffix: str, held: int, tmp_path: Path
) -> None:
    """Odd sizes are cut to even ones in an MP4; a film that is there stays until it is done."""
    path = tmp_path / f"film{suffix}"
    path.write_bytes(b"an older film")
    with pytest.raises(OptionError):
        animation([square("#fff"), square("#fff", 50)], path)
    assert path.read_bytes() == b"an older film"
    pictures = (square(colour, 41, 31) for colour in ("#f00000", "#00f000", "#0000f0"))
    assert animation(pictures, path, fps=4, hold=1) == 3
    frames = frames_of(path)
    order = [int(frame.mean(axis=(0, 1)).argmax()) for frame in frames]
    assert order == [0, 1, 2, *[2] * held]
    assert {frame.shape for frame in frames} == {(30, 40, 3) if held else (31, 41, 3)}


@pytest.mark.parametrize(
    ("pictures", "name", "options", "message"),
    [
        ([square("#fff")], "film.avi", {}, "a film is a .gif or an .mp4 file"),
        ([square("#fff")], "film.gif", {"fps": 0}, "fps must be above 0"),
        ([square("#fff")], "film.gif", {"fps": 61}, "fps must be above 0 and at most 60"),
        ([square("#fff")], "film.gif", {"hold": -1}, "hold must be from 0 to 60 seconds"),
        ([], "film.gif", {}, "a film needs at least one picture"),
        ([square("#fff"), square("#fff", 50)], "film.mp4", {}, "must have one size"),
    ],
)
def test_wrong_films_are_refused_and_leave_nothing(
    pictures: list[str], name: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=message):
        animation(pictures, tmp_path / name, **options)
    with pytest.raises(OSError, match="nowhere"):
        animation(pictures, tmp_path / "nowhere" / "film.mp4")
    assert list(tmp_path.iterdir()) == []


def part(path: Path = FEW, **options: Any) -> list[str]:
    games = records.iter_games(path)
    return list(film(next(games), 1, **options))


def test_a_recorded_game_as_pictures(tmp_path: Path) -> None:
    """One after every action, the same as the position drawn alone; or a part of it."""
    pictures, half = part(theme="dark"), Game.replay(records.nth_game(FEW), 10)
    drawn = svg(half.state, 1, theme="dark", events=half.events, agents=["random"] * 2)
    actions = sum(e["event"] == "action" for e in Game.replay(records.nth_game(FEW)).events)
    assert len(pictures) == actions + 1
    assert pictures[10] == drawn
    few = part(theme="dark", first=3, last=9, every=4)
    assert few == [pictures[3], pictures[7], pictures[9]]
    assert part(theme="dark", first=actions) == pictures[-1:]
    for wrong in ({"first": actions + 1}, {"first": 4, "last": 3}, {"every": 0}, {"first": -1}):
        with pytest.raises(OptionError):
            part(**wrong)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("\n".join([*FEW.read_text("utf-8").splitlines()[:6], "{}"]), encoding="utf-8")
    with pytest.raises(RecordError, match="line 7"):
        part(bad)


# ---- windows ----


@pytest.fixture
def shown() -> Iterator[Window]:
    window = Window("a test")
    yield window
    window.close()


def test_a_window_shows_pictures_until_its_user_closes_it(shown: Window) -> None:
    pygame, other = pytest.importorskip("pygame"), Window("another")
    other.show(rgb(square("#fff")))
    for colour, size in (((200, 50, 20), (40, 30)), ((20, 200, 50), (60, 50))):
        shown.show(rgb(square("#{:02x}{:02x}{:02x}".format(*colour), *size)))
        surface = shown._window.get_surface()
        assert surface.get_size() == size
        assert tuple(pygame.surfarray.array3d(surface)[5, 5]) == colour
    twin = copy.deepcopy(shown)
    assert (twin.caption, twin._window) == ("a test", None)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=shown._window))
    other.show(rgb(square("#fff")))
    assert not other.is_closed
    for _ in range(2):
        shown.show(rgb(square("#fff")))
        assert shown.is_closed
    other.close()


def test_without_a_display_there_is_one_clear_error(
    shown: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    pygame = pytest.importorskip("pygame")
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "nothing_like_this")
    with pytest.raises(RenderError, match="can't open a window"):
        shown.show(rgb(square("#fff")))
