"""A tournament's folder: durability, duplicates and damage."""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tournaments import lines, played, settings

import skyenv
from processes import main_of
from skyenv.arena.tournament import FORMAT, Folder, line_of, read_config, secret_of
from skyenv.errors import CheckpointError, FolderInUseError

pytestmark = pytest.mark.usefixtures("in_this_process")


WANTED = settings("random", "crowd")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A folder with two paired seeds of random and crowd."""
    assert len(played(tmp_path / "whole", WANTED, 2)) == 4
    return tmp_path / "whole"


def test_a_truncated_file_is_resumed_to_the_same_ladder(whole: Path, tmp_path: Path) -> None:
    content = (whole / "games.jsonl").read_bytes()
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "config.json").write_bytes((whole / "config.json").read_bytes())
    ends = [index for index, byte in enumerate(content) if byte == ord("\n")]
    near = {end + step for end in ends for step in (0, 1, 2)}
    for length in sorted({*range(0, len(content), 61), *near} & {*range(len(content) + 1)}):
        (cut / "games.jsonl").write_bytes(content[:length])
        with Folder(cut, WANTED) as folder:
            found = sum(map(len, folder.games.values()))
        assert found == (0, 0, 2, 2, 4)[content[:length].count(b"\n")]
        if length % 3 == 0:
            assert played(cut, WANTED, 2) == lines(whole)
            with Folder(cut, WANTED) as again, Folder(whole, WANTED) as before:
                one, other = asdict(again.results()), asdict(before.results())
            assert all(np.array_equal(one[name], other[name]) for name in one)


def test_duplicate_lines_count_once(whole: Path) -> None:
    once = lines(whole)
    with open(whole / "games.jsonl", "a") as file:
        file.write("".join(f"{line}\n" for line in once))
    assert played(whole, WANTED, 2) == once
    more = played(whole, WANTED, 4)
    assert (more[:4], len(more)) == (once, 8)


# ---- damage ----

GAME = {"paired_seed": 0, "seats": [0, 1], "shares": [1.0, 0.0], "scores": [9, 8]}


def flips(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the content with a bit of every third byte flipped, and the byte's index."""
    for index in {*range(0, len(content), 3), len(content) - 1}:
        byte = content[index] ^ 1 << index % 8
        yield index, content[:index] + bytes([byte]) + content[index + 1 :]


def test_flipped_bits_are_detected(whole: Path) -> None:
    """All but one that cuts the last line, whose games are replayed."""
    path = whole / "config.json"
    config = path.read_bytes()
    for index, flipped in flips(config):
        if not config[index : index + 1].isspace():
            path.write_bytes(flipped)
            with pytest.raises(CheckpointError, match=r"config\.json is damaged"):
                read_config(whole)
    path.write_bytes(config)
    path = whole / "games.jsonl"
    content = path.read_bytes()
    for index, flipped in flips(content):
        path.write_bytes(flipped)
        if index < len(content) - 1:
            with pytest.raises(CheckpointError, match="the file is damaged"):
                Folder(whole, WANTED)
        else:
            with Folder(whole, WANTED) as folder:
                assert folder.whole_paired_seeds() == [0]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "nonsense\n" + text,
        lambda text: "[]\n" + text,
        lambda text: "[" * 100_000 + "\n" + text,
        lambda text: '{"paired_seed":' + "9" * 5000 + "}\n" + text,
        lambda text: text.replace('"seats":[0,1]', '"seats":[0,0]'),
        lambda text: text.replace('"crc32"', '"crc23"'),
        *(
            lambda text, changes=changes: line_of({**GAME, **changes}).decode() + text
            for changes in (
                {"seats": [0, 2]},
                {"seats": [[0], [1]]},
                {"seats": None},
                {"paired_seed": None},
                {"paired_seed": -1},
                {"shares": [1]},
                {"scores": [1, None]},
                {"scores": [[1], [2]]},
            )
        ),
        lambda text: line_of({}).decode() + text,
    ],
    ids=range(15),
)
def test_damaged_games_are_dropped_or_refused(change: Callable[[str], str], whole: Path) -> None:
    text = (whole / "games.jsonl").read_text()
    (whole / "games.jsonl").write_text(change(text))
    with pytest.raises(CheckpointError, match=r"games.jsonl.*; the file is damaged") as caught:
        Folder(whole, WANTED)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (content, "config.json is damaged: ")
            for content in ("{", "[]", "[" * 100_000, "\x00", '{"players": "x"}')
        ),
        (line_of({"format": 4}).decode(), "was made by another version"),
        (line_of({"format": FORMAT}).decode(), "was made by another version"),
    ],
)
def test_invalid_configs_are_refused(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text(content)
    assert main_of(f"tournament random crowd --out {tmp_path}") == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert message in printed.err


def test_a_folder_with_other_settings_is_refused(tmp_path: Path) -> None:
    wanted = replace(WANTED, secret=5)
    first, second = wanted.agents
    assert re.fullmatch(rf"{re.escape(skyenv.__version__)}\+[0-9a-f]{{8}}", wanted.project)
    with Folder(tmp_path, wanted), pytest.raises(FolderInUseError, match=str(tmp_path)):
        Folder(tmp_path, wanted)
    changes: dict[str, Any] = {"side": "back", "seed": 9, "secret": 9, "project": "9.9"}
    for name, value in {**changes, "agents": (first, replace(second, version="2"))}.items():
        with pytest.raises(CheckpointError, match=rf"other settings \({name}; see config\.json"):
            Folder(tmp_path, replace(wanted, **{name: value}))
    described = replace(second, description="in other words")
    with Folder(tmp_path, replace(wanted, agents=(first, described))):
        pass
    (tmp_path / "config.json").unlink()
    (tmp_path / "games.jsonl").touch()
    with pytest.raises(CheckpointError, match=r"holds games\.jsonl but"):
        Folder(tmp_path, wanted)


def test_the_secret_comes_from_the_folder_unless_given(tmp_path: Path) -> None:
    assert secret_of(None, tmp_path) != secret_of(None, tmp_path)
    with Folder(tmp_path / "a", replace(WANTED, secret=7)):
        assert secret_of(None, tmp_path / "a") == 7
        assert secret_of(0, tmp_path / "a") == 0
