"""Lazy imports of optional dependencies, with one clear error for missing ones."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from skyenv.checks import Refusal
from skyenv.errors import RenderError, install_hint

# Modules of the extra `[pictures]` that rasterize an SVG.
PIXELS: Final = ("thorvg_python", "fontTools", "font_source_sans_pro")


def needed(module: str, extra: str = "pictures") -> Any:
    """Import a module of an extra.

    Raises:
        RenderError: the module isn't installed; the message names the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise RenderError(f"{error}; {install_hint(extra)}") from error


def check_installed(*modules: str, extra: str = "pictures", error: Refusal = RenderError) -> None:
    """Raise RenderError (or `error`) unless modules of an extra are installed; import nothing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise error(f"No module named '{missing[0]}'; {install_hint(extra)}")
