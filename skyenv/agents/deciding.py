"""Calls of agents: their inputs for the next decisions of some games, and checks of their
answers.
"""

from collections.abc import Mapping

import numpy as np

from skyenv.agents.interface import Agent, Decisions, Evaluation, Evaluations
from skyenv.array_types import ArrayLike, Float64, Int64
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.engine.knowledge import view
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS


def decisions_in(
    games: Games,
    agent: Agent,
    rows: ArrayLike | None = None,
    salt: ArrayLike = 0,
    uniform: Float64 | None = None,
) -> Decisions:
    """Return the next decisions in some rows, with the inputs that `agent` uses.

    Args:
        games: the batch.
        agent: its flags select the inputs.
        rows: rows whose games are not over; None means all.
        salt: for all rows or for each; separates agents that must not share random numbers.
        uniform: random numbers in [0, 1) instead of the games' own, float64 (k,).
    """
    chosen = np.arange(games.num_games) if rows is None else np.asarray(rows, np.int64)
    seats = games.seat[chosen]
    observation = None
    if agent.uses_observation:
        observation = (
            games.observation[chosen]
            if games.observation.shape[1]
            else games.observe(seats, chosen)
        )
    return Decisions(
        mask=games.mask[chosen],
        seat=seats,
        num_players=games.num_players,
        uniform=games.uniforms(rows, salt) if uniform is None else uniform,
        observation=observation,
        view=view(games.state, seats, chosen) if agent.uses_view else None,
    ).as_trusted()


def decide(games: Games, agent: Agent, rows: ArrayLike | None = None, salt: ArrayLike = 0) -> Int64:
    """Return the agent's actions in some rows, int64 (k,); arguments as for
    :func:`decisions_in`.

    Raises:
        AgentError: the answer isn't one legal action for each decision.
    """
    decisions = decisions_in(games, agent, rows, salt)
    return checked_actions(agent, decisions) if len(decisions) else np.zeros(0, np.int64)


def decide_each(
    games: Games,
    agents: Mapping[int, Agent],
    whose: Int64,
    rows: Int64,
    salt: ArrayLike = 0,
) -> Int64:
    """Return several agents' actions in some rows, int64 (k,), with one call per agent.

    Args:
        games: the batch.
        agents: the agents, by number.
        whose: int64 (k,), the number of each row's agent.
        rows: int64 (k,), rows whose games are not over.
        salt: as for :func:`decisions_in`.

    Raises:
        AgentError: an answer isn't one legal action for each decision.
    """
    actions, salts = np.zeros(rows.size, np.int64), np.broadcast_to(salt, rows.shape)
    for number, agent in agents.items():
        here = whose == number
        if here.any():
            actions[here] = decide(games, agent, rows[here], salts[here])
    return actions


def checked_actions(agent: Agent, decisions: Decisions) -> Int64:
    """Return the agent's actions for some decisions, at least one: int64 (k,).

    Raises:
        AgentError: the answer isn't one legal action for each decision, or the agent has written
            into its mask.
    """
    before = decisions.mask.tobytes()
    actions = np.asarray(agent.act(decisions))
    if decisions.mask.tobytes() != before:
        raise AgentError(f"agent {agent.name} has written into decisions.mask; change a copy of it")
    if actions.shape != decisions.seat.shape or actions.dtype.kind not in "iu":
        raise AgentError(
            f"agent {agent.name} must answer {len(decisions)} decisions with whole numbers of "
            f"shape {decisions.seat.shape},"
            f" not {actions.dtype} {actions.shape}"
        )
    if len(actions) == 1 and 0 <= actions[0] < NUM_ACTIONS and decisions.mask[0, actions[0]]:
        return actions.astype(np.int64)  # the rest would take longer than most agents
    within = (actions >= 0) & (actions < NUM_ACTIONS)
    legal = within & (decisions.mask[np.arange(len(actions)), np.where(within, actions, 0)] != 0)
    if not legal.all():
        first = int(np.argmin(legal))
        legal_actions = np.flatnonzero(decisions.mask[first]).tolist()
        raise AgentError(
            f"agent {agent.name} chose action {actions[first]} where only {legal_actions} are legal"
        )
    return actions.astype(np.int64, copy=False)


def checked_probabilities(agent: Agent, decisions: Decisions) -> Float64:
    """Return the probabilities that an agent evaluates for some decisions: float64 (k, 103).

    Raises:
        AgentError: there are none, or they aren't probabilities of the legal actions.
    """
    evaluations = agent.evaluate(decisions)
    found = np.asarray(None if evaluations is None else evaluations[0])
    if found.shape != decisions.mask.shape or found.dtype.kind != "f":
        raise AgentError(
            f"agent {agent.name} must evaluate {len(decisions)} decisions with probabilities of "
            f"shape {decisions.mask.shape}, not {found.dtype} {found.shape}"
        )
    fits = (found >= 0) & ((found == 0) | (decisions.mask != 0))
    if not (fits.all() and np.allclose(found.sum(axis=1), 1, rtol=0, atol=1e-6)):
        raise AgentError(
            f"agent {agent.name} evaluates with numbers that aren't probabilities of the legal "
            "actions: they must be at least 0, 0 for illegal actions, and sum to 1"
        )
    return found.astype(np.float64, copy=False)


def decide_game(game: Game, agent: Agent, salt: int = 0) -> int:
    """Return the agent's action in a single game that is not over; the same as in a batch."""
    return int(decide(game.batch, agent, [0], salt)[0])


def evaluation_of(game: Game, agent: Agent, salt: int = 0) -> Evaluation | None:
    """Return an agent's evaluation of the decision in a game (:meth:`Agent.evaluate`); None if it
    has none.
    """
    return first_evaluation(agent.evaluate(decisions_in(game.batch, agent, [0], salt)))


def first_evaluation(evaluations: Evaluations | None) -> Evaluation | None:
    """Return an agent's evaluation of the first of some decisions."""
    if evaluations is None:
        return None
    probabilities, values = evaluations
    return Evaluation(
        np.asarray(probabilities, np.float64)[0],
        None if values is None else float(np.asarray(values)[0]),
    )
