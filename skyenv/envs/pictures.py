"""Text pictures of the games in a batch, for the environments' render()."""

from __future__ import annotations

from skyenv.errors import OptionError, shown
from skyenv.games import Games
from skyenv.render.text import text

RENDER_MODES = ("ansi", "human")


def check_render_mode(render_mode: str | None) -> str | None:
    """Return `render_mode` if it is None, ``"ansi"`` or ``"human"``; raise OptionError otherwise."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise OptionError(f"render_mode must be None or one of {', '.join(RENDER_MODES)}, not {shown(render_mode)}")
    return render_mode


def picture(games: Games, row: int) -> str:
    """The position of a row as text, with everything shown."""
    return text(games.state[row])
