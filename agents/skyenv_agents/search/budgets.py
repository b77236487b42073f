"""Search budgets and their notation in agents' names."""

import re
from collections.abc import Mapping
from typing import ClassVar, Final, Self

from skyenv.agents import Agent
from skyenv.checks import check_integer, check_number
from skyenv.errors import AgentError, shown

MAX_SIMULATIONS: Final = 10**6
MAX_MILLISECONDS: Final = 10**6


class BudgetedAgent(Agent):
    """An agent with a budget per decision, which is part of its name unless it is the default.

    Args:
        simulations: most simulations per decision, 1 to 10⁶.
        milliseconds: time per decision instead, 0.001 to 10⁶; None: simulations count.

    Raises:
        AgentError: a budget is out of range.
    """

    default_simulations: int
    versions: ClassVar[Mapping[int, str]] = {}
    """Versions by number of players where they differ from `version`."""

    def __init__(self, simulations: int, milliseconds: float | None = None) -> None:
        self.simulations = check_integer("simulations", simulations, 1, MAX_SIMULATIONS, AgentError)
        self.milliseconds = milliseconds
        if milliseconds is not None:
            check_number("milliseconds", milliseconds, 0.001, MAX_MILLISECONDS, AgentError)
        self.name = self.named(self.name)

    def named(self, plain: str) -> str:
        """Return a name with the budget as its suffix, unless it is the default."""
        if self.milliseconds is not None:
            return f"{plain}-{self.milliseconds:g}ms"
        usual = self.simulations == self.default_simulations
        return plain if usual else f"{plain}-{self.simulations}"

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`."""
        return self.versions.get(players, type(self).version)

    @classmethod
    def variant(cls, name: str) -> Self:
        """Return the agent with a budget in its name: ``"ismcts-300"`` (simulations) or
        ``"ismcts-100ms"`` (milliseconds per decision).

        Raises:
            AgentError: the suffix is not a budget.
        """
        prefix = f"{cls.name}-"
        match = re.fullmatch(r"(\d{1,7})(ms)?", name.removeprefix(prefix), re.ASCII)
        number = int(match[1]) if match else 0
        if match is None or not 0 < number <= MAX_SIMULATIONS:
            raise AgentError(
                f"agent {shown(name, 80)}: the budget must be a number of simulations "
                f"({prefix}256) or of milliseconds per decision ({prefix}50ms), from 1 to "
                f"{MAX_SIMULATIONS}"
            )
        player = cls(MAX_SIMULATIONS, number) if match[2] else cls(number)
        player.name = name
        return player


def seed_of(uniform: float) -> int:
    """Return the seed of a decision's determinizations, 32 bits, from its random number."""
    return int(uniform * 2**32)
