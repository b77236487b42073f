"""What all agents that search have in common: legal, the same in any batch, blind; budgets, in
names and in slices; Ctrl-C.
"""

from __future__ import annotations

import copy
import itertools
import pickle
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
from skyenv.agents import Decisions, RandomAgent, decide, decisions_in, evaluation_of, make_agent
from skyenv.arena.matches import play_games
from skyenv.engine.game import Game
from skyenv.engine.knowledge import resample, view
from skyenv.errors import AgentError
from skyenv.rules.state import PHASES
from skyenv_agents import GuidedAgent, RolloutAgent, SearchAgent
from skyenv_agents.search import ismcts, rollout
from skyenv_agents.search.budgets import MOST_SIMULATIONS, Budget, Check, on_threads
from skyenv_agents.search.rollouts import try_actions
from skyenv_agents.search.tree import run_simulations

Searching = RolloutAgent | SearchAgent

TINY: dict[str, Callable[..., Searching]] = {
    "rollout": partial(RolloutAgent, 8, turns=1, candidates=3),
    "ismcts": partial(SearchAgent, 24, turns=0),
    "ismcts-trained": partial(GuidedAgent, 16),
}
"""Quick ones."""

each_agent = pytest.mark.parametrize("name", TINY)


# ---- decisions ----


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("side", ["front", "back"])
@pytest.mark.parametrize(
    ("name", "options"),
    [(name, {}) for name in TINY] + [("rollout", {"rollout_policy": "random"})],
    ids=str,
)
def test_plays_legally_to_the_end(
    num_players: int, side: str, name: str, options: dict[str, Any]
) -> None:
    agents = [TINY[name](**options), RandomAgent()]
    played = play_games(
        agents, [[0] * num_players, [0] + [1] * (num_players - 1)], [1, 2], side
    )  # raises if not legal
    assert played.finished.all()
    assert not played.truncated.any()
    assert played.shares[1, 0] == 1.0


