"""How fast do other libraries play? ``python -m experiments.benchmarks.libraries`` measures
docs/libraries.md's examples.

Method: each program that has requirements beside it runs in the environment that `make
test-libraries` made for it, and prints the steps a second of its second run, after one that
compiles; the median of repeats. Libraries without an environment are left out. The environments
that are built in play as in experiments.benchmarks.peers, here: random legal actions, whose choice
isn't timed.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np

from experiments.benchmarks.figures import Figure, measure, report
from experiments.benchmarks.peers import (
    MASK_AND_OBSERVATION,
    Play,
    in_open_spiel,
    in_petting_zoo,
    pace,
)
from experiments.benchmarks.speed import legal_choice
from skyenv import fifth_avenue_v0
from skyenv.envs.registration import ENV_ID
from skyenv.errors import OptionError
from skyenv.tables import markdown

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLES: Final = ROOT / "examples"
ENVIRONMENTS: Final = ROOT / ".venv-libraries"
CONSTRAINTS: Final = ROOT / "constraints.txt"
PUBLISHED: Final = ROOT / "docs" / "libraries.json"
METHOD: Final = (
    "median of repeats of each program of examples/libraries, after a run that compiles; one "
    "process; environments that are built"
    " in are given random legal actions, whose choice isn't timed"
)
UNMEASURED: Final = "not measured yet"
BRIDGE: Final = "# ---- bridge ----\n"
USE: Final = "# ---- use ----\n"
GAMES: Final = 64
"""Games side by side of the environments that are built in and can play many, as in most of the
programs.
"""


def gymnasium_games() -> Play:
    """Gymnasium's vector environment."""
    envs = gymnasium.make_vec(ENV_ID, num_envs=GAMES, autoreset_mode="SameStep", opponents="random")
    _, infos = envs.reset(seed=1)
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        nonlocal infos
        *_, infos = envs.step(actions)
        return GAMES

    return Play(lambda: legal_choice(infos["action_mask"], generator), step)


def stable_baselines_games() -> Play:
    """Stable-Baselines3's vector environment; a learner that masks asks for the masks after every
    step.
    """
    from skyenv.envs.sb3 import SkyenvVecEnv

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


@dataclass(frozen=True)
class BuiltIn:
    """A library that skyenv has an environment for.

    Args:
        library: its name. package: that constraints.txt pins. what: works. where: it is shown, as
            docs/libraries.md links it.
        begin: begins to play.
    """

    library: str
    package: str
    what: str
    where: str
    begin: Callable[[], Play]


BUILT_IN: Final = (
    BuiltIn(
        "Gymnasium",
        "gymnasium",
        "single and vector environments: one learner among agents; masks.",
        "../examples/ppo.py",
        gymnasium_games,
    ),
    BuiltIn(
        "OpenSpiel",
        "open_spiel",
        "the game with every card a chance node; bots, searches, algorithms.",
        "open_spiel.ipynb",
        lambda: in_open_spiel("fifth_avenue", "skyenv.envs.open_spiel")(MASK_AND_OBSERVATION, 1),
    ),
    BuiltIn(
        "PettingZoo",
        "pettingzoo",
        "agents in turns, and in its parallel API; masks.",
        "../examples/random_play.py",
        lambda: in_petting_zoo(fifth_avenue_v0.env)(MASK_AND_OBSERVATION, 1),
    ),
    BuiltIn(
        "Stable-Baselines3",
        "stable-baselines3",
        "a vector environment, MaskablePPO; without masks illegal actions end games.",
        "../examples/maskable_ppo.py",
        stable_baselines_games,
    ),
)
BEFORE: Final = {**{one.library: 0 for one in BUILT_IN}, "JAX": 8}
"""Lines of glue that a user of version 0.1 wrote. It had the environments that are built in; JAX's
were counted when
`io_callback` was tried with it. Of other libraries nobody counted them."""


def examples() -> list[Path]:
    """The programs that show a library, each with its requirements beside it."""
    return sorted(file.with_suffix(".py") for file in EXAMPLES.rglob("*.txt"))


