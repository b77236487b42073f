"""The commands ``python -m skyenv show`` and ``film``, which draw recorded games."""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path

from skyenv.console.options import Options, argument, option
from skyenv.console.progress import progress
from skyenv.console.tables import counted
from skyenv.engine.game import Game
from skyenv.files import check_writable, write_atomically
from skyenv.records import nth_game
from skyenv.records.format import MAX_INT32
from skyenv.records.reader import named
from skyenv.render.colours import THEMES
from skyenv.render.film import film
from skyenv.render.raster import HIGHEST_FPS, LARGEST, animation, png
from skyenv.render.svg import svg
from skyenv.render.text import text
from skyenv.render.words import listed, seat_name
from skyenv.rules.components import MAX_PLAYERS


@dataclass(frozen=True, kw_only=True)
class PictureOptions(Options):
    """Options of both commands."""

    file: Path = argument("the record", metavar="FILE")
    game: int = option(1, "which game", low=1, high=MAX_INT32)
    seat: int | None = option(
        None,
        "draw from this seat's view, from 0 (default: all hands)",
        high=MAX_PLAYERS - 1,
        metavar="S",
    )
    theme: str = option("light", "colours of the drawing", choices=tuple(THEMES))


# ---- show ----


@dataclass(frozen=True, kw_only=True)
class ShowOptions(PictureOptions):
    """Options of ``show``."""

    step: int | None = option(None, "the position after N actions (default: all)", high=MAX_INT32)
    svg: Path | None = option(None, "write an SVG to this file", metavar="FILE", writes=True)
    png: Path | None = option(
        None, "write a PNG to this file (needs the extra [pictures])", metavar="FILE", writes=True
    )
    width: int = option(
        1200,
        "width of the drawing in pixels; below 700 it is upright",
        low=1,
        high=LARGEST,
        metavar="PIXELS",
    )


def show(options: ShowOptions) -> None:
    """Print a position of a record as text, or write pictures of it."""
    with named(options.file):
        lines = nth_game(options.file, options.game)
        game = Game.replay(lines, options.step)
    names = lines.header.value["agents"]
    if options.svg is not None or options.png is not None:
        _draw(options, game, names)
        return
    players = listed([seat_name(seat, names) for seat in range(game.num_players)])
    actions = [event for event in game.events if event["event"] == "action"]
    last = f": {seat_name(actions[-1]['seat'], names)}, {actions[-1]['name']}" if actions else ""
    print(
        f"{options.file}, game {options.game}: {players}\n"
        f"after {counted(len(actions), 'action')}{last}\n\n{text(game.state, options.seat)}"
    )


def _draw(options: ShowOptions, game: Game, names: Sequence[str] | None) -> None:
    """Write the pictures of a position."""
    check_writable(*(path for path in (options.svg, options.png) if path is not None))
    drawn = svg(
        game.state,
        options.seat,
        theme=options.theme,
        events=game.events,
        agents=names,
        width=options.width,
    )
    if options.svg is not None:
        write_atomically(options.svg, drawn)
    if options.png is not None:
        write_atomically(options.png, png(drawn))


# ---- film ----


@dataclass(frozen=True, kw_only=True)
class FilmOptions(PictureOptions):
    """Options of ``film``."""

    output: Path = option(
        MISSING, "the file to write, .gif", short="-o", metavar="FILE", writes=True
    )
    first: int = option(0, "first picture after N actions", short="--from", high=MAX_INT32)
    last: int | None = option(
        None,
        "last picture after N actions (default: all)",
        short="--to",
        high=MAX_INT32,
    )
    width: int = option(1200, "width of the film in pixels", low=16, high=LARGEST, metavar="PIXELS")
    fps: float = option(2.0, "pictures per second", high=HIGHEST_FPS, above=True, metavar="F")


def make_film(options: FilmOptions) -> None:
    """Write a recorded game as an animated GIF (needs the extra [pictures])."""
    with named(options.file):
        pictures = film(
            nth_game(options.file, options.game),
            options.seat,
            theme=options.theme,
            first=options.first,
            last=options.last,
        )
        with progress(unit="picture", iterable=pictures) as bar:
            number = animation(bar, options.output, fps=options.fps, width=options.width)
    print(f"{options.output}: {counted(number, 'picture')}")
