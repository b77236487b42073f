"""Games to look through: what the index tells of files, filters, order, pages, and nothing but what
the page was started with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from folders import record_of
from pages import played

from skyenv import Game
from skyenv.errors import OptionError
from skyenv.files import writing
from skyenv.page import indexing
from skyenv.page.errors import PageError
from skyenv.page.indexing import bring_up_to_date, leads
from skyenv.page.library import PAGE, Library
from skyenv.page.roots import named, roots_of

Games = list[dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of several kinds, and files that are none."""
    folder = tmp_path_factory.mktemp("library") / "played"
    folder.mkdir()
    two = [record_of(seed, ["ann" if seed % 2 else "50%_off", "bob"]) for seed in range(6)]
    (folder / "two.jsonl").write_text("".join(two))
    three = [
        record_of(seed, ["bob", "ann", "cy"], players=3, side="back", turns=20) for seed in range(3)
    ]
    (folder / "deep").mkdir()
    (folder / "deep" / "three.jsonl").write_text("".join(three))
    (folder / "short.jsonl").write_text(record_of(9, ["ann", "ann"], actions=30))
    for name, content in {
        "curve.jsonl": '{"update": 1}\n',
        "results.jsonl": '{"paired_seed": 1, "seats": [0, 1]}\n',
        "notes.txt": two[0],
        "binary.jsonl": "\x00" * 200_000,
    }.items():
        (folder / name).write_text(content)
    (folder / "link.jsonl").symlink_to(folder / "two.jsonl")
    return folder


def indexed(folder: Path, *roots: Path) -> Library:
    """A library whose index, in a folder, is up to date."""
    library = Library(folder, roots_of(roots))
    update(library)
    return library


def update(library: Library) -> list[int]:
    """Bring the index up to date; how many bytes were told to be left, each time."""
    told: list[int] = []
    while not bring_up_to_date(library.path, library.roots, told.append):
        pass
    return told


