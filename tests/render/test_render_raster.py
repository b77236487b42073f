"""Raster images, films, windows and the commands that draw records."""

import io
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import main_of
from skyenv import Game, OptionError, records
from skyenv.errors import MissingExtraError, RenderError
from skyenv.render import glyphs, raster, svg
from skyenv.render.film import film
from skyenv.render.marks import words
from skyenv.render.raster import animation, png, rgb
from skyenv.render.text import text
from skyenv.render.window import Window

FEW = Path(__file__).parents[1] / "golden" / "two_players_front.jsonl"
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}">'


def square(colour: str, width: int = 40, height: int = 30) -> str:
    """Return a picture of one colour."""
    ground = f'<rect width="{width}" height="{height}" fill="{colour}"/></svg>'
    return HEAD.format(width, height) + ground


def test_png_and_rgb_agree_and_text_is_drawn_as_outlines() -> None:
    picture = svg(Game(4, "back", 3).state)
    drawn = pytest.importorskip("PIL.Image").open(io.BytesIO(png(picture, 400))).convert("RGB")
    assert (np.array(drawn) == rgb(picture, 400)).all()
    assert "<text" not in glyphs.outlined(picture)
    assert rgb(square("#c83214"), 80)[59, 79].tolist() == [200, 50, 20]


def drawn_text(text: str, **attributes: Any) -> str:
    """Return a picture of a text at (150, 30)."""
    ground = '<rect width="300" height="40" fill="#fff"/>'
    return f"{HEAD.format(300, 40)}{ground}{words(150, 30, text, 24, **attributes)}</svg>"


@pytest.mark.parametrize("text", ["Fifth Avenue ×12 · VP", "<&>'\"", "日本"])
@pytest.mark.parametrize(
    ("where", "begins", "middle", "ends"),
    [("bold", 149, None, 300), ("middle", 0, 150, 300), ("end", 0, None, 151)],
)
def test_text_is_drawn_at_its_place(
    text: str, where: str, begins: int, middle: int | None, ends: int
) -> None:
    """In the extra's font; missing letters are drawn as boxes."""
    dark = np.any(rgb(drawn_text(text, **{where: True})) < 128, axis=2)
    left, right = np.flatnonzero(dark.any(axis=0))[[0, -1]]
    assert dark[12:31].sum() > max(50, 0.8 * dark.sum())
    assert begins <= left < right <= ends
    assert middle is None or abs(middle - (left + right) / 2) < 3


@pytest.mark.parametrize(
    ("text", "width", "message"),
    [
        (square("#fff"), 0, "width must be a whole number from 1 to"),
        (square("#fff", 5, 9), raster.LARGEST, "the longer side has at most 8192"),
        (square("#fff", raster.LARGEST + 1, 5), None, "the longer side has at most 8192"),
        ("<svg", None, "this SVG can't be drawn"),
        (square("#fff", width=0), None, "this SVG can't be drawn"),
    ],
)
def test_invalid_svgs_and_sizes_are_refused(text: str, width: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        png(text, width)


def test_threads_draw_the_same_pictures() -> None:
    """Glyphs are unpacked lazily, so threads must not unpack one twice."""
    glyphs.face.cache_clear()
    pictures = [drawn_text(f"{chr(start)}{chr(start + 1)}") for start in range(65, 97)]
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(rgb, pictures))
    assert np.array_equal(drawn, [rgb(picture) for picture in pictures])


@pytest.mark.parametrize("module", ["thorvg_python", "fontTools.ttLib", "font_source_sans_pro"])
def test_a_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    glyphs.face.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install --editable '\.\[pictures\]'"):
        rgb(drawn_text(f"text without {module}"))


# ---- films ----


