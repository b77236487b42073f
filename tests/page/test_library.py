"""Games to look through: filters, order, pages, and nothing but what the page was started with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from folders import make_tournament, record_of

from skyenv.errors import OptionError
from skyenv.page.errors import PageError
from skyenv.page.game_files import Played
from skyenv.page.indexing import update_once
from skyenv.page.library import PAGE, Library, Query, key_of, roots_of

Games = list[dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of several kinds, and a tournament."""
    folder = tmp_path_factory.mktemp("library") / "played"
    folder.mkdir()
    two = [record_of(seed, ["ann" if seed % 2 else "50%_off", "bob"]) for seed in range(6)]
    (folder / "two.jsonl").write_text("".join(two))
    three = [
        record_of(seed, ["bob", "ann", "cy"], players=3, side="back", turns=20) for seed in range(3)
    ]
    (folder / "three.jsonl").write_text("".join(three))
    (folder / "short.jsonl").write_text(record_of(9, ["ann", "ann"], actions=30))
    make_tournament(folder / "tournament")
    return folder


@pytest.fixture(scope="module")
def library(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All of it, indexed; the index has another folder, too."""
    index = tmp_path_factory.mktemp("index") / "library.sqlite3"
    other = tmp_path_factory.mktemp("other")
    (other / "hidden.jsonl").write_text(record_of(1, ["hidden", "bob"]))
    assert update_once(index, [folder, other]) == ""
    library = Library(index, roots_of([folder]))
    yield library
    library.close()


def search(library: Library, *asked: tuple[str, str]) -> Games:
    games: Games = library.search(Query.checked(asked))["games"]
    return games


def everything(library: Library) -> Games:
    games: Games = []
    while len(games) < library.search(Query.checked([]))["total"]:
        games += search(library, ("page", str(1 + len(games) // PAGE)))
    return games


def test_only_the_folders_of_this_page_are_shown(library: Library) -> None:
    games = everything(library)
    assert {game["label"] for game in games} == {
        "played/two.jsonl",
        "played/three.jsonl",
        "played/short.jsonl",
        "played/tournament/games.jsonl",
    }
    assert search(library, ("agent", "hidden")) == []
    assert "hidden" not in json.dumps(library.state())


@pytest.mark.parametrize(
    ("asked", "fits"),
    [
        ([("agent", "ann")], lambda game: "ann" in game["names"]),
        ([("agent", "ann"), ("agent", "bob")], lambda game: {"ann", "bob"} <= set(game["names"])),
        ([("agent", ""), ("agent", "cy")], lambda game: "cy" in game["names"]),
        ([("seat_0", "bob")], lambda game: game["names"][0] == "bob"),
        ([("seat_2", "cy"), ("seat_1", "ann")], lambda game: game["names"][1:] == ["ann", "cy"]),
        (
            [("winner", "bob")],
            lambda game: "bob" in [game["names"][seat] for seat in game["winners"]],
        ),
        ([("players", "3")], lambda game: game["players"] == 3),
        ([("side", "back")], lambda game: game["side"] == "back"),
        ([("ending", "truncated")], lambda game: game["ending"] == "truncated"),
        ([("ending", "unfinished")], lambda game: game["ending"] == "unfinished"),
        ([("ending", "by the rules")], lambda game: game["ending"] == "by the rules"),
        ([("least_margin", "10"), ("most_margin", "30")], lambda game: 10 <= game["margin"] <= 30),
        ([("least_length", "100")], lambda game: game["actions"] >= 100),
        ([("most_turns", "20")], lambda game: game["turns"] <= 20),
        ([("least_swing", "1")], lambda game: (game["swing"] or 0) >= 1),
        ([("text", "three")], lambda game: "three" in game["label"]),
        (
            [("text", "TOURN crow")],
            lambda game: "tournament" in game["label"] and "crowd" in game["names"],
        ),
        ([("text", "50%_")], lambda game: "50%_off" in game["names"]),
        ([("text", "%")], lambda game: "50%_off" in game["names"]),
        ([("file", key_of("played/two.jsonl"))], lambda game: game["label"] == "played/two.jsonl"),
        (
            [("agent", "ann"), ("players", "2"), ("most_length", "100")],
            lambda game: "ann" in game["names"] and game["players"] == 2 and game["actions"] <= 100,
        ),
    ],
)
def test_filters(asked: list[tuple[str, str]], fits: Any, library: Library) -> None:
    def names(games: Games) -> list[tuple[str, int]]:
        return sorted((game["label"], game["number"]) for game in games)

    every = everything(library)
    wanted = [game for game in every if fits(game)]
    assert 0 < len(wanted) < len(every)
    assert names(search(library, *asked)) == names(wanted)
    assert library.search(Query.checked(asked))["total"] == len(wanted)


@pytest.mark.parametrize(
    ("sort", "field"),
    [("length", "actions"), ("turns", "turns"), ("margin", "margin"), ("players", "players")],
)
def test_order(sort: str, field: str, library: Library) -> None:
    falling = [game[field] for game in search(library, ("sort", sort))]
    rising = [game[field] for game in search(library, ("sort", sort), ("order", "rising"))]
    assert falling == sorted(falling, reverse=True)
    assert rising == sorted(rising)
    assert len(set(rising)) > 1


def test_games_without_a_swing_come_last_in_both_orders(library: Library) -> None:
    for order in ("falling", "rising"):
        swings = [
            game["swing"]
            for game in search(library, ("sort", "swing"), ("order", order), ("players", "2"))
        ]
        known = swings.index(None)
        assert None not in swings[:known]
        assert set(swings[known:]) == {None}


def test_pages(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(record_of(1, actions=1) * (2 * PAGE + 1))
    library = Library(tmp_path / "index.sqlite3", roots_of([tmp_path / "many.jsonl"]))
    update_once(tmp_path / "index.sqlite3", [tmp_path / "many.jsonl"])
    pages = [library.search(Query.checked([("page", str(page))])) for page in (1, 2, 3, 99)]
    assert [page["page"] for page in pages] == [1, 2, 3, 3]
    assert {page["pages"] for page in pages} == {3}
    assert [game["number"] for page in pages[:3] for game in page["games"]] == list(
        range(1, 2 * PAGE + 2)
    )
    assert pages[2] == pages[3]
    library.close()


@pytest.mark.parametrize(
    "asked",
    [
        ("players", "x"),
        ("least_margin", "-1"),
        ("most_length", "1e3"),
        ("side", "left"),
        ("ending", "x"),
        ("sort", "id; DROP"),
        ("order", "up"),
        ("page", "9" * 30),
        ("agent", "x" * 61),
        ("seat_3", "x" * 61),
    ],
)
def test_what_cannot_be_asked_for_is_told(asked: tuple[str, str]) -> None:
    with pytest.raises(PageError):
        Query.checked([asked])


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE game; --", "\\", "\x00", "a" * 5000, '"', "\ud800"]
)
def test_any_text_may_be_asked_for(text: str, library: Library) -> None:
    every = everything(library)
    assert search(library, ("file", text)) == search(library, ("agent", text[:60])) == []
    assert search(library, ("text", text)) in ([], every)
    assert everything(library) == every


def test_the_state_tells_folders_progress_and_agents(library: Library) -> None:
    state = library.state()
    assert (state["folders"], state["files"], state["done"], state["trouble"]) == (
        ["played"],
        4,
        True,
        "",
    )
    assert state["seen"] == state["size"] > 0
    seats = {agent["name"]: agent["seats"] for agent in state["agents"]}
    every = everything(library)
    assert seats == {name: sum(game["names"].count(name) for game in every) for name in seats}
    assert {"ann", "bob", "crowd"} <= set(seats)


def test_damaged_files_are_told_without_their_paths(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "<b>\u202e.jsonl").write_text(
        record_of(1).replace('"vp": [', '"vp": [-1, ', 1) + record_of(2)
    )
    (tmp_path / "games" / os.fsdecode(b"\xff\xfe.jsonl")).write_text("hello\n")
    update_once(tmp_path / "index.sqlite3", [tmp_path / "games"])
    library = Library(tmp_path / "index.sqlite3", roots_of([tmp_path / "games"]))
    state = library.state()
    library.close()
    assert [one["file"].rpartition(" (")[0] for one in state["complaints"]] == [
        "games/<b> .jsonl",
        "games/\ufffd\ufffd.jsonl",
    ]
    assert str(tmp_path) not in json.dumps(state)
    json.dumps(state, ensure_ascii=False).encode()


def test_a_game_is_opened_by_its_files_key_and_its_number(library: Library, folder: Path) -> None:
    content = library.game(key_of("played/two.jsonl"), 2)
    assert content == record_of(1, ["ann", "bob"]).encode()
    result = library.game(key_of("played/tournament/games.jsonl"), 1)
    assert isinstance(result, Played)
    for key, number in (
        (key_of("played/two.jsonl"), 99),
        ("no such key", 1),
        (str(folder / "two.jsonl"), 1),
        ("../two.jsonl", 1),
    ):
        with pytest.raises(PageError, match="no such game"):
            library.game(key, number)


def test_a_file_that_changes_under_the_index_gives_one_line(tmp_path: Path) -> None:
    games = tmp_path / "games"
    games.mkdir()
    path = games / "a.jsonl"
    path.write_text(record_of(1) + record_of(2))
    secret = tmp_path / "secret"
    secret.write_text(record_of(3) + record_of(4))
    update_once(tmp_path / "index.sqlite3", [games])
    library = Library(tmp_path / "index.sqlite3", roots_of([games]))
    key = key_of("games/a.jsonl")
    path.write_text(record_of(1)[:100])
    with pytest.raises(PageError, match="changed"):
        library.game(key, 2)
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(PageError, match="can't be read"):
        library.game(key, 1)
    path.unlink()
    with pytest.raises(PageError, match="can't be read"):
        library.game(key, 1)
    library.close()


def test_a_file_that_is_added_meanwhile_comes_with_the_next_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is one state of the index."""
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "a.jsonl").write_text(record_of(1, actions=1))
    index = tmp_path / "index.sqlite3"
    update_once(index, [tmp_path / "games"])
    library = Library(index, roots_of([tmp_path / "games"]))
    where = library._where

    def and_a_file(*values: Any) -> Any:
        made = where(*values)
        (tmp_path / "games" / "b.jsonl").write_text(record_of(2, actions=1))
        assert update_once(index, [tmp_path / "games"]) == ""
        return made

    with monkeypatch.context() as change:
        change.setattr(library, "_where", and_a_file)
        assert [game["label"] for game in search(library)] == ["games/a.jsonl"]
    assert {game["label"] for game in search(library)} == {"games/a.jsonl", "games/b.jsonl"}
    library.close()


