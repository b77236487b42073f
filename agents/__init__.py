"""Players. Each decides, in batches, from what its seat may see; the interface is :mod:`skyenv.agents`.

>>> from agents import agent
>>> greedy = agent("greedy")  # or "random", "crowd", "hoard", "rollout", "runs/first/model.zip", "module:Name", an object
"""

from __future__ import annotations

from agents.greedy import GreedyAgent
from agents.registry import NAMES, agent
from agents.rollout import RolloutAgent
from skyenv.agents import Agent, Decisions, RandomAgent

__all__ = ["NAMES", "Agent", "Decisions", "GreedyAgent", "RandomAgent", "RolloutAgent", "agent"]
