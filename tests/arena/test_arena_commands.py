"""``python -m skyenv evaluate`` and ``tournament``: what they print and write, Ctrl-C, newcomers,
mistakes.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest
from test_evaluate import Interrupted
from tournaments import lines

from processes import running, wait_until
from skyenv import cli, records
from skyenv.agents import RandomAgent
from skyenv.arena import commands, ladder
from skyenv.arena.evaluate import as_json, evaluate, table
from skyenv.seeds import secret_seeds


def main(words: list[str]) -> int:
    """``python -m skyenv tournament``."""
    return cli.main(["tournament", *words])


# ---- evaluate ----


def test_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what the library finds, writes what is asked for, and tells the command that
    repeats it.
    """
    json_file, record_file = tmp_path / "results.json", tmp_path / "games.jsonl"
    words = "greedy --against random greedy --players 3 --side back --paired-seeds 3 --seed 9"
    files = ["--json", str(json_file), "--record", str(record_file), "--record-games", "2"]
    assert cli.main(["evaluate", *words.split(), *files]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    shown, again = printed.out.removesuffix("\n").split(
        "\n\nThe same games again: python -m skyenv "
    )
    secret = int(again.split()[again.split().index("--secret") + 1])
    results = evaluate("greedy", ["random", "greedy"], 3, "back", 3, 9, secret=secret)
    assert (shown, json_file.read_text()) == (table(results), as_json(results))
    assert sorted(tmp_path.iterdir()) == [record_file, json_file]
    assert records.verify(record_file).games == 4
    lines = map(json.loads, record_file.read_text().splitlines())
    seeds = [line["seed"] for line in lines if "format" in line]
    assert seeds == secret_seeds(secret, [9, 9]).tolist() * 2


def test_evaluate_tells_what_repeats_it(capsys: pytest.CaptureFixture[str]) -> None:
    short = ["random", "--against", "hoard", "--paired-seeds", "1", "--max-turns", "9"]
    outputs = []
    for _ in range(2):
        assert cli.main(["evaluate", *short]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] != outputs[1], "each has a secret of its own"
    words = shlex.split(outputs[0].splitlines()[-1].partition("python -m skyenv evaluate ")[2])
    assert cli.main(["evaluate", *words]) == 0
    assert capsys.readouterr().out == outputs[0]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nobody"],
        ["greedy", "--against", "nowhere.zip"],
        ["greedy", "--paired-seeds", "0"],
    ],
)
def test_wrong_evaluations(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = cli.main(["evaluate", *arguments])
    except SystemExit as leaving:
        code = int(str(leaving.code))
    printed = capsys.readouterr()
    assert code == (
        1 if "nowhere.zip" in arguments else 2
    )  # 1: the command is right, but a file isn't
    assert printed.out == ""
    assert printed.err.startswith("evaluate: error: ")
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 300


@pytest.mark.parametrize("wrong", ["--json", "--record"])
def test_a_file_that_cannot_be_written(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told before a game is played, and nothing is written to the others."""
    nowhere = str(tmp_path / "nowhere" / "file")
    paths = {option: str(tmp_path / option) for option in ("--json", "--record")}
    paths[wrong] = nowhere
    words = [word for pair in paths.items() for word in pair]
    assert (
        cli.main(["evaluate", "random", "--against", "random", "--paired-seeds", "1", *words]) == 1
    )
    assert capsys.readouterr() == ("", f"evaluate: error: {nowhere}: No such file or directory\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("calls", [1, 700])
def test_interrupting_the_command(
    calls: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = {"impatient": Interrupted(calls), "random": RandomAgent()}
    monkeypatch.setattr(
        commands, "make_agent", lambda spec, deterministic=False: agents.get(spec, spec)
    )
    assert (
        cli.main(["evaluate", "impatient", "--against", "random", "--paired-seeds", "600"]) == 130
    )
    printed = capsys.readouterr()
    assert (
        printed.err == "evaluate: error: interrupted"
        f"{'' if calls > 1 else ' before the first paired seed was finished'}\n"
    )
    assert ("* interrupted; " in printed.out) == (calls > 1)


# ---- tournament ----


@pytest.mark.usefixtures("in_this_process")
def test_a_small_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, shipped = tmp_path / "out", tmp_path / "shipped"
    command = [
        "random",
        "crowd",
        "greedy",
        "--paired-seeds",
        "6",
        "--workers",
        "1",
        "--out",
        str(out),
        "--publish",
        str(shipped),
    ]
    assert main([*command, "--secret", "99"]) == 0
    printed = capsys.readouterr()
    assert printed.out == (out / "ladder.txt").read_text()
    content = ladder.read(out / "ladder.json", 2)
    assert [agent["name"] for agent in content["agents"]] == ["greedy", "crowd", "random"]
    assert (content["paired_seeds"], content["games"], content["players"]) == (6, 36, 2)
    assert sum(agent["rating"]["mean"] for agent in content["agents"]) / 3 == pytest.approx(
        1000, abs=0.1
    ), "none is an anchor"
    assert content["anchors"] == {"names": ["random", "crowd", "greedy"], "points": 1000.0}
    assert content["agents"][0]["wins"]["mean"] > 0.9
    assert content["agents"][0]["decisions_per_second"] > 0
    assert content["pairs"][0][1]["mean"] + content["pairs"][1][0]["mean"] == pytest.approx(1)
    assert content["pairs"][1][1] is None
    assert np.shape(content["samples"]) == (ladder.SAMPLES, 3)
    assert content["command"] == (
        "python -m skyenv tournament random crowd greedy --players 2 --side front --max-turns 500 "
        "--seed 1"
        " --secret 99 --paired-seeds 6"
    )
    assert printed.out.endswith(f"\n\nThe same games again: {content['command']}\n")
    assert (out / "ladder.png").read_bytes().startswith(b"\x89PNG")
    for ending in ("json", "png"):
        published = shipped / f"2-players.{ending}"
        assert published.read_bytes() == (out / f"ladder.{ending}").read_bytes()
    assert max(map(len, printed.out.splitlines()[:-1])) <= 80

    games = lines(out)
    assert main(["--resume", "--paired-seeds", "6", "--out", str(out)]) == 0
    assert lines(out) == games
    assert ladder.read(out / "ladder.json", 2) == content | {"date": ANY}


@pytest.mark.usefixtures("in_this_process")
def test_resuming_goes_on_to_what_it_was_begun_with(tmp_path: Path) -> None:
    begun = ["random", "hoard", "--max-turns", "5", "--paired-seeds", "4", "--out", str(tmp_path)]
    resumed = ["--resume", "--out", str(tmp_path)]
    assert main(begun) == 0
    whole = lines(tmp_path)
    games = tmp_path / "games.jsonl"
    games.write_text(
        "".join(
            f"{line}\n" for line in games.read_text().splitlines() if '"paired_seed":3' not in line
        )
    )
    assert len(lines(tmp_path)) == 6
    assert main(resumed) == 0
    assert lines(tmp_path) == whole
    assert main([*resumed, "--paired-seeds", "5"]) == 0
    assert len(lines(tmp_path)) == 10
    resume = {"agents": (), "resume": True, "out": tmp_path}
    assert commands.earlier(resume)["paired_seeds"] == 4
    assert not {"paired_seeds", "minutes"} & set(commands.earlier({**resume, "minutes": 2.0}))


@pytest.mark.usefixtures("in_this_process")
def test_the_command_that_is_told_repeats_the_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it is printed, without a folder: one is chosen, in which the same command goes on.

    The secret is in it.
    """
    monkeypatch.chdir(tmp_path)
    short = ["random", "hoard", "--max-turns", "5", "--paired-seeds", "2"]
    assert main(short) == 0
    printed = capsys.readouterr()
    (folder,) = (tmp_path / "runs").iterdir()
    assert (
        printed.err
        == f"tournament: the games are kept in runs/{folder.name}; the same command goes on there\n"
    )
    assert main(short) == 0
    assert capsys.readouterr().out == printed.out
    again = printed.out.splitlines()[-1].partition("python -m skyenv tournament ")[2]
    assert main([*shlex.split(again), "--out", "again"]) == 0
    assert lines(tmp_path / "again") == lines(folder)
    assert main([*short, "--out", "other"]) == 0
    assert lines(tmp_path / "other") != lines(folder), "another secret"
    assert main([*short, "--players", "3"]) == 0
    assert len(list((tmp_path / "runs").iterdir())) == 2


@pytest.mark.usefixtures("in_this_process")
def test_without_matplotlib_there_is_a_ladder_without_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("skyenv.render.extras.find_spec", lambda name: None)
    short = ["random", "hoard", "--max-turns", "5", "--paired-seeds", "1", "--out", str(tmp_path)]
    assert main(short) == 0
    printed = capsys.readouterr()
    assert printed.err == "tournament: no ladder.png, as matplotlib isn't installed\n"
    assert printed.out == (tmp_path / "ladder.txt").read_text()
    assert "1 paired seed, 2 games;" in printed.out
    assert not (tmp_path / "ladder.png").exists()
    assert main([*short, "--publish", str(tmp_path)]) == 1
    assert "matplotlib" in capsys.readouterr().err


def test_ctrl_c_reports_and_tells_the_command_that_goes_on(tmp_path: Path) -> None:
    command = [
        "-m",
        "skyenv",
        "tournament",
        "random",
        "hoard",
        "--out",
        tmp_path,
        "--workers",
        1,
        "--minutes",
        1000,
    ]
    with running(*command, start_new_session=True) as process:
        wait_until(
            lambda: (tmp_path / "games.jsonl").exists() and len(lines(tmp_path)) >= 6, process
        )
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it as well
        out, err = process.communicate()
    assert process.returncode == 130
    interrupted, goes_on = (
        err.strip().splitlines()[-1].split("; go on with: python -m skyenv tournament ")
    )
    assert interrupted == "tournament: error: interrupted"
    assert shlex.split(goes_on) == ["--resume", "--out", str(tmp_path)]
    assert "Traceback" not in err
    assert out == (tmp_path / "ladder.txt").read_text()
    assert f"{len(lines(tmp_path)):,} games" in out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["random", "crowd", "--resume"], 2, "--resume needs --out FOLDER"),
        (["random", "--out", "OUT"], 2, "at least two agents"),
        (["random", "random", "--out", "OUT"], 2, "two agents are called random"),
        (
            ["random", "crowd", "--paired-seeds", "5", "--minutes", "5"],
            2,
            "paired seeds and minutes both say how long",
        ),
        (["random", "crowd", "--ladder", "x"], 2, "--ladder goes with --add"),
        (["--resume", "--out", "OUT"], 1, "nothing to go on with"),
        (["--add", "random", "crowd"], 2, "--add takes one agent"),
        (["--add", "random", "--ladder", "OUT"], 1, "there is no ladder"),
        (["random", "crowd", "--out", "/dev/null/x"], 1, "Not a directory"),
    ],
)
def test_wrong_tournaments(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        left_with = main([argument.replace("OUT", str(tmp_path / "out")) for argument in arguments])
    except SystemExit as leaving:
        left_with = int(str(leaving.code))
    printed = capsys.readouterr()
    assert (left_with, printed.out) == (code, "")
    assert printed.err.startswith("tournament: error: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1


# ---- newcomers ----


@pytest.mark.usefixtures("in_this_process", "odd_agents")
def test_a_newcomer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, shipped = tmp_path / "out", tmp_path / "shipped"
    for players in (2, 3):
        size = ["--players", str(players)]
        base = [
            "random",
            "crowd",
            *size,
            "--paired-seeds",
            "5",
            "--out",
            str(out / str(players)),
            "--publish",
            str(shipped),
        ]
        assert main(base) == 0
        path = shipped / f"{players}-players.json"
        add = [
            "--add",
            "random",
            *size,
            "--paired-seeds",
            "4",
            "--ladder",
            str(path),
            "--out",
            str(out / f"add{players}"),
        ]
        capsys.readouterr()
        assert main(add) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        content = json.loads((out / f"add{players}" / "newcomer.json").read_text())
        assert (content["name"], content["spec"], content["paired_seeds"]) == (
            "new random",
            "random",
            4,
        )
        rungs = {rung["name"]: rung for rung in content["against"]}
        assert 1 <= content["place"] <= 3
        assert content["rating"]["low"] < content["rating"]["mean"] < content["rating"]["high"]
        assert (
            content["rating"]["low"] < rungs["random"]["rating"]["mean"] < content["rating"]["high"]
        )
        assert 0 <= rungs["crowd"]["share"]["mean"] <= 1
        assert f"place {content['place']} of 3" in printed.out
        assert f"→{content['place']}" in printed.out
        assert out.joinpath(f"add{players}", "games.jsonl").exists()
        secret = json.loads((out / f"add{players}" / "config.json").read_text())["secret"]
        assert f"--secret {secret} --paired-seeds 4 --ladder {path}\n" in printed.out

    old = json.loads(path.read_text())
    old["agents"][0]["version"] = "0"
    path.write_text(json.dumps(old))
    assert (
        main(
            [
                "--add",
                "odd_agents:Moody",
                "--players",
                "3",
                "--paired-seeds",
                "1",
                "--ladder",
                str(path),
            ]
        )
        == 0
    )
    printed = capsys.readouterr()
    assert (
        f"warning: {old['agents'][0]['name']} is version 1 here, but 0 in the ladder" in printed.err
    )
    assert printed.out.startswith("moody: rating ")
    assert main(["--add", "random", "--players", "3", "--side", "back", "--ladder", str(path)]) == 2
    assert "the ladder was played with side front, not back" in capsys.readouterr().err


def test_publishing_without_a_clone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ladder, "PICTURES", Path("/nowhere/docs/ladder"))
    assert main(["random", "hoard", "--publish"]) == 2
    assert "outside of a clone --publish needs a folder" in capsys.readouterr().err
