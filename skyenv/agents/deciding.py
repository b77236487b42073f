"""Letting agents decide: what they may see of the next decisions of some games, and their answers,
checked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from skyenv.agents.interface import Agent, Decisions, Evaluation, Evaluations
from skyenv.checks import as_plain, check_integer
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.engine.knowledge import as_views, view
from skyenv.engine.observation import SCALE
from skyenv.errors import AgentError, OptionError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS


def decisions_in(
    games: Games,
    agent: Agent,
    rows: npt.ArrayLike | None = None,
    salt: npt.ArrayLike = 0,
    uniform: npt.NDArray[np.float64] | None = None,
) -> Decisions:
    """Return the next decisions in some rows, as far as `agent` may see them.

    Args:
        games: the batch.
        agent: its flags say what it wants to see.
        rows: rows whose games go on; None means all.
        salt: of each row, or of all: tells apart agents that must not share random numbers.
        uniform: random numbers in [0, 1) in place of the games' own, float64 (k,).
    """
    chosen = np.arange(games.num_games) if rows is None else np.asarray(rows, np.int64)
    seats = games.seat[chosen]
    observation = None
    if agent.uses_observation:
        # Agents get scaled observations, also from a batch that writes codes.
        written = (
            games.observation[chosen]
            if games.observation.shape[1]
            else games.observe(seats, chosen)
        )
        observation = written if written.dtype == np.float32 else written * SCALE
    return Decisions(
        mask=games.mask[chosen],
        seat=seats,
        num_players=games.num_players,
        uniform=games.uniforms(chosen, salt) if uniform is None else uniform,
        observation=observation,
        view=view(games.state, seats, chosen) if agent.uses_view else None,
    ).as_trusted()


def checked_decisions(decisions: Decisions) -> Decisions:
    """Decisions with views as compiled code takes them, which reads whatever memory a wrong number
    leads to.

    Returns:
        Themselves if they are trusted; else such as are, with the same numbers.

    Raises:
        OptionError: shapes or dtypes are wrong, there are no views, or none that
            :func:`skyenv.engine.knowledge.view` could have made.
    """
    if decisions.trusted:
        return decisions
    players = check_integer("num_players", decisions.num_players, MIN_PLAYERS, MAX_PLAYERS)
    if decisions.view is None:
        raise OptionError("decisions must have views")
    views = as_views(decisions.view)
    number = len(views)
    mask, seat, uniform = (
        np.asarray(array) for array in (decisions.mask, decisions.seat, decisions.uniform)
    )
    for name, array, shape, kinds in (
        ("mask", mask, (number, NUM_ACTIONS), "biu"),
        ("seat", seat, (number,), "iu"),
        ("uniform", uniform, (number,), "f"),
    ):
        if array.shape != shape or array.dtype.kind not in kinds:
            raise OptionError(
                f"{name} must have the shape {shape} for {number} views, not {array.dtype} "
                f"{array.shape}"
            )
    numbers = as_plain(uniform.astype(np.float64))
    if not ((numbers >= 0) & (numbers < 1)).all():
        raise OptionError("uniform must be from 0 to 1, without 1")
    if not ((views["seat"] == seat) & (views["game"]["num_players"] == players)).all():
        raise OptionError("views must be of the seats, and of games of num_players")
    return replace(
        decisions,
        mask=as_plain(mask.astype(np.int8)),
        seat=seat.astype(np.int64),
        num_players=players,
        uniform=numbers,
        view=views.view(np.recarray),
    ).as_trusted()


def decide(
    games: Games, agent: Agent, rows: npt.ArrayLike | None = None, salt: npt.ArrayLike = 0
) -> npt.NDArray[np.int64]:
    """The agent's actions in some rows, int64 (k,); see :func:`decisions_in` for the arguments.

    Raises:
        AgentError: the answer isn't one legal action for each decision.
    """
    decisions = decisions_in(games, agent, rows, salt)
    return checked_actions(agent, decisions) if len(decisions) else np.zeros(0, np.int64)


def checked_actions(agent: Agent, decisions: Decisions) -> npt.NDArray[np.int64]:
    """The agent's answer to some decisions, at least one: int64 (k,).

    Raises:
        AgentError: the answer isn't one legal action for each decision.
    """
    actions = np.asarray(agent.act(decisions))
    if actions.shape != decisions.seat.shape or actions.dtype.kind not in "iu":
        raise AgentError(
            f"agent {agent.name} must answer {len(decisions)} decisions with whole numbers of "
            f"shape {decisions.seat.shape},"
            f" not {actions.dtype} {actions.shape}"
        )
    within = (actions >= 0) & (actions < NUM_ACTIONS)
    legal = within & (decisions.mask[np.arange(len(actions)), np.where(within, actions, 0)] != 0)
    if not legal.all():
        first = int(np.argmin(legal))
        legal_actions = np.flatnonzero(decisions.mask[first]).tolist()
        raise AgentError(
            f"agent {agent.name} chose action {actions[first]} where only {legal_actions} are legal"
        )
    return actions.astype(np.int64, copy=False)


def decide_game(game: Game, agent: Agent, salt: int = 0) -> int:
    """The agent's action in a single game that goes on: the same as in a batch."""
    return int(decide(game.games, agent, [0], salt)[0])


def evaluation_of(game: Game, agent: Agent, salt: int = 0) -> Evaluation | None:
    """What an agent holds of the decision in a game that goes on (:meth:`Agent.evaluate`); None if
    it can't tell.
    """
    return first_evaluation(agent.evaluate(decisions_in(game.games, agent, [0], salt)))


def first_evaluation(evaluations: Evaluations | None) -> Evaluation | None:
    """What an agent holds of the first of some decisions."""
    if evaluations is None:
        return None
    probabilities, values = evaluations
    return Evaluation(
        np.asarray(probabilities, np.float64)[0],
        None if values is None else float(np.asarray(values)[0]),
    )
