"""Opponents for training by self-play: fixed ones that stay, and past policies of the learner that
come and go.

>>> pool = OpponentPool([RandomAgent(), GreedyAgent()], sampling="hard")
>>> pool.add(past_policy)
>>> env.set_opponents(pool.agents, pool.weights())  # SkyenvVecEnv, LearnerGames …
>>> pool.note("greedy", 0.0)  # what the learner won of a game
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent
from skyenv.checks import check_choice, check_integer, check_number
from skyenv.errors import OptionError

SAMPLINGS: Final = ("uniform", "latest", "hard")
MEMORY: Final = 200
"""The win share against an opponent is a running mean over about so many latest games."""
LATEST_SHARE: Final = 0.8
"""With ``"latest"`` the newest past policy is drawn so often among them; the others share the rest.
"""
EASIEST: Final = 0.05
"""With ``"hard"`` even an opponent that always loses keeps this weight, or nobody would notice if
it became hard again.
"""


class OpponentPool:
    """Who may sit at the learner's table, and how often.

    Args:
        fixed: agents that are always in the pool, such as heuristic ones.
        fixed_share: share of all draws that go to them, 0 to 1; without a past policy they get all,
            without any of them none.
        capacity: past policies that are kept, at least 0. When there is one too many, the oldest
            gives way, except that every second time the second oldest does: so some old ones stay
            for long.
        sampling: how past policies, and fixed opponents among themselves, are drawn: ``"uniform"``;
            ``"latest"``, mostly the newest past policy; or ``"hard"``, by the square of the share
            that the learner loses against them.

    Attributes:
        fixed: the fixed opponents.
        past: the past policies, oldest first.

    Raises:
        OptionError: an option has a wrong value.
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
        self._removed = 0
        self._share: dict[str, float] = {}
        self._games: dict[str, int] = {}

    @property
    def agents(self) -> list[Agent]:
        """All opponents: the fixed ones, then the past policies."""
        return [*self.fixed, *self.past]

    def add(self, agent: Agent) -> None:
        """Take in a past policy; its name must differ from all others in the pool.

        Raises:
            OptionError: there is an agent of that name.
        """
        if any(agent.name == other.name for other in self.agents):
            raise OptionError(f"the pool has an agent called {agent.name!r} already")
        self.past.append(agent)
        if len(self.past) > self.capacity:
            oldest = self._removed % 2 if self.capacity > 1 else 0
            gone = self.past.pop(oldest)
            self._removed += 1
            self._share.pop(gone.name, None)
            self._games.pop(gone.name, None)

    def note(self, name: str, share: float) -> None:
        """Take in the learner's share of a win, 0 to 1, in a game against the agent of that name;
        others are not kept.

        Raises:
            OptionError: the share is something else.
        """
        share = check_number("share", share, 0, 1)
        if any(agent.name == name for agent in self.agents):
            games = min(self._games.get(name, 0) + 1, MEMORY)
            self._games[name] = games
            before = self._share.get(name, 0.0)
            self._share[name] = before + (share - before) / games

    def statistics(self) -> dict[str, Any]:
        """Results and counts, to be given to :meth:`restore` with the past policies."""
        return {"removed": self._removed, "share": dict(self._share), "games": dict(self._games)}

    def restore(self, past: Sequence[Agent], statistics: Mapping[str, Any]) -> None:
        """Continue as another pool of the same fixed opponents, whose :meth:`statistics` these
        are.
        """
        self.past = list(past)
        self._removed = statistics["removed"]
        self._share, self._games = dict(statistics["share"]), dict(statistics["games"])

    def share(self, name: str) -> float | None:
        """The learner's win share in the latest games against the agent of that name; None before
        the first.
        """
        return self._share.get(name)

    def weights(self) -> npt.NDArray[np.float64]:
        """The probability of each of :attr:`agents`, float64, summing to 1.

        Raises:
            OptionError: the pool is empty.
        """
        if not self.agents:
            raise OptionError(
                "the pool of opponents is empty: give it a fixed opponent or a past policy"
            )
        fixed_share = 1.0 if not self.past else self.fixed_share if self.fixed else 0.0
        return np.concatenate(
            [self._among(self.fixed) * fixed_share, self._among(self.past) * (1.0 - fixed_share)]
        )

    def _among(self, agents: Sequence[Agent]) -> npt.NDArray[np.float64]:
        """The probabilities of some of them, summing to 1 (or to 0 if there is none)."""
        weights = np.ones(len(agents))
        if self.sampling == "hard":
            weights = np.array(
                [max((1.0 - self._share.get(agent.name, 0.5)) ** 2, EASIEST) for agent in agents]
            )
        elif self.sampling == "latest" and agents is self.past and len(agents) > 1:
            weights[:-1] = (1.0 - LATEST_SHARE) / (len(agents) - 1)
            weights[-1] = LATEST_SHARE
        return weights / weights.sum() if len(agents) else weights
