"""The command line: output, files, and one-line errors."""

import io
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import skyenv
from processes import main_of, python
from referee import check_record
from skyenv import cli
from skyenv.agents import decide_game, make_agent
from skyenv.console.options import BAD_COMMAND, BAD_DATA, INTERRUPTED
from skyenv.engine.game import Game


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A record of three short games."""
    path = tmp_path_factory.mktemp("record") / "games.jsonl"
    assert main_of(f"record --games 3 --seed 5 --max-turns 8 -o {path}") == 0
    return path.read_bytes()


@pytest.fixture
def games(recorded: bytes, here: Path) -> Path:
    """That record in a file of the working directory."""
    path = here / "games.jsonl"
    path.write_bytes(recorded)
    return path


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("--version", [f"skyenv {skyenv.__version__}\n"]),
        ("", [f"\n    {name}" for name in cli.COMMANDS]),
        ("show --help", ["--png"]),
    ],
)
def test_version_commands_and_options_are_listed(
    words: str, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main_of(words) == 0
    printed = capsys.readouterr().out
    assert all(part in printed for part in parts)


# ---- record and verify ----


def test_record_plays_the_librarys_games_with_consecutive_seeds(tmp_path: Path) -> None:
    """The largest seed is followed by 0."""
    names = ["crowd", "random", "hoard"]
    words = f"--players 3 --side back --games 3 --seed {2**63 - 2} --agents {','.join(names)}"
    assert main_of(f"record {words} --max-turns 30 -o {tmp_path / 'games.jsonl'}") == 0
    agents = [make_agent(name) for name in names]
    expected = ""
    for seed in (2**63 - 2, 2**63 - 1, 0):
        game = Game(3, "back", seed, max_turns=30)
        while game.seat is not None:
            game.play(decide_game(game, agents[game.seat]))
        expected += game.to_record(names)
    assert (tmp_path / "games.jsonl").read_text(encoding="utf-8") == expected
    check_record(expected.splitlines())


def test_record_takes_board_files_import_strings_and_legal(tmp_path: Path) -> None:
    rings = ["gray", "orange", "green", "brown", "violet"]
    (tmp_path / "board.toml").write_text(f"[rings]\nTSQ = {rings}\n", encoding="utf-8")
    path, agent = tmp_path / "game.jsonl", "skyenv.agents:RandomAgent"
    words = f"--max-turns 4 --board {tmp_path / 'board.toml'} --agents random,{agent} --legal"
    assert main_of(f"record {words} -o {path}") == 0
    header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (header["rings"][3], header["agents"]) == (rings, ["random", agent])
    decisions = [line for line in lines if line["event"] == "action"]
    assert all(line["action"] in line["legal"] for line in decisions)
    assert main_of(f"verify {path}") == 0


# ---- as a process ----


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
def test_show_reads_pipes_and_prints_to_ascii_terminals(
    games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe can be read only once, so position and names come from one reading."""
    reading, writing = os.pipe()
    assert main_of(f"record --seed 5 --max-turns 2 -o /dev/fd/{writing}") == 0
    os.close(writing)
    assert main_of(f"show /dev/fd/{reading} --step 9 --svg a.svg") == 0
    os.close(reading)
    assert "random" in games.with_name("a.svg").read_text(encoding="utf-8")
    odd = games.rename(os.fsdecode(os.fsencode(games.parent) + b"/g\xff.jsonl"))
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, "ascii"))
    assert main_of(f"show {odd}") == 0
    sys.stdout.flush()
    assert b"g?.jsonl" in shown.getvalue()


