"""What agents that search have in common: numbers as options, budgets in names, seeds from a decision's random number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from skyenv.errors import AgentError, shown

MOST_SIMULATIONS: Final = 10**6
MOST_MILLISECONDS: Final = 10**6


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
        number = whole("simulations", simulations, 1, MOST_SIMULATIONS)
        if milliseconds is None:
            return cls(number)
        time = fractional("milliseconds", milliseconds, 0.0, MOST_MILLISECONDS)
        if time == 0.0:
            raise AgentError("milliseconds must be above 0")
        return cls(number, time)


def whole(name: str, value: object, lowest: int, highest: int) -> int:
    """An option that is a whole number; raises AgentError unless it is in its range."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and lowest <= value <= highest:
        return int(value)
    raise AgentError(f"{name} must be a whole number from {lowest} to {highest}, not {shown(value)}")


def fractional(name: str, value: object, lowest: float, highest: float) -> float:
    """An option that is a number; raises AgentError unless it is in its range."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and lowest <= value <= highest:
        return float(value)
    raise AgentError(f"{name} must be a number from {lowest:g} to {highest:g}, not {shown(value)}")


def budget_in(spec: str, prefix: str) -> Budget:
    """The budget that a name tells: ``"rollout-256"`` (simulations) or ``"rollout-50ms"`` (milliseconds a decision).

    Raises:
        AgentError: the budget is none.
    """
    found = re.fullmatch(r"(\d{1,7})(ms)?", spec.removeprefix(prefix), re.ASCII)
    number = int(found[1]) if found else 0
    if found is None or not 0 < number <= MOST_SIMULATIONS:
        raise AgentError(
            f"agent {shown(spec, 80)}: its budget must be a number of simulations ({prefix}256) or of milliseconds for a decision"
            f" ({prefix}50ms), from 1 to {MOST_SIMULATIONS}"
        )
    return Budget(MOST_SIMULATIONS, number) if found[2] else Budget(number)


def seed_of(uniform: float) -> int:
    """The seed of a decision's worlds, 32 bits, from its random number."""
    return int(uniform * 2**32)
