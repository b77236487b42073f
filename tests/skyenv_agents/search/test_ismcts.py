"""The tree search: legal, the same in any batch and on any threads, within its budget, and blind to
what its seat can't know.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from positions import positions
from skyenv.agents import Agent, Decisions, Evaluations, Thought, decisions_in
from skyenv.arena.matches import play_games, rotations
from skyenv.engine.games import Games
from skyenv.engine.knowledge import as_views, resample, view
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import NONE
from skyenv_agents import GreedyAgent
from skyenv_agents.search import reuse
from skyenv_agents.search.evaluation import LeafBatch
from skyenv_agents.search.guided import GuidedAgent
from skyenv_agents.search.ismcts import SLICE, SearchAgent, Tree
from skyenv_agents.search.reuse import DETERMINIZATIONS, MOST_NODES, subtree


class GreedyPriors(GreedyAgent):
    """Tells what it holds of actions, as networks do."""

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """By what greedy expects."""
        scores = np.where(decisions.mask != 0, self.scores(decisions), -np.inf)
        chances = np.exp((scores - scores.max(axis=1, keepdims=True)) / 4.0)
        return chances / chances.sum(axis=1, keepdims=True), np.zeros(len(decisions))


TINY: Any = {"simulations": 24, "turns": 0}


def test_beats_greedy() -> None:
    """With a small budget and on few paired seeds: it wins some 80 % of the games."""
    paired_seeds = 12
    agents: list[Agent] = [SearchAgent(40), GreedyAgent()]
    seating = rotations(2, paired_seeds)
    played = play_games(agents, seating, np.repeat(np.arange(paired_seeds), 2))
    assert played.finished.all()
    assert played.shares[seating == 0].mean() > 0.55


# ---- priors from outside ----


def test_the_greedy_players_priors_from_outside_change_nothing() -> None:
    """What the tree works out itself, worked out here: the same visits."""
    games = positions(2, "front", 60)
    agent, greedy = SearchAgent(50), GreedyAgent()
    decisions = decisions_in(games, agent)
    legal = decisions.mask != 0
    scores = np.where(legal, greedy.scores(decisions), -np.inf)
    priors = np.exp((scores - scores.max(axis=1, keepdims=True)) / 2.0)
    assert np.array_equal(agent.search(decisions, priors).visits, agent.search(decisions).visits)


def test_priors_from_outside_lead_the_search() -> None:
    """An action that alone is held to be possible is tried most by a short search; the others are
    tried too.
    """
    games = positions(2, "front", 60)
    agent = SearchAgent(200, exploration=10.0)
    decisions = decisions_in(games, agent)
    several = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
    last = NUM_ACTIONS - 1 - decisions.mask[:, ::-1].argmax(axis=1)
    priors = np.zeros(decisions.mask.shape)
    priors[np.arange(len(decisions)), last] = 5.0  # they needn't sum to 1
    found = agent.search(decisions, priors)
    assert (found.actions == last)[several].mean() > 0.9
    assert ((found.visits > 0).sum(axis=1) > 1)[several].any()
    assert (found.visits[decisions.mask == 0] == 0).all()


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
def test_wrong_priors(wrong: float) -> None:
    games = positions(2, "front", 20)
    agent = SearchAgent(5)
    with pytest.raises(AgentError, match="a prior must be finite"):
        agent.search(decisions_in(games, agent), np.full((20, NUM_ACTIONS), wrong))


def test_priors_that_no_search_could_use() -> None:
    games = positions(2, "front", 20)
    for agent in (SearchAgent(5, temperature=0.0), SearchAgent(5, evaluator=GreedyAgent())):
        with pytest.raises(
            AgentError, match="need a search without an evaluator, with a temperature above 0"
        ):
            agent.search(decisions_in(games, agent), np.ones((20, NUM_ACTIONS)))
    for shape in ((19, NUM_ACTIONS), (20, 5), (NUM_ACTIONS,)):
        agent = SearchAgent(5)
        with pytest.raises(AgentError, match=r"priors must have shape \(20, 103\), not"):
            agent.search(decisions_in(games, agent), np.ones(shape))


# ---- the tree ----


def searched(
    agent: SearchAgent, games: Games, row: int, simulations: int, nodes: int = 20_000
) -> Tree:
    """The tree of one decision."""
    views = as_views(view(games.state[row : row + 1], int(games.seat[row])))
    tree = Tree(views, nodes, 0, GreedyAgent().weights(games.num_players), agent._options)
    tree.run(0, simulations, LeafBatch(1))
    return tree


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.0},
        {"turns": 1},
        {"rollout_policy": "random", "turns": 1, "leaf_value": "holdings"},
    ],
)
def test_what_nodes_count_adds_up(options: dict[str, Any]) -> None:
    """Every simulation goes through one child or ends; what was chosen was available; seats share
    1.
    """
    games = positions(3, "front", 40)
    for row in (3, 20):
        tree = searched(SearchAgent(**options), games, row, 200)
        nodes = tree.nodes[: tree.size]
        assert tree.simulations == 200
        for parent in range(tree.size):
            children, child = [], int(nodes["child"][parent])
            while child != NONE:
                children.append(child)
                child = int(nodes["sibling"][child])
            visits = nodes["visits"][children]
            assert visits.sum() <= nodes["visits"][parent]
            assert (visits <= nodes["available"][children]).all()
            assert (nodes["available"][children] <= nodes["visits"][parent]).all()
            assert len(set(nodes["action"][children].tolist())) == len(children)
        assert nodes["total"][0, :3].sum() == pytest.approx(200)
        assert tree.children()["visits"].sum() == 200
        assert set(tree.children()["action"].tolist()) >= set(
            np.flatnonzero(games.mask[row]).tolist()
        )


def test_a_full_tree_goes_on_with_what_it_has() -> None:
    games = positions(2, "front", 40)
    tree = searched(SearchAgent(turns=0), games, 10, 300, nodes=40)
    assert tree.size <= 40
    assert tree.simulations == 300


def test_what_is_tried_most_is_chosen() -> None:
    games = positions(2, "front", 60)
    player = SearchAgent(400, turns=0)
    result = player.search(decisions_in(games, player))
    several = np.flatnonzero(games.mask.sum(axis=1) > 2)
    assert (result.visits.argmax(axis=1) == result.actions)[several].mean() > 0.9
    assert result.visits[several].max(axis=1).mean() > 400 / 3


# ---- budgets and options ----


@pytest.mark.usefixtures("ticking")
def test_budget_in_simulations_and_in_time() -> None:
    games = positions(2, "front", 40)
    choices = games.mask.sum(axis=1)
    result = SearchAgent(50, trees=3, turns=0).search(decisions_in(games, SearchAgent(1)))
    assert set(result.simulations[choices > 1].tolist()) == {51}, "three trees with 17 each"
    assert (result.simulations[choices == 1] == 0).all()
    assert np.isnan(result.values[choices == 1]).all()
    several = result.values[choices > 1]
    assert ((several > 0) & (several < 1)).all()
    for milliseconds, simulations in ((0.01, SLICE), (4.5, 5 * SLICE)):
        timed = SearchAgent(milliseconds=milliseconds).search(decisions_in(games, SearchAgent(1)))
        assert (timed.simulations[choices > 1] == simulations).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations must be a whole number from 1 to 1000000, not 0"),
        ({"milliseconds": 0}, "milliseconds must be above 0"),
        ({"exploration": -1}, "exploration must be a number from 0"),
        ({"temperature": float("nan")}, "temperature must be a number from 0"),
        (
            {"rollout_policy": "clever"},
            "rollout_policy must be one of greedy, random, not 'clever'",
        ),
        ({"leaf_value": "clever"}, "leaf_value must be one of holdings, network, not 'clever'"),
        ({"turns": -1}, "turns must be a whole number from 0"),
        ({"trees": 65}, "trees must be a whole number from 1 to 64, not 65"),
        ({"threads": 0}, "threads must be a whole number from 1"),
        ({"margin": 1.5}, "margin must be a number from 0 to 1"),
        ({"late": 0}, "late must be a number from 0.1"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AgentError, match=message):
        SearchAgent(**options)


# ---- going on with a tree ----


def decided(player: SearchAgent, rows: list[int], steps: int = 40) -> list[list[tuple[int, int]]]:
    """What an agent decides in the first steps of some games that it plays alone, with its
    simulations.
    """
    games = Games(12, 2, seed=3)
    decisions: list[list[tuple[int, int]]] = [[] for _ in rows]
    for _ in range(steps):
        for asked in range(2):
            here = [row for row in rows if games.seat[row] == asked]
            asked_for = decisions_in(games, player, here, salt=asked)
            result = player.search(asked_for)
            for row, action, simulations in zip(
                here, result.actions, result.simulations, strict=True
            ):
                decisions[rows.index(row)].append((int(action), int(simulations)))
            games.step(result.actions, here)
    return decisions


REUSING: Any = {"simulations": 40, "turns": 0, "reuse": True}


def test_goes_on_with_the_tree_of_the_decision_before() -> None:
    """Within a turn most simulations are known; and whatever games are played beside or were
    before, decisions are the same.
    """
    player = SearchAgent(**REUSING)
    together = decided(player, list(range(12)))
    simulations = np.array([number for game in together for _, number in game])
    assert set(np.unique(simulations[simulations <= 40])) == {0, 40}
    assert (simulations > 40).sum() > 0.3 * (simulations > 0).sum()
    assert simulations.max() > 60
    alone = [decided(SearchAgent(**REUSING), [row])[0] for row in range(12)]
    assert together == alone
    assert decided(SearchAgent(**REUSING), [11, 4, 7]) == [alone[row] for row in (11, 4, 7)]
    assert decided(player, [4]) == [alone[4]], "an object that has played this game already"
    assert decided(SearchAgent(**{**REUSING, "reuse": False}), [4]) != [alone[4]]


def test_what_is_kept_is_what_was_known() -> None:
    """A subtree has the counts of the node it was, level by level; its root is what the action led
    to.
    """
    games = positions(3, "front", 40)
    tree = searched(SearchAgent(turns=0), games, 20, 3000, nodes=80_000)
    best = max(tree.children(), key=lambda child: child["visits"])
    kept = subtree(tree.nodes, int(best["action"]))
    assert kept is not None
    assert 100 < len(kept) <= MOST_NODES
    assert (kept["visits"][0], kept["action"][0]) == (best["visits"], best["action"])
    again = Tree(tree.view, 10, 0, tree.weights, tree.options, kept)
    assert again.simulations == best["visits"]
    assert again.size == len(kept)
    node = int(best["child"])
    for child in again.children():
        assert all(
            child[name] == tree.nodes[name][node]
            for name in ("action", "visits", "available", "prior")
        )
        assert child["total"].tolist() == tree.nodes["total"][node].tolist()
        node = int(tree.nodes["sibling"][node])
    assert node == NONE
    reached = sorted(
        link for link in (*kept["child"].tolist(), *kept["sibling"].tolist()) if link != NONE
    )
    assert reached == list(range(1, len(kept))), "every node but the root hangs in one place"
    assert subtree(kept, 102) is None
    assert subtree(Tree(tree.view, 5, 0, tree.weights, tree.options).nodes, 0) is None


@pytest.mark.rule("INF-2")
def test_what_is_kept_tells_nothing_of_hidden_cards() -> None:
    """The views that an action may lead to follow from the view before it: exchange what is hidden,
    and they are the same.
    """
    games = positions(2, "front", 40)
    player = SearchAgent(60, turns=0, reuse=True)
    decisions = decisions_in(games, player)
    again = player.search(decisions)
    before = set(player._memory._kept)
    assert before
    other = SearchAgent(60, turns=0, reuse=True)
    state = np.concatenate([resample(decisions.view[i], 9) for i in range(len(decisions))])  # type: ignore[index]
    result = other.search(
        Decisions(
            decisions.mask, decisions.seat, 2, decisions.uniform, view=view(state, games.seat)
        )
    )
    assert result.actions.tolist() == again.actions.tolist()
    assert set(other._memory._kept) == before


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "MOST_DECISIONS", 3)
    player = SearchAgent(**REUSING)
    decided(player, list(range(12)), 6)
    assert len(player._memory._order) == 3
    assert len(player._memory._kept) <= 3 * DETERMINIZATIONS
    assert set(player._memory._kept) <= {key for keys, _ in player._memory._order for key in keys}


# ---- telling how far it is ----


@pytest.mark.parametrize(
    "agent",
    [
        SearchAgent(90),
        SearchAgent(90, trees=3),
        SearchAgent(90, evaluator=GreedyPriors()),
        GuidedAgent(90, guide=GreedyPriors()),
    ],
    ids=["plain", "trees", "evaluator", "guided"],
)
def test_who_looks_sees_the_visits_grow_and_changes_nothing(
    agent: SearchAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skyenv_agents.search.ismcts.LOOKS", 0.0)
    games = positions(2, "front", 30)
    every = decisions_in(games, agent)
    row = int(np.argmax(every.mask.sum(axis=1) > 1))
    one = decisions_in(games, agent, [row])
    told: list[Thought] = []
    end = agent.ponder(one, told.append)
    assert end is not None
    evaluations = agent.evaluate(one)
    assert end.evaluation.probabilities.tolist() == evaluations[0][0].tolist()
    assert end.value == (evaluations[1] if evaluations[1] is not None else [None])[0]
    assert (end.action, end.tries, end.most) == (int(agent.act(one)[0]), 90, 90)
    tries = [thought.tries for thought in [*told, end]]
    assert len(tries) > 3
    assert tries == sorted(tries)
    for before, after in zip(told, [*told[1:], end], strict=True):
        assert (after.visits >= before.visits).all()
        assert 0 < before.visits.sum() <= before.tries


def test_a_forced_move_is_no_search() -> None:
    agent = SearchAgent(20)
    games = positions(2, "front", 60)
    forced = int(np.argmax(games.mask.sum(axis=1) == 1))
    assert games.mask[forced].sum() == 1
    assert agent.ponder(decisions_in(games, agent, [forced]), print) is None
