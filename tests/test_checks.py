"""Validation of arguments, and the errors' wording."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from skyenv import Game
from skyenv.checks import (
    as_plain,
    check_choice,
    check_each,
    check_integer,
    check_number,
    check_rows,
    check_seat,
    parse_integer,
)
from skyenv.errors import OptionError, shown

HUGE = 10**5000  # too long for Python to write out
NO_NUMBERS = [True, np.True_, "3", b"3", None, [3], np.array([3, 4]), 3j]


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_check_integer_accepts_all_integer_types(value: Any) -> None:
    checked = check_integer("number", value, 3, 4)
    assert (type(checked), checked) == (int, 3)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2)])
def test_check_number_returns_floats(value: Any) -> None:
    assert check_number("number", value, 0, 1) == 0.5
    assert type(check_number("number", 1, 0, 1)) is float


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        *(
            (lambda value: check_integer("number", value, 3, 4), value, "number must be a whole")
            for value in (2, 5, -3, np.uint64(2**64 - 1), HUGE, 3.0, np.float64(3), *NO_NUMBERS)
        ),
        *(
            (lambda value: check_number("number", value, 3, 4), value, "number must be a number")
            for value in (2.9, 4.1, math.nan, math.inf, HUGE, *NO_NUMBERS)
        ),
        *(
            (lambda value: check_choice("side", value, ("front", "back")), value, "side must be")
            for value in ("top", None, 0, ["front"])
        ),
        *(
            (lambda value: check_seat(value, 3, "player"), value, "player must be a whole number")
            for value in (3, -1, True, None, 10**9)
        ),
        *(
            (lambda value: check_rows(value, 4), value, "rows must be")
            for value in ([4], [-1], 2, [0.5], ["0"], [[0]], [2**63], np.array([True, False]))
        ),
        *(
            (lambda value: check_each("seats", value, 2, 2), value, "seats must be")
            for value in (3, -1, [0, 3], [0], [0, 0, 0], 1.0, "1", None, True, 2**63, [[0, 0]])
        ),
        (lambda value: check_each("seats", value, np.array([1, 3]), 2), [3, 1], "seats must be"),
    ],
    ids=lambda value: None if callable(value) else shown(value, 20),
)
def test_invalid_values_are_refused(
    check: Callable[[Any], object], value: Any, message: str
) -> None:
    with pytest.raises(OptionError, match=f"^{message}"):
        check(value)


def test_parse_integer_accepts_only_digits_in_range() -> None:
    assert [parse_integer(digits, 0, 99) for digits in ("0", "7", "007", "99")] == [0, 7, 7, 99]
    assert parse_integer(str(2**63 - 1), 0, 2**63 - 1) == 2**63 - 1
    for digits in ("", "100", "-1", "+1", "1.0", " 1", "1_0", "١", "x", "0" * 20, "9" * 5000):
        assert parse_integer(digits, 0, 99) is None
    assert parse_integer("2", 3, 9) is None


@pytest.mark.parametrize(
    ("checked", "expected"),
    [
        (check_rows([3, 0], 4), [3, 0]),
        (check_rows([], 4), []),
        (check_rows(np.array([True, False, False, True]), 4), [0, 3]),
        (check_rows(np.array([1], np.uint8), 4), [1]),
        (check_rows(range(2), 4), [0, 1]),
        (check_each("seats", 1, 2, 2), [1, 1]),
        (check_each("seats", [0, 2], 2, 2), [0, 2]),
        (check_each("seats", np.int8(2), 2, 2), [2, 2]),
        (check_each("seats", np.array([2, 1], np.uint8), 2, 2), [2, 1]),
        (check_each("seats", [1, 3], np.array([1, 3]), 2), [1, 3]),
    ],
)
def test_check_rows_and_seats_return_new_arrays(checked: Any, expected: list[int]) -> None:
    """In the given order, or by a mask; always a new array."""
    assert checked.tolist() == expected
    assert checked.dtype == np.int64
    assert checked.flags.carray
    assert not np.shares_memory(check_rows(checked, 4), checked)


def test_as_plain_copies_only_other_layouts() -> None:
    """Contiguous, aligned, writeable arrays are returned as they are; others are copied."""
    plain = np.arange(6)
    assert as_plain(plain) is plain
    frozen = plain.copy()
    frozen.flags.writeable = False
    for array in (frozen, plain[::2], plain[::-1]):
        copied = as_plain(array)
        assert copied.flags.carray
        assert copied.tolist() == array.tolist()


# ---- what errors show ----

NESTED: list[Any] = []
for _ in range(100_000):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x" * 1000, "'" + "x" * 59),
        (HUGE, "a number of 16610 bits"),
        ([HUGE], "a list"),
        (NESTED, "a list nested too deeply"),
        ({"a": NESTED}, "a dict nested too deeply"),
    ],
    ids=["text", "number", "list of it", "list", "dict"],
)
def test_shown_abbreviates_any_value(value: object, expected: str) -> None:
    assert shown(value) == expected
    with pytest.raises(OptionError) as caught:
        Game(seed=value)  # type: ignore[arg-type]
    assert str(caught.value).endswith(f"not {expected}")
