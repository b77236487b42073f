"""The library of games and the ladders: the index, the API, and the pages in a browser."""

import asyncio
import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from chromium import Browser
from clicks import GONE, HERE, Step, follow
from pages import RunningServer, another, client_of, played, quick_catalogue

from processes import Threads
from skyenv.page.errors import PageError
from skyenv.page.library.games import Library, key_of, read_changed, roots_of
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Workers
from skyenv.work import WorkerDiedError

TWO = key_of("played/two.jsonl")
NAMES = ["<img src=x>", "b\n\x1b[31m"]


def record_of(seed: int, names: list[str] | None = None, **options: Any) -> str:
    """Return the record of a game between crowd agents."""
    return played(seed=seed, **options).to_record(names or ["crowd", "crowd"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with records of several kinds, and other files."""
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


def serve(folder: Path | None, host: str = "localhost") -> Any:
    """Return the application with a library that isn't indexed yet, or with none."""
    library = Library(roots_of([folder])) if folder else None
    return application(Storage(MEMORY), quick_catalogue(), [host], library=library)


def indexed(root: Path) -> Library:
    """Return an indexed library."""
    library = Library(roots_of([root]))

    async def refresh() -> None:
        await library.refresh(Workers(Threads()))

    asyncio.run(refresh())
    return library


def test_the_library_filters_and_sorts_games(folder: Path) -> None:
    library = indexed(folder)
    every = library.search([])["games"]
    assert len(every) == 10
    assert {"<img src=x>", "b  [31m"} in [{*game["names"]} for game in every]
    told = {"agent ann": 7, "winner bob": 1, "players 3": 3, "text TWO <img": 3, "side back": 3}
    for asked, number in told.items():
        name, _, value = asked.partition(" ")
        assert library.search([(name, value)])["total"] == number, asked
    ann = library.search([("agent", "ann"), ("side", "front")])["games"]
    assert ann == [game for game in every if "ann" in game["names"] and game["side"] == "front"]
    margins = [game["margin"] for game in library.search([("sort", "margin")])["games"]]
    assert margins == sorted(margins, reverse=True)
    with pytest.raises(PageError, match="sort must be"):
        library.search([("sort", "swing")])


def test_changed_files_are_read_again(tmp_path: Path) -> None:
    """An incomplete last game is no damage."""
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


def test_files_changed_since_indexing_are_not_served(tmp_path: Path) -> None:
    path, secret = tmp_path / "games" / "a.jsonl", tmp_path / "secret"
    path.parent.mkdir()
    for file in (path, secret):
        file.write_text(record_of(1) + record_of(2))
    library, key = indexed(path.parent), key_of("games/a.jsonl")
    assert library.game(key, 2) == record_of(2).encode()
    for content in (record_of(1)[:100], "x" * 10**6):
        path.write_text(content)
        with pytest.raises(PageError, match="changed"):
            library.game(key, 2)
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(PageError, match="can't be read"):
        library.game(key, 2)


def test_damaged_games_are_skipped_and_reported_without_paths(tmp_path: Path) -> None:
    games, good = tmp_path / "games", record_of(1, actions=5)
    games.mkdir()
    (games / "cut.jsonl").write_text(good[: good.index("\n") + 1])
    (games / "junk.jsonl").write_text(good + "x" * 70_000 + "\n" + good)
    (games / "long.jsonl").write_text(good + '{"event": "shuffle"}\n' * 420_000 + good)
    state = indexed(games).state()
    assert (state["damaged"], state["games"]) == (3, 2)
    wanted = "cut.jsonl: line 2: the", "junk.jsonl: line 8: no JSON", "long.jsonl: line 1: the game"
    for complaint, begins in zip(sorted(state["complaints"]), wanted, strict=True):
        assert complaint.startswith(f"games/{begins}")
    assert str(tmp_path) not in json.dumps(state)


def test_any_browser_can_open_a_library_game_by_its_address(folder: Path) -> None:
    """Also before the library is indexed."""
    app, wrong = serve(folder), {f"{'0' * 16}/1": 404, f"{TWO}/99": 404, f"{TWO}/{'1' * 30}": 400}
    with client_of(app):
        ann, bob = another(app), another(app)
        replay = bob.get(f"/api/replays/{TWO}/4").json()
        assert bob.get(f"/api/library/{TWO}/4").text == record_of(3, NAMES)
        assert ann.get(f"/api/replays/{TWO}/4").json() == replay
        for path, status in [*wrong.items()] * 2:
            answer = bob.get(f"/api/library/{path}")
            assert (answer.status_code, {*answer.json()}) == (status, {"error"})
            assert bob.get(f"/api/replays/{path}").status_code == status


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (WorkerDiedError("3 processes died"), "3 processes died"),
        (MemoryError(), "too little memory on the server; try again later"),
        (ValueError("secret"), "see the server's log"),
    ],
)
def test_a_library_whose_reading_fails_recovers(
    error: Exception, told: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skyenv.page.library.games.REFRESH_INTERVAL", 0.0)
    app = serve(folder)
    with client_of(app):
        ann = another(app)
        with monkeypatch.context() as failing:
            failing.setattr("skyenv.page.library.games.read_changed", Mock(side_effect=error))
            answer = ann.get(f"/api/library/{TWO}/4")
            assert answer.status_code == 503
            assert answer.json() == {"error": f"the folders can't be read now: {told}"}
            assert ann.get("/api/library/state").json()["trouble"].endswith(told)
        assert ann.get(f"/api/library/{TWO}/4").text == record_of(3, NAMES)


# ---- in a browser ----


FALLING = "#games th[aria-sort=descending]:nth-child(5)"
GAMES: list[Step] = [
    ("", "#count", "10 games"),
    ("check", ".places [aria-current]", "Library"),
    ("set [name=players] 2", "#count", "7 games"),
    ("click #games th:nth-child(5) a", FALLING, HERE),
    ("reload", FALLING, HERE),  # the address is all there is
    ("", "#count", "7 games"),
    ("click #games tbody a", "#board svg", HERE),
]
LADDER: list[Step] = [
    ("", "#matrix button[aria-pressed=true]", HERE),
    ("", ".places a", "Library"),
    ("", "#about", "of Bidder, Builder, Appraiser is 1000"),
    ("", "#pair-games", "games of this pair"),
    ("check", "#matrix", HERE),
    ("click #which a[href*='players=2&side=front']", "#ratings", "Random.*random:"),
]


NO_LIBRARY: list[Step] = [
    ("", "#matrix button[aria-pressed=true]", HERE),
    ("", "#pair-games, .places [href='/library']", GONE),
]


@pytest.mark.parametrize(
    ("where", "steps"),
    [
        ("library", GAMES),
        ("ladder?players=3&side=front&one=greedy&other=builder", LADDER),
        ("ladder", NO_LIBRARY),
    ],
    ids=["games", "ladder", "no library"],
)
def test_games_and_ladders_are_browsed(
    page: Browser, folder: Path, where: str, steps: list[Step]
) -> None:
    running = RunningServer(serve(None if steps is NO_LIBRARY else folder, "127.0.0.1"))
    page.open(f"{running.address}/{where}")
    try:
        follow(page, steps)
    finally:
        running.stop()
