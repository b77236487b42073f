"""The database: durability, limits, and refused files."""

import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from processes import python
from skyenv.page.errors import PageError
from skyenv.page.storage import ANALYSES, MEMORY, Link, Storage, StoredGame

GAME = StoredGame("g", "ann", 1.5, 2, "back", 500, 2**63 - 1, ("human", "greedy"), 0.25)
LINKS = [Link("w", "g", None, "ann"), Link("t0", "g", 0, None)]
LATER: dict[str, Any] = {
    "actions": (13, 20, 30),
    "to_act": None,
    "turn": 3,
    "scores": (4, 5),
    "taken_back": 2,
}


@pytest.fixture
def storage() -> Iterator[Storage]:
    with closing(Storage(MEMORY)) as storage:
        storage.add_game(GAME, LINKS)
        yield storage


def test_a_killed_process_loses_no_data_and_the_file_is_exclusive(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "games.sqlite3"
    opening = f"from skyenv.page.storage import Storage; s = Storage({str(path)!r}); "
    with closing(Storage(path)) as storage:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        storage.add_game(GAME, LINKS)
        key = storage.key()
        assert "another process uses it" in python("-c", opening).stderr
    changing = "import os; s.change_game('g', actions=(13, 20)); os.kill(os.getpid(), 9)"
    assert python("-c", opening + changing).returncode == -9
    with closing(Storage(path)) as storage:
        assert (storage.game("g"), storage.key()) == (replace(GAME, actions=(13, 20)), key)
        assert storage.links("g") == LINKS


def test_foreign_databases_are_refused_unchanged(tmp_path: Path) -> None:
    other, text = tmp_path / "other", tmp_path / "text"
    with closing(Storage(other)) as storage, storage.transaction() as connection:
        connection.execute("PRAGMA user_version = 12")
    text.write_text("long enough to be looked at " * 20)
    for path, why in ((other, "another version of skyenv.*--database"), (text, "not a database")):
        before = path.read_bytes()
        with pytest.raises(PageError, match=f"{path} can't be used.*{why}"):
            Storage(path)
        assert path.read_bytes() == before


def test_games_are_changed_and_deleted_atomically(storage: Storage) -> None:
    storage.change_game("g", **LATER)
    assert storage.game("g") == replace(GAME, **LATER)
    assert [link.token for link in storage.links("g")] == ["w", "t0"]
    with pytest.raises(PageError, match="no such game"):
        storage.add_game(replace(GAME, id="new"), [], origin={"id": "nobody", "rematch": "new"})
    assert storage.owner("new") == "", "all or nothing"
    storage.spectate("w", "bob")
    storage.delete_game("g")
    assert (storage.owner("g"), storage.links("g"), storage.links_of("bob")) == ("", [], [])
    with pytest.raises(PageError, match="no such game"):
        storage.change_game("g", turn=1)
    with pytest.raises(PageError, match="no such game"):
        storage.spectate("w", "eve")


def test_games_are_limited_and_unplayed_ones_evicted(storage: Storage) -> None:
    storage.add_game(replace(GAME, id="k", owner="bob", actions=(1,)), [])
    storage.add_game(replace(GAME, id="new", owner="eve", actions=(1,)), [], most=2)
    assert [storage.owner(key) for key in ("g", "k", "new")] == ["", "bob", "eve"]
    with pytest.raises(PageError, match="there are 2 games") as caught:
        storage.add_game(replace(GAME, id="h", owner="eve"), [], most=2)
    assert caught.value.status == 503


def test_the_newest_replays_are_stored_once(storage: Storage) -> None:
    for number in range(3):
        storage.add_replay(f"ann{number}", "ann", b"%d" % number, 2)
    assert storage.add_replay("again", "ann", b"1", 2) == "ann1"
    assert [replay["id"] for replay in storage.replays("ann")] == ["ann1", "ann2"]
    storage.add_replay("bob0", "bob", b"1", 2)
    assert [replay["id"] for replay in storage.replays("ann")] == ["ann1"], "two in all"


def test_the_newest_analyses_are_kept_one_of_a_game(storage: Storage) -> None:
    for number in range(ANALYSES + 1):
        storage.add_analysis("ann", f"{number}", {"by": number})
    found = [storage.analysis("ann", f"{number}") for number in range(3)]
    assert found == [None, {"by": 1}, {"by": 2}]
    storage.add_analysis("ann", "2", {"by": 3})
    assert (storage.analysis("ann", "2"), storage.analysis("bob", "2")) == ({"by": 3}, None)
