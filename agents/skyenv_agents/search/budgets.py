"""What agents that search have in common: budgets, in names and in slices, threads that can be
interrupted, seeds.

Compiled code doesn't hear Ctrl-C, so searches run it in slices of bounded size; what they find
doesn't depend on the slices.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import ClassVar, Final, Self, TypeVar

from skyenv.agents import Agent
from skyenv.checks import check_integer, check_number
from skyenv.errors import AgentError, shown

MOST_SIMULATIONS: Final = 10**6
MOST_MILLISECONDS: Final = 10**6

Item = TypeVar("Item")
Result = TypeVar("Result")
Check = Callable[[], None]
"""Called between slices; raises if the search is to end."""


@dataclass(frozen=True)
class Budget:
    """What a search may take for a decision: simulations, or else time.

    Attributes:
        simulations: at the most.
        milliseconds: None: simulations count.
    """

    simulations: int
    milliseconds: float | None = None

    @classmethod
    def checked(cls, simulations: object, milliseconds: object) -> Budget:
        """A budget from an agent's options.

        Raises:
            AgentError: one of them is out of range.
        """
        number = check_integer("simulations", simulations, 1, MOST_SIMULATIONS, AgentError)
        if milliseconds is None:
            return cls(number)
        span = check_number("milliseconds", milliseconds, 0.0, MOST_MILLISECONDS, AgentError)
        if span == 0.0:
            raise AgentError("milliseconds must be above 0")
        return cls(number, span)

    def name(self, plain: str, default: int) -> str:
        """An agent's name: `plain`, and the budget unless it is so many simulations as
        `default`.
        """
        if self.milliseconds is not None:
            return f"{plain}-{self.milliseconds:g}ms"
        return plain if self.simulations == default else f"{plain}-{self.simulations}"

    def slices(self, number: int, size: int) -> Iterator[tuple[int, int]]:
        """Parts of the budget, at least one, as (simulations before, simulations in it).

        Args:
            number: simulations in all, unless time counts.
            size: simulations in a part, at the most.
        """
        until = (
            math.inf
            if self.milliseconds is None
            else time.perf_counter() + self.milliseconds / 1000
        )
        done = 0
        while done == 0 or (
            (self.milliseconds is not None or done < number) and time.perf_counter() < until
        ):
            part = size if self.milliseconds is not None else min(size, number - done)
            yield done, part
            done += part


def budget_in(spec: str, prefix: str) -> Budget:
    """The budget that a name tells: ``"rollout-256"`` (simulations) or ``"rollout-50ms"``
    (milliseconds a decision).

    Raises:
        AgentError: the budget is none.
    """
    match = re.fullmatch(r"(\d{1,7})(ms)?", spec.removeprefix(prefix), re.ASCII)
    number = int(match[1]) if match else 0
    if match is None or not 0 < number <= MOST_SIMULATIONS:
        raise AgentError(
            f"agent {shown(spec, 80)}: its budget must be a number of simulations ({prefix}256) or "
            "of milliseconds for a decision"
            f" ({prefix}50ms), from 1 to {MOST_SIMULATIONS}"
        )
    return Budget(MOST_SIMULATIONS, number) if match[2] else Budget(number)


class BudgetedAgent(Agent):
    """An agent whose decisions have a budget, which its name tells unless it is the usual one.

    Args:
        simulations: for each decision, at the most, 1 to 10⁶.
        milliseconds: time for each decision instead, above 0 to 10⁶; None: simulations count.

    Raises:
        AgentError: one of them is out of range.
    """

    default_simulations: int
    versions: ClassVar[Mapping[int, str]] = {}
    """By number of players, where decisions have a version other than `version`."""

    def __init__(self, simulations: int, milliseconds: float | None = None) -> None:
        self.budget = Budget.checked(simulations, milliseconds)
        self.name = self.budget.name(self.name, self.default_simulations)

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`."""
        return self.versions.get(players, type(self).version)

    @classmethod
    def variant(cls, name: str) -> Self:
        """The agent with a budget in its name: ``"ismcts-300"`` (simulations) or ``"ismcts-100ms"``
        (milliseconds a decision).

        Raises:
            AgentError: the budget is none.
        """
        budget = budget_in(name, f"{cls.name}-")
        player = cls(budget.simulations, budget.milliseconds)
        player.name = name
        return player


def seed_of(uniform: float) -> int:
    """The seed of a decision's determinizations, 32 bits, from its random number."""
    return int(uniform * 2**32)


def on_threads(
    task: Callable[[Item, Check], Result],
    items: Sequence[Item],
    threads: int,
    name: str,
    between: Check = lambda: None,
) -> list[Result]:
    """What a task makes of every item, on so many threads.

    If one of them fails, or Ctrl-C comes, the others end between two slices, and all threads are
    waited for.

    Args:
        task: called with an item and a function to call between slices.
        items: for each call of the task.
        threads: at least 1; with 1 there are none but the caller's.
        name: of the threads.
        between: called between slices where there is no thread but the caller's.
    """
    if threads == 1 or len(items) < 2:
        return [task(item, between) for item in items]
    stopped = threading.Event()

    def check() -> None:
        if stopped.is_set():
            raise CancelledError

    def run(item: Item) -> Result:
        try:
            return task(item, check)
        except BaseException:
            stopped.set()
            raise

    with ThreadPoolExecutor(threads, thread_name_prefix=name) as pool:
        try:
            futures = [pool.submit(run, item) for item in items]
            wait(futures)
        except BaseException:  # Ctrl-C
            stopped.set()
            raise
    for future in futures:
        if not isinstance(
            future.exception(), CancelledError
        ):  # which only follows from another one's failure
            future.result()
    return [future.result() for future in futures]
