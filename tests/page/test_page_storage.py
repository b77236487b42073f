"""The database: what outlives the server, the limits, and files that it refuses."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from processes import python
from skyenv.page.errors import PageError
from skyenv.page.storage import MEMORY, Change, Link, Storage, StoredGame, StoredReplay

GAME = StoredGame("g", "ann", 1.5, 2, "back", 500, 2**63 - 1, ("human", "greedy"), 0.25)
LINKS = [Link("w", "g", None, "ann"), Link("t0", "g", 0, None)]
LATER: dict[str, Any] = {
    "actions": (13, 20, 30),
    "to_act": None,
    "turn": 3,
    "scores": (4, 5),
    "changes": (Change(2, 1, "human"),),
    "copied": True,
}


@pytest.fixture
def storage() -> Storage:
    storage = Storage(MEMORY)
    storage.add_game(GAME, LINKS)
    return storage


def test_a_killed_process_loses_nothing_and_two_cannot_have_the_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "games.sqlite3"
    with closing(Storage(path)) as storage:
        storage.add_game(GAME, LINKS)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        opening = f"from skyenv.page.storage import Storage; s = Storage({str(path)!r}); "
        with pytest.raises(PageError, match="another process has it"):
            Storage(path)
        assert "another process has it" in python("-c", opening).stderr
        key = storage.key()
    changing = "import os; s.change_game('g', actions=(13, 20)); os.kill(os.getpid(), 9)"
    assert python("-c", opening + changing).returncode == -9
    with closing(Storage(path)) as storage:
        assert (storage.game("g"), storage.key()) == (replace(GAME, actions=(13, 20)), key)
        assert storage.links("g") == LINKS


def database(path: Path, version: int) -> None:
    """Write a database of another program, or of another version of ours."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE game (id)")
        connection.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (lambda path: database(path, 0), "another version of skyenv.*--database"),
        (lambda path: database(path, 12), "another version of skyenv.*--database"),
        (lambda path: path.write_text("long enough to be looked at " * 20), "not a database"),
    ],
)
def test_files_of_others_and_of_other_versions_stay_as_they_are(
    tmp_path: Path, write: Callable[[Path], object], why: str
) -> None:
    write(path := tmp_path / "file")
    before = path.read_bytes()
    with pytest.raises(PageError, match=f"file can't be used.*{why}"):
        Storage(path)
    assert path.read_bytes() == before


def test_games_change_whole_and_are_forgotten_whole(storage: Storage) -> None:
    storage.change_game("g", Link("t1", "g", 1, None), **LATER)
    assert storage.game("g") == replace(GAME, **LATER)
    assert [link.token for link in storage.links("g")] == ["w", "t0", "t1"]
    with pytest.raises(PageError, match="no such game"):
        storage.add_game(replace(GAME, id="new"), [], origin={"id": "nobody", "copied": True})
    assert storage.owner("new") == "", "all or nothing"
    storage.spectate("w", "bob")
    storage.delete_game("g")
    gone: list[Callable[[], object]] = [
        lambda: storage.game("g"),
        lambda: storage.link("t0"),
        lambda: storage.change_game("g", turn=1),
        lambda: storage.change_link("t0", seen=1.0),
        lambda: storage.spectate("w", "bob"),
    ]
    for ask in gone:
        with pytest.raises(PageError, match="no such"):
            ask()
    assert storage.links_of("bob") == []


def test_games_have_limits_and_idempotency_keys(storage: Storage) -> None:
    keyed = replace(GAME, id="k", owner="bob", idempotency_key="12345678")
    for each in (keyed, replace(keyed, id="another")):
        assert storage.add_game(each, [Link("k0", "k", 0, None)])[0].game == "k"
    storage.change_game("k", actions=(1,))
    storage.add_game(replace(GAME, id="new", owner="eve"), [], most_in_all=2)
    assert [storage.owner(key) for key in ("g", "k", "new")] == ["", "bob", "eve"], "g is unplayed"
    storage.change_game("new", actions=(1,))
    for limits, status in (((1, 9), 429), ((9, 2), 503)):
        with pytest.raises(PageError, match=r"[12] games") as caught:
            storage.add_game(replace(GAME, id="h", owner="eve"), [], *limits)
        assert caught.value.status == status


def test_the_newest_replays_of_a_browser_are_kept_once(storage: Storage) -> None:
    for browser in ("ann", "bob"):
        for number in range(3):
            storage.add_replay(f"{browser}{number}", browser, b"%d" % number, 3, 5)
    assert [replay.id for replay in storage.replays("ann")] == ["ann2", "ann1"], "five in all"
    assert storage.add_replay("again", "ann", b"1", 2, 5, ["x"], 2) == "ann1"
    storage.add_replay("ann3", "ann", b"3", 2, 5)
    newest, same = storage.replays("ann")
    assert (newest.id, same) == ("ann3", StoredReplay("ann1", same.created, ("x",), 2))
