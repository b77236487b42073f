"""What agents that search have in common: budgets, in names and in slices, threads that can be interrupted, seeds.

Compiled code doesn't hear Ctrl-C, so searches run it in slices of bounded size; what they find doesn't depend on the slices.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

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
        """An agent's name: `plain`, and the budget unless it is so many simulations as `default`."""
        if self.milliseconds is not None:
            return f"{plain}-{self.milliseconds:g}ms"
        return plain if self.simulations == default else f"{plain}-{self.simulations}"

    def slices(self, number: int, size: int) -> Iterator[tuple[int, int]]:
        """Parts of the budget, at least one, as (simulations before, simulations in it).

        Args:
            number: simulations in all, unless time counts.
            size: simulations in a part, at the most.
        """
        until = math.inf if self.milliseconds is None else time.perf_counter() + self.milliseconds / 1000
        done = 0
        while done == 0 or ((self.milliseconds is not None or done < number) and time.perf_counter() < until):
            part = size if self.milliseconds is not None else min(size, number - done)
            yield done, part
            done += part


def budget_in(spec: str, prefix: str) -> Budget:
    """The budget that a name tells: ``"rollout-256"`` (simulations) or ``"rollout-50ms"`` (milliseconds a decision).

    Raises:
        AgentError: the budget is none.
    """
    match = re.fullmatch(r"(\d{1,7})(ms)?", spec.removeprefix(prefix), re.ASCII)
    number = int(match[1]) if match else 0
    if match is None or not 0 < number <= MOST_SIMULATIONS:
        raise AgentError(
            f"agent {shown(spec, 80)}: its budget must be a number of simulations ({prefix}256) or of milliseconds for a decision"
            f" ({prefix}50ms), from 1 to {MOST_SIMULATIONS}"
        )
    return Budget(MOST_SIMULATIONS, number) if match[2] else Budget(number)


def seed_of(uniform: float) -> int:
    """The seed of a decision's determinizations, 32 bits, from its random number."""
    return int(uniform * 2**32)


def on_threads(task: Callable[[Item, Check], Result], items: Sequence[Item], threads: int, name: str) -> list[Result]:
    """What a task makes of every item, on so many threads.

    If one of them fails, or Ctrl-C comes, the others end between two slices, and all threads are waited for.

    Args:
        task: called with an item and a function to call between slices.
        items: for each call of the task.
        threads: at least 1; with 1 there are none but the caller's.
        name: of the threads.
    """
    if threads == 1 or len(items) < 2:
        return [task(item, lambda: None) for item in items]
    stopped = threading.Event()

    def check() -> None:
        if stopped.is_set():
            raise CancelledError

    with ThreadPoolExecutor(threads, thread_name_prefix=name) as pool:
        try:
            return list(pool.map(lambda item: task(item, check), items))
        except BaseException:
            stopped.set()
            raise