def test_files_whose_names_cannot_be_shown_are_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "games" / ("x" * 200)
    folder.mkdir(parents=True)
    for name in ("a.jsonl", "b.jsonl", os.fsdecode(b"\xff.jsonl"), os.fsdecode(b"\xfe.jsonl")):
        (folder / name).write_text(record_of(1, actions=1))
    update_once(tmp_path / "index.sqlite3", [tmp_path / "games"])
    library = Library(tmp_path / "index.sqlite3", roots_of([tmp_path / "games"]))
    found = search(library)
    assert len({game["label"] for game in found}) == len({game["file"] for game in found}) == 4
    assert all(library.game(game["file"], 1) for game in found)
    library.close()


def test_a_game_that_is_too_large_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(record_of(1))
    update_once(tmp_path / "index.sqlite3", [path])
    library = Library(tmp_path / "index.sqlite3", roots_of([path]))
    monkeypatch.setattr("skyenv.page.library.MOST_RECORD", 1000)
    with pytest.raises(PageError, match="too large"):
        library.game(key_of("a.jsonl"), 1)
    library.close()


def test_folders_have_names_of_their_own(tmp_path: Path) -> None:
    for name in ("a/games", "b/games"):
        (tmp_path / name).mkdir(parents=True)
    roots = roots_of([tmp_path / "a/games", tmp_path / "b/games", tmp_path / "b/../a/games"])
    assert [root.label for root in roots] == ["games", "games (2)"]
    with pytest.raises(OptionError, match="there is no folder"):
        roots_of([tmp_path / "c"])


def test_an_index_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "library.sqlite3").write_text("something else, and long enough for a header" * 40)
    with pytest.raises(PageError, match="delete it"):
        Library(tmp_path / "library.sqlite3", [])
