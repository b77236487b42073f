"""Lazy imports of the extra ``[pictures]``."""

from importlib import import_module
from typing import Any, Final

from skyenv.errors import needs_extra

# Modules that rasterize an SVG.
PIXELS: Final = ("thorvg_python", "fontTools", "font_source_sans_pro")


def needed(module: str) -> Any:
    """Import a module of the extra; raise MissingExtraError if it isn't installed."""
    with needs_extra("pictures"):
        return import_module(module)
