"""Whole games of the engine, checked line by line by the referee, an independent implementation."""

import json
import random
from collections import Counter
from collections.abc import Callable

import pytest

from referee import Summary, check_record
from skyenv import ACTION_NAMES, Board, Game, make_agent, make_board
from skyenv.agents import decide_game
from skyenv.rules.components import CENTRAL_PARK, DISTRICTS, NUM_PLOTS, PLOTS, SIDES

Policy = Callable[[Game, random.Random], int]

PLAYERS = (2, 3, 4)
AGENTS = ("random", "crowd", "hoard")
TABLES = [(players, side, agent) for players in PLAYERS for side in SIDES for agent in AGENTS]
HOARD_TURNS = 120
"""Games of the hoard agent may go on for long."""
QUICK_GAMES = 6
"""At each table; the other half of them with shuffled rings."""

COMMON = """
    ALEA-2.2 ALEA-2.3 ALEA-2.4 ALEA-3.out ALEA-3.overbid ALEA-4 ALEA-6 ALEA-6.short ALEA-7 ALEA-8
    AUC-10 AUC-12 AUC-12.late AUC-2.last AUC-2.nobody AUC-3.raise AUC-4.black AUC-5.1 AUC-5.2
    AUC-5.3 AUC-5.nocard AUC-5.none AUC-5.same AUC-6 AUC-7 AUC-8.again AUC-8.order AUC-8.top AUC-9
    AUC-9.none BUS-2.second BUS-3 BUS-4 BUS-4.earned BUS-5 END-3 END-3.few END-5 MOVE-3 MOVE-4
    MOVE-5 SCO-3 SCO-4 STOP-1 STOP-1.must STOP-2.alea STOP-3 STOP-5 STOP-6 STOP-6.early TURN-2
    TURN-4 TURN-4.none TURN-7
"""
"""Special branches of the rules (see `referee.Summary`) that the quick games must take."""
RARE = "END-4 END-4.shared"
"""... and those that many games must take.

`TURN-3` has a test of its own below, and so has `ALEA-2.short`.

Nobody ever takes `SCO-4.none`: a player loses skyscrapers by building stops alone, the starting two
stand in two districts, and the second stop ends the game.
"""


# ---- ways to play ----


def agent_policy(name: str) -> Policy:
    """A built-in agent."""
    agent = make_agent(name)
    return lambda game, rng: decide_game(game, agent)


def starting(game: Game, start: str) -> list[int]:
    """The legal actions whose names start like this."""
    return [action for action in game.legal_actions if ACTION_NAMES[action].startswith(start)]


def settle(game: Game, rng: random.Random) -> int:
    """Get a skyscraper into every district, and a second business onto every plot that has one: the
    board fills up.
    """
    state, legal = game.state, game.legal_actions
    businesses = state["tiles"].sum(axis=2).flatten()
    done, passing = starting(game, "bid done"), starting(game, "pass")
    if game.phase == "option":
        business = (
            starting(game, "option B") if (businesses == 1).any() and rng.random() < 0.3 else []
        )
        skyscrapers = starting(game, "option A") if state["supply"][game.seat] == 0 else []
        return rng.choice(skyscrapers or business or starting(game, "option C"))
    if game.phase == "plot":
        first_plot = ACTION_NAMES.index(f"plot {DISTRICTS[0]} {PLOTS[0]}")
        return next(action for action in legal if businesses[action - first_plot] == 1)
    if game.phase == "bid":
        place = int(state["auction_place"])
        settled = place == CENTRAL_PARK or (state["owner"][place] == game.seat).any()
        return (done or (passing if settled else legal[-1:]))[0]
    if game.phase == "build":
        return legal[min(1, len(legal) - 1)]
    return rng.choice(legal)


def draw_black(game: Game, rng: random.Random) -> int:
    """Score districts for the black cards that this brings, and keep them."""
    return rng.choice(starting(game, "pass") or starting(game, "option D") or game.legal_actions)


# ---- games ----


def shuffled_rings(rng: random.Random, side: str) -> Board:
    """A board with every district's plots in any order."""
    plots = PLOTS if side == "back" else PLOTS[: NUM_PLOTS - 1]
    return make_board(side, {name: rng.sample(plots, len(plots)) for name in DISTRICTS})


def checked(
    players: int,
    side: str,
    policy: Policy,
    seed: int,
    *,
    any_rings: bool = False,
    max_turns: int = 500,
) -> Summary:
    """Play a game and have its record checked, legal actions included; a Refutation names a line
    that is wrong.
    """
    rng = random.Random(seed)
    board = shuffled_rings(rng, side) if any_rings else None
    game = Game(players, side, seed, board=board, max_turns=max_turns)
    legal = []
    while not game.is_over:
        legal.append(game.legal_actions)
        game.play(policy(game, rng))
    asked = iter(legal)
    events = [
        event | {"legal": next(asked)} if event["event"] == "action" else event
        for event in game.events
    ]
    (summary,) = check_record(json.dumps(line) for line in (game.header(), *events))
    return summary


def checked_games(players: int, side: str, agent: str, seeds: range) -> Counter[str]:
    """Games of a table; the special branches that they took."""
    policy = agent_policy(agent)
    max_turns = HOARD_TURNS if agent == "hoard" else 500
    rules: Counter[str] = Counter()
    for seed in seeds:
        rules += checked(
            players, side, policy, seed, any_rings=seed % 2 == 1, max_turns=max_turns
        ).rules
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
    rules = sum((checked_games(*table, seeds) for table in TABLES), Counter[str]())
    assert [branch for branch in branches.split() if not rules[branch]] == []


def test_a_full_board() -> None:
    """TURN-3: with four players in every district and two businesses on each other plot, option B
    can't be chosen.
    """
    summary = checked(4, "front", settle, 0, max_turns=100)
    assert summary.rules["TURN-3"] > 0


def test_a_black_stack_that_runs_out() -> None:
    """ALEA-2, AUC-9: the players hold nearly all black cards when Alea bids."""
    rules = sum(
        (checked(2, "front", draw_black, seed, max_turns=60).rules for seed in range(4)),
        Counter[str](),
    )
    branches = ("ALEA-2.short", "ALEA-2.0", "ALEA-2.1", "AUC-9.none")
    assert [branch for branch in branches if not rules[branch]] == []
