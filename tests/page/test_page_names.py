"""Names of players."""

import pytest

from skyenv.page.errors import PageError
from skyenv.page.table.new_games import LONGEST_NAME, checked_name

AGENTS = ["greedy", "ismcts-trained"]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("", ""),
        ("  ", ""),
        (" Ann  Lee ", "Ann Lee"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("李雷", "李雷"),
        ("<b>", "<b>"),
        ("greedier", "greedier"),
        ("x" * LONGEST_NAME, "x" * LONGEST_NAME),
    ],
)
def test_names_are_normalized(value: str, name: str) -> None:
    assert checked_name(value, AGENTS) == name


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        ["Ann"],
        "x" * (LONGEST_NAME + 1),
        "a\x00b",
        "a\u202eb",
        "a\u200bb",
        "you",
        "Banker",
        " YOU ",
        "ｙｏｕ",
        "Greedy",
        "ISMCTS-trained",
        "seat 1",
        "Player 12",
        "Alea",
        "human",
    ],
)
def test_reserved_and_misleading_names_are_refused(value: object) -> None:
    """Nor with look-alike letters."""
    with pytest.raises(PageError):
        checked_name(value, AGENTS)
