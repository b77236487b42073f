"""The opponent pool of self-play training: fixed agents and past policies of the learner.

>>> pool = OpponentPool([RandomAgent(), GreedyAgent()], sampling="hard")
>>> pool.add(past_policy)
>>> env.set_opponents(pool.agents, pool.weights())  # SkyenvVecEnv, LearnerGames …
>>> pool.note("greedy", 0.0)  # the learner's share of a win
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from skyenv.agents import Agent
from skyenv.array_types import Float64
from skyenv.checks import check_choice, check_integer, check_number
from skyenv.errors import OptionError

SAMPLINGS: Final = ("uniform", "hard")
# Window, in games, of the running mean of win shares.
MEMORY: Final = 200
# Least weight with `"hard"`, so that opponents that always lose are still sampled at times.
EASIEST: Final = 0.05


class OpponentPool:
    """A pool of opponents with sampling probabilities.

    Args:
        fixed: permanent agents, such as heuristic ones.
        fixed_share: their total probability, 0 to 1; 1 without past policies, 0 without fixed
            agents.
        capacity: most past policies, at least 0. Beyond it the oldest and the second oldest are
            evicted alternately, so some old ones stay for long.
        sampling: distribution among past policies and among fixed agents: ``"uniform"``,
            or ``"hard"``, proportional to the square of the learner's loss share.

    Attributes:
        fixed: the fixed opponents.
        past: the past policies, oldest first.

    Raises:
        OptionError: invalid option.
    """

    def __init__(
        self,
        fixed: Sequence[Agent],
        fixed_share: float = 0.5,
        capacity: int = 8,
        sampling: str = "hard",
    ) -> None:
        self.fixed = list(fixed)
        self.fixed_share = check_number("fixed_share", fixed_share, 0, 1)
        self.capacity = check_integer("capacity", capacity, 0, 10**6)
        self.sampling = check_choice("sampling", sampling, SAMPLINGS)
        self.past: list[Agent] = []
        names = [agent.name for agent in self.fixed]
        if len(set(names)) < len(names):
            raise OptionError(f"fixed opponents must have different names, not {', '.join(names)}")
        self._evictions = 0
        self._share: dict[str, float] = {}
        self._games: dict[str, int] = {}

    @property
    def agents(self) -> list[Agent]:
        """Return all opponents: the fixed ones, then the past policies."""
        return [*self.fixed, *self.past]

    def add(self, agent: Agent) -> None:
        """Add a past policy; its name must be new in the pool.

        Raises:
            OptionError: duplicate name.
        """
        if any(agent.name == other.name for other in self.agents):
            raise OptionError(f"the pool already has an agent named {agent.name!r}")
        self.past.append(agent)
        if len(self.past) > self.capacity:
            oldest = self._evictions % 2 if self.capacity > 1 else 0
            evicted = self.past.pop(oldest)
            self._evictions += 1
            self._share.pop(evicted.name, None)
            self._games.pop(evicted.name, None)

    def note(self, name: str, share: float) -> None:
        """Record the learner's share of a win, 0 to 1, against an opponent; unknown names are
        ignored.

        Raises:
            OptionError: the share is outside of 0 to 1.
        """
        share = check_number("share", share, 0, 1)
        if any(agent.name == name for agent in self.agents):
            games = min(self._games.get(name, 0) + 1, MEMORY)
            self._games[name] = games
            mean = self._share.get(name, 0.0)
            self._share[name] = mean + (share - mean) / games

    def statistics(self) -> dict[str, Any]:
        """Return results and counts for :meth:`restore`."""
        return {"removed": self._evictions, "share": dict(self._share), "games": dict(self._games)}

    def restore(self, past: Sequence[Agent], statistics: Mapping[str, Any]) -> None:
        """Restore the past policies and :meth:`statistics` of a pool with the same fixed agents."""
        self.past = list(past)
        self._evictions = statistics["removed"]
        self._share, self._games = dict(statistics["share"]), dict(statistics["games"])

    def weights(self) -> Float64:
        """Return the probability of each of :attr:`agents`, float64, summing to 1.

        Raises:
            OptionError: the pool is empty.
        """
        if not self.agents:
            raise OptionError("the opponent pool is empty: add a fixed agent or a past policy")
        fixed_share = 1.0 if not self.past else self.fixed_share if self.fixed else 0.0
        return np.concatenate(
            [
                self._weights(self.fixed) * fixed_share,
                self._weights(self.past) * (1.0 - fixed_share),
            ]
        )

    def _weights(self, agents: Sequence[Agent]) -> Float64:
        """Return the probabilities of some agents, summing to 1 (0 without agents)."""
        weights = np.ones(len(agents))
        if self.sampling == "hard":
            weights = np.array(
                [max((1.0 - self._share.get(agent.name, 0.5)) ** 2, EASIEST) for agent in agents]
            )
        return weights / weights.sum() if len(agents) else weights
