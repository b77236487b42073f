"""Games to write: drawn among agents, of records, of tournaments; and one clear error for anything
else.
"""

from __future__ import annotations

import json
import re
import signal
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from datasets import matches
from hypothesis import given, settings
from hypothesis import strategies as st

from processes import inline
from skyenv.arena import tournament
from skyenv.arena.folder import Folder, line_of
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Tournament
from skyenv.dataset.sources import Records, draw_seats, of_tournament, sources_of
from skyenv.dataset.trajectories import Trajectories
from skyenv.engine.game import Game
from skyenv.errors import AgentError, DatasetError, OptionError, RecordError
from skyenv.seeds import LADDERS

# ---- agents ----


def test_seats_are_drawn_evenly_and_more_games_begin_with_the_same() -> None:
    seats = draw_seats(3, 4, 2500, 7)
    assert seats.shape == (2500, 4)
    assert np.array_equal(seats[:1200], draw_seats(3, 4, 1200, 7))
    assert not np.array_equal(seats, draw_seats(3, 4, 2500, 8))
    shares = np.stack([(seats == agent).mean(axis=0) for agent in range(3)])
    assert np.abs(shares - 1 / 3).max() < 0.05


def test_agents_are_told_apart_by_their_names() -> None:
    with pytest.raises(OptionError, match="two agents are called random"):
        matches("random", "random")


def test_an_agent_that_raises_keyboard_interrupt_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(self: object, decisions: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skyenv.agents.simple.CrowdAgent.act", act)
    source = matches("random", "crowd")
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)  # as in a worker
    with pytest.raises(AgentError, match=r"^agent crowd raised KeyboardInterrupt$"):
        source.trajectories(0, 5, "outcome")
    monkeypatch.undo()
    monkeypatch.setattr("skyenv.agents.simple.CrowdAgent.act", act)
    with pytest.raises(KeyboardInterrupt):
        source.trajectories(0, 5, "outcome")


# ---- records ----


def record_of(
    kept: Trajectories,
    number: int,
    max_turns: int,
    *,
    actions: int | None = None,
    named: bool = True,
) -> str:
    """The record of one of the games, or of its beginning."""
    players = int(kept.players[number])
    game = Game(players, kept.sides[number], int(kept.seeds[number]), max_turns=max_turns)
    for row in np.flatnonzero(kept.game == number)[:actions]:
        game.play(int(kept.action[row]))
    return game.to_record(kept.agents[number] if named else None)


def assert_same(one: Trajectories, other: Trajectories) -> None:
    for field in fields(Trajectories):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        same = (
            np.array_equal(mine, theirs)
            if isinstance(mine, np.ndarray)
            else list(map(list, mine)) == list(map(list, theirs))
        )
        assert same, field.name


@pytest.mark.parametrize(
    ("players", "side", "reward"),
    [(2, "front", "outcome"), (3, "back", "margin"), (4, "front", "points")],
)
def test_a_record_gives_what_its_games_gave(
    players: int, side: str, reward: str, tmp_path: Path
) -> None:
    kept = matches("random", "crowd", players=players, side=side, games=4).trajectories(
        0, 4, reward
    )
    (tmp_path / "b.jsonl").write_text(
        "".join(record_of(kept, number, 6) for number in (2, 3)), encoding="utf-8"
    )
    (tmp_path / "a.jsonl").write_text(
        "".join(record_of(kept, number, 6) for number in (0, 1)), encoding="utf-8"
    )
    (source,) = sources_of([tmp_path])
    assert source.games == 4
    assert_same(source.trajectories(0, 4, reward), kept)
    assert source.trajectories(2, 3, reward).seeds.tolist() == [kept.seeds[2]]
    assert_same(source.part(1, 3).trajectories(0, 2, reward), source.trajectories(1, 3, reward))
    assert source.part(3, 4).files == (tmp_path / "b.jsonl",)  # type: ignore[attr-defined]
    assert source.about() == sources_of([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])[0].about()
    assert source.about() != sources_of([tmp_path / "b.jsonl", tmp_path / "a.jsonl"])[0].about()


def test_chance_from_outside_has_no_seed_and_names_may_be_missing(tmp_path: Path) -> None:
    kept = matches(games=1).trajectories(0, 1, "outcome")
    lines = record_of(kept, 0, 6, named=False).replace(
        f'"seed": {kept.seeds[0]}', '"seed": null', 1
    )
    (tmp_path / "game.jsonl").write_text(lines, encoding="utf-8")
    again = sources_of([tmp_path / "game.jsonl"])[0].trajectories(0, 1, "outcome")
    assert again.seeds.tolist() == [-1]
    assert again.agents == [None]
    assert np.array_equal(again.codes, kept.codes)


def test_names_that_hdf5_cannot_hold_are_told_with_file_and_line(tmp_path: Path) -> None:
    kept = matches("random", "crowd", games=2).trajectories(0, 2, "outcome")
    lines = (record_of(kept, 0, 6) + record_of(kept, 1, 6, named=False)).splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if number and '"format"' in line)
    lines[second] = lines[second].replace('"agents": null', r'"agents": ["a\u0000b", "c"]')
    path = tmp_path / "game.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(
        DatasetError, match=rf"^{path}: line {second + 1}: an agent's name has a null byte in it$"
    ):
        sources_of([path])


