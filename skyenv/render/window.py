"""Windows for pictures.

They need the extra ``[pictures]`` and a display (or ``SDL_VIDEODRIVER=dummy``).
"""

import os
from typing import Any

from skyenv.errors import RenderError
from skyenv.render.extras import needed
from skyenv.render.raster import RGB


class Window:
    """A window that opens with the first picture and stays closed once its user has closed it.

    A copy (``copy.deepcopy``, pickle) is a separate, unopened window.

    Args:
        caption: the text of its title bar.

    Attributes:
        is_closed: whether :meth:`close` was called, or its user has closed it.
    """

    def __init__(self, caption: str = "Fifth Avenue") -> None:
        self.caption = caption
        self.is_closed = False
        self._window: Any = None

    def __reduce__(self) -> "tuple[type[Window], tuple[str]]":
        return type(self), (self.caption,)

    def show(self, picture: RGB) -> None:
        """Show a picture, uint8 (height, width, 3), and handle the window's events.

        Raises:
            RenderError: no window can be opened, or the extra isn't installed.
        """
        if self.is_closed:
            return
        os.environ.setdefault(
            "PYGAME_HIDE_SUPPORT_PROMPT", "1"
        )  # otherwise pygame prints a greeting to stdout
        pygame = needed("pygame")
        size = (picture.shape[1], picture.shape[0])
        if self._window is None:
            self._open(pygame, size)
        elif self._window.size != size:
            self._window.size = size
        pygame.surfarray.blit_array(self._window.get_surface(), picture.swapaxes(0, 1))
        self._window.flip()
        for event in pygame.event.get(pygame.WINDOWCLOSE):
            if event.window is self._window:
                self.close()
            else:  # events of other windows stay in the queue
                pygame.event.post(event)
        pygame.event.pump()

    def _open(self, pygame: Any, size: tuple[int, int]) -> None:
        try:
            pygame.display.init()
            self._window = pygame.Window(self.caption, size)
        except pygame.error as error:
            raise RenderError(
                f"can't open a window ({error}); render_mode 'rgb_array' and 'ansi' need none"
            ) from error

    def close(self) -> None:
        """Close the window for good."""
        if self._window is not None:
            self._window.destroy()
            self._window = None
        self.is_closed = True
