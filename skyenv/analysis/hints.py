"""Agents' moves and hints: an agent's choice, its value for each whole choice, and the chance to
win after it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, checked_actions, decide_game, first_evaluation
from skyenv.arena.matches import batch_of
from skyenv.engine.game import Game
from skyenv.analysis import choices
from skyenv.page.catalogue import CatalogueEntry
from skyenv.analysis.choices import Choice, Path, same
from skyenv.page.errors import PageError
from skyenv.page.payloads import Payload
from skyenv.analysis.win_chance import win_chances
from skyenv.page.workers import Report
from skyenv.rules.state import NONE

MAX_HINTED: Final = 6
"""Number of choices in a hint."""


class Hint(NamedTuple):
    """An agent's evaluation of a decision.

    Attributes:
        action: the agent's action.
        kind: the kind of value that it gives for choices: "probability", "vp" or "none".
        choices: the choices that it considers, the best first.
        tries: simulations done and planned (None: limited by time); None: the agent doesn't search.
    """

    action: int
    kind: str
    choices: list[Choice]
    tries: tuple[int, int | None] | None = None


def move(entry: CatalogueEntry, game: Game, report: Report) -> list[int]:
    """Return an agent's next choice in a game: one action, or all actions of a bid. Changes `game`.

    Raises:
        AgentError: the agent returned no valid answer.
    """
    actions: list[int] = []
    while True:
        actions.append(decide_game(game, entry.agent))
        game.play(actions[-1])
        if game.phase != "bid" or int(game.state["laid"]) == NONE:
            return actions


def advise(
    entry: CatalogueEntry, estimator: CatalogueEntry | None, game: Game, report: Report
) -> Payload:
    """Return an agent's hint for the open decision of a game, as a browser receives it.

    Args:
        entry: the agent.
        estimator: the agent that estimates chances to win (:mod:`skyenv.analysis.win_chance`); None:
            no chances are given.
        game: a game that isn't over.
        report: the progress callback of all jobs; not called.

    Returns:
        ``agent`` and ``seat``; ``actions`` and ``text`` of the agent's choice; ``kind`` and
        ``tries`` as in :class:`Hint`; ``best``: its best choices, ``{"actions", "text", "sure",
        "win"}`` each, with the seat's chance to ``win`` after it; ``win``: every seat's chance to
        win now; ``by``: the estimator. Without an estimator ``win`` and ``by`` are null.

    Raises:
        PageError: the game is over.
        AgentError: the agent returned no valid answer.
    """
    if game.seat is None:
        raise PageError("the game is over; there is nothing to decide", 409)
    agent, position, seat = entry.agent, game.batch.state[0], game.seat
    state = choices.imagined(position, seat)
    found = hint(agent, state)
    own = choices.completed(agent, state, [(found.action,)])[0]
    best = _best(found, own, position)
    paths: list[Path] = [(), *(one.actions for one in best)]
    chances: list[Any] = [None] * len(paths)
    if estimator is not None:
        estimates = win_chances(estimator.agent, [(position, seat, path) for path in paths])
        chances = estimates.round(4).tolist()
    return {
        "agent": entry.name,
        "seat": seat,
        "actions": list(own),
        "text": choices.text(position, own),
        "kind": found.kind,
        "tries": found.tries,
        "best": [
            {
                "actions": list(one.actions),
                "text": choices.text(position, one.actions),
                "sure": None if one.sure is None else round(float(one.sure), 4),
                "win": after and after[seat],
            }
            for one, after in zip(best, chances[1:], strict=True)
        ],
        "win": chances[0],
        "by": estimator and estimator.name,
    }


def hint(agent: Agent, state: npt.NDArray[np.void]) -> Hint:
    """Return an agent's evaluation of a determinized position, GAME_DTYPE (1,). It depends only on
    the view of the seat to act, not even on the game's seed.

    Raises:
        AgentError: the agent returned no valid answer.
    """
    decisions = choices.as_decisions(batch_of(state), agent)
    thought = agent.search_with_progress(decisions, lambda so_far: None)
    if thought is not None:
        first, tries = thought.evaluation.probabilities, (thought.tries, thought.most)
        found = choices.probable(agent, state, first, choices.MIN_PROBABILITY_SEARCHED)
        return Hint(thought.action, "probability", found, tries)
    action = int(checked_actions(agent, decisions)[0])
    if (evaluation := first_evaluation(agent.evaluate(decisions))) is not None:
        found = choices.probable(agent, state, evaluation.probabilities, choices.MIN_PROBABILITY)
        return Hint(action, "probability", found)
    worth = choices.worth_of(agent, decisions)
    if worth is None:
        return Hint(action, "none", [])
    return Hint(action, "vp", choices.valued(agent, state, worth[0]))


def _best(found: Hint, own: Path, position: Any) -> list[Choice]:
    """Return the choices of a hint, the best first; the agent's `own` is always included."""
    by_kind = {same(position, one.actions): one for one in found.choices}
    mine = by_kind.pop(same(position, own), Choice(own, None))
    best = [mine, *list(by_kind.values())[: MAX_HINTED - 1]]
    return sorted(best, key=lambda one: -np.inf if one.sure is None else -one.sure)
