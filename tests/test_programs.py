"""Benchmarks, tools and examples with minimal sizes."""

import json
import math
import os
import re
import runpy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from experiments import figures
from experiments.benchmarks import strength
from experiments.benchmarks.__main__ import BENCHMARKS
from experiments.benchmarks.__main__ import main as benchmark
from experiments.shipping import openings
from processes import ROOT, main_of, printed, python
from skyenv.engine.openings import TASKS
from skyenv.rules.components import BLACK
from skyenv.rules.state import NONE

pytestmark = pytest.mark.programs


SLOW = {"game", "pictures", "start", "tasks"}


PUBLISHED = {path.stem for path in figures.RESULTS.glob("*.json")} & BENCHMARKS.keys()
# Benchmarks that write fewer rows in a short run, or without the other libraries.
FEWER = {"game", "peers", "pictures", "start"}
# Benchmarks of payoffs and losses, which may be 0 or less.
PAYOFFS = {"abr", "panel"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in SLOW else ())
        for name in BENCHMARKS
        if name != "gpu"
    ],
)
def test_a_benchmark_writes_its_figures(name: str, tmp_path: Path) -> None:
    words = [name, "--share", "0.001", "--repeats", "1", "--out", str(tmp_path)]
    assert benchmark(words) == 0
    content = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert content["machine"]["numpy"] == np.__version__
    assert content["figures"]
    if name in PUBLISHED:
        published = {unnumbered(one.name) for one in figures.read(name)["figures"]}
        written = {unnumbered(one["name"]) for one in content["figures"]}
        assert written <= published if name in FEWER else written == published
    for one in content["figures"]:
        assert one["lowest"] <= one["median"] <= one["highest"] < math.inf
        assert one["median"] > 0 or one["unit"] in ("%", "") or name in PAYOFFS


def unnumbered(name: str) -> str:
    """A row's name without the number of openings, of which a short run has fewer."""
    return re.sub(r", \d+ openings", "", name)


