"""The command line: what it prints, what it writes, and one line for every mistake."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import skyenv
from processes import python, running, wait_until
from referee import check_record
from skyenv import cli, records
from skyenv.agents import Decisions, RandomAgent, decide_game, make_agent
from skyenv.commands import BAD_COMMAND, BAD_DATA, INTERRUPTED
from skyenv.engine.game import Game
from skyenv.render.raster import png
from skyenv.render.svg import svg
from skyenv.render.text import text


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """``python -m skyenv`` with arguments, as a process."""
    return python("-m", "skyenv", *arguments, **options)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A record of three short games."""
    path = tmp_path / "games.jsonl"
    assert (
        cli.main(["record", "--games", "3", "--seed", "5", "--max-turns", "8", "-o", str(path)])
        == 0
    )
    return path


def test_without_a_command_the_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        cli.main([])
    printed = capsys.readouterr().out
    assert all(f"\n    {name}" in printed for name in cli.COMMANDS)


# ---- record ----


def test_game_i_has_seed_s_plus_i_and_is_the_game_that_the_library_plays(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    command = (
        "record --players 3 --side back --games 3 --seed 8 "
        "--agents crowd,random,hoard --max-turns 30"
    )
    assert cli.main([*command.split(), "-o", str(path)]) == 0
    names = ["crowd", "random", "hoard"]
    agents = [make_agent(name) for name in names]
    expected = ""
    for seed in (8, 9, 10):
        game = Game(3, "back", seed, max_turns=30)
        while game.seat is not None:
            game.play(decide_game(game, agents[game.seat]))
        expected += game.to_record(names)
    assert path.read_text(encoding="utf-8") == expected
    check_record(expected.splitlines())


def test_the_largest_seed_is_followed_by_zero(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    assert (
        cli.main(
            [
                "record",
                "--games",
                "2",
                "--seed",
                str(2**63 - 1),
                "--max-turns",
                "1",
                "-o",
                str(path),
            ]
        )
        == 0
    )
    assert [lines.header.value["seed"] for lines in records.iter_games(path)] == [2**63 - 1, 0]


def test_without_a_seed_games_differ_and_tell_their_seed(tmp_path: Path) -> None:
    texts = set()
    for name in ("a", "b"):
        assert cli.main(["record", "--max-turns", "1", "-o", str(tmp_path / name)]) == 0
        texts.add((tmp_path / name).read_text(encoding="utf-8"))
    assert len(texts) == 2
    assert all(isinstance(json.loads(text.splitlines()[0])["seed"], int) for text in texts)


def test_an_agent_by_import_string_and_a_board_by_file(tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text(
        '[rings]\nTSQ = ["gray", "orange", "green", "brown", "violet"]\n', encoding="utf-8"
    )
    path = tmp_path / "game.jsonl"
    agent = "skyenv.agents:RandomAgent"
    arguments = [
        "--seed",
        "1",
        "--max-turns",
        "4",
        "--board",
        str(board),
        "--agents",
        f"random, {agent}",
    ]
    assert cli.main(["record", *arguments, "-o", str(path)]) == 0
    header = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert header["rings"][3] == ["gray", "orange", "green", "brown", "violet"]
    assert header["agents"] == ["random", agent]
    assert cli.main(["verify", str(path)]) == 0


def test_legal_actions_are_written_on_demand(tmp_path: Path) -> None:
    with_legal, without = tmp_path / "with", tmp_path / "without"
    arguments = ["record", "--seed", "1", "--max-turns", "3", "-o"]
    assert cli.main([*arguments, str(with_legal), "--legal"]) == 0
    assert cli.main([*arguments, str(without)]) == 0
    lines = [json.loads(line) for line in with_legal.read_text(encoding="utf-8").splitlines()]
    assert all(
        line["action"] in line.pop("legal") for line in lines if line.get("event") == "action"
    )
    assert lines == [json.loads(line) for line in without.read_text(encoding="utf-8").splitlines()]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_leaves_no_half_written_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("old")
    arguments = ["record", "--games", 10**9, "--players", 4, "--seed", 1, "-o", path]
    with running("-m", "skyenv", *arguments) as process:
        wait_until(lambda: max(p.stat().st_size for p in tmp_path.iterdir()) > 10_000, process)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate()
    assert process.returncode == INTERRUPTED
    assert complaint.splitlines()[-1] == "record: error: interrupted"
    assert "Traceback" not in complaint
    assert [p.name for p in tmp_path.iterdir()] == ["games.jsonl"]
    assert path.read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_a_pipe_can_be_written_to() -> None:
    process = run("record", "--seed", 1, "--max-turns", 2, "-o", "/dev/stdout")
    assert (process.returncode, process.stderr) == (0, "")
    assert records.verify(io.StringIO(process.stdout)).games == 1


# ---- verify ----


def test_verify_prints_what_it_counted(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    actions = games.read_text(encoding="utf-8").count('"event": "action"')
    assert cli.main(["verify", str(games)]) == 0
    assert capsys.readouterr() == (f"{games}: 3 games, {actions} actions, no mistake\n", "")


def test_verify_tells_the_first_mistake_and_fails(
    games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = games.read_text(encoding="utf-8").splitlines()
    lines[5] = lines[5].replace('"seat": ', '"seat": 1')
    games.write_text("\n".join(lines), encoding="utf-8")
    assert cli.main(["verify", str(games)]) == BAD_DATA
    output, complaint = capsys.readouterr()
    assert output == ""
    assert complaint.startswith(f"verify: error: {games}: line 6: ")
    assert complaint.count("\n") == 1


def test_the_progress_bar_is_for_terminals_alone(
    games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    command = ["record", "--games", "4", "--seed", "1", "--max-turns", "2", "-o", str(games)]
    for stream, visible in ((io.StringIO(), False), (Terminal(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert cli.main(command) == 0
        assert cli.main(["verify", str(games)]) == 0
        assert ("game" in stream.getvalue()) == visible


# ---- show ----


def test_show_prints_the_position(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", str(games)]) == 0
    assert text(Game.replay(records.nth_game(games)).state) in capsys.readouterr().out
    game = Game.replay(records.nth_game(games, 2), 20)
    assert cli.main(["show", str(games), "--game", "2", "--step", "20"]) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[0].startswith(f"{games}, game 2, after 20 actions: seat ")
    assert output.endswith(f"\n\n{text(game.state)}\n")
    assert cli.main(["show", str(games), "--game", "2", "--step", "20", "--seat", "1"]) == 0
    assert capsys.readouterr().out.endswith(f"\n\n{text(game.state, 1)}\n")


def test_show_on_a_terminal_without_the_frames(games: Path) -> None:
    process = run("show", games, environment={"PYTHONIOENCODING": "ascii"})
    assert (process.returncode, process.stderr) == (0, "")
    assert "CENTRAL PARK" in process.stdout


# ---- pictures ----


def test_show_draws_the_position(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["show", str(games), "--game", "2", "--step", "20", "--seat", "1", "--theme", "dark"]
    assert (
        cli.main(
            [
                *command,
                "--svg",
                str(tmp_path / "a.svg"),
                "--png",
                str(tmp_path / "a.png"),
                "--width",
                "800",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out == ""
    game = Game.replay(records.nth_game(games, 2), 20)
    drawn = svg(game.state, 1, theme="dark", events=game.events, agents=["random"] * 2, width=800)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == drawn
    assert (tmp_path / "a.png").read_bytes() == png(drawn)


def test_both_pictures_are_drawn_or_none(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["show", str(games), "--svg", str(tmp_path / "a.svg"), "--png"]
    assert cli.main([*command, str(tmp_path / "nowhere" / "a.png")]) == BAD_DATA
    assert "a.png: No such file" in capsys.readouterr().err
    monkeypatch.setattr("skyenv.render.extras.find_spec", lambda name: None)
    assert cli.main([*command, str(tmp_path / "a.png")]) == BAD_DATA
    assert "install the extra [pictures]" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="no /dev/stdin")
def test_show_draws_what_comes_through_a_pipe(games: Path, tmp_path: Path) -> None:
    """It can be read once: the position and the names of the agents come of the same reading."""
    out = tmp_path / "a.svg"
    process = run(
        "show",
        "/dev/stdin",
        "--game",
        2,
        "--step",
        20,
        "--svg",
        out,
        input=games.read_text(encoding="utf-8"),
    )
    assert (process.returncode, process.stderr) == (0, "")
    game = Game.replay(records.nth_game(games, 2), 20)
    assert out.read_text(encoding="utf-8") == svg(
        game.state, events=game.events, agents=["random"] * 2
    )


def test_files_whose_names_are_no_text(games: Path, tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/g\xff.jsonl")
    os.rename(games, odd)
    process = run("show", odd)
    assert (process.returncode, process.stderr) == (0, "")
    assert "g?.jsonl" in process.stdout


def test_show_draws_an_evaluation(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sure(RandomAgent):
        def evaluate(
            self, decisions: Decisions
        ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
            return np.eye(103)[decisions.mask.argmax(axis=1)], np.full(len(decisions), 0.25)

    monkeypatch.setattr("skyenv.agents.Sure", Sure, raising=False)
    out = tmp_path / "a.svg"
    assert (
        cli.main(
            [
                "show",
                str(games),
                "--step",
                "20",
                "--evaluation",
                "skyenv.agents:Sure",
                "--svg",
                str(out),
            ]
        )
        == 0
    )
    drawn = out.read_text(encoding="utf-8")
    assert "AN AGENT'S EVALUATION" in drawn
    assert "100 %" in drawn
    assert "expects +0.25" in drawn


def test_film_writes_a_film(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "film.gif"
    assert (
        cli.main(
            [
                "film",
                str(games),
                "--game",
                "2",
                "--from",
                "3",
                "--to",
                "7",
                "--every",
                "2",
                "--width",
                "200",
                "-o",
                str(out),
            ]
        )
        == 0
    )
    assert capsys.readouterr().out == f"{out}: 3 pictures\n"
    assert out.read_bytes().startswith(b"GIF89a")


# ---- mistakes ----


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("dance", "invalid choice: 'dance'"),
        ("verify", "FILE is required: the record"),
        ("record", "-o/--output is required: the file to write"),
        ("record -o {out} --games 0", "games must be a whole number from 1"),
        ("record -o {out} --seed 9223372036854775808", "seed must be"),
        ("record -o {out} --max-turns 2147483648", "max_turns must be"),
        ("record -o {out} --agents nobody", "nobody"),
        (
            "record -o {out} --agents random,random,random",
            "agents names 3; it must be one, or one for each of the 2 seats",
        ),
        ("record -o {out} --agents ,", "unknown agent ''"),
        ("record -o {out} --agents no.such.module:Name", "no.such.module"),
        ("record -o {out} --game 3", "--game"),
        ("show {games} --seat 3", "seat must be a whole number from 0 to 1"),
        ("show {games} --seat 3 --svg {out}", "seat must be a whole number from 0 to 1"),
        ("show {games} --svg {out} --theme sepia", "theme must be one of light, dark"),
        ("show {games} --svg {out} --width 0", "width must be a whole number from 1"),
        ("show {games} --svg {out} --step 9 --evaluation nobody", "unknown agent 'nobody'"),
        (
            "show {games} --svg {out} --step 9 --evaluation greedy",
            "--evaluation: greedy evaluates nothing; searches and checkpoints do",
        ),
        ("show {games} --svg {out} --evaluation random", "--evaluation: the game is over"),
        ("show {games} --svg {out} --step 0 --seat 1 --evaluation random", "seat 1 isn't to act"),
        ("film {games}", "-o/--output is required"),
        ("film {games} -o {out}", "a film is a .gif or an .mp4 file"),
        ("film {games} -o {out}.gif --fps 0", "fps must be above 0"),
        ("film {games} -o {out}.gif --game 4", "no game 4"),
        ("film {games} -o {out}.gif --from 9 --to 8", "there are none"),
        ("film {games} -o {out}.gif --from 9999", "there is no step 9999"),
        ("show {games} --game 4", "no game 4: the record has 3"),
        ("show {games} --step 100000", "no step 100000"),
    ],
)
def test_a_wrong_command_is_told_in_one_line(
    games: Path, arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = games.with_name("out.jsonl")
    try:
        code = cli.main(arguments.format(out=out, games=games).split())
    except SystemExit as stop:  # argparse's way
        code = int(stop.code or 0)
    output, errors = capsys.readouterr()
    assert (code, output) == (BAD_COMMAND, "")
    program = "skyenv" if arguments in ("", "dance") else arguments.split()[0]
    assert errors.startswith(f"{program}: error: ")
    assert complaint in errors
    assert errors.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("verify {folder}/nothing.jsonl", "nothing.jsonl: No such file"),
        ("show {folder}/nothing.jsonl", "nothing.jsonl: No such file"),
        ("verify {folder}", "directory"),
        ("verify {folder}/empty", "line 1: the record is empty"),
        ("show {folder}/board.toml", "line 1: not JSON"),
        ("record -o {folder}/nowhere/out.jsonl", "out.jsonl: No such file"),
        ("record -o {folder}", "directory"),
        ("record -o {folder}/out --board {folder}/nothing.toml", "nothing.toml"),
        ("record -o {folder}/out --board {folder}/board.toml", "district TSQ"),
    ],
)
def test_bad_files_are_told_in_one_line(
    tmp_path: Path, arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "board.toml").write_text('[rings]\nTSQ = ["green"]\n', encoding="utf-8")
    assert cli.main(arguments.format(folder=tmp_path).split()) == BAD_DATA
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith(f"{arguments.split()[0]}: error: ")
    assert complaint in errors
    assert errors.count("\n") == 1


def test_as_a_process(games: Path) -> None:
    verified = run("verify", games)
    assert (verified.returncode, verified.stderr) == (0, "")
    assert "3 games" in verified.stdout
    missing = run("verify", games.with_name("nothing"))
    assert (missing.returncode, missing.stdout) == (BAD_DATA, "")


def test_the_version_and_the_options_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    for words, told in (("--version", f"skyenv {skyenv.__version__}\n"), ("show --help", "--png")):
        with pytest.raises(SystemExit, match="0"):
            cli.main(words.split())
        assert told in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="needs a pipe")
def test_a_reader_that_goes_away_is_no_crash(games: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = run("show", games, stdout=writing)
    os.close(writing)
    assert process.returncode == BAD_DATA
    assert process.stderr == ""
