"""Trajectories of games, decision by decision, and as Parquet files; their sources: matches and
records.
"""

import io
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
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
from skyenv.dataset.sources import Records, Trajectories
from skyenv.engine.game import Game
from skyenv.engine.observation import OBSERVATION_SIZE, SCALE
from skyenv.engine.results import results
from skyenv.errors import DatasetError, RecordError
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


# ---- sources: matches and records ----


def test_seatings_are_uniform_and_extend_those_of_fewer_games() -> None:
    source = matches(players=4, games=2500)
    seats = source.seating()
    assert seats.shape == (2500, 4)
    assert np.array_equal(seats[:1200], matches(players=4, games=1200).seating())
    assert np.array_equal(seats[1990:2010], source.part(range(1990, 2010)).seating())
    assert not np.array_equal(seats, matches(players=4, games=2500, seed=4).seating())
    shares = np.stack([(seats == agent).mean(axis=0) for agent in range(3)])
    assert np.abs(shares - 1 / 3).max() < 0.05


def record_of(
    kept: Trajectories,
    number: int,
    max_turns: int,
    *,
    actions: int | None = None,
    named: bool = True,
) -> str:
    """Return the record of a game, or of its beginning."""
    players = int(kept.players[number])
    game = Game(players, kept.sides[number], int(kept.seeds[number]), max_turns=max_turns)
    for row in np.flatnonzero(kept.game == number)[:actions]:
        game.play(int(kept.action[row]))
    return game.to_record(kept.agents[number] if named else None)


@pytest.mark.parametrize(
    ("players", "side", "reward"), [(2, "front", "outcome"), (3, "back", "margin")]
)
def test_records_give_the_trajectories_of_their_games(
    players: int, side: str, reward: str, tmp_path: Path
) -> None:
    kept = matches("random", "crowd", players=players, side=side, games=4).trajectories(reward)
    texts, files = [record_of(kept, number, 6) for number in range(4)], []
    for name, part in (("a", texts[:2]), ("b", texts[2:])):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(part), encoding="utf-8")
    source = Records.of([tmp_path])
    assert source.games == 4
    again = source.trajectories(reward)
    for field in fields(Trajectories):
        mine, theirs = (np.asarray(getattr(one, field.name)) for one in (again, kept))
        assert np.array_equal(mine, theirs), field.name
    assert source.part(range(2, 3)).trajectories(reward).seeds.tolist() == [kept.seeds[2]]
    assert source.part(range(3, 4)).places[0][0] == files[1]
    assert source.about() == Records.of(files).about() != Records.of(files[::-1]).about()


def test_unfinished_games_are_skipped_and_missing_seeds_and_names_allowed(
    tmp_path: Path,
) -> None:
    kept, path = matches(games=3).trajectories("outcome"), tmp_path / "games.jsonl"
    nameless = record_of(kept, 2, 6, named=False)
    texts = [
        record_of(kept, 0, 6),
        record_of(kept, 1, 6, actions=5),
        nameless.replace(f'"seed": {kept.seeds[2]}', '"seed": null', 1),
        record_of(kept, 1, 6, actions=0),
    ]
    path.write_text("".join(texts), encoding="utf-8")
    source = Records.of([path])
    assert (source.games, source.unfinished) == (2, 2)
    again = source.trajectories("outcome")
    assert again.seeds.tolist() == [kept.seeds[0], -1]
    assert again.agents == [kept.agents[0], None]
    assert np.array_equal(again.codes, kept.codes[kept.game != 1])


def test_an_invalid_record_is_reported_with_file_and_line(tmp_path: Path) -> None:
    """Also names that HDF5 can't store."""
    kept = matches(games=2).trajectories("outcome")
    texts = [record_of(kept, number, 6, named=False) for number in range(2)]
    path, second = tmp_path / "games.jsonl", texts[0].count("\n") + 1
    path.write_text(texts[0] + texts[1].replace('"seat": ', '"seat": 1', 1), encoding="utf-8")
    source = Records.of([path])
    assert len(source.part(range(1)).trajectories("outcome").players) == 1
    with pytest.raises(RecordError, match=rf"^{path}: line {second + 2}: ") as caught:
        source.trajectories("outcome")
    assert caught.value.line == second + 2
    null = texts[1].replace('"agents": null', r'"agents": ["a\u0000b", "c"]')
    path.write_text(texts[0] + null, encoding="utf-8")
    message = rf"^{path}: line {second}: an agent's name contains a null byte$"
    with pytest.raises(RecordError, match=message):
        Records.of([path]).trajectories("outcome")


TASK = Game(task="duel-3", seed=1).to_record().encode()


@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        ({"x.jsonl": b""}, RecordError, r"^.*x\.jsonl: line 1: "),
        ({"x.jsonl": b'\n{"format"\n'}, RecordError, r"^.*x\.jsonl: line 1: "),
        ({"x.jsonl": TASK}, RecordError, r"x\.jsonl: line 1: a task's record; .* whole games"),
        ({}, DatasetError, "has no records"),
        ({"config.json": b"", "games.jsonl": b""}, DatasetError, "a tournament's folder"),
    ],
)
def test_folders_without_records_are_refused(
    files: dict[str, bytes], error: type[Exception], message: str, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=message):
        Records.of([tmp_path])
