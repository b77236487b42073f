"""Whole games, tasks and variants of the engine, judged by the referee (tests/judging.py)."""

from collections import Counter
from collections.abc import Iterable

import pytest

from judging import AGENTS, DECISIONS, TABLES, game_of, judged, judged_under, random_variant
from skyenv import Game
from skyenv.engine.openings import TASKS

# Games of the hoard agent may go on for long.
MAX_TURNS = {"hoard": 120}
# At each table with each agent.
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
# Those that variants must take: the ones in which their constants matter.
OF_VARIANTS = "ALEA-6 ALEA-7 AUC-10 AUC-9 BUS-4 END-3 STOP-6 TURN-2"


def missed(branches: str, games: Iterable[Counter[str]]) -> list[str]:
    """The branches that no game took, or DECISIONS; the total is printed."""
    rules = sum(games, Counter[str]())
    print(rules[DECISIONS], "decisions judged")
    return [branch for branch in [DECISIONS, *branches.split()] if not rules[branch]]


@pytest.mark.rule("COM-1", "COM-2", "COM-3", "COM-6", "COM-9", "AUC-8", "AUC-9", "AUC-11")
@pytest.mark.rule("ALEA-1", "ALEA-5", "BUS-2", "BUS-4", "STOP-2", "STOP-3", "STOP-4")
@pytest.mark.rule("SCO-1", "END-2", "END-3")
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
    games = (
        judged(game_of(table, seed, MAX_TURNS.get(agent, 500)), agent)
        for table in TABLES
        for agent in AGENTS
        for seed in seeds
    )
    assert missed(branches, games) == []


@pytest.mark.compiled
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(100, 2100), marks=pytest.mark.long)]
)
def test_tasks_are_judged(task: str, seeds: range) -> None:
    """Every legal action, event and payoff, from openings that the referee reads by itself."""
    games = (judged(Game(task=task, seed=seed), AGENTS[seed % len(AGENTS)]) for seed in seeds)
    assert missed("", games) == []


@pytest.mark.parametrize(
    ("seeds", "branches"),
    [(range(6), OF_VARIANTS)]
    + [
        pytest.param(range(first, first + 100), OF_VARIANTS, marks=pytest.mark.long)
        for first in range(1000, 2000, 100)
    ],
)
def test_variants_are_judged(seeds: range, branches: str) -> None:
    """Random values of all constants, in plain Python."""
    games = (judged_under(random_variant(seed), seed) for seed in seeds)
    assert missed(branches, games) == []


@pytest.mark.compiled
@pytest.mark.long
@pytest.mark.parametrize("seed", range(2000, 2003))
def test_compiled_variants_are_judged(
    seed: int, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in plain Python, to the branch."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    variant = random_variant(seed)
    assert judged_under(variant, seed, jit=True) == judged_under(variant, seed)
