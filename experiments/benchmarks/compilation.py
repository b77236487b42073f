"""How long does compilation take? ``python -m experiments.benchmarks.compilation`` prints processor
seconds by entry point.

Everything is compiled into an empty folder by one process after the other, in the order of the
table; so each line is what is compiled on top of those above it. Compiling something again costs
less than a second: it is loaded from disk.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from experiments.benchmarks.figures import Figure, report
from skyenv import Games, make_agent
from skyenv.agents import Decisions
from skyenv.engine.games import results
from skyenv.engine.knowledge import resample, view

METHOD: Final = "processor seconds of one process for each line, import included; all use one folder, empty at first"
POSITIONS: Final = "positions"
"""The part that is made without the compiler: decisions for agents, so that an agent's line is what
the agent costs.
"""
STEP: Final = "first step of an environment"
OBSERVATIONS: Final = "observations of any seat"
RESULTS: Final = "results of games"
VIEWS: Final = "views"
RESAMPLING: Final = "resampling"
AGENTS: Final = ("greedy", "appraiser", "rollout-16", "ismcts-16", "trained", "ismcts-trained-16")
PARTS: Final = (STEP, OBSERVATIONS, RESULTS, VIEWS, RESAMPLING, *AGENTS)


def make_positions(file: Path) -> None:
    """Write games that have begun, and the decisions that they wait for."""
    games = Games(4, 2, seed=1)
    games.play_random(30)
    views = view(games.state, games.seat)
    file.write_bytes(
        pickle.dumps(
            (
                games,
                Decisions(
                    games.mask,
                    games.seat,
                    2,
                    games.uniforms(),
                    games.observation,
                    views,
                ).as_trusted(),
            )
        )
    )


def compile_part(part: str, file: Path) -> None:
    """Do what the part needs compiled code for."""
    if part == STEP:
        games = Games(1, 2, seed=1)
        games.step(games.mask.argmax(axis=1))
        return
    games, decisions = pickle.loads(file.read_bytes())
    uses: dict[str, Any] = {
        OBSERVATIONS: lambda: games.observe(0),
        RESULTS: lambda: results(games.state),
        VIEWS: lambda: view(games.state, games.seat),
        RESAMPLING: lambda: resample(decisions.view, range(len(decisions))),
    }
    uses.get(part, lambda: make_agent(part).act(decisions))()


def seconds_of(part: str, file: Path, cache: Path, **environment: str) -> float:
    """Processor seconds of a process that compiles a part into a folder, or loads it from there.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    env = {**os.environ, "SKYENV_QUIET": "1", "NUMBA_CACHE_DIR": str(cache), **environment}
    before = os.times()
    command = [sys.executable, "-m", "experiments.benchmarks.compilation", part, str(file)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    after = os.times()
    if done.returncode != 0:
        raise RuntimeError(f"{part}: {done.stderr}")
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def all_figures(quick: bool, parts: Sequence[str] = PARTS) -> list[Figure]:
    """What each part takes, all of them together, and the step of an environment when everything is
    on disk.

    Args:
        quick: the first two parts alone.
        parts: some of PARTS.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, cache = Path(folder) / "positions", Path(folder) / "cache"
        seconds_of(POSITIONS, file, cache, NUMBA_DISABLE_JIT="1")
        taken = {part: seconds_of(part, file, cache) for part in (parts[:2] if quick else parts)}
        taken["all of these"] = sum(taken.values())
        started = time.perf_counter()
        taken[f"{parts[0]}, from disk"] = seconds_of(parts[0], file, cache)
        taken[f"{parts[0]}, from disk, by the clock"] = time.perf_counter() - started
    return [Figure(name, one, one, one, "s", 1) for name, one in taken.items()]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; with two arguments a process that compiles a part."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if len(given) == 2 and given[0] in (POSITIONS, *PARTS):
        part, file = given[0], Path(given[1])
        if part == POSITIONS:
            make_positions(file)
        else:
            compile_part(part, file)
        return 0
    return report("compilation", "Measure how long compilation takes.", METHOD, all_figures, given)


if __name__ == "__main__":
    sys.exit(main())