def version(requirements: Path, package: str = r"[\w.-]+") -> str:
    """The version of a package, by default of the first one, that a file of requirements pins.

    Raises:
        OptionError: it pins none.
    """
    pinned = re.search(
        rf"^{package}(?:\[.*\])?==(\S+)$", requirements.read_text(encoding="utf-8"), re.MULTILINE
    )
    if pinned is None:
        raise OptionError(f"{requirements} pins no version")
    return pinned[1]


def lines_of_code(source: str) -> int:
    """The lines that hold code: no empty ones, no comments, no docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    tree = ast.fix_missing_locations(tree)
    return len(ast.unparse(tree).replace("\n\n", "\n").strip().splitlines())


def lines_of_glue(example: Path) -> int:
    """The lines of code of the part of an example that stands between the library and skyenv."""
    _, _, rest = example.read_text(encoding="utf-8").partition(BRIDGE)
    glue, _, _ = rest.partition(USE)
    return lines_of_code(glue)


def what_works(example: Path) -> tuple[str, str]:
    """The library's name and what the example does with it: the first line of its docstring, "NAME:
    what".
    """
    first = (ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or "").partition(
        "\n"
    )[0]
    library, _, what = first.partition(": ")
    return library, what


def table() -> str:
    """The libraries, as docs/libraries.md lists them; speeds are those of docs/libraries.json, if
    that has been published.
    """
    content = (
        json.loads(PUBLISHED.read_text(encoding="utf-8")) if PUBLISHED.exists() else {"figures": []}
    )
    speeds = {figure["name"]: f"{figure['median']:,.0f}" for figure in content["figures"]}
    rows = []
    for one in BUILT_IN:
        shown = f"[{Path(one.where).name}]({one.where})"
        speed = speeds.get(one.library, UNMEASURED)
        rows.append([one.library, version(CONSTRAINTS, one.package), one.what, shown, "0", speed])
    for example in examples():
        library, what = what_works(example)
        program = f"[{example.name}](../{example.relative_to(ROOT).as_posix()})"
        speed = speeds.get(example.stem, UNMEASURED)
        rows.append(
            [
                library,
                version(example.with_suffix(".txt")),
                what,
                program,
                str(lines_of_glue(example)),
                speed,
            ]
        )
    head = [
        "library",
        "version",
        "what works",
        "where",
        "lines of glue before",
        "lines of glue",
        "steps/s",
    ]
    told = [
        [*row[:4], str(BEFORE.get(row[0], "–")), *row[4:]]
        for row in sorted(rows, key=lambda row: row[0].lower())
    ]
    return markdown([head, *told], "llllrrr")


def steps_per_second(example: Path, arguments: Sequence[str] = ()) -> float:
    """Run an example in its environment and read what it prints last.

    Raises:
        OptionError: it fails, or says nothing of steps.
    """
    python = ENVIRONMENTS / example.stem / "bin" / "python"
    done = subprocess.run(
        [python, example, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    said = re.search(r"^([\d,]+) steps/s\Z", done.stdout.strip(), re.MULTILINE)
    if done.returncode or said is None:
        raise OptionError(
            f"{example} doesn't run in {python}: {done.stderr.strip() or done.stdout}"
        )
    return float(said[1].replace(",", ""))


def all_figures(quick: bool) -> list[Figure]:
    """A figure of what is built in, and of every example that has an environment; with `quick` of
    one run instead of five.
    """
    there = [example for example in examples() if (ENVIRONMENTS / example.stem / ".ready").exists()]
    repeats, span = (1, 0.05) if quick else (5, 2.0)
    figures = []
    for one in BUILT_IN:
        play = one.begin()
        pace(play, span)  # compiles
        figures.append(measure(one.library, "steps/s", repeats, partial(pace, play, span)))
    return figures + [
        measure(one.stem, "steps/s", repeats, partial(steps_per_second, one)) for one in there
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report(
        "libraries", "Measure the examples with other libraries.", METHOD, all_figures, arguments
    )


if __name__ == "__main__":
    sys.exit(main())
