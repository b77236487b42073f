"""Writing and reading records: streaming, bounded memory, and errors with their line."""

import io
import re
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from recorded import as_text, at, base_record, error_of

from crowd_games import played
from skyenv import records
from skyenv.engine.game import Game
from skyenv.errors import OptionError, RecordError
from skyenv.records.reader import MAX_LINE, named


def test_the_header_has_the_documented_form() -> None:
    """Names are unchanged; the last two contain line ends of str.splitlines()."""
    names = ["zufällig", "随机", "\u2028\x85"]
    text = Game(3, seed=7).to_record(names)
    ring = '["green", "violet", "brown", "orange", "gray"]'
    assert text.startswith(
        '{"format": "skyenv-record", "version": 1, "players": 3, "side": "front", '
        f'"rings": [{", ".join([ring] * 7)}], "max_turns": 500, "seed": 7, '
        '"agents": ["zufällig", "随机", '
    )
    (lines,) = records.iter_games(io.BytesIO(text.encode("utf-8")))
    assert lines.header.value["agents"] == names


@pytest.mark.parametrize(
    "agents", ["ab", [], ["random"], ["random", 1], ["random", "\ud800"], ["a", "b", "c"]]
)
def test_agents_must_be_one_text_per_seat(agents: list[Any]) -> None:
    with pytest.raises(OptionError, match="agents"):
        Game(2, seed=1).to_record(agents)


def test_games_are_streamed_and_unread_lines_skipped() -> None:
    text = "".join(played(players, turns=4).to_record() for players in (2, 3, 4))
    stream = io.StringIO(text[:-1])  # the last newline may be missing
    numbers = [text[: match.start()].count("\n") + 1 for match in re.finditer(r'\{"format"', text)]
    places = []
    for lines in records.iter_games(stream):
        places.append((lines.number, lines.header.number, lines.setup.number))
        before = stream.tell()
        assert next(lines.events).value["event"] == "action"
        assert stream.tell() <= before + MAX_LINE
    assert places == [(i + 1, number, number + 1) for i, number in enumerate(numbers)]


def test_paths_and_text_and_binary_streams_read_alike(tmp_path: Path) -> None:
    game = played(2, turns=6)
    path = tmp_path / "game.jsonl"
    text = game.to_record()
    path.write_bytes(text.encode("utf-8"))
    with path.open("rb") as binary, path.open(encoding="utf-8") as characters:
        for source in (path, str(path), binary, characters, io.StringIO(text)):
            assert Game.replay(records.nth_game(source)).to_record() == text


def test_missing_games_are_errors() -> None:
    """Files: tests/test_cli.py."""
    for number, message in ((2, "game 2: the record has 1"), (0, "game")):
        with pytest.raises(OptionError, match=message):
            Game.from_record(played(2, turns=4).to_record(), number)


def test_errors_in_a_part_name_the_line_of_the_whole_file() -> None:
    head = "\n".join([*played(turns=3).to_record().splitlines()[:2], "{"])
    (lines,) = records.iter_games(io.StringIO(head.rpartition("\n")[0]), first_line=101)
    assert (lines.header.number, lines.setup.number) == (101, 102)
    (lines,) = (next(records.iter_games(io.StringIO(head), first_line=101)),)
    with pytest.raises(RecordError, match=r"^games\.jsonl: line 103") as caught:  # noqa: SIM117
        with named("games.jsonl"):
            list(lines.events)
    assert caught.value.line == 103


# ---- hostile files ----


class Endless(io.RawIOBase):
    """A file of a billion characters that doesn't exist: made while it is read, and counted."""

    def __init__(self, start: bytes, filler: bytes, length: int = 10**9) -> None:
        self.start, self.filler, self.left, self.handed_out = start, filler, length, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """The beginning first, then the filler again and again."""
        filler = self.filler * (len(buffer) // len(self.filler) + 1)
        chunk = (self.start[: len(buffer)] or filler[: len(buffer)])[: self.left]
        self.start = self.start[len(chunk) :]
        buffer[: len(chunk)] = chunk
        self.left -= len(chunk)
        self.handed_out += len(chunk)
        return len(chunk)


@pytest.mark.compiled
def test_memory_does_not_grow_with_the_length_of_a_game() -> None:
    peaks = []
    for turns in (50, 300):
        stream = io.StringIO(played(3, agent="hoard", turns=turns).to_record())
        tracemalloc.start()
        records.verify(stream)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 100_000


@pytest.mark.parametrize("characters", [False, True])
@pytest.mark.parametrize("start", [b"", b'{"format": "'])
@pytest.mark.parametrize("filler", [b"x", b"9", b"[", b'{"a":', b" ", b"\r"])
def test_a_line_of_a_billion_characters_is_refused_unread(
    start: bytes, filler: bytes, characters: bool
) -> None:
    source = Endless(start, filler)
    stream: Any = io.BufferedReader(source)
    if characters:
        stream = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
    tracemalloc.start()
    with pytest.raises(RecordError, match="longer than 65536 characters") as caught:
        records.verify(stream)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.line == 1
    assert source.handed_out < 10 * MAX_LINE
    assert peak < 3_000_000


@pytest.mark.compiled
def test_endless_lines_after_one_action_are_refused() -> None:
    lines = base_record()[: at(base_record(), "action") + 1]
    source = Endless(as_text(lines).encode(), b'{"event": "alea", "cards": [4, 5, 6, 4]}\n')
    with pytest.raises(RecordError) as caught:
        records.verify(io.BufferedReader(source))
    assert caught.value.line == len(lines) + 1
    assert source.handed_out < 10 * MAX_LINE


def test_deeply_nested_json_gives_one_error() -> None:
    """Just below Python's limit of nesting, reading succeeds but formatting might fail."""
    header = as_text(base_record()[:1])
    texts = ['{"format": "DEEP"}', header.replace('[["green", ', '[["DEEP", ')]
    for depth in range(sys.getrecursionlimit() - 300, sys.getrecursionlimit() + 10):
        for opening, closing in (("[", "]"), ('{"a": ', "}")):
            deep = opening * depth + "1" + closing * depth
            assert {error_of(text.replace('"DEEP"', deep)).line for text in texts} == {1}
