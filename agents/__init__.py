"""Players. Each decides, in batches, from what its seat may see; the interface is :mod:`skyenv.agents`.

>>> from agents import agent
>>> greedy = agent("greedy")  # or "random", "appraiser", "rollout-256", "runs/first/model.npz", "module:Name", an object
"""

from __future__ import annotations

from agents.appraiser import AppraiserAgent
from agents.greedy import GreedyAgent
from agents.ismcts import SearchAgent
from agents.registry import NAMES, agent
from agents.rollout import RolloutAgent
from skyenv.agents import Agent, Decisions, RandomAgent

__all__ = ["NAMES", "Agent", "AppraiserAgent", "Decisions", "GreedyAgent", "RandomAgent", "RolloutAgent", "SearchAgent", "agent"]
