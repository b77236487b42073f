"""``python -m skyenv dataset``: what it writes, and how to load it."""

from pathlib import Path

import minari
import pytest
from pyarrow import parquet as pq
from small_datasets import contents

from processes import main_of
from skyenv.console.options import BAD_COMMAND, BAD_DATA

pytestmark = pytest.mark.usefixtures("in_this_process")

SHORT = "random crowd --games 5 --max-turns 5 --shard-games 3"


def test_both_formats_are_written_with_instructions_for_loading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some games"
    command = f"dataset {SHORT} --players 3 -o '{path}'"
    assert main_of(command) == 0
    first, second = capsys.readouterr().out.splitlines()
    table = pq.read_table(path / "parquet")
    assert first == f"{path}: 5 games, {len(table)} decisions"
    assert (
        second == f"Minari: MINARI_DATASETS_PATH={path / 'minari'}, "
        "minari.load_dataset('skyenv/some-games-v0')"
    )
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(path / "minari"))
    dataset = minari.load_dataset("skyenv/some-games-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (15, len(table))
    before = contents(path)
    assert main_of(command) == 0
    assert contents(path) == before


def test_records_are_converted_and_unfinished_games_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, out = tmp_path / "games.jsonl", tmp_path / "out"
    assert main_of(f"record --games 3 --seed 5 --max-turns 4 -o {record}") == 0
    lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
    record.write_text("".join(lines[:-1]), encoding="utf-8")
    assert main_of(f"dataset --records {record} -o {out} --formats parquet") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "left out: 1 unfinished game"
    assert set(pq.read_table(out / "parquet")["seed"].to_pylist()) == {5, 6}
    record.write_text("".join(lines[: len(lines) // 4]), encoding="utf-8")
    assert main_of(f"dataset --records {record} -o {tmp_path / 'none'}") == BAD_DATA
    assert capsys.readouterr().err == "dataset: error: the records have no finished game\n"


def test_a_missing_package_names_the_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skyenv.errors.find_spec", lambda name: name != "h5py" or None)
    assert main_of(f"dataset {SHORT} -o {tmp_path / 'out'} --formats minari") == BAD_COMMAND
    assert "No module named 'h5py'; install the extra [dataset]" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
