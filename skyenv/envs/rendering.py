"""Pictures of the games in a batch, for the environments' render()."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skyenv.checks import check_choice, check_flag
from skyenv.engine.games import Games
from skyenv.render.extras import PIXELS, check_installed
from skyenv.render.raster import RGB, rgb
from skyenv.render.svg import svg
from skyenv.render.text import text
from skyenv.render.window import Window

RENDER_MODES = ("ansi", "human", "rgb_array")
RENDER_WIDTH = 1200
"""Width of a picture in pixels."""
MOST_TABLES = 9
"""Number of tables that share a window."""
_MODULES = {"human": (*PIXELS, "pygame"), "rgb_array": PIXELS}


class Renderer:
    """The environments' render(): rows of games, each as a seat sees it, or with all hands open.

    Args:
        render_mode: None or one of RENDER_MODES.
        all_hands: show every hand.

    Attributes:
        mode: as `render_mode` was given.
        window: the window of the mode ``"human"``; it opens with the first picture.

    Raises:
        OptionError: there is no such mode, or `all_hands` is no bool.
        RenderError: the mode needs the extra ``[pictures]``, which isn't installed.
    """

    def __init__(self, render_mode: str | None, all_hands: bool) -> None:
        if render_mode is not None:
            check_choice("render_mode, if not None,", render_mode, RENDER_MODES)
            check_installed(*_MODULES.get(render_mode, ()))
        self.mode = render_mode
        self.window = Window()
        self._all_hands = check_flag("render_all_hands", all_hands)

    def render(
        self, games: Games, seats: Sequence[int], rows: Sequence[int] | None = None
    ) -> list[RGB | str | None]:
        """Return pictures of `rows` (None: of all), each as its entry of `seats` sees it.

        Args:
            games: the batch.
            seats: a seat for every row of the batch.
            rows: which rows.

        Returns:
            For each of `rows` text (mode ``"ansi"``) or pixels (``"rgb_array"``); None without a
            mode and in the mode ``"human"``, which shows the first MOST_TABLES rows in a window.

        Raises:
            RenderError: no window can be opened.
        """
        if self.mode == "human":
            self.window.show(self._mosaic(games, seats))
        drawn = range(len(seats)) if rows is None else rows
        return [self._row(games, row, seats[row]) for row in drawn]

    def close(self) -> None:
        """Close the window, if there is one."""
        self.window.close()

    def _row(self, games: Games, row: int, seat: int) -> RGB | str | None:
        if self.mode == "ansi":
            return text(games.state[row], None if self._all_hands else seat)
        return self._picture(games, row, seat, RENDER_WIDTH) if self.mode == "rgb_array" else None

    def _picture(self, games: Games, row: int, seat: int, width: int) -> RGB:
        """Return a row's pixels, uint8 (height, `width`, 3), of one size for all positions of a
        kind of game.
        """
        viewer = None if self._all_hands else seat
        # Another seat's legal actions reveal its hand.
        legal = games.mask[row] if viewer in (None, games.seat[row]) else None
        return rgb(svg(games.state[row], seat=viewer, legal=legal), width)

    def _mosaic(self, games: Games, seats: Sequence[int]) -> RGB:
        """Return the first rows side by side, uint8 (height, about RENDER_WIDTH, 3)."""
        tables = list(enumerate(seats))[:MOST_TABLES]
        across = math.ceil(math.sqrt(len(tables)))
        pictures = [self._picture(games, row, seat, RENDER_WIDTH // across) for row, seat in tables]
        pictures += [np.zeros_like(pictures[0])] * (-len(pictures) % across)
        lines = [
            np.concatenate(pictures[i : i + across], axis=1)
            for i in range(0, len(pictures), across)
        ]
        return np.concatenate(lines)
