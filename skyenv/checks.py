"""Checks of arguments: integers, numbers, choices, flags, seats and rows."""

import difflib
import functools
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from skyenv.array_types import Int64
from skyenv.errors import OptionError, SkyenvError, UnknownOptionError, shown

# Digits of the largest 64-bit integer; no option takes a number of more digits.
MAX_DIGITS: Final = 19

# Types that are not accepted as numbers, though Python and NumPy 1 treat them as such.
BOOLEANS: Final = (bool, np.bool_)


Scalar = TypeVar("Scalar", bound=np.generic)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

Refusal = Callable[[str], SkyenvError]
"""Creates the error to raise from its message."""


def check_name(interface: str, name: str, known: Sequence[str]) -> None:
    """Check that an interface has an option of a name.

    Raises:
        UnknownOptionError: it has none; the message names a similar one.
    """
    if name not in known:
        problem = f"{interface} got an unexpected keyword argument '{name:.60}'"
        raise UnknownOptionError(f"{problem}; {meant_name(name, known)}")


def meant_name(name: str, known: Sequence[str]) -> str:
    """Return a hint at what an unknown name may mean: a similar known one, or all of them."""
    similar = difflib.get_close_matches(name, known, 1)
    return f"did you mean {similar[0]}?" if similar else f"choose from {', '.join(known)}"


def checks_names(
    interface: str, keywords: type | None = None
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Make a function, or a class by its ``__init__``, refuse unknown options by
    :func:`check_name`.

    Args:
        interface: its name for the user, such as ``"env()"``.
        keywords: the TypedDict of its ``**options``.
    """

    def checking(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        named = inspect.signature(function).parameters.values()
        known = [one.name for one in named if one.kind != one.VAR_KEYWORD and one.name != "self"]
        known += inspect.get_annotations(keywords) if keywords else []

        @functools.wraps(function)
        def checked(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
            if unknown := options.keys() - known:
                check_name(interface, min(unknown), known)
            return function(*args, **options)

        return checked

    return checking


def check_integer(
    name: str, value: object, lowest: int, highest: int, error: Refusal = OptionError
) -> int:
    """Return `value` as an int if it is an integer of any type from `lowest` to `highest`.

    Raises:
        OptionError: it is not (or what `error` makes of the message).
    """
    try:
        number = lowest - 1 if isinstance(value, BOOLEANS) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = lowest - 1
    if not lowest <= number <= highest:
        raise error(f"{name} must be a whole number from {lowest} to {highest}, not {shown(value)}")
    return number


def check_number(
    name: str, value: object, lowest: float, highest: float, error: Refusal = OptionError
) -> float:
    """Return `value` as a float if it is a number, of any integer or floating type, from `lowest`
    to `highest`.

    Raises:
        OptionError: it is not (or what `error` makes of the message).
    """
    try:
        number = math.nan if isinstance(value, (str, bytes, *BOOLEANS)) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not lowest <= number <= highest:
        raise error(f"{name} must be a number from {lowest:g} to {highest:g}, not {shown(value)}")
    return number


def check_choice(
    name: str, value: object, choices: Sequence[str], error: Refusal = OptionError
) -> str:
    """Return `value` if it is one of `choices`.

    Raises:
        OptionError: it is not (or what `error` makes of the message).
    """
    if isinstance(value, str) and value in choices:
        return value
    listed = [choice for choice in choices if choice] + ["or nothing"] * ("" in choices)
    raise error(f"{name} must be one of {', '.join(listed)}, not {shown(value)}")


def check_flag(name: str, value: object) -> bool:
    """Return `value` as a bool if it is True or False, NumPy's included.

    Raises:
        OptionError: it is neither.
    """
    if isinstance(value, BOOLEANS):
        return bool(value)
    raise OptionError(f"{name} must be True or False, not {shown(value)}")


def check_seat(seat: object, num_players: int, name: str = "seat") -> int:
    """Return `seat` as an int if it is a seat of a game for `num_players`, 0 … num_players − 1.

    Raises:
        OptionError: there is no such seat.
    """
    return check_integer(name, seat, 0, num_players - 1)


def check_rows(rows: npt.ArrayLike, number: int) -> Int64:
    """Return the selected ones of `number` rows as new, contiguous indices: int64 (k,).

    Args:
        rows: indices, integers (k,), or a mask, bool (number,).

    Raises:
        OptionError: an index is out of range, or the shape or dtype is wrong.
    """
    # Copied first, so that no thread changes it between the check and its use.
    chosen = np.asarray(rows).copy()
    if chosen.dtype == np.bool_ and chosen.shape == (number,):
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise OptionError(
            f"rows must be whole numbers, shape (k,), not {chosen.dtype} {chosen.shape}"
        )
    if chosen.min() < 0 or chosen.max() >= number:
        raise OptionError(
            f"rows must be from 0 to {number - 1}, not {chosen.min()} to {chosen.max()}"
        )
    return chosen.astype(np.int64, copy=False)


def as_plain(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """Return an array for compiled functions: contiguous, aligned and writeable; copied if needed.

    Numba would compile every function again for any other array type.
    """
    return array if array.flags.carray else array.copy()


def whole_numbers(
    name: str, given: npt.ArrayLike, shape: tuple[int, ...], error: Refusal = OptionError
) -> Int64:
    """Return integers of a given shape as a new array.

    Raises:
        OptionError: they aren't integers or have another shape (or the error of `error`).
    """
    numbers = np.asarray(given).copy()  # first, so that no thread changes them after the check
    if numbers.shape != shape or (numbers.dtype.kind not in "iu" and numbers.size):
        raise error(
            f"{name} must be whole numbers, shape {shape}, not {numbers.dtype} {numbers.shape}"
        )
    if numbers.dtype == np.uint64:
        numbers = np.minimum(numbers, 2**63 - 1)  # lest the largest numbers turn negative
    return numbers.astype(np.int64, copy=False)


def check_each(
    name: str,
    values: npt.ArrayLike,
    highest: int | npt.NDArray[np.integer[Any]],
    number: int,
) -> Int64:
    """Return an integer from 0 to `highest` for each game: int64 (number,), new and contiguous.

    Args:
        name: name of the option.
        values: one number for all games, or one for each.
        highest: the upper bound, for all games or for each.
        number: number of games.

    Raises:
        OptionError: a number is out of range, or the shape or dtype is wrong.
    """
    if type(values) is type(highest) is int and 0 <= values <= highest:  # the fast path
        return np.full(number, values, np.int64)
    given = np.asarray(values).copy()  # copied before the check, as rows are
    if given.dtype.kind not in "iu" or given.shape not in ((), (number,)):
        raise OptionError(
            f"{name} must be a whole number, or one for each of the {number} games, not "
            f"{shown(values)}"
        )
    if number and ((given < 0) | (given > highest)).any():
        raise OptionError(f"{name} must be from 0 to {np.min(highest)}, not {shown(values)}")
    return given.astype(np.int64, copy=False) if given.shape else np.full(number, given, np.int64)


def parse_integer(digits: str, lowest: int, highest: int) -> int | None:
    """Return the integer that ASCII digits stand for, from `lowest` (at least 0) to `highest`;
    otherwise None.
    """
    # Length first: Python refuses to convert thousands of digits.
    is_number = len(digits) <= MAX_DIGITS and digits.isascii() and digits.isdigit()
    return int(digits) if is_number and lowest <= int(digits) <= highest else None
