"""``python -m skyenv play`` and ``export``."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import httpx2
import pytest
from folders import make_run
from pages import played, quick

from processes import running, wait_until
from skyenv import cli
from skyenv.errors import OptionError
from skyenv.page import commands

ROOT = Path(__file__).resolve().parent.parent.parent


def test_an_answer_does_not_wait_for_the_browser_to_acknowledge_its_beginning() -> None:
    with (
        commands.listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
    ):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_play_serves_the_page_until_it_is_interrupted(tmp_path: Path) -> None:
    database = tmp_path / "games.sqlite3"
    command = [
        "-W",
        "error",
        "-m",
        "skyenv",
        "play",
        "--no-browser",
        "--agents",
        "skyenv.agents:RandomAgent",
    ]
    with running(*command, "--port", 0, "--database", database) as server:
        assert server.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
        assert address
        with urllib.request.urlopen(f"{address[0]}api/options") as answer:
            content = answer.read().decode()
        assert '"skyenv.agents:RandomAgent"' in content
        assert '"greedy"' in content
        server.send_signal(signal.SIGINT)
        _, complaint = server.communicate()
    assert complaint == ""
    assert server.returncode == 0
    assert database.exists()


def test_a_killed_server_has_lost_nothing_that_it_answered(tmp_path: Path) -> None:
    """Killed while a browser acts as fast as it can; what was under way may have been done or
    not.
    """
    command = [
        "-m",
        "skyenv",
        "play",
        "--no-browser",
        "--port",
        0,
        "--database",
        tmp_path / "games.sqlite3",
    ]
    seats: list[str] = []
    cookies: dict[str, str] = {}
    answered = [0]
    for wanted in (3, 40):
        with (
            running(*command) as server,
            httpx2.Client(timeout=600, cookies=cookies) as ann,
            ThreadPoolExecutor() as pool,
        ):
            assert server.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            assert address
            ann.base_url = httpx2.URL(address[0])
            while not ann.get("/api/preparing").json()["rules"]:
                time.sleep(0.01)
            if not seats:
                ann.get("/").raise_for_status()
                cookies.update(ann.cookies)
                request = {"players": 2, "side": "front", "seats": ["me", "human"], "seed": "5"}
                first = (
                    ann.post("/api/games", json=request)
                    .raise_for_status()
                    .json()["page"]
                    .replace("/seat/", "/api/seats/")
                )
                free = (
                    ann.get(first).json()["invitations"][0]["page"].replace("/seat/", "/api/seats/")
                )
                ann.post(f"{free}/claim").raise_for_status()
                games = ann.get("/api/games").json()["games"]
                seats = [
                    game["page"].replace("/seat/", "/api/seats/")
                    for game in sorted(games, key=lambda game: game["seat"])
                ]
            states = [ann.get(seat).json() for seat in seats]
            assert answered[-1] <= max(state["step"] for state in states) <= answered[-1] + 1
            acting = pool.submit(act_until_killed, ann, seats, answered)
            while len(answered) <= wanted:
                wait([acting], timeout=0.01)
                assert not acting.done()
            server.kill()
            acting.result()
            server.communicate()
    assert len(answered) > 40


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


def test_play_shows_folders_of_games_and_trainings(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "a.jsonl").write_text(played(seed=1, actions=5).to_record(["ann", "bob"]))
    make_run(tmp_path / "runs" / "first")
    words = [
        "-W",
        "error",
        "-m",
        "skyenv",
        "play",
        "--no-browser",
        "--port",
        0,
        "--database",
        tmp_path / "d" / "games.sqlite3",
    ]
    with running(*words, "--games", tmp_path / "games", "--runs", tmp_path / "runs") as server:
        assert server.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
        assert address

        def told(path: str) -> dict[str, Any]:
            with urllib.request.urlopen(f"{address[0]}{path}") as answer:
                return dict(json.load(answer))

        wait_until(lambda: told("api/library/state")["done"], server)
        assert [game["names"] for game in told("api/library")["games"]] == [["ann", "bob"]]
        assert [run["name"] for run in told("api/runs")["runs"]] == ["runs/first"]
        server.send_signal(signal.SIGINT)
        _, complaint = server.communicate()
    assert complaint == ""
    assert server.returncode == 0
    assert len([*(tmp_path / "d").glob("library-*.sqlite3")]) == 1


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
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OptionError, match=f"port {port}"):
            commands.listen("127.0.0.1", port)
    first = commands.listen("127.0.0.1", None)
    second = commands.listen("127.0.0.1", None)
    assert first.getsockname()[1] != second.getsockname()[1]
    first.close()
    second.close()


def test_it_listens_to_this_machine_alone_unless_told_otherwise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["play", "--help"])
    assert "127.0.0.1, this machine alone" in " ".join(capsys.readouterr().out.split())
    assert commands.HOST == "127.0.0.1"


def test_export_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "games.jsonl", tmp_path / "game.html"
    path.write_text(
        played(2, seed=1, actions=5).to_record() + played(2, seed=2, actions=8).to_record(),
        encoding="utf-8",
    )
    assert cli.main(["export", str(path), "--game", "2", "-o", str(page)]) == 0
    assert "8 actions" in capsys.readouterr().out
    assert "games.jsonl, game 2" in page.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    for arguments, message in (
        (["--game", "3"], "there is no game 3: the record has 2"),
        (["--game", "1", "-o", str(tmp_path / "no" / "folder.html")], "No such file"),
    ):
        assert cli.main(["export", str(path), "-o", str(page), *arguments]) in (1, 2)
        assert message in capsys.readouterr().err
    path.write_text("nothing\n", encoding="utf-8")
    assert cli.main(["export", str(path), "-o", str(page)]) == 1
    assert capsys.readouterr().err.startswith(f"export: error: {path}: line 1: no JSON object")


def test_export_reads_no_more_than_the_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file can be larger than memory; here a device without an end, and a game with something
    behind it.
    """
    page = tmp_path / "game.html"
    if os.path.exists("/dev/zero"):
        assert cli.main(["export", "/dev/zero", "-o", str(page)]) == 1
        assert capsys.readouterr().err.startswith(
            "export: error: /dev/zero: line 1: no JSON object: longer than"
        )
    path = tmp_path / "games.jsonl"
    text = played(2, seed=1, actions=2).to_record()
    path.write_text(text * 2 + "damaged\n", encoding="utf-8")
    assert cli.main(["export", str(path), "-o", str(page)]) == 0


