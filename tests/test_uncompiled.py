"""The rules in plain Python: games equal to compiled ones, byte for byte.

This file is also a program, ``python tests/test_uncompiled.py PLAYERS SIDE AGENT TURNS STEPS``,
which prints digests.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import printed
from skyenv import Games, make_agent
from skyenv.agents import decide
from skyenv.engine.knowledge import view
from skyenv.engine.results import results
from skyenv.rules.compiling import COMPILED

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


def digest(*arrays: np.ndarray) -> str:
    """A short digest of arrays."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def digests(players: int, side: str, agent: str, max_turns: int, steps: int) -> list[str]:
    """Digests of a batch with automatic resets: positions, masks, observations, rewards and views
    after every step; then of random play, a step of some rows, and an edit.
    """
    seeds = [5, 2**63 - 1, 2**40]
    games = Games(3, players, side, seeds, max_turns=max_turns, reward="margin", threads=2)
    player, found = make_agent(agent), []
    for _ in range(steps):
        games.step(decide(games, player))
        seen = view(games.state, games.seat)
        views = [seen[name] for name in ("unknown", "unseen", "num_face_down")]
        views.append(seen["game"].copy())
        told = games.mask, games.observation, games.reward, games.done, games.seeds
        found.append(digest(games.state, *told, *views))
    games.play_random(10, salt=2**31 + 5)
    games.step(games.mask[[2, 0]].argmax(axis=1), [2, 0])
    games.state["score"][0] += 1
    games.refresh()
    views = [games.observation, games.observe(players - 1, [1]), games.finished, games.uniforms()]
    return [*found, digest(games.state, *views, *results(games.state), games.seat)]


@pytest.mark.parametrize(
    "arguments",
    [
        (2, "front", "crowd", 12, 60),
        (3, "back", "hoard", 12, 60),
        *(  # to their end, and on into the next ones
            pytest.param((*table, agent, 150, 1500), marks=pytest.mark.long)
            for table in TABLES
            for agent in ("random", "crowd", "hoard")
        ),
    ],
    ids=str,
)
def test_compiled_and_plain_python_games_are_equal(arguments: tuple[Any, ...]) -> None:
    """Digests made without the compiler, or with it if it is off here; warnings are errors."""
    environment = {"NUMBA_DISABLE_JIT": "1" if COMPILED else "0"}
    other = printed("-W", "error", __file__, *arguments, environment=environment)
    assert json.loads(other) == digests(*arguments)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_plain_python_gives_the_events_of_recorded_games(path: Path) -> None:
    environment = {"NUMBA_DISABLE_JIT": "1"}
    printed("-W", "error", "-m", "skyenv", "verify", path, environment=environment)


if __name__ == "__main__":
    players, side, agent, *numbers = sys.argv[1:]
    print(json.dumps(digests(int(players), side, agent, *map(int, numbers))))
