"""Compile what the tests use before they start, every entry point in a process of its own, on all processors.

Numba keeps compiled code on disk, so this takes a few seconds if nothing has changed. Without it, two parallel workers would
compile the same functions at the same time. This file is also the program that those processes run:
``python tests/compile_first.py PART FILE``.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
POSITIONS: Final = "positions"
"""The part that comes first: it plays without the compiler, so that no other part needs what yet another one compiles."""


def make_positions(file: Path) -> None:
    """Write games that have begun, and the decisions that they wait for."""
    from skyenv.agents import Decisions
    from skyenv.games import Games
    from skyenv.knowledge import view

    games = Games(4, 2, seed=1)
    games.play_random(30)
    decisions = Decisions(games.mask, games.seat, 2, games.uniforms(), games.observation, view(games.state, games.seat))
    file.write_bytes(pickle.dumps((games, decisions)))


def _play(games: Any, decisions: Any) -> None:
    games.play_random(1)


def _begin(games: Any, decisions: Any) -> None:
    from skyenv.games import Games

    Games(1, 2, seed=1)


def _see(games: Any, decisions: Any) -> None:
    from skyenv.games import results
    from skyenv.knowledge import view

    games.observe(0)
    games.uniforms()
    results(games.state)
    view(games.state, games.seat)


def _decide(name: str) -> Callable[[Any, Any], None]:
    def decide(games: Any, decisions: Any) -> None:
        from skyenv import make_agent

        make_agent(name).act(decisions)

    return decide


PARTS: Final[dict[str, Callable[[Any, Any], None]]] = {
    "ismcts": _decide("ismcts"),
    "ismcts-trained": _decide("ismcts-trained-16"),
    "rollout": _decide("rollout-16"),
    "play": _play,
    "appraiser": _decide("appraiser"),
    "greedy": _decide("greedy"),
    "begin": _begin,
    "see": _see,
}
"""What is compiled, what takes longest first."""


def run(part: str, file: Path, **environment: str) -> None:
    """Run a part in a process of its own.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SKYENV_QUIET": "1", **environment}
    done = subprocess.run([sys.executable, __file__, part, str(file)], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{part}: {done.stderr}")


def compile_all() -> None:
    """Compile everything, as many parts at a time as there are processors."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as processes:
        file = Path(folder) / "positions"
        run(POSITIONS, file, NUMBA_DISABLE_JIT="1")
        list(processes.map(lambda part: run(part, file), PARTS))


if __name__ == "__main__":
    _, name, path = sys.argv
    if name == POSITIONS:
        make_positions(Path(path))
    else:
        PARTS[name](*pickle.loads(Path(path).read_bytes()))
