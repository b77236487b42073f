"""What is kept in memory for clients, so many things in all: the oldest of whoever has most makes
room for a new one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Things that are kept for a while.

    Who fills it throws out what is his own before what is others'.

    Args:
        most: so many in all.
        is_needed: those that can't go, by their keys; they are kept beyond that number.
    """

    def __init__(self, most: int, is_needed: Callable[[Key], bool] = lambda key: False) -> None:
        self._most = most
        self._is_needed = is_needed
        self._values: dict[Key, Value] = {}  # the oldest first
        self._clients: dict[Key, str] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __getitem__(self, key: Key) -> Value:
        return self._values[key]

    def __len__(self) -> int:
        return len(self._values)

    def add(self, key: Key, value: Value, client: str) -> None:
        """Keep something, instead of what had that key; `client`: for whom, as
        :func:`skyenv.page.requests.client_of` tells.
        """
        self._forget(key)
        self._values[key], self._clients[key] = value, client
        while len(self._values) > self._most and (old := self._next(key)) is not None:
            self._forget(old)

    def renew(self, key: Key) -> None:
        """Make a thing the newest one."""
        self._values[key], self._clients[key] = self._values.pop(key), self._clients.pop(key)

    def _forget(self, key: Key) -> None:
        if key in self._values:
            del self._values[key], self._clients[key]

    def _next(self, new: Key) -> Key | None:
        """What should go; None: nothing can."""
        idle = [key for key in self._values if key != new and not self._is_needed(key)]
        numbers = Counter(self._clients.values())
        return max(
            idle, key=lambda key: numbers[self._clients[key]], default=None
        )  # of several the oldest
