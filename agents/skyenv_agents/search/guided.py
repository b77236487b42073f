"""The tree search that begins with what a network holds of the actions: the networks that ship, or
another one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions
from skyenv.checks import check_number
from skyenv.errors import AgentError
from skyenv_agents.learned.networks import Network, NetworkAgent, TrainedAgent
from skyenv_agents.search.ismcts import SearchAgent, SearchResult

DEFAULT_SIMULATIONS: Final = 200
FLATNESS: Final = 4.0
"""A network is surer than it has reason to be; so the search begins with the FLATNESS-th root of
its probabilities.
"""


class GuidedAgent(SearchAgent):
    """Searches a tree whose root has a network's policy as the prior, in the place of greedy's
    scores.

    The network is asked once for each decision, about what the seat sees. Below the root and at the
    leaves the search is that of :class:`skyenv_agents.search.ismcts.SearchAgent`, whose evaluation
    costs a tenth of the network's.

    Args:
        simulations: for each decision, 1 to 10⁶.
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the
            machine); the network's comes on top.
        guide: a network, the path of its file, or ``"trained"``: those that ship with the project.
            Or any other agent whose :meth:`~skyenv.agents.Agent.evaluate` tells probabilities of
            the legal actions.
        flatness: the search begins with the flatness-th root of the guide's probabilities, from 1,
            as they are, to 100, nearly alike.
        exploration, temperature, trees, threads, reuse, margin: as there.

    Raises:
        AgentError: an option has a wrong value, or (at the first decision) the guide evaluates
            nothing.
        CheckpointError: the network can't be used.
    """

    name = "ismcts-trained"
    version = "4"
    description = "searches a tree guided by the networks that ship with the project"
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        guide: Agent | Network | str | Path = TrainedAgent.name,
        flatness: float = FLATNESS,
        **options: Any,
    ) -> None:
        if not isinstance(guide, Agent):
            guide = TrainedAgent() if guide == TrainedAgent.name else NetworkAgent(guide)
        super().__init__(simulations, milliseconds, **options)
        self.guide = guide
        self.flatness = check_number("flatness", flatness, 1.0, 100.0, AgentError)
        self.uses_observation = guide.uses_observation
        self.name = self.budget.name(f"ismcts-{guide.name}", self.default_simulations)
        self.version = f"{type(self).version}+{guide.version}"
        self.description = f"searches a tree guided by {guide.description}"

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`: with the version of the guide."""
        own = super().version_at(players, side)
        return f"{own}+{self.guide.version_at(players, side)}"

    def search(
        self,
        decisions: Decisions,
        priors: npt.NDArray[np.floating[Any]] | None = None,
        watch: Callable[[SearchResult], None] | None = None,
    ) -> SearchResult:
        """See :meth:`skyenv_agents.search.ismcts.SearchAgent.search`; without priors the
        guide's.
        """
        if priors is None:
            held = self.guide.evaluate(decisions)
            if held is None:
                raise AgentError(
                    f"agent {self.guide.name} can't guide a search: it doesn't tell how probable "
                    "actions are"
                )
            priors = held[0] ** (1.0 / self.flatness)
        return super().search(decisions, priors, watch)
