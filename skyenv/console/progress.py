"""Progress bars on stderr (tqdm), shown only on terminals."""

import sys
from typing import Any, TypeAlias

from tqdm import tqdm

# A progress bar of tqdm; a context manager that removes it at the end.
Bar: TypeAlias = Any


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
        shown: whether to show the bar; it is never shown if stderr is not a terminal.
        done: the amount already done.
        options: further options of tqdm.
    """
    return tqdm(
        total=total,
        unit=unit,
        initial=done,
        file=sys.stderr,
        disable=not (shown and sys.stderr.isatty()),
        **{"dynamic_ncols": True, "leave": False, **options},
    )
