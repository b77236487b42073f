"""The agents that ship with skyenv.

Each decides in batches from its seat's view only (:mod:`skyenv.agents`).

They are available by name everywhere: ``skyenv.make_agent("greedy")``, ``"appraiser"``,
``"rollout-256"``, ``"ismcts-50ms"``, ``"trained"``.
"""

from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent
from skyenv_agents.learned.networks import NetworkAgent, TrainedAgent
from skyenv_agents.search.guided import GuidedAgent
from skyenv_agents.search.ismcts import SearchAgent
from skyenv_agents.search.rollout import RolloutAgent

__all__ = [
    "AppraiserAgent",
    "GreedyAgent",
    "GuidedAgent",
    "NetworkAgent",
    "RolloutAgent",
    "SearchAgent",
    "TrainedAgent",
]
