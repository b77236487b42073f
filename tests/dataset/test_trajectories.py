"""Trajectories of games, decision by decision, and as Parquet files."""

import io
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet as pq
from small_datasets import matches

from skyenv.dataset.formats import parquet_bytes
from skyenv.dataset.sources import Trajectories
from skyenv.engine.game import Game
from skyenv.engine.observation import OBSERVATION_SIZE, SCALE
from skyenv.engine.results import results
from skyenv.rules.state import END_REASONS
from skyenv.seeds import DATASETS


@pytest.mark.parametrize(("players", "side", "max_turns"), [(2, "front", 500), (3, "back", 9)])
def test_trajectories_replay_to_the_games_of_their_seeds(
    players: int, side: str, max_turns: int
) -> None:
    source = matches("random", "crowd", players=players, side=side, games=3, max_turns=max_turns)
    kept = source.trajectories("outcome")
    row = 0
    for number in range(3):
        assert int(kept.seeds[number]) in DATASETS
        assert list(kept.agents[number] or ()) == [
            ("random", "crowd")[index] for index in source.seating()[number]
        ]
        game = Game(players, side, int(kept.seeds[number]), max_turns=max_turns)
        while game.seat is not None:
            assert (kept.game[row], kept.seat[row]) == (number, game.seat)
            assert np.array_equal(kept.mask[row], game.mask)
            assert np.array_equal(kept.codes[row] * SCALE, game.observation())
            assert (
                np.array_equal(kept.rewards[row - 1], np.zeros(4)) or kept.game[row - 1] != number
            )
            game.play(int(kept.action[row]))
            row += 1
        assert np.array_equal(kept.scores[number, :players], game.scores)
        assert np.array_equal(kept.shares[[number]], results(game.batch.state)[0])
        assert np.array_equal(kept.rewards[row - 1, :players], game.batch.reward[0])
        assert game.outcome is not None
        assert END_REASONS[kept.ends[number]] == game.outcome.reason
        assert (game.outcome.reason == "truncated") == (max_turns == 9)
        for seat in range(players):
            assert np.array_equal(kept.last[number, seat] * SCALE, game.observation(seat))
    assert row == len(kept)


# Of some games, who decides when.
ORDERS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=4)


@cache
def one_game() -> Trajectories:
    """To put other numbers into."""
    return matches(games=1).trajectories("outcome")


@given(ORDERS)
def test_rewards_and_ends_per_seat_agree_with_a_plain_loop(orders: list[list[int]]) -> None:
    number = len(orders)
    seat = np.array([seat for order in orders for seat in order])
    rng = np.random.default_rng(len(seat))
    kept = replace(
        one_game(),
        game=np.repeat(np.arange(number), [len(order) for order in orders]),
        seat=seat,
        rewards=rng.integers(-9, 9, size=(len(seat), 4)).astype(np.float32),
        players=np.full(number, 4),
    )
    step, summed, is_last = [], [], []
    for row in range(len(seat)):
        game = kept.game[row]
        step.append(sum(kept.game[:row] == game))
        later = [
            after
            for after in range(row + 1, len(seat))
            if kept.game[after] == game and seat[after] == seat[row]
        ]
        end = later[0] if later else max(np.flatnonzero(kept.game == game)) + 1
        summed.append(kept.rewards[row:end, seat[row]].sum())
        is_last.append(not later)
    assert kept.step().tolist() == step
    assert kept.reward().tolist() == summed
    assert kept.is_last().tolist() == is_last


def test_the_margin_is_relative_to_the_best_other_seat() -> None:
    kept = replace(
        one_game(),
        players=np.array([2, 4]),
        scores=np.array([[7, 9, 0, 0], [1, 5, 5, 2]]),
    )
    assert kept.margin().tolist() == [[-2, 2, 0, 0], [-4, 0, 0, -3]]


def table_of(trajectories: Any, *, first: int = 0) -> pa.Table:
    content = parquet_bytes(trajectories, first)
    return pq.read_table(io.BytesIO(content), page_checksum_verification=True)


def matrix(table: pa.Table, name: str) -> Any:
    return table[name].combine_chunks().flatten().to_numpy().reshape(len(table), -1)


def test_each_decision_is_a_row() -> None:
    kept = matches(players=4, side="back", games=3).trajectories("margin")
    table = table_of(kept, first=40)
    assert len(table) == len(kept)
    assert np.array_equal(matrix(table, "observation"), kept.codes * SCALE)
    assert np.array_equal(matrix(table, "mask"), kept.mask)
    whose = (kept.game, kept.seat)
    columns: dict[str, npt.NDArray[Any]] = {
        "game": kept.game + 40,
        "seed": kept.seeds[kept.game],
        "players": kept.players[kept.game],
        "step": kept.step(),
        "seat": kept.seat,
        "action": kept.action,
        "reward": kept.reward(),
        "last": kept.is_last(),
        "win_share": kept.shares[whose].astype(np.float32),
        "own_vp": kept.scores[whose],
        "margin": kept.margin()[whose],
    }
    for name, wanted in columns.items():
        assert np.array_equal(table[name].to_numpy(), wanted), name
    assert table["side"].to_pylist() == [kept.sides[game] for game in kept.game]
    assert set(table["end_reason"].to_pylist()) == {"truncated"}
    assert table["agent"].to_pylist() == [
        (kept.agents[game] or ())[seat] for game, seat in zip(kept.game, kept.seat, strict=True)
    ]


def test_column_types_are_those_of_the_docs() -> None:
    kept = matches(games=1).trajectories("outcome")
    schema = table_of(kept).schema
    assert schema.field("observation").type == pa.list_(
        pa.field("entry", pa.float32(), nullable=False), OBSERVATION_SIZE
    )
    assert schema.field("mask").type == pa.list_(pa.field("entry", pa.int8(), nullable=False), 103)
    words = pa.dictionary(pa.int32(), pa.string())
    assert {
        name: schema.field(name).type
        for name in schema.names
        if name not in ("observation", "mask")
    } == {
        "game": pa.int64(),
        "seed": pa.int64(),
        "players": pa.int8(),
        "side": words,
        "step": pa.int32(),
        "seat": pa.int8(),
        "agent": words,
        "action": pa.int16(),
        "reward": pa.float32(),
        "last": pa.bool_(),
        "end_reason": words,
        "win_share": pa.float32(),
        "own_vp": pa.int32(),
        "margin": pa.int32(),
    }


def test_unknown_values_are_null_and_flipped_bits_are_detected() -> None:
    kept = replace(matches(games=1).trajectories("outcome"), agents=[None], seeds=np.array([-1]))
    table = table_of(kept)
    assert table["agent"].null_count == table["seed"].null_count == len(kept)
    flipped = bytearray(parquet_bytes(kept, 0))
    flipped[len(flipped) // 3] ^= 4
    with pytest.raises(OSError, match="CRC"):
        pq.read_table(io.BytesIO(flipped), page_checksum_verification=True)
