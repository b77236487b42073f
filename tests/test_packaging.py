"""The wheel: contents, metadata, and use with only the core's dependencies."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from email.parser import Parser
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from processes import LONGEST, ROOT

SOURCES = ("skyenv", "agents", "experiments", "tests", "docs")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEPENDENCIES = ("numpy", "numba", "llvmlite", "filelock", "tqdm")
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
GYMNASIUM = ("gymnasium", "cloudpickle", "farama-notifications", "typing_extensions")
EXTRAS = (
    *(
        "gymnasium",
        "pettingzoo",
        "torch",
        "stable_baselines3",
        "sb3_contrib",
        "matplotlib",
        "hypothesis",
        "pytest",
    ),
    *("thorvg_python", "fontTools", "font_source_sans_pro", "PIL", "pygame"),
    *("segno", "starlette", "uvicorn", "websockets"),
    *("pyspiel", "open_spiel", "nbclient"),
)


def run(command: Sequence[object], folder: Path, **environment: str) -> str:
    """What a program prints that sees nothing of this project but what it is given; it must succeed
    and warn of nothing.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "NUMBA", "SKYENV", "PIP_"))
    }
    result = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=LONGEST,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Warning" not in result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, so that nothing is left behind in the real one."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file() and not file.name.startswith("."):
            shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(sources: Path) -> Path:
    """The wheel."""
    words = "wheel . --no-deps --no-build-isolation --no-index --wheel-dir out"
    run([*PIP, *words.split()], sources)
    (built,) = (sources / "out").iterdir()
    return built


def build(target: str, sources: Path) -> Path:
    """What Hatchling builds."""
    folder = sources / target.replace(":", "-")
    run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder], sources)
    (built,) = folder.iterdir()
    return built


def installed(wheel: Path, folder: Path) -> Path:
    """The Python of a fresh virtual environment with a wheel and, as links, the libraries that it
    can't do without.
    """
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    place = [python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    link(DEPENDENCIES, Path(run(place, folder).strip()))
    install = "install --no-deps --no-index --no-compile"
    run([*PIP, "--python", python, *install.split(), wheel], folder)
    return python


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel."""
    return installed(wheel, tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def editable(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with an editable install, which is a wheel of paths."""
    return installed(build("wheel:editable", sources), tmp_path_factory.mktemp("editable"))


def link(libraries: Sequence[str], folder: Path) -> None:
    """Let a folder have libraries, as links to those that are installed."""
    for installed in map(distribution, libraries):
        tops = {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}
        for top in tops:
            (folder / top).symlink_to(Path(str(installed.locate_file(top))))


# ---- what is in it ----


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def test_the_wheel_holds_skyenv_and_its_agents(wheel: Path) -> None:
    """Every source file of them, texts, ladders, networks, the mark that they are typed; no
    experiments, no tests.
    """
    files = contents(wheel)
    info = f"skyenv-{PROJECT['version']}.dist-info"
    assert wheel.name == f"skyenv-{PROJECT['version']}-py3-none-any.whl"
    assert {name.split("/")[0] for name in files} == {"skyenv", "skyenv_agents", info}
    kinds = (
        "*.py",
        "*.md",
        "py.typed",
        "static/*",
        "static/rules/*",
        "teaching/rules.html",
        "*.toml",
        "ladders/*.json",
        "engine/*.npz",
        "render/*.svg",
        "trained/*.npz",
        "trained/*.json",
        "leaf_networks/*.npz",
    )
    expected = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for root, package in ((ROOT, "skyenv"), (ROOT / "agents", "skyenv_agents"))
        for kind in kinds
        for path in (root / package).rglob(kind)
        if path.is_file()
    }
    assert {
        name: content for name, content in files.items() if not name.startswith(info)
    } == expected
    networks = [len(files[name]) for name in files if "/trained/" in name and ".npz" in name]
    assert max(networks) < 1_200_000
    openings = len(files["skyenv/engine/openings.npz"])
    assert openings < 2_000_000
    assert len(wheel.read_bytes()) - sum(networks) - openings < 1 << 20


def test_the_wheels_metadata_is_complete(wheel: Path) -> None:
    """Name, version, licence, the text of the README, what is required, and what extras bring:
    OpenSpiel's has two names.
    """
    files = contents(wheel)
    info = f"skyenv-{PROJECT['version']}.dist-info"
    metadata = Parser().parsestr(files[f"{info}/METADATA"].decode())
    assert (metadata["Name"], metadata["Version"]) == ("skyenv", PROJECT["version"])
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert files[f"{info}/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert (
        str(metadata.get_payload()).strip()
        == (ROOT / "README.md").read_text(encoding="utf-8").strip()
    )
    assert set(metadata.get_all("Provides-Extra") or []) == {
        name.replace("_", "-") for name in PROJECT["optional-dependencies"]
    }
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist") or []]
    core = {one.name for one in required if "extra ==" not in str(one.marker)}
    assert core == {"filelock", "numba", "numpy", "tqdm"}

    def brought(extra: str) -> set[str]:
        return {
            one.name for one in required if one.marker and one.marker.evaluate({"extra": extra})
        }

    assert "open-spiel" in brought("openspiel") & brought("open-spiel")
    assert "starlette" in brought("page")


