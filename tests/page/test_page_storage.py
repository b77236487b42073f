"""The database: games, links and replays outlive the server."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from skyenv.page import database
from skyenv.page.database import _STEPS, VERSION
from skyenv.page.errors import ConflictError, PageError
from skyenv.page.storage import Change, Link, Storage, StoredGame, StoredReplay

GAME = StoredGame("g", "ann", 1.5, 2, "back", 500, 2**63 - 1, ("human", "greedy"), 0.25)
LINKS = [Link("t0", "g", 0, None), Link("w", "g", None, "ann")]
LOOK = Link("look", "g", None, "*")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "games.sqlite3"


def opened(path: Path) -> Storage:
    storage = Storage(path)
    if not storage.owner("g"):
        storage.add_game(GAME, LINKS)
    return storage


def test_what_was_stored_is_there_after_a_restart(path: Path) -> None:
    storage = opened(path)
    storage.append("g", 0, [13, 20])
    storage.append("g", 2, [30])
    storage.set_pause("g", 2.0)
    storage.close()
    storage = opened(path)
    assert storage.game("g") == StoredGame(
        "g", "ann", 1.5, 2, "back", 500, 2**63 - 1, ("human", "greedy"), 2.0
    )
    assert storage.actions("g") == [13, 20, 30]
    assert storage.link("t0") == LINKS[0]
    assert [link.token for link in storage.links_of("ann")] == ["w"]
    storage.close()


def test_the_file_is_its_owners_alone(path: Path) -> None:
    opened(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_actions_are_stored_without_a_proper_end_of_the_server(path: Path) -> None:
    storage = opened(path)
    storage.append("g", 0, [13])
    other = Storage(path)  # as after kill -9: the first one was never closed
    assert other.actions("g") == [13]
    storage.close()
    other.close()


def test_a_seat_is_his_who_comes_first_until_he_gives_it_up(path: Path) -> None:
    storage = opened(path)
    assert storage.claim("t0", "bob")
    assert storage.claim("t0", "bob")
    assert not storage.claim("t0", "eve")
    storage.release("t0")
    assert storage.claim("t0", "eve")
    storage.close()


def test_two_servers_cannot_play_the_same_game_differently(path: Path) -> None:
    storage, other = opened(path), Storage(path)
    storage.append("g", 0, [13, 14])
    with pytest.raises(PageError, match="another server"):
        other.append("g", 1, [15])
    assert other.actions("g") == [13, 14]
    storage.close()
    other.close()


def test_actions_leave_no_gap_where_others_were_taken_back(path: Path) -> None:
    storage, other = opened(path), Storage(path)
    storage.append("g", 0, [13, 14, 15])
    storage.set_draft("g", 3, [70])
    storage.take_back("g", 3, 1)
    assert (storage.actions("g"), storage.draft("g")) == ([13], [])
    with pytest.raises(PageError, match="another server"):
        other.append("g", 3, [16])
    assert other.actions("g") == [13]
    other.append("g", 1, [16])
    assert storage.actions("g") == [13, 16]
    storage.close()
    other.close()


def test_who_has_not_heard_of_the_last_moves_changes_nothing(path: Path) -> None:
    storage, other = opened(path), Storage(path)
    storage.append("g", 0, [13, 14])
    other.append("g", 2, [15])
    changes = [Change(2, 1, "human")]
    stale: list[Callable[[], None]] = [
        lambda: storage.take_back("g", 2, 1),
        lambda: storage.set_draft("g", 2, [70]),
        lambda: storage.set_changes("g", 2, changes, Link("t1", "g", 1, None)),
    ]
    for write in stale:
        with pytest.raises(ConflictError, match="another server"):
            write()
    assert (storage.actions("g"), storage.draft("g"), storage.game("g"), storage.links("g")) == (
        [13, 14, 15],
        [],
        GAME,
        LINKS[::-1],
    )
    other.set_changes("g", 3, changes)
    with pytest.raises(ConflictError, match="another server"):
        storage.set_changes("g", 3, [Change(3, 1, "random")])
    assert storage.game("g").changes == tuple(changes)
    other.delete_game("g")
    with pytest.raises(ConflictError, match="another server"):
        storage.set_draft("g", 0, [70])
    storage.close()
    other.close()


def test_a_game_remembers_that_it_was_copied(path: Path) -> None:
    storage = opened(path)
    copy = replace(GAME, id="c", origin="g", origin_step=0, chance="g")
    storage.add_game(copy, [])
    storage.delete_game("c")
    assert storage.game("g") == replace(GAME, copied=True)
    storage.set_changes("g", 0, [Change(0, 1, "human")])
    with pytest.raises(ConflictError, match="has changed"):
        storage.add_game(copy, [])
    assert storage.owner("c") == ""
    storage.close()


def test_a_deleted_game_leaves_nothing(path: Path) -> None:
    storage = opened(path)
    storage.append("g", 0, [13])
    storage.delete_game("g")
    assert storage.actions("g") == []
    for ask in (lambda: storage.game("g"), lambda: storage.link("t0")):
        with pytest.raises(PageError, match="there is no such"):
            ask()
    storage.close()


def test_nothing_is_added_to_a_game_that_was_deleted(path: Path) -> None:
    storage = opened(path)
    storage.delete_game("g")
    additions: list[Callable[[], None]] = [
        lambda: storage.spectate("w", "bob"),
        lambda: storage.add_link(Link("t9", "g", None, "*")),
    ]
    for add in additions:
        with pytest.raises(PageError, match="no such game") as caught:
            add()
        assert caught.value.status == 404
    storage.add_game(GAME, [*LINKS, LOOK])
    storage.spectate("look", "bob")
    assert [link.token for link in storage.watched_by("bob", 9)] == ["look"]
    storage.close()


def test_a_withdrawn_link_is_in_nobodys_list(path: Path) -> None:
    """Neither of who used it before, nor of whose page was about to begin looking on, nor in an
    earlier version's database.
    """
    storage = opened(path)
    storage.add_link(LOOK)
    storage.spectate("look", "bob")
    storage.withdraw("look")
    with pytest.raises(PageError, match="was withdrawn") as caught:
        storage.spectate("look", "eve")
    assert caught.value.status == 404
    with storage.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM spectator").fetchone()[0] == 0
        connection.execute("INSERT INTO spectator (token, browser) VALUES ('look', 'eve')")
    assert storage.watched_by("bob", 9) == storage.watched_by("eve", 9) == []
    storage.close()


def test_servers_that_start_together_share_a_new_database(tmp_path: Path) -> None:
    together = threading.Barrier(6)

    def start(path: Path) -> bytes:
        together.wait()
        storage = Storage(path)
        try:
            return storage.key()
        finally:
            storage.close()

    for number in range(5):
        with ThreadPoolExecutor(6) as pool:
            assert len(set(pool.map(start, [tmp_path / f"{number}.sqlite3"] * 6))) == 1


def test_a_database_that_is_locked_at_the_start_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.01)
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            PageError, match=r"games\.sqlite3 can't be used .* another program has locked it"
        ):
            Storage(path)
    opened(path).close()


def test_of_too_many_games_those_go_that_nobody_has_played(path: Path) -> None:
    storage = opened(path)
    storage.append("g", 0, [13])
    for number, key in enumerate("abcd"):
        game = replace(GAME, id=key, owner=f"browser {key}", created=float(number))
        storage.add_game(game, [Link(f"t{key}", key, 0, None)], most_in_all=3)
    assert [key for key in "gabcd" if storage.owner(key)] == ["g", "c", "d"]
    with pytest.raises(PageError, match="no such seat"):
        storage.link("ta")
    for key in "cd":
        storage.append(key, 0, [13])
    with pytest.raises(PageError, match="there are 3 games"):
        storage.add_game(replace(GAME, id="e"), [], most_in_all=3)
    with pytest.raises(PageError, match="this browser has 1 games"):
        storage.add_game(replace(GAME, id="e"), [], most=1)
    assert [key for key in "gabcde" if storage.owner(key)] == ["g", "c", "d"]
    storage.close()


def test_replays_belong_to_their_browser_and_the_oldest_go(path: Path) -> None:
    storage = opened(path)
    for number in range(4):
        storage.add_replay(f"r{number}", "ann", bytes([number]), most=3, most_in_all=9)
    assert storage.replay("r3", "ann") == b"\x03"
    for key, browser in (("r0", "ann"), ("r3", "bob")):
        with pytest.raises(PageError, match="no replay"):
            storage.replay(key, browser)
    storage.add_replay("other", "bob", b"", most=3, most_in_all=2)
    for key, browser, is_there in (
        ("r2", "ann", False),
        ("r3", "ann", True),
        ("other", "bob", True),
    ):
        with nullcontext() if is_there else pytest.raises(PageError, match="no replay"):
            storage.replay(key, browser)
    storage.close()


def test_replays_are_listed_the_last_opened_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = opened(path)
    for number, key in enumerate("abac"):
        monkeypatch.setattr(time, "time", lambda number=number: 10.0 + number)
        storage.add_replay(key, "ann", key.encode(), 9, 9, [key, "x"], 2)
    assert storage.replays("ann") == [
        StoredReplay("c", 13.0, ("c", "x"), 2),
        StoredReplay("a", 12.0, ("a", "x"), 2),
        StoredReplay("b", 11.0, ("b", "x"), 2),
    ]
    with pytest.raises(PageError, match="no replay"):
        storage.delete_replay("a", "bob")
    storage.delete_replay("a", "ann")
    assert [one.id for one in storage.replays("ann")] == ["c", "b"]
    storage.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE replay SET names = '[1'")
    connection.commit()
    connection.close()
    storage = Storage(path)
    assert {one.names for one in storage.replays("ann")} == {()}
    storage.close()


def test_an_unfinished_bid_is_stored_until_it_is_played(path: Path) -> None:
    storage = opened(path)
    assert storage.draft("g") == []
    storage.append("g", 0, [13])
    storage.set_draft("g", 1, [70, 71])
    storage.set_draft("g", 1, [70])
    storage.close()
    storage = opened(path)
    assert storage.draft("g") == [70]
    storage.append("g", 1, [70, 99])
    assert storage.draft("g") == []
    storage.set_draft("g", 3, [70])
    storage.delete_game("g")
    assert storage.draft("g") == []
    storage.close()


@pytest.mark.parametrize("version", range(1, VERSION))
def test_a_database_of_an_earlier_version_goes_on(version: int, path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.executescript("".join(_STEPS[:version]))
    columns = "id, owner, created, players, side, max_turns, seed, agents, pause"
    game = "('g', 'ann', 1.5, 2, 'back', 500, 7, '[\"human\", \"greedy\"]', 0.25)"
    connection.execute(f"INSERT INTO game ({columns}) VALUES {game}")
    connection.execute("INSERT INTO link (token, game, seat, browser) VALUES ('t0', 'g', 0, 'bob')")
    connection.execute("INSERT INTO action VALUES ('g', 0, 13)")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()
    storage = opened(path)
    storage.set_draft("g", 1, [70])
    assert storage.game("g") == StoredGame(
        "g", "ann", 1.5, 2, "back", 500, 7, ("human", "greedy"), 0.25
    )
    assert (storage.actions("g"), storage.draft("g"), storage.link("t0")) == (
        [13],
        [70],
        Link("t0", "g", 0, "bob"),
    )
    assert len(storage.key()) == 32
    storage.close()


def test_every_database_has_its_own_key_and_keeps_it(path: Path, tmp_path: Path) -> None:
    storage, other = opened(path), Storage(tmp_path / "other.sqlite3")
    key = storage.key()
    assert other.key() != key
    assert Storage(path).key() == key == storage.key()
    storage.close()
    other.close()


def test_another_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database, but long enough to be looked at " * 10, encoding="utf-8")
    with pytest.raises(PageError, match="can't be used as the page's database"):
        Storage(text)
    assert text.read_text(encoding="utf-8").startswith("no database")
    other = tmp_path / "other.sqlite3"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE theirs (a)")
    connection.commit()
    connection.close()
    with pytest.raises(PageError, match="another program's"):
        Storage(other)
