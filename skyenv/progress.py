"""Progress bars on stderr, for terminals alone: tqdm's where it is installed, else a plain line
that counts.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final, Protocol, Self


class Bar(Protocol):
    """What programs do with a progress bar; it is a context manager that cleans up."""

    n: float
    """How much is done."""

    def update(self, more: float) -> Any:
        """So much more is done."""

    def set_description(self, text: str) -> Any:
        """What is being done, in front of the bar."""

    def set_postfix_str(self, text: str, refresh: bool = True) -> Any:
        """What else there is to say, behind it."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> Any: ...


def progress(
    total: float | None = None,
    unit: str = "game",
    *,
    shown: bool = True,
    done: float = 0,
    **options: Any,
) -> Bar:
    """A progress bar.

    Args:
        total: what there is to do; None: nobody knows.
        unit: of what.
        shown: whether it is to be seen at all; it isn't where stderr is no terminal.
        done: what is done already.
        options: tqdm's, for special looks.
    """
    if not (shown and sys.stderr.isatty()):
        return _PlainBar(total, unit, False, done)
    try:
        from tqdm import tqdm
    except ImportError:
        return _PlainBar(total, unit, True, done)
    looks = {"dynamic_ncols": True, "leave": False, **options}
    bar: Bar = tqdm(total=total, unit=unit, initial=done, file=sys.stderr, **looks)
    return bar


class _PlainBar:
    """A line that counts."""

    SECONDS: Final = 0.1
    """Between two updates."""

    def __init__(self, total: float | None, unit: str, visible: bool, done: float) -> None:
        self.n = done
        self._of = "" if total is None else f" / {total:,}"
        self._unit, self._visible = unit, visible
        self._before = self._behind = ""
        self._shown = 0.0

    def update(self, more: float) -> None:
        self.n += more
        if time.monotonic() - self._shown >= self.SECONDS:
            self._show()

    def set_description(self, text: str) -> None:
        self._before = f"{text}: "
        self._show()

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        self._behind = f", {text}"

    def __enter__(self) -> Self:
        self._show()
        return self

    def __exit__(self, *_: object) -> None:
        if self._visible:
            self._write("")

    def _show(self) -> None:
        if self._visible:
            self._shown = time.monotonic()
            self._write(f"{self._before}{self.n:,}{self._of} {self._unit}s{self._behind}")

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r{line[:79]:<79}\r")
        sys.stderr.flush()
