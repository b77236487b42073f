"""The index of games: kept up to date as files come, grow, are replaced and go."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from folders import make_tournament, record_of

from processes import wait_until
from skyenv.page import indexing
from skyenv.page.errors import PageError
from skyenv.page.game_files import Place, Reading, read_games
from skyenv.page.indexing import Indexer, IndexingProcess, connect, files_of, update_once

Row = tuple[int, str, int, str]


def games_in(index: Path, root: Path) -> list[tuple[str, int, str]]:
    """File, number and ending of all games of a folder."""
    connection = connect(index)
    files = {file.id: os.fsdecode(file.path) for file in files_of(connection, [root])}
    rows = connection.execute(
        "SELECT file, number, ending FROM game ORDER BY file, number"
    ).fetchall()
    connection.close()
    return [
        (Path(files[file]).name, number, ending) for file, number, ending in rows if file in files
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.jsonl").write_text(record_of(1) + record_of(2))
    return folder


def test_files_come_grow_and_go(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    assert update_once(index, [folder]) == ""
    assert [game[:2] for game in games_in(index, folder)] == [("a.jsonl", 1), ("a.jsonl", 2)]
    whole = record_of(3)
    with open(folder / "a.jsonl", "a") as file:
        file.write(whole[:5000])
    (folder / "b.jsonl").write_text(record_of(4))
    update_once(index, [folder])
    assert [game[1:] for game in games_in(index, folder)][2] == (3, "unfinished")
    with open(folder / "a.jsonl", "a") as file:
        file.write(whole[5000:])
    update_once(index, [folder])
    games = games_in(index, folder)
    assert [game[:2] for game in games] == [
        ("a.jsonl", 1),
        ("a.jsonl", 2),
        ("a.jsonl", 3),
        ("b.jsonl", 1),
    ]
    assert "unfinished" not in [game[2] for game in games]
    (folder / "a.jsonl").unlink()
    update_once(index, [folder])
    assert [game[:2] for game in games_in(index, folder)] == [("b.jsonl", 1)]


def test_what_is_known_is_not_read_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index.sqlite3"
    places = []

    def watched(path: Path, kind: str, place: Place, most: int) -> Reading:
        places.append(place.offset)
        return read_games(path, kind, place, most)

    monkeypatch.setattr(indexing, "read_games", watched)
    update_once(index, [folder])
    update_once(index, [folder])
    assert places == [0]
    size = (folder / "a.jsonl").stat().st_size
    with open(folder / "a.jsonl", "a") as file:
        file.write(record_of(3))
    update_once(index, [folder])
    assert places == [0, size]


@pytest.mark.parametrize("in_place", [True, False])
def test_a_file_that_was_replaced_is_read_anew(
    in_place: bool, folder: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index.sqlite3"
    update_once(index, [folder])
    new = folder / "a.jsonl" if in_place else folder / "new"
    new.write_text("".join(record_of(seed, turns=2) for seed in range(9)))
    new.replace(folder / "a.jsonl")
    update_once(index, [folder])
    assert [game[2] for game in games_in(index, folder)] == ["truncated"] * 9
    (folder / "a.jsonl").write_text("no games any more\n")
    update_once(index, [folder])
    assert games_in(index, folder) == []
    (folder / "a.jsonl").write_text(record_of(1))
    update_once(index, [folder])
    assert len(games_in(index, folder)) == 1


def test_many_games_are_added_part_by_part(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "PART", 2)
    (folder / "a.jsonl").write_text("".join(record_of(seed, actions=3) for seed in range(7)))
    update_once(tmp_path / "index.sqlite3", [folder])
    assert [number for _, number, _ in games_in(tmp_path / "index.sqlite3", folder)] == [
        1,
        2,
        3,
        4,
        5,
        6,
        7,
    ]


def test_two_that_keep_one_index_do_not_hurt_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "PART", 3)
    folder = tmp_path / "games"
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.jsonl").write_text(
            "".join(record_of(seed, actions=2) for seed in range(20))
        )
    index = tmp_path / "index.sqlite3"
    troubles: list[str] = []
    together = threading.Barrier(3)

    def keep() -> None:
        together.wait()
        troubles.append(update_once(index, [folder]))

    threads = [threading.Thread(target=keep) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == ["", "", ""]
    assert games_in(index, folder) == [
        (f"{name}.jsonl", number, "unfinished") for name in "abcd" for number in range(1, 21)
    ]


def test_who_makes_an_index_waits_while_another_one_is_making_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite by itself refuses at once to change the kind of journal while another connection
    writes.
    """
    waits = threading.Event()
    monkeypatch.setattr("skyenv.page.database.time.sleep", lambda _: waits.set())
    index = tmp_path / "index.sqlite3"
    other = sqlite3.connect(index, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("CREATE TABLE something (number INTEGER)")
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(connect, index)
        assert waits.wait(60)
        other.execute("COMMIT")
        made.result().close()
    other.close()


def test_files_that_hold_no_games_are_told_with_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    (folder / "other.jsonl").write_text("hello\n")
    (folder / os.fsdecode(b"\xff.jsonl")).write_text(record_of(1)[:-30])
    make_tournament(folder / "t")
    (folder / "t" / "config.json").write_text("{")
    index = tmp_path / "index.sqlite3"
    assert update_once(index, [folder]) == ""
    connection = connect(index)
    complaints = {
        os.path.basename(file.path): file.complaint for file in files_of(connection, [folder])
    }
    connection.close()
    assert complaints[b"other.jsonl"].startswith("line 1: neither")
    assert "config.json" in complaints[b"games.jsonl"]
    assert complaints[b"a.jsonl"] == complaints[b"\xff.jsonl"] == ""
    assert str(tmp_path) not in "".join(complaints.values())
    assert len(games_in(index, folder)) == 3


def test_other_folders_of_the_index_stay(folder: Path, tmp_path: Path) -> None:
    index, other = tmp_path / "index.sqlite3", tmp_path / "games-too"
    shutil.copytree(folder, other)
    update_once(index, [folder])
    update_once(index, [other])
    assert len(games_in(index, folder)) == len(games_in(index, other)) == 2


def test_a_full_disk_is_one_line_and_no_end(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index.sqlite3"
    update_once(index, [folder])
    real = indexing.connect

    def cramped(path: Path) -> sqlite3.Connection:
        connection = real(path)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    (folder / "b.jsonl").write_text("".join(record_of(seed, actions=1) for seed in range(300)))
    with monkeypatch.context() as patched:
        patched.setattr(indexing, "connect", cramped)
        trouble = update_once(index, [folder])
    assert "full" in trouble
    assert "\n" not in trouble
    assert len(games_in(index, folder)) == 2
    assert update_once(index, [folder]) == ""
    assert len(games_in(index, folder)) == 302


def test_another_versions_index_is_made_anew_and_another_file_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index.sqlite3"
    update_once(index, [folder])
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert update_once(index, [folder]) == ""
    assert len(games_in(index, folder)) == 2
    other = tmp_path / "other.sqlite3"
    other.write_text("something else, and long enough for a header" * 40)
    with pytest.raises(PageError, match=r"other\.sqlite3.*delete it") as raised:
        Indexer(other, [folder])
    assert str(tmp_path) not in str(raised.value)
    assert update_once(other, [folder]) == str(raised.value)


def test_the_index_is_this_users_alone(folder: Path, tmp_path: Path) -> None:
    update_once(tmp_path / "index.sqlite3", [folder])
    assert (tmp_path / "index.sqlite3").stat().st_mode & 0o077 == 0


def test_a_process_keeps_it(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    process = IndexingProcess(index, [folder])
    try:
        wait_until(lambda: process.state() == (True, ""))
        assert len(games_in(index, folder)) == 2
        (folder / "b.jsonl").write_text(record_of(3))
        wait_until(lambda: len(games_in(index, folder)) == 3)
    finally:
        process.close()
