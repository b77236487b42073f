"""Rendering of the games in a batch, for the environments' render()."""

from skyenv.checks import check_choice
from skyenv.engine.games import Games
from skyenv.errors import check_extra
from skyenv.render.extras import PIXELS
from skyenv.render.raster import RGB, rgb
from skyenv.render.svg import svg
from skyenv.render.text import text
from skyenv.render.window import Window

RENDER_MODES = ("ansi", "human", "rgb_array")
# Width of a picture in pixels.
RENDER_WIDTH = 1200
_MODULES = {"human": (*PIXELS, "pygame"), "rgb_array": PIXELS}


class Renderer:
    """A renderer of a batch's rows, each as a seat sees it.

    Args:
        render_mode: None or one of RENDER_MODES.

    Attributes:
        mode: `render_mode` as given.
        window: the window of the mode ``"human"``, opened with the first picture.

    Raises:
        OptionError: there is no such mode.
        MissingExtraError: the mode needs the extra ``[pictures]``, which isn't installed.
    """

    def __init__(self, render_mode: str | None) -> None:
        if render_mode is not None:
            check_choice("render_mode, if not None,", render_mode, RENDER_MODES)
            check_extra("pictures", *_MODULES.get(render_mode, ()))
        self.mode = render_mode
        self.window = Window()

    def render(self, games: Games, row: int, seat: int) -> RGB | str | None:
        """Return a row's picture as a seat sees it.

        Returns:
            Text (mode ``"ansi"``) or pixels, uint8 (height, RENDER_WIDTH, 3), the same size for all
                positions of a kind of game (``"rgb_array"``); None without a mode and in the mode
            ``"human"``, which shows row 0 in a window.

        Raises:
            RenderError: no window can be opened.
        """
        if self.mode is None or (self.mode == "human" and row > 0):
            return None
        if self.mode == "ansi":
            return text(games.state[row], seat)
        # Another seat's legal actions reveal its hand.
        legal = games.mask[row] if seat == games.seat[row] else None
        picture = rgb(svg(games.state[row], seat=seat, legal=legal), RENDER_WIDTH)
        if self.mode == "rgb_array":
            return picture
        self.window.show(picture)
        return None
