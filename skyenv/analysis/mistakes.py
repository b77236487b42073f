"""The analysis of a recorded game: chances to win at each decision, and the mistakes by cost.

Chances come from the estimator (:mod:`skyenv.analysis.win_chance`), given what the seat to act can
know. The cost of a choice is the seat's chance to win after the agent's choice less that after its
own. The highest estimated costs are measured by play-outs, whose games share seeds in pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.agents import Agent
from skyenv.analysis.choices import Path, completed, imagined, same, text
from skyenv.analysis.playouts import AT_ONCE, PlayOuts, Question, paired
from skyenv.analysis.recording import Recording
from skyenv.analysis.win_chance import POWER, WORLDS, in_worlds, question_of, sharpened
from skyenv.array_types import Float64
from skyenv.engine.games import Games
from skyenv.engine.results import results
from skyenv.render import words
from skyenv.render.table import visible_table
from skyenv.rules.state import PHASE_BID

MAX_MISTAKES: Final = 12
# Games played out for each of two choices; of the MOST_DOUBTED dearest, up to MOST_GAMES until the
# cost's sign is clear. The number doubles each time, as frequent tests find signs by chance.
GAMES: Final = 100
MOST_GAMES: Final = 800
MOST_DOUBTED: Final = 3
# Chance to win: a cost is not listed if both it and half its interval are lower.
NEGLIGIBLE: Final = 0.005
# Decisions evaluated together.
BUNCH: Final = 4
# Standard errors on each side of a mean over WORLDS pairs, by Student's t.
STUDENTS_T: Final = 2.0686575


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

    @property
    def seat(self) -> int:
        """The seat to act."""
        return int(self.position["seat"])


class Opinion(NamedTuple):
    """The evaluation of one decision.

    Attributes:
        decision: the decision.
        best: the agent's choice.
        chances: every seat's chance to win before it: after the better one of the two choices.
        cost: the seat's chance after the agent's choice less that after the one played; None if
            they are the same, or nothing has been played.
        error: half the width of the cost's 95 % interval, without the estimator's own error.
        games: number of games played out for each of the two; 0: the cost is estimated.
    """

    decision: Decision
    best: Path
    chances: list[float]
    cost: float | None = None
    error: float = 0.0
    games: int = 0

    @property
    def lowest(self) -> float:
        """The lower bound of the cost's interval."""
        return (self.cost or 0.0) - self.error

    @property
    def is_clear(self) -> bool:
        """Whether the cost is played out, and its interval excludes 0."""
        return self.games > 0 and self.lowest > 0

    @property
    def highest(self) -> float:
        """The upper bound of the cost's interval."""
        return (self.cost or 0.0) + self.error

    def payload(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the mistake for JSON: ``step`` and ``seat``; ``when``: turn and place of the
        auction; ``played`` and ``best`` in words, with the players' `names`; ``actions``, those of
        the best choice; ``cost``, ``error``, ``games`` and the 95 % ``interval``, None for
        estimates; ``clear``: :attr:`is_clear`.
        """
        step, position, played = self.decision
        when = words.capital(words.progress(visible_table(position))[0])
        if position["phase"] == PHASE_BID:
            when += f", {words.auctioned(int(position['auction_place']))}"
        return {
            "step": step,
            "seat": self.decision.seat,
            "when": when,
            "played": text(position, played, names),
            "best": text(position, self.best, names),
            "actions": list(self.best),
            "cost": round(self.cost or 0.0, 4),
            "error": round(self.error, 4),
            "games": self.games,
            "interval": [round(self.lowest, 4), round(self.highest, 4)] if self.games else None,
            "clear": self.is_clear,
        }


class Analysis:
    """The analysis of a game, a batch of decisions at a time: iterate over :meth:`run`.

    Args:
        recording: the game; not a bidding task, as chances are those to win a whole game.
        agent: the agent whose choices are compared with those played.
        estimator: the agent that estimates chances, and plays out.
        known: results of play-outs, which count and are extended.

    Attributes:
        decisions: the decisions with more than one legal choice, in order.
        opinions: their evaluations so far, by step.
        stage: what is being done ("": estimates), how many choices are done, and of how many.
    """

    def __init__(
        self,
        recording: Recording,
        agent: Agent,
        estimator: Agent,
        known: PlayOuts | None = None,
    ) -> None:
        self.recording, self.agent, self.estimator = recording, agent, estimator
        self.play_outs = PlayOuts() if known is None else known
        legal = Games.of(recording.states).mask.sum(axis=1)
        self.decisions = [
            Decision(step, recording.states[step], path)
            for step, path in recording.choices()
            if legal[step] > 1
        ]
        self.opinions: dict[int, Opinion] = {}
        self.stage = "", 0, len(self.decisions)

    def run(self) -> Iterator[int]:
        """Evaluate the decisions; yield after each batch how many are evaluated.

        Raises:
            AgentError: an agent returned no valid answer.
        """
        for bunch, stage in assess(self.agent, self.estimator, self.decisions, self.play_outs):
            self.stage = stage
            self.opinions |= {opinion.decision.step: opinion for opinion in bunch}
            yield len(self.opinions)

    @property
    def mistakes(self) -> list[Opinion]:
        """The choices with a cost that isn't negligible, at most MAX_MISTAKES: first the clear
        ones, by the lower bounds of their costs, then the others, by their costs.
        """
        return worst(list(self.opinions.values()))

    def chances(self) -> list[list[float | None]]:
        """Return each seat's chance to win, 0 to 1, ``[step][seat]``: at the latest decision so
        far; at the game's end its outcome.
        """
        now: list[float | None] = [None] * self.recording.players
        rows: list[list[float | None]] = []
        for step in range(self.recording.steps + 1):
            now = list(self.opinions[step].chances) if step in self.opinions else now
            rows.append(now)
        if self.recording.game.is_over:
            last = results(self.recording.states[-1:])[0]
            rows[-1] = last[0, : self.recording.players].tolist()
        return rows


def assess(
    agent: Agent,
    estimator: Agent,
    decisions: Sequence[Decision],
    known: PlayOuts,
) -> Iterator[tuple[list[Opinion], tuple[str, int, int]]]:
    """Evaluate the decisions of a game in batches; those that are played out come again.

    The choices with the highest estimated costs are played out, those whose cost may be the highest
    first, until each has GAMES games or isn't a mistake; then the dearest ones, up to MOST_GAMES.

    Args:
        agent, estimator, known: as for :class:`Analysis`.
        decisions: the decisions, in the order of evaluation.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    found: dict[int, Opinion] = {}
    for first in range(0, len(decisions), BUNCH):
        opinions = _opinions(agent, estimator, decisions[first : first + BUNCH])
        opinions = [remeasured(one, estimator, known) for one in opinions]
        found |= {one.decision.step: one for one in opinions}
        yield opinions, ("", len(found), len(decisions))
    for what, most, number in (
        ("dearest", GAMES, MAX_MISTAKES),
        ("unclear", MOST_GAMES, MOST_DOUBTED),
    ):
        dearest = sorted(found.values(), key=lambda one: -(one.cost or 0.0))[:MAX_MISTAKES]
        steps = [
            one.decision.step for one in dearest if (one.cost or 0) > 0 and _is_doubted(one, most)
        ][:number]
        while doubted := [found[step] for step in steps if _is_doubted(found[step], most)]:
            opinion = max(doubted, key=lambda one: one.highest)
            games = opinion.games + (AT_ONCE if opinion.games < GAMES else opinion.games)
            for question in _questions(opinion, estimator):
                known.ensure(question, min(games, most))
            found[opinion.decision.step] = measured = remeasured(opinion, estimator, known)
            spent = sum(
                one.games if _is_doubted(one, most) else most
                for one in map(found.__getitem__, steps)
            )
            yield [measured], (f"playing out the {what}: ", spent // most, len(steps))


def _is_doubted(opinion: Opinion, most: int) -> bool:
    """Return whether up to `most` more games may tell whether the choice was a mistake."""
    is_told = opinion.games >= GAMES and opinion.is_clear
    return opinion.games < most and opinion.highest > 0 and not is_told


def worst(opinions: Sequence[Opinion]) -> list[Opinion]:
    """Return the choices that :attr:`Analysis.mistakes` lists, in its order."""

    def rank(one: Opinion) -> tuple[bool, float, int]:
        size = one.lowest if one.is_clear else one.cost or 0.0
        return not one.is_clear, -size, one.decision.step

    dear = [
        one
        for one in opinions
        if (one.cost or 0.0) > 0 and max(one.cost or 0.0, one.error) >= NEGLIGIBLE
    ]
    return sorted(dear, key=rank)[:MAX_MISTAKES]


def _opinions(agent: Agent, estimator: Agent, decisions: Sequence[Decision]) -> list[Opinion]:
    states = [imagined(one.position, one.seat) for one in decisions]
    own = completed(agent, np.concatenate(states), [()] * len(states))
    asked = [(one, best, _paths(one, best)) for one, best in zip(decisions, own, strict=True)]
    queries = [(one.position, one.seat, path) for one, _, paths in asked for path in paths]
    worlds = iter(in_worlds(estimator, queries))
    opinions = []
    for decision, best, paths in asked:
        estimates = np.stack([next(worlds) for _ in paths])
        chances = sharpened(estimates.mean(axis=1))
        now = max(chances.round(4).tolist(), key=lambda row: row[decision.seat])
        opinion = Opinion(decision, best, now)
        if len(estimates) > 1:
            shares = estimates[:, :, decision.seat] / estimates.sum(axis=2)
            cost = float(chances[0, decision.seat] - chances[1, decision.seat])
            opinion = opinion._replace(cost=cost, error=POWER * paired_error(*shares))
        opinions.append(opinion)
    return opinions


def _paths(decision: Decision, best: Path) -> list[Path]:
    """Return the paths to estimate: the agent's and the one played, or the empty one where these
    are the same.
    """
    position, played = decision.position, decision.played
    if not played or same(position, played) == same(position, best):
        return [()]
    return [best, played]


def paired_error(first: Float64, second: Float64) -> float:
    """Return half the width of the 95 % interval of a mean difference between pairs of shares,
    float64 (WORLDS,) each.
    """
    return STUDENTS_T * float(np.std(first - second, ddof=1)) / WORLDS**0.5


def _questions(opinion: Opinion, estimator: Agent) -> list[Question]:
    """Return what to play out: :func:`_paths` from the decision, given what its seat knows."""
    position, seat = opinion.decision.position, opinion.decision.seat
    paths = _paths(opinion.decision, opinion.best)
    return [question_of(estimator, (position, seat, path)) for path in paths]


def remeasured(opinion: Opinion, estimator: Agent, known: PlayOuts) -> Opinion:
    """Return the opinion with the chances and the cost by play-outs, as far as they are known; the
    cost from pairs of games with one seed.
    """
    seat = opinion.decision.seat
    tallies = [known.tally(question) for question in _questions(opinion, estimator)]
    told = [tally for tally in tallies if tally is not None]
    if len(told) < 2:
        return opinion
    cost, error, games = paired(*(tally.won[:, seat] for tally in told))
    now = max((tally.shares.round(4).tolist() for tally in told), key=lambda row: row[seat])
    return opinion._replace(chances=now, cost=cost, error=error, games=games)


def retold(
    recording: Recording,
    mistakes: Sequence[Mapping[str, Any]],
    estimator: Agent,
    known: PlayOuts,
) -> list[Opinion]:
    """Return a game's mistakes, payloads of :meth:`Opinion.payload`, by the play-outs known now."""
    played = dict(recording.choices())
    found = [
        Opinion(
            Decision(one["step"], recording.states[one["step"]], played[one["step"]]),
            tuple(one["actions"]),
            chances=[],
            cost=one["cost"],
            error=one["error"],
            games=one["games"],
        )
        for one in mistakes
    ]
    return worst([remeasured(one, estimator, known) for one in found])
