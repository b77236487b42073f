"""``python -m skyenv play`` and ``export``."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import httpx2
import pytest
from folders import make_run
from pages import address_of, played, quick

from processes import running, there, wait_until
from skyenv import cli
from skyenv.errors import OptionError
from skyenv.page import commands

PLAY = "-W", "error", "-m", "skyenv", "play", "--no-browser", "--port", 0, "--database"


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
    with (
        running(*PLAY, database, *words) as server,
        httpx2.Client(base_url=address_of(server), timeout=600) as ann,
    ):

        def told(path: str) -> dict[str, Any]:
            return dict(ann.get(f"/api/{path}").raise_for_status().json())

        names = [one["name"] for one in told("options")["agents"]]
        assert {"skyenv.agents:RandomAgent", "greedy"} <= set(names)
        wait_until(lambda: told("library")["games"], server)
        assert [game["names"] for game in told("library")["games"]] == [["ann", "bob"]]
        assert [run["name"] for run in told("runs")["runs"]] == ["runs/first"]
        interrupt(server)
    assert database.exists()


def test_a_killed_server_has_lost_nothing_that_it_answered(tmp_path: Path) -> None:
    """Killed while a browser acts as fast as it can; what was under way may have been done or
    not.
    """
    seats: list[str] = []
    answered = [0]
    with httpx2.Client(timeout=600) as ann, ThreadPoolExecutor() as pool:
        for wanted in (3, 20):
            with running(*PLAY, tmp_path / "games.sqlite3") as server:
                ann.base_url = httpx2.URL(address_of(server))
                wait_until(lambda: ann.get("/api/preparing").json()["rules"], server)
                seats = seats or two_seats(ann)
                states = [ann.get(seat).json() for seat in seats]
                assert answered[-1] <= max(state["step"] for state in states) <= answered[-1] + 1
                acting = pool.submit(act_until_killed, ann, seats, answered)
                while len(answered) <= wanted:
                    wait([acting], timeout=0.01)
                    assert not acting.done()
                server.kill()
                acting.result()
                server.communicate()


def two_seats(ann: httpx2.Client) -> list[str]:
    """Both seats of a new game, of which one is taken afterwards, as from another tab."""
    ann.get("/").raise_for_status()
    request = {"players": 2, "side": "front", "seats": ["me", "human"], "seed": "5"}
    made = ann.post("/api/games", json=request).raise_for_status().json()
    own = str(made["page"]).replace("/seat/", "/api/seats/")
    free = str(ann.get(own).json()["invitations"][0]["page"]).replace("/seat/", "/api/seats/")
    ann.post(f"{free}/claim").raise_for_status()
    return [own, free]


def act_until_killed(ann: httpx2.Client, seats: list[str], answered: list[int]) -> None:
    """Play, by turns of the seats, as long as somebody answers; the steps of which that tells that
    they are stored.
    """
    with contextlib.suppress(httpx2.TransportError):
        while True:
            states = [ann.get(seat).json() for seat in seats]
            (turn,) = [number for number, state in enumerate(states) if state["yours"]]
            state = states[turn]
            action = quick([choice["action"] for choice in state["legal"]])
            ann.post(
                f"{seats[turn]}/act", json={"action": action, "step": state["step"]}
            ).raise_for_status()
            answered.append(state["step"] + 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--games", "no/such/folder"], "there is no folder or file no/such/folder"),
        (["--runs", "no/such/folder"], "there is no folder or file no/such/folder"),
        (["--agents", "nobody"], "unknown agent"),
        (["--agents", "no.such.module:Agent"], "can't import"),
        (["--agents", "missing/model.npz"], "there is no such file"),
        (["--host", "no host at all"], "can't listen on"),
        (["--workers", "1"], "workers must be a whole number from 2 to 256"),
        (["--port", "65536"], "must be a whole number from 0 to 65535"),
        *((["--host", host], "host must be an address") for host in ("", " ", "[]")),
        (["--host", "no such name"], "can't listen on 'no such name'"),
        *(
            (["--public-host", name], "must be a server's name")
            for name in ("https://a.example", "a.example/", "*", "", "a b", "a:")
        ),
    ],
)
def test_what_play_cannot_do_is_told_in_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(["play", "--no-browser", "--database", str(tmp_path / "d"), *arguments])
    assert code == (1 if "missing/model.npz" in arguments else 2)
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1


def test_a_taken_port_is_told_unless_none_was_wanted() -> None:
    assert commands.HOST == "127.0.0.1"
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
EXPORTS = {
    "the second": (RECORD + LONG, ["--game", "2"], "8 actions"),
    "nothing is read behind it": (RECORD + RECORD + "damaged\n", [], "2 actions"),
    "no such game": (RECORD + LONG, ["--game", "3"], "there is no game 3: the record has 2"),
    "no record": ("nothing\n", [], "line 1: no JSON object"),
    "no record, and gigabytes": ("nothing\n\xff", ["--game", "1000000"], "line 1: no JSON object"),
    "no folder": (RECORD, ["-o", "no/game.html"], "export: error: no/game.html: "),
    "a folder": (RECORD, ["-o", "."], "export: error: .: "),
    "itself": (RECORD, ["-o", "games.jsonl"], "is the record itself"),
    "itself by a link": (RECORD, ["-o", "link"], "is the record itself"),
}


@pytest.mark.parametrize("what", EXPORTS)
def test_export_writes_a_page_or_says_why_not(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    record, arguments, message = EXPORTS[what]
    path = Path("games.jsonl")
    path.write_text(record, encoding="latin-1")
    Path("link").symlink_to(path)
    output = arguments if "-o" in arguments else [*arguments, "-o", "game.html"]
    code = cli.main(["export", str(path), *output])
    printed = capsys.readouterr()
    assert message in (printed.err if code else printed.out)
    assert path.read_text(encoding="latin-1") == record
    page = Path("game.html")
    assert page.exists() == (code == 0)
    if code == 0:
        assert "<title>games.jsonl, game" in page.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_export_of_files_whose_names_are_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/g\xff.jsonl"))
    odd.write_text(RECORD, encoding="utf-8")
    page = odd.with_suffix(".html")
    assert cli.main(["export", str(odd), "-o", str(page)]) == 0
    assert "<title>g\ufffd.jsonl, game 1" in page.read_text(encoding="utf-8")
    assert "g?.html: 2 actions" in capsys.readouterr().out


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
    file, block = tmp_path / "begun", tmp_path / "block"
    words = tmp_path / "games", "--workers", 3, "--agents", "blocking:Blocking"

    def begun() -> list[int]:
        return [int(line) for line in file.read_text("ascii").split()] if file.exists() else []

    with (
        running(*PLAY, *words, environment={"PYTHONPATH": str(tmp_path)}) as server,
        httpx2.Client(base_url=address_of(server), timeout=600) as ann,
    ):
        wait_until(lambda: ann.get("/api/preparing").json()["ready"], server)
        block.touch()
        seat = play_first(ann, "blocking:Blocking")
        wait_until(begun, server)
        os.kill(begun()[0], signal.SIGKILL)
        wait_until(lambda: len(begun()) == 2, server)  # the turn is another one's now
        assert not ann.get(seat).json()["yours"]
        other = play_first(ann, "random")
        wait_until(lambda: ann.get(other).json()["yours"], server)
        block.unlink()
        wait_until(lambda: ann.get(seat).json()["yours"], server)
        block.touch()
        with ThreadPoolExecutor() as pool:
            hint = pool.submit(ann.get, f"{seat}/hint", params={"agent": "blocking:Blocking"})
            wait_until(lambda: len(begun()) == 3, server)
            interrupt(server)
            with contextlib.suppress(httpx2.TransportError):
                assert hint.result().status_code == 503
    wait_until(lambda: not any(there(worker) for worker in begun()))


def play_first(client: httpx2.Client, agent: str) -> str:
    """Begin a game and play its first action; the seat."""
    client.get("/")
    wanted = {"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    made = client.post("/api/games", json=wanted).raise_for_status().json()
    seat = str(made["page"]).replace("/seat/", "/api/seats/")
    client.post(f"{seat}/pause", json={"seconds": 0}).raise_for_status()
    action = client.get(seat).json()["legal"][0]["action"]
    client.post(f"{seat}/act", json={"action": action, "step": 0}).raise_for_status()
    return seat
