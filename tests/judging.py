"""Games of the engine, checked line by line by the referee, an independent implementation.

This file is also a program, ``SKYENV_VARIANT=... python tests/judging.py SEED``, which judges two
games of a variant and prints the special branches of the rules that they took.
"""

import json
import os
import random
import sys
import tomllib
from collections import Counter
from functools import cache
from typing import Any, Final

import numpy as np

from processes import ROOT, printed
from referee import PRINTED, Constants, Refutation, check_record
from skyenv import Board, Game, make_agent, make_board
from skyenv.agents import decide_game
from skyenv.engine.observation import HIGH, LOW
from skyenv.engine.validation import as_games, check_positions
from skyenv.rules.components import DISTRICTS, NUM_PLOTS, PLOTS, SIDES
from skyenv.rules.variant import CHANGEABLE

AGENTS: Final = ("random", "crowd", "hoard")
TABLES: Final = [(players, side) for players in (2, 3, 4) for side in SIDES]
DECISIONS: Final = "decisions"
"""Key of the number of decisions among the branches that games took."""


def shuffled_rings(rng: random.Random, side: str) -> Board:
    """A board with every district's plots in any order."""
    plots = PLOTS if side == "back" else PLOTS[: NUM_PLOTS - 1]
    return make_board(side, {name: rng.sample(plots, len(plots)) for name in DISTRICTS})


@cache
def openings() -> dict[str, Any]:
    """The stored openings by task."""
    with np.load(ROOT / "skyenv" / "engine" / "openings.npz") as content:
        return dict(content)


def opening(name: str) -> Any:
    """A task's opening, such as "alea-4/7", for the referee."""
    try:
        task, number = name.split("/")
        return openings()[task][int(number)]
    except (AttributeError, ValueError, LookupError) as error:
        raise Refutation(f"the rules say: an opening; the record says: {name}") from error


def judged(game: Game, agent: str, constants: Constants = PRINTED) -> Counter[str]:
    """Play a game to its end and have its record checked, legal actions included; return the
    special branches that it took. Positions and observations are in their bounds.

    A Refutation names a line that is wrong.
    """
    player, decisions = make_agent(agent), 0
    while not game.is_over:
        if decisions % 32 == 0:
            check_positions(as_games(game.batch.arrays.state))
            observation = game.observation(decisions % game.num_players)
            assert ((observation >= LOW) & (observation <= HIGH)).all()
        was_legal = {"legal": game.legal_actions}
        game.play(decide_game(game, player))[0].update(was_legal)
        decisions += 1
    read = None if game.options.task is None else opening
    (rules,) = check_record(game.to_record().splitlines(), constants, read)
    return rules + Counter({DECISIONS: decisions})


def game_of(table: tuple[int, str], seed: int, max_turns: int) -> Game:
    """A game at a table; those of odd seeds on shuffled rings."""
    players, side = table
    board = shuffled_rings(random.Random(seed), side) if seed % 2 else None
    return Game(players, side, seed, board=board, max_turns=max_turns)


def goes_together(constants: dict[str, Any]) -> bool:
    """Whether the constants of a variant fit each other (docs/change_the_game.md)."""
    black: int = sum(constants["black_cards"])
    skyscrapers: int = constants["starting_supply"] + constants["starting_general_supply"]
    return (
        5 <= sum(constants["coloured_cards"]) <= 12
        and 4 * constants["starting_black_cards"] <= black <= 50
        and skyscrapers <= 15
    )


def random_variant(seed: int) -> str:
    """The text of a variant of a seed: each number as printed, lowest, highest, or any one."""
    rng, constants = random.Random(seed), dict[str, Any]()
    while not constants or not goes_together(constants):
        for name, (usual, low, high) in CHANGEABLE.items():
            values = usual if isinstance(usual, tuple) else (usual,)
            numbers = [rng.choice((value, low, high, rng.randint(low, high))) for value in values]
            constants[name] = numbers[0] if values != usual else numbers
    table = ", ".join(f"{name} = {value}" for name, value in constants.items())
    return f'name = "any-{seed}"\nconstants = {{ {table} }}\n'


def judged_under(variant: str, seed: int = 0, jit: bool = False) -> Counter[str]:
    """The special branches of two games under a variant, in a process of its own; in plain Python
    unless it is compiled.
    """
    environment = {"SKYENV_VARIANT": variant, "NUMBA_DISABLE_JIT": "0" if jit else "1"}
    return Counter(json.loads(printed(__file__, seed, environment=environment)))


if __name__ == "__main__":
    changed = tomllib.loads(os.environ["SKYENV_VARIANT"])["constants"]
    given: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in changed.items()
    }
    seed, found = int(sys.argv[1]), Counter[str]()
    for table, name in ((TABLES[seed % 2], AGENTS[seed % 3]), (TABLES[2 + seed % 4], "crowd")):
        found += judged(game_of(table, seed, 60), name, Constants(**given))
    print(json.dumps(found))
