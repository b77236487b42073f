"""What is kept in memory: the least recently used goes, unless it is needed."""

from __future__ import annotations

from skyenv.page.kept import Kept


def test_the_least_recently_used_makes_room_unless_it_is_needed() -> None:
    needed: set[str] = set()
    kept: Kept[str, int] = Kept(2, needed.__contains__)
    kept["a"], kept["b"] = 1, 2
    assert kept["a"] == 1
    kept["c"] = 3
    assert list(kept) == ["a", "c"]
    needed.update("ac")
    kept["d"] = 4
    assert list(kept) == ["a", "c", "d"]
    needed.clear()
    kept["d"] = 5
    assert dict(kept) == {"c": 3, "d": 5}
