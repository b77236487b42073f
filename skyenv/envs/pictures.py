"""Pictures of the games in a batch, for the environments' render()."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skyenv.engine.games import Games
from skyenv.errors import OptionError, shown
from skyenv.render.extras import PIXELS, check_installed
from skyenv.render.raster import RGB, rgb
from skyenv.render.svg import svg
from skyenv.render.text import text
from skyenv.render.window import Window

RENDER_MODES = ("ansi", "human", "rgb_array")
RENDER_WIDTH = 1200
"""Pixels of a picture."""
MOST_TABLES = 9
"""So many tables share a window."""
_MODULES = {"human": (*PIXELS, "pygame"), "rgb_array": PIXELS}


def check_render_mode(render_mode: str | None) -> str | None:
    """Return `render_mode` if it is None or one of RENDER_MODES.

    Raises:
        OptionError: it is something else.
        RenderError: it needs the extra ``[pictures]``, which isn't installed.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise OptionError(
            f"render_mode must be None or one of {', '.join(RENDER_MODES)}, not "
            f"{shown(render_mode)}"
        )
    check_installed(*_MODULES.get(render_mode or "", ()))
    return render_mode


class Renderer:
    """What the environments' render() shows: rows of games, each as a seat sees it, or with all
    hands open.

    Args:
        render_mode: None or one of RENDER_MODES.
        all_hands: show every hand, whoever looks.

    Attributes:
        mode: as `render_mode` was given.
        window: where the mode ``"human"`` shows its pictures; opened with the first of them.

    Raises:
        OptionError: there is no such mode.
        RenderError: it needs the extra ``[pictures]``, which isn't installed.
    """

    def __init__(self, render_mode: str | None, all_hands: bool) -> None:
        self.mode = check_render_mode(render_mode)
        self.window = Window()
        self._all_hands = all_hands

    def render(self, games: Games, row: int, seat: int) -> RGB | str | None:
        """A row as a seat sees it: text (mode ``"ansi"``) or pixels (``"rgb_array"``); in a window
        (``"human"``).

        Raises:
            RenderError: no window can be opened.
        """
        if self.mode == "human":
            self.window.show(self._picture(games, row, seat, RENDER_WIDTH))
            return None
        return self._returned(games, row, seat)

    def render_rows(
        self, games: Games, seats: Sequence[int]
    ) -> tuple[RGB | str | None, ...] | None:
        """Every row as its entry of `seats` sees it; the mode ``"human"`` shows at most MOST_TABLES
        of them in a window.

        Raises:
            RenderError: no window can be opened.
        """
        if self.mode == "human":
            self.window.show(self._mosaic(games, seats))
        if self.mode not in ("ansi", "rgb_array"):
            return None
        return tuple(self._returned(games, row, seat) for row, seat in enumerate(seats))

    def close(self) -> None:
        """Close the window, if there is one."""
        self.window.close()

    def _returned(self, games: Games, row: int, seat: int) -> RGB | str | None:
        if self.mode == "ansi":
            return text(games.state[row], None if self._all_hands else seat)
        return self._picture(games, row, seat, RENDER_WIDTH) if self.mode == "rgb_array" else None

    def _picture(self, games: Games, row: int, seat: int, width: int) -> RGB:
        """The pixels of a row, uint8 (height, `width`, 3), of one size for all positions of a kind
        of game.
        """
        looking = None if self._all_hands else seat
        # What another seat may choose tells of its hand.
        legal = games.mask[row] if looking in (None, games.seat[row]) else None
        return rgb(svg(games.state[row], seat=looking, legal=legal), width)

    def _mosaic(self, games: Games, seats: Sequence[int]) -> RGB:
        """The first rows side by side, uint8 (height, about RENDER_WIDTH, 3)."""
        tables = list(enumerate(seats))[:MOST_TABLES]
        across = math.ceil(math.sqrt(len(tables)))
        pictures = [self._picture(games, row, seat, RENDER_WIDTH // across) for row, seat in tables]
        blank = np.zeros_like(pictures[0])
        pictures += [blank] * (-len(pictures) % across)
        lines = [
            np.concatenate(pictures[i : i + across], axis=1)
            for i in range(0, len(pictures), across)
        ]
        return np.concatenate(lines)
