"""The checks of whole numbers, numbers, choices and seats."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from skyenv.checks import (
    as_plain,
    check_choice,
    check_integer,
    check_number,
    check_rows,
    check_seat,
    check_seats,
    parse_integer,
)
from skyenv.errors import IllegalActionError, OptionError, PageError

HUGE = 10**5000  # too long for Python to write out


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_whole_numbers_of_all_integer_types(value: Any) -> None:
    checked = check_integer("number", value, 3, 4)
    assert type(checked) is int
    assert checked == 3


@pytest.mark.parametrize("value", [2, 5, -3, np.uint64(2**64 - 1), pytest.param(HUGE, id="huge")])
def test_numbers_out_of_range(value: Any) -> None:
    with pytest.raises(OptionError, match="number must be a whole number from 3 to 4, not "):
        check_integer("number", value, 3, 4)


@pytest.mark.parametrize(
    "value",
    [True, np.True_, 3.0, np.float64(3), "3", b"3", None, [3], np.array([3]), np.array([3, 4]), 3j],
)
def test_what_is_no_whole_number(value: Any) -> None:
    with pytest.raises(OptionError, match="number must be a whole number from 0 to 9, not "):
        check_integer("number", value, 0, 9)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2)])
def test_numbers(value: Any) -> None:
    assert check_number("number", value, 0, 1) == 0.5
    assert type(check_number("number", 1, 0, 1)) is float


@pytest.mark.parametrize(
    "value",
    [
        -0.1,
        1.1,
        math.nan,
        math.inf,
        True,
        np.True_,
        "0.5",
        None,
        [0.5],
        0.5j,
        pytest.param(HUGE, id="huge"),
    ],
)
def test_what_is_no_number_of_the_range(value: Any) -> None:
    with pytest.raises(OptionError, match="number must be a number from 0 to 1, not "):
        check_number("number", value, 0, 1)


def test_choices() -> None:
    assert check_choice("side", "back", ("front", "back")) == "back"
    wrong: Any
    for wrong in ("top", None, 0, ["front"]):
        with pytest.raises(OptionError, match="side must be one of front, back, not "):
            check_choice("side", wrong, ("front", "back"))


def test_seats() -> None:
    assert [check_seat(seat, 3) for seat in range(3)] == [0, 1, 2]
    for seat in (3, -1, True, None, 10**9):
        with pytest.raises(OptionError, match="player must be a whole number from 0 to 2, not "):
            check_seat(seat, 3, "player")


def test_the_error_is_of_the_callers_kind() -> None:
    for check in (check_integer, check_number):
        with pytest.raises(PageError, match="must be a"):
            check("number", 9, 0, 1, PageError)
    with pytest.raises(PageError, match="must be one of"):
        check_choice("side", "top", ("front",), PageError)
    with pytest.raises(IllegalActionError) as refused:
        check_integer("action", 9, 0, 1, lambda message: IllegalActionError(message, 9))
    assert refused.value.action == 9


def test_whole_numbers_written_in_digits() -> None:
    assert [parse_integer(digits, 0, 99) for digits in ("0", "7", "007", "99")] == [0, 7, 7, 99]
    assert parse_integer(str(2**63 - 1), 0, 2**63 - 1) == 2**63 - 1
    for digits in ("", "100", "-1", "+1", "1.0", " 1", "1_0", "١", "x", "0" * 20, "9" * 5000):
        assert parse_integer(digits, 0, 99) is None
    assert parse_integer("2", 3, 9) is None


# ---- arrays ----


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([3, 0], [3, 0]),
        ([], []),
        (np.array([True, False, False, True]), [0, 3]),
        (np.array([1], np.uint8), [1]),
        (range(2), [0, 1]),
    ],
)
def test_rows(rows: Any, expected: list[int]) -> None:
    """In the order given, or as a mask marks them; int64 and contiguous; always a new array, which
    nobody else can change.
    """
    checked = check_rows(rows, 4)
    assert checked.tolist() == expected
    assert checked.dtype == np.int64
    assert checked.flags.carray
    assert not np.shares_memory(check_rows(checked, 4), checked)


@pytest.mark.parametrize(
    "rows", [[4], [-1], 2, [0.5], ["0"], [[0]], [2**63], np.array([True, False])]
)
def test_wrong_rows(rows: Any) -> None:
    with pytest.raises(OptionError, match=r"^rows must be"):
        check_rows(rows, 4)


@pytest.mark.parametrize(
    ("seats", "expected"),
    [(1, [1, 1]), ([0, 2], [0, 2]), (np.int8(2), [2, 2]), (np.array([2, 1], np.uint8), [2, 1])],
)
def test_seats_of_games(seats: Any, expected: list[int]) -> None:
    checked = check_seats(seats, 3, 2)
    assert checked.tolist() == expected
    assert checked.dtype == np.int64
    assert checked.flags.carray


@pytest.mark.parametrize(
    "seats", [3, -1, [0, 3], [0], [0, 0, 0], 1.0, "1", None, True, 2**63, [[0, 0]]]
)
def test_wrong_seats(seats: Any) -> None:
    with pytest.raises(OptionError, match=r"^seats must be"):
        check_seats(seats, 3, 2)


def test_seats_of_games_of_several_sizes() -> None:
    """Each by the players of its own game."""
    assert check_seats([1, 3], np.array([2, 4]), 2).tolist() == [1, 3]
    with pytest.raises(OptionError, match=r"^seats must be"):
        check_seats([3, 1], np.array([2, 4]), 2)


def test_plain_arrays() -> None:
    """What is contiguous, aligned and writeable stays; all else is copied."""
    plain = np.arange(6)
    assert as_plain(plain) is plain
    frozen = plain.copy()
    frozen.flags.writeable = False
    for array in (frozen, plain[::2], plain[::-1]):
        copied = as_plain(array)
        assert copied.flags.carray
        assert copied.tolist() == array.tolist()
