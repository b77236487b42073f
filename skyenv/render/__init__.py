"""Pictures and text of positions and games, by pure functions."""

from skyenv.render.svg import svg
from skyenv.render.text import text

__all__ = ["svg", "text"]