def test_a_film_shows_its_pictures_in_order(tmp_path: Path) -> None:
    """An existing film stays until the new one is complete."""
    image, path = pytest.importorskip("PIL.Image"), tmp_path / "film.gif"
    path.write_bytes(b"an older film")
    with pytest.raises(OptionError, match="must have one size"):
        animation([square("#fff"), square("#fff", 50)], path)
    assert path.read_bytes() == b"an older film"
    colours = [(240, 0, 0), (0, 240, 0), (0, 0, 240)]
    assert animation((square(f"rgb{colour}") for colour in colours), path, fps=4) == 3
    told = []
    with image.open(path) as drawn:
        for frame in pytest.importorskip("PIL.ImageSequence").Iterator(drawn):
            told.append((frame.convert("RGB").getpixel((5, 5)), frame.info["duration"]))
    assert told == [*zip(colours, [250, 250, 3250], strict=True)]


@pytest.mark.parametrize(
    ("pictures", "name", "fps", "message"),
    [
        ([square("#fff")], "film.avi", 2, "path must be a .gif file"),
        *(([square("#fff")], "film.gif", fps, "fps must be above 0 and at") for fps in (0, 51)),
        ([], "film.gif", 2, "a film needs at least one picture"),
    ],
)
def test_invalid_films_are_refused_and_write_nothing(
    pictures: list[str], name: str, fps: float, message: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=message):
        animation(pictures, tmp_path / name, fps=fps)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("part", "drawn"),
    [
        ({}, slice(0, None)),
        ({"first": 3, "last": 5}, [3, 4, 5]),
        *(({"first": 10**6}, None), ({"first": 4, "last": 3}, None)),
    ],
)
def test_a_film_draws_the_positions_of_a_record(part: dict[str, int], drawn: Any) -> None:
    """One picture after every action, equal to the position drawn alone; or a part of them."""
    pictures = film(records.nth_game(FEW), 1, theme="dark", **part)
    if drawn is None:
        with pytest.raises(OptionError):
            next(pictures)
        return
    alone = [
        svg(game.state, 1, theme="dark", events=game.events, agents=["random"] * 2)
        for game in Game.positions(records.nth_game(FEW))
    ]
    assert list(pictures) == np.array(alone)[drawn].tolist()


# ---- windows ----


def test_a_window_shows_pictures_until_closed() -> None:
    pygame, shown, other = pytest.importorskip("pygame"), Window("a test"), Window("another")
    for window in (other, shown):
        window.show(rgb(square("#fff")))
    drawn = pygame.surfarray.array3d(shown._window.get_surface())
    assert (drawn.shape, drawn[5, 5].tolist()) == ((40, 30, 3), [255, 255, 255])
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=shown._window))
    for window in (other, shown):
        window.show(rgb(square("#fff")))
    assert (other.is_closed, shown.is_closed) == (False, True)
    other.close()


def test_a_missing_display_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame").display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "nothing_like_this")
    with pytest.raises(RenderError, match="can't open a window"):
        Window("a test").show(rgb(square("#fff")))


# ---- the commands show and film ----


@pytest.mark.usefixtures("here")
def test_show_and_film_draw_recorded_positions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main_of("record --games 2 --seed 5 --max-turns 8 -o games.jsonl") == 0
    game = Game.replay(records.nth_game("games.jsonl", 2), 20)
    which = "games.jsonl --game 2 --seat 1"
    assert main_of(f"show {which} --step 20") == 0
    players = "games.jsonl, game 2: random 1 and random 2"
    last = "after 20 actions: random 2, move beige W52"
    assert capsys.readouterr().out == f"{players}\n{last}\n\n{text(game.state, 1)}\n"
    assert main_of(f"show {which} --step 20 --theme dark --svg a.svg --png a.png --width 800") == 0
    drawn = svg(game.state, 1, theme="dark", events=game.events, agents=["random"] * 2, width=800)
    assert Path("a.svg").read_text(encoding="utf-8") == drawn
    assert Path("a.png").read_bytes() == png(drawn)
    assert main_of(f"film {which} --from 3 --to 5 --width 200 -o film.gif") == 0
    assert capsys.readouterr().out == "film.gif: 3 pictures\n"
    monkeypatch.setitem(sys.modules, "thorvg_python", None)
    assert main_of(f"show {which} --svg b.svg --png b.png") == 2
    complaint = "show: error: No module named 'thorvg_python'; install the extra [pictures]"
    assert capsys.readouterr().err.startswith(complaint)
    assert Path("b.svg").exists()