@pytest.fixture(scope="module")
def library(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """All of it."""
    return indexed(tmp_path_factory.mktemp("index"), folder)


def search(library: Library, *asked: tuple[str, str]) -> Games:
    games: Games = library.search(asked)["games"]
    return games


@pytest.mark.parametrize(("players", "seed", "options"), [(2, 3, {}), (3, 4, {"side": "back"})])
def test_a_game_is_told_as_it_was_played(
    players: int, seed: int, options: dict[str, Any], tmp_path: Path
) -> None:
    game = played(players, seed=seed, **options)
    path = tmp_path / "games.jsonl"
    names = ["crowd", "b\n\x1b[31m", "x" * 100][:players]
    path.write_text(game.to_record(names), encoding="utf-8")
    (told,) = search(indexed(tmp_path, path))
    assert told["names"] == ["crowd", "b  [31m", "x" * 59 + "…"][:players]
    assert (told["players"], told["side"], told["number"]) == (players, game.side, 1)
    outcome = game.outcome
    assert outcome is not None
    assert (told["scores"], told["ending"]) == (game.scores, outcome.reason)
    assert told["winners"] == list(outcome.winners)
    first, second = sorted(game.scores, reverse=True)[:2]
    assert told["margin"] == first - second
    assert told["actions"] == game.state["decisions"]
    before, after = (
        leads(Game.from_record(game.to_record(), step=told["swing_step"] - ago).scores)
        for ago in (1, 0)
    )
    assert max(abs(now - then) for now, then in zip(after, before, strict=True)) == told["swing"]


FILTERS: list[tuple[list[tuple[str, str]], Callable[[dict[str, Any]], Any]]] = [
    ([("agent", "ann")], lambda game: "ann" in game["names"]),
    ([("agent", "ann"), ("agent", "bob")], lambda game: {"ann", "bob"} <= {*game["names"]}),
    ([("agent", ""), ("agent", "cy")], lambda game: "cy" in game["names"]),
    ([("winner", "bob")], lambda game: "bob" in [game["names"][w] for w in game["winners"]]),
    ([("players", "3")], lambda game: game["players"] == 3),
    ([("side", "back")], lambda game: game["side"] == "back"),
    ([("ending", "truncated")], lambda game: game["ending"] == "truncated"),
    ([("ending", "unfinished")], lambda game: game["ending"] == "unfinished"),
    ([("least_margin", "10"), ("most_margin", "30")], lambda game: 10 <= game["margin"] <= 30),
    ([("least_length", "100")], lambda game: game["actions"] >= 100),
    ([("least_swing", "1")], lambda game: game["swing"] >= 1),
    ([("text", "three")], lambda game: "three" in game["label"]),
    ([("text", "TWO ann")], lambda game: "two" in game["label"] and "ann" in game["names"]),
    ([("text", "50%_")], lambda game: "50%_off" in game["names"]),
    ([("agent", "ann"), ("players", "2")], lambda g: "ann" in g["names"] and g["players"] == 2),
]


@pytest.mark.parametrize(("asked", "fits"), FILTERS)
def test_filters(asked: list[tuple[str, str]], fits: Any, library: Library) -> None:
    every = search(library)
    wanted = [game for game in every if fits(game)]
    assert 0 < len(wanted) < len(every) == 10
    assert search(library, *asked) == wanted
    assert library.search(asked)["total"] == len(wanted)


@pytest.mark.parametrize(
    ("sort", "field"), [("length", "actions"), ("margin", "margin"), ("swing", "swing")]
)
def test_order(sort: str, field: str, library: Library) -> None:
    falling = [game[field] for game in search(library, ("sort", sort))]
    rising = [game[field] for game in search(library, ("sort", sort), ("order", "rising"))]
    assert falling == sorted(falling, reverse=True) != rising == sorted(rising)


def test_pages(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(record_of(1, actions=1) * (2 * PAGE + 1))
    library = indexed(tmp_path, tmp_path / "many.jsonl")
    pages = [library.search([("page", str(page))]) for page in (1, 2, 3, 99)]
    assert [(page["page"], page["pages"]) for page in pages] == [(1, 3), (2, 3), (3, 3), (3, 3)]
    numbers = [game["number"] for page in pages[:3] for game in page["games"]]
    assert numbers == list(range(1, 2 * PAGE + 2))


@pytest.mark.parametrize(
    ("name", "value"),
    [("players", "x"), ("least_margin", "-1"), ("most_length", "1e3"), ("page", "9" * 30)],
)
def test_what_cannot_be_asked_for_is_told(name: str, value: str, library: Library) -> None:
    with pytest.raises(PageError, match=name):
        library.search([(name, value)])


@pytest.mark.parametrize("text", ["'; DROP TABLE game; --", "\\", "\x00", "a" * 5000, '"'])
def test_any_text_may_be_asked_for(text: str, library: Library) -> None:
    for name in ("file", "agent", "winner", "side"):
        assert search(library, (name, text)) == []
    search(library, ("text", text))
    assert len(search(library)) == 10


def test_files_come_change_and_go_and_are_read_once(tmp_path: Path) -> None:
    games = tmp_path / "games"
    games.mkdir()
    (games / "a.jsonl").write_text(record_of(1) + record_of(2))
    library = indexed(tmp_path, games)

    def there() -> list[tuple[str, int, bool]]:
        return sorted(
            (g["label"], g["number"], g["ending"] != "unfinished") for g in search(library)
        )

    assert there() == [("games/a.jsonl", 1, True), ("games/a.jsonl", 2, True)]
    assert update(library) == [0]
    whole = record_of(3)
    with open(games / "a.jsonl", "a") as file:
        file.write(whole[:5000])
    (games / "b.jsonl").write_text(record_of(4))
    assert update(library)[0] == sum(file.stat().st_size for file in games.iterdir())
    assert there()[2:] == [("games/a.jsonl", 3, False), ("games/b.jsonl", 1, True)]
    assert library.state()["complaints"] == []  # it is being written
    with writing(games / "c.jsonl") as stream:
        stream.write(whole.encode())
        stream.flush()
        assert update(library) == [0]
    (games / "a.jsonl").unlink()
    update(library)
    assert there() == [("games/b.jsonl", 1, True), ("games/c.jsonl", 1, True)]


def test_a_long_reading_lets_other_jobs_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "TURN", -1.0)
    for name in "abc":
        (tmp_path / f"{name}.jsonl").write_text(record_of(1, actions=1))
    library = Library(tmp_path, roots_of([tmp_path]))
    assert not bring_up_to_date(library.path, library.roots, lambda left: None)
    assert len(search(library)) == 1
    update(library)
    assert len(search(library)) == 3


def test_damage_costs_its_game_and_is_told_without_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "MOST_RECORD", 100_000)
    games, good = tmp_path / "games", record_of(1, actions=5)
    games.mkdir()
    bad = record_of(2).replace('"vp": [', '"vp": [-1, ', 1)
    for name, content in {
        "bad": bad + good + "junk\n",
        "cut": good[: good.index("\n") + 1],
        "long": good + '{"event": "shuffle"}\n' * 6000 + good,
        os.fsdecode(b"\xff"): good + "x" * 70_000 + "\n" + good,
    }.items():
        (games / f"{name}.jsonl").write_text(content)
    state = indexed(tmp_path, games).state()
    told = dict(one.split(": ", 1) for one in state["complaints"])
    assert [*told] == ["games/ .jsonl", "games/bad.jsonl", "games/cut.jsonl", "games/long.jsonl"]
    assert (state["damaged"], state["games"]) == (4, 2)
    assert "longer than 65536" in told["games/ .jsonl"]
    assert told["games/bad.jsonl"].endswith("(and 1 more)")
    assert "line 2: the record ends" in told["games/cut.jsonl"]
    assert "line 1: a game of more than 100000 bytes" in told["games/long.jsonl"]
    assert str(tmp_path) not in json.dumps(state)


