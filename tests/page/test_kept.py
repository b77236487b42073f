"""What is kept in memory: the least recently used goes, unless it is needed."""

from __future__ import annotations

from skyenv.page.kept import Kept


def test_the_least_recently_used_makes_room_unless_it_is_needed() -> None:
    needed = {"a"}
    kept: Kept[str, int] = Kept(2, lambda key, value: key in needed)
    kept["a"], kept["b"], kept["c"] = 1, 2, 3
    assert list(kept) == ["a", "c"]
    needed.clear()
    assert kept["a"] == 1
    kept["d"] = 4
    assert list(kept) == ["a", "d"]
