"""``python -m skyenv play`` and ``export``."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import httpx2
import pytest
from folders import make_run
from pages import address_of, choice_of, played

from processes import running, there, wait_until
from skyenv import cli
from skyenv.errors import OptionError
from skyenv.page import commands

PLAY = "-W", "error", "-m", "skyenv", "play", "--no-browser", "--port", 0, "--database"


@contextlib.contextmanager
def serving(
    *words: object, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    """The command with a database and more words, and a browser that has opened the page."""
    with (
        running(*PLAY, *words, environment=environment) as server,
        httpx2.Client(base_url=address_of(server), timeout=600) as ann,
    ):
        ann.get("/").raise_for_status()
        yield server, ann


def told(ann: httpx2.Client, path: str) -> dict[str, Any]:
    """What the interface answers."""
    return dict(ann.get(f"/api/{path}").raise_for_status().json())


def begin(ann: httpx2.Client, *seats: str) -> str:
    """A new game; the seat's address in the interface."""
    wanted = {"players": 2, "side": "front", "seats": seats, "seed": "5"}
    made = ann.post("/api/games", json=wanted).raise_for_status().json()
    return str(made["page"]).replace("/seat/", "seats/")


def act(ann: httpx2.Client, seat: str) -> int:
    """Play a seat's next action; the step of which that tells that it is stored."""
    state = told(ann, seat)
    wanted = {"actions": choice_of(state), "step": state["step"]}
    ann.post(f"/api/{seat}/act", json=wanted).raise_for_status()
    return int(state["step"]) + len(wanted["actions"])


def interrupt(server: subprocess.Popen[str]) -> None:
    """Ctrl-C ends it without a complaint."""
    server.send_signal(signal.SIGINT)
    _, complaint = server.communicate()
    assert (complaint, server.returncode) == ("", 0)


def test_play_serves_agents_games_and_trainings_until_it_is_interrupted(tmp_path: Path) -> None:
    games, database = tmp_path / "games", tmp_path / "d" / "games.sqlite3"
    games.mkdir()
    (games / "a.jsonl").write_text(played(seed=1, actions=5).to_record(["ann", "bob"]))
    make_run(tmp_path / "runs" / "first")
    words = "--agents", "skyenv.agents:RandomAgent", "--games", games, "--runs", tmp_path / "runs"
    with serving(database, *words) as (server, ann):
        names = [one["name"] for one in told(ann, "options")["agents"]]
        assert {"skyenv.agents:RandomAgent", "greedy"} <= {*names}
        wait_until(lambda: told(ann, "library")["games"], server)
        assert [game["names"] for game in told(ann, "library")["games"]] == [["ann", "bob"]]
        assert [run["name"] for run in told(ann, "runs")["runs"]] == ["runs/first"]
        interrupt(server)
    assert database.exists()


def test_a_killed_server_has_lost_nothing_that_it_answered(tmp_path: Path) -> None:
    """Killed while a browser acts as fast as it can; what was under way may have been done or
    not.
    """
    answered, seats, cookies = [0], list[str](), httpx2.Cookies()

    def act_until_killed(ann: httpx2.Client) -> None:
        with contextlib.suppress(httpx2.TransportError):
            while True:
                answered.append(act(ann, next(one for one in seats if told(ann, one)["yours"])))

    for wanted in (3, 20):
        with serving(tmp_path / "games") as (server, ann), ThreadPoolExecutor() as pool:
            while not told(ann, "preparing")["rules"]:
                time.sleep(0.01)
            if not seats:
                seats.append(begin(ann, "me", "human"))
                free = told(ann, seats[0])["invitations"][0]["page"].replace("/seat/", "seats/")
                ann.post(f"/api/{free}/claim").raise_for_status()
                seats.append(free)
                cookies = ann.cookies
            ann.cookies = cookies
            steps = [told(ann, seat)["step"] for seat in seats]
            assert answered[-1] <= max(steps)
            acting = pool.submit(act_until_killed, ann)
            while len(answered) <= wanted:
                wait([acting], timeout=0.01)
                assert not acting.done()
            server.kill()
            acting.result()
            server.communicate()


BLOCKING = """
import os, time
from pathlib import Path
from skyenv.agents import RandomAgent

HERE = Path(__file__).parent

class Blocking(RandomAgent):
    description = "decides at once unless there is a file called block"

    def act(self, decisions):
        if (HERE / "block").exists():
            with open(HERE / "begun", "a", encoding="ascii") as file:
                file.write(f"{os.getpid()}\\n")
        while (HERE / "block").exists():
            time.sleep(0.01)
        return super().act(decisions)
"""


