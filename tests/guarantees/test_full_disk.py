"""On a full disk every command names the file that it can't write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from processes import main_of

RECORD = "record --seed 1 --max-turns 3"
TOURNAMENT = "tournament random crowd --max-turns 3 --secret 1 --out out --paired-seeds"
DATASET = "dataset random --games 2 --max-turns 3 --formats parquet -o out"
COMMANDS = [
    (f"{RECORD} -o new.jsonl", 99, "new.jsonl"),
    ("show game.jsonl --svg new.svg", 99, "new.svg"),
    ("export game.jsonl -o new.html", 99, "new.html"),
    ("analyse game.jsonl --agent random --json new.json", 99, "new.json"),
    ("evaluate random --paired-seeds 1 --max-turns 3 --json new.json", 99, "new.json"),
    (f"{TOURNAMENT} 1", 9, "out/.lock"),
    (f"{TOURNAMENT} 1", 99, "out/config.json"),
    (f"{TOURNAMENT} 9", 1500, "out/games.jsonl"),
    (f"{TOURNAMENT} 1", 1500, "out/ladder.json"),
    (f"{DATASET}", 99, "out/config.json"),
    (f"{DATASET}", 999, "out/parquet/00000.parquet"),
]


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("words", "size", "file"), COMMANDS)
def test_a_full_disk_names_the_file(
    words: str,
    size: int,
    file: str,
    limit: Callable[[int], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main_of(f"{RECORD} -o game.jsonl") == 0
    limit(size)
    assert main_of(words) == 1
    complaint = capsys.readouterr().err
    assert complaint == f"{words.split()[0]}: error: {file}: File too large\n"
