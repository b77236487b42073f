"""A dataset's folder: reproducible shards, repairs, refused folders, the command; and Minari's
format.
"""

import json
from pathlib import Path
from typing import Any

import h5py
import minari
import numpy as np
import pytest
from minari import MinariDataset
from pyarrow import parquet as pq
from small_datasets import matches, write

from processes import contents, main_of
from skyenv.console.options import BAD_COMMAND, BAD_DATA
from skyenv.dataset.folder import Plan
from skyenv.engine.observation import SCALE
from skyenv.envs.spaces import observation_space
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


# ---- Minari's format agrees with the trajectories ----


def loaded(
    path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[MinariDataset, Plan]:
    """Return a dataset of three shards as loaded by Minari."""
    source = options.pop("source", matches(games=5))
    plan = Plan(source, ("minari",), shard_games=2, dataset_id="skyenv/short/games-v3", **options)
    write(plan, path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(path / "minari"))
    return minari.load_dataset("skyenv/short/games-v3"), plan


def test_each_seat_of_a_game_is_an_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment comes back with the spaces of the data."""
    dataset, plan = loaded(tmp_path, monkeypatch, reward="margin")
    env = dataset.recover_environment(opponents="greedy")
    space = observation_space()
    assert env.observation_space == dataset.observation_space == space
    assert env.action_space == dataset.action_space
    assert space.contains(env.reset(seed=1)[0])
    whole = plan.source.trajectories("margin")
    assert (dataset.total_episodes, dataset.total_steps) == (10, len(whole))
    for number, episode in enumerate(dataset):
        game, seat = divmod(number, 2)
        rows = (whole.game == game) & (whole.seat == seat)
        assert np.array_equal(episode.observations[:-1], whole.codes[rows] * SCALE)
        assert np.array_equal(episode.observations[-1], whole.last[game, seat] * SCALE)
        assert np.array_equal(episode.actions, whole.action[rows])
        assert np.array_equal(episode.rewards, whole.reward()[rows])
        assert np.array_equal(episode.infos["action_mask"], [*whole.mask[rows], np.zeros(103)])
        assert not episode.terminations.any()
        assert episode.truncations.tolist() == [False] * (len(episode) - 1) + [True]
        assert all(map(space.contains, episode.observations))
        about = next(iter(dataset.storage.get_episode_metadata([number])))
        names = list(whole.agents[game] or ())
        assert (about["seat"], about["agent"], list(about["agents"])) == (seat, names[seat], names)
        assert about["seed"] == whole.seeds[game]
        assert (about["own_vp"], about["win_share"]) == (
            whole.scores[game, seat],
            whole.shares[game, seat],
        )
        assert about["game"] == number // 2
        assert about["end_reason"] == "truncated"
        assert about["total_steps"] == rows.sum() == len(episode)


def test_minari_lists_datasets_and_detects_flipped_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, plan = loaded(tmp_path, monkeypatch)
    assert list(minari.list_local_datasets()) == ["skyenv/short/games-v3"]
    path = plan.files(tmp_path, plan.shards()[0])["minari"]
    with h5py.File(path, "r") as file:
        place = file["0/observations"].id.get_chunk_info(0).byte_offset
    content = bytearray(path.read_bytes())
    content[place + 5] ^= 16
    path.write_bytes(content)
    with pytest.raises(OSError, match="filter"):
        dataset[0]
    dataset[2]


@pytest.mark.parametrize(("reward", "score"), [("outcome", 0.5), ("points", None)])
def test_scores_are_normalized_if_reference_scores_are_known(
    reward: str, score: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, _ = loaded(tmp_path, monkeypatch, reward=reward)
    if score is None:
        with pytest.raises(ValueError, match="Reference score not provided"):
            minari.get_normalized_score(dataset, 0.5)
    else:
        assert minari.get_normalized_score(dataset, 0.5) == score
