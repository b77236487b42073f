"""``python -m skyenv dataset``: what it takes, what it says, and one line for every mistake."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import minari
import pytest
from datasets import contents
from minari.dataset.minari_dataset import parse_dataset_id
from pyarrow import parquet as pq

from skyenv import cli
from skyenv.commands import BAD_COMMAND, BAD_DATA
from skyenv.dataset.commands import NAMES, DatasetOptions, default_id

pytestmark = pytest.mark.usefixtures("in_this_process")

SHORT = ["--games", "5", "--max-turns", "5", "--shard-games", "3"]


def run(*words: object) -> int:
    return cli.main(["dataset", *map(str, words)])


def test_it_writes_both_and_says_how_to_load_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some games"
    assert run("random", "crowd", *SHORT, "--players", 3, "-o", path) == 0
    first, second = capsys.readouterr().out.splitlines()
    table = pq.read_table(path / "parquet")
    assert first.startswith(f"{path}: 5 games, {len(table)} decisions; ")
    assert first.endswith(" MB of Minari")
    assert (
        second == f"Minari: MINARI_DATASETS_PATH={path / 'minari'}, "
        "minari.load_dataset('skyenv/some-games-v0')"
    )
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(path / "minari"))
    dataset = minari.load_dataset("skyenv/some-games-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (15, len(table))
    before = contents(path)
    assert run("random", "crowd", *SHORT, "--players", 3, "-o", path) == 0
    assert contents(path) == before


def test_records_are_taken_and_those_without_an_end_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "games.jsonl"
    assert (
        cli.main(["record", "--games", "3", "--seed", "5", "--max-turns", "4", "-o", str(record)])
        == 0
    )
    lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
    record.write_text("".join(lines[:-1]), encoding="utf-8")
    assert run("--records", record, "-o", tmp_path / "out", "--formats", "parquet") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "left out: 1 game without an end"
    table = pq.read_table(tmp_path / "out" / "parquet")
    assert set(table["seed"].to_pylist()) == {5, 6}
    assert json.loads((tmp_path / "out" / "dataset.json").read_bytes())["games"] == 2
    record.write_text("".join(lines[: len(lines) // 4]), encoding="utf-8")
    assert run("--records", record, "-o", tmp_path / "none") == BAD_DATA
    assert capsys.readouterr().err == "dataset: error: there is no finished game to take\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["random"], "-o FOLDER says where to write"),
        (
            ["-o", "x"],
            "name the agents that play, or the games to take by --records; one of the two",
        ),
        (
            ["random", "--records", "y", "-o", "x"],
            "name the agents that play, or the games to take by --records; one of the two",
        ),
        (
            ["random", "-o", "x", "--id", "../x"],
            "id must be a name that Minari takes, such as skyenv/games-v0, not '../x'",
        ),
        (
            ["random", "-o", "x", "--id", "a/b-v1"],
            "id must be a name that Minari takes, such as skyenv/games-v0, not 'a/b-v1'",
        ),
        (
            ["--records", "y", "-o", "x", "--players", "2", "--max-turns", "9"],
            "--records takes games as they are; it doesn't go with --players, --max-turns\n",
        ),
        (
            ["random", "-o", "x", "--formats", "csv"],
            "formats must be one of parquet, minari, not 'csv'",
        ),
        (["nobody", "-o", "x"], "unknown agent 'nobody'"),
    ],
)
def test_a_wrong_command_is_told_in_one_line(
    words: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*words) == BAD_COMMAND
    complaint = capsys.readouterr().err
    assert complaint.startswith(f"dataset: error: {message}")
    assert complaint.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_names_the_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "skyenv.render.extras.find_spec", lambda name: None if name == "h5py" else find(name)
    )
    assert run("random", *SHORT, "-o", tmp_path / "out", "--formats", "minari") == BAD_DATA
    assert "No module named 'h5py'; install the extra [dataset]" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name", ["a/b-v1", "-/x-v0", "a/b/c-v12", "ab/c-v1", "c-v1", "c", "-v1", "ab/-v1", "ab/c-v1\n"]
)
def test_names_are_those_that_minari_takes(name: str) -> None:
    try:
        parse_dataset_id(name)
        is_taken = True
    except (ValueError, TypeError):  # the latter is its mistake over a name that is only a version
        is_taken = False
    assert (NAMES.fullmatch(name) is not None) == is_taken


def test_a_name_for_minari_comes_of_the_folder() -> None:
    assert default_id(Path("runs/strong games.1")) == "skyenv/strong-games-1-v0"
    assert DatasetOptions(agents=("random",), out=Path("x"), id="a/b/c-v12").id == "a/b/c-v12"
