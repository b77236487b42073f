"""The interface of agents: what they are asked, what they answer, and what they can tell of a
decision.

An agent decides in batches, one decision in each of many games, from what its seat may see: the
action mask, and where it asks for it the observation or the seat's view. Its only source of chance
is the decision's own random number, so a seed decides a game however games are batched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from skyenv.errors import AgentError, OptionError, shown

Evaluations: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]
"""Probabilities of all actions, float64 (k, 103), 0 for illegal ones, and the outcomes expected,
float64 (k,), or None.
"""


@dataclass(frozen=True)
class Evaluation:
    """What an agent holds of one decision.

    Attributes:
        probabilities: float64 (103,), how probable each action is, 0 for illegal ones.
        value: the outcome that it expects for the seat, from −1 to 1; None if it can't tell.
    """

    probabilities: npt.NDArray[np.float64]
    value: float | None = None


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search.

    Attributes:
        action: what it would do now; at the end, what it does.
        visits: float64 (103,), how often each action has been tried; above 0 for one at least.
        value: the outcome that it expects for the seat, from −1 to 1.
        tries: how many there have been, at least 1.
        most: how many there will be; None: time decides.
    """

    action: int
    visits: npt.NDArray[np.float64]
    value: float
    tries: int
    most: int | None = None

    @property
    def evaluation(self) -> Evaluation:
        """The shares of the visits as probabilities."""
        return Evaluation(self.visits / self.visits.sum(), self.value)


@dataclass(frozen=True)
class Decisions:
    """k decisions to take, each in a game of its own.

    Attributes:
        mask: int8 (k, 103), 1 for each legal action.
        seat: int64 (k,), the seat to act.
        num_players: players of all the games, which may be on different sides of the board.
        uniform: float64 (k,) in [0, 1), each decision's own random number; it tells nothing of the
            game (see :meth:`skyenv.Games.uniforms`).
        observation: float32 (k, OBSERVATION_SIZE) from the view of `seat`; None unless the agent
            uses it.
        view: records of skyenv.engine.knowledge.VIEW_DTYPE (k,); None unless the agent uses it.
        trusted: whether all of it comes from the engine; compiled agents take nothing else. No
            argument: :func:`skyenv.agents.decisions_in` sets it, and what ``dataclasses.replace``
            makes isn't trusted.
    """

    mask: npt.NDArray[np.int8]
    seat: npt.NDArray[np.int64]
    num_players: int
    uniform: npt.NDArray[np.float64]
    observation: npt.NDArray[np.float32] | None = None
    view: np.recarray | None = None
    trusted: bool = field(default=False, init=False)

    def __len__(self) -> int:
        return len(self.seat)

    def take(self, rows: npt.NDArray[np.int64]) -> Decisions:
        """Return some of them, by their numbers, int64 (m,)."""
        arrays: dict[str, Any] = {
            name: array[rows] for name, array in vars(self).items() if isinstance(array, np.ndarray)
        }
        taken = replace(self, **arrays)
        return taken.as_trusted() if self.trusted else taken

    def as_trusted(self) -> Decisions:
        """Return them, trusted from now on: compiled agents that take wrong numbers read and write
        memory that isn't theirs.
        """
        object.__setattr__(self, "trusted", True)
        return self

    def trusted_view(self) -> np.recarray:
        """Return the views for compiled code, which reads whatever memory a wrong number leads to.

        Raises:
            OptionError: there are none, or the decisions aren't trusted.
        """
        if self.view is None or not self.trusted:
            raise OptionError(
                "decisions must be those of skyenv.agents.decisions_in, with views; others, all of "
                "which come from the engine, are Decisions(…).as_trusted()"
            )
        return self.view


class Agent(ABC):
    """Something that decides.

    Attributes:
        name: short name, as in tables and records.
        version: changes whenever the agent's decisions may, at any table; see :meth:`version_at`.
        description: one line.
        uses_observation: whether `act` wants `Decisions.observation`.
        uses_view: whether `act` wants `Decisions.view`.
        searches_with: names of the agents whose decisions a search foresees, or begins with; so it
            does better against them than against others of their strength.
    """

    name: str = "agent"
    version: str = "1"
    description: str = ""
    uses_observation: bool = False
    uses_view: bool = False
    searches_with: tuple[str, ...] = ()

    @abstractmethod
    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """A legal action for each decision, whole numbers (k,)."""

    def version_at(self, players: int, side: str) -> str:
        """Return the version at tables of so many players on a side of the board.

        It changes whenever decisions there may: a change at other tables leaves it as it is.
        """
        return self.version

    def evaluate(self, decisions: Decisions) -> Evaluations | None:
        """How probable the agent holds its actions, and what outcome it expects; None: it can't
        tell.
        """
        return None

    def search_with_progress(
        self, decisions: Decisions, callback: Callable[[SearchProgress], None]
    ) -> SearchProgress | None:
        """Decide once, reporting progress; None: the agent doesn't search, or reports nothing.

        Args:
            decisions: one of them.
            callback: called some times a second.

        Returns:
            The end of it: the action is that of :meth:`act`, the rest is what :meth:`evaluate`
                tells.
        """
        return None

    @classmethod
    def variant(cls, name: str) -> Agent:
        """The agent that a name with more than the class's own means, such as ``"ismcts-100"`` of
        ``"ismcts"``.

        Raises:
            AgentError: it means none; agents without variants know no such name.
        """
        raise AgentError(f"agent {shown(name, 80)}: {cls.name} has no variants")


def sample(
    weights: npt.NDArray[np.float64], uniform: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """An index for each row of `weights`, (k, n) and ≥ 0, drawn in proportion with the row's random
    number (k,).
    """
    sums = weights.cumsum(axis=1)
    chosen: npt.NDArray[np.int64] = (sums > (uniform * sums[:, -1])[:, None]).argmax(axis=1)
    return chosen
