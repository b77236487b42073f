"""Heuristic players in Numba's simulator of CUDA decide as on the processor, byte for byte.

This file is also a program, ``python tests/skyenv_agents/heuristic/test_device.py PLAYERS SIDE
AGENT TURNS``, which plays there.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":  # before anything asks Numba for CUDA
    os.environ |= {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    sys.path[:0] = [
        str(Path(__file__).resolve().parents[3] / folder) for folder in ("", "agents", "tests")
    ]

from processes import printed
from skyenv import Games
from skyenv.agents import decisions_in, make_agent
from skyenv_agents.heuristic.player import HeuristicAgent

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
WHOLE = 1000
"""Turns that no game has."""
PLAYED = [
    (2, "front", "greedy", 8),
    (3, "back", "appraiser", 8),
    *(
        pytest.param(*table, WHOLE, marks=pytest.mark.long)
        for table in (
            (2, "front", "greedy"),
            (3, "back", "appraiser"),
            (4, "front", "style-2"),
            (2, "back", "bidder"),
            (3, "front", "builder"),
        )
    ),
]


def played(decide: Callable[[Any, list[int]], tuple[Any, Any]], games: Any) -> Iterator[str]:
    """A digest of every decision in whole games of one agent: positions, actions, and what it held
    of the legal ones.
    """
    while (rows := np.flatnonzero(on_host(games.seat) >= 0)).size:
        actions, scores = decide(games, rows.tolist())
        legal = on_host(games.mask)[rows] != 0
        told = (on_host(games.state), actions, np.where(legal, scores, 0.0))
        yield hashlib.sha256(
            b"".join(np.ascontiguousarray(part).tobytes() for part in told)
        ).hexdigest()[:16]
        games.step(actions, rows=rows)


def on_host(array: Any) -> Any:
    """An array in ordinary memory."""
    return array.numpy() if hasattr(array, "numpy") else array


def of_processor(players: int, side: str, name: str, turns: int) -> list[str]:
    """What comes of the agent's games on the processor."""
    agent = make_agent(name)
    assert isinstance(agent, HeuristicAgent)

    def decide(games: Games, rows: list[int]) -> tuple[Any, Any]:
        decisions = decisions_in(games, agent, rows)
        return agent.act(decisions), agent.scores(decisions)

    return list(
        played(
            decide, Games(2, players, side, 11, observation=None, autoreset=False, max_turns=turns)
        )
    )


def of_device(players: int, side: str, name: str, turns: int) -> list[str]:
    """What comes of them in the simulator."""
    from skyenv.cuda import Games as DeviceGames
    from skyenv_agents.heuristic.device import DevicePlayer

    games = DeviceGames(2, players, side, 11, observation=None, autoreset=False, max_turns=turns)
    agent = make_agent(name)
    assert isinstance(agent, HeuristicAgent)
    player, silent = DevicePlayer(agent, games, scores=True), DevicePlayer(agent, games)
    assert silent.decide([], []).numpy().tolist() == [0, 0]

    def decide(games: Any, rows: list[int]) -> tuple[Any, Any]:
        actions = player.decide(rows, games.uniforms(rows)).numpy()[rows]
        return actions, player.scores.numpy()[rows]

    digests = list(played(decide, games))
    last = player.actions.numpy()
    assert player.decide([0, 1], [0.5, 0.5]).numpy().tolist() == last.tolist()  # the games are over
    assert silent.scores.shape == (0, 103)
    return digests


@pytest.mark.parametrize(("players", "side", "name", "turns"), PLAYED)
def test_it_decides_as_on_the_processor(players: int, side: str, name: str, turns: int) -> None:
    """In the simulator; a GPU itself rounds otherwise (skyenv_agents.heuristic.device)."""
    expected = of_processor(players, side, name, turns)
    told = json.loads(
        printed(__file__, str(players), side, name, str(turns), environment=SIMULATED)
    )
    assert len(expected) > (100 if turns == WHOLE else 20)
    assert len(told) == len(expected)
    assert [
        number
        for number, (one, other) in enumerate(zip(told, expected, strict=True))
        if one != other
    ] == []


if __name__ == "__main__":
    print(json.dumps(of_device(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))))
