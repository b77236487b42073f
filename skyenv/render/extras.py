"""Modules of the extras: imported when they are needed, and missed in one clear error."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from skyenv.errors import RenderError


def needed(module: str, extra: str = "pictures") -> Any:
    """Import a module of an extra.

    Raises:
        RenderError: it isn't installed; the message says what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise RenderError(f"{error}: this needs an extra; pip install 'skyenv[{extra}]'") from error


def check_installed(*modules: str) -> None:
    """Raise RenderError unless these modules of the extra are there; nothing is imported."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise RenderError(f"No module named '{missing[0]}': this needs an extra; pip install 'skyenv[pictures]'")
