"""The interface of agents, simple agents, names of agents, and calls for decisions.

The agents that ship with the project are in a separate package, ``skyenv_agents``, and are found by
name like those of any package.
"""

from skyenv.agents.deciding import (
    checked_actions,
    decide,
    decide_each,
    decide_game,
    decisions_in,
    evaluation_of,
    first_evaluation,
)
from skyenv.agents.interface import (
    Agent,
    Decisions,
    Evaluation,
    Evaluations,
    SearchProgress,
    sample,
)
from skyenv.agents.names import (
    agent_names,
    agents_help,
    check_specification,
    checkpoint_in,
    checkpoint_suffixes,
    make_agent,
    running_code,
)
from skyenv.agents.reporting import ReportingAgent
from skyenv.agents.simple import CallableAgent, CrowdAgent, HoardAgent, RandomAgent, WeightedAgent

__all__ = [
    "Agent",
    "CallableAgent",
    "CrowdAgent",
    "Decisions",
    "Evaluation",
    "Evaluations",
    "HoardAgent",
    "RandomAgent",
    "ReportingAgent",
    "SearchProgress",
    "WeightedAgent",
    "agent_names",
    "agents_help",
    "check_specification",
    "checked_actions",
    "checkpoint_in",
    "checkpoint_suffixes",
    "decide",
    "decide_each",
    "decide_game",
    "decisions_in",
    "evaluation_of",
    "first_evaluation",
    "make_agent",
    "running_code",
    "sample",
]
