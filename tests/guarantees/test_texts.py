"""Text files of other systems: byte order marks are accepted, and undecodable files are named."""

import contextlib
import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import main_of
from skyenv.arena import ladder

TOURNAMENT = "tournament random crowd --secret 1 --max-turns 2 --paired-seeds 1 --out out"
RECORD = "record --seed 1 --max-turns 1 -o game.jsonl"

# Files, and commands that read them: the last refuses the ladder as one of another game.
TEXTS = {
    "game.jsonl": "verify game.jsonl",
    "games.jsonl": "dataset --records games.jsonl --workers 1 --formats parquet -o set",
    "board.toml": f"{RECORD} --replace --board board.toml",
    "options.toml": f"{RECORD} --replace --config options.toml",
    "out/config.json": TOURNAMENT,
    "out/games.jsonl": TOURNAMENT,
    "ladder.json": "tournament --add random --players 3 --ladder ladder.json",
}
ACCEPTED = "ladder.json is a ladder of players 2"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them in a folder."""
    folder = tmp_path_factory.mktemp("texts")
    with contextlib.chdir(folder):
        Path("board.toml").write_text("[rings]\n")
        Path("options.toml").write_text("players = 2\n")
        shutil.copy(ladder.path_of(2, "front"), "ladder.json")
        assert main_of(RECORD) == main_of(f"{TOURNAMENT} --workers 1") == 0
        shutil.copy("game.jsonl", "games.jsonl")
    return folder


@pytest.fixture
def texts(written: Path, here: Path) -> None:
    """All of them in the working directory."""
    shutil.copytree(written, here, dirs_exist_ok=True)


@pytest.mark.usefixtures("texts", "in_this_process")
@pytest.mark.parametrize("file", TEXTS)
def test_a_byte_order_mark_is_accepted(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    content = Path(file).read_bytes()
    Path(file).write_bytes(b"\xef\xbb\xbf" + content)
    assert main_of(TEXTS[file]) == 0 or ACCEPTED in capsys.readouterr().err
    if file == "out/games.jsonl":
        assert content in Path(file).read_bytes()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "it is compressed with gzip; unpack it first": gzip.compress,
    "it is UTF-16; save it as UTF-8": lambda text: text.decode().encode("utf-16"),
    "it has an unpaired surrogate": lambda text: re.sub(b'(": ?")', rb"\1\\ud8FF", text, count=1),
    "its lines end in CR alone": lambda text: text.replace(b"\n", b"\r"),
}


@pytest.mark.usefixtures("texts", "in_this_process")
@pytest.mark.parametrize("file", [file for file in TEXTS if "json" in file])
@pytest.mark.parametrize("name", DAMAGES)
def test_an_undecodable_file_is_named(
    name: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = DAMAGES[name](Path(file).read_bytes())
    Path(file).write_bytes(damaged)
    capsys.readouterr()
    code = main_of(TEXTS[file])
    complaint = capsys.readouterr().err
    if file in ("out/config.json", "ladder.json") and name in READ_ALL_THE_SAME:
        assert code == 0 or ACCEPTED in complaint
    else:
        assert (code, complaint.count("\n")) == (1, 1)
        assert f"{file}" in complaint
        assert name in complaint
    assert Path(file).read_bytes() == damaged


# In files that are one JSON text.
READ_ALL_THE_SAME = ("its lines end in CR alone", "it is UTF-16; save it as UTF-8")
