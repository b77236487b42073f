"""The rules in plain Python: games equal to compiled ones, byte for byte.

This file is also a program, ``python tests/test_uncompiled.py PLAYERS SIDE AGENT TURNS DECISIONS``,
which prints digests.
"""

import copy
import hashlib
import json
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from processes import printed
from skyenv import Game, Games, make_agent
from skyenv.agents import decide, decide_game
from skyenv.engine.results import results
from skyenv.rules.compiling import COMPILED

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]


def digest(*things: Any) -> str:
    """A short digest of arrays and of whatever JSON can tell."""
    content = hashlib.sha256()
    for thing in things:
        content.update(
            thing.tobytes()
            if isinstance(thing, (np.ndarray, np.void))
            else json.dumps(thing).encode()
        )
    return content.hexdigest()[:16]


def single_game(players: int, side: str, agent: str, max_turns: int, decisions: int) -> list[str]:
    """A digest after every action of one game: position, mask, observations, views, events; and of
    copies at its end.
    """
    game = Game(players, side, 11, max_turns=max_turns)
    player = make_agent(agent)
    steps = []
    for number in range(decisions):
        if game.is_over:
            break
        events = game.play(decide_game(game, player))
        steps.append(digest(game.state, game.mask, game.observation(), events))
        if number % 10 == 0:
            for seat in range(players):
                view = game.view(seat)
                fields = [view[name] for name in ("unknown", "unseen", "num_face_down")]
                steps.append(digest(game.observation(seat), view["game"].copy(), *fields))
    for twin in (game.copy(), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        twin.state["score"] += 3
        twin.refresh()
        if not twin.is_over:
            twin.play(twin.legal_actions[-1])
        steps.append(digest(twin.state, twin.scores, twin.mask))
    steps.append(digest(str(game), game.to_record()))
    return steps


def batch(players: int, side: str, agent: str, max_turns: int, decisions: int) -> list[str]:
    """Digests of a batch with automatic resets, stepped from outside, inside the loop, and as a
    copy.
    """
    games = Games(
        3, players, side, [5, 2**63 - 1, 2**40], max_turns=max_turns, reward="margin", threads=2
    )
    player = make_agent(agent)
    steps = []
    for _ in range(decisions // 6):
        games.step(decide(games, player))
        steps.append(
            digest(
                games.state, games.mask, games.observation, games.reward, games.done, games.seeds
            )
        )
    for one in (games, games.copy(), pickle.loads(pickle.dumps(games))):
        one.play_random(10, salt=2**31 + 5)
        one.step(one.mask[[2, 0, 1]].argmax(axis=1), [2, 0, 1])
        one.state["score"][0] += 1
        steps.append(
            digest(one.state, one.observation, one.finished, one.uniforms(), *results(one.state))
        )
    steps.append(digest(games.observe(players - 1, [1]), games.seat))
    return steps


def digests(players: int, side: str, agent: str, max_turns: int, decisions: int) -> list[str]:
    return single_game(players, side, agent, max_turns, decisions) + batch(
        players, side, agent, max_turns, decisions
    )


def the_other_way(*arguments: object) -> list[str]:
    """The digests made without the compiler, or with it if it is off here; every warning is an
    error.
    """
    environment = {"NUMBA_DISABLE_JIT": "1" if COMPILED else "0"}
    lines: list[str] = json.loads(
        printed("-W", "error", __file__, *arguments, environment=environment)
    )
    return lines


@pytest.mark.parametrize(
    ("players", "side", "agent"),
    [(2, "front", "crowd"), (3, "back", "hoard")],
)
def test_compiled_and_plain_python_games_are_equal(players: int, side: str, agent: str) -> None:
    arguments = (players, side, agent, 12, 100)
    assert the_other_way(*arguments) == digests(*arguments)


@pytest.mark.long
@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", ["random", "crowd", "hoard"])
def test_long_compiled_and_plain_python_games_are_equal(
    players: int, side: str, agent: str
) -> None:
    """To their end, or for many hundred decisions."""
    arguments = (players, side, agent, 150, 1500)
    assert the_other_way(*arguments) == digests(*arguments)


if __name__ == "__main__":
    players, side, agent, *numbers = sys.argv[1:]
    print(json.dumps(digests(int(players), side, agent, *map(int, numbers))))
