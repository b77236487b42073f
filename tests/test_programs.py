"""Benchmarks, tools and examples with minimal sizes."""

from __future__ import annotations

import json
import math
import runpy
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from experiments.benchmarks import strength
from experiments.benchmarks.__main__ import BENCHMARKS
from experiments.benchmarks.__main__ import main as benchmark
from experiments.shipping import openings, tune
from processes import ROOT, main_of, printed
from skyenv.engine.openings import TASKS
from skyenv.rules.components import BLACK
from skyenv.rules.state import NONE
from skyenv_agents import GreedyAgent

pytestmark = pytest.mark.programs


SLOW = {"game", "pictures", "start"}


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
    for one in content["figures"]:
        assert one["lowest"] <= one["median"] <= one["highest"] < math.inf
        assert one["median"] > 0 or one["unit"] in ("%", "")


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


def test_tuning_is_decided_by_its_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Existing files aren't replaced."""
    found = []
    for name in ("a.json", "b.json"):
        words = "greedy --against random --paired-seeds 1 --population 3 --generations 2 --out"
        assert tune.main([*words.split(), str(tmp_path / name)]) == 0
        found.append(json.loads((tmp_path / name).read_text(encoding="utf-8")))
    assert found[0]["weights"] == found[1]["weights"]
    assert found[0]["weights"].keys() == GreedyAgent.default_weights[2].keys()
    assert len(found[0]["worths"]) == 2
    assert tune.main(["greedy", "--out", str(tmp_path / "a.json")]) == 1
    assert "--replace" in capsys.readouterr().err
    assert tune.main(["random", "--out", str(tmp_path / "none.json")]) == 2


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


# ---- examples ----

EXAMPLES = {
    "gpu_games": ("--games 2 --steps 5", "0 games ended"),
    "two_policies": ("50", "game 50: VP of the seats "),
    "my_agent": ("", "builder  greedy"),
    "ppo": ("--steps 512 --num-envs 8 --rollout 32 --paired-seeds 1", "weights are in ppo.pt"),
    "sb3_maskable_ppo": (
        "--decisions 512 --environments 8 --steps 32 --batch 64 --paired-seeds 1",
        "runs/maskable/model.zip",
    ),
    "behaviour_cloning": (
        "runs/games --epochs 1 --batch 32 --trunk 16 --entity-dim 8 --held-out 4 --paired-seeds 1",
        "runs/clone/model.npz",
    ),
}
"""By name: arguments that make it short, and a part of what it prints."""
SIMULATOR = {
    "NUMBA_ENABLE_CUDASIM": "1",
    "NUMBA_DISABLE_JIT": "1",
    "PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}",
}


FILES = [
    path
    for folder in ("examples", "experiments/baselines")
    for path in (ROOT / folder).glob("[a-z]*.py")
    if not path.with_suffix(".txt").exists()
]
"""Others have an environment of their own."""


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if path.stem == "gpu_games" else (), id=path.stem)
        for path in sorted(FILES)
    ],
)
def test_examples_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, program = path.stem, str(path)
    arguments, says = EXAMPLES[name]
    if name == "gpu_games":  # CUDA is simulated from the first import on
        assert says in printed("-W", "error", program, *arguments.split(), environment=SIMULATOR)
        return
    monkeypatch.chdir(tmp_path)
    if name == "behaviour_cloning":
        assert main_of("dataset random crowd --games 4 --max-turns 9 -o runs/games") == 0
    monkeypatch.setattr(sys, "argv", [program, *arguments.split()])
    with suppress(SystemExit):
        runpy.run_path(program, run_name="__main__")
    assert says in capsys.readouterr().out


def test_beginnings_of_every_task_are_collected(tmp_path: Path) -> None:
    """As many of each task as requested, with biddable cards and hidden hands."""
    out = tmp_path / "beginnings.npz"
    words = ["--agent", "greedy", "--games", "60", "--number", "2", "--out", str(out)]
    assert openings.main(words) == 0
    with np.load(out) as content:
        assert {*content.files} == {*TASKS}
        for name, task in TASKS.items():
            games = content[name]
            assert len(games) == 2
            assert (games["auctions_left"] == (task.auctions or NONE)).all()
            assert (games["hand"] == games["known"]).all()
            assert (games["unknown"][:, : task.num_players, BLACK] > 0).all()
