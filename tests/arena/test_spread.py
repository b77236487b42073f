"""Evaluations in workers: the same games as in one process, and what Ctrl-C leaves of them."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from skyenv.agents import RandomAgent
from skyenv.arena.evaluate import evaluate
from skyenv.arena.matches import Played, play_games
from skyenv.arena.schedule import entrant
from skyenv.arena.spread import UNITS, Evaluation, Player, Unit, play_in_workers
from skyenv.errors import AgentError, OptionError

ASKED = Evaluation((entrant("random"), entrant("hoard"), entrant("crowd")), 3, "back", 20, 5, 2000, 7, False)


def test_workers_play_the_same_games() -> None:
    here = evaluate("random", ["hoard", "crowd"], 3, "back", 20, 5, secret=7)
    assert evaluate("random", ["hoard", "crowd"], 3, "back", 20, 5, secret=7, workers=2) == here


@pytest.mark.parametrize("workers", [1, 3, 100])
def test_units_are_all_paired_seeds_once(workers: int) -> None:
    units = ASKED.units(workers)
    assert min(workers, 40) <= len(units) <= max(2, UNITS * workers)
    assert sorted((unit.opponent, part.first) for unit in units for part in unit.parts()) == [
        (opponent, one) for opponent in (1, 2) for one in range(20)
    ]


def test_ctrl_c_keeps_what_workers_have_finished() -> None:
    played = play_in_workers(ASKED, 1, None, lambda _: signal.raise_signal(signal.SIGINT))
    assert [games.interrupted for games in played] == [True, True]
    assert 0 < played[0].finished.sum() < 60
    assert not played[1].finished.any()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_workers_know_agents_by_name_alone() -> None:
    with pytest.raises(OptionError, match="agents that play in workers are told by name or path, not as <"):
        evaluate(RandomAgent(), ["random"], workers=2)


def test_an_agent_that_ends_a_worker_by_ctrl_c_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Played:
        played = play_games(*arguments, **options)
        played.interrupted = True
        return played

    monkeypatch.setattr("skyenv.arena.spread.play_games", interrupted)
    with pytest.raises(AgentError, match="agent random or crowd raised KeyboardInterrupt"):
        Player(ASKED)(Unit(2, 0, 1))
    assert ASKED.about(Unit(2, 3, 4)) == "random played paired seed 8 against crowd"
