"""The README and the docs tell the truth: their code runs, their commands run, their generated parts are what the code says."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.document import PAGES, filled

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))

CODE = re.findall(r"```python\n(.*?)```", README + DOCS, re.DOTALL)
COMMANDS = re.findall(r"^\$ (.*?)(?: +#.*)?$", README, re.MULTILINE)
DOCS_COMMANDS = re.findall(r"^\$ (.*?)(?: +#.*)?$", DOCS, re.MULTILINE)
ADD = "python -m experiments.tournament --add my_module:MyAgent --players 2 --minutes 5"
BOARD = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)

RUN_ELSEWHERE = {
    "make train": "its recipe is checked below; the long test in tests/experiments/test_train.py trains as it does",
    "make play": "its recipe is checked below; tests/page/test_commands.py starts the page",
    "python -m skyenv play --agents runs/lean/model.npz,my_module:MyAgent --port 9000": "serves until it is ended, as above",
    "python -m skyenv play --no-browser --public-host games.example.org": "serves until it is ended; tests/page tries the option",
    "python -m experiments.page_load --games 50 --seconds 60": "a long test in tests/page/test_browser.py runs it",
    "python -m experiments.screenshots --out runs/screenshots": "a long test in tests/page/test_browser.py runs it",
    "make test": "is what runs this test",
    ADD: "needs my_module.py and a ladder; test_the_template_agent_gets_a_rating runs it",
    "python -m pip install --constraint constraints.txt --editable '.[test]'": "is how this environment was made",
}


@pytest.mark.parametrize("code", CODE, ids=lambda code: code.strip().splitlines()[0][:40])
def test_code_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    capsys.readouterr()


def test_board_file_is_a_board(tmp_path: Path) -> None:
    from skyenv import load_board

    path = tmp_path / "board.toml"
    path.write_text(BOARD[0], encoding="utf-8")
    assert load_board(path, "front").rings[3] == ("green", "brown", "violet", "orange", "gray")


SHORTER = {
    "train": (r"--minutes \d+", "--minutes {minutes} --environments 32 --batch 512"),
    "ppo": (r"--minutes \d+", "--minutes {minutes}"),
    "exploit": (r"--minutes \d+", "--minutes {minutes}"),
    "tune": (r"--minutes \d+", "--generations 1 --population 4"),
    "lessons": (r"--decisions \d+", "--decisions 10"),
    "strength": (r"--minutes \d+", "--deals 1 --budgets 4 1ms --against random"),
    "search_speed": (r"$", " --quick"),
}
"""By program, what is replaced so that a command of the docs takes seconds; `minutes` grow from command to command."""
AT_THE_END = {
    "train": " --deals 2",
    "ppo": " --deals 2 --games 32 --steps 32 --hidden 32",
    "exploit": " --deals 2 --games 32 --steps 32 --hidden 32",
}
"""By program, options that overrule those before them."""


def shorter(command: str, minutes: float) -> str:
    """A command of the docs as it is run here."""
    assert command.startswith("python -m ")
    program = command.split()[2].removeprefix("experiments.")
    if program in SHORTER:
        pattern, instead = SHORTER[program]
        command = re.sub(pattern, instead.format(minutes=round(minutes, 3)), command)
    if program in AT_THE_END:
        return command + AT_THE_END[program]
    return re.sub(r"--deals \d+", "--deals 3", command)


def run_all(commands: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Run commands one after the other: the first as a reader would, the others in this process, which is faster."""
    monkeypatch.chdir(folder)
    wanted = [command for command in commands if command not in RUN_ELSEWHERE]
    for number, command in enumerate(wanted):
        short = shorter(command, 0.02 * (1 + number))
        if number == 0:
            bash(short, folder)
            continue
        _, _, module, *arguments = shlex.split(short)
        code = importlib.import_module("skyenv.cli" if module == "skyenv" else module).main(arguments)
        told = capsys.readouterr()
        assert code == 0, f"{command}\n{told.out}\n{told.err}"


def test_commands_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command of the README as it stands there, with the minutes of training and the numbers of deals cut down."""
    run_all(COMMANDS, tmp_path, monkeypatch, capsys)
    assert (tmp_path / "games.jsonl").exists()
    assert (tmp_path / "evaluation.png").exists()


def test_commands_of_the_docs_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_all(DOCS_COMMANDS, tmp_path, monkeypatch, capsys)
    assert (tmp_path / "runs" / "ladder" / "ladder.png").exists()


def test_the_template_agent_gets_a_rating(tmp_path: Path) -> None:
    """As the docs say, but against a ladder made here, so that slow agents of the shipped one don't take part."""
    (template,) = (code for code in CODE if "class MyAgent" in code)
    (tmp_path / "my_module.py").write_text(template, encoding="utf-8")
    assert ADD in DOCS_COMMANDS
    bash("python -m experiments.tournament random crowd --deals 4 --workers 1 --out games --publish shipped", tmp_path)
    told = bash(ADD.replace("--minutes 5", "--minutes 0.01 --workers 1 --ladder shipped/2-players.json"), tmp_path)
    assert re.match(r"mine: rating -?\d+ \[-?\d+, -?\d+\] \(95 %\), place [123] of 3;", told)


def bash(command: str, folder: Path) -> str:
    """Run a command as a reader of the README would, in an empty folder, with warnings as errors."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_make_train_is_what_the_long_test_trains(tmp_path: Path) -> None:
    recipe = bash(f"make --dry-run --always-make -C {ROOT} train", tmp_path)
    assert "-m experiments.train --run runs/first --players 2 --minutes 5" in recipe
    assert "-m skyenv play" in bash(f"make --dry-run --always-make -C {ROOT} play", tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_generated_parts_are_up_to_date(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert filled(text) == text, f"{page}: run `make docs`"


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for link in re.findall(r"\]\((?!http|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