def test_export_tells_at_once_that_it_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(file: str, number: int) -> None:
        raise AssertionError("nothing must be read, let alone drawn")

    monkeypatch.setattr(commands, "nth_game", read)
    for output in (tmp_path, tmp_path / "no" / "game.html"):
        assert cli.main(["export", str(tmp_path / "games.jsonl"), "-o", str(output)]) == 1
        assert capsys.readouterr().err.startswith(f"export: error: {output}: ")


def test_export_does_not_write_over_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, link = tmp_path / "games.jsonl", tmp_path / "link"
    path.write_text(played(2, seed=1, actions=2).to_record(), encoding="utf-8")
    link.symlink_to(path)
    before = path.read_bytes()
    for output in (path, link):
        assert cli.main(["export", str(path), "-o", str(output)]) == 2
        assert "is the record itself" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_export_looks_at_the_first_line_before_it_reads_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever game is asked for: the rest may be gigabytes."""
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"no record\n" + b"\xff" * 1000)
    for number in (1, 1_000_000):
        assert (
            cli.main(
                ["export", str(path), "--game", str(number), "-o", str(tmp_path / "game.html")]
            )
            == 1
        )
        assert capsys.readouterr().err.startswith(f"export: error: {path}: line 1: no JSON object")


def test_export_of_files_whose_names_are_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/g\xff.jsonl"))
    odd.write_text(played(2, seed=1, actions=2).to_record(), encoding="utf-8")
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
    command = [
        "-m",
        "skyenv",
        "play",
        "--no-browser",
        "--port",
        0,
        "--workers",
        3,
        "--agents",
        "blocking:Blocking",
    ]

    def begun() -> list[int]:
        file = tmp_path / "begun"
        return (
            [int(line) for line in file.read_text(encoding="ascii").split()]
            if file.exists()
            else []
        )

    with running(
        *command, "--database", tmp_path / "games", environment={"PYTHONPATH": str(tmp_path)}
    ) as server:
        assert server.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
        assert address
        with httpx2.Client(base_url=address[0], timeout=600) as ann:
            wait_until(lambda: ann.get("/api/preparing").json()["ready"], server)
            (tmp_path / "block").touch()
            seat, state = play_first(ann, "blocking:Blocking")
            wait_until(begun, server)
            os.kill(begun()[0], signal.SIGKILL)
            wait_until(lambda: len(begun()) == 2, server)  # the turn is another one's now
            assert ann.get(seat).json()["step"] == state["step"] + 1
            other, _ = play_first(ann, "random")
            wait_until(lambda: ann.get(other).json()["yours"], server)
            (tmp_path / "block").unlink()
            wait_until(lambda: ann.get(seat).json()["yours"], server)

            (tmp_path / "block").touch()
            connection = http.client.HTTPConnection(address[0].removeprefix("http://"))
            cookies = "; ".join(f"{name}={value}" for name, value in ann.cookies.items())
            connection.request(
                "GET", f"{seat}/hint?agent=blocking:Blocking", headers={"Cookie": cookies}
            )
            wait_until(lambda: len(begun()) == 3, server)
        server.send_signal(signal.SIGINT)
        _, complaint = server.communicate()
        connection.close()
    assert complaint == ""
    assert server.returncode == 0
    wait_until(lambda: not any(is_running(worker) for worker in begun()))


def play_first(client: httpx2.Client, agent: str) -> tuple[str, dict[str, Any]]:
    """Begin a game and play its first action: the seat, and what it was told before."""
    client.get("/")
    made = client.post(
        "/api/games", json={"players": 2, "side": "front", "seats": ["me", f"agent:{agent}"]}
    ).raise_for_status()
    seat = str(made.json()["page"]).replace("/seat/", "/api/seats/")
    client.post(f"{seat}/pause", json={"seconds": 0}).raise_for_status()
    state: dict[str, Any] = client.get(seat).json()
    client.post(
        f"{seat}/act", json={"action": state["legal"][0]["action"], "step": 0}
    ).raise_for_status()
    return seat, state


def is_running(process: int) -> bool:
    """Whether a process does anything still."""
    done = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()[:1] not in ("", "Z")
