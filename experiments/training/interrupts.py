"""Ctrl-C and SIGTERM: a training ends in order, and no file is left half-written."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from tqdm import tqdm


class Interrupts:
    """While it is entered, Ctrl-C and SIGTERM ask for the end; the second time they interrupt at
    once.

    Attributes:
        asked: whether one came.
    """

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.asked = False
        self._held = False

    def __enter__(self) -> Self:
        self._previous = [signal.signal(number, self._handle) for number in self.SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in zip(self.SIGNALS, self._previous, strict=True):
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """In this block nothing is interrupted: files are written to their end."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked and not self._held:
            raise KeyboardInterrupt
        if not self.asked:
            tqdm.write("stopping after this update …", file=sys.stderr)
        self.asked = True


@contextmanager
def terminating() -> Iterator[None]:
    """In this block SIGTERM is taken as Ctrl-C is."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
