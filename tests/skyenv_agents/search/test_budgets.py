"""Budgets in slices, and searches that hear Ctrl-C between them."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from positions import positions
from processes import wait_until
from skyenv.agents import decisions_in
from skyenv.errors import AgentError
from skyenv_agents import GuidedAgent, RolloutAgent, SearchAgent
from skyenv_agents.search import ismcts, rollout
from skyenv_agents.search.budgets import MOST_SIMULATIONS, Budget, Check, on_threads
from skyenv_agents.search.rollouts import try_actions
from skyenv_agents.search.tree import run_simulations

Searching = RolloutAgent | SearchAgent


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
    """Ctrl-C as the terminal sends it, to the main thread, once a search has made something of a few slices."""
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
