"""A bounded cache with least-recently-used eviction."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LRUCache(OrderedDict[Key, Value]):
    """A bounded mapping that evicts the least recently read or written keys.

    Args:
        most: number of values; older ones are evicted.
        is_needed: whether an entry must stay; such entries may exceed `most`.
    """

    def __init__(
        self, most: int, is_needed: Callable[[Key, Value], bool] = lambda key, value: False
    ) -> None:
        super().__init__()
        self._most = most
        self._is_needed = is_needed

    def __getitem__(self, key: Key) -> Value:
        self.move_to_end(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        idle = [old for old, each in self.items() if old != key and not self._is_needed(old, each)]
        for old in idle[: max(0, len(self) - self._most)]:
            del self[old]
