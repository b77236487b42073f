"""Progress of the compilation, on stderr or to a listener."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

from skyenv.runtime import print_line

Listener = Callable[[str, int, int], None]
"""Hears what is compiled now, as which of how many functions of this process, as far as known."""


def _print(about: str, number: int, total: int) -> None:
    more = f" of at least {total}" if total > number else ""
    print_line(f"compiling {number}{more}: {about}")


_listeners: Final[list[Listener]] = [_print]  # changes only under Numba's compiler lock


@contextlib.contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Report compilation to a function instead of stderr while the block runs, in all threads."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def announce(about: str, number: int, total: int) -> None:
    """Report the function that is compiled now."""
    _listeners[-1](about, number, total)