def test_a_killed_worker_is_replaced_and_ctrl_c_ends_one_that_thinks(tmp_path: Path) -> None:
    """Other tables are played meanwhile; nothing but the address is printed, and no process is
    left.
    """
    (tmp_path / "blocking.py").write_text(BLOCKING, encoding="ascii")
    file, name = tmp_path / "begun", "blocking:Blocking"

    def begun() -> list[int]:
        return [int(line) for line in file.read_text("ascii").split()] if file.exists() else []

    def play_first(agent: str) -> str:
        seat = begin(ann, "me", f"agent:{agent}")
        ann.post(f"/api/{seat}/pause", json={"seconds": 0}).raise_for_status()
        act(ann, seat)
        return seat

    words = tmp_path / "games", "--workers", 3, "--agents", name
    with serving(*words, PYTHONPATH=str(tmp_path)) as (server, ann):
        wait_until(lambda: told(ann, "preparing")["ready"], server)
        (tmp_path / "block").touch()
        seat = play_first(name)
        wait_until(begun, server)
        os.kill(begun()[0], signal.SIGKILL)
        wait_until(lambda: len(begun()) == 2, server)  # the turn is another one's now
        other = play_first("random")
        wait_until(lambda: told(ann, other)["yours"], server)
        assert not told(ann, seat)["yours"]
        interrupt(server)
    wait_until(lambda: not any(there(worker) for worker in begun()))


REFUSED = [
    (["--games", "no/such/folder"], "there is no folder or file no/such/folder"),
    (["--runs", "no/such/folder"], "there is no folder or file no/such/folder"),
    (["--agents", "no.such.module:Agent"], "can't import"),
    (["--agents", "missing/model.npz"], "there is no such file"),
    (["--workers", "1"], "workers must be a whole number from 2 to 256"),
    (["--host", ""], "host must be an address"),
    (["--host", "no such name"], "can't listen on 'no such name'"),
    *(
        (["--public-host", name], "must be a server's name")
        for name in ("https://a.example", "a.example/", "*", "", "a b", "a:")
    ),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_play_cannot_do_is_told_in_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(["play", "--no-browser", "--database", str(tmp_path / "d"), *arguments])
    assert code == (1 if "missing/model.npz" in arguments else 2)
    printed = capsys.readouterr().err
    assert (message in printed, printed.count("\n")) == (True, 1)


def test_a_taken_port_is_told_unless_none_was_wanted() -> None:
    with commands.listen("127.0.0.1", None) as first, commands.listen("127.0.0.1", None) as second:
        taken = first.getsockname()[1]
        assert taken != second.getsockname()[1]
        with pytest.raises(OptionError, match=f"port {taken}"):
            commands.listen("127.0.0.1", taken)
        with socket.create_connection(first.getsockname()), first.accept()[0] as connection:
            # An answer doesn't wait for the browser to acknowledge its beginning.
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


RECORD = played(2, seed=1, actions=2).to_record()
LONG = played(2, seed=2, actions=8).to_record()
EXPORTS = [
    (RECORD + LONG, "--game 2 -o g\udcff.html", "g?.html: 8 actions"),
    (RECORD + RECORD + "damaged\n", "-o game.html", "2 actions"),
    (RECORD + LONG, "--game 3 -o game.html", "there is no game 3: the record has 2"),
    ("nothing\n\xff", "--game 1000000 -o game.html", "line 1: no JSON object"),
    (RECORD, "-o no/game.html", "export: error: no/game.html: "),
    (RECORD, "-o .", "export: error: .: "),
    (RECORD, "-o games.jsonl --replace", "is the record itself"),
    (RECORD, "-o link --replace", "is the record itself"),
]


@pytest.mark.parametrize(("record", "words", "message"), EXPORTS)
def test_export_writes_a_page_or_says_why_not(
    record: str,
    words: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where a file's name is no text."""
    monkeypatch.chdir(tmp_path)
    path = Path("games.jsonl")
    path.write_text(record, encoding="latin-1")
    Path("link").symlink_to(path)
    code = cli.main(["export", str(path), *words.split()])
    printed = capsys.readouterr()
    assert message in (printed.err if code else printed.out)
    assert path.read_text(encoding="latin-1") == record
    pages = [page.read_text(encoding="utf-8") for page in Path().glob("*.html")]
    assert ["<title>games.jsonl, game" in page for page in pages] == [True] * (code == 0)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
