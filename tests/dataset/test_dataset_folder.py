"""A dataset's folder: the same bytes whatever happens on the way, and one error for what isn't its
own.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from datasets import contents, matches, write
from pyarrow import parquet as pq

from processes import running, wait_until
from skyenv import cli
from skyenv.commands import INTERRUPTED
from skyenv.dataset.folder import Plan
from skyenv.errors import DatasetError, FolderInUseError
from skyenv.files import locked


def plan(**options: Any) -> Plan:
    """Seven games in four shards."""
    source = matches(players=3, games=7)
    return Plan(**{"source": source, "shard_games": 2, "dataset_id": "some/b-v1", **options})


@pytest.mark.usefixtures("in_this_process")
def test_shards_cover_the_games_once_and_their_size_does_not_change_games(tmp_path: Path) -> None:
    many = plan(source=matches(games=100_002), shard_games=1).shards()
    assert [many[number].name for number in (0, 100_001)] == ["000000", "100001"]
    tables = []
    for games in (2, 5):
        path = write(plan(shard_games=games, formats=("parquet",)), tmp_path / str(games))
        read = [
            pq.read_table(file).unify_dictionaries()
            for file in sorted((path / "parquet").iterdir())
        ]
        tables.append([row for table in read for row in table.to_pylist()])
    assert tables[0] == tables[1]
    assert sorted({row["game"] for row in tables[0]}) == list(range(7))


@pytest.mark.usefixtures("in_this_process")
def test_what_is_missing_is_made_anew_bit_for_bit(tmp_path: Path) -> None:
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
    for gone in (
        ["parquet/00001.parquet"],
        ["minari/some/b-v1/data/00003.hdf5", "dataset.json"],
        [*whole][2:],
    ):
        for name in gone:
            path = tmp_path / name
            path.unlink()
            path.with_name(f".{path.name}.0123abcd.part{path.suffix}").write_bytes(b"half")
        write(plan(), tmp_path)
        assert contents(tmp_path) == whole


WAITING = """
import os
import time

from skyenv.agents import RandomAgent


class Waiting(RandomAgent):
    name = "waiting"
    description = "random, but decides nothing any more once a file is there"

    def act(self, decisions):
        while os.path.exists(os.environ.get("WAIT_FOR", "")):
            time.sleep(0.01)
        return super().act(decisions)
"""


def test_the_same_command_goes_on_after_ctrl_c(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    command = [
        "dataset",
        "waiting:Waiting",
        "--games",
        "12",
        "--shard-games",
        "3",
        "--max-turns",
        "6",
    ]
    command += ["--workers", "1", "--id", "a-v0"]
    (tmp_path / "waiting.py").write_text(WAITING)
    monkeypatch.syspath_prepend(tmp_path)
    made = tmp_path / "cut" / "parquet" / "00001.parquet"
    with running(
        "-m",
        "skyenv",
        *command,
        "-o",
        tmp_path / "cut",
        environment={"PYTHONPATH": str(tmp_path), "WAIT_FOR": str(made)},
    ) as process:
        wait_until(made.exists, process)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate()
    assert not (tmp_path / "cut" / "dataset.json").exists()
    assert {path.name for path in made.parent.glob("[0-9]*")} == {"00000.parquet", "00001.parquet"}
    assert process.returncode == INTERRUPTED
    assert complaint.splitlines()[-1] == "dataset: error: interrupted; the same command goes on"
    request.getfixturevalue("in_this_process")
    for place in ("cut", "whole"):
        assert cli.main([*command, "-o", str(tmp_path / place)]) == 0
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"observation": "codes"}, 'observation was "scaled", is "codes"'),
        ({"formats": ("parquet",)}, r'formats was \["parquet", "minari"\], is \["parquet"\]'),
        ({"source": matches(players=3, games=7, seed=4)}, "seed was 3, is 4"),
        ({"source": matches(players=3, games=5)}, "games was 7, is 5"),
    ],
)
def test_another_dataset_needs_another_folder(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write(plan(), tmp_path)
    with locked(tmp_path), pytest.raises(FolderInUseError):
        write(plan(), tmp_path)
    with pytest.raises(
        DatasetError, match=f"holds another dataset: {message}.*; choose another folder"
    ):
        write(plan(**change), tmp_path)


@pytest.mark.usefixtures("in_this_process")
def test_damaged_and_foreign_files_are_one_error(tmp_path: Path) -> None:
    whole = contents(write(plan(), tmp_path))
    for name in ("parquet/00001.parquet", "minari/some/b-v1/data/00001.hdf5"):
        path = tmp_path / name
        for content, message in (
            (b"", "is damaged: .*; remove it, and it is made anew"),
            (
                whole[name][: len(whole[name]) // 2],
                "is damaged: .*; remove it, and it is made anew",
            ),
            (whole[name.replace("00001", "00002")], "is of another dataset"),
        ):
            path.write_bytes(content)
            with pytest.raises(DatasetError, match=rf"^{path} {message}"):
                write(plan(), tmp_path)
        path.unlink()
        assert contents(write(plan(), tmp_path)) == whole
    config = tmp_path / "config.json"
    for text in (whole["config.json"].replace(b'"reward": "o', b'"reward": "O'), b"{", b"[]"):
        config.write_bytes(text)
        with pytest.raises(DatasetError, match=rf"^{config} is damaged or of something else"):
            write(plan(), tmp_path)
    config.unlink()
    with pytest.raises(DatasetError, match=r"holds games but no config\.json"):
        write(plan(), tmp_path)


@pytest.mark.usefixtures("in_this_process")
def test_games_of_agents_tell_what_environment_they_are_of(tmp_path: Path) -> None:
    def told(**options: Any) -> dict[str, Any]:
        made = plan(formats=("minari",), dataset_id="x-v0", **options)
        write(made, tmp_path / str(len(list(tmp_path.iterdir()))))
        content = (
            sorted(tmp_path.iterdir())[-1] / "minari" / "x-v0" / "data" / "metadata.json"
        ).read_bytes()
        metadata: dict[str, Any] = json.loads(content)
        return metadata

    assert "env_spec" not in told(episodes="table")
    one = told(source=matches("random", "hoard", players=3, games=2))
    assert json.loads(one["env_spec"])["kwargs"] == {
        "num_players": 3,
        "side": "front",
        "max_turns": 6,
        "reward": "outcome",
        "observation": "scaled",
    }
    assert one["algorithm_name"] == "hoard, random"