def test_figures_name_the_versions_that_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy-1.0.dist-info").mkdir()
    (tmp_path / "numpy-1.0.dist-info" / "METADATA").write_text("Name: numpy\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert figures.machine()["numpy"] == "1.0"


@pytest.mark.usefixtures("in_this_process")
def test_the_strength_program_writes_its_figures(tmp_path: Path) -> None:
    words = ["crowd", "random", "--against", "hoard", "--paired-seeds", "2", "--workers", "1"]
    assert strength.main([*words, "--out", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "strength.json").read_text(encoding="utf-8"))["figures"]
    assert [one["name"] for one in figures] == [
        f"{agent}: {what}"
        for agent in ("crowd", "random")
        for what in ("against hoard", "a decision")
    ]
    assert (tmp_path / "strength.png").stat().st_size > 1000


# ---- tools ----


@pytest.mark.long
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    """Without a warning, with a page for every package, notebook and linked file."""
    words = ("-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path)
    printed(*words, environment={"NO_MKDOCS_2_WARNING": "1"})
    pages = (
        "api/skyenv.engine",
        "notebooks/open_spiel",
        "skyenv/rules/RULES",
        "experiments/baselines/ppo.py",
    )
    for page in pages:
        (made,) = [*tmp_path.glob(f"{page}.html"), *tmp_path.glob(f"{page}/index.html")]
        assert "</h1>" in made.read_text(encoding="utf-8")
    text = (tmp_path / "api" / "skyenv.engine.html").read_text(encoding="utf-8")
    assert 'id="skyenv.engine.games.Games.step"' in text


# ---- missing packages ----

OPTIONAL = {
    *("fontTools", "gymnasium", "h5py", "matplotlib", "minari", "pettingzoo", "PIL"),
    *("pyarrow", "pygame", "pyspiel", "ray", "sb3_contrib", "scipy", "stable_baselines3"),
    *("segno", "starlette", "tensorboard", "thorvg_python", "torch", "uvicorn", "websockets"),
}
HIDING = """
import os, sys
sys.modules.update(dict.fromkeys(os.environ["HIDDEN"].split()))
"""
PROGRAMS = [
    str(path.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__main__")
    for path in sorted((ROOT / "experiments").rglob("*.py"))
    if '__name__ == "__main__"' in path.read_text("utf-8")
]


@pytest.mark.parametrize("rounds", [1, pytest.param(len(OPTIONAL), marks=pytest.mark.long)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_missing_package_is_one_line(program: str, rounds: int, tmp_path: Path) -> None:
    """All optional packages are hidden, then all but those that the program has named so far."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    hidden = OPTIONAL.copy()
    for _ in range(rounds):
        environment = {"PYTHONPATH": path, "HIDDEN": " ".join(hidden)}
        done = python("-m", program, "--help", environment=environment)
        if done.returncode == 0:
            return
        said = re.fullmatch(r"\w+: error: No module named '(\w+)'; install .+\n", done.stderr)
        assert said is not None, done.stderr
        assert done.returncode == 2
        hidden.remove(said[1])
        if find_spec(said[1]) is None:
            return


# ---- baselines and examples ----

# By name: arguments that make it short, and a part of what it prints.
BASELINES = {
    "behaviour_cloning": (
        "runs/games --epochs 1 --batch 32 --trunk 16 --entity-dim 8 --held-out 4 --paired-seeds 1",
        "runs/clone/model.npz",
    ),
    "ppo": ("--steps 512 --num-envs 8 --rollout 32 --paired-seeds 1", "weights are in ppo.pt"),
    "reinforce": ("duel-3 --decisions 512 --openings 1", "VP on 1 held-out openings"),
    "sb3_maskable_ppo": (
        "--decisions 512 --environments 8 --steps 32 --batch 64 --paired-seeds 1",
        "runs/maskable/model.zip",
    ),
}
# Baselines with an environment of their own, which tests/experiments/baselines runs.
WITH_REQUIREMENTS = {"rllib_self_play"}
SIMULATOR = {
    "NUMBA_ENABLE_CUDASIM": "1",
    "NUMBA_DISABLE_JIT": "1",
    "PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}",
}


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name", BASELINES)
def test_baselines_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, says = BASELINES[name]
    monkeypatch.chdir(tmp_path)
    if name == "behaviour_cloning":
        assert main_of("dataset random crowd --games 4 --max-turns 9 -o runs/games") == 0
    import_module(f"experiments.baselines.{name}").main(words.split())
    assert says in capsys.readouterr().out


def test_every_baseline_is_run_and_listed() -> None:
    """In this file, and in the table of the baselines' README."""
    folder = ROOT / "experiments" / "baselines"
    programs = {file.stem for file in folder.glob("*.py") if "def main(" in file.read_text("utf-8")}
    assert programs == BASELINES.keys() | WITH_REQUIREMENTS
    listed = re.findall(r"^\| \[(\w+)\.py\]", (folder / "README.md").read_text("utf-8"), re.M)
    assert {*listed} == programs


@pytest.mark.usefixtures("in_this_process")
def test_the_example_of_an_agent_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "my_agent.py"), run_name="__main__")
    assert "builder  greedy" in capsys.readouterr().out


@pytest.mark.long
def test_the_example_with_a_gpu_runs_in_the_simulator() -> None:
    program = ROOT / "examples" / "gpu_games.py"
    words = ("--games", "2", "--steps", "5")
    assert "0 games ended" in printed("-W", "error", program, *words, environment=SIMULATOR)


def test_openings_of_every_task_are_collected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many of each task as requested, with biddable cards and hidden hands; of a damaged file
    none.
    """
    out = tmp_path / "openings.npz"
    words = ["--agents", "greedy", "random", "--games", "60", "--number", "2", "--out", str(out)]
    assert openings.main(words) == 0
    first = out.read_bytes()
    assert openings.main([*words, "--replace", "--tasks", "bluff-2"]) == 0
    assert out.read_bytes() == first
    with np.load(out) as content:
        assert {*content.files} == {*TASKS}
        for name, task in TASKS.items():
            games = content[name]
            assert len(games) == 2
            assert (games["auctions_left"] == (task.auctions or NONE)).all()
            assert (games["hand"] == games["known"]).all()
            hidden = games["unknown"][:, : task.num_players]
            assert not task.auctions or (hidden[..., BLACK] > 0).all()
            assert not task.auctions or not hidden[..., :BLACK].any()
            assert all(openings.is_mixed(name, games[row : row + 1]) for row in range(2))
    out.write_bytes(first[:-9])
    assert openings.main([*words, "--replace", "--tasks", "bluff-2"]) == 1
    assert f"{out} holds no openings" in capsys.readouterr().err
