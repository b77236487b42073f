"""Figures of bidding tasks: sizes, agents' losses, prices, three seats, approximate responses."""

from pathlib import Path

import numpy as np
import pytest

from experiments.benchmarks import abr, tasks
from experiments.benchmarks.tasks import ACCURACY, BEST_RESPONSE, PassingAgent, answers
from experiments.figures import read
from policies import uniform_policy
from skyenv.agents import make_agent
from skyenv.engine.rewards import CARD_VP
from skyenv.rules.actions import PASS
from skyenv.solving.best_response import Evaluator
from skyenv.solving.tree import Opening

pytestmark = pytest.mark.compiled


def test_the_passing_agent_takes_no_other_action_where_it_can_pass() -> None:
    made = Opening("duel-3/0")
    policy, tree = answers(PassingAgent(), made), made.tree
    for node in np.flatnonzero(tree.kind < 2):
        actions = tree.action[tree.first[node] : tree.first[node + 1]]
        block = policy[tree.block[node] : tree.block[node + 1]].reshape(len(actions), -1)
        legal = tree.legal[tree.first_legal[node] : tree.first_legal[node + 1]] != 0
        if PASS in actions:
            assert block[actions == PASS][0, legal] == pytest.approx(1.0)


def test_equilibria_suit_their_price_alone() -> None:
    """The gap is that of the price; decisions of agents stay, and their losses change."""
    found = tasks.at_prices("duel-3/0")
    payoffs = Evaluator(Opening("duel-3/0").tree).payoff_range
    assert found[CARD_VP]["equilibrium"] <= ACCURACY * payoffs
    assert min(found[price]["equilibrium"] for price in (0.6, 0.9)) > 10 * ACCURACY * payoffs
    assert len({round(one["greedy"], 6) for one in found.values()}) == len(tasks.PRICES)
    assert found[CARD_VP]["gap"] == pytest.approx(tasks.sizes("duel-3/0", True)["purified gap"])


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


def test_what_a_response_gains_agrees_with_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """In VP over both seats, within the interval of the deals; nothing against itself."""
    monkeypatch.setattr(abr, "measured", lambda task, number: [f"{task}/0", f"{task}/1"])
    random, greedy = make_agent("random"), make_agent("greedy")
    exact = []
    for made in map(Opening, ("duel-3/0", "duel-3/1")):
        acting = np.repeat(made.tree.kind, np.diff(made.tree.block))
        alone, copies = answers(greedy, made), answers(random, made)
        mixed = [np.where(acting == seat, alone, copies) for seat in range(2)]
        values = [Evaluator(made.tree).values(one)[seat] for seat, one in enumerate(mixed)]
        exact.append(sum(values))
    found = abr.gains(greedy, random, "duel-3", range(4000))
    assert found.low < np.mean(exact) < found.high < found.low + 0.5
    assert abr.gains(greedy, greedy, "full-2", range(4)).mean == pytest.approx(0)


@pytest.mark.programs
def test_the_program_trains_missing_responses_and_measures_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(abr.RECIPE, "decisions", 300)
    words = ["random", "--tasks", "duel-3", "--seeds", "2", "--deals", "64", "--out", str(tmp_path)]
    assert abr.main(words) == 0
    first = {one.name: one for one in read("abr", tmp_path)["figures"]}
    names = [f"random, duel-3: {column}" for column in ("seed 0", "seed 1", "ABR-1M", "NashConv")]
    assert [*first] == names
    (tmp_path / "random-duel-3-1.npz").unlink()
    kept = (tmp_path / "random-duel-3-0.npz").stat().st_mtime_ns
    assert abr.main(words) == 0
    assert (tmp_path / "random-duel-3-0.npz").stat().st_mtime_ns == kept
    assert {one.name: one for one in read("abr", tmp_path)["figures"]} == first
