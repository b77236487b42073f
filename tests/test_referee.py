"""The referee's refusals; ``test_referee_fuzz.py`` shows that it accepts whole games."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee import Refutation, check_record

RECORDS = [
    path.read_text(encoding="utf-8").splitlines()
    for path in sorted((Path(__file__).parent / "golden").glob("*.jsonl"))
]
HEADER, SETUP = map(json.loads, RECORDS[0][:2])
BY_CHANCE: dict[tuple[str, str], list[Any]] = {
    ("black", "card"): [7, 4.0, None, "4"],
    ("top", "card"): [7, 4.0, "4"],
    ("alea", "cards"): [[4], [4, 5, 6, 7], 8],
    ("park", "tiles"): [[], ["pond"] * 3, 3],
}
"""What can't be there; other values may be another game's."""


def refuted_line(lines: list[str]) -> int:
    """The line (from 1) at which a record is refused."""
    with pytest.raises(Refutation) as caught:
        check_record(lines)
    return caught.value.line


def other(value: Any) -> Any:
    """Another value of the same or a neighbouring type."""
    if value is None:
        return 1
    if isinstance(value, int):
        return value + 1
    return value + "x" if isinstance(value, str) else [*value, 1]


def tampered(event: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """An event with one of its fields changed, of another type, or missing, or a field more."""
    for value in BY_CHANCE.get((event["event"], name), [other(event[name])]):
        yield {**event, name: value}
    if event[name] in (0, 1):
        yield {**event, name: bool(event[name])}
    if name != "legal":
        yield {key: value for key, value in event.items() if key != name}
    yield {**event, "extra": 0}


def test_a_wrong_line_is_refused() -> None:
    """The first line of each kind; a line that is missing or doubled, too."""
    seen = {None, "setup"}
    for lines in RECORDS:
        for at, line in enumerate(lines):
            event = json.loads(line)
            kind = event.get("event")
            if kind in seen:
                continue
            seen.add(kind)
            for wrong in (wrong for name in event for wrong in tampered(event, name)):
                assert refuted_line([*lines[:at], json.dumps(wrong), *lines[at + 1 :]]) == at + 1
            assert refuted_line(lines[:at] + lines[at + 1 :]) >= at + 1
            assert refuted_line([*lines[: at + 1], *lines[at:]]) >= at + 2
    assert len(seen) == 15


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"players": 5},
        {"agents": ["a"]},
        {"side": "top"},
        {"rings": HEADER["rings"][1:]},
        {"rings": [["green"] * 5] * 7},
        {"max_turns": 0},
        {"seed": 1.0},
        {"x": 1},
    ],
    ids=str,
)
def test_invalid_headers_are_refused(change: dict[str, Any]) -> None:
    assert refuted_line([json.dumps({**HEADER, **change}), *RECORDS[0][1:]]) == 1


@pytest.mark.parametrize(
    "change",
    [
        {
            "plots": {
                **SETUP["plots"],
                **{name: ["green", "gallery"] for name in ("W34", "E34", "W42")},
            }
        },
        {"plots": {name: ["sixth", "gallery"] for name in SETUP["plots"]}},
        {"row": SETUP["row"][1:]},
        {"row": ["gallery"] * 20},
        {"hands": SETUP["hands"][1:]},
        {"hands": [{**hand, "black": [6, 5, 4, 4]} for hand in SETUP["hands"]]},
        {"hands": [{**hand, "green": [6]} for hand in SETUP["hands"]]},
        {"tops": {"green": 4}},
        {"x": 1},
    ],
    ids=range(9),
)
def test_invalid_setups_are_refused(change: dict[str, Any]) -> None:
    """SET-1 to SET-5, COM-1, COM-3."""
    assert refuted_line([RECORDS[0][0], json.dumps({**SETUP, **change}), *RECORDS[0][2:]]) == 2


@pytest.mark.parametrize("line", ["\n", "[]\n", '{"a": 1, "a": 2}', "x"])
def test_lines_without_json_objects_are_refused(line: str) -> None:
    assert refuted_line([*RECORDS[1], line]) == len(RECORDS[1]) + 1
