"""Jobs of the page's workers: agents' turns, hints, analyses, play-outs, as browsers receive them.

The last argument of each is the callback for its progress, as :mod:`skyenv.page.workers` calls it.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.agents import decide_game
from skyenv.analysis import hints
from skyenv.analysis.choices import Path, same, text
from skyenv.analysis.hints import Advice
from skyenv.analysis.mistakes import Analysis
from skyenv.analysis.playouts import AT_ONCE, PlayOuts
from skyenv.analysis.playouts import play_out as played_out
from skyenv.engine.game import Game
from skyenv.page.agents.catalogue import CatalogueEntry
from skyenv.page.library.chart import WIN
from skyenv.page.library.replays import Replay
from skyenv.page.strengths import called
from skyenv.page.view.payloads import Payload
from skyenv.page.workers import Report
from skyenv.rules.state import NONE
from skyenv.statistics import Estimate, share_of_wins

# Most games by which a hint's chances to win are refined unasked.
MOST_REFINED: Final = 400
# What the numbers of a hint are, by their kind.
KINDS: Final = {
    "probability": "the probability of each choice",
    "vp": "expected VP, relative to the best choice",
    "none": "✓ is its choice",
}
WINS: Final = (
    "≈ estimated, else played out, with the 95 % interval; gray while it is unclear which is best"
)


class Question(NamedTuple):
    """What an agent is asked in a hint.

    Attributes:
        game: a game that isn't over.
        names: the players' names by seat.
        games: number of games to play out (:func:`skyenv.analysis.hints.chances`).
        listed: choices to list beside the agent's, first the one that was made, or an empty one.
    """

    game: Game
    names: Sequence[str]
    games: int = 0
    listed: tuple[Path, ...] = ()


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
    question: Question,
    advice: Advice | None,
    report: Report,
) -> tuple[Payload, PlayOuts, Advice, float]:
    """Return an agent's hint for the open decision of a game.

    Args:
        entry: the agent.
        estimator: the agent that estimates chances to win; None: no chances are given.
        known: the play-outs so far.
        question: what is asked.
        advice: the agent's answer, if it has been asked before; only chances are refined then.
        report: not called.

    Returns:
        A payload, the play-outs, the answer, and the seconds that it took. The payload: ``agent``
        and ``seat``; ``actions`` and ``text`` of the agent's choice; ``kind`` and ``tries`` as in
        :class:`~skyenv.analysis.hints.Advice`; ``best``: its best choices, ``{"actions", "text",
        "sure", "played", "unclear", "win", "interval", "games"}`` each: whether it was ``played``;
        whether it is ``unclear`` that another is better for winning; the seat's chance to ``win``
        after it, the number of games played out (0: it is estimated), and their 95 % interval;
        ``win`` and ``games``: every seat's chance to win now, as text, that behind the choice with
        most wins; null without an estimator; ``more``: the number of games that would refine what
        is unclear, or 0; ``notes``: what the numbers are, in sentences.

    Raises:
        OptionError: the game is over. AgentError: the agent returned no valid answer.
    """
    began = perf_counter()
    found = advice or hints.advise(entry.agent, question.game, listed=question.listed)
    chances: list[Any] = [None] * (1 + len(found.best))
    numbers = [0] * len(chances)
    unclear: list[int] = []
    if estimator is not None:
        told = hints.chances(found, estimator.agent, known, question.games)
        chances, numbers = told.shares.round(4).tolist(), told.games
        unclear = hints.unclear_rows(found, estimator.agent, known)
    played = [same(found.position, path) for path in question.listed[:1] if path]
    is_refined = len(unclear) > 1 and question.games < MOST_REFINED
    payload = {
        "agent": entry.name,
        "seat": found.seat,
        "actions": list(found.own),
        "text": text(found.position, found.own, question.names),
        "kind": found.kind,
        "tries": found.tries,
        "best": [
            {
                "actions": list(one.actions),
                "text": text(found.position, one.actions, question.names),
                "sure": None if one.sure is None else round(float(one.sure), 4),
                "played": same(found.position, one.actions) in played,
                "unclear": len(unclear) > 1 and row in unclear,
                "win": chances[1 + row] and chances[1 + row][found.seat],
                "interval": _interval(share_of_wins(chances[1 + row][found.seat], numbers[1 + row]))
                if numbers[1 + row]
                else None,
                "games": numbers[1 + row],
            }
            for row, one in enumerate(found.best)
        ],
        "win": chances[0] and WIN.texts(chances[0]),
        "games": numbers[0],
        "notes": _notes(entry, found, estimator),
        "more": question.games + AT_ONCE if is_refined else 0,
    }
    return payload, known, found, perf_counter() - began


def _interval(estimate: Estimate) -> list[float]:
    return [round(estimate.low, 4), round(estimate.high, 4)]


def _notes(entry: CatalogueEntry, found: Advice, estimator: CatalogueEntry | None) -> list[str]:
    notes = [f"{called(entry.name)}: {KINDS[found.kind]}."]
    if found.tries is not None:
        done, most = found.tries
        of = f" of {most}" if most is not None and most > done else ""
        notes.append(f"{called(entry.name)} decided after {done}{of} simulations.")
    if estimator is not None:
        notes.append(f"Wins, by {called(estimator.name)}: {WINS}.")
    return notes


def analyse(
    record: str,
    entry: CatalogueEntry,
    estimator: CatalogueEntry,
    known: PlayOuts,
    report: Report,
) -> PlayOuts:
    """Analyse a game, and report the findings so far after each batch; return the play-outs.

    Args:
        record: the record of one game.
        entry: the agent whose choices are compared with those played.
        estimator: the agent that estimates chances, and plays out.
        known: the play-outs so far.
        report: called with ``agent`` and ``by``, the estimator; what it is ``doing``, and how many
            choices are ``done`` ``of`` all; the ``chart`` of the chances, if any is known; and the
            ``mistakes``.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    replay = Replay.of(record)
    analysis = Analysis(replay, entry.agent, estimator.agent, known)

    def tell() -> None:
        marks = [(one.decision.step, one.decision.seat) for one in analysis.mistakes]
        is_begun = bool(analysis.opinions)
        doing, done, number = analysis.stage
        report(
            {
                "agent": entry.name,
                "by": estimator.name,
                "doing": doing,
                "done": done,
                "of": number,
                "chart": replay.charts(analysis.chances(), WIN, marks) if is_begun else None,
                "mistakes": [one.payload(replay.names) for one in analysis.mistakes],
            }
        )

    tell()
    for _ in analysis.run():
        tell()
    return known


def play_out(
    entries: Sequence[CatalogueEntry],
    position: np.void,
    number: int,
    seat: int | None,
    known: PlayOuts,
    report: Report,
) -> PlayOuts:
    """Have agents play a position out, and report the results so far after each batch; return the
    play-outs.

    Args:
        entries: the agents by seat.
        position, number, seat, known: as for :func:`skyenv.analysis.playouts.play_out`.
        report: called with ``agents``; how many games are ``done`` ``of`` all; for each of the
            ``seats`` its ``share`` of the win, as text, with the 95 % ``interval``, and mean ``vp``
            and ``margin`` to the best other seat.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    names = [entry.name for entry in entries]
    agents = [entry.agent for entry in entries]
    for done, found in played_out(agents, position, number, seat, known):
        shares = WIN.texts([one.share.mean for one in found])
        seats = [
            {
                "share": share,
                "interval": _interval(one.share),
                "vp": round(one.vp, 1),
                "margin": round(one.margin, 1),
            }
            for one, share in zip(found, shares, strict=True)
        ]
        report({"agents": names, "done": done, "of": max(done, number), "seats": seats})
    return known
