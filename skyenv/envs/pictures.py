"""Pictures of the games in a batch, for the environments' render()."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skyenv.errors import OptionError, shown
from skyenv.games import Games
from skyenv.render.extras import check_installed
from skyenv.render.raster import RGB, rgb
from skyenv.render.svg import svg
from skyenv.render.text import text
from skyenv.render.window import Window

RENDER_MODES = ("ansi", "human", "rgb_array")
RENDER_WIDTH = 1200
"""Pixels of a picture."""
MOST_TABLES = 9
"""So many tables share a window."""
_PIXELS = ("thorvg_python", "fontTools", "font_source_sans_pro")
_MODULES = {"human": (*_PIXELS, "pygame"), "rgb_array": _PIXELS}


def check_render_mode(render_mode: str | None) -> str | None:
    """Return `render_mode` if it is None or one of RENDER_MODES.

    Raises:
        OptionError: it is something else.
        RenderError: it needs the extra ``[pictures]``, which isn't installed.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise OptionError(f"render_mode must be None or one of {', '.join(RENDER_MODES)}, not {shown(render_mode)}")
    check_installed(*_MODULES.get(render_mode or "", ()))
    return render_mode


def text_picture(games: Games, row: int) -> str:
    """The position of a row as text, with everything shown."""
    return text(games.state[row])


def picture(games: Games, row: int, width: int = RENDER_WIDTH) -> RGB:
    """The position of a row, with everything shown: uint8 (height, width, 3), of one size for all positions of a kind of game."""
    return rgb(svg(games.state[row], legal=games.mask[row]), width)


def rendered(games: Games, row: int, render_mode: str | None, window: Window) -> RGB | str | None:
    """What render() returns for a row; in the mode ``"human"`` it is shown in the window instead."""
    if render_mode == "ansi":
        return text_picture(games, row)
    if render_mode == "rgb_array":
        return picture(games, row)
    if render_mode == "human":
        window.show(picture(games, row))
    return None


def mosaic(games: Games, rows: Sequence[int]) -> RGB:
    """The positions of some rows side by side, at most MOST_TABLES of them: uint8 (height, about RENDER_WIDTH, 3)."""
    shown_rows = rows[:MOST_TABLES]
    across = math.ceil(math.sqrt(len(shown_rows)))
    pictures = [picture(games, row, RENDER_WIDTH // across) for row in shown_rows]
    blank = np.zeros_like(pictures[0])
    pictures += [blank] * (-len(pictures) % across)
    lines = [np.concatenate(pictures[i : i + across], axis=1) for i in range(0, len(pictures), across)]
    return np.concatenate(lines)
