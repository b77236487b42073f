"""Tables as text."""

from __future__ import annotations

import pytest

from skyenv.tables import columns, counted, markdown

ROWS = [["agent", "wins", "VP"], ["greedy", "7", "12.5"], ["me", "100", ""]]


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 games"), (1, "1 game"), (2, "2 games"), (1008, "1,008 games")]
)
def test_one_thing_is_no_more(number: int, text: str) -> None:
    assert counted(number, "game") == text


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert columns(ROWS).splitlines() == [
        "agent   wins    VP",
        "──────  ────  ────",
        "greedy     7  12.5",
        "me       100",
    ]
    assert columns(ROWS, left=3).splitlines()[3] == "me      100"
    assert columns(ROWS[:1]) == "agent  wins  VP\n─────  ────  ──"


def test_markdown() -> None:
    assert markdown(ROWS, "lrr").splitlines() == [
        "| agent | wins | VP |",
        "|---|---:|---:|",
        "| greedy | 7 | 12.5 |",
        "| me | 100 | |",
    ]
    assert markdown([["", "a"], ["x", "y"]]) == "| | a |\n|---|---|\n| x | y |"


@pytest.mark.parametrize("make", [columns, markdown])
def test_rows_of_different_lengths_are_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=r"longer|shorter|columns"):
        make([["a", "b"], ["c"]])
