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
LINKS = [Link("t0", "g", 0, None), Link("w", "g", None, "ann")]
LATER: dict[str, Any] = {
    "actions": (13, 20, 30),
    "draft": (79,),
    "to_act": None,
    "turn": 3,
    "scores": (4, 5),
    "changes": (Change(2, 1, "human"),),
    "copied": True,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "games.sqlite3"


@pytest.fixture
def storage() -> Storage:
    storage = Storage(MEMORY)
    storage.add_game(GAME, LINKS)
    return storage


def test_a_killed_process_loses_nothing_and_two_cannot_have_the_file(path: Path) -> None:
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
        assert storage.links("g") == LINKS[::-1]


@pytest.mark.parametrize("version", [0, 12])
def test_files_of_others_and_of_earlier_versions_stay_as_they_are(
    tmp_path: Path, version: int
) -> None:
    other, text = tmp_path / "other.sqlite3", tmp_path / "text"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE game (id)")
        connection.execute(f"PRAGMA user_version = {version}")
    text.write_text("no database, but long enough to be looked at " * 10, encoding="utf-8")
    for file, why in ((other, "another version of skyenv.*--database"), (text, "not a database")):
        before = file.read_bytes()
        with pytest.raises(PageError, match=f"{file.name} can't be used.*{why}") as caught:
            Storage(file)
        assert "\n" not in str(caught.value)
        assert file.read_bytes() == before


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
        with pytest.raises(PageError, match="no such") as caught:
            ask()
        assert caught.value.status == 404
    assert storage.links_of("bob") == []


def test_a_seat_belongs_to_the_first_browser_until_it_is_given_up(storage: Storage) -> None:
    assert storage.claim("t0", "bob", "Bob")
    assert storage.claim("t0", "bob", "Rob")
    assert not storage.claim("t0", "eve", "Eve")
    assert storage.link("t0") == replace(LINKS[0], browser="bob", name="Rob")
    storage.change_link("t0", browser=None, name="")
    assert storage.claim("t0", "eve")
    storage.add_game(replace(GAME, id="h", owner="eve", created=2.0), [Link("v", "h", None, "*")])
    storage.spectate("v", "eve")
    assert [(link.token, link.browser) for link in storage.links_of("eve")] == [
        ("v", "eve"),
        ("t0", "eve"),
    ]
    assert [link.token for link in storage.links_of("eve", 1)] == ["v"]


def test_games_have_limits_and_idempotency_keys(storage: Storage) -> None:
    with pytest.raises(PageError, match="has 1 games") as caught:
        storage.add_game(replace(GAME, id="h"), [], most=1)
    assert caught.value.status == 429
    keyed = replace(GAME, id="k", owner="bob", idempotency_key="12345678")
    for _ in range(2):
        assert storage.add_game(keyed, [Link("k0", "k", 0, None)])[0].game == "k"
        keyed = replace(keyed, id="another")
    storage.change_game("k", actions=(1,))
    storage.add_game(replace(GAME, id="new", owner="eve"), [], most_in_all=2)
    assert [storage.owner(key) for key in ("g", "k", "new")] == ["", "bob", "eve"], "g is unplayed"
    storage.change_game("new", actions=(1,))
    with pytest.raises(PageError, match="2 games already") as caught:
        storage.add_game(replace(GAME, id="h", owner="eve"), [], most_in_all=2)
    assert caught.value.status == 503


def test_replays_belong_to_their_browser_and_the_newest_are_kept(storage: Storage) -> None:
    for number in range(4):
        storage.add_replay(f"a{number}", "ann", b"%d" % number, 3, 5, ["x", "y"], 1)
    assert storage.add_replay("again", "ann", b"1", 3, 5, ["x"], 2) == "a1"
    (first, *_) = storage.replays("ann")
    assert first == StoredReplay("a1", first.created, ("x",), 2)
    assert [replay.id for replay in storage.replays("ann")] == ["a1", "a3", "a2"]
    for number in range(3):
        storage.add_replay(f"b{number}", "bob", b"%d" % number, 3, 5)
    assert [replay.id for replay in storage.replays("ann")] == ["a1", "a3"], "five in all"
    assert storage.replay("b0", "bob") == b"0"
    for refused in (storage.replay, storage.delete_replay):
        with pytest.raises(PageError, match="no replay"):
            refused("b0", "ann")
    storage.delete_replay("b0", "bob")
    assert len(storage.replays("bob")) == 2
