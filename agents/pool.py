"""Opponents for training by self-play: scripted anchors that stay, and frozen earlier selves that come and go.

>>> pool = OpponentPool([RandomAgent(), GreedyAgent()], sampling="hard")
>>> pool.add(frozen_self)
>>> env.set_opponents(pool.agents, pool.weights())  # SkyenvVecEnv, LearnerGames, or any code of your own
>>> pool.note("greedy", 0.0)  # what the learner won of a game
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent
from skyenv.errors import OptionError
from skyenv.games import check_choice, check_integer

SAMPLINGS: Final = ("uniform", "latest", "hard")
MEMORY: Final = 200
"""The win share against an opponent is a running mean over about so many latest games."""
LATEST_SHARE: Final = 0.8
"""With ``"latest"`` the newest self is drawn so often among the selves; the others share the rest."""
EASIEST: Final = 0.05
"""With ``"hard"`` even an opponent that always loses keeps this weight, or nobody would notice if it became hard again."""


class OpponentPool:
    """Who may sit at the learner's table, and how often.

    Args:
        anchors: agents that are always in the pool, such as scripted ones.
        anchor_share: share of all draws that go to anchors, 0 to 1; without a self they get all, without an anchor none.
        capacity: frozen selves that are kept, at least 0. When there is one too many, the oldest gives way, except that every
            second time the second oldest does: so some old ones stay for long.
        sampling: how selves, and anchors among themselves, are drawn: ``"uniform"``; ``"latest"``, mostly the newest self; or
            ``"hard"``, by the square of the share that the learner loses against them.

    Attributes:
        selves: the frozen selves, oldest first.

    Raises:
        OptionError: an option has a wrong value.
    """

    def __init__(self, anchors: Sequence[Agent], anchor_share: float = 0.5, capacity: int = 8, sampling: str = "hard") -> None:
        if not 0 <= anchor_share <= 1:
            raise OptionError(f"anchor_share must be from 0 to 1, not {anchor_share}")
        self.anchors = list(anchors)
        self.anchor_share = float(anchor_share)
        self.capacity = check_integer("capacity", capacity, 0, 10**6)
        self.sampling = check_choice("sampling", sampling, SAMPLINGS)
        self.selves: list[Agent] = []
        names = [agent.name for agent in self.anchors]
        if len(set(names)) < len(names):
            raise OptionError(f"anchors must have different names, not {', '.join(names)}")
        self._removed = 0
        self._share: dict[str, float] = {}
        self._games: dict[str, int] = {}

    @property
    def agents(self) -> list[Agent]:
        """All opponents: the anchors, then the selves."""
        return [*self.anchors, *self.selves]

    def add(self, agent: Agent) -> None:
        """Take in a frozen self; its name must differ from all others in the pool.

        Raises:
            OptionError: there is an agent of that name.
        """
        if any(agent.name == other.name for other in self.agents):
            raise OptionError(f"the pool has an agent called {agent.name!r} already")
        self.selves.append(agent)
        if len(self.selves) > self.capacity:
            oldest = self._removed % 2 if self.capacity > 1 else 0
            gone = self.selves.pop(oldest)
            self._removed += 1
            self._share.pop(gone.name, None)
            self._games.pop(gone.name, None)

    def note(self, name: str, share: float) -> None:
        """Take in the learner's share of a win, 0 to 1, in a game against the agent of that name; others are not kept.

        Raises:
            OptionError: the share is something else.
        """
        if not 0 <= share <= 1:
            raise OptionError(f"share must be from 0 to 1, not {share}")
        if any(agent.name == name for agent in self.agents):
            games = min(self._games.get(name, 0) + 1, MEMORY)
            self._games[name] = games
            before = self._share.get(name, 0.0)
            self._share[name] = before + (share - before) / games

    def share(self, name: str) -> float | None:
        """The learner's win share in the latest games against the agent of that name; None before the first."""
        return self._share.get(name)

    def weights(self) -> npt.NDArray[np.float64]:
        """The probability of each of :attr:`agents`, float64, summing to 1.

        Raises:
            OptionError: the pool is empty.
        """
        if not self.agents:
            raise OptionError("the pool of opponents is empty: give it an anchor or a frozen self")
        anchors = self._among(self.anchors)
        selves = self._among(self.selves)
        anchor_share = 1.0 if not self.selves else self.anchor_share if self.anchors else 0.0
        return np.concatenate([anchors * anchor_share, selves * (1.0 - anchor_share)])

    def _among(self, agents: Sequence[Agent]) -> npt.NDArray[np.float64]:
        """The probabilities of some of them, summing to 1 (or to 0 if there is none)."""
        weights = np.ones(len(agents))
        if self.sampling == "hard":
            weights = np.array([max((1.0 - self._share.get(agent.name, 0.5)) ** 2, EASIEST) for agent in agents])
        elif self.sampling == "latest" and agents is self.selves and len(agents) > 1:
            weights[:-1] = (1.0 - LATEST_SHARE) / (len(agents) - 1)
            weights[-1] = LATEST_SHARE
        return weights / weights.sum() if len(agents) else weights