@pytest.mark.skipif(os.name != "posix", reason="needs a pipe")
def test_a_closed_output_pipe_is_no_crash(games: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = python("-m", "skyenv", "verify", games, stdout=writing)
    os.close(writing)
    assert (process.returncode, process.stderr) == (BAD_DATA, "")


@pytest.mark.skipif(os.name != "posix", reason="needs a pipe")
def test_verify_prints_counts_and_that_it_waits_for_a_pipe(
    games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first fault of others: tests/cases."""
    os.mkfifo("pipe")
    with ThreadPoolExecutor() as pool:
        pool.submit(Path("pipe").write_bytes, games.read_bytes())
        assert main_of("verify pipe") == 0
    actions = games.read_text(encoding="utf-8").count('"event": "action"')
    assert capsys.readouterr() == (
        f"pipe: 3 games, {actions} actions, no mistake\n",
        "verify: pipe is a pipe; waiting for a program that writes to it\n",
    )


def test_the_console_script_searches_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "my_module.py").write_text("from skyenv.agents import RandomAgent as Mine\n")
    script = Path(sys.executable).with_name("skyenv")
    words = ["record", "--max-turns", "1", "--agents", "my_module:Mine", "-o", "games.jsonl"]
    process = python(script, *words, cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")


# ---- mistakes ----

# Words of commands, and what is told of them.
WRONG_COMMANDS = """
dance | there is no command 'dance'; choose from record, verify
evalute | there is no command 'evalute'; did you mean evaluate
train | a clone's trainer is python -m experiments.training.train
verify | FILE is required: the record
record | -o/--output is required: the file to write
record -o out --agents nobody | nobody
record -o out --agents random,random,random | agents names 3; it must be one, or one for
record -o out --agents , | unknown agent ''
record -o out --agents no.such.module:Name | no.such.module
record -o out --game 3 | --game
show games.jsonl --seat 3 | seat must be a whole number from 0 to 1
show games.jsonl --seat 3 --svg out | seat must be a whole number from 0 to 1
show games.jsonl --game 4 | no game 4: the record has 3
show games.jsonl --step 100000 | no step 100000
film games.jsonl | -o/--output is required
film games.jsonl -o out | path must be a .gif file
film games.jsonl -o out.gif --from 9 --to 8 | give no picture
film games.jsonl -o out.gif --from 9999 | there is no step 9999
analyse games.jsonl --game 4 | no game 4: the record has 3
evaluate | AGENT is required
evaluate nobody | unknown agent 'nobody'
tournament random --out out | needs at least 2 agents
tournament random random --out out | agents must have different names
tournament random crowd --ladder x | --ladder requires --add
tournament --add random crowd | the ladder's modules and checkpoints, []
dataset random | -o/--out is required: folder of the dataset
dataset -o out | name either AGENTs or --records, not both
dataset random --records y -o out | name either AGENTs or --records, not both
dataset nobody -o out | unknown agent 'nobody'
exploitability | name an agent to exploit, or a file to --check
exploitability greedy --samples 31 | samples must be even and at least 32, not 31
exploitability greedy --samples 1 | 0.28 VP for 3.20
analyse task.jsonl | only whole games can be analysed, not task
"""
BAD_FILES = """
verify nothing.jsonl | nothing.jsonl: No such file
show nothing.jsonl | nothing.jsonl: No such file
verify . | directory
verify empty | line 1: the record is empty
show board.toml | line 1: no JSON object
show games.jsonl --svg a.svg --png nowhere/a.png | a.png: No such file
record -o nowhere/out.jsonl | out.jsonl: No such file
record -o . | directory
record -o out --board nothing.toml | nothing.toml
record -o out --board board.toml | district TSQ
analyse board.toml | line 1: no JSON object
evaluate greedy --against nowhere.zip | nowhere.zip
evaluate random --json nowhere/f | nowhere/f: No such file
tournament --add random --ladder nowhere | nowhere: No such file
tournament random crowd --out /dev/null/x | Not a directory
dataset --records nowhere -o out | nowhere: No such file
exploitability --check nowhere | nowhere: No such file
"""
EXCLUSIVE = (
    "dataset --records y -o out --players 3 --max-turns 9",
    "with --players, --max-turns\n",
)


@pytest.mark.parametrize(
    ("words", "complaint", "code"),
    [
        *((*line.split(" | "), BAD_COMMAND) for line in WRONG_COMMANDS.strip().splitlines()),
        *((*line.split(" | "), BAD_DATA) for line in BAD_FILES.strip().splitlines()),
        (*EXCLUSIVE, BAD_COMMAND),
    ],
)
def test_errors_are_one_line_and_precede_any_output(
    words: str,
    complaint: str,
    code: int,
    games: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is written."""
    games.with_name("empty").touch()
    games.with_name("task.jsonl").write_text(Game(task="duel-3", seed=1).to_record())
    games.with_name("board.toml").write_text('[rings]\nTSQ = ["green"]\n', encoding="utf-8")
    before = set(games.parent.iterdir())
    assert main_of(words) == code
    output, errors = capsys.readouterr()
    program = "skyenv" if words in ("dance", "evalute", "train") else words.split()[0]
    assert (output, errors.count("\n")) == ("", 1)
    assert errors.startswith(f"{program}: error: ")
    assert complaint in errors
    assert set(games.parent.iterdir()) == before


def test_an_interrupted_record_leaves_the_file_unchanged(
    games: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        assert len([*games.parent.iterdir()]) == 2
        raise KeyboardInterrupt

    before = games.read_bytes()
    monkeypatch.setattr(cli, "decide_game", interrupted)
    assert main_of("record --seed 6 --replace -o games.jsonl") == INTERRUPTED
    assert capsys.readouterr() == ("", "record: error: interrupted\n")
    assert ([*games.parent.iterdir()], games.read_bytes()) == ([games], before)
