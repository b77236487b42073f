"""``python -m skyenv play`` and ``export``."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import nullcontext
from pathlib import Path

import pytest
from pages import played

from skyenv import cli
from skyenv.errors import AgentError, OptionError, PageError
from skyenv.page import commands
from skyenv.page.offers import offers

ROOT = Path(__file__).resolve().parent.parent.parent


def test_play_serves_the_page_until_it_is_interrupted(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    database = tmp_path / "games.sqlite3"
    command = [sys.executable, "-W", "error", "-m", "skyenv", "play", "--no-browser", "--agents", "skyenv.agents:RandomAgent"]
    server = subprocess.Popen(
        [*command, "--port", str(port), "--database", str(database)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert f"http://127.0.0.1:{port}/" in server.stdout.readline()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/options", timeout=60) as answer:
            told = answer.read().decode()
        assert '"skyenv.agents:RandomAgent"' in told
        assert '"greedy"' in told
        time.sleep(0.5)
        server.send_signal(2)
        _, complaint = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
    assert complaint == ""
    assert server.returncode == 0
    assert database.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agents", "nobody"], "unknown agent"),
        (["--agents", "no.such.module:Agent"], "can't import"),
        (["--agents", "missing/model.npz"], "no network file"),
        (["--host", "no host at all"], "can't listen on"),
        (["--port", "65536"], "must be an integer from 0 to 65535"),
        *(
            (["--public-host", name], "must be a server's name")
            for name in ("https://a.example", "a.example/", "*", "", "a b", "a:")
        ),
    ],
)
def test_what_play_cannot_do_is_told_in_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) if arguments[0] in ("--port", "--public-host") else nullcontext():
        assert cli.main(["play", "--no-browser", "--database", str(tmp_path / "d"), *arguments]) in (1, 2)
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


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


def test_it_listens_to_this_machine_alone_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["play", "--help"])
    assert "127.0.0.1, this machine alone" in " ".join(capsys.readouterr().out.split())
    assert commands.HOST == "127.0.0.1"


def test_agents_are_those_named_then_the_usual_ones() -> None:
    names = offers(["skyenv.agents:CrowdAgent", "greedy"]).names
    assert names[:2] == ["skyenv.agents:CrowdAgent", "greedy"]
    assert {"random", "crowd", "hoard", "appraiser", "rollout"} <= set(names)
    assert len(names) == len(set(names))
    with pytest.raises(PageError, match="there is no agent"):
        offers()["os:system"]


def test_without_a_clone_the_built_in_agents_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyenv.agents.REGISTRY", "no_such_package.registry")
    assert offers(["skyenv.agents:CrowdAgent"]).names == ["skyenv.agents:CrowdAgent", "random", "crowd", "hoard"]
    with pytest.raises(AgentError, match="clone"):
        offers(["model.npz"])


def test_export_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "games.jsonl", tmp_path / "game.html"
    path.write_text(played(2, seed=1, actions=5).to_record() + played(2, seed=2, actions=8).to_record(), encoding="utf-8")
    assert cli.main(["export", str(path), "--game", "2", "-o", str(page)]) == 0
    assert "8 actions" in capsys.readouterr().out
    assert "games.jsonl, game 2" in page.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    for arguments, message in (
        (["--game", "3"], "has no game 3"),
        (["--game", "1", "-o", str(tmp_path / "no" / "folder.html")], "No such file"),
    ):
        assert cli.main(["export", str(path), "-o", str(page), *arguments]) in (1, 2)
        assert message in capsys.readouterr().err
    path.write_text("nothing\n", encoding="utf-8")
    assert cli.main(["export", str(path), "-o", str(page)]) == 1
    assert capsys.readouterr().err.startswith(f"skyenv: error: {path}: line 1: not JSON")
