"""Figures of bidding tasks with three seats."""

import numpy as np
import pytest

from experiments.benchmarks import tasks
from experiments.benchmarks.tasks import BEST_RESPONSE
from policies import uniform_policy
from skyenv.agents import make_agent
from skyenv.solving.best_response import Evaluator
from skyenv.solving.tree import Opening

pytestmark = pytest.mark.compiled


def test_one_agent_among_copies_of_another_is_valued_by_both_parts() -> None:
    """Copies of one agent have the values of its policy; a best response wins most."""
    made = Opening("three-3/1")
    agents = {name: make_agent(name) for name in ("random", "greedy")}
    gains, payoffs = tasks.crossed(made, agents)
    evaluator, uniform = Evaluator(made.tree), uniform_policy(made)
    values = evaluator.values(uniform)
    assert payoffs["random", "random"] == pytest.approx(np.mean(values))
    assert gains["random"] == pytest.approx(
        np.subtract(evaluator.best_responses(uniform), values).tolist()
    )
    for others in agents:
        best = payoffs[BEST_RESPONSE, others]
        assert best + 1e-9 > max(payoffs[alone, others] for alone in agents)
        assert best - payoffs[others, others] == pytest.approx(np.mean(gains[others]))
