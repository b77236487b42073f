"""A tournament's folder: nothing is lost, nothing counts twice, and damage is found out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tournaments import lines, play, settings

from skyenv.arena.folder import Folder, line_of, read_config, secret_of
from skyenv.arena.schedule import Settings
from skyenv.cli import main
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
    for length in range(len(content) + 1):
        (cut / "games.jsonl").write_bytes(content[:length])
        with Folder(cut, wanted) as folder:
            finished = content[:length].split(b"\n")[:-1]
            games_of = [
                sum(f'"paired_seed":{paired_seed},'.encode() in line for line in finished)
                for paired_seed in (0, 1)
            ]
            assert folder.number() == 2 * sum(number == 2 for number in games_of)
        if length % 97 == 0 or length == len(content):
            play(cut, wanted, 2)
            assert lines(cut) == lines(played)
            with Folder(cut, wanted) as again, Folder(played, wanted) as before:
                for name in ("paired_seeds", "seats", "shares", "scores"):
                    assert np.array_equal(
                        getattr(again.results(), name), getattr(before.results(), name)
                    )


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
    """A file with a bit of each of its bytes flipped in turn, and which byte it is."""
    for index, byte in enumerate(content):
        yield index, content[:index] + bytes([byte ^ 1 << index % 8]) + content[index + 1 :]


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
    "content",
    [
        "{",
        "[]",
        "[" * 100_000,
        "\x00",
        '{"players": "x"}',
        '{"format": 4, "players": "x", "agents": 3}',
    ],
)
def test_a_damaged_config(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, when it is gone on with and when it is asked for anew."""
    (tmp_path / "config.json").write_text(content)
    for command in (["--resume"], ["random", "crowd"]):
        assert main(["tournament", *command, "--out", str(tmp_path)]) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "config.json is damaged: " in printed.err
        assert printed.err.count("\n") == 1


def test_agents_are_told_apart_by_their_versions_and_not_by_what_is_said_of_them(
    tmp_path: Path,
) -> None:
    wanted = settings("random", "crowd", secret=5)
    play(tmp_path, wanted, 1)
    first, second = wanted.agents
    with Folder(
        tmp_path,
        dataclasses.replace(
            wanted, agents=(first, dataclasses.replace(second, description="better words"))
        ),
    ) as folder:
        assert folder.games
    with pytest.raises(
        CheckpointError, match=r'agents was \["random 1", "crowd 1"\], is \["random 1", "crowd 2"\]'
    ):
        Folder(
            tmp_path,
            dataclasses.replace(wanted, agents=(first, dataclasses.replace(second, version="2"))),
        )


def test_a_folder_of_other_settings(tmp_path: Path) -> None:
    wanted = settings("random", "crowd", secret=5)
    with Folder(tmp_path, wanted), pytest.raises(FolderInUseError, match=str(tmp_path)):
        Folder(tmp_path, wanted)
    Folder(tmp_path, wanted).close()
    for other, message in (
        (dataclasses.replace(wanted, players=3), "players was 2, is 3"),
        (dataclasses.replace(wanted, seed=9), "seed was 1, is 9"),
        (dataclasses.replace(wanted, secret=9), "secret was 5, is 9"),
        (dataclasses.replace(wanted, project="9.9"), "project was"),
        (
            settings("random", "hoard", secret=5),
            r'agents was \["random 1", "crowd 1"\], is \["random 1", "hoard 1"\]',
        ),
    ):
        with pytest.raises(CheckpointError, match=message):
            Folder(tmp_path, other)
    (tmp_path / "config.json").unlink()
    (tmp_path / "games.jsonl").touch()
    with pytest.raises(CheckpointError, match=r"holds games\.jsonl but"):
        Folder(tmp_path, wanted)


# ---- the secret ----


def test_the_secret_is_the_folders_unless_one_is_asked_for(tmp_path: Path) -> None:
    first, second = secret_of(None), secret_of(None, tmp_path)
    assert first != second
    wanted: Settings = settings("random", "crowd", secret=7)
    Folder(tmp_path / "a", wanted).close()
    assert secret_of(None, tmp_path / "b", tmp_path / "a") == 7
    assert secret_of(0, tmp_path / "a") == 0
    assert json.loads((tmp_path / "a" / "config.json").read_text())["secret"] == 7


@pytest.mark.parametrize("content", ['{"format": 3}', '{"format": 4, "rungs": []}'])
def test_a_folder_of_an_older_version(content: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(CheckpointError, match="an older version"):
        Folder(tmp_path, settings("random", "crowd"))