@each_agent
@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (4, "back")])
def test_decides_alone_as_in_a_batch(num_players: int, side: str, name: str) -> None:
    """And on any number of threads, in any order, as a copy, and when asked again."""
    games = positions(num_players, side, 40)
    make = partial(TINY[name], **({} if name == "rollout" else {"trees": 2}))
    player, threaded = make(), make(threads=3)
    alone = [decide(games, player, [row])[0] for row in range(games.num_games)]
    for other in (player, threaded, copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
        assert decide(games, other).tolist() == alone
    backwards = np.arange(games.num_games)[::-1]
    assert decide(games, player, backwards).tolist() == alone[::-1]
    assert player.search(decisions_in(games, player, [])).actions.shape == (0,)


@pytest.mark.rule("INF-2")
@each_agent
@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_does_not_see_what_its_seat_cannot_know(num_players: int, side: str, name: str) -> None:
    """Others' unknown cards, the stacks and the chance to come are exchanged, and the whole search
    stays what it was.
    """
    games = positions(num_players, side, 40)
    player = TINY[name](turns=1)
    decisions = decisions_in(games, player)
    before = player.search(decisions)
    for number in range(2):
        state = np.concatenate([resample(decisions.view[i], number) for i in range(len(decisions))])  # type: ignore[index]
        assert (state["hand"] != games.state["hand"]).any()
        seen = games.observe(games.seat, state=state.view(np.recarray))
        other = Decisions(
            decisions.mask,
            decisions.seat,
            num_players,
            decisions.uniform,
            seen,
            view(state, games.seat),
        )
        for array, same in zip(player.search(other), before, strict=True):
            assert np.array_equal(array, same, equal_nan=True)
    assert {PHASES[phase] for phase in games.state["phase"]} >= {"option", "take", "move", "bid"}


@pytest.mark.parametrize("kind", [SearchAgent, GuidedAgent])
def test_evaluates_as_it_tries(kind: type[SearchAgent]) -> None:
    game = Game(2, seed=3)
    evaluation = evaluation_of(game, kind(100))
    assert evaluation is not None
    assert evaluation.probabilities.sum() == pytest.approx(1)
    assert (evaluation.probabilities[game.mask == 0] == 0).all()
    assert evaluation.value is not None
    assert -1 < evaluation.value < 1


# ---- budgets ----


@pytest.mark.parametrize(
    "kind", [RolloutAgent, SearchAgent, GuidedAgent], ids=lambda kind: kind.name
)
def test_names_tell_budgets(kind: type[Searching]) -> None:
    name = kind.name
    assert [kind().name, kind(50).name, kind(milliseconds=2.5).name] == [
        name,
        f"{name}-50",
        f"{name}-2.5ms",
    ]
    assert kind().budget == Budget(kind.default_simulations)
    assert kind.variant(f"{name}-300").budget == Budget(300)
    for spec in (name, f"{name}-1", f"{name}-{kind.default_simulations}", f"{name}-50ms"):
        player = make_agent(spec)
        assert isinstance(player, kind)
        assert player.name == spec
    assert kind.variant(f"{name}-50ms").budget.milliseconds == 50
    for budget in ("", "0", "0ms", "ms", "-5", "5s", "1000001", "1e3", "many"):
        with pytest.raises(
            AgentError, match=f"agent '{name}-{budget}': its budget must be a number of simulations"
        ) as caught:
            kind.variant(f"{name}-{budget}")
        assert "\n" not in str(caught.value)


def test_slices_add_up_to_the_budget() -> None:
    assert list(Budget(20).slices(20, 8)) == [(0, 8), (8, 8), (16, 4)]
    assert list(Budget(3).slices(3, 8)) == [(0, 3)]
    assert next(Budget(1, 0.001).slices(1, 8)) == (0, 8), "with time the number doesn't count"


@pytest.mark.usefixtures("ticking")
def test_time_ends_the_slices() -> None:
    assert list(Budget(1, 4.5).slices(1, 8)) == [(0, 8), (8, 8), (16, 8), (24, 8), (32, 8)]


def test_results_do_not_depend_on_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    games = positions(2, "front", 20)
    agents: list[Searching] = [SearchAgent(50, turns=0), RolloutAgent(50, turns=1)]
    decisions = decisions_in(games, agents[0])
    before = [agent.search(decisions) for agent in agents]
    monkeypatch.setattr(ismcts, "SLICE", 7)
    monkeypatch.setattr(rollout, "SLICE", 1)
    for agent, expected in zip(agents, before, strict=True):
        for result, wanted in zip(agent.search(decisions), expected, strict=True):
            assert np.array_equal(result, wanted, equal_nan=True)


# ---- Ctrl-C ----


ENDLESS: dict[str, Callable[[], Searching]] = {
    "ismcts": lambda: SearchAgent(MOST_SIMULATIONS),
    "ismcts, side by side": lambda: SearchAgent(MOST_SIMULATIONS, trees=2, threads=2),
    "rollout": lambda: RolloutAgent(MOST_SIMULATIONS, turns=0),
    "rollout, side by side": lambda: RolloutAgent(MOST_SIMULATIONS, threads=2),
    "ismcts-trained": lambda: GuidedAgent(MOST_SIMULATIONS),
}
"""Searches that take minutes if nobody stops them."""


@pytest.mark.parametrize("name", ENDLESS)
def test_hears_ctrl_c(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search ends at once, and all of its threads with it."""
    games = positions(2, "front", 20)
    agent = ENDLESS[name]()
    rows = np.flatnonzero(games.mask.sum(axis=1) > 1)[:2]
    decisions = decisions_in(games, agent, rows)
    threads = threading.active_count()
    interrupt_once_begun(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        agent.search(decisions)
    wait_until(lambda: threading.active_count() == threads)


def interrupt_once_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as the terminal sends it, to the main thread, once a search has made something of a
    few slices.
    """
    looks = itertools.count()

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if next(looks) == 5:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            return real(*arguments, **options)

        return call

    monkeypatch.setattr("skyenv_agents.search.ismcts.run_simulations", counted(run_simulations))
    monkeypatch.setattr("skyenv_agents.search.rollout.try_actions", counted(try_actions))


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
        on_threads(task, [0, 1], 2, "test")
    assert ended in ([1 - failing], []), "the other one may not have begun"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test_")]
