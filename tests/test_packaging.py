"""The wheel: what is in it, and that it plays where nothing but NumPy and Numba is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ("skyenv", "agents", "experiments", "tests", "docs")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEPENDENCIES = ("numpy", "numba", "llvmlite")
EXTRAS = (
    *("gymnasium", "pettingzoo", "torch", "stable_baselines3", "sb3_contrib", "matplotlib", "tqdm", "hypothesis", "pytest"),
    *("thorvg_python", "fontTools", "font_source_sans_pro", "PIL", "imageio_ffmpeg", "pygame"),
    *("starlette", "uvicorn", "websockets"),
    *("pyspiel", "open_spiel", "nbclient"),
)


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    """What a program prints that sees nothing of this project but what it is given; it must succeed and warn of nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "SKYENV", "PIP_"))}
    result = subprocess.run(
        command, cwd=folder, env={**kept, **environment}, capture_output=True, encoding="utf-8", timeout=550, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Warning" not in result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the repository, so that nothing is left behind in the real one."""
    folder = tmp_path_factory.mktemp("build")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file() and not file.name.startswith("."):
            shutil.copy(file, folder)
    build = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", "out"]
    run([*build, "--quiet", "--disable-pip-version-check"], folder)
    (built,) = (folder / "out").iterdir()
    return built


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh virtual environment with the wheel and, as links, the libraries that it can't do without."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    packages = Path(run([python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder).strip())
    for name in DEPENDENCIES:
        installed = distribution(name)
        for top in {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (packages / top).symlink_to(Path(str(installed.locate_file(top))))
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check"]
    run([*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel], folder)
    return python


# ---- what is in it ----


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def test_the_wheel_holds_skyenv_alone(wheel: Path) -> None:
    """Every source file of it, the two texts, the mark that it is typed; no agents, no experiments, no tests."""
    found = contents(wheel)
    info = f"skyenv-{PROJECT['version']}.dist-info"
    assert wheel.name == f"skyenv-{PROJECT['version']}-py3-none-any.whl"
    assert {name.split("/")[0] for name in found} == {"skyenv", info}
    sources = [path for pattern in ("*.py", "*.md", "py.typed", "static/*") for path in (ROOT / "skyenv").rglob(pattern)]
    expected = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in sources}
    assert {name: content for name, content in found.items() if name.startswith("skyenv/")} == expected
    assert {"skyenv/py.typed", "skyenv/rules/RULES.md", "skyenv/rules/INTERFACE.md"} <= set(expected)
    assert len(wheel.read_bytes()) < 1 << 20


def test_metadata(wheel: Path) -> None:
    """Name, version, licence, the text of the README, and of the extras nothing that the core needs."""
    found = contents(wheel)
    info = f"skyenv-{PROJECT['version']}.dist-info"
    metadata = Parser().parsestr(found[f"{info}/METADATA"].decode())
    assert (metadata["Name"], metadata["Version"]) == ("skyenv", PROJECT["version"])
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert found[f"{info}/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert str(metadata.get_payload()).strip() == (ROOT / "README.md").read_text(encoding="utf-8").strip()
    required = [line for line in metadata.get_all("Requires-Dist") or [] if "extra ==" not in line]
    assert sorted(line.split(">")[0] for line in required) == ["numba", "numpy"]
    assert set(metadata.get_all("Provides-Extra") or []) == {name.replace("_", "-") for name in PROJECT["optional-dependencies"]}


def test_no_host_or_path_of_this_machine_is_in_it(wheel: Path) -> None:
    places = {str(ROOT), str(Path.home()), sys.prefix} - {"/", "/root"}
    for name, content in contents(wheel).items():
        assert not [place for place in places if place.encode() in content], name


# ---- what it does where it is installed ----

LIBRARIES = """
import importlib.util, json, sys
import skyenv
there = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is not None]
print(json.dumps({"there": there, "file": skyenv.__file__, "version": skyenv.__version__}))
"""

FEW_STEPS = """
import numpy as np
import skyenv
from skyenv.agents import decide, decide_game, make_agent

agent = make_agent("crowd")
game = skyenv.Game(3, "back", 5, max_turns=2)
games = skyenv.Games(2, 3, "back", 5, max_turns=2, autoreset=False)
while not game.is_over:
    games.step(decide(games, agent, [0]), [0])
    game.play(decide_game(game, agent))
    assert (game.observation() == games.observation[0]).all()
assert games.finished[0].tobytes() == game.state.tobytes()
assert skyenv.Game.from_record(game.to_record()).events == game.events
print(game.outcome.reason)
"""

WITHOUT_PETTINGZOO = """
try:
    from skyenv import fifth_avenue_v0
except ImportError as error:
    print(error)
"""


def test_the_bare_environment_is_bare(bare: Path, tmp_path: Path) -> None:
    """No extras, nothing of the repository; and the package knows its version."""
    found = json.loads(run([bare, "-I", "-W", "error", "-c", LIBRARIES, *EXTRAS, "agents", "experiments", "tests"], tmp_path))
    assert found["there"] == []
    assert found["version"] == PROJECT["version"]
    assert Path(found["file"]).is_relative_to(bare.parent.parent)


def test_a_few_steps_without_the_compiler(bare: Path, tmp_path: Path) -> None:
    """So that this takes seconds; with the compiler it is a long test."""
    printed = run([bare, "-W", "error", "-c", FEW_STEPS], tmp_path, NUMBA_DISABLE_JIT="1")
    assert printed == "truncated\n"


def record_and_verify(bare: Path, folder: Path, games: int, turns: int, **environment: str) -> None:
    """By the command line: write a record, verify it, look at a position."""
    command: list[str | Path] = [bare, "-W", "error", "-m", "skyenv"]
    options = f"--players 2 --games {games} --seed 1 --agents random,crowd --max-turns {turns} -o games.jsonl"
    run([*command, "record", *options.split()], folder, PYTHONIOENCODING="utf-8", **environment)
    verified = run([*command, "verify", "games.jsonl"], folder, PYTHONIOENCODING="utf-8", **environment)
    assert str(games) in verified
    shown = run([*command, "show", "games.jsonl", "--step", "3"], folder, PYTHONIOENCODING="utf-8", **environment)
    assert "TSQ" in shown
    run([*command, "show", "games.jsonl", "--step", "3", "--svg", "picture.svg"], folder, **environment)
    assert "TSQ" in (folder / "picture.svg").read_text(encoding="utf-8")


def test_the_command_line_without_the_compiler(bare: Path, tmp_path: Path) -> None:
    record_and_verify(bare, tmp_path, 1, 1, NUMBA_DISABLE_JIT="1")


def test_without_pettingzoo_its_module_says_what_is_missing(bare: Path, tmp_path: Path) -> None:
    """By the name of a library that can be installed."""
    printed = run([bare, "-W", "error", "-c", WITHOUT_PETTINGZOO], tmp_path, NUMBA_DISABLE_JIT="1")
    assert "pettingzoo" in printed or "gymnasium" in printed


@pytest.mark.long
def test_playing_compiled_in_the_bare_environment(bare: Path, tmp_path: Path) -> None:
    """As a user does: the first use compiles, and then whole games are played, recorded and verified."""
    cache = str(tmp_path / "cache")
    assert run([bare, "-W", "error", "-c", FEW_STEPS], tmp_path, NUMBA_CACHE_DIR=cache) == "truncated\n"
    record_and_verify(bare, tmp_path, 20, 500, NUMBA_CACHE_DIR=cache)