def test_games_without_an_end_are_left_out(tmp_path: Path) -> None:
    kept = matches(games=3).trajectories(0, 3, "outcome")
    texts = [
        record_of(kept, 0, 6),
        record_of(kept, 1, 6, actions=5),
        record_of(kept, 2, 6),
        record_of(kept, 1, 6, actions=0),
    ]
    (tmp_path / "games.jsonl").write_text("".join(texts), encoding="utf-8")
    source = Records.of([tmp_path / "games.jsonl"])
    assert (source.games, source.unfinished) == (2, 2)
    assert source.trajectories(0, 2, "outcome").seeds.tolist() == kept.seeds[[0, 2]].tolist()


def test_a_mistake_is_told_with_file_and_line(tmp_path: Path) -> None:
    kept = matches(games=2).trajectories(0, 2, "outcome")
    lines = (record_of(kept, 0, 6) + record_of(kept, 1, 6)).splitlines()
    second = next(number for number, line in enumerate(lines) if number and '"format"' in line)
    path = tmp_path / "games.jsonl"
    lines[second + 2] = lines[second + 2].replace('"seat": ', '"seat": 1')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = Records.of([path])
    assert len(source.trajectories(0, 1, "outcome").players) == 1
    with pytest.raises(RecordError, match=rf"^{path}: line {second + 3}: ") as caught:
        source.trajectories(0, 2, "outcome")
    assert caught.value.line == second + 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00\x9f",
        b"hello\n",
        b"[]\n",
        b'{"format": 1}\n',
        b'"format"\n',
        b'\n{"format"\n',
    ],
)
def test_a_foreign_file_is_one_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(RecordError, match=r"^.*x\.jsonl: line 1: "):
        sources_of([tmp_path / "x.jsonl"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A record of two games, and a path to write others to."""
    kept = matches(games=2, max_turns=2).trajectories(0, 2, "outcome")
    return tmp_path_factory.mktemp("records") / "x.jsonl", (
        record_of(kept, 0, 2) + record_of(kept, 1, 2)
    ).encode()


@settings(max_examples=60)
@given(st.data())
def test_damage_is_one_error_or_makes_no_difference(
    whole: tuple[Path, bytes], data: st.DataObject
) -> None:
    path, content = whole
    place = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255))
    path.write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
    told = ""
    try:
        source = Records.of([path])
        for game in range(source.games):
            assert len(source.trajectories(game, game + 1, "outcome")) > 0
    except RecordError as error:
        told = str(error)
    assert told == "" or re.match(rf"{path}: line \d+: [^\n]+$", told)


def test_a_part_has_its_games_alone() -> None:
    source = matches(games=6)
    assert_same(source.part(2, 5).trajectories(0, 3, "margin"), source.trajectories(2, 5, "margin"))
    assert source.part(2, 5).games == 3


# ---- tournaments ----


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a small tournament."""
    tournament.player_of.cache_clear()
    monkeypatch.setattr(tournament, "run_units", inline)
    wanted = Settings(
        entrants(["random", "crowd", "hoard"], 3), 3, "back", seed=5, max_turns=6, secret=9
    )
    with Folder(tmp_path / "ladder", wanted) as folder:
        Tournament(folder, paired_seeds=2).run()
    return tmp_path / "ladder"


def games_of(path: Path) -> list[dict[str, object]]:
    return [
        game
        for line in (path / "games.jsonl").read_text().splitlines()
        if "seats" in (game := json.loads(line))
    ]


def test_a_tournament_is_played_once_more(played: Path) -> None:
    (source,) = sources_of([played])
    games = games_of(played)
    assert source.games == len(games) > 6
    kept = source.trajectories(0, len(games), "outcome")
    assert kept.scores[:, :3].tolist() == [game["scores"] for game in games]
    assert kept.shares[:, :3].tolist() == [game["shares"] for game in games]
    assert all(int(seed) in LADDERS for seed in kept.seeds)
    names = ["random", "crowd", "hoard"]
    assert kept.agents == [[names[index] for index in game["seats"]] for game in games]  # type: ignore[attr-defined]
    assert len(sources_of([played, played])) == 2


def test_games_that_agents_play_otherwise_now_are_refused(played: Path) -> None:
    games = games_of(played)
    games[3]["decisions"] = 7
    content = b"".join(
        line_of({name: value for name, value in game.items() if name != "crc32"}) for game in games
    )
    (played / "games.jsonl").write_bytes(content)
    source = of_tournament(played)
    source.trajectories(0, 3, "outcome")
    source.part(4, 6).trajectories(0, 2, "outcome")
    with pytest.raises(DatasetError, match=r"otherwise than they did then"):
        source.part(3, 4).trajectories(0, 1, "outcome")
    with pytest.raises(
        DatasetError, match=r"ladder: .* play paired seed \d otherwise than they did then"
    ):
        source.trajectories(0, 4, "outcome")


def test_an_agent_that_has_changed_is_found_out(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skyenv.agents.simple.CrowdAgent.version", "2")
    with pytest.raises(DatasetError, match="crowd is another one than played then"):
        of_tournament(played)


def test_damaged_and_foreign_folders_are_one_error(played: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds neither records"):
        sources_of([tmp_path])
    lines = (played / "games.jsonl").read_bytes()
    (played / "games.jsonl").write_bytes(lines.replace(b'"turns":', b'"turnz":', 1))
    with pytest.raises(
        DatasetError, match=r"games\.jsonl: line 1 is no game: .*; the file is damaged"
    ):
        sources_of([played])
    (played / "games.jsonl").write_bytes(b"")
    with pytest.raises(DatasetError, match="has no finished game"):
        sources_of([played])
    (played / "config.json").write_text("{}")
    with pytest.raises(DatasetError, match=r"config\.json is damaged"):
        sources_of([played])
