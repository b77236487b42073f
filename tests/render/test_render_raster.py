"""Pixels, films and windows: of the right size, with text in them, and refused with one clear
error.
"""

from __future__ import annotations

import copy
import ctypes
import io
import pickle
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
from skyenv import Game, OptionError, RecordError, make_agent, records
from skyenv.agents import decide_game
from skyenv.errors import RenderError
from skyenv.render import glyphs, raster, svg
from skyenv.render.extras import check_installed
from skyenv.render.film import film
from skyenv.render.marks import words
from skyenv.render.raster import animation, png, rgb
from skyenv.render.window import Window

GOLDEN = Path(__file__).parents[1] / "golden"
FEW = GOLDEN / "two_players_front.jsonl"
PIXELS = npt.NDArray[np.uint8]


@pytest.fixture(scope="module")
def picture() -> str:
    game, player = Game(4, "back", 3), make_agent("random")
    for _ in range(80):
        game.play(decide_game(game, player))
    return svg(game.state, events=game.events, legal=game.mask)


def square(colour: str, width: int = 40, height: int = 30) -> str:
    """A picture of one colour."""
    sizes = f'width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {sizes}><rect {sizes} fill="{colour}"/></svg>'


def test_png_and_pixels_are_the_same(picture: str) -> None:
    image = pytest.importorskip("PIL.Image")
    content = png(picture, 400)
    assert content.startswith(b"\x89PNG")
    pixels = rgb(picture, 400)
    assert pixels.dtype == np.uint8
    assert pixels.shape == (rgb(picture).shape[0] * 400 // 1200, 400, 3)
    assert (np.array(image.open(io.BytesIO(content)).convert("RGB")) == pixels).all()
    assert (rgb(picture, 400) == pixels).all()


def test_colours_are_those_of_the_picture() -> None:
    assert (rgb(square("#c83214")) == (200, 50, 20)).all()
    assert rgb(square("#c83214"), 80).shape == (60, 80, 3)


def written(text: str, **attributes: Any) -> npt.NDArray[np.bool_]:
    """Where a text at (150, 30) is dark."""
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="40">'
        '<rect width="300" height="40" fill="#fff"/>'
    )
    dark: npt.NDArray[np.bool_] = np.any(
        rgb(f"{head}{words(150, 30, text, 24, **attributes)}</svg>") < 128, axis=2
    )
    return dark


@pytest.mark.parametrize("text", ["Fifth Avenue ×12 · VP", "Ærø – naïve …", "<&>'\"", "日本"])
def test_text_shows_in_the_font_that_comes_along(text: str) -> None:
    """A letter that the font lacks is a box."""
    dark = written(text)
    assert dark.sum() > 50
    assert not dark[:, :149].any()
    assert dark[12:31].sum() > 0.8 * dark.sum()


def test_text_stands_where_it_should() -> None:
    left, middle, right = (
        np.flatnonzero(written("Park", **{where: True}).any(axis=0))
        for where in ("bold", "middle", "end")
    )
    assert 150 <= left.min() < 156
    assert abs(150 - (middle.min() + middle.max()) / 2) < 3
    assert 144 < right.max() <= 150
    assert written("Park", bold=True).sum() > written("Park").sum()


def test_an_outline_is_as_wide_as_asked_for() -> None:
    narrow, wide = (
        written("I", fill="none", stroke="#000", stroke_width=width).sum() for width in (2, 6)
    )
    assert wide > 2 * narrow > 50


def test_the_font_has_every_letter_that_pictures_need(picture: str) -> None:
    """So none of them shows a box."""
    letters = {letter for letter in picture if letter.isprintable()} | set("–—‘’“”…−×·")
    for bold in (False, True):
        assert [letter for letter in letters if not glyphs.face(bold).has(letter)] == []


def test_no_text_is_left_to_the_rasteriser(picture: str) -> None:
    assert picture.count("<text") > 50
    outlined = glyphs.outlined(picture)
    assert "<text" not in outlined
    assert "nan" not in outlined


@pytest.mark.parametrize("width", [0, -1, 1.5, True, raster.LARGEST + 1])
def test_wrong_widths_are_named(width: Any) -> None:
    with pytest.raises(OptionError, match="width must be a whole number from 1 to"):
        png(square("#fff"), width)


@pytest.mark.parametrize(
    "text", ["", "no SVG", "<svg", "<html></html>", "<svg></svg>", square("#fff", width=0)]
)
def test_what_is_no_svg_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="this SVG can't be drawn"):
        png(text)


