"""The game in figures (docs/game.md): seats, length, choices, ends, hidden hands, luck."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from experiments.figures import Figure, Scale, figure
from skyenv.agents import Agent, Decisions, ReportingAgent, make_agent
from skyenv.arena.estimates import Estimate, Floats, Weights, estimates
from skyenv.arena.matches import play_games
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.rules.components import SIDES
from skyenv.rules.state import END_BUSINESSES, END_STOPS, END_TRUNCATED
from skyenv_agents import TrainedAgent

AGENTS: Final = ("greedy", "trained")
FIELD: Final = ("greedy", "appraiser", "builder", "bidder", "trained")
REPEATS: Final = 4
EVERY: Final = 16
"""One of so many decisions is looked at for its information set."""
SECRET: Final = 1
ENDS: Final = {"BUS-5": END_BUSINESSES, "STOP-6": END_STOPS, "END-5": END_TRUNCATED}


def game(scale: Scale) -> Iterator[Figure]:
    """Mirror games, in which one agent has all seats, in 1,000 deals: wins by seat; turns and
    decisions (mean, and 90 % of the games); legal actions of a decision; ends; the tree (the sum of
    log₁₀ of the legal actions of a game, its mean); the others' hands (log₁₀ of how many they can
    hold, as far as the seat to act can tell: median, and 95 % of decisions); VP. "Deal": the share
    of the variance of a seat's wins that lies between deals, each played four times by the trained
    agent. "Skill" and "luck": two players, five agents in the same deals, the variance of seat 0's
    wins between pairs of agents, and between deals. Intervals are 95 %, by the bootstrap over
    deals.
    """
    deals, fewer = 1 + scale.of(1000), 1 + scale.of(250)
    for players, side in itertools.product((2, 3, 4)[: scale.of(3)], SIDES):
        for name in AGENTS:
            yield from mirror(name, players, side, deals)
        label = f"trained, {players} players, {side}"
        yield percent(f"{label}: deal", between_deals(players, side, fewer))
    for side in SIDES:
        for name, part in zip(("skill", "luck"), skill_and_luck(side, fewer), strict=True):
            yield percent(f"five agents, 2 players, {side}: {name}", part)


def percent(name: str, share: Estimate) -> Figure:
    """Return a share with its interval as a figure."""
    mean, low, high = (100 * one for one in (share.mean, share.low, share.high))
    return Figure(name, mean, low, high, "%", 1)


def spread(name: str, values: npt.NDArray[Any], unit: str = "") -> Figure:
    """Return a mean, and what nine of ten numbers lie between, as a figure."""
    low, high = np.percentile(values, [5, 95])
    return Figure(name, float(values.mean()), float(low), float(high), unit, len(values))


# ---- mirror games ----


class Watching(ReportingAgent):
    """An agent whose choices are counted.

    Attributes:
        legal: numbers of legal actions, a list for each batch of decisions.
        hands: log₁₀ of the hands that others can hold, at one of EVERY decisions.
    """

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self.uses_view = True
        self.legal: list[npt.NDArray[np.int64]] = []
        self.hands: list[float] = []
        self.seen = 0

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`skyenv.agents.Agent`."""
        self.legal.append(decisions.mask.sum(axis=1, dtype=np.int64))
        views = np.asarray(decisions.view).view(VIEW_DTYPE)
        rows = range(-self.seen % EVERY, len(decisions), EVERY)
        self.hands += [hands(views[row]) for row in rows]
        self.seen += len(decisions)
        return super().act(decisions)


@lru_cache(maxsize=100_000)
def ways(unseen: tuple[int, ...], places: tuple[int, ...]) -> int:
    """Count the ways in which cards of three ranks can lie in places of given sizes; the rest lies
    face down.
    """
    if not places:
        return 1
    size, *others = places
    return sum(
        ways((unseen[0] - one, unseen[1] - two, unseen[2] - three), tuple(others))
        for one in range(min(unseen[0], size) + 1)
        for two in range(min(unseen[1], size - one) + 1)
        if (three := size - one - two) <= unseen[2]
    )


def hands(view: np.void) -> float:
    """Return log₁₀ of the hands that the others can hold, as a seat's view tells it."""
    others = np.delete(view["unknown"], int(view["seat"]), axis=0)
    counts = (
        ways(tuple(unseen), tuple(sorted(filter(None, places))))
        for unseen, places in zip(view["unseen"].tolist(), others.T.tolist(), strict=True)
    )
    return float(sum(np.log10(max(1, count)) for count in counts))


