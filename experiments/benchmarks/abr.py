"""Approximate best responses, checked against exact ones (docs/results/benchmark.md)."""

from collections.abc import Iterator
from typing import Any, Final

from experiments.benchmarks.tasks import mean
from experiments.figures import Figure, Scale
from experiments.training.best_response import BestResponse, BestResponseConfig
from experiments.training.closing import gains
from experiments.training.config import FOR_TASKS
from skyenv.agents import make_agent
from skyenv.engine.openings import measured
from skyenv_agents.learned.networks import NetworkAgent

TARGET: Final = "greedy"
TASK: Final = "duel-4/1024-1031"  # the first 8 held-out openings
SEEDS: Final = (1, 2, 3)
RECIPE: Final[dict[str, Any]] = {
    **FOR_TASKS,
    "epochs": 4,
    "entropy": 0.1,
    "final_entropy": 0.01,
}


def abr(scale: Scale) -> Iterator[Figure]:
    """ABR-1M: the gain of an approximate best response, in VP over both seats, beside the exact
    one, NashConv. PPO (`experiments.training.best_response`) learns for 1 million decisions against
    the agent alone, from the measured openings themselves with other deals at every reset. Its most
    probable actions are then valued exactly, over all deals of these openings: a lower bound of
    NashConv.
    """
    target, names = make_agent(TARGET), measured(TASK, scale.of(8))
    for seed in SEEDS:
        found = gains(respond(seed, scale.of(1_000_000)), target, names)
        yield mean(f"{TARGET}, {TASK}: seed {seed}", "VP", [gain for gain, _ in found])
    yield mean(f"{TARGET}, {TASK}: NashConv", "VP", [conv for _, conv in found])


def respond(seed: int, decisions: int) -> NetworkAgent:
    """Return a response to TARGET, trained by the recipe, that takes its most probable actions."""
    config = BestResponseConfig(target=TARGET, task=TASK, seed=seed, decisions=decisions, **RECIPE)
    training = BestResponse(config)
    training.begin()
    try:
        while not training.finished():
            training.update()
        return NetworkAgent(training.frozen(), deterministic=True)
    finally:
        training.end()
