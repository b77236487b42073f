"""From what a person writes to a player."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from agents import guided, ismcts, rollout
from agents.appraiser import AppraiserAgent
from agents.greedy import GreedyAgent
from agents.guided import GuidedAgent
from agents.ismcts import SearchAgent
from agents.learned import NETWORK_SUFFIX, NetworkAgent, TrainedAgent
from agents.rollout import RolloutAgent
from skyenv.agents import BUILT_IN, CHECKPOINTS, Agent, make_agent
from skyenv.errors import AgentError, shown

NAMES: Final[dict[str, type[Agent]]] = {
    **BUILT_IN,
    GreedyAgent.name: GreedyAgent,
    AppraiserAgent.name: AppraiserAgent,
    RolloutAgent.name: RolloutAgent,
    SearchAgent.name: SearchAgent,
    TrainedAgent.name: TrainedAgent,
    GuidedAgent.name: GuidedAgent,
}
"""The players that have a short name."""
BY_BUDGET: Final[dict[str, Callable[[str], Agent]]] = {
    rollout.PREFIX: rollout.named,
    guided.PREFIX: guided.named,
    ismcts.PREFIX: ismcts.named,
}
"""Those whose name may tell a budget, by what it begins with; longer ones first."""


def agent(spec: Agent | Callable[..., Any] | str | Path, *, deterministic: bool = False) -> Agent:
    """The player that a specification means.

    Args:
        spec: a name (one of :data:`NAMES`; ``"rollout-256"`` and ``"ismcts-50ms"`` have another budget than the plain names),
            the path of a checkpoint (``"runs/first/model.npz"``, ``"runs/first/model.zip"``), ``"module:Name"``, or an
            object, class or function that :func:`skyenv.agents.make_agent` takes.
        deterministic: whether a checkpoint takes its most probable action instead of drawing one.

    Raises:
        AgentError: there is no such player.
        CheckpointError: the checkpoint is missing, damaged, or made for something else.
    """
    if isinstance(spec, Path) or (isinstance(spec, str) and spec.endswith(CHECKPOINTS)):
        if Path(spec).suffix == NETWORK_SUFFIX:
            return NetworkAgent(spec, deterministic=deterministic)
        from agents.policy import PolicyAgent  # torch and SB3 take seconds to import, and not everybody has them

        return PolicyAgent(spec, deterministic=deterministic)
    if isinstance(spec, str):
        if spec in NAMES:
            return NAMES[spec]()
        for prefix, named in BY_BUDGET.items():
            if spec.startswith(prefix) and ":" not in spec:
                return named(spec)
        if ":" not in spec:
            raise AgentError(
                f"unknown agent {shown(spec, 80)}; there are {', '.join(NAMES)}, a checkpoint (a path that ends in"
                f" {' or '.join(CHECKPOINTS)}) and 'module:Name'"
            )
    return make_agent(spec)
