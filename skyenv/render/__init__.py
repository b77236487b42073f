"""Pure functions from a position to something that a person looks at."""

from skyenv.render.svg import svg
from skyenv.render.text import text

__all__ = ["svg", "text"]
