"""A tournament's folder: nothing is lost, nothing counts twice, and damage is found out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from tournaments import lines, play, settings

from processes import main_of
from skyenv.arena.folder import Folder, line_of, read_config, secret_of
from skyenv.errors import CheckpointError, FolderInUseError

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """The folder of two paired seeds between random and crowd."""
    play(tmp_path / "whole", settings("random", "crowd"), 2)
    return tmp_path / "whole"


def test_a_file_cut_anywhere_gives_the_same_ladder(played: Path, tmp_path: Path) -> None:
    wanted = settings("random", "crowd")
    content = (played / "games.jsonl").read_bytes()
    assert len(lines(played)) == 4
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "config.json").write_bytes((played / "config.json").read_bytes())
    ends = [index for index, byte in enumerate(content) if byte == ord("\n")]
    near = {end + step for end in ends for step in (0, 1, 2)}
    for length in sorted({*range(0, len(content), 29), *near} & {*range(len(content) + 1)}):
        (cut / "games.jsonl").write_bytes(content[:length])
        with Folder(cut, wanted) as folder:
            whole = (0, 0, 2, 2, 2, 4, 4)[content[:length].count(b"\n")]  # two games, then times
            assert folder.number() == whole
        if length % 2 == 0:
            play(cut, wanted, 2)
            assert lines(cut) == lines(played)
            with Folder(cut, wanted) as again, Folder(played, wanted) as before:
                one, other = asdict(again.results()), asdict(before.results())
            assert all(np.array_equal(one[name], other[name]) for name in one)


def test_nothing_counts_twice(tmp_path: Path) -> None:
    wanted = settings("random", "crowd")
    play(tmp_path, wanted, 2)
    once = lines(tmp_path)
    with open(tmp_path / "games.jsonl", "a") as file:
        file.write("".join(f"{line}\n" for line in once))
    assert play(tmp_path, wanted, 2).played == 0
    assert lines(tmp_path) == once
    assert play(tmp_path, wanted, 4).played == 4
    assert lines(tmp_path)[:4] == once


# ---- damage ----


def flips(content: bytes) -> Iterator[tuple[int, bytes]]:
    """A file with a bit of every third byte flipped in turn, and which byte it is."""
    for index in {*range(0, len(content), 3), len(content) - 1}:
        byte = content[index] ^ 1 << index % 8
        yield index, content[:index] + bytes([byte]) + content[index + 1 :]


def test_no_flipped_bit_is_taken_for_a_game_or_a_setting(played: Path) -> None:
    """Each is found out, but one that makes the last line an unfinished one: its games are played
    again.
    """
    config = (played / "config.json").read_bytes()
    for index, flipped in flips(config):
        if not config[index : index + 1].isspace():
            (played / "config.json").write_bytes(flipped)
            with pytest.raises(CheckpointError, match=r"config\.json is damaged"):
                read_config(played)
    (played / "config.json").write_bytes(config)
    wanted = settings("random", "crowd")
    path = played / "games.jsonl"
    content = path.read_bytes()
    with Folder(played, wanted) as folder:
        before = folder.results()
    for index, flipped in flips(content):
        path.write_bytes(flipped)
        if index < len(content) - 1:
            with pytest.raises(CheckpointError, match="the file is damaged"):
                Folder(played, wanted)
        else:
            with Folder(played, wanted) as folder:
                assert np.isin(folder.results().paired_seeds, before.paired_seeds).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "nonsense\n" + text,
        lambda text: "[]\n" + text,
        lambda text: "[" * 100_000 + "\n" + text,
        lambda text: '{"paired_seed":' + "9" * 5000 + "}\n" + text,
        lambda text: text.replace('"seats":[0,1]', '"seats":[0,0]'),
        lambda text: text.replace('"turns"', '"tunrs"'),
        lambda text: text.replace('"crc32"', '"crc23"'),
        lambda text: '{"spent":{"0":["x",1]}}\n' + text,
        lambda text: text + line_of({"spent": {"0": [1.0, 1e-05]}}).decode().replace("e", "E"),
        lambda text: (
            line_of(
                {"paired_seed": 0, "seats": [0, 2], "shares": [1, 0], "scores": [1, 0]}
            ).decode()
            + text
        ),
    ],
    ids=range(10),
)
def test_damaged_games(change: Callable[[str], str], played: Path) -> None:
    text = (played / "games.jsonl").read_text()
    (played / "games.jsonl").write_text(change(text))
    with pytest.raises(CheckpointError, match=r"games.jsonl: .*; the file is damaged") as caught:
        Folder(played, settings("random", "crowd"))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        *(
            (content, "config.json is damaged: ")
            for content in ("{", "[]", "[" * 100_000, "\x00", '{"players": "x"}')
        ),
        ('{"format": 4, "players": "x", "agents": 3}', "config.json is damaged: "),
        ('{"format": 3}', "was made by an older version"),
        ('{"format": 4, "rungs": []}', "was made by an older version"),
    ],
)
def test_a_config_that_can_not_be_used(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, when it is gone on with and when it is asked for anew."""
    (tmp_path / "config.json").write_text(content)
    for words in ("--resume", "random crowd"):
        assert main_of(f"tournament {words} --out {tmp_path}") == 1
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)
        assert message in printed.err


def test_a_folder_of_other_settings(tmp_path: Path) -> None:
    """Agents are told apart by their versions and not by their descriptions."""
    wanted = settings("random", "crowd", secret=5)
    first, second = wanted.agents
    with Folder(tmp_path, wanted), pytest.raises(FolderInUseError, match=str(tmp_path)):
        Folder(tmp_path, wanted)
    Folder(
        tmp_path, replace(wanted, agents=(first, replace(second, description="other words")))
    ).close()
    agents = r'agents was \["random 1", "crowd 1"\], is \["random 1", "{} {}"\]'
    for change, message in (
        ({"side": "back"}, 'side was "front", is "back"'),
        ({"seed": 9}, "seed was 1, is 9"),
        ({"secret": 9}, "secret was 5, is 9"),
        ({"project": "9.9"}, "project was"),
        ({"agents": settings("random", "hoard").agents}, agents.format("hoard", 1)),
        ({"agents": (first, replace(second, version="2"))}, agents.format("crowd", 2)),
    ):
        with pytest.raises(CheckpointError, match=message):
            Folder(tmp_path, replace(wanted, **change))
    (tmp_path / "config.json").unlink()
    (tmp_path / "games.jsonl").touch()
    with pytest.raises(CheckpointError, match=r"holds games\.jsonl but"):
        Folder(tmp_path, wanted)


def test_the_secret_is_the_folders_unless_one_is_asked_for(tmp_path: Path) -> None:
    assert secret_of(None) != secret_of(None, tmp_path)
    Folder(tmp_path / "a", settings("random", "crowd", secret=7)).close()
    assert secret_of(None, tmp_path / "b", tmp_path / "a") == 7
    assert secret_of(0, tmp_path / "a") == 0
