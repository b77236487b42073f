"""What is kept in memory: who fills it throws out his own."""

from __future__ import annotations

from skyenv.page.kept import Kept


def test_the_oldest_of_whoever_has_most_makes_room() -> None:
    kept: Kept[str, int] = Kept(4)
    kept.add("a1", 1, "ann")
    for number in range(100):
        kept.add(f"e{number}", number, "eve")
    kept.add("b1", 1, "bob")
    assert [key for key in ("a1", "b1", "e96", "e97", "e98", "e99") if key in kept] == [
        "a1",
        "b1",
        "e98",
        "e99",
    ]
    assert (kept["e99"], len(kept)) == (99, 4)


def test_what_was_renewed_goes_later() -> None:
    kept: Kept[str, int] = Kept(2)
    kept.add("a", 1, "ann")
    kept.add("b", 2, "ann")
    kept.renew("a")
    kept.add("c", 3, "ann")
    assert ("a" in kept, "b" in kept, kept["a"]) == (True, False, 1)
    kept.add("c", 4, "ann")
    assert (kept["c"], len(kept)) == (4, 2)


def test_what_is_needed_stays() -> None:
    needed = {"a", "b"}
    kept: Kept[str, int] = Kept(1, needed.__contains__)
    for key in "abc":
        kept.add(key, 0, "ann")
    assert [key in kept for key in "abc"] == [True, True, True]
    needed.clear()
    kept.add("d", 0, "bob")
    assert [key in kept for key in "abcd"] == [False, False, False, True]
