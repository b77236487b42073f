"""The interface of agents: construction, decisions, and validated actions."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skyenv import Agent, AgentError, Decisions, Game, Games, OptionError, make_agent
from skyenv.agents import (
    CallableAgent,
    CrowdAgent,
    HoardAgent,
    decide,
    decide_game,
    decisions_in,
    evaluation_of,
    sample,
)


class Recorder(Agent):
    """Plays the first legal action and keeps what it was shown."""

    name = "recorder"

    def __init__(self, observation: bool = False, view: bool = False) -> None:
        self.uses_observation, self.uses_view = observation, view
        self.shown: list[Decisions] = []

    def act(self, decisions: Decisions) -> np.ndarray:
        self.shown.append(decisions)
        return first_legal(decisions)


def first_legal(decisions: Decisions) -> np.ndarray:
    first: np.ndarray = decisions.mask.argmax(axis=1)
    return first


# ---- evaluations ----


@pytest.mark.parametrize("name", ["random", "crowd", "hoard"])
def test_simple_agents_report_probabilities(name: str) -> None:
    """Every legal action has a positive one; that they act by them, tests/solving shows."""
    game = Game(2, seed=1)
    evaluation: Any = evaluation_of(game, make_agent(name))
    assert evaluation.value is None
    assert ((evaluation.probabilities > 0) == (game.mask != 0)).all()
    assert evaluation_of(game, make_agent(first_legal)) is None


def test_sampling_follows_the_weights() -> None:
    """In proportion to the weights, at the edges too; never an action of weight 0."""
    weights = np.array([[0.0, 1, 0, 3, 0]])
    uniform = np.array([0.0, 0.2499, 0.25, 1 - 2**-32])
    chosen = sample(np.repeat(weights, 4, axis=0), uniform)
    assert chosen.dtype == np.int64
    assert chosen.tolist() == [1, 1, 3, 3]


# ---- what agents are shown ----


def test_some_of_untrusted_decisions_are_untrusted() -> None:
    """Compiled agents refuse them; those of the engine stay trusted."""
    made = decisions_in(Games(3, seed=1), Recorder(False, True))
    rows = np.array([2, 0])
    assert made.take(rows).trusted_view().seat.tolist() == made.seat[rows].tolist()
    with pytest.raises(OptionError, match="decisions must be those of"):
        replace(made).take(rows).trusted_view()


@pytest.mark.parametrize("view", [False, True])
@pytest.mark.parametrize("observation", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_decisions_hold_copies_of_the_requested_arrays(
    kept: bool, observation: bool, view: bool
) -> None:
    """Mask, seat and random number always; observation and view on request, as copies."""
    twin, games = (Games(4, 3, seed=2, observation=one) for one in (True, kept))
    for one in (twin, games):
        one.play_random(17)
    before = games.mask.tobytes(), games.observation.tobytes(), games.state.tobytes()
    agent, rows = Recorder(observation, view), [3, 1]
    actions = decide(games, agent, rows, salt=5)
    shown = agent.shown[0]
    assert (len(shown), shown.num_players) == (2, 3)
    assert shown.seat.tolist() == games.seat[rows].tolist()
    assert shown.mask.tolist() == games.mask[rows].tolist()
    assert shown.uniform.tolist() == games.uniforms(rows, 5).tolist()
    assert actions.tolist() == games.mask[rows].argmax(axis=1).tolist()
    assert (shown.observation is not None, shown.view is not None) == (observation, view)
    arrays: list[Any] = [shown.mask, shown.seat, shown.uniform]
    if shown.observation is not None:
        arrays.append(shown.observation)
        assert shown.observation.dtype == np.float32
        assert shown.observation.tobytes() == twin.observe(twin.seat[rows], rows).tobytes()
    if shown.view is not None:
        arrays.append(shown.view.game.score)
        assert shown.view.seat.tolist() == games.seat[rows].tolist()
        assert (shown.view.game.random == 0).all()
        assert shown.view.game.decisions.tolist() == games.state["decisions"][rows].tolist()
    for array in arrays:
        array[:] = 1
    assert (games.mask.tobytes(), games.observation.tobytes(), games.state.tobytes()) == before
    assert decide(games, agent, []).shape == (0,)
    assert len(agent.shown) == 1


# ---- what is taken for an answer ----


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([13], r"must answer 2 decisions with whole numbers of shape \(2,\), not int64 \(1,\)"),
        (13, "must answer 2 decisions"),
        ([[13], [14]], "must answer 2 decisions"),
        ([13.0, 14.0], "not float64"),
        ([True, False], "not bool"),
        (["option A", "option A"], "must answer 2 decisions"),
        (None, "not object"),
        ([13, 102], r"chose action \d+ where only \[\d+, .*\] are legal"),
        ([103, 103], "chose action 103"),
        ([-1, -1], "chose action -1"),
        (np.array([2**63, 2**63], np.uint64), "chose action 9223372036854775808"),
        ([-90, -90], "chose action -90"),  # legal if counted from the end
    ],
)
def test_invalid_actions_of_agents_are_refused(answer: Any, message: str) -> None:
    """The error names the agent and the fault, also in single games."""
    agent = CallableAgent(lambda decisions: answer)
    agent.name = "culprit"
    with pytest.raises(AgentError, match=f"agent culprit .*{message}"):
        decide(Games(2, seed=1), agent)
    if np.shape(answer) == (2,):
        agent.function = lambda decisions: np.asarray(answer)[1:]
        with pytest.raises(AgentError, match="agent culprit"):
            decide_game(Game(seed=1), agent)


# ---- chance ----


def test_weights_of_crowd_and_hoard_are_fixed() -> None:
    """Tests and ladders depend on them."""
    weights = CrowdAgent.weights.tobytes() + HoardAgent.weights.tobytes()
    assert hashlib.sha256(weights).hexdigest()[:16] == "dd53ec0e4d045405"
