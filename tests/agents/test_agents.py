"""The interface of agents: how they are made, what they are shown, what is taken for an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scenario import as_likely
from skyenv import Agent, AgentError, Decisions, Game, Games, make_agent
from skyenv.agents import (
    CallableAgent,
    CrowdAgent,
    HoardAgent,
    RandomAgent,
    WeightedAgent,
    decide,
    decide_game,
    decisions_in,
    evaluation_of,
    sample,
)
from skyenv.rules.actions import ACTION_NUMBERS, NUM_ACTIONS

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]


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


SIMPLE: dict[str, type[Agent]] = {"random": RandomAgent, "crowd": CrowdAgent, "hoard": HoardAgent}


# ---- evaluations ----


@pytest.mark.parametrize("name", ["random", "crowd", "hoard"])
def test_what_simple_agents_think_is_what_they_do(name: str) -> None:
    game, agent = Game(2, seed=1), make_agent(name)
    evaluation = evaluation_of(game, agent)
    assert evaluation is not None
    assert evaluation.value is None
    assert evaluation.probabilities.sum() == pytest.approx(1)
    assert ((evaluation.probabilities > 0) == (game.mask != 0)).all()
    drawn = (
        np.bincount(
            [decide_game(game, agent, salt) for salt in range(4000)],
            minlength=len(evaluation.probabilities),
        )
        / 4000
    )
    assert np.abs(drawn - evaluation.probabilities).max() < 0.05


def test_agents_may_evaluate_nothing_and_objects_may() -> None:
    class Thinker:
        def act(self, decisions: Decisions) -> Any:
            return decisions.mask.argmax(axis=1)

        def evaluate(self, decisions: Decisions) -> Any:
            return decisions.mask / decisions.mask.sum(axis=1, keepdims=True), np.full(
                len(decisions), 0.25
            )

    game = Game(2, seed=1)
    assert evaluation_of(game, make_agent(lambda decisions: decisions.mask.argmax(axis=1))) is None
    evaluation = evaluation_of(game, make_agent(Thinker()))  # type: ignore[arg-type]
    assert evaluation is not None
    assert evaluation.value == 0.25


# ---- what agents are shown ----


@pytest.mark.parametrize("observation", [False, True])
@pytest.mark.parametrize("view", [False, True])
@pytest.mark.parametrize("in_batch", [False, True])
def test_what_decisions_hold(observation: bool, view: bool, in_batch: bool) -> None:
    """Mask, seat and random number always; observation and view of the seat to act if asked for,
    whatever the batch keeps.
    """
    games = Games(4, 3, seed=2, observation="scaled" if in_batch else None)
    games.play_random(17)
    agent = Recorder(observation, view)
    rows = [3, 1]
    actions = decide(games, agent, rows, salt=5)
    decisions = agent.shown[0]
    assert len(decisions) == 2
    assert decisions.num_players == 3
    assert decisions.seat.tolist() == games.seat[rows].tolist()
    assert decisions.mask.tolist() == games.mask[rows].tolist()
    assert decisions.uniform.tolist() == games.uniforms(rows, 5).tolist()
    assert actions.tolist() == games.mask[rows].argmax(axis=1).tolist()
    assert actions.dtype == np.int64
    if observation:
        assert decisions.observation is not None
        assert decisions.observation.tobytes() == games.observe(games.seat[rows], rows).tobytes()
    else:
        assert decisions.observation is None
    if view:
        assert decisions.view is not None
        assert decisions.view.seat.tolist() == games.seat[rows].tolist()
        assert (decisions.view.game.random == 0).all()
        assert decisions.view.game.decisions.tolist() == games.state["decisions"][rows].tolist()
    else:
        assert decisions.view is None


@pytest.mark.compiled
def test_agents_see_the_same_of_a_batch_that_writes_codes() -> None:
    """Bit for bit, in all rows and in some."""
    scaled, codes = Games(40, 3, seed=2), Games(40, 3, seed=2, observation="codes")
    for games in (scaled, codes):
        games.play_random(900)
    for rows in (None, [7, 3], []):
        of_scaled, of_codes = (
            decisions_in(games, Recorder(observation=True), rows).observation
            for games in (scaled, codes)
        )
        assert of_scaled is not None
        assert of_codes is not None
        assert of_codes.dtype == np.float32
        assert of_codes.tobytes() == of_scaled.tobytes()


def test_what_is_shown_is_a_copy() -> None:
    """An agent that writes into it does no harm."""
    games = Games(3, seed=2)
    before = games.mask.tobytes(), games.observation.tobytes(), games.state.tobytes()
    decisions = decisions_in(games, Recorder(True, True))
    assert decisions.observation is not None
    assert decisions.view is not None
    for array in (
        decisions.mask,
        decisions.seat,
        decisions.uniform,
        decisions.observation,
        decisions.view.game.score,
    ):
        array[:] = 1
    assert (games.mask.tobytes(), games.observation.tobytes(), games.state.tobytes()) == before
    assert games.seat.tolist() == [0, 0, 0]


def test_no_decisions_ask_no_agent() -> None:
    agent = Recorder()
    assert decide(Games(2, seed=1), agent, []).shape == (0,)
    assert agent.shown == []


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
def test_wrong_answers(answer: Any, message: str) -> None:
    """The error names the agent and what was wrong."""
    agent = CallableAgent(lambda decisions: answer)
    agent.name = "culprit"
    with pytest.raises(AgentError, match=f"agent culprit .*{message}"):
        decide(Games(2, seed=1), agent)


def test_right_answers_and_errors_of_an_agents_own() -> None:
    """Whole numbers of any type; errors reach the caller as they are."""
    games = Games(3, seed=1)
    for dtype in (np.int8, np.uint64):
        actions = decide(games, CallableAgent(lambda d: first_legal(d).astype(dtype)))  # noqa: B023
        assert actions.dtype == np.int64
        assert actions.tolist() == games.mask.argmax(axis=1).tolist()

    def broken(decisions: Decisions) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        decide(games, CallableAgent(broken))


# ---- chance ----


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("name", SIMPLE)
def test_a_seed_decides_the_game_however_it_is_batched(players: int, side: str, name: str) -> None:
    """Alone, in a batch, with rows in another order: the same actions."""
    agent = make_agent(name)
    games = Games(5, players, side, seed=4, max_turns=8, autoreset=False)
    singles = [Game(players, side, 4 + row, max_turns=8) for row in range(5)]
    for _ in range(60):
        going = np.flatnonzero(games.seat >= 0)
        actions = decide(games, agent, going)
        assert decide(games, agent, going[::-1])[::-1].tolist() == actions.tolist()
        assert [decide_game(singles[row], agent) for row in going] == actions.tolist()
        games.step(actions, going)
        for row, action in zip(going, actions, strict=True):
            singles[row].play(int(action))


@pytest.mark.compiled
def test_random_numbers() -> None:
    """Uniform in [0, 1), unrelated from decision to decision, seed to seed and salt to salt; asking
    doesn't change them.
    """
    games = Games(4000, seed=0, observation=None)
    rows: list[np.ndarray] = []
    for salt in (0, 1):
        for _ in range(3):
            drawn = games.uniforms(salt=salt)
            assert drawn.tolist() == games.uniforms(salt=salt).tolist()
            assert drawn.dtype == np.float64
            assert (drawn >= 0).all()
            assert (drawn < 1).all()
            assert as_likely(np.histogram(drawn, 20, (0, 1))[0])
            rows.append(drawn)
            games.step(games.mask.argmax(axis=1))
    related = np.corrcoef([*rows, np.roll(rows[0], 1)])
    assert abs(related - np.eye(len(related))).max() < 0.08


def test_sampling() -> None:
    """In proportion to the weights; never what has none, at the edges neither."""
    weights = np.array([[0.0, 1, 0, 3, 0]])
    uniform = np.linspace(0, 1, 4000, endpoint=False)
    chosen = sample(np.repeat(weights, 4000, axis=0), uniform)
    assert chosen.dtype == np.int64
    assert np.bincount(chosen, minlength=5).tolist() == [0, 1000, 0, 3000, 0]
    edges = np.array([0.0, 0.25, 1 - 2**-32])
    assert sample(np.repeat(weights, 3, axis=0), edges).tolist() == [1, 3, 3]


@pytest.mark.parametrize("kind", [CrowdAgent, HoardAgent])
def test_weighted_agents_choose_in_proportion_to_their_weights(kind: type[WeightedAgent]) -> None:
    """Among the legal actions; each has a weight, so that none is ever impossible."""
    agent = kind()
    assert agent.weights.shape == (NUM_ACTIONS,)
    assert (agent.weights > 0).all()
    mask = np.zeros((20_000, NUM_ACTIONS), np.int8)
    legal = [
        ACTION_NUMBERS[name]
        for name in ("option A", "option B gallery", "option C", "option D TSQ")
    ]
    mask[:, legal] = 1
    uniform = np.random.default_rng(1).random(20_000)
    actions = agent.act(Decisions(mask, np.zeros(20_000, np.int64), 2, uniform))
    counts = np.bincount(actions, minlength=NUM_ACTIONS)
    assert counts.sum() == counts[legal].sum()
    assert as_likely(counts[legal], agent.weights[legal].tolist())


@pytest.mark.compiled
def test_what_crowd_and_hoard_are_for() -> None:
    """They reach what random players hardly reach: building stops in two games of three; hundreds
    of turns without an end.
    """
    ends: dict[str, list[int]] = {}
    for name in SIMPLE:
        games = Games(30, 3, seed=1, autoreset=False, observation=None, max_turns=150)
        agent = make_agent(name)
        while (games.seat >= 0).any():
            going = np.flatnonzero(games.seat >= 0)
            games.step(decide(games, agent, going), going)
        ends[name] = np.bincount(games.finished["end"], minlength=4).tolist()
    assert ends["hoard"][3] >= 20
    assert ends["crowd"][2] > ends["random"][2]
