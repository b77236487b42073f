"""Doing units: each once, whoever is lost meanwhile, and whether or not somebody is there to begin
with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from skyenv.arena import units
from skyenv.arena.units import ATTEMPTS, LOSSES, number_of_workers, run_units
from skyenv.arena.workers import MachineLostError, WorkerDiedError, Workers
from skyenv.engine.thread_pool import cores
from skyenv.errors import AgentError

Numbers = tuple[int, ...]


class Fated(Workers[Numbers, int]):
    """Workers here and now, of whom it is known before what happens to them.

    Args:
        fates: what is raised instead of giving a result, one after the other. away: looks for
            workers that find none.
    """

    def __init__(self, fates: Sequence[type[Exception] | None], away: int = 0) -> None:
        self.fates, self.away = list(fates), away
        self.begun: list[Numbers] = []
        self.ready: list[Numbers] = []
        self.ended = False

    def free(self) -> bool:
        self.away -= 1
        return self.away < 0 and len(self.ready) < 2

    def begin(self, unit: Numbers) -> int:
        self.begun.append(unit)
        self.ready.append(unit)
        return len(self.begun) - 1

    def wait(self, seconds: float) -> list[int]:
        return [len(self.begun) - len(self.ready)] if self.ready else []

    def result(self, ticket: int) -> int:
        unit = self.ready.pop(0)
        fate = self.fates.pop(0) if self.fates else None
        if fate is not None:
            raise fate
        return sum(unit)

    def end(self) -> None:
        self.ended = True


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fated], dict[Numbers, int]]:
    """What comes of three units, (1, 2), (3, 4) and (5,), with some workers."""

    def run(workers: Fated) -> dict[Numbers, int]:
        results: dict[Numbers, int] = {}
        monkeypatch.setattr(units, "_workers", lambda *_: workers)

        def keep(unit: Numbers, result: int) -> None:
            assert unit not in results
            results[unit] = result

        parts: Callable[[Any], Any] = lambda unit: [(number,) for number in unit]  # noqa: E731
        run_units(
            sum, iter([(1, 2), (3, 4), (5,)]), done=keep, tick=lambda: True, parts=parts, about=str
        )
        return results

    return run


def test_every_unit_is_done_once(done: Callable[[Fated], dict[Numbers, int]]) -> None:
    workers = Fated([])
    assert done(workers) == {(1, 2): 3, (3, 4): 7, (5,): 5}
    assert workers.ended


def test_a_unit_over_which_a_worker_died_is_done_in_parts(
    done: Callable[[Fated], dict[Numbers, int]],
) -> None:
    assert done(Fated([WorkerDiedError])) == {(1,): 1, (2,): 2, (3, 4): 7, (5,): 5}


def test_a_lost_machine_is_nothing_that_its_unit_did(
    done: Callable[[Fated], dict[Numbers, int]],
) -> None:
    """The unit is done again as it is, more often than after deaths."""
    workers = Fated(lost_over_the_first(LOSSES - 1))
    assert done(workers) == {(1, 2): 3, (3, 4): 7, (5,): 5}
    assert len(workers.begun) == 3 + LOSSES - 1 > 3 + ATTEMPTS


def test_a_unit_over_which_many_machines_were_lost_is_done_in_parts(
    done: Callable[[Fated], dict[Numbers, int]],
) -> None:
    assert done(Fated(lost_over_the_first(LOSSES))) == {(1,): 1, (2,): 2, (3, 4): 7, (5,): 5}


def test_a_unit_over_which_machines_are_lost_again_and_again_is_told(
    done: Callable[[Fated], dict[Numbers, int]],
) -> None:
    workers = Fated([None, None, *[MachineLostError] * LOSSES])
    with pytest.raises(AgentError, match=r"^10 machines were lost while \(5,\)$"):
        done(workers)
    assert workers.ended


def lost_over_the_first(number: int) -> list[type[Exception] | None]:
    """So many machines are lost over the first unit; the others are done meanwhile."""
    return [MachineLostError, None, MachineLostError, None, *[MachineLostError] * (number - 2)]


def test_a_unit_over_which_workers_keep_dying_is_told(
    done: Callable[[Fated], dict[Numbers, int]],
) -> None:
    workers = Fated([None, None, *[WorkerDiedError] * ATTEMPTS])
    with pytest.raises(AgentError, match=r"^3 processes died while \(5,\)$"):
        done(workers)
    assert workers.ended


def test_workers_that_are_not_there_yet_are_waited_for(
    done: Callable[[Fated], dict[Numbers, int]],
) -> None:
    assert done(Fated([], away=5)) == {(1, 2): 3, (3, 4): 7, (5,): 5}


def test_how_many_do_units() -> None:
    assert number_of_workers(3, None) == 3
    assert number_of_workers(3, "auto") == 3
    assert number_of_workers(0, None) == cores()
