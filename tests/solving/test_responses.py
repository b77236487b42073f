"""Agents' policies in bidding tasks: how they are asked, and NashConv as the tasks are dealt."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from dealt import SMALL

from policies import uniform_policy
from positions import positions
from skyenv import AgentError, Games, OptionError, make_agent
from skyenv.agents import Agent, Decisions, RandomAgent, agent_names, decisions_in
from skyenv.engine.knowledge import resample, view
from skyenv.solving.best_response import Evaluator
from skyenv.solving.responses import (
    DETERMINISTIC,
    REPORTED,
    SAMPLED,
    AgentPolicy,
    gains_of,
    policy_of,
    queries,
)
from skyenv.solving.tree import CHANCE, Opening
from skyenv_agents import NetworkAgent
from skyenv_agents.learned.networks import TrainedAgent

pytestmark = pytest.mark.compiled


opening = cache(Opening)


class Asked(RandomAgent):
    """Random play that reports no probabilities; `seed` gives another agent with the same policy.

    Its answers are no monotone function of the random number.
    """

    name = "asked"
    samples_evaluation = False

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        scattered = decisions.uniform * (7919.0 + 613.0 * self.seed) % 1.0
        return super().act(replace(decisions, uniform=scattered))


class Forgetful(Asked):
    """An agent with randomness of its own."""

    name = "forgetful"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        self.seed += 1
        return super().act(decisions)


# ---- how policies are known ----


SAMPLERS: dict[str, Callable[[], Agent]] = {
    **{name: partial(make_agent, name) for name in ("random", "crowd", "hoard")},
    "trained": lambda: TrainedAgent(deterministic=False),
    "network": lambda: NetworkAgent(TrainedAgent().path(2, "front")),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_agents_that_sample_their_evaluation_choose_with_its_probabilities(name: str) -> None:
    """At 200 evenly spaced numbers every action comes as often as it is probable."""
    agent, number = SAMPLERS[name](), 200
    assert agent.samples_evaluation
    seen = decisions_in(positions(2, "front", 30), agent)
    evaluations: Any = agent.evaluate(seen)
    taken = np.zeros_like(evaluations[0])
    for sample in range(number):
        numbers = np.full(len(seen), (sample + 0.5) / number)
        taken[np.arange(len(seen)), agent.act(replace(seen, uniform=numbers).as_trusted())] += 1
    assert abs(taken / number - evaluations[0]).max() <= 1 / number
    assert ((evaluations[0] > 0.02) & (evaluations[0] < 0.98)).any()


def test_no_other_agent_is_said_to_sample_its_evaluation() -> None:
    said = {name for name in agent_names() if make_agent(name).samples_evaluation}
    assert said == {"random"}  # crowd and hoard are no players
    assert not NetworkAgent(TrainedAgent().path(2, "front"), deterministic=True).samples_evaluation


@pytest.mark.parametrize(
    ("agent", "known"),
    [("random", REPORTED), ("greedy", DETERMINISTIC), (Asked(0), SAMPLED)],
)
def test_it_is_told_how_a_policy_is_known(agent: Agent | str, known: str) -> None:
    made = opening("duel-3/136")
    found = policy_of(make_agent(agent), made)
    low, high = gains_of(Evaluator(made.tree), found)
    assert found.known == known
    assert (low <= high).all()
    assert (low == high).all() == (known != SAMPLED)
    if known == REPORTED:
        assert np.allclose(found.policy, uniform_policy(made))


def estimates(made: Opening, policies: list[AgentPolicy]) -> tuple[Any, Any]:
    """NashConv's lower and upper estimates: means and standard errors."""
    sums = [gains_of(Evaluator(made.tree), policy).sum(axis=1) for policy in policies]
    return np.mean(sums, axis=0), np.std(sums, axis=0) / len(sums) ** 0.5


def test_estimates_for_random_play_that_is_asked_approach_the_exact_figure() -> None:
    made = opening("duel-3/136")
    exact, errors = Evaluator(made.tree).nash_conv(uniform_policy(made)), []
    for samples in (32, 256):
        (low, high), error = estimates(
            made, [policy_of(Asked(i), made, samples) for i in range(10)]
        )
        assert low - 4 * error[0] < exact < high + 4 * error[1]
        errors.append(max(exact - low, high - exact))
    assert errors[1] < errors[0] / 2
    assert errors[1] < 0.02 * exact


def test_random_numbers_differ_between_positions_and_hands() -> None:
    made = opening("duel-3/136")
    seen: list[float] = []

    class Spy(Asked):
        def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
            seen.extend(decisions.uniform.tolist())
            return super().act(decisions)

    policy_of(Spy(0), made)
    assert len(set(seen)) > 0.9 * len(seen)
    counts, _ = np.histogram(list(set(seen)), 16, (0, 1))
    assert counts.max() < 1.2 * counts.min()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: policy_of(Forgetful(0), opening("duel-3/136")), AgentError, "forgetful doesn't"),
        *(
            (lambda n=n: policy_of(Asked(0), opening("duel-3/136"), n), OptionError, f"not {n}")
            for n in (1, 31, 33)
        ),
        (lambda: policy_of(Lying(), opening("duel-3/136")), AgentError, "agent lying evaluates"),
        (lambda: policy_of(Silent(), opening("duel-3/136")), AgentError, "agent silent must"),
    ],
)
def test_agents_that_cannot_be_measured_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


class Silent(RandomAgent):
    name = "silent"

    def evaluate(self, decisions: Decisions) -> Any:
        return None


class Lying(RandomAgent):
    name = "lying"

    def evaluate(self, decisions: Decisions) -> Any:
        return np.full(decisions.mask.shape, 1 / 103), None


# ---- as dealt ----


@pytest.mark.parametrize("name", [*SMALL, "three-3/326"])
def test_every_position_asked_about_can_be_dealt(name: str) -> None:
    """INF-2: a seat sees it in dealt games; determinizations of it give the position itself."""
    made = opening(name)
    tree, rng = made.tree, np.random.default_rng(1)
    nodes = np.flatnonzero(tree.kind < CHANCE)
    asked = queries(made, nodes, np.ones((len(tree.kind), len(made.hands), 10)))
    games = Games(60_000, task=name, seed=3, autoreset=False, observation=False)
    dealt: set[bytes] = set()
    while (rows := np.flatnonzero(games.seat >= 0)).size:
        seats = games.seat[rows]
        dealt |= {one.tobytes() for one in view(games.state, seats, rows)}
        games.play_random(1)
    seats = asked.states["seat"].astype(np.int64)
    views = view(asked.states, seats)
    seen = np.array([one.tobytes() in dealt for one in views])
    assert seen.all()
    for row in rng.permutation(len(views))[:40]:
        drawn = resample(views[row], np.arange(400))
        drawn["seed"], drawn["random"] = asked.states["seed"][row], asked.states["random"][row]
        assert asked.states[row].tobytes() in {one.tobytes() for one in drawn}


def test_hands_that_no_deal_allows_need_no_answers() -> None:
    """A hand may be left with no cards for the others, though its seat's choices lead there."""
    made, agent = opening("duel-4/1039"), make_agent("trained-2026a")
    policy = policy_of(agent, made).policy
    assert Evaluator(made.tree).nash_conv(policy) > 0
