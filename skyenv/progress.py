"""Progress bars on stderr: tqdm's, shown on terminals alone."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

from tqdm import tqdm

Bar: TypeAlias = Any
"""The type of a progress bar, tqdm's; a context manager that removes it in the end."""


def progress(
    total: float | None = None,
    unit: str = "game",
    *,
    shown: bool = True,
    done: float = 0,
    **options: Any,
) -> Bar:
    """Return a progress bar with rate and time left.

    Args:
        total: the amount of work; None if unknown.
        unit: the unit of work.
        shown: whether to show the bar; it is never shown where stderr is no terminal.
        done: the amount that is done already.
        options: tqdm's own.
    """
    return tqdm(
        total=total,
        unit=unit,
        initial=done,
        file=sys.stderr,
        disable=not (shown and sys.stderr.isatty()),
        **{"dynamic_ncols": True, "leave": False, **options},
    )
