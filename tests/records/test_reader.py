"""Reading records: line by line, in bounded memory, and whatever the file is, one error with its
line.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded import as_text, at, base_record, error_of, played

from skyenv import records
from skyenv.engine.game import Game
from skyenv.errors import RecordError
from skyenv.records.reader import MAX_LINE, named


def test_games_are_read_one_by_one_and_what_is_left_of_them_is_skipped() -> None:
    text = "".join(played(players, max_turns=4).to_record() for players in (2, 3, 4))
    stream = io.StringIO(text)
    numbers = [text[: match.start()].count("\n") + 1 for match in re.finditer(r'\{"format"', text)]
    places = []
    for lines in records.iter_games(stream):
        places.append((lines.number, lines.header.number, lines.setup.number))
        assert next(lines.events).value["event"] == "action"
    assert places == [(i + 1, number, number + 1) for i, number in enumerate(numbers)]


def test_events_are_read_only_as_far_as_they_are_asked_for() -> None:
    stream = io.StringIO(played(4).to_record())
    lines = next(records.iter_games(stream))
    at_first = stream.tell()
    for _ in range(5):
        next(lines.events)
    assert at_first < stream.tell() < 0.1 * len(stream.getvalue())


def test_paths_texts_and_both_kinds_of_stream_read_the_same(tmp_path: Path) -> None:
    game = played(2, max_turns=6)
    path = tmp_path / "game.jsonl"
    text = game.to_record()
    path.write_bytes(text.encode("utf-8"))
    with path.open("rb") as binary, path.open(encoding="utf-8") as characters:
        for source in (path, str(path), binary, characters, io.StringIO(text)):
            assert Game.replay(records.nth_game(source)).to_record() == text


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        records.verify(tmp_path / "nothing.jsonl")


# ---- hostile files ----


class Endless(io.RawIOBase):
    """A file of a billion characters that doesn't exist: made while it is read, and counted."""

    def __init__(self, start: bytes, filler: bytes, length: int = 10**9) -> None:
        self.start, self.filler, self.left, self.handed_out = start, filler, length, 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The beginning first, then the filler again and again."""
        chunk = (
            self.start[: len(buffer)]
            or (self.filler * (len(buffer) // len(self.filler) + 1))[: len(buffer)]
        )
        self.start = self.start[len(chunk) :]
        chunk = chunk[: self.left]
        buffer[: len(chunk)] = chunk
        self.left -= len(chunk)
        self.handed_out += len(chunk)
        return len(chunk)


@pytest.mark.compiled
def test_verifying_a_long_game_takes_no_more_memory_than_a_short_one() -> None:
    peaks = []
    for max_turns in (100, 2000):
        stream = io.StringIO(played(3, agent="hoard", max_turns=max_turns).to_record())
        tracemalloc.start()
        records.verify(stream)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 100_000


@pytest.mark.parametrize(
    ("start", "filler"),
    [
        (b"", b"x"),
        (b'{"format": "', b"x"),
        (b'{"players": ', b"9"),
        (b"", b"["),
        (b"", b'{"a":'),
        (b"", b" "),
        (b"", b"\r"),
    ],
)
@pytest.mark.parametrize("characters", [False, True])
def test_a_line_of_a_billion_characters_is_refused_unread(
    start: bytes, filler: bytes, characters: bool
) -> None:
    source = Endless(start, filler)
    stream: Any = io.BufferedReader(source)
    if characters:
        stream = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
    tracemalloc.start()
    with pytest.raises(RecordError, match="line 1: longer than 65536 characters") as caught:
        records.verify(stream)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.line == 1
    assert source.handed_out < 10 * MAX_LINE
    assert peak < 3_000_000


@pytest.mark.parametrize("nest", ["[{}]", '{{"a": {}}}'])
def test_whatever_can_be_parsed_can_be_complained_about(nest: str) -> None:
    """Just below Python's limit for nesting, reading works and writing the message might not."""
    opening, closing = nest.split("{}") if nest.startswith("[") else ('{"a": ', "}")
    for depth in range(sys.getrecursionlimit() - 300, sys.getrecursionlimit() + 10):
        text = '{"format": ' + opening * depth + "1" + closing * depth + "}"
        assert error_of(text).line == 1


def places_in(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a JSON value."""
    for index in (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield (*way, index)
        yield from places_in(value[index], (*way, index))


@pytest.mark.compiled
def test_whatever_can_be_parsed_in_a_ring_can_be_complained_about() -> None:
    """The board's own messages show what it was given."""
    header = as_text(base_record()[:1]).replace('[["green", ', '[["DEEP", ')
    for depth in range(sys.getrecursionlimit() - 300, sys.getrecursionlimit() + 10):
        assert error_of(header.replace('"DEEP"', "[" * depth + "]" * depth)).line == 1


@pytest.mark.compiled
@pytest.mark.parametrize("depth", [50, 900])
def test_something_deep_in_any_place_is_one_error(depth: int) -> None:
    """In any field of the header, the setup and each kind of event."""
    lines = {
        line.get("event"): (number, line)
        for number, line in reversed(list(enumerate(base_record())))
    }
    assert len(lines) > 10
    for number, line in lines.values():
        text = as_text(base_record()[:number])
        for *way, last in places_in(line):
            changed = json.loads(json.dumps(line))
            inside = changed
            for index in way:
                inside = inside[index]
            inside[last] = "DEEP"
            whole = text + json.dumps(changed).replace('"DEEP"', "[" * depth + "]" * depth)
            assert error_of(whole).line == number + 1


@pytest.mark.compiled
def test_endless_lines_after_one_action_are_refused() -> None:
    lines = base_record()[: at(base_record(), "action") + 1]
    source = Endless(as_text(lines).encode(), b'{"event": "alea", "cards": [4, 5, 6, 4]}\n')
    with pytest.raises(RecordError) as caught:
        records.verify(io.BufferedReader(source))
    assert caught.value.line == len(lines) + 1
    assert source.handed_out < 10 * MAX_LINE


def test_a_directory_or_device_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"directory|denied"):
        records.verify(tmp_path)
    if os.path.exists("/dev/zero"):
        with pytest.raises(RecordError, match="line 1: longer"):
            records.verify("/dev/zero")


def test_a_part_of_a_record_tells_the_lines_and_the_name_of_the_whole() -> None:
    text = played(max_turns=3).to_record()
    (lines,) = records.iter_games(io.StringIO(text), first_line=101)
    assert (lines.header.number, lines.setup.number) == (101, 102)
    with (
        pytest.raises(RecordError, match=r"^games\.jsonl: line 103: not JSON") as caught,
        named("games.jsonl"),
    ):
        list(
            next(
                records.iter_games(
                    io.StringIO("\n".join([*text.splitlines()[:2], "{"])), first_line=101
                )
            ).events
        )
    assert caught.value.line == 103
