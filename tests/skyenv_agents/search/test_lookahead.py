"""Look-ahead with the shipped networks: play-outs, decisions, budgets and progress."""

import numpy as np
import pytest

from positions import positions
from skyenv.agents import SearchProgress, decisions_in
from skyenv.arena.lookahead import LookaheadAgent
from skyenv.engine.games import Games
from skyenv.engine.rewards import outcome_of
from skyenv_agents import TrainedAgent
from skyenv_agents.search import ismcts
from skyenv_agents.search.lookahead import TrainedLookaheadAgent

pytestmark = pytest.mark.compiled


class Asked(TrainedAgent):
    """``trained`` without its compiled play-outs."""

    def play_outs(self, *_: object) -> None:
        return None


@pytest.fixture(scope="module")
def games() -> Games:
    """Games at all stages."""
    return positions(2, "front", 40)


@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_compiled_play_outs_equal_played_games(players: int, side: str) -> None:
    """To value estimates as well as to the ends of games, which come soon."""
    states = positions(players, side, 24).state
    states["max_turns"] = states["turns"].max() + 2
    games = Games.of(states)
    compiled, played = LookaheadAgent(TrainedAgent(), 3), LookaheadAgent(Asked(), 3)
    decisions = decisions_in(games, played)
    which, actions = np.nonzero(decisions.mask)
    some = np.random.default_rng(1).permutation(len(which))[:30]
    found = compiled.outcomes(decisions, which[some], actions[some])
    assert np.array_equal(found, played.outcomes(decisions, which[some], actions[some]))
    assert found.std() > 0.1
    over = np.isin(found, [outcome_of(share, players) for share in (0.0, 1.0)])
    assert over.any()
    assert not over.all()


def test_decisions_do_not_depend_on_the_batch(games: Games) -> None:
    """Both sides of the board may be in it; forced decisions are not searched."""
    agent, back = TrainedLookaheadAgent(8), positions(2, "back", 40)
    states = np.concatenate([games.state[::3], back.state[::3]])
    mixed = Games.of(states)
    decisions = decisions_in(mixed, agent)
    actions, (shares, outcomes) = agent.act(decisions), agent.evaluate(decisions)
    assert (actions != TrainedAgent().act(decisions)).any()
    for row in range(0, len(actions), 4):
        alone = decisions_in(mixed, agent, [row])
        assert agent.act(alone).tolist() == [actions[row]]
        found = agent.evaluate(alone)
        assert found[0].tolist() == [shares[row].tolist()]
        assert found[1] == outcomes[row]  # type: ignore[index]


def test_progress_ends_with_the_decision(games: Games, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ismcts, "PROGRESS", 0.0)
    agent, reported = TrainedLookaheadAgent(32), []
    for row in range(games.num_games):
        one, reports = decisions_in(games, agent, [row]), list[SearchProgress]()
        end = agent.search_with_progress(one, reports.append)
        assert (end is None) == (not reports)
        if end is not None:
            shares, outcomes = agent.evaluate(one)
            assert end.evaluation.probabilities.tolist() == shares[0].tolist()
            assert (end.action, end.value) == (agent.act(one)[0], outcomes[0])  # type: ignore[index]
            assert reports[-1].tries == end.tries <= 32
            assert end.most == 32
            reported.append(end.tries)
    # Some decisions are settled early.
    assert min(reported) < max(reported)


@pytest.mark.usefixtures("ticking")
def test_time_limits_the_determinizations(games: Games) -> None:
    """By a simulated clock, which is read once a round."""
    agent = TrainedLookaheadAgent(milliseconds=3)
    tries = []
    for row in range(games.num_games):
        end = agent.search_with_progress(decisions_in(games, agent, [row]), lambda so_far: None)
        tries.append(end.tries if end is not None else 0)
    assert max(tries) == 12
