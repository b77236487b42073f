"""The tree search: nodes, given priors and evaluations, progress."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from positions import positions
from skyenv.agents import (
    Decisions,
    Evaluations,
    RandomAgent,
    SearchProgress,
    decide,
    decisions_in,
)
from skyenv.engine.games import Games
from skyenv.engine.knowledge import as_views, view
from skyenv.errors import AgentError, CheckpointError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.networks import TRAINED, Network
from skyenv_agents.search import ismcts
from skyenv_agents.search.guided import GuidedAgent
from skyenv_agents.search.ismcts import SearchAgent, SearchTree, empty_nodes
from skyenv_agents.search.rollouts import search_options


class LastOfAll(RandomAgent):
    """Holds the last legal action to be right, and wants no observation."""

    name = "last"
    uses_view = True

    def evaluate(self, decisions: Decisions) -> Evaluations:
        last = np.arange(NUM_ACTIONS) == last_of_all(decisions.mask)[:, None]
        return last.astype(np.float64), None


def last_of_all(mask: Any) -> Any:
    return NUM_ACTIONS - 1 - mask[:, ::-1].argmax(axis=1)


@pytest.fixture(scope="module")
def games() -> Games:
    """Games at all stages."""
    return positions(2, "front", 40)


# ---- priors from outside ----


def test_given_greedy_priors_equal_the_default(games: Games) -> None:
    agent = SearchAgent(50)
    decisions = decisions_in(games, agent)
    scores = np.where(decisions.mask != 0, GreedyAgent().scores(decisions), -np.inf)
    priors = np.exp((scores - scores.max(axis=1, keepdims=True)) / 2.0)
    visits = agent.search(decisions, priors).visits
    assert np.array_equal(visits, agent.search(decisions).visits)


def test_given_priors_lead_the_search(games: Games) -> None:
    """The only probable action is visited most by a short search, but not alone."""
    several = np.flatnonzero(games.mask.sum(axis=1) > 1)
    agent = GuidedAgent(200, prior_agent=LastOfAll(), exploration=10.0)
    found = agent.search(decisions_in(games, agent))
    assert (found.actions == last_of_all(games.mask))[several].mean() > 0.9
    assert ((found.visits > 0).sum(axis=1) > 1)[several].any()
    assert (found.visits[games.mask == 0] == 0).all()
    assert (found.visits[several].sum(axis=1) == 200).all()
    assert agent.name == "ismcts-last"


def test_any_network_can_guide_the_search(games: Games, tmp_path: Path) -> None:
    """Given by path or as an object."""
    path = TRAINED / "2-players.npz"
    shipped = decide(games, GuidedAgent(20)).tolist()
    for prior_agent in (path, str(path), Network.load(path)):
        assert decide(games, GuidedAgent(20, prior_agent=prior_agent)).tolist() == shipped
    assert GuidedAgent(20, prior_agent=path).name == "ismcts-2-players-20"
    with pytest.raises(CheckpointError, match="no network file"):
        GuidedAgent(prior_agent=tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("make", "priors", "message"),
    [
        *(
            (SearchAgent, np.full((40, NUM_ACTIONS), wrong), "prior")
            for wrong in (0.0, -1.0, np.nan, np.inf)
        ),
        (SearchAgent, np.ones((39, NUM_ACTIONS)), "shape"),
        (SearchAgent, np.ones(NUM_ACTIONS), "shape"),
        (partial(GuidedAgent, prior_agent=GreedyAgent()), None, "agent greedy can't guide"),
    ],
)
def test_invalid_priors_are_refused(make: Any, priors: Any, message: str, games: Games) -> None:
    agent = make(5)
    with pytest.raises(AgentError, match=message):
        agent.search(decisions_in(games, agent), priors)


# ---- the tree ----


def searched(games: Games, row: int, slices: list[int], room: int, **options: Any) -> SearchTree:
    """The tree of one decision after some slices of simulations."""
    views = as_views(view(games.state[row : row + 1], int(games.seat[row])))
    record = search_options(**options)
    weights = GreedyAgent().weights(games.num_players)
    tree = SearchTree(views, empty_nodes(1), room, 0, weights, record)
    for i, number in enumerate(slices):
        tree.run(sum(slices[:i]), number)
    return tree


@pytest.mark.parametrize("options", [{"leaf_value": "network"}, {"turns": 1}])
@pytest.mark.parametrize("room", [20_000, 40])
def test_visits_and_values_of_nodes_are_consistent(
    room: int, options: dict[str, Any], games: Games
) -> None:
    """Also where there is no more room: what was chosen was available; seats share 1; and slices
    don't matter.
    """
    for row in (3, 20):
        tree = searched(games, row, [100], room, **options)
        nodes = tree.nodes[: tree.size]
        assert tree.size <= room
        twin = searched(games, row, [7, 13, 80], room, **options)
        assert twin.nodes.tobytes() == tree.nodes.tobytes()
        assert (nodes["visits"][1:] <= nodes["available"][1:]).all()
        assert nodes["total"][0, :2].sum() == pytest.approx(100)
        assert tree.children()["visits"].sum() == tree.simulations == 100
        legal = np.flatnonzero(games.mask[row]).tolist()
        assert set(tree.children()["action"].tolist()) >= set(legal)


def test_the_most_visited_action_is_chosen(games: Games) -> None:
    """Its evaluation is the share of visits."""
    player: Any = SearchAgent(50)
    decisions = decisions_in(games, player)
    result, (shares, outcomes) = player.search(decisions), player.evaluate(decisions)
    several = games.mask.sum(axis=1) > 1
    assert (result.visits.max(axis=1) == result.visits[np.arange(40), result.actions]).all()
    assert np.isnan(result.values[~several]).all()
    assert ((result.values[several] > 0) & (result.values[several] < 1)).all()
    assert np.array_equal(shares, result.visits / result.visits.sum(axis=1, keepdims=True))
    assert np.allclose(outcomes, np.where(several, 2 * result.values - 1, 0))


# ---- progress ----


@pytest.mark.parametrize(
    "agent", [SearchAgent(90), GuidedAgent(90, prior_agent=LastOfAll())], ids=["plain", "guided"]
)
def test_progress_reports_do_not_change_the_search(
    agent: SearchAgent, games: Games, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ismcts, "PROGRESS", 0.0)
    choices = games.mask.sum(axis=1)
    one = decisions_in(games, agent, [int(np.argmax(choices > 1))])
    reports: list[SearchProgress] = []
    end: Any = agent.search_with_progress(one, reports.append)
    shares, outcomes = agent.evaluate(one)
    assert end.evaluation.probabilities.tolist() == shares[0].tolist()
    assert end.value == outcomes[0]  # type: ignore[index]
    assert (end.action, end.tries, end.most) == (int(agent.act(one)[0]), 90, 90)
    assert len(reports) > 2
    for before, after in zip(reports, [*reports[1:], end], strict=True):
        assert before.tries <= after.tries
        assert (after.visits >= before.visits).all()
    forced = decisions_in(games, agent, [int(np.argmax(choices == 1))])
    assert agent.search_with_progress(forced, reports.append) is None