def mirror(name: str, players: int, side: str, deals: int) -> Iterator[Figure]:
    """Play mirror games."""
    watching = Watching(make_agent(name))
    seating, each = np.zeros((deals, players), np.int64), np.arange(deals)
    played = play_games([watching], seating, each, side, secret=SECRET)
    label = f"{name}, {players} players, {side}"
    weights = Weights.draw(np.random.default_rng(0), deals, players)
    for seat in range(players):
        wins = weights.mean(played.shares[:, seat], each, share=True)
        yield percent(f"{label}: seat {seat}", wins)
    yield spread(f"{label}: turns", played.turns)
    yield spread(f"{label}: decisions", played.decisions)
    legal = np.concatenate(watching.legal)
    yield spread(f"{label}: legal actions", legal)
    yield figure(f"{label}: only one", "%", [100 * float((legal == 1).mean())])
    for rule, end in ENDS.items():
        yield figure(f"{label}: {rule}", "%", [100 * float((played.ends == end).mean())])
    yield figure(f"{label}: tree log₁₀", "", [float(np.log10(legal).sum() / deals)])
    middle, high = np.percentile(watching.hands, [50, 95])
    yield Figure(f"{label}: hands log₁₀", float(middle), 0.0, float(high), "", 1)
    for column, scores in (("winner", played.scores.max(1)), ("last", played.scores.min(1))):
        yield figure(f"{label}: {column}", "VP", [float(scores.mean())])


# ---- luck and skill ----


class Redrawing(ReportingAgent):
    """An agent with random numbers of its own, so that it plays a deal otherwise each time."""

    def __init__(self, inner: Agent, seed: int) -> None:
        super().__init__(inner)
        self.rng = np.random.default_rng(seed)

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`skyenv.agents.Agent`."""
        drawn = replace(decisions, uniform=self.rng.random(len(decisions)))
        return super().act(drawn.as_trusted())


def between_deals(players: int, side: str, deals: int) -> Estimate:
    """Return the share of the variance of wins that lies between deals: unbiased components of
    variance, those of all seats added up.
    """
    seating = np.zeros((deals, players), np.int64)
    agents = [Redrawing(TrainedAgent(deterministic=False), repeat) for repeat in range(REPEATS)]
    wins = np.stack(
        [
            play_games([one], seating, np.arange(deals), side, secret=SECRET).shares
            for one in agents
        ],
        axis=1,
    )
    share = _shares_of_deals(deals, players)
    means, within = wins.mean(axis=1), share @ wins.var(axis=1, ddof=1)
    raw = (share @ means**2 - (share @ means) ** 2) / _left(share)[:, None]
    deal = (raw - within / REPEATS).sum(axis=1)
    (estimate,) = estimates((deal / (deal + within.sum(axis=1)))[:, None])
    return estimate


def skill_and_luck(side: str, deals: int) -> list[Estimate]:
    """Return the shares of pairs of agents and of deals in the variance of seat 0's wins."""
    agents = [make_agent(name) for name in FIELD]
    seating = np.array(list(itertools.permutations(range(len(agents)), 2)))
    pairs = len(seating)
    seeds = np.repeat(np.arange(deals), pairs)
    played = play_games(agents, np.tile(seating, (deals, 1)), seeds, side, secret=SECRET)
    wins, share = played.shares[:, 0].reshape(deals, pairs), _shares_of_deals(deals, 2)
    by_pair, by_deal = share @ wins, wins.mean(axis=1)
    within = (share @ wins**2 - by_pair**2) / _left(share)[:, None]
    raw = (share @ by_deal**2 - by_pair.mean(axis=1) ** 2) / _left(share)
    # A pair's variance over deals is that of deals and the rest; their means have 1/pairs of it.
    rest = (within.mean(axis=1) - raw) / (1 - 1 / pairs)
    deal = raw - rest / pairs
    skill = by_pair.var(axis=1, ddof=1) - rest * (share**2).sum(axis=1)
    return estimates(np.stack([skill, deal], axis=1) / (skill + deal + rest)[:, None])


def _shares_of_deals(deals: int, players: int) -> Floats:
    """Return the bootstrap's weights, float64 (1 + r, deals); each row sums to 1."""
    weights = Weights.draw(np.random.default_rng(0), deals, players).sums(np.eye(deals))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _left(share: Floats) -> Floats:
    """Return what of one deal's weight is independent of the mean."""
    return np.asarray(1 - (share**2).sum(axis=1))
