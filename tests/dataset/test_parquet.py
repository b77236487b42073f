"""Parquet files agree with the trajectories."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from small_datasets import matches

from skyenv.dataset.formats import parquet_bytes
from skyenv.engine.observation import OBSERVATION_SIZE, SCALE


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
