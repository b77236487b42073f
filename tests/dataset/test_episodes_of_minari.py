"""Minari datasets agree with the trajectories."""

from pathlib import Path
from typing import Any

import h5py
import minari
import numpy as np
import pytest
from minari import MinariDataset
from small_datasets import matches, write

from skyenv.dataset.folder import Plan
from skyenv.engine.observation import SCALE
from skyenv.envs.spaces import observation_space

pytestmark = pytest.mark.usefixtures("in_this_process")


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
