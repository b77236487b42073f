"""What an agent would do in a position, and how sure it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, first_evaluation
from skyenv.errors import AgentError, PageError
from skyenv.game import Game
from skyenv.page.catalogue import CatalogueEntry
from skyenv.rules.actions import NUM_ACTIONS

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hint:
    """An agent's hint of one decision.

    Attributes:
        action: what it would do.
        probabilities: float64 (103,), 0 for illegal actions; None if the agent can't tell.
        worth: float64 (103,), VP that each legal action should bring, less those of the best one; None if it can't tell.
        value: the outcome that it expects for the seat, from −1 to 1; None if it can't tell.
    """

    action: int
    probabilities: Vector | None = None
    worth: Vector | None = None
    value: float | None = None


def hint(entry: CatalogueEntry, game: Game) -> Hint:
    """How an agent evaluates the decision that is open in a game, from what the seat to act sees, and nothing else.

    Even the agent's chance is made of that view: a hint tells nothing of the game's seed.

    Raises:
        PageError: the game is over.
        AgentError: the agent's answer is none.
    """
    if game.is_over:
        raise PageError("the game is over; there is nothing to decide", 409)
    decisions = _decision(game, entry.agent)
    evaluation = first_evaluation(entry.agent.evaluate(decisions))
    worth = _worth(entry.agent, decisions) if evaluation is None else None
    action = int(np.asarray(entry.agent.act(decisions))[0])
    if not (0 <= action < NUM_ACTIONS and decisions.mask[0, action]):
        raise AgentError(f"agent {entry.name} chose action {action}, which is not legal")
    if evaluation is None:
        return Hint(action, worth=worth)
    return Hint(action, np.asarray(evaluation.probabilities, np.float64), value=evaluation.value)


def sure_of_all(told: Hint, game: Game) -> dict[int, float]:
    """How sure an agent is of every legal action, by number: its probability, or the VP that it is worse than the best."""
    sure = told.probabilities if told.probabilities is not None else told.worth
    return {} if sure is None else {action: round(float(sure[action]), 4) for action in game.legal_actions}


def _decision(game: Game, agent: Agent) -> Decisions:
    known = game.view()
    digest = hashlib.blake2b(np.asarray(known).tobytes(), digest_size=6).digest()
    return Decisions(
        mask=game.mask[None],
        seat=np.array([game.seat], np.int64),
        num_players=game.num_players,
        uniform=np.array([int.from_bytes(digest) / 2**48]),
        observation=game.observation()[None] if agent.uses_observation else None,
        view=np.array([known], known.dtype).view(np.recarray) if agent.uses_view else None,
        trusted=True,
    )


def _worth(agent: Any, decisions: Decisions) -> Vector | None:
    """What actions should bring, of agents that judge them so."""
    if not callable(getattr(agent, "scores", None)):
        return None
    scores = np.asarray(agent.scores(decisions)[0], np.float64)
    legal = decisions.mask[0] != 0
    return np.where(legal, scores - scores[legal].max(), 0.0)
