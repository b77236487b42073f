"""What all agents that search have in common: determinizations by their random number, budgets, in
names and in slices, and Ctrl-C.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from positions import positions
from processes import wait_until
from skyenv.agents import decisions_in, make_agent
from skyenv.engine.games import Games, results
from skyenv.engine.kernels import uniform32
from skyenv.engine.knowledge import as_views, resample, view
from skyenv.errors import AgentError
from skyenv.rules.compiling import entry_point
from skyenv.rules.state import GAME_DTYPE, Array, as_records, new_records
from skyenv_agents import GreedyAgent, GuidedAgent, RolloutAgent, SearchAgent, TrainedAgent
from skyenv_agents.search.budgets import MOST_SIMULATIONS, Budget, Check, on_threads
from skyenv_agents.search.rollouts import new_scratch, search_options
from skyenv_agents.search.tree import NO_TREE, simulate

Searching = RolloutAgent | SearchAgent
KINDS: tuple[type[Searching], ...] = (RolloutAgent, SearchAgent, GuidedAgent)

# ---- decisions ----


@entry_point("the random numbers of rollouts")
def rollout_uniform(state: Array, salt: int, out: Array) -> None:
    """The random number of a decision in a rollout: that of compiled loops."""
    out[0] = uniform32(state[0], salt) / 4294967296.0


@pytest.mark.parametrize("num_players", [2, 3])
def test_games_are_played_on_as_greedy_players_play_them(num_players: int) -> None:
    """Seats do what the greedy agent does from their views: the compiled rollouts end as such games
    do.
    """
    games, greedy, row, seed = positions(num_players, "back", 12), GreedyAgent(), 4, 5
    me = int(games.seat[row])
    views = view(games.state[row : row + 1], me)
    legal = np.flatnonzero(games.mask[row])[:2].astype(np.int64)
    values, uniform = np.zeros((1, len(legal))), np.zeros(1)
    options = search_options(turns=2**31 - 1, early=10.0, late=3.0, margin=0.0)
    memory = new_records(1, GAME_DTYPE), new_scratch()
    how = options, greedy.weights(num_players), *memory
    simulate(as_views(views), np.array([seed]), *how, legal, values, *NO_TREE)
    for j, action in enumerate(legal):
        game = Games(1, num_players, "back", 0, autoreset=False)
        game.state[:] = resample(views, [seed])
        game.refresh()
        game.step([action])
        while game.seat[0] >= 0:
            rollout_uniform(as_records(game.state, GAME_DTYPE), seed, uniform)
            game.step(greedy.act(decisions_in(game, greedy, uniform=uniform)))
        assert values[0, j] == results(game.state)[0][0, me]


# ---- budgets ----


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_names_tell_budgets(kind: type[Searching]) -> None:
    name = kind.name
    names = [kind().name, kind(50).name, kind(milliseconds=2.5).name]
    assert names == [name, f"{name}-50", f"{name}-2.5ms"]
    assert kind().budget == Budget(kind.default_simulations)
    assert kind.variant(f"{name}-300").budget == Budget(300)
    assert kind.variant(f"{name}-50ms").budget.milliseconds == 50
    for spec in (name, f"{name}-1", f"{name}-{kind.default_simulations}", f"{name}-50ms"):
        assert make_agent(spec).name == spec
    for budget in ("", "0", "0ms", "ms", "-5", "5s", "1000001", "1e3", "many"):
        with pytest.raises(AgentError, match="budget"):
            kind.variant(f"{name}-{budget}")


@pytest.mark.usefixtures("ticking")
def test_slices_add_up_to_the_budget() -> None:
    assert list(Budget(20).slices(20, 8)) == [(0, 8), (8, 8), (16, 4)]
    assert list(Budget(3).slices(3, 8)) == [(0, 3)]
    timed = list(Budget(1, 4.5).slices(1, 8))
    assert timed == [(0, 8), (8, 8), (16, 8), (24, 8), (32, 8)]


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize(
    ("player", "least", "most"),
    [
        (RolloutAgent(1, turns=1, candidates=4), 4, 6),
        (RolloutAgent(100, turns=1, candidates=4), 92, 100),
        (SearchAgent(50, turns=0, trees=3), 51, 51),
        (SearchAgent(milliseconds=0.01), 16, 16),
        (SearchAgent(milliseconds=4.5), 80, 80),
        (SearchAgent(milliseconds=4.5, evaluator=TrainedAgent()), 40, 40),
        (RolloutAgent(milliseconds=0.01, turns=1), 2, 100),
        (RolloutAgent(milliseconds=40, turns=1), 200, 10_000),
    ],
)
def test_budgets(player: Searching, least: int, most: int) -> None:
    """In simulations and, by a clock that ticks with every look, in time."""
    games = positions(2, "front", 40)
    choices = games.mask.sum(axis=1)
    simulations = player.search(decisions_in(games, player)).simulations
    assert (simulations[choices == 1] == 0).all()
    assert least <= simulations[choices > 4].max() <= most


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        *((kind, "simulations", value) for kind in KINDS for value in (0, True, 2.5, 10**7)),
        *((kind, "milliseconds", value) for kind in KINDS for value in (0, -1, np.nan, "5")),
        *((kind, "threads", 0) for kind in KINDS),
        *((kind, "turns", -1) for kind in KINDS),
        (SearchAgent, "rollout_policy", "best"),
        (RolloutAgent, "late", 0),
        (RolloutAgent, "margin", 1.5),
        (RolloutAgent, "candidates", 1),
        (RolloutAgent, "caution", -0.5),
        *((SearchAgent, "trees", value) for value in (0, 65)),
        (SearchAgent, "exploration", -1),
        (SearchAgent, "temperature", float("nan")),
        (SearchAgent, "leaf_value", "clever"),
        (SearchAgent, "leaves", 0),
        (SearchAgent, "value_weight", 1.5),
        (GuidedAgent, "prior_temperature", 0.5),
        (partial(SearchAgent, evaluator=TrainedAgent()), "temperature", 0.0),
    ],
)
def test_wrong_options(kind: Any, option: str, value: object) -> None:
    with pytest.raises(AgentError, match=option):
        kind(**{option: value})


# ---- Ctrl-C ----


@pytest.mark.parametrize(
    "make",
    [
        partial(SearchAgent, trees=2, threads=2),
        partial(SearchAgent, evaluator=TrainedAgent()),
        partial(RolloutAgent, turns=0),
        partial(RolloutAgent, threads=2),
    ],
    ids=["trees side by side", "with an evaluator", "rollout", "rollouts side by side"],
)
def test_hears_ctrl_c(make: Callable[[int], Searching]) -> None:
    """A search of minutes ends at once, and all of its threads with it."""
    games = positions(2, "front", 20)
    agent = make(MOST_SIMULATIONS)
    rows = np.flatnonzero(games.mask.sum(axis=1) > 1)[:2]
    decisions = decisions_in(games, agent, rows)
    make(1).search(decisions)  # compiles
    threads, main = threading.active_count(), threading.main_thread().ident or 0
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        agent.search(decisions)
    wait_until(lambda: threading.active_count() == threads)


@pytest.mark.parametrize("failing", [0, 1])
def test_threads_end_when_one_fails(failing: int) -> None:
    """The others hear of it between two slices, and are waited for."""
    ended = []

    def task(item: int, check: Check) -> None:
        if item == failing:
            raise AgentError("no")
        try:
            while True:
                check()
                time.sleep(0.001)
        finally:
            ended.append(item)

    with pytest.raises(AgentError, match="no"):
        on_threads(task, [0, 1], 2)
    assert ended in ([1 - failing], []), "the other one may not have begun"