def test_no_side_is_longer_than_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "LARGEST", 100)
    assert rgb(square("#fff", 50, 100), 50).shape == (100, 50, 3)
    for sizes, width in (((50, 101), None), ((50, 100), 51), ((101, 5), None)):
        with pytest.raises(OptionError, match="the longer side has at most 100"):
            rgb(square("#fff", *sizes), width)


def test_many_different_pictures_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 keeps every array type that a pointer was made of, so their number must be
    small.
    """
    kept: dict[type, type] = ctypes._pointer_type_cache  # type: ignore[attr-defined]
    thorvg = pytest.importorskip("thorvg_python")
    refused: list[Any] = []
    release = thorvg.Picture._rel

    def count_and_release(picture: Any) -> Any:
        refused.append(picture)
        return release(picture)

    monkeypatch.setattr(thorvg.Picture, "_rel", count_and_release)
    rgb(square("#fff"))
    before = len(kept)
    for length in range(1, 200):
        rgb(square("#fff").replace("</svg>", f"<desc>{'x' * length}</desc></svg>"))
        with pytest.raises(OptionError):
            rgb("no SVG" + "x" * length)
    assert len(kept) == before
    assert len(refused) == 199


def test_threads_draw_the_same_pictures() -> None:
    """Glyphs are unpacked when they are first drawn, so letters that are new must not meet in two
    threads.
    """
    glyphs.face.cache_clear()
    glyphs._outlines.cache_clear()
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="40">'
    pictures = [
        f"{head}{words(9, 30, f'{chr(start)}{chr(start + 1)}Avenue', 24)}</svg>"
        for start in range(65, 97)
    ]
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(rgb, pictures))
    assert all(
        (rgb(picture) == pixels).all() for picture, pixels in zip(pictures, drawn, strict=True)
    )


# ---- without the extra ----


@pytest.mark.parametrize("module", ["thorvg_python", "fontTools.ttLib", "font_source_sans_pro"])
def test_a_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    glyphs.face.cache_clear()
    glyphs._outlines.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RenderError, match=r"pip install '\.\[pictures\]'"):
        written("text")


def test_a_missing_module_is_found_out_without_importing_it() -> None:
    check_installed("thorvg_python")
    with pytest.raises(
        RenderError, match=r"No module named 'nowhere_at_all'.*pip install '\.\[pictures\]'"
    ):
        check_installed("thorvg_python", "nowhere_at_all")


# ---- films ----


def frames_of(path: Path) -> list[PIXELS]:
    """The pictures of a film."""
    image = pytest.importorskip("PIL.Image")
    if path.suffix == ".mp4":
        program = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
        folder = path.with_suffix(".frames")
        folder.mkdir()
        subprocess.run(
            [program, "-v", "error", "-i", path, folder / "%03d.png"], check=True, timeout=LONGEST
        )
        files = sorted(folder.iterdir())
        return [
            np.asarray(image.open(io.BytesIO(file.read_bytes())).convert("RGB")) for file in files
        ]
    with image.open(path) as film:
        frames = []
        for i in range(film.n_frames):
            film.seek(i)
            frames.append(np.array(film.convert("RGB")))
    return frames


@pytest.mark.parametrize("suffix", [".gif", ".mp4", ".MP4"])
def test_a_film_has_its_pictures_in_order(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"film{suffix}"
    colours = ["#f00000", "#00f000", "#0000f0"]
    assert animation((square(colour) for colour in colours), path, fps=4, hold=0) == 3
    frames = frames_of(path.rename(path.with_suffix(suffix.lower())))
    assert [int(frame.mean(axis=(0, 1)).argmax()) for frame in frames] == [0, 1, 2]
    assert {frame.shape for frame in frames} == {(30, 40, 3)}


def test_the_last_picture_is_held(tmp_path: Path) -> None:
    assert (
        animation([square("#f00000"), square("#00f000")], tmp_path / "film.mp4", fps=4, hold=1) == 2
    )
    frames = frames_of(tmp_path / "film.mp4")
    assert len(frames) == 2 + 4
    animation([square("#f00000"), square("#00f000")], tmp_path / "film.gif", fps=4, hold=1)
    image = pytest.importorskip("PIL.Image")
    with image.open(tmp_path / "film.gif") as film_:
        film_.seek(1)
        assert film_.info["duration"] == 1250


def test_odd_sizes_are_cut_to_even_ones_in_an_mp4(tmp_path: Path) -> None:
    animation([square("#f00000", 41, 31)], tmp_path / "film.mp4", hold=0)
    assert frames_of(tmp_path / "film.mp4")[0].shape == (30, 40, 3)


@pytest.mark.parametrize(
    ("pictures", "name", "options", "message"),
    [
        ([square("#fff")], "film.avi", {}, "a film is a .gif or an .mp4 file"),
        ([square("#fff")], "film.gif", {"fps": 0}, "fps must be above 0"),
        ([square("#fff")], "film.gif", {"fps": 61}, "fps must be above 0 and at most 60"),
        ([square("#fff")], "film.gif", {"hold": -1}, "hold must be from 0 to 60 seconds"),
        ([], "film.gif", {}, "a film needs at least one picture"),
        (
            [square("#fff"), square("#fff", 50)],
            "film.gif",
            {},
            "the pictures of a film must have one size",
        ),
        (
            [square("#fff"), square("#fff", 50)],
            "film.mp4",
            {},
            "the pictures of a film must have one size",
        ),
    ],
)
def test_wrong_films_are_refused_and_leave_nothing(
    pictures: list[str], name: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=message):
        animation(pictures, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_film_that_is_there_stays_until_another_is_done(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"film{suffix}"
    path.write_bytes(b"an older film")
    with pytest.raises(OptionError):
        animation([square("#fff"), square("#fff", 50)], path)
    assert path.read_bytes() == b"an older film"
    animation([square("#fff")], path, hold=0)
    assert len(frames_of(path)) == 1
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_film_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="film"):
        animation([square("#fff")], tmp_path / "nowhere" / "film.mp4")
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(OSError, match="folder"):
        animation([square("#fff")], tmp_path / "folder.mp4")


def lines_of(path: Path) -> Iterator[records.GameLines]:
    yield from records.iter_games(path)


def test_a_recorded_game_as_pictures() -> None:
    """One after every action, the same as the position drawn alone."""
    games = lines_of(FEW)
    pictures = list(film(next(games), theme="dark"))
    game = Game.replay(records.nth_game(FEW))
    actions = sum(event["event"] == "action" for event in game.events)
    assert len(pictures) == actions + 1
    assert pictures[-1] == svg(game.state, theme="dark", events=game.events, agents=["random"] * 2)
    half = Game.replay(records.nth_game(FEW), 10)
    assert pictures[10] == svg(half.state, theme="dark", events=half.events, agents=["random"] * 2)


def test_a_part_of_a_game() -> None:
    def part(**options: Any) -> list[str]:
        games = lines_of(FEW)
        return list(film(next(games), 1, **options))

    everything = part()
    assert part(first=3, last=9) == everything[3:10]
    assert part(first=3, last=9, every=4) == [everything[3], everything[7], everything[9]]
    assert part(first=len(everything) - 1) == everything[-1:]
    for wrong in ({"first": len(everything)}, {"first": 4, "last": 3}, {"every": 0}, {"first": -1}):
        with pytest.raises(OptionError):
            part(**wrong)


def test_a_damaged_record_ends_the_film(tmp_path: Path) -> None:
    lines = FEW.read_text(encoding="utf-8").splitlines()
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:6], "{}"]), encoding="utf-8")
    games = lines_of(tmp_path / "bad.jsonl")
    with pytest.raises(RecordError, match="line 7"):
        animation(film(next(games)), tmp_path / "film.gif", width=64)
    assert not (tmp_path / "film.gif").exists()


# ---- windows ----


@pytest.fixture
def shown() -> Iterator[Window]:
    window = Window("a test")
    yield window
    window.close()


def test_a_window_shows_pictures(shown: Window) -> None:
    pygame = pytest.importorskip("pygame")
    for colour, size in (("#c83214", (40, 30)), ("#14c832", (60, 50))):
        shown.show(rgb(square(colour, *size)))
        surface = shown._window.get_surface()
        assert surface.get_size() == size
        assert pygame.surfarray.array3d(surface)[5, 5].tolist() == [
            int(colour[i : i + 2], 16) for i in (1, 3, 5)
        ]


def test_a_window_that_its_user_closes_stays_closed(shown: Window) -> None:
    pygame = pytest.importorskip("pygame")
    other = Window("another")
    for window in (shown, other):
        window.show(rgb(square("#fff")))
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=shown._window))
    other.show(rgb(square("#fff")))
    assert not other.is_closed
    shown.show(rgb(square("#fff")))
    assert shown.is_closed
    shown.show(rgb(square("#fff")))
    assert shown._window is None
    other.close()


def test_a_copy_of_a_window_is_another_window(shown: Window) -> None:
    shown.show(rgb(square("#fff")))
    for twin in (copy.deepcopy(shown), pickle.loads(pickle.dumps(shown))):
        assert twin.caption == "a test"
        assert twin._window is None
        twin.close()
    assert not shown.is_closed


def test_without_a_display_there_is_one_clear_error(
    shown: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    pygame = pytest.importorskip("pygame")
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "nothing_like_this")
    with pytest.raises(RenderError, match="can't open a window"):
        shown.show(rgb(square("#fff")))
