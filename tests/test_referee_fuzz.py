"""Whole games of the engine, checked line by line by the referee, an independent implementation."""

import random
from collections import Counter

import pytest

from referee import check_record
from skyenv import Board, Game, make_agent, make_board
from skyenv.agents import decide_game
from skyenv.rules.components import DISTRICTS, NUM_PLOTS, PLOTS, SIDES

PLAYERS = (2, 3, 4)
AGENTS = ("random", "crowd", "hoard")
TABLES = [(players, side, agent) for players in PLAYERS for side in SIDES for agent in AGENTS]
# Games of the hoard agent may go on for long.
HOARD_TURNS = 120
# At each table; the other half of them with shuffled rings.
QUICK_GAMES = 6

# Special branches of the rules (see `referee.Rules`) that the quick games must take.
COMMON = """
    ALEA-2.2 ALEA-2.3 ALEA-2.4 ALEA-3.out ALEA-3.overbid ALEA-4 ALEA-6 ALEA-6.short ALEA-7 ALEA-8
    AUC-10 AUC-12 AUC-12.late AUC-2.last AUC-2.nobody AUC-3.raise AUC-4.black AUC-5.1 AUC-5.2
    AUC-5.3 AUC-5.nocard AUC-5.none AUC-5.same AUC-6 AUC-7 AUC-8.again AUC-8.order AUC-8.top AUC-9
    AUC-9.none BUS-2.second BUS-3 BUS-4 BUS-4.earned BUS-5 END-3 END-3.few END-5 MOVE-3 MOVE-4
    MOVE-5 SCO-3 SCO-4 STOP-1 STOP-1.must STOP-2.alea STOP-3 STOP-5 STOP-6 STOP-6.early TURN-2
    TURN-4 TURN-4.none TURN-7
"""
# ... and those that many games must take. `TURN-3` and `ALEA-2.short` are shown in tests/rules, in
# positions that few games reach. Nobody ever takes `SCO-4.none`: a player loses skyscrapers by
# building stops alone, the starting two stand in two districts, and the second stop ends the game.
RARE = "END-4 END-4.shared"


def shuffled_rings(rng: random.Random, side: str) -> Board:
    """A board with every district's plots in any order."""
    plots = PLOTS if side == "back" else PLOTS[: NUM_PLOTS - 1]
    return make_board(side, {name: rng.sample(plots, len(plots)) for name in DISTRICTS})


def checked(players: int, side: str, agent: str, seeds: range) -> Counter[str]:
    """Play games of a table and have their records checked, legal actions included; every other one
    is on shuffled rings. Return the special branches that they took.

    A Refutation names a line that is wrong.
    """
    player, rules = make_agent(agent), Counter[str]()
    max_turns = HOARD_TURNS if agent == "hoard" else 500
    for seed in seeds:
        board = shuffled_rings(random.Random(seed), side) if seed % 2 else None
        game = Game(players, side, seed, board=board, max_turns=max_turns)
        while not game.is_over:
            was_legal = {"legal": game.legal_actions}
            game.play(decide_game(game, player))[0].update(was_legal)
        rules += check_record(game.to_record().splitlines())[0]
    return rules


@pytest.mark.parametrize(
    ("seeds", "branches"),
    [
        (range(QUICK_GAMES), COMMON),
        pytest.param(range(1000, 1200), COMMON + RARE, marks=pytest.mark.long),
    ],
    ids=["few", "many"],
)
def test_games_of_every_table_take_the_special_branches(seeds: range, branches: str) -> None:
    """With the printed rings and with others; the branches show that the check isn't weak."""
    rules = sum((checked(*table, seeds) for table in TABLES), Counter[str]())
    assert [branch for branch in branches.split() if not rules[branch]] == []
