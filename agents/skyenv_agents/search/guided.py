"""Tree search with a network's policy as the prior at the root."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions
from skyenv.checks import check_number
from skyenv.errors import AgentError
from skyenv_agents.learned.networks import Network, NetworkAgent, TrainedAgent
from skyenv_agents.search.ismcts import SearchAgent, SearchResult

DEFAULT_SIMULATIONS: Final = 200
# Networks are overconfident, so the prior is the fourth root of their probabilities.
PRIOR_TEMPERATURE: Final = 4.0


class GuidedAgent(SearchAgent):
    """A tree search whose root prior is a network's policy instead of greedy's scores.

    Each decision needs one forward pass of the seat's view. Below the root and at the leaves the
    search is that of :class:`skyenv_agents.search.ismcts.SearchAgent`, whose evaluation costs a
    tenth of the network's.

    Args:
        simulations: simulations per decision, 1 to 10⁶.
        milliseconds: time per decision instead, 0.001 to 10⁶, without the forward pass; decisions
            then depend on the machine.
        prior_agent: a network, the path of its file, or ``"trained"`` for the shipped ones; or any
            agent whose :meth:`~skyenv.agents.Agent.evaluate` returns probabilities.
        prior_temperature: degree of the root taken of the probabilities, from 1 (unchanged) to 100
            (nearly uniform).
        options: as for :class:`~skyenv_agents.search.ismcts.SearchAgent`.

    Raises:
        AgentError: invalid option, or (at the first decision) the prior's agent returns no
            probabilities.
        CheckpointError: the network can't be used.
    """

    name = "ismcts-trained"
    version = "4"
    versions: ClassVar[Mapping[int, str]] = {3: "5", 4: "5"}
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        prior_agent: Agent | Network | str | Path = TrainedAgent.name,
        prior_temperature: float = PRIOR_TEMPERATURE,
        **options: Any,
    ) -> None:
        super().__init__(simulations, milliseconds, **options)
        if not isinstance(prior_agent, Agent):
            is_shipped = prior_agent == TrainedAgent.name
            prior_agent = TrainedAgent() if is_shipped else NetworkAgent(prior_agent)
        self.prior_agent = prior_agent
        self.prior_temperature = check_number(
            "prior_temperature", prior_temperature, 1.0, 100.0, AgentError
        )
        self.uses_observation = prior_agent.uses_observation
        self.searches_with = (*type(self).searches_with, prior_agent.name)
        self.name = self.named(f"ismcts-{prior_agent.name}")
        self.version = f"{type(self).version}+{prior_agent.version}"
        self.description = f"tree search guided by {prior_agent.description}"

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`: with the version of the prior's agent."""
        own = super().version_at(players, side)
        return f"{own}+{self.prior_agent.version_at(players, side)}"

    def search(
        self,
        decisions: Decisions,
        priors: npt.NDArray[np.floating[Any]] | None = None,
        watch: Callable[[SearchResult], None] | None = None,
    ) -> SearchResult:
        """See :meth:`skyenv_agents.search.ismcts.SearchAgent.search`; without priors the prior
        agent's.
        """
        if priors is None:
            evaluations = self.prior_agent.evaluate(decisions)
            if evaluations is None:
                raise AgentError(
                    f"agent {self.prior_agent.name} can't guide a search: its evaluate() "
                    "returns no probabilities"
                )
            priors = evaluations[0] ** (1.0 / self.prior_temperature)
        return super().search(decisions, priors, watch)
