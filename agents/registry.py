"""From what a person writes to a player."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from agents.appraiser import AppraiserAgent
from agents.greedy import GreedyAgent
from skyenv.agents import BUILT_IN, Agent, make_agent
from skyenv.errors import AgentError, shown

CHECKPOINT_SUFFIX: Final = ".zip"

NAMES: Final[dict[str, type[Agent]]] = {
    **BUILT_IN,
    GreedyAgent.name: GreedyAgent,
    AppraiserAgent.name: AppraiserAgent,
}
"""The players that have a short name."""


def agent(spec: Agent | Callable[..., Any] | str | Path, *, deterministic: bool = False) -> Agent:
    """The player that a specification means.

    Args:
        spec: a name (``"random"``, ``"crowd"``, ``"hoard"``, ``"greedy"``, ``"appraiser"``), the path of a checkpoint
            (``"runs/first/model.zip"``), ``"module:Name"``, or an object, class or function that
            :func:`skyenv.agents.make_agent` takes.
        deterministic: whether a checkpoint takes its most probable action instead of drawing one.

    Raises:
        AgentError: there is no such player.
        CheckpointError: the checkpoint is missing, damaged, or made for something else.
    """
    if isinstance(spec, Path) or (isinstance(spec, str) and spec.endswith(CHECKPOINT_SUFFIX)):
        from agents.policy import PolicyAgent  # torch and SB3 take seconds to import, and not everybody has them

        return PolicyAgent(spec, deterministic=deterministic)
    if isinstance(spec, str):
        if spec in NAMES:
            return NAMES[spec]()
        if ":" not in spec:
            raise AgentError(
                f"unknown agent {shown(spec, 80)}; there are {', '.join(NAMES)}, a checkpoint (a path that ends in"
                f" {CHECKPOINT_SUFFIX}) and 'module:Name'"
            )
    return make_agent(spec)
