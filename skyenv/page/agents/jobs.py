"""Jobs of the page's workers: agents' turns, hints, analyses, play-outs, as browsers receive them.

The last argument of each is the callback for its progress, as :mod:`skyenv.page.workers` calls it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from skyenv.agents import decide_game
from skyenv.analysis import hints
from skyenv.analysis.choices import Path, text
from skyenv.analysis.mistakes import Analysis, Opinion, keys_of, remeasured, worst
from skyenv.analysis.playouts import Key, PlayOuts, SeatResult
from skyenv.analysis.playouts import play_out as played_out
from skyenv.engine.game import Game
from skyenv.page.agents.catalogue import CatalogueEntry
from skyenv.page.library.chart import WIN
from skyenv.page.library.replays import Replay
from skyenv.page.view.payloads import Payload
from skyenv.page.workers import Report
from skyenv.rules.state import NONE
from skyenv.statistics import NORMAL

# Returns a game's mistakes for JSON, by the play-outs that are known then.
Retold = Callable[[PlayOuts], list[Payload]]
# What a job has played out, and after an analysis its mistakes.
Found = tuple[PlayOuts, Retold | None]


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
    entry: CatalogueEntry,
    estimator: CatalogueEntry | None,
    known: PlayOuts,
    games: int,
    game: Game,
    played: Path,
    report: Report,
) -> tuple[Payload, PlayOuts, float]:
    """Return an agent's hint for the open decision of a game.

    Args:
        entry: the agent.
        estimator: the agent that estimates chances to win; None: no chances are given.
        known, games, played: as for :func:`skyenv.analysis.hints.advise`.
        game: a game that isn't over.
        report: not called.

    Returns:
        A payload, the play-outs, and the seconds that it took. The payload: ``agent`` and
        ``seat``; ``actions`` and ``text`` of the agent's choice; ``kind`` and ``tries`` as in
        :class:`~skyenv.analysis.hints.Advice`; ``best``: its best choices,
        ``{"actions", "text", "sure", "win", "error", "games"}`` each, with the seat's chance to
        ``win`` after it, half its 95 % interval, and the number of games played out (0: it is
        estimated); ``win`` and ``games``: every seat's chance to win now; ``by``: the estimator.
        Without an estimator ``win`` and ``by`` are null.

    Raises:
        OptionError: the game is over. AgentError: the agent returned no valid answer.
    """
    began, agent = perf_counter(), None if estimator is None else estimator.agent
    found = hints.advise(entry.agent, game, agent, known, games, played)
    chances: list[Any] = [None] * (1 + len(found.best))
    errors, numbers = [0.0] * len(chances), [0] * len(chances)
    if found.chances is not None:
        chances, numbers = found.chances.shares.round(4).tolist(), found.chances.games
        errors = (NORMAL * found.chances.variances[:, found.seat] ** 0.5).round(4).tolist()
    payload = {
        "agent": entry.name,
        "seat": found.seat,
        "actions": list(found.own),
        "text": text(found.position, found.own),
        "kind": found.kind,
        "tries": found.tries,
        "best": [
            {
                "actions": list(one.actions),
                "text": text(found.position, one.actions),
                "sure": None if one.sure is None else round(float(one.sure), 4),
                "win": after and after[found.seat],
                "error": error,
                "games": number,
            }
            for one, after, error, number in zip(
                found.best, chances[1:], errors[1:], numbers[1:], strict=True
            )
        ],
        "win": chances[0],
        "games": numbers[0],
        "by": estimator and estimator.name,
    }
    return payload, known, perf_counter() - began


def analyse(
    record: str,
    entry: CatalogueEntry,
    estimator: CatalogueEntry,
    known: PlayOuts,
    report: Report,
) -> tuple[PlayOuts, Retold]:
    """Analyse a game, and report the findings so far after each batch; return what it has found.

    Args:
        record: the record of one game.
        entry: the agent whose choices are compared with those played.
        estimator: the agent that estimates chances, and plays out.
        known: the play-outs so far.
        report: called with ``agent`` and ``by``, the estimator; how many decisions are ``done``
            ``of`` all that have a choice; the ``chart`` of the chances, if any is known; and the
            ``mistakes``.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    replay = Replay.of(record)
    analysis = Analysis(replay, entry.agent, estimator.agent, known)

    def tell() -> None:
        marks = [(one.decision.step, one.decision.seat) for one in analysis.mistakes]
        is_begun = bool(analysis.opinions)
        report(
            {
                "agent": entry.name,
                "by": estimator.name,
                "done": len(analysis.opinions),
                "of": len(analysis.decisions),
                "chart": replay.charts(analysis.chances(), WIN, marks) if is_begun else None,
                "mistakes": [one.payload() for one in analysis.mistakes],
            }
        )

    tell()
    for _ in analysis.run():
        tell()
    measured = [(one, keys_of(estimator.agent, one)) for one in analysis.mistakes]
    return known, partial(_mistakes, measured)


def _mistakes(found: Sequence[tuple[Opinion, list[Key]]], known: PlayOuts) -> list[Payload]:
    return [one.payload() for one in worst([remeasured(*each, known) for each in found])]


def play_out(
    entries: Sequence[CatalogueEntry],
    position: np.void,
    number: int,
    seat: int | None,
    known: PlayOuts,
    report: Report,
) -> Found:
    """Have agents play a position out, and report the results so far after each batch; return the
    play-outs alone.

    Args:
        entries: the agents by seat.
        position, number, seat, known: as for :func:`skyenv.analysis.playouts.play_out`.
        report: called with ``agents``; how many games are ``done`` ``of`` all; for each of the
            ``seats`` its ``share`` of the win with the 95 % ``interval``, and mean ``vp`` and
            ``margin`` to the best other seat.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    names = [entry.name for entry in entries]
    agents = [entry.agent for entry in entries]
    for done, found in played_out(agents, position, number, seat, known):
        seats = [_seat_result(one) for one in found]
        report({"agents": names, "done": done, "of": max(done, number), "seats": seats})
    return known, None


def _seat_result(found: SeatResult) -> Payload:
    return {
        "share": round(found.share.mean, 4),
        "interval": [round(found.share.low, 4), round(found.share.high, 4)],
        "vp": round(found.vp, 1),
        "margin": round(found.margin, 1),
    }
