"""What an agent would do in a position, and how sure it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, SearchProgress, first_evaluation
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.engine.knowledge import view
from skyenv.errors import AgentError
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.errors import PageError
from skyenv.rules.actions import NUM_ACTIONS

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Hint:
    """An agent's hint of one decision.

    Attributes:
        action: what it would do.
        probabilities: float64 (103,), 0 for illegal actions; None if the agent can't tell.
        worth: float64 (103,), VP that each legal action should bring, less those of the best one;
            None if it can't tell.
        value: the outcome that it expects for the seat, from −1 to 1; None if it can't tell.
        visits: float64 (103,), how often it has tried each action; None if it doesn't.
        tries: how often all together.
        most: how often it will, unless time decides.
    """

    action: int
    probabilities: Vector | None = None
    worth: Vector | None = None
    value: float | None = None
    visits: Vector | None = None
    tries: int = 0
    most: int | None = None

    @classmethod
    def of(cls, thought: SearchProgress) -> Hint:
        """What an agent that tries actions out has come to."""
        evaluation = thought.evaluation
        numbers = np.asarray(evaluation.probabilities, np.float64), None, evaluation.value
        return cls(thought.action, *numbers, thought.visits, thought.tries, thought.most)


def hint(
    entry: CatalogueEntry, game: Game, tell: Callable[[Hint], None] = lambda hint: None
) -> Hint:
    """How an agent evaluates the decision that is open in a game, from what the seat to act sees,
    and nothing else.

    Even the agent's chance is made of that view: a hint tells nothing of the game's seed.

    Args:
        entry: the agent.
        game: it goes on.
        tell: told now and then how far an agent is that tries actions out.

    Raises:
        PageError: the game is over.
        AgentError: the agent's answer is none.
    """
    if game.is_over:
        raise PageError("the game is over; there is nothing to decide", 409)
    decisions = as_decisions(game.games, entry.agent)
    if (
        thought := entry.agent.search_with_progress(decisions, lambda so_far: tell(Hint.of(so_far)))
    ) is not None:
        _check_legal(entry, thought.action, decisions)
        return Hint.of(thought)
    evaluation = first_evaluation(entry.agent.evaluate(decisions))
    all_worth = worth_of(entry.agent, decisions) if evaluation is None else None
    action = int(np.asarray(entry.agent.act(decisions))[0])
    _check_legal(entry, action, decisions)
    if evaluation is None:
        return Hint(action, worth=None if all_worth is None else all_worth[0])
    return Hint(action, np.asarray(evaluation.probabilities, np.float64), value=evaluation.value)


def _check_legal(entry: CatalogueEntry, action: int, decisions: Decisions) -> None:
    if not (0 <= action < NUM_ACTIONS and decisions.mask[0, action]):
        raise AgentError(f"agent {entry.name} chose action {action}, which is not legal")


def sure_of_all(told: Hint, game: Game) -> dict[int, float]:
    """How sure an agent is of every legal action, by number: its probability, or the VP that it is
    worse than the best.
    """
    sure = told.probabilities if told.probabilities is not None else told.worth
    return (
        {}
        if sure is None
        else {action: round(float(sure[action]), 4) for action in game.legal_actions}
    )


def as_decisions(games: Games, agent: Agent) -> Decisions:
    """The decisions that are open in all rows of a batch, from what each seat to act sees, and
    nothing else.
    """
    known = view(games.state, games.seat)
    digests = [hashlib.blake2b(np.asarray(one).tobytes(), digest_size=6).digest() for one in known]
    return Decisions(
        mask=games.mask.copy(),
        seat=games.seat.copy(),
        num_players=games.num_players,
        uniform=np.array([int.from_bytes(digest) / 2**48 for digest in digests]),
        observation=games.observe(games.seat) if agent.uses_observation else None,
        view=known if agent.uses_view else None,
    ).as_trusted()


def worth_of(agent: Any, decisions: Decisions) -> Vector | None:
    """VP that each legal action should bring, less those of the best one, of agents that judge them
    so; float64 (k, 103).
    """
    if not callable(getattr(agent, "scores", None)):
        return None
    scores = np.asarray(agent.scores(decisions), np.float64)
    legal = decisions.mask != 0
    best = np.where(legal, scores, -np.inf).max(axis=1, keepdims=True)
    return np.where(legal, scores - best, 0.0)
