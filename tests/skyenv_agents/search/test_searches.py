"""All searching agents: determinizations, budgets, names, and Ctrl-C."""

import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from positions import positions
from skyenv.agents import decisions_in, make_agent
from skyenv.engine.games import Games
from skyenv.engine.knowledge import as_views, resample, view
from skyenv.engine.numbers import uniform32
from skyenv.engine.results import results
from skyenv.errors import AgentError
from skyenv.rules.compiling import entry_point
from skyenv.rules.record import Array, as_records, new_records
from skyenv.rules.state import GAME_DTYPE
from skyenv_agents import GreedyAgent, GuidedAgent, RolloutAgent, SearchAgent
from skyenv_agents.search.budgets import MAX_SIMULATIONS, BudgetedAgent
from skyenv_agents.search.lookahead import TrainedLookaheadAgent
from skyenv_agents.search.rollouts import new_scratch, search_options, try_actions

Searching = RolloutAgent | SearchAgent
KINDS: tuple[type[Searching], ...] = (RolloutAgent, SearchAgent, GuidedAgent)
BUDGETED: tuple[type[BudgetedAgent], ...] = (*KINDS, TrainedLookaheadAgent)

# ---- decisions ----


@entry_point("the random numbers of rollouts")
def rollout_uniform(state: Array, salt: int, out: Array) -> None:
    """The random number of a decision in a rollout: that of compiled loops."""
    out[0] = uniform32(state[0], salt) / 4294967296.0


@pytest.mark.parametrize("num_players", [2, 3])
def test_rollouts_follow_the_greedy_agent(num_players: int) -> None:
    """Seats act like the greedy agent on their views; compiled rollouts end like such games."""
    games, greedy, row, seed = positions(num_players, "back", 12), GreedyAgent(), 4, 5
    me = int(games.seat[row])
    views = view(games.state[row : row + 1], me)
    legal = np.flatnonzero(games.mask[row])[:2].astype(np.int64)
    values, uniform = np.zeros((1, len(legal))), np.zeros(1)
    options = search_options(turns=2**31 - 1, early=10.0, late=3.0, margin=0.0)
    memory = new_records(1, GAME_DTYPE), new_scratch()
    how = options, greedy.weights(num_players), *memory
    try_actions(as_views(views), legal, np.array([seed]), *how, values)
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


@pytest.mark.parametrize("kind", BUDGETED, ids=lambda kind: kind.name)
def test_names_include_budgets(kind: Any) -> None:
    name = kind.name
    names = [kind().name, kind(50).name, kind(milliseconds=2.5).name]
    assert names == [name, f"{name}-50", f"{name}-2.5ms"]
    assert kind().simulations == kind.default_simulations
    assert kind.variant(f"{name}-300").simulations == 300
    assert kind.variant(f"{name}-50ms").milliseconds == 50
    for spec in (name, f"{name}-1", f"{name}-{kind.default_simulations}", f"{name}-50ms"):
        assert make_agent(spec).name == spec
    for budget in ("", "0", "0ms", "ms", "-5", "5s", "1000001", "1e3", "many"):
        with pytest.raises(AgentError, match="budget"):
            kind.variant(f"{name}-{budget}")


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize(
    ("player", "least", "most"),
    [
        (RolloutAgent(1, turns=1, candidates=4), 4, 6),
        (RolloutAgent(100, turns=1, candidates=4), 92, 100),
        (SearchAgent(50, turns=0), 50, 50),
        (SearchAgent(milliseconds=0.01), 16, 16),
        (SearchAgent(milliseconds=4.5), 80, 80),
        (RolloutAgent(milliseconds=0.01, turns=1), 2, 100),
        (RolloutAgent(milliseconds=40, turns=1), 200, 10_000),
    ],
)
def test_budgets_limit_simulations_and_time(player: Searching, least: int, most: int) -> None:
    """In simulations, and in time by a simulated clock."""
    games = positions(2, "front", 40)
    choices = games.mask.sum(axis=1)
    simulations = player.search(decisions_in(games, player)).simulations
    assert (simulations[choices == 1] == 0).all()
    assert least <= simulations[choices > 4].max() <= most


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        *((kind, "simulations", value) for kind in BUDGETED for value in (0, True, 2.5, 10**7)),
        *((kind, "milliseconds", value) for kind in BUDGETED for value in (0, -1, np.nan, "5")),
        *((kind, "turns", -1) for kind in KINDS),
        (RolloutAgent, "late", 0),
        (RolloutAgent, "margin", 1.5),
        (RolloutAgent, "candidates", 1),
        (RolloutAgent, "caution", -0.5),
        (SearchAgent, "exploration", -1),
        *((SearchAgent, "temperature", value) for value in (0, float("nan"))),
        (SearchAgent, "leaf_value", "clever"),
        (GuidedAgent, "prior_temperature", 0.5),
    ],
)
def test_invalid_options_are_refused(kind: Any, option: str, value: object) -> None:
    with pytest.raises(AgentError, match=option):
        kind(**{option: value})


# ---- Ctrl-C ----


@pytest.mark.parametrize(
    "make",
    [
        SearchAgent,
        partial(RolloutAgent, turns=0),
    ],
    ids=["ismcts", "rollout"],
)
def test_a_search_can_be_interrupted(make: Callable[[int], Searching]) -> None:
    """A search of minutes ends at once."""
    games = positions(2, "front", 20)
    agent = make(MAX_SIMULATIONS)
    rows = np.flatnonzero(games.mask.sum(axis=1) > 1)[:2]
    decisions = decisions_in(games, agent, rows)
    make(1).search(decisions)  # compiles
    main = threading.main_thread().ident or 0
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        agent.search(decisions)
