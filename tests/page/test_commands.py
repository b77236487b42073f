"""``python -m skyenv play`` and ``export``."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pages import act, address_of, begin, payload, played, wait_for_turn

import skyenv_agents
from processes import running, there, wait_until
from skyenv import cli
from skyenv.errors import OptionError
from skyenv.page import commands

PLAY = "-W", "error", "-m", "skyenv", "play", "--no-browser", "--port", 0, "--database"


@contextlib.contextmanager
def serving(
    *words: object, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    """Run the command with a database and more words; yield it and a client."""
    with (
        running(*PLAY, *words, environment=environment) as server,
        httpx2.Client(base_url=address_of(server), timeout=600) as ann,
    ):
        ann.get("/").raise_for_status()
        yield server, ann


def told(ann: httpx2.Client, path: str) -> dict[str, Any]:
    """Return a response of the API."""
    return dict(ann.get(f"/api/{path}").raise_for_status().json())


def interrupt(server: subprocess.Popen[str]) -> None:
    """Send SIGINT; the server ends without an error."""
    server.send_signal(signal.SIGINT)
    _, complaint = server.communicate()
    assert (complaint, server.returncode) == ("", 0)


def test_a_killed_server_resumes_its_games(tmp_path: Path) -> None:
    games, database = tmp_path / "games", tmp_path / "d" / "games.sqlite3"
    games.mkdir()
    (games / "a.jsonl").write_text(played(seed=1, actions=5).to_record(["ann", "bob"]))
    (run := tmp_path / "runs" / "first").mkdir(parents=True)
    shutil.copy(
        Path(skyenv_agents.__file__).parent / "trained" / "2-players.npz", run / "model.npz"
    )
    with serving(database) as (server, ann):
        seat = begin(ann, ["me", "agent:random"])
        ann.post(f"{seat}/pause", json={"seconds": 10})
        act(ann, seat, payload(ann, seat))
        before = payload(ann, seat)
        server.kill()
    words = "--agents", "skyenv.agents:RandomAgent", run, "--games", games
    with serving(database, *words) as (server, later):
        later.cookies = ann.cookies
        assert payload(later, seat) == before
        later.post(f"{seat}/pause", json={"seconds": 0})
        assert wait_for_turn(later, seat)["step"] == 3, "the agent goes on"
        names = [one["name"] for one in told(later, "options")["agents"]]
        assert {"skyenv.agents:RandomAgent", str(run), "greedy"} <= {*names}
        wait_until(lambda: told(later, "library")["games"], server)
        begin(later, ["me", f"agent:{run}"])
        interrupt(server)


BLOCKING = """
import os, time
from pathlib import Path
from skyenv.agents import RandomAgent

BEGUN = Path(__file__).with_name("begun")

class Blocking(RandomAgent):
    description = "decides at once unless there is a file called begun"

    def act(self, decisions):
        if BEGUN.exists():
            with open(BEGUN, "a", encoding="ascii") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(10**6)
        return super().act(decisions)
"""


def test_killed_workers_are_replaced_and_sigint_ends_busy_ones(tmp_path: Path) -> None:
    """Only the address is printed, and no process is left."""
    (tmp_path / "blocking.py").write_text(BLOCKING, encoding="ascii")
    file, name = tmp_path / "begun", "blocking:Blocking"

    def begun() -> list[int]:
        return [int(line) for line in file.read_text("ascii").split()]

    words = tmp_path / "games", "--workers", 3, "--agents", name
    with serving(*words, PYTHONPATH=str(tmp_path)) as (server, ann):
        wait_until(lambda: told(ann, "preparing")["ready"], server)
        file.touch()
        seat = begin(ann, ["me", f"agent:{name}"])
        act(ann, seat, payload(ann, seat))
        wait_until(begun, server)
        os.kill(begun()[0], signal.SIGKILL)
        wait_until(lambda: len(begun()) == 2, server)  # the turn is another one's now
        interrupt(server)
    wait_until(lambda: not any(there(worker) for worker in begun()))


REFUSED = [
    (["--games", "no/such/folder"], "there is no folder or file no/such/folder"),
    (["--agents", "no.such.module:Agent"], "can't import"),
    (["--workers", "1"], "workers must be a whole number from 2 to 256"),
    (["--host", "no such name"], "can't listen on 'no such name'"),
    (["--public-host", "https://a.example"], "must be a server's name"),
    (["--public-host", "*"], "must be a server's name"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_invalid_options_of_play_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["play", "--no-browser", "--database", str(tmp_path / "d"), *arguments]) == 2
    printed = capsys.readouterr().err
    assert (message in printed, printed.count("\n")) == (True, 1)


def test_a_port_in_use_is_an_error_if_requested() -> None:
    with commands.listen("127.0.0.1", None) as first, commands.listen("127.0.0.1", None) as second:
        taken = first.getsockname()[1]
        assert taken != second.getsockname()[1]
        with pytest.raises(OptionError, match=f"port {taken}"):
            commands.listen("127.0.0.1", taken)


GAMES = "".join(played(2, seed=1, actions=actions).to_record() for actions in (2, 8))
EXPORTS = [
    (GAMES, "--game 2 -o g\udcff.html", "g?.html: 8 actions"),
    (GAMES, "--game 3 -o game.html", "there is no game 3: the record has 2"),
    ("nothing\n\xff", "-o game.html", "line 1: no JSON object"),
    (GAMES, "-o .", "export: error: .: "),
    (GAMES, "-o link --replace", "is the record itself"),
]


@pytest.mark.parametrize(("record", "words", "message"), EXPORTS)
def test_export_writes_a_page_or_one_error(
    record: str,
    words: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also if the file's name isn't valid text."""
    monkeypatch.chdir(tmp_path)
    path = Path("games.jsonl")
    path.write_text(record, encoding="latin-1")
    Path("link").symlink_to(path)
    code = cli.main(["export", str(path), *words.split()])
    printed = capsys.readouterr()
    assert message in (printed.err if code else printed.out)
    assert path.read_text(encoding="latin-1") == record
    assert len(list(Path().iterdir())) == 2 + (code == 0)
