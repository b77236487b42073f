"""The speed of the environments for other libraries, and the table of docs/libraries.md."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np

from experiments.benchmarks.engine import legal_choice
from experiments.benchmarks.peers import ALL, Play, fifth_avenue, pace, petting_zoo
from experiments.figures import Figure, Scale, read
from skyenv import fifth_avenue_v0
from skyenv.envs.registration import ENV_ID
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import OptionError
from skyenv.tables import markdown

ROOT: Final = Path(__file__).resolve().parents[2]
ENVIRONMENTS: Final = ROOT / ".venv-libraries"
GAMES: Final = 64
BUILT_IN: Final = (
    ("Gymnasium", "gymnasium", "single and vector environments: one learner among agents; masks."),
    ("OpenSpiel", "open_spiel", "the game with every card a chance node; bots, searches."),
    ("PettingZoo", "pettingzoo", "agents in turns, and in its parallel API; masks."),
    ("Stable-Baselines3", "stable-baselines3", "a vector environment, MaskablePPO."),
)
"""Libraries that skyenv has an environment for: name, package, what works."""


def gymnasium_games() -> Play:
    """Begin in Gymnasium's vector environment."""
    envs = gymnasium.make_vec(ENV_ID, num_envs=GAMES, autoreset_mode="SameStep", opponents="random")
    masks = envs.reset(seed=1)[1]["action_mask"]
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        nonlocal masks
        masks = envs.step(actions)[-1]["action_mask"]
        return GAMES

    return Play(lambda: legal_choice(masks, generator), step)


def stable_baselines_games() -> Play:
    """Begin in Stable-Baselines3's vector environment; a learner that masks reads the masks."""
    env = SkyenvVecEnv(GAMES, opponents="random", seed=1)
    env.reset()
    masks = env.action_masks()
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        nonlocal masks
        env.step(actions)
        masks = env.action_masks()
        return GAMES

    return Play(lambda: legal_choice(masks, generator), step)


def libraries(scale: Scale) -> Iterator[Figure]:
    """Programs of examples/libraries in the environments that `make test-libraries` makes print the
    steps per second of their second run; those without an environment are left out. Environments
    that are built in get random legal actions, whose choice isn't timed. Medians of repeats.
    """
    plays = (
        gymnasium_games(),
        fifth_avenue(ALL, 1),
        petting_zoo(fifth_avenue_v0.env, ALL, 1),
        stable_baselines_games(),
    )
    for (name, _, _), play in zip(BUILT_IN, plays, strict=True):
        yield scale.measure(name, "steps/s", partial(pace, play, scale.share))
    for example in examples():
        if (ENVIRONMENTS / example.stem / ".ready").exists():
            yield scale.measure(example.stem, "steps/s", partial(steps_per_second, example))


def examples() -> list[Path]:
    """Return the programs that have requirements beside them."""
    return sorted(file.with_suffix(".py") for file in (ROOT / "examples").rglob("*.txt"))


def steps_per_second(example: Path) -> float:
    """Run an example in its environment, and read what it prints last.

    Raises:
        OptionError: it fails, or prints no steps.
    """
    python = ENVIRONMENTS / example.stem / "bin" / "python"
    done = subprocess.run([python, example], capture_output=True, text=True, cwd=ROOT, check=False)
    said = re.search(r"^([\d,]+) steps/s\Z", done.stdout.strip(), re.MULTILINE)
    if done.returncode or said is None:
        raise OptionError(f"{example} fails in {python}: {done.stderr.strip() or done.stdout}")
    return float(said[1].replace(",", ""))


def version(requirements: Path, package: str = r"[\w.-]+") -> str:
    """Return the version of a package, by default of the first, that a file pins."""
    pin = rf"^{package}(?:\[.*\])?==(\S+)$"
    pinned = re.search(pin, requirements.read_text(encoding="utf-8"), re.MULTILINE)
    return "–" if pinned is None else pinned[1]


def table() -> str:
    """Return the libraries, with the published speeds."""
    speeds = {one.name: f"{one.median:,.0f}" for one in read("libraries")["figures"]}
    rows = [
        [name, version(ROOT / "constraints.txt", package), what, speeds.get(name, "–")]
        for name, package, what in BUILT_IN
    ]
    for example in examples():
        summary = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
        library, _, what = summary.partition("\n\n")[0].replace("\n", " ").partition(": ")
        link = f"[{example.name}](../{example.relative_to(ROOT).as_posix()})"
        requirements = example.with_suffix(".txt")
        rows.append(
            [library, version(requirements), f"{what} {link}", speeds.get(example.stem, "–")]
        )
    rows.sort(key=lambda row: row[0].lower())
    return markdown([["library", "version", "what works", "steps/s"], *rows], "lllr")