def test_the_state_tells_folders_and_agents(library: Library) -> None:
    state = library.state()
    assert (state["folders"], state["games"], state["damaged"]) == (["played"], 10, 0)
    assert state["agents"] == ["bob", "ann", "50%_off", "cy"]


def test_folders_have_an_index_of_their_own_for_this_user_alone(
    folder: Path, library: Library
) -> None:
    other = indexed(library.path.parent, folder / "deep")
    assert {game["label"] for game in search(other)} == {"deep/three.jsonl"}
    assert len(search(library)) == 10
    assert library.path.stat().st_mode & 0o077 == 0


def test_an_index_that_is_none_is_told(folder: Path, tmp_path: Path) -> None:
    library = Library(tmp_path, roots_of([folder]))
    library.path.write_text("something else, and long enough for a header" * 40)
    with pytest.raises(PageError, match=r"^library-\S* can't be the index .*delete it$"):
        library.state()


def test_a_game_is_found_by_its_files_key_and_its_number(library: Library, folder: Path) -> None:
    key, label = named(folder / "two.jsonl", library.roots)
    assert label == "played/two.jsonl"
    assert library.game(key, 2) == record_of(1, ["ann", "bob"]).encode()
    for wrong, number in ((key, 99), ("no such key", 1), (str(folder / "two.jsonl"), 1)):
        with pytest.raises(PageError, match="no such game"):
            library.game(wrong, number)


def test_a_file_that_changes_under_the_index_gives_one_line(tmp_path: Path) -> None:
    path, secret = tmp_path / "games" / "a.jsonl", tmp_path / "secret"
    path.parent.mkdir()
    for file in (path, secret):
        file.write_text(record_of(1) + record_of(2))
    library = indexed(tmp_path, path.parent)
    key = search(library)[0]["file"]
    path.write_text(record_of(1)[:100])
    with pytest.raises(PageError, match="changed"):
        library.game(key, 2)
    path.unlink()
    for link in (False, True):
        if link:
            path.symlink_to(secret)
        with pytest.raises(PageError, match="can't be read"):
            library.game(key, 1)


def test_folders_have_names_of_their_own(tmp_path: Path) -> None:
    for name in ("a/games", "b/games", "games (2)"):
        (tmp_path / name).mkdir(parents=True)
    roots = roots_of(
        [tmp_path / name for name in ("a/games", "b/games", "b/../a/games", "games (2)")]
    )
    assert [root.label for root in roots] == ["games", "games (2)", "games (2) (2)"]
    with pytest.raises(OptionError, match="there is no folder"):
        roots_of([tmp_path / "c"])
    with pytest.raises(PageError, match="no such file"):
        named(tmp_path / "c", roots)
