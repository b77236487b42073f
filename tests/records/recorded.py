"""Records to read, to damage and to compare."""

import io
import json
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import pytest

from crowd_games import played
from skyenv import records
from skyenv.errors import RecordError

TABLES = [(2, "front"), (3, "back")]
BASE = 3  # players of the base record
# A line's change into it and itself once more.
TWICE: Final = [..., ...]


def lines_of(text: str) -> list[Any]:
    """The JSON objects of a record."""
    return [json.loads(line) for line in text.splitlines()]


def as_text(lines: Sequence[Any]) -> str:
    """The record of JSON objects; a text stands for itself."""
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


def error_of(text: str | bytes) -> RecordError:
    """The error that verifying a record ends in."""
    with pytest.raises(RecordError) as caught:
        records.verify(
            io.StringIO(text, newline="\n") if isinstance(text, str) else io.BytesIO(text)
        )
    return caught.value


def at(lines: list[Any], event: str, **fields: Any) -> int:
    """The index of the first line with this event and these fields."""
    for index, line in enumerate(lines):
        if line.get("event") == event and all(
            line.get(name) == value for name, value in fields.items()
        ):
            return index
    raise AssertionError(f"no {event} with {fields}")


def change_line(lines: list[Any], place: Any, change: Any) -> int:
    """Change a line; the index of the line to blame."""
    where = at(lines, place) if isinstance(place, str) else place
    index: int = where(lines) if callable(where) else where % len(lines)
    if isinstance(change, dict):
        lines[index].update(change)
    elif callable(change):
        change(lines[index])
    else:
        instead = [change] if isinstance(change, str) else change
        lines[index : index + 1] = [lines[index] if line is ... else line for line in instead]
    return index + int(change == TWICE)


@cache
def base_record() -> list[Any]:
    """The lines, not to be changed, of a sound game that has every kind of line that a game of
    three can have before its end.
    """
    for seed in range(200):
        lines = lines_of(played(BASE, seed, legal=True, turns=200).to_record())
        kinds = {line.get("event") for line in lines}
        if {"top", "black", "tile to park", "auction", "won", "stop", "vp", "park", "end"} <= kinds:
            return lines
    raise AssertionError("no seed gives such a game")
