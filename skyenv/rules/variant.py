"""Variants of the rules: named sets of constants for a whole process.

The environment variable SKYENV_VARIANT names a TOML file, which is read once, on import:

    name = "rich"
    constants = { black_cards = [18, 16, 16], bonus_vp = [2, 4, 8] }

Then the variable holds the file's text, so that worker processes play the same rules even if the
file changes. Compiled code, records and all other output have the variant's label; readers refuse
any other label.
"""

import hashlib
import json
import os
import re
import sys
import tomllib
from typing import Any, Final, NamedTuple, TypeVar

from skyenv.errors import OptionError, shown

ENVIRONMENT: Final = "SKYENV_VARIANT"
LONGEST: Final = 10_000  # characters of a variant
Value = TypeVar("Value", int, tuple[int, ...])
Format = TypeVar("Format", int, str)


class Constant(NamedTuple):
    """A constant that a variant may change: the printed value, and the range of its numbers."""

    printed: int | tuple[int, ...]
    low: int
    high: int


CHANGEABLE: Final[dict[str, Constant]] = {}
"""The constants by name (:mod:`skyenv.rules.components`)."""


def _refusal(text: str) -> OptionError:
    """Return the error for a variant; an uncaught one ends a program with one line."""
    refusal, hook = OptionError(f"{ENVIRONMENT}: {text}"), sys.excepthook
    sys.excepthook = lambda kind, error, trace: (
        print(f"skyenv: error: {error}", file=sys.stderr)
        if error is refusal
        else hook(kind, error, trace)
    )
    return refusal


def _read() -> tuple[str, str, dict[str, Any]]:
    """Return the text of the variant, its label and its constants; raise OptionError."""
    text = os.environ.get(ENVIRONMENT, "")
    try:
        if text and "\n" not in text:
            with open(text, "rb") as file:  # a device may have no end
                text = str(file.read(LONGEST + 1), "utf-8-sig") + "\n"
        if len(text) > LONGEST:
            raise ValueError(f"it has more than {LONGEST} characters")
        content = tomllib.loads(text)
        name, constants = content.pop("name", ""), content.pop("constants", {})
        if content or not isinstance(constants, dict):
            raise ValueError("it must have a name and constants, and nothing else")
        if text and not (isinstance(name, str) and re.fullmatch("[a-z0-9-]{1,30}", name)):
            raise ValueError(f"name must be of a–z, 0–9 and hyphens, not {shown(name)}")
    except (OSError, ValueError, RecursionError) as error:
        raise _refusal(str(error)) from None
    if not text:
        return "", "", {}
    os.environ[ENVIRONMENT] = text
    values = json.dumps(constants, sort_keys=True, default=str)
    return text, f"{name}-{hashlib.sha256(values.encode()).hexdigest()[:8]}", constants


# This process's variant, and its label (name and digest); "" for the printed rules.
TEXT, VARIANT, _values = _read()


def of_variant(plain: Format) -> Format | str:
    """Return a format's name or number, with the label of this process's variant; readers refuse
    any other.
    """
    return f"{plain} of variant {VARIANT}" if VARIANT else plain


def changeable(name: str, printed: Value, low: int, high: int) -> Value:
    """Return the value of a constant, the variant's or the printed one.

    Raises:
        OptionError: the variant's value has the wrong length or an integer out of range.
    """
    CHANGEABLE[name] = Constant(printed, low, high)
    value = _values.get(name, printed)
    numbers = list(value) if isinstance(value, (list, tuple)) else [value]
    many = len(printed) if isinstance(printed, tuple) else 1
    is_whole = all(type(number) is int and low <= number <= high for number in numbers)
    if len(numbers) != many or not is_whole:
        wanted = f"{many} numbers, each" if many > 1 else "a number"
        raise _refusal(f"{name} must be {wanted} from {low} to {high}, not {shown(value)}")
    return type(printed)(numbers) if isinstance(printed, tuple) else int(numbers[0])


def check(conditions: dict[str, bool]) -> None:
    """Check a complete variant: names of constants, and conditions on several of them, given as
    texts.

    Raises:
        OptionError: a constant is unknown, or a condition is violated.
    """
    if others := _values.keys() - CHANGEABLE.keys():
        raise _refusal(
            f"there is no constant {shown(', '.join(sorted(others)))} to change; there are "
            f"{', '.join(CHANGEABLE)}"
        )
    for text, is_fulfilled in conditions.items():
        if not is_fulfilled:
            raise _refusal(text)
