"""Making the environments known to Gymnasium and PettingZoo.

``import skyenv`` calls :func:`register`, so that ``gymnasium.make(ENV_ID)`` and
``pettingzoo.make("aec", AEC_ID)`` work after it. A process that has not imported it, such as a
worker that was given the id alone, doesn't know them.
"""

from __future__ import annotations

import importlib.util

ENV_ID = "skyenv/FifthAvenue-v0"
"""Gymnasium's id, for ``gymnasium.make`` and ``gymnasium.make_vec``; ``"skyenv:" + ENV_ID`` where
skyenv isn't imported yet.
"""
AEC_ID = "skyenv/fifth_avenue_v0"
"""PettingZoo's id, for ``pettingzoo.make("aec", AEC_ID)``, and with ``"parallel"``."""


def register_gymnasium() -> None:
    """Enter ENV_ID into Gymnasium's registry; once is enough, more does no harm."""
    import gymnasium

    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            id=ENV_ID,
            entry_point="skyenv.envs.single:FifthAvenueEnv",
            vector_entry_point="skyenv.envs.vector:FifthAvenueVectorEnv",
        )


def register_pettingzoo() -> None:
    """Enter AEC_ID into PettingZoo's registry, which there is since 1.27; once is enough, more does
    no harm.
    """
    import pettingzoo

    enter = getattr(pettingzoo, "register", None)
    if enter is not None and pettingzoo.EnvSpec(AEC_ID).id not in pettingzoo.aec_registry:
        enter("aec", AEC_ID, entry_point="skyenv.envs.aec:env")
        enter("parallel", AEC_ID, entry_point="skyenv.envs.aec:parallel_env")


def register() -> None:
    """Register with those of the two libraries that are installed."""
    if importlib.util.find_spec("gymnasium") is not None:
        register_gymnasium()
    if importlib.util.find_spec("pettingzoo") is not None:
        register_pettingzoo()
