"""The tree search with the networks that ship, or another network, as its evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from skyenv.agents import Agent
from skyenv_agents.learned.networks import Network, NetworkAgent, TrainedAgent
from skyenv_agents.search.ismcts import SearchAgent
from skyenv_agents.search.rollouts import LEAF_VALUES

DEFAULT_SIMULATIONS: Final = 200


class GuidedAgent(SearchAgent):
    """Searches a tree with a network's policy as the prior and the outcome that it expects in the value of leaves.

    Args:
        simulations: for each decision, 1 to 10⁶.
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the machine).
        evaluator: a network, the path of its file, or ``"trained"``: those that ship with the project. It must tell the outcome
            (``--reward outcome`` of experiments/training/train.py). Or any other agent, as for
            :class:`skyenv_agents.search.ismcts.SearchAgent`.
        exploration, value_weight, turns, leaf_value, leaves, trees, reuse, margin: as there.

    Raises:
        AgentError: an option has a wrong value, or (at the first decision) the network doesn't tell the outcome.
        CheckpointError: the network can't be used.
    """

    name = "ismcts-trained"
    version = "3"
    description = "searches a tree guided by the networks that ship with the project"
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        evaluator: Agent | Network | str | Path = TrainedAgent.name,
        exploration: float = 1.0,
        value_weight: float = 0.25,
        turns: int = 3,
        leaf_value: str = LEAF_VALUES[0],
        leaves: int = 8,
        trees: int = 1,
        reuse: bool = False,
        margin: float = 0.2,
    ) -> None:
        if not isinstance(evaluator, Agent):
            evaluator = TrainedAgent() if evaluator == TrainedAgent.name else NetworkAgent(evaluator)
        super().__init__(
            simulations, milliseconds, exploration=exploration, turns=turns, leaf_value=leaf_value, trees=trees, reuse=reuse,
            margin=margin, evaluator=evaluator, value_weight=value_weight, leaves=leaves,
        )  # fmt: skip
