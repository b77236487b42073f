"""The interface of agents: decisions, actions, evaluations and progress of searches.

An agent decides in batches, one decision in each of many games. Its inputs are the action mask and,
by its flags, the observation or the seat's view. Its only source of randomness is the decision's
own random number, so a seed decides a game however games are batched.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from skyenv.array_types import Float32, Float64, Int8, Int64
from skyenv.errors import AgentError, OptionError, shown

Evaluations: TypeAlias = tuple[Float64, Float64 | None]
"""Action probabilities, float64 (k, 103), 0 for illegal ones, and expected outcomes, float64 (k,),
or None.
"""


@dataclass(frozen=True)
class Evaluation:
    """An agent's evaluation of one decision.

    Attributes:
        probabilities: float64 (103,), the policy, 0 for illegal actions.
        value: the seat's expected outcome, from −1 to 1; None if unknown.
    """

    probabilities: Float64
    value: float | None = None


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search.

    Attributes:
        action: the best action so far; at the end, the action taken.
        visits: float64 (103,), visit count of each action, above 0 for at least one.
        value: the outcome that it expects for the seat, from −1 to 1.
        tries: number of simulations so far, at least 1.
        most: number of simulations in the end; None: limited by time.
    """

    action: int
    visits: Float64
    value: float
    tries: int
    most: int | None = None

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation with the shares of the visits as probabilities."""
        return Evaluation(self.visits / self.visits.sum(), self.value)


@dataclass(frozen=True)
class Decisions:
    """A batch of k decisions, each in a different game.

    Attributes:
        mask: int8 (k, 103), 1 for each legal action.
        seat: int64 (k,), the seat to act.
        num_players: number of players, the same in all games; sides of the board may differ.
        uniform: float64 (k,) in [0, 1), each decision's own random number, independent of hidden
            information (see :meth:`skyenv.Games.uniforms`).
        observation: float32 (k, OBSERVATION_SIZE), that of `seat`; None unless the agent uses it.
        view: records of skyenv.engine.knowledge.VIEW_DTYPE (k,); None unless the agent uses it.
        trusted: whether all data come from the engine, which compiled agents require. It is not an
            argument: :func:`skyenv.agents.decisions_in` sets it, and ``dataclasses.replace`` clears
            it.
    """

    mask: Int8
    seat: Int64
    num_players: int
    uniform: Float64
    observation: Float32 | None = None
    view: np.recarray | None = None
    trusted: bool = field(default=False, init=False)

    def __len__(self) -> int:
        return len(self.seat)

    def take(self, rows: Int64) -> "Decisions":
        """Return the decisions at some indices, int64 (m,)."""
        arrays: dict[str, Any] = {
            name: array[rows] for name, array in vars(self).items() if isinstance(array, np.ndarray)
        }
        taken = replace(self, **arrays)
        return taken.as_trusted() if self.trusted else taken

    def as_trusted(self) -> "Decisions":
        """Return the decisions marked as trusted; wrong numbers make compiled agents access invalid
        memory.
        """
        object.__setattr__(self, "trusted", True)
        return self

    def trusted_view(self) -> np.recarray:
        """Return the views for compiled code, which does no bounds checks.

        Raises:
            OptionError: there are no views, or the decisions aren't trusted.
        """
        if self.view is None or not self.trusted:
            raise OptionError(
                "decisions must be those of skyenv.agents.decisions_in, with views; others, all of "
                "which come from the engine, are Decisions(…).as_trusted()"
            )
        return self.view


class Agent(ABC):
    """Base class of agents: subclasses choose actions in :meth:`act`.

    Attributes:
        name: short name for tables and records.
        version: changes whenever the agent's decisions may change; see :meth:`version_at`.
        description: a description in one line.
        uses_observation: whether `act` reads `Decisions.observation`.
        uses_view: whether `act` reads `Decisions.view`.
        searches_with: names of the agents that a search uses as model or prior; it does better
            against them than against others of their strength.
        samples_evaluation: whether `act` chooses with exactly the probabilities of `evaluate`, by
            the decision's random number. The agent's NashConv is then exact.
    """

    name: str = "agent"
    version: str = "1"
    description: str = ""
    uses_observation: bool = False
    uses_view: bool = False
    searches_with: tuple[str, ...] = ()
    samples_evaluation: bool = False

    @abstractmethod
    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """Return a legal action for each decision, integers (k,)."""

    def version_at(self, players: int, side: str) -> str:
        """Return the version for a number of players and a side of the board.

        It changes whenever decisions in such games may change.
        """
        return self.version

    def evaluate(self, decisions: Decisions) -> Evaluations | None:
        """Return action probabilities and expected outcomes; None if the agent has none."""
        return None

    def search_with_progress(
        self, decisions: Decisions, callback: Callable[[SearchProgress], None]
    ) -> SearchProgress | None:
        """Decide once, reporting progress; return None if the agent doesn't report any.

        Args:
            decisions: a single decision.
            callback: called a few times per second.

        Returns:
            The final progress: the action of :meth:`act`, with the evaluation of :meth:`evaluate`.
        """
        return None

    @classmethod
    def variant(cls, name: str) -> "Agent":
        """Return the agent of a name that extends the class's name, such as ``"ismcts-100"`` of
        ``"ismcts"``.

        Raises:
            AgentError: there is no such variant, or the class has none.
        """
        raise AgentError(f"agent {shown(name, 80)}: {cls.name} has no variants")


def sample(weights: Float64, uniform: Float64) -> Int64:
    """Sample an index for each row of `weights`, (k, n) and ≥ 0, in proportion, by the row's random
    number (k,).
    """
    sums = weights.cumsum(axis=1)
    chosen: Int64 = (sums > (uniform * sums[:, -1])[:, None]).argmax(axis=1)
    return chosen