def test_the_source_archive_builds_the_same_wheel(wheel: Path, sources: Path) -> None:
    words = "wheel --no-deps --no-build-isolation --no-index --wheel-dir again"
    run([*PIP, *words.split(), build("sdist", sources)], sources)
    assert contents(sources / "again" / wheel.name) == contents(wheel)


def test_the_wheel_contains_no_local_paths(wheel: Path) -> None:
    places = {str(ROOT), str(Path.home()), sys.prefix} - {"/", "/root"}
    for name, content in contents(wheel).items():
        assert not [place for place in places if place.encode() in content], name


# ---- what it does where it is installed ----

# A user's program with two mistakes: half an action, and no test for a game that goes on.
USER = """
from skyenv import Agent, Decisions, Game, OptionError
from skyenv_agents.heuristic.player import GreedyAgent
def decided(agent: Agent, decisions: Decisions) -> list[int]:
    return [int(action) for action in agent.act(decisions)]
try:
    game = Game(num_players=3, side="back", seed=1)
    game.play(game.legal_actions[0] + 0.5)
    print(game.outcome.reason, GreedyAgent().name)
except OptionError as error:
    print(error)
"""


@pytest.mark.parametrize("kind", ["bare", "editable"])
def test_type_checkers_find_the_types(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Of the wheel and of an editable install, from another folder; and no others."""
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    python = request.getfixturevalue(kind)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-pretty"]
    checked = subprocess.run(
        [*command, "--cache-dir", tmp_path / "cache", "--python-executable", python, "user.py"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=LONGEST,
        check=False,
    )
    assert re.findall(r":(\d+): error: .*\[([a-z-]+)\]$", checked.stdout, re.MULTILINE) == [
        ("8", "arg-type"),
        ("9", "union-attr"),
    ], checked.stdout + checked.stderr


# Plays a game, asks for PettingZoo, and tells what is there.
BARE = """
import importlib.util, json, sys
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
assert game.outcome.reason == "truncated"
try:
    from skyenv import fifth_avenue_v0
except ImportError as error:
    missing = str(error)
there = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is not None]
print(json.dumps([there, skyenv.__file__, skyenv.__version__, missing]))
"""


def check_bare(bare: Path, folder: Path, **environment: str) -> None:
    """No extras, nothing of the repository; the package knows its version, and plays."""
    others = ("agents", "experiments", "tests")
    command = [bare, "-W", "error", "-c", BARE, *EXTRAS, *others]
    there, file, version, missing = json.loads(run(command, folder, **environment))
    assert (there, version) == ([], PROJECT["version"])
    assert Path(file).is_relative_to(bare.parent.parent)
    assert re.search("pettingzoo|gymnasium", missing), "the name of a library"


def skyenv(python: Path, command: str, folder: Path, **environment: str) -> str:
    """What ``python -m skyenv`` prints."""
    words = [python, "-W", "error", "-m", "skyenv", *command.split()]
    return run(words, folder, PYTHONIOENCODING="utf-8", **environment)


MY_AGENT = """
from skyenv import Agent

class MyAgent(Agent):
    name = "mine"

    def act(self, decisions):
        return decisions.mask.argmax(axis=1)
"""


def test_the_wheel_plays_and_evaluates_without_the_compiler(bare: Path, tmp_path: Path) -> None:
    """Without the compiler this takes seconds; the compiled test is long."""
    (tmp_path / "my_module.py").write_text(MY_AGENT)
    check_bare(bare, tmp_path, NUMBA_DISABLE_JIT="1")
    evaluate = "evaluate greedy --against my_module:MyAgent --paired-seeds 1 --max-turns 1"
    output = skyenv(bare, evaluate, tmp_path, NUMBA_DISABLE_JIT="1")
    assert output.splitlines()[2].split()[:2] == ["greedy", "mine"]


OPPONENTS = """
import gymnasium
import skyenv

for opponents in ("greedy", "trained"):
    env = gymnasium.make("skyenv/FifthAvenue-v0", opponents=opponents, max_turns=1)
    observation, info = env.reset(seed=1)
    over = False
    while not over:
        observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
        over = terminated or truncated
    print(opponents)
"""


def test_the_wheels_environments_find_the_agents(bare: Path, tmp_path: Path) -> None:
    """With the extra [gymnasium]."""
    link(GYMNASIUM, tmp_path)
    command = [bare, "-c", OPPONENTS]
    output = run(command, tmp_path, NUMBA_DISABLE_JIT="1", PYTHONPATH=str(tmp_path))
    assert output.split() == ["greedy", "trained"]


@pytest.mark.long
def test_the_wheel_plays_and_evaluates_compiled(bare: Path, tmp_path: Path) -> None:
    """As a user does: the first use compiles; then whole games are played, recorded, verified and
    drawn, and agents are measured by the commands of the docs, with the ladder that ships.
    """
    (tmp_path / "my_module.py").write_text(MY_AGENT)
    run_here = partial(skyenv, bare, folder=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    check_bare(bare, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    run_here("record --games 20 --seed 1 --agents random,crowd -o games.jsonl")
    assert "20 games" in run_here("verify games.jsonl")
    run_here("show games.jsonl --step 3 --svg picture.svg")
    assert "TSQ" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert " 20 " in run_here("evaluate greedy --against random --paired-seeds 20")
    run_here("tournament hoard random --paired-seeds 2 --workers 1 --out small")
    added = run_here("tournament --add my_module:MyAgent --minutes 1")
    assert added.startswith("mine: rating ")
