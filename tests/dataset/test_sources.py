"""Sources of datasets: matches and records."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from small_datasets import matches

from skyenv.dataset.sources import Records, Trajectories
from skyenv.engine.game import Game
from skyenv.errors import DatasetError, RecordError

# ---- agents ----


def test_seatings_are_uniform_and_extend_those_of_fewer_games() -> None:
    source = matches(players=4, games=2500)
    seats = source.seating()
    assert seats.shape == (2500, 4)
    assert np.array_equal(seats[:1200], matches(players=4, games=1200).seating())
    assert np.array_equal(seats[1990:2010], source.part(range(1990, 2010)).seating())
    assert not np.array_equal(seats, matches(players=4, games=2500, seed=4).seating())
    shares = np.stack([(seats == agent).mean(axis=0) for agent in range(3)])
    assert np.abs(shares - 1 / 3).max() < 0.05


# ---- records ----


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
