"""Hints: an agent's choice, its value for each whole choice, and the chance to win after it."""

from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.agents import Agent, checked_actions, first_evaluation
from skyenv.analysis import choices
from skyenv.analysis.choices import Choice, Path, same
from skyenv.analysis.playouts import PlayOuts
from skyenv.analysis.win_chance import WinChances, question_of, win_chances
from skyenv.array_types import RecordArray
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.errors import OptionError

# Number of choices in a hint.
MAX_HINTED: Final = 6


Tries = tuple[int, int | None] | None


class Advice(NamedTuple):
    """An agent's hint, with chances to win.

    Attributes:
        position: the position, GAME_DTYPE.
        seat: the seat to act.
        own: the agent's whole choice.
        kind: the kind of value that it gives for choices: "probability", "vp" or "none".
        tries: simulations done and planned (None: limited by time); None: the agent doesn't search.
        best: the agent's best choices, the best first; its own is among them,
            and the one that was made.
        chances: every seat's chance to win now, and behind each of the best choices; None without
            an estimator.
    """

    position: Any
    seat: int
    own: Path
    kind: str
    tries: Tries
    best: list[Choice]
    chances: WinChances | None


def advise(
    agent: Agent,
    game: Game,
    estimator: Agent | None = None,
    known: PlayOuts | None = None,
    games: int = 0,
    played: Path = (),
) -> Advice:
    """Return an agent's hint for the open decision of a game, from what the seat to act knows.

    Args:
        agent: the agent.
        game: a game that isn't over.
        estimator: the agent that estimates chances to win (:mod:`skyenv.analysis.win_chance`);
            None: no chances are given.
        known: results of play-outs, which replace estimates.
        games: number of games to play out, if fewer are known, now and behind each choice.
        played: the whole choice that was made, which is listed, too; empty: none.

    Raises:
        OptionError: the game is over.
        AgentError: the agent returned no valid answer.
    """
    if game.seat is None:
        raise OptionError("the game is over; there is nothing to decide")
    position, seat = game.batch.state[0], game.seat
    state = choices.imagined(position, seat)
    action, kind, found, tries = _considered(agent, state)
    own = choices.completed(agent, state, [(action,)])[0]
    best = _best(found, own, played, position)
    chances: WinChances | None = None
    if estimator is not None:
        paths: list[Path] = [(), *(one.actions for one in best)]
        queries = [(position, seat, path) for path in paths]
        play_outs = PlayOuts() if known is None else known
        for query in queries:
            play_outs.ensure(question_of(estimator, query), games)
        chances = win_chances(estimator, queries, play_outs)
    return Advice(position, seat, own, kind, tries, best, chances)


def _considered(agent: Agent, state: RecordArray) -> tuple[int, str, list[Choice], Tries]:
    """Return an agent's action in a determinized position, GAME_DTYPE (1,), the kind of its values,
    the choices that it considers, the best first, and its simulations. They depend only on the view
    of the seat to act, not even on the game's seed.

    Raises:
        AgentError: the agent returned no valid answer.
    """
    decisions = choices.as_decisions(Games.of(state), agent)
    thought = agent.search_with_progress(decisions, lambda so_far: None)
    if thought is not None:
        first, tries = thought.evaluation.probabilities, (thought.tries, thought.most)
        found = choices.probable(agent, state, first, choices.MIN_PROBABILITY_SEARCHED)
        return thought.action, "probability", found, tries
    action = int(checked_actions(agent, decisions)[0])
    if (evaluation := first_evaluation(agent.evaluate(decisions))) is not None:
        found = choices.probable(agent, state, evaluation.probabilities, choices.MIN_PROBABILITY)
        return action, "probability", found, None
    worth = choices.worth_of(agent, decisions)
    if worth is None:
        return action, "none", [], None
    return action, "vp", choices.valued(agent, state, worth[0]), None


def _best(found: list[Choice], own: Path, played: Path, position: Any) -> list[Choice]:
    """Return the best of some choices, the best first; the agent's `own` and the one `played` are
    always included.
    """
    by_kind = {same(position, one.actions): one for one in found}
    listed = {same(position, path): path for path in (played, own) if path}
    best = [
        Choice(path, by_kind.pop(kind, Choice(path, None)).sure) for kind, path in listed.items()
    ]
    best += list(by_kind.values())[: MAX_HINTED - len(best)]
    return sorted(best, key=lambda one: -np.inf if one.sure is None else -one.sure)
