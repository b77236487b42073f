"""Sequences of pictures of a recorded game."""

from collections.abc import Iterator
from itertools import islice

from skyenv.engine.game import Game
from skyenv.errors import OptionError
from skyenv.records import GameLines
from skyenv.render.svg import svg


def film(
    lines: GameLines,
    seat: int | None = None,
    *,
    theme: str = "light",
    first: int = 0,
    last: int | None = None,
) -> Iterator[str]:
    """Yield a game's pictures as SVG texts of equal size, for
    :func:`skyenv.render.raster.animation`.

    Args:
        lines: one game of :func:`skyenv.records.iter_games`.
        seat: draw this seat's view; None: all hands are open.
        theme: ``"light"`` or ``"dark"``.
        first: number of actions before the first picture.
        last: number of actions before the last picture; None: all.

    Raises:
        RecordError: a line of the record is invalid.
        OptionError: an argument has a wrong value.
    """
    if first < 0 or (last is not None and last < first):
        raise OptionError(f"actions {first} to {last} give no picture")
    agents = lines.header.value["agents"]
    end = None if last is None else last + 1
    step = 0
    for step, game in enumerate(islice(Game.positions(lines), end)):
        if step >= first:
            yield svg(game.state, seat, theme=theme, events=game.events, agents=agents)
    if step < first:
        raise OptionError(f"there is no step {first}: the game has {step} actions")
