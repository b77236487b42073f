"""What error messages show of the values that they complain about."""

from __future__ import annotations

from typing import Any

import pytest

from skyenv import Game, OptionError
from skyenv.errors import shown


def nested(depth: int) -> list[Any]:
    """A list in a list, so deep."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x" * 1000, "'" + "x" * 59),
        (10**5000, "a number of 16610 bits"),
        ([10**5000], "a list"),
        (nested(100_000), "a list nested too deeply"),
        ({"a": nested(100_000)}, "a dict nested too deeply"),
    ],
    ids=["text", "number", "list of it", "list", "dict"],
)
def test_a_value_is_shown_shortly_whatever_it_is(value: object, expected: str) -> None:
    assert shown(value) == expected


def test_an_option_nested_deeply_is_told_like_any_other() -> None:
    with pytest.raises(OptionError, match=r"seed must be a whole number .* nested too deeply"):
        Game(seed=nested(100_000))  # type: ignore[arg-type]
