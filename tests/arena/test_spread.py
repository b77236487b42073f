"""Evaluations in workers: the same games as in one process, and what Ctrl-C leaves of them."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NoReturn

import pytest

from skyenv.agents import CrowdAgent, Decisions, RandomAgent
from skyenv.arena.evaluate import evaluate
from skyenv.arena.schedule import entrants
from skyenv.arena.spread import UNITS, Evaluation, Player, Sizes, Unit, play_in_workers
from skyenv.errors import AgentError, OptionError

ASKED = Evaluation(
    entrants(["random", "hoard", "crowd"], 3, "back"), 3, "back", 20, 5, 2000, 7, False
)


def test_workers_play_the_same_games() -> None:
    here = evaluate("random", ["hoard", "crowd"], 3, "back", 20, 5, secret=7)
    assert evaluate("random", ["hoard", "crowd"], 3, "back", 20, 5, secret=7, workers=2) == here


@pytest.mark.parametrize("seconds", [0.0, 4.0, 1000.0])
@pytest.mark.parametrize("workers", [1, 3, 100])
def test_units_are_all_paired_seeds_once_and_take_their_time(workers: int, seconds: float) -> None:
    """Paired seeds take so long."""
    asked, sizes = replace(ASKED, paired_seeds=3000), Sizes(workers)
    units = []
    for unit in sizes.units(asked):
        units.append(unit)
        sizes.learn(unit, seconds * (unit.end - unit.first))
    assert [(unit.opponent, part.first) for unit in units for part in unit.parts()] == [
        (opponent, one) for opponent in (1, 2) for one in range(3000)
    ]
    largest = max(unit.end - unit.first for unit in units)
    assert largest == {0.0: min(256, 3000 // (UNITS * workers)), 4.0: 2, 1000.0: 1}[seconds]
    assert units[0].end == 1


def test_an_opponent_who_takes_his_time_does_not_begin_with_large_units() -> None:
    """Those of the quick one before him have grown; Ctrl-C would lose them."""
    sizes = Sizes(2)
    lengths: dict[int, list[int]] = {1: [], 2: []}
    for unit in sizes.units(replace(ASKED, paired_seeds=200)):
        lengths[unit.opponent].append(unit.end - unit.first)
        sizes.learn(unit, {1: 0.0, 2: 60.0}[unit.opponent] * lengths[unit.opponent][-1])
    assert max(lengths[1]) == 200 // (2 * UNITS)
    assert set(lengths[2]) == {1}


@pytest.mark.parametrize("workers", [-1, 10**6])
def test_numbers_of_workers_that_cannot_be(workers: int) -> None:
    with pytest.raises(OptionError, match="workers must be a whole number from 0 to"):
        evaluate("random", ["random"], workers=workers)


def test_workers_are_there_for_threads_too() -> None:
    """Python tells its main thread alone of Ctrl-C."""
    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(evaluate, "random", ["hoard"], paired_seeds=2, workers=1).result()
    assert there == evaluate("random", ["hoard"], paired_seeds=2)


def test_ctrl_c_with_the_last_games_is_heard() -> None:
    left = [120]

    def progress(games: int) -> None:
        left[0] -= games
        if not left[0]:
            signal.raise_signal(signal.SIGINT)

    played = play_in_workers(ASKED, 1, None, progress)
    assert [games.interrupted for games in played] == [False, True]
    assert all(games.finished.all() for games in played)


def test_ctrl_c_keeps_what_workers_have_finished() -> None:
    played = play_in_workers(ASKED, 1, None, lambda _: signal.raise_signal(signal.SIGINT))
    assert [games.interrupted for games in played] == [True, True]
    assert 0 < played[0].finished.sum() < 60
    assert not played[1].finished.any()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_workers_know_agents_by_name_alone() -> None:
    with pytest.raises(
        OptionError, match="agents that play in workers are told by name or path, not as <"
    ):
        evaluate(RandomAgent(), ["random"], workers=2)


def test_an_agent_that_ends_a_worker_by_ctrl_c_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(agent: CrowdAgent, decisions: Decisions) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(CrowdAgent, "act", interrupt)
    with pytest.raises(AgentError, match=r"^agent crowd raised KeyboardInterrupt"):
        Player(ASKED)(Unit(2, 0, 1))
    assert ASKED.about(Unit(2, 3, 4)) == "random played paired seed 8 against crowd"
