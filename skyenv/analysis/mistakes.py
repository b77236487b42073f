"""The analysis of a game: each seat's chance to win at each decision, and the mistakes by cost.

Chances come from the page's estimator (:mod:`skyenv.analysis.win_chance`), given what the seat to act
can know. The cost of a choice is the seat's chance to win after the agent's choice less that after
its own. Where the estimates don't settle which is better, both are played out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.engine.games import Games
from skyenv.engine.results import results
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.chart import WIN, Rows
from skyenv.analysis.choices import Path, completed, imagined, same, text
from skyenv.page.payloads import Payload
from skyenv.analysis.playouts import SURE, shares_of
from skyenv.page.replays import Replay
from skyenv.analysis.win_chance import POWER, WORLDS, Query, in_worlds, sharpened
from skyenv.page.workers import Report

MAX_MISTAKES: Final = 12
GAMES: Final = 100
"""Games played out for each of two choices that the estimates can't tell apart."""
BUNCH: Final = 4
"""Decisions evaluated, and reported, together."""


class Decision(NamedTuple):
    """A decision with more than one legal choice.

    Attributes:
        step: actions played before it.
        position: GAME_DTYPE.
        played: the whole choice that was made; empty if none has been made yet.
    """

    step: int
    position: Any
    played: Path


class Opinion(NamedTuple):
    """The evaluation of one decision.

    Attributes:
        decision: the decision.
        best: the agent's choice.
        chances: every seat's chance to win before it.
        cost: the seat's chance after the agent's choice less that after the one played; None if
            they are the same, or nothing has been played.
        error: half the width of the cost's 95 % interval.
        games: number of games played out for each of the two; 0: the cost is estimated.
    """

    decision: Decision
    best: Path
    chances: list[float]
    cost: float | None = None
    error: float = 0.0
    games: int = 0


def analyse(record: str, entry: CatalogueEntry, estimator: CatalogueEntry, report: Report) -> None:
    """Analyse a game, and report the findings so far after each batch.

    Args:
        record: the record of one game.
        entry: the agent whose choices are compared with those played.
        estimator: the agent that estimates chances, and plays out.
        report: called with ``agent`` and ``by``, the estimator; how many decisions are ``done``
            ``of`` all that have a choice; the ``chart`` of the chances, if any is known; and the
            ``mistakes``.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    replay = Replay.of(record.encode(), 1)
    decisions = decisions_of(replay)
    opinions: dict[int, Opinion] = {}

    def tell() -> None:
        mistakes = worst(list(opinions.values()))
        marks = [(one.decision.step, int(one.decision.position["seat"])) for one in mistakes]
        rows = rows_of(replay, opinions)
        report(
            {
                "agent": entry.name,
                "by": estimator.name,
                "done": len(opinions),
                "of": len(decisions),
                "chart": replay.charts(rows, WIN, marks) if opinions else None,
                "mistakes": [_mistake(one) for one in mistakes],
            }
        )

    tell()
    for bunch in assess(entry, estimator, decisions):
        opinions |= {opinion.decision.step: opinion for opinion in bunch}
        tell()


def decisions_of(replay: Replay) -> list[Decision]:
    """Return the decisions of a game with more than one legal choice."""
    legal = Games.of(replay.states).mask.sum(axis=1)
    return [
        Decision(step, replay.states[step], path)
        for step, path in replay.choices()
        if legal[step] > 1
    ]


def assess(
    entry: CatalogueEntry, estimator: CatalogueEntry, decisions: Sequence[Decision]
) -> Iterator[list[Opinion]]:
    """Evaluate the decisions of a game in batches; those that are played out come once more.

    Args:
        entry, estimator: as for :func:`analyse`.
        decisions: the decisions, in the order of evaluation.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    found: list[Opinion] = []
    for first in range(0, len(decisions), BUNCH):
        opinions = _opinions(entry, estimator, decisions[first : first + BUNCH])
        yield opinions
        found += opinions
    for opinion in worst(found):
        if opinion.error >= (opinion.cost or 0.0):
            yield [_played_out(estimator, opinion)]


def worst(opinions: Sequence[Opinion]) -> list[Opinion]:
    """Return the choices that have a cost, the largest first."""
    dear = [opinion for opinion in opinions if (opinion.cost or 0.0) > 0]
    return sorted(dear, key=lambda one: (-(one.cost or 0.0), one.decision.step))[:MAX_MISTAKES]


def _opinions(
    entry: CatalogueEntry, estimator: CatalogueEntry, decisions: Sequence[Decision]
) -> list[Opinion]:
    seats = [int(decision.position["seat"]) for decision in decisions]
    states = [imagined(one.position, seat) for one, seat in zip(decisions, seats, strict=True)]
    own = completed(entry.agent, np.concatenate(states), [()] * len(states))
    queries: list[Query] = []
    for decision, seat, best in zip(decisions, seats, own, strict=True):
        queries += [(decision.position, seat, path) for path in _paths(decision, best)]
    worlds = iter(in_worlds(estimator.agent, queries))
    opinions = []
    for decision, seat, best in zip(decisions, seats, own, strict=True):
        estimates = np.stack([next(worlds) for _ in _paths(decision, best)])
        chances = sharpened(estimates.mean(axis=1))
        opinion = Opinion(decision, best, chances[0].round(4).tolist())
        if len(estimates) > 1:
            shares = estimates[1:, :, seat] / estimates[1:].sum(axis=2)
            error = SURE * POWER * (shares[0] - shares[1]).std() / np.sqrt(WORLDS)
            cost = float(chances[1, seat] - chances[2, seat])
            opinion = opinion._replace(cost=cost, error=float(error))
        opinions.append(opinion)
    return opinions


def _paths(decision: Decision, best: Path) -> list[Path]:
    """Return the paths to estimate: the empty one, the agent's, and the one played if different."""
    position, played = decision.position, decision.played
    if not played or same(position, played) == same(position, best):
        return [()]
    return [(), best, played]


def _played_out(estimator: CatalogueEntry, opinion: Opinion) -> Opinion:
    """Return the opinion with its cost measured by games on paired seeds."""
    decision = opinion.decision
    seat = int(decision.position["seat"])
    entries = [estimator] * int(decision.position["num_players"])
    best, played = (
        shares_of(entries, decision.position, range(GAMES), seat, path)[0][:, seat]
        for path in (opinion.best, decision.played)
    )
    error = SURE * (best - played).std() / np.sqrt(GAMES)
    return opinion._replace(cost=float((best - played).mean()), error=float(error), games=GAMES)


def rows_of(replay: Replay, opinions: Mapping[int, Opinion]) -> Rows:
    """Return ``[step][seat]``: the chance to win at the latest decision; at the end, the outcome.

    Args:
        replay: the game.
        opinions: the evaluations by step.
    """
    rows: list[list[float | None]] = []
    now: list[float | None] = [None] * replay.players
    for step in range(replay.steps + 1):
        now = list(opinions[step].chances) if step in opinions else now
        rows.append(now)
    if replay.game.is_over:
        rows[-1] = results(replay.states[-1:])[0][0, : replay.players].tolist()
    return rows


def _mistake(opinion: Opinion) -> Payload:
    step, position, played = opinion.decision
    return {
        "step": step,
        "seat": int(position["seat"]),
        "played": text(position, played),
        "best": text(position, opinion.best),
        "actions": list(opinion.best),
        "cost": round(opinion.cost or 0.0, 4),
        "error": round(opinion.error, 4),
        "games": opinion.games,
    }
