"""Hints: an agent's choice, its value for each whole choice, and the chance to win after it."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.agents import Agent, checked_actions, first_evaluation
from skyenv.analysis import choices
from skyenv.analysis.choices import Choice, Path, same
from skyenv.analysis.playouts import PlayOuts, paired
from skyenv.analysis.win_chance import WinChances, question_of, win_chances
from skyenv.array_types import RecordArray
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.errors import OptionError

# Number of choices in a hint.
MAX_HINTED: Final = 6
# Simulations below which a search's shares are no probabilities.
MIN_TRIES: Final = 32
# Games played out behind each choice before any is clear.
GAMES: Final = 100

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
            and those that are to be listed.
        chances: every seat's chance to win now, which is that behind the choice with most wins, and
            behind each of the best choices; None without an estimator.
    """

    position: Any
    seat: int
    own: Path
    kind: str
    tries: Tries
    best: list[Choice]
    chances: WinChances | None = None


def advise(
    agent: Agent,
    game: Game,
    estimator: Agent | None = None,
    known: PlayOuts | None = None,
    games: int = 0,
    listed: Sequence[Path] = (),
) -> Advice:
    """Return an agent's hint for the open decision of a game, from what the seat to act knows.

    Args:
        agent: the agent.
        game: a game that isn't over.
        estimator: the agent that estimates chances to win (:mod:`skyenv.analysis.win_chance`);
            None: no chances are given.
        games, known: as for :func:`chances`.
        listed: more whole choices to list, such as the one that was made.

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
    best = _best(found, own, listed, position)
    if kind == "probability" and tries and tries[0] < MIN_TRIES:
        kind, best = "none", [Choice(one.actions, None) for one in best]
    advice = Advice(position, seat, own, kind, tries, best)
    if estimator is None:
        return advice
    return advice._replace(chances=chances(advice, estimator, known or PlayOuts(), games))


def chances(advice: Advice, estimator: Agent, known: PlayOuts, games: int) -> WinChances:
    """Return every seat's chance to win now, and behind each of a hint's best choices; now it is
    that behind the one with which the seat to act wins most.

    Args:
        advice: the hint.
        estimator: the agent that estimates chances to win (:mod:`skyenv.analysis.win_chance`).
        known: results of play-outs, which replace estimates, and are extended.
        games: number of games to play out, if fewer are known, behind each choice; not behind those
            that are clearly worse than the best one.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    queries = [(advice.position, advice.seat, one.actions) for one in advice.best]
    for row in unclear_rows(advice, estimator, known):
        known.ensure(question_of(estimator, queries[row]), games)
    shares, variances, number = win_chances(estimator, queries, known)
    rows = [int(shares[:, advice.seat].argmax()), *range(len(queries))]
    return WinChances(shares[rows], variances[rows], [number[row] for row in rows])


def unclear_rows(advice: Advice, estimator: Agent, known: PlayOuts) -> list[int]:
    """Return which of the best choices may be best for winning: of the others, GAMES games or more
    tell that the choice with most wins wins more often, by the 95 % interval of pairs of games with
    one seed. A single one is the best.
    """
    ways = [(advice.position, advice.seat, one.actions) for one in advice.best]
    tallies = [known.tally(question_of(estimator, way)) for way in ways]
    won = [one.won[:, advice.seat] for one in tallies if one is not None and one.games >= GAMES]
    if len(won) < len(ways):
        return [*range(len(ways))]
    leader = max(won, key=lambda each: float(each.mean()))
    lost = [paired(leader, each) for each in won]
    return [row for row, (mean, error, _) in enumerate(lost) if mean <= error]


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


def _best(found: list[Choice], own: Path, listed: Sequence[Path], position: Any) -> list[Choice]:
    """Return the best of some choices, the best first; the agent's `own` and those `listed` are
    always included.
    """
    by_kind = {same(position, one.actions): one for one in found}
    named = {same(position, path): path for path in (*listed, own) if path}
    best = [
        Choice(path, by_kind.pop(kind, Choice(path, None)).sure) for kind, path in named.items()
    ]
    best += list(by_kind.values())[: MAX_HINTED - len(best)]
    return sorted(best, key=lambda one: -np.inf if one.sure is None else -one.sure)
