"""Games to look through and the ladders: what the index tells of files, by the interface, and in a
browser.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from clicks import HERE, follow
from folders import record_of
from pages import RunningServer, another, client_of, quick_catalogue
from starlette.testclient import TestClient

from experiments.tools.chromium import Browser
from processes import Threads
from skyenv.page.errors import PageError
from skyenv.page.library import Library, read_changed
from skyenv.page.roots import key_of, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Workers

TWO = key_of("played/two.jsonl")
NAMES = ["<img src=x>", "b\n\x1b[31m"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of several kinds, and files that are none."""
    folder = tmp_path_factory.mktemp("library") / "played"
    two = "".join(record_of(seed, NAMES if seed % 2 else ["ann", "bob"]) for seed in range(6))
    others = ["bob", "ann", "cy"]
    for name, content in {
        "two.jsonl": two,
        "deep/three.jsonl": record_of(0, others, players=3, side="back", turns=20) * 3,
        "short.jsonl": record_of(9, ["ann", "ann"], actions=30),
        "curve.jsonl": '{"update": 1}\n',
        "notes.txt": two,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "link.jsonl").symlink_to(folder / "two.jsonl")
    return folder


def serve(folder: Path, host: str = "localhost") -> Any:
    """The application with these games; nothing has been read yet."""
    library = Library(roots_of([folder]))
    return application(Storage(MEMORY), quick_catalogue(), [host], library=library)


def indexed(root: Path) -> Library:
    """A library that has been read."""
    library = Library(roots_of([root]))

    async def look() -> None:
        await library.look(Workers(Threads()))

    asyncio.run(look())
    return library


FILTERS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "agent=ann": lambda game: "ann" in game["names"],
    "winner=bob": lambda game: "bob" in [game["names"][seat] for seat in game["winners"]],
    "players=3": lambda game: game["players"] == 3,
    "text=TWO <img": lambda game: "two" in game["label"] and "<img src=x>" in game["names"],
}


def test_filters_and_order(folder: Path) -> None:
    library = indexed(folder)
    every = library.search([])["games"]
    assert len(every) == 10
    assert {"<img src=x>", "b  [31m"} in [{*game["names"]} for game in every]
    for asked, passes in FILTERS.items():
        name, _, value = asked.partition("=")
        found = library.search([(name, value)])["games"]
        assert found == [game for game in every if passes(game)] != every
    margins = [game["margin"] for game in library.search([("sort", "margin")])["games"]]
    assert margins == sorted(margins, reverse=True)
    with pytest.raises(PageError, match="sort must be"):
        library.search([("sort", "swing")])


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    """What is about to be written is no damage."""
    roots, path = roots_of([tmp_path]), tmp_path / "a.jsonl"
    path.write_text(record_of(1))
    (one,) = read_changed(roots, {}, print).values()
    assert one is not None
    known = {one.file.key: one.file}
    assert [*read_changed(roots, known, print).values()] == [None]
    path.write_text(record_of(1) + record_of(2) + record_of(3)[:5000])
    (changed,) = read_changed(roots, known, print).values()
    assert changed is not None
    assert (len(changed.games), changed.complaints) == (3, [])


def test_a_file_that_changes_under_the_index_is_not_served(tmp_path: Path) -> None:
    path, secret = tmp_path / "games" / "a.jsonl", tmp_path / "secret"
    path.parent.mkdir()
    for file in (path, secret):
        file.write_text(record_of(1) + record_of(2))
    library, key = indexed(path.parent), key_of("games/a.jsonl")
    assert library.game(key, 2) == record_of(2).encode()
    path.write_text(record_of(1)[:100])
    with pytest.raises(PageError, match="changed"):
        library.game(key, 2)
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(PageError, match="can't be read"):
        library.game(key, 2)


def test_damage_costs_its_game_and_is_told_without_the_path(tmp_path: Path) -> None:
    games, good = tmp_path / "games", record_of(1, actions=5)
    games.mkdir()
    (games / "cut.jsonl").write_text(good[: good.index("\n") + 1])
    (games / "junk.jsonl").write_text(good + "x" * 70_000 + "\n" + good)
    (games / "long.jsonl").write_text(good + '{"event": "shuffle"}\n' * 420_000 + good)
    state = indexed(games).state()
    assert (state["damaged"], state["games"]) == (3, 2)
    wanted = "cut.jsonl: line 2: the", "junk.jsonl: line 8: no JSON", "long.jsonl: line 1: a game"
    for complaint, begins in zip(sorted(state["complaints"]), wanted, strict=True):
        assert complaint.startswith(f"games/{begins}")
    assert str(tmp_path) not in json.dumps(state)


@pytest.fixture
def bob(folder: Path) -> Iterator[TestClient]:
    with client_of(serve(folder)) as client:
        client.get("/")
        yield client


def test_every_browser_can_open_a_game_by_its_address_and_nothing_else(bob: TestClient) -> None:
    """Also when nothing has been read yet."""
    replay = bob.get(f"/api/replays/{TWO}/4").json()
    assert bob.get(f"/api/library/{TWO}/4").text == record_of(3, NAMES)
    other: Any = bob.app
    assert another(other).get(f"/api/replays/{TWO}/4").json() == replay
    for path, status in ((f"{'0' * 16}/1", 404), (f"{TWO}/99", 404), (f"{TWO}/{'1' * 30}", 400)):
        for where in ("library", "replays"):
            answer = bob.get(f"/api/{where}/{path}")
            assert (answer.status_code, {*answer.json()}) == (status, {"error"})


# ---- in a browser ----


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """Where a server with the games is."""
    running = RunningServer(serve(folder, "127.0.0.1"))
    yield running.address
    running.stop()


def test_looking_through_games(page: Browser, address: str) -> None:
    page.open(f"{address}/library")
    falling = "#games th[aria-sort=descending]:nth-child(5)"
    steps = [
        ("", "#count", "10 games"),
        ("check", "#games", HERE),
        ("set [name=players] 2", "#count", "7 games"),
        ("click #games th:nth-child(5) a", falling, HERE),
        ("reload", falling, HERE),  # the address is all there is
        ("", "#count", "7 games"),
        ("click #games tbody a", "#board svg", HERE),
    ]
    follow(page, steps)


def test_the_ladder_and_a_match(page: Browser, address: str) -> None:
    page.open(f"{address}/ladder?players=3&side=front&one=greedy&other=builder")
    steps = [
        ("", "#matrix button[aria-pressed=true]", HERE),
        ("", "#pair-games", "games of them"),
        ("check", "#matrix", HERE),
        ("click #which a[href*='players=2&side=front']", "#ratings", "random"),
    ]
    follow(page, steps)
    page.open(f"{address}/ladder?players=2&side=front&one=random&other=greedy")
    follow(page, [("click .match button", "#board svg", HERE)])
