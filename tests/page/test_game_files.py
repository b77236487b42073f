"""Games in files, found without being replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from folders import make_tournament, record_of
from pages import played

from skyenv.errors import CheckpointError, RecordError
from skyenv.files import writing
from skyenv.page.game_files import (
    RECORD,
    TOURNAMENT,
    FoundGame,
    Place,
    files_in,
    kind_of,
    leads,
    one_line,
    played_in,
    read_games,
)


def found(
    path: Path, kind: str = RECORD, place: Place | None = None, most: int = 1000
) -> list[int]:
    return [game.number for game in read_games(path, kind, place or Place(), most).games]


def test_a_game_is_told_as_it_was_played(tmp_path: Path) -> None:
    game = played(3, seed=4, side="back")
    outcome = game.outcome
    assert outcome is not None
    path = tmp_path / "games.jsonl"
    path.write_text(game.to_record(["crowd", "b\n\x1b[31m", "x" * 100]), encoding="utf-8")
    (told,) = read_games(path, RECORD, Place(), 10).games
    assert (told.players, told.side, told.number, told.start, told.line) == (3, "back", 1, 0, 1)
    assert told.length == path.stat().st_size
    assert told.agents == ("crowd", "b  [31m", "x" * 59 + "…")
    assert told.actions == int(game.state["decisions"])
    assert (told.scores, told.winners, told.ending) == (
        outcome.scores,
        outcome.winners,
        outcome.reason,
    )
    assert told.margin == sorted(outcome.scores)[2] - sorted(outcome.scores)[1]
    assert game.turn <= told.turns <= game.turn + 1  # the last turn may have been cut short


def test_the_biggest_swing_is_that_of_the_leads_in_play(tmp_path: Path) -> None:
    game = played(seed=6)
    path = tmp_path / "games.jsonl"
    path.write_text(game.to_record(), encoding="utf-8")
    (told,) = read_games(path, RECORD, Place(), 10).games
    first, swing, step, actions = 0, 0, None, 0
    for event in game.events:
        actions += event["event"] == "action"
        if event["event"] == "vp" and event["why"] not in ("final", "park"):
            change = abs(
                event["vp"][0] - event["vp"][1]
            )  # with two players both leads change by the same
            first += event["vp"][0] - event["vp"][1]
            if change > swing:
                swing, step = change, actions
    assert swing > 0
    assert (told.swing, told.swing_step) == (swing, step)


def test_leads() -> None:
    assert leads([5, 3, 9]) == [-4, -6, 4]
    assert leads([7, 7]) == [0, 0]


def test_unfinished_and_truncated_games_say_so(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(
        record_of(1, actions=50) + record_of(2, turns=3) + record_of(3, actions=0), encoding="utf-8"
    )
    games = read_games(path, RECORD, Place(), 10).games
    assert [game.ending for game in games] == ["unfinished", "truncated", "unfinished"]
    assert [game.actions for game in games][::2] == [50, 0]
    assert games[0].winners == () != games[1].winners


def test_what_is_damaged_costs_its_game_alone(tmp_path: Path) -> None:
    records = [record_of(seed).splitlines() for seed in range(1, 6)]
    records[1][30] = records[1][30][:-5]
    records[2][0] = records[2][0].replace('"players": 2', '"players": 9')
    records[3].append('{"event": "shuffle"}')
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(line for lines in records for line in lines) + "\n", encoding="utf-8")
    reading = read_games(path, RECORD, Place(), 100)
    assert [game.number for game in reading.games] == [1, 4, 5]
    assert reading.skipped == 3
    assert reading.complaint == f"line {len(records[0]) + 31}: not JSON"
    assert reading.seen == path.stat().st_size
    content = path.read_bytes()
    for game, lines in zip(reading.games, (records[0], records[3][:-1], records[4]), strict=True):
        assert content[game.start : game.start + game.length].decode().splitlines() == lines


@pytest.mark.parametrize(
    "junk",
    [
        b"\xff\xfe\n",
        b"[1]\n",
        b"[" * 60_000 + b"\n",
        b"x" * 200_000 + b"\n",
        b'{"format": 7}\n',
        b"\n",
        b"9" * 5000 + b"\n",
    ],
)
def test_junk_between_games_is_skipped(junk: bytes, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(record_of(1).encode() + junk + record_of(2).encode())
    reading = read_games(path, RECORD, Place(), 10)
    assert [game.scores for game in reading.games] == [
        tuple(played(seed=seed).scores) for seed in (1, 2)
    ]
    assert reading.skipped == 1
    assert reading.complaint.startswith("line ")


@pytest.mark.parametrize("cut", [1, 10, 200, 3000])
def test_a_file_that_grows_is_read_on_as_if_it_had_been_whole(cut: int, tmp_path: Path) -> None:
    content = (record_of(1) + record_of(2) + record_of(3)).encode()
    path = tmp_path / "games.jsonl"
    place = Place()
    games: dict[int, FoundGame] = {}
    for end in (*range(0, len(content), len(content) // 7), len(content) - cut, len(content)):
        path.write_bytes(content[:end])
        reading = read_games(path, RECORD, place, 1000)
        games = {key: game for key, game in games.items() if game.start < place.offset}
        games |= {game.number: game for game in reading.games}
        place = reading.next
        assert reading.skipped == 0
    assert list(games.values()) == read_games(path, RECORD, Place(), 1000).games
    assert [game.number for game in games.values()] == [1, 2, 3]


def test_games_are_read_some_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("".join(record_of(seed) for seed in range(5)), encoding="utf-8")
    place, numbers = Place(), []
    for _ in range(4):
        reading = read_games(path, RECORD, place, 2)
        numbers += [game.number for game in reading.games]
        place = reading.next
    assert numbers == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_a_tournaments_folder_tells_its_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_tournament(tmp_path / "t", players=3)
    path = folder / "games.jsonl"
    with open(path, "rb") as stream:
        assert kind_of(stream) == TOURNAMENT
    reading = read_games(path, TOURNAMENT, Place(), 1000)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [line for line in lines if "seats" in line]
    names = [agent["name"] for agent in json.loads((folder / "config.json").read_text())["agents"]]
    assert [(game.agents, game.scores, game.turns, game.actions) for game in reading.games] == [
        (
            tuple(names[seat] for seat in line["seats"]),
            tuple(line["scores"]),
            line["turns"],
            line["decisions"],
        )
        for line in kept
    ]
    assert {game.players for game in reading.games} == {3}
    content = path.read_bytes()
    for game, line in zip(reading.games, kept, strict=True):
        again = played_in(folder, content[game.start : game.start + game.length])
        assert (tuple(agent.name for agent in again.agents), again.seed) == (
            game.agents,
            1 + line["paired_seed"],
        )
        assert (again.secret, again.scores) == (5, game.scores)


@pytest.mark.long
def test_a_damaged_tournament_tells_what_is_whole_and_no_path(tmp_path: Path) -> None:
    folder = make_tournament(tmp_path / "t")
    path = folder / "games.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    number = next(at for at, line in enumerate(lines) if b'"seats"' in line)
    path.write_bytes(
        b"".join([*lines[:number], lines[number].replace(b"[0,1]", b"[1,0]"), *lines[number + 1 :]])
    )
    reading = read_games(path, TOURNAMENT, Place(), 1000)
    assert len(reading.games) == sum(b'"seats"' in line for line in lines) - 1
    assert "checksum" in reading.complaint
    with pytest.raises(RecordError):
        played_in(folder, lines[number].replace(b"[0,1]", b"[1,0]"))
    for content in ("{", '{"format": 1}', "{}"):
        (folder / "config.json").write_text(content)
        with pytest.raises(CheckpointError, match=r"config\.json") as raised:
            read_games(path, TOURNAMENT, Place(), 1000)
        assert str(tmp_path) not in str(raised.value)


@pytest.mark.parametrize("content", [b"hello\n", b'{"update": 1}\n', b"\x00\x01\x02" * 40_000])
def test_other_files_hold_no_games(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    with open(path, "rb") as stream, pytest.raises(RecordError, match="line 1"):
        kind_of(stream)


def test_an_empty_file_holds_nothing_yet(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(b'{"format": "skyenv-re')
    with open(path, "rb") as stream:
        assert kind_of(stream) is None


def test_folders_are_walked_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "secret.jsonl"
    outside.write_text("x")
    inside = tmp_path / "games"
    for name in ("b/2.jsonl", "a/1.jsonl", "a/curve.jsonl", "notes.txt"):
        (inside / name).parent.mkdir(parents=True, exist_ok=True)
        (inside / name).write_text("x")
    (inside / "link.jsonl").symlink_to(outside)
    (inside / "folder").symlink_to(tmp_path)
    assert list(files_in(inside)) == [inside / "a/1.jsonl", inside / "b/2.jsonl"]
    assert list(files_in(inside / "notes.txt")) == [inside / "notes.txt"]
    assert list(files_in(tmp_path / "nowhere")) == []


def test_a_file_has_no_games_before_it_has_its_name(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with writing(path) as stream:
        stream.write(b"{}")
        stream.flush()
        assert [one.suffix for one in tmp_path.iterdir()] == [".jsonl"]
        assert list(files_in(tmp_path)) == []
    assert list(files_in(tmp_path)) == [path]


def test_texts_of_files_become_one_line() -> None:
    assert one_line("a\u202eb\nc\x00d", 80) == "a b c d"
    assert one_line("abcdef", 4) == "abc…"
