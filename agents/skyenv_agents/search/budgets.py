"""Budgets of searches, in names and in slices.

Compiled code doesn't hear Ctrl-C, so searches run it in slices of bounded size; results don't
depend on the slices.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from skyenv.agents import Agent
from skyenv.checks import check_integer, check_number
from skyenv.errors import AgentError, shown

MOST_SIMULATIONS: Final = 10**6
MOST_MILLISECONDS: Final = 10**6


@dataclass(frozen=True)
class Budget:
    """The simulations of a decision, or else its time.

    Attributes:
        simulations: 1 to 10⁶.
        milliseconds: above 0 to 10⁶; None: simulations count.

    Raises:
        AgentError: one of them is out of range.
    """

    simulations: int = MOST_SIMULATIONS
    milliseconds: float | None = None

    def __post_init__(self) -> None:
        check_integer("simulations", self.simulations, 1, MOST_SIMULATIONS, AgentError)
        if self.milliseconds is not None:
            check_number("milliseconds", self.milliseconds, 0.0, MOST_MILLISECONDS, AgentError)
            if self.milliseconds == 0:
                raise AgentError("milliseconds must be above 0")

    def name(self, plain: str, default: int) -> str:
        """Return an agent's name: `plain`, and the budget unless it is so many simulations as
        `default`.
        """
        if self.milliseconds is not None:
            return f"{plain}-{self.milliseconds:g}ms"
        return plain if self.simulations == default else f"{plain}-{self.simulations}"

    def slices(self, number: int, size: int) -> Iterator[tuple[int, int]]:
        """Divide the budget into parts, at least one: (simulations before, simulations in it).

        Args:
            number: simulations in all, unless time counts.
            size: simulations in a part, at the most.
        """
        until = time.perf_counter() + (self.milliseconds or math.inf) / 1000
        number = number if self.milliseconds is None else MOST_SIMULATIONS * size
        done = 0
        while done == 0 or (done < number and time.perf_counter() < until):
            part = min(size, number - done)
            yield done, part
            done += part


class BudgetedAgent(Agent):
    """An agent whose decisions have a budget, which is a part of its name unless it is the usual
    one.

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
        self.budget = Budget(simulations, milliseconds)
        self.name = self.budget.name(self.name, self.default_simulations)

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`."""
        return self.versions.get(players, type(self).version)

    @classmethod
    def variant(cls, name: str) -> Self:
        """Return the agent with a budget in its name: ``"ismcts-300"`` (simulations) or
        ``"ismcts-100ms"`` (milliseconds a decision).

        Raises:
            AgentError: the budget is none.
        """
        prefix = f"{cls.name}-"
        match = re.fullmatch(r"(\d{1,7})(ms)?", name.removeprefix(prefix), re.ASCII)
        number = int(match[1]) if match else 0
        if match is None or not 0 < number <= MOST_SIMULATIONS:
            raise AgentError(
                f"agent {shown(name, 80)}: its budget must be a number of simulations "
                f"({prefix}256) or of milliseconds for a decision ({prefix}50ms), from 1 to "
                f"{MOST_SIMULATIONS}"
            )
        player = cls(MOST_SIMULATIONS, number) if match[2] else cls(number)
        player.name = name
        return player


def seed_of(uniform: float) -> int:
    """Return the seed of a decision's determinizations, 32 bits, from its random number."""
    return int(uniform * 2**32)
