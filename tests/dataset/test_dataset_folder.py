"""A dataset's folder: reproducible shards, repairs, refused folders; and the command."""

import json
from pathlib import Path
from typing import Any

import minari
import pytest
from pyarrow import parquet as pq
from small_datasets import contents, matches, write

from processes import main_of
from skyenv.console.options import BAD_COMMAND, BAD_DATA
from skyenv.dataset.folder import Plan
from skyenv.errors import DatasetError

pytestmark = pytest.mark.usefixtures("in_this_process")


def plan(**options: Any) -> Plan:
    """Return a plan of seven games in four shards."""
    source = matches(players=3, games=7)
    return Plan(**{"source": source, "shard_games": 2, "dataset_id": "some/b-v1", **options})


def test_shards_partition_the_games_whatever_their_size(tmp_path: Path) -> None:
    many = plan(source=matches(games=100_002), shard_games=1)
    names = [many.files(tmp_path, many.shards()[number])["minari"].stem for number in (0, 100_001)]
    assert names == ["000000", "100001"]
    tables = []
    for games in (2, 5):
        path = write(plan(shard_games=games, formats=("parquet",)), tmp_path / str(games))
        read = map(pq.read_table, sorted((path / "parquet").iterdir()))
        tables.append([row for table in read for row in table.to_pylist()])
    assert tables[0] == tables[1]
    assert sorted({row["game"] for row in tables[0]}) == list(range(7))


def test_damaged_shards_are_refused(tmp_path: Path) -> None:
    """That missing ones are made again, tests/guarantees/test_long_work.py shows."""
    whole = contents(write(plan(), tmp_path))
    assert set(whole) == {
        "config.json",
        "dataset.json",
        "minari/some/b-v1/data/main_data.hdf5",
        "minari/some/b-v1/data/metadata.json",
        *(f"parquet/0000{shard}.parquet" for shard in range(4)),
        *(f"minari/some/b-v1/data/0000{shard}.hdf5" for shard in range(4)),
    }
    summary = json.loads(whole["dataset.json"])
    assert (summary["games"], summary["shards"]) == (7, 4)
    for name in ("parquet/00001.parquet", "minari/some/b-v1/data/00001.hdf5"):
        path = tmp_path / name
        for content in (b"", whole[name][: len(whole[name]) // 2]):
            path.write_bytes(content)
            with pytest.raises(DatasetError, match=rf"^{path} is damaged .*; remove it"):
                write(plan(), tmp_path)
        path.write_bytes(whole[name])
    config = tmp_path / "config.json"
    for text in (b"{", b"[]"):
        config.write_bytes(text)
        with pytest.raises(DatasetError, match=rf"without a readable config.json: .*{config}"):
            write(plan(), tmp_path)
    config.unlink()
    with pytest.raises(DatasetError, match=r"without a readable .*config\.json: .*config\.json"):
        write(plan(), tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"formats": ("parquet",)}, r'formats was \["parquet", "minari"\], is \["parquet"\]'),
        ({"source": matches(players=3, games=7, seed=4)}, "seed was 3, is 4"),
    ],
)
def test_a_folder_of_another_dataset_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(plan().about()))
    with pytest.raises(
        DatasetError, match=f"holds another dataset: {message}.*; choose another folder"
    ):
        write(plan(**change), tmp_path)


def test_datasets_of_matches_hold_their_environments_specification(tmp_path: Path) -> None:
    made = plan(source=matches("random", "hoard", players=3, games=2), formats=("minari",))
    path = made.files(write(made, tmp_path), range(1))["minari"]
    metadata: dict[str, Any] = json.loads(path.with_name("metadata.json").read_bytes())
    assert json.loads(metadata["env_spec"])["kwargs"] == {
        "num_players": 3,
        "side": "front",
        "max_turns": 6,
        "reward": "outcome",
    }
    assert metadata["algorithm_name"] == "hoard, random"


# ---- the command ----


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
