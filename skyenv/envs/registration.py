"""Registration of the environments with Gymnasium and PettingZoo.

``import skyenv`` imports this module; ``gymnasium.make(ENV_ID)`` and ``pettingzoo.make("aec",
AEC_ID)`` then work. They fail in a process that has not imported it, such as a worker that received
the id alone.
"""

from __future__ import annotations

import importlib.util
from typing import Final

from skyenv.engine.information import most_decisions
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.rules.components import MAX_PLAYERS

ENV_ID = "skyenv/FifthAvenue-v0"
"""Gymnasium's id, for ``gymnasium.make`` and ``gymnasium.make_vec``; ``"skyenv:" + ENV_ID`` imports
skyenv first.
"""
UNMASKED_ID = "skyenv/FifthAvenueUnmasked-v0"
"""The id with ``illegal="random"``, for programs without masks that take nothing but an id."""
MAX_EPISODE_STEPS: Final = most_decisions(MAX_PLAYERS, DEFAULT_MAX_TURNS)
"""Upper bound of an episode's steps with the default `max_turns`; libraries size buffers by it."""
AEC_ID = "skyenv/fifth_avenue_v0"
"""PettingZoo's id, for ``pettingzoo.make("aec", AEC_ID)``, and with ``"parallel"``."""

if importlib.util.find_spec("gymnasium") is not None:
    import gymnasium

    for name, illegal in ((ENV_ID, "end"), (UNMASKED_ID, "random")):
        gymnasium.register(
            id=name,
            entry_point="skyenv.envs.single:FifthAvenueEnv",
            vector_entry_point="skyenv.envs.vector:FifthAvenueVectorEnv",
            max_episode_steps=MAX_EPISODE_STEPS,
            kwargs={"illegal": illegal},
        )

if importlib.util.find_spec("pettingzoo") is not None:
    import pettingzoo

    if hasattr(pettingzoo, "register"):  # since PettingZoo 1.27
        pettingzoo.register("aec", AEC_ID, entry_point="skyenv.envs.aec:env")
        pettingzoo.register("parallel", AEC_ID, entry_point="skyenv.envs.aec:parallel_env")
