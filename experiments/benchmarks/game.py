"""Statistics of the game for docs/game.md: seats, length, choices, ends, hands and auctions."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from experiments.figures import Figure, Scale, figure, of_estimate, percent
from skyenv.agents import make_agent
from skyenv.arena.matches import Onlooker, play_games
from skyenv.array_types import Int64
from skyenv.engine.games import Games
from skyenv.engine.knowledge import view
from skyenv.rules.actions import BID_DONE, BUILD, STOP
from skyenv.rules.components import BLACK, CARD_VALUES, CENTRAL_PARK, MAX_PLAYERS, SIDES
from skyenv.rules.record import Array
from skyenv.rules.state import (
    END_BUSINESSES,
    END_STOPS,
    END_TRUNCATED,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
)
from skyenv.statistics import Weights

AGENTS: Final = ("greedy", "trained")
# One in EVERY decisions is sampled for its information set.
EVERY: Final = 16
SECRET: Final = 1
ENDS: Final = {"BUS-5": END_BUSINESSES, "STOP-6": END_STOPS, "END-5": END_TRUNCATED}
# Additional black cards of a seat before the first turn: 4s, 5s, 6s.
GIFT: Final = np.array([2, 1, 1], np.int8)


def game(scale: Scale) -> Iterator[Figure]:
    """Mirror games, in which one agent plays all seats, in 1,000 deals. Wins by seat; turns and
    decisions (mean, and the range of 90 % of the games); legal actions per decision; ends; VP.
    "Tree": mean of a game's sum of log₁₀ of the legal actions. "Hands": log₁₀ of the number of
    hands of the others that are consistent with the view of the seat to act (median, and the
    range of 90 %). Auctions: number per game; bidders; the winner's price in points and in cards.
    "Jump": raises by more than 6 points, which a card less would also have made. "Passes": seats
    that never bid in an auction; "can't bid": those without a legal bid. "VP": VP of the winner's
    building in a district by one scoring with the present businesses. "Black card": in 250 deals
    from each seat, the seat has two black 4s, a 5 and a 6 more before the first turn; its gain over
    the mean of the others, per card. Intervals are 95 %, by the bootstrap over deals.
    """
    deals = scale.of(1000)
    fewer = scale.of(250)
    for players, side in itertools.product((2, 3, 4)[: scale.of(3)], SIDES):
        table = f"{players} players, {side}"
        for name in AGENTS:
            yield from named(f"{name}, {table}", mirror(name, players, side, deals))
        yield from named(f"trained, {table}", black_card("trained", players, side, fewer))


def named(label: str, figures: Iterable[Figure]) -> Iterator[Figure]:
    """Put a label before the names of figures."""
    for one in figures:
        yield replace(one, name=f"{label}: {one.name}")


def share(name: str, part: float) -> Figure:
    """Return a share without an interval as a figure."""
    return figure(name, "%", [100 * float(part)])


def spread(name: str, values: Array, unit: str = "") -> Figure:
    """Return a mean and the range of 90 % of the values as a figure."""
    low, high = np.percentile(values, [5, 95])
    return Figure(name, float(values.mean()), float(low), float(high), unit, len(values))


# ---- mirror games ----


@lru_cache(maxsize=100_000)
def ways(unseen: tuple[int, ...], places: tuple[int, ...]) -> int:
    """Return the number of distributions of unseen cards to hands; the other cards are face down.

    Args:
        unseen: number of unseen cards of each of the three ranks.
        places: sizes of the hands.
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


def hands(record: np.void) -> float:
    """Return log₁₀ of the number of hands of the others that are consistent with a seat's view."""
    others = np.delete(record["unknown"], int(record["seat"]), axis=0)
    counts = (
        ways(tuple(unseen), tuple(sorted(filter(None, places))))
        for unseen, places in zip(record["unseen"].tolist(), others.T.tolist(), strict=True)
    )
    return float(sum(np.log10(max(1, count)) for count in counts))


def mirror(name: str, players: int, side: str, deals: int) -> Iterator[Figure]:
    """Play mirror games and yield their figures."""
    seating = np.zeros((deals, players), np.int64)
    each = np.arange(deals)
    bidding = Bidding()
    played = play_games([make_agent(name)], seating, each, side, secret=SECRET, onlooker=bidding)
    weights = Weights.draw(np.random.default_rng(0), deals, players)
    for seat in range(players):
        yield percent(f"seat {seat}", weights.mean(played.shares[:, seat], each, share=True))
    yield spread("turns", played.turns)
    yield spread("decisions", played.decisions)
    legal = np.array(bidding.legal)
    yield spread("legal actions", legal)
    yield share("only one", (legal == 1).mean())
    for rule, end in ENDS.items():
        yield share(rule, (played.ends == end).mean())
    yield figure("tree log₁₀", "", [float(np.log10(legal).sum() / deals)])
    low, middle, high = map(float, np.percentile(bidding.hands, [5, 50, 95]))
    yield Figure("hands log₁₀", middle, low, high, "", 1)
    for column, scores in (("winner", played.scores.max(1)), ("last", played.scores.min(1))):
        yield figure(column, "VP", [float(scores.mean())])
    yield from auctions(bidding.columns(), deals)


# ---- auctions ----


class Bidding(Onlooker):
    """An observer that records numbers of all decisions, and the decisions in auctions.

    Attributes:
        legal: numbers of legal actions.
        hands: log₁₀ of the number of possible hands of the others, at one in EVERY decisions.
        batches: the columns of :meth:`columns` for each step of a batch.
    """

    def __init__(self) -> None:
        self.legal: list[int] = []
        self.hands: list[float] = []
        self.batches: list[dict[str, Array]] = []

    def decided(self, games: Games, rows: Int64, matches: Int64, actions: Int64) -> None:
        """See :class:`skyenv.arena.matches.Onlooker`."""
        sampled = rows[-len(self.legal) % EVERY :: EVERY]
        self.hands += map(hands, view(games.state, games.seat[sampled], sampled))
        legal = games.mask[rows].sum(axis=1, dtype=np.int64)
        self.legal += legal.tolist()
        bids = np.isin(games.state["phase"][rows], (PHASE_BID, PHASE_BUILD))
        state = games.state[rows[bids]]
        action = actions[bids]
        each = np.arange(len(state))
        seat = state["seat"].astype(np.int64)
        wins = state["phase"] == PHASE_BUILD
        highest = state["highest"].astype(np.int64)
        untouched = (highest == 0) & (state["laid"] == NONE) & ~state["out"].any(axis=1)
        cards = state["bid_cards"][each, seat].sum(axis=2, dtype=np.int64)
        in_district = state["auction_place"] != CENTRAL_PARK
        place = np.where(in_district, state["auction_place"], 0)
        value = state["value"][each, place, state["bid_colour"][each, seat]].astype(np.int64)
        self.batches.append(
            {
                "match": matches[bids],
                "seat": seat,
                "action": action,
                "legal": legal[bids],
                "begins": untouched & ~wins,
                "wins": wins,
                "highest": highest,
                "total": state["bid_total"][each, seat].astype(np.int64),
                "cards": cards.sum(axis=1),
                "black": cards[:, 1],
                "builds": wins & in_district & (action > BUILD) & (action != STOP),
                "vp": value * (action - BUILD),
            }
        )

    def columns(self) -> dict[str, Array]:
        """Return the decisions in auctions as columns, ordered by match.

        - `match`, and `auction`, its number over all matches from 0;
        - `seat`, `action`, and `legal`, the number of legal actions;
        - `begins`: the first decision of an auction; `wins`: the winner's, after its payment;
          `builds`: the winner builds in a district;
        - `highest`: highest bid before; `total`, `cards`: points and cards of the seat's own bid;
          `black`: black cards among them;
        - `vp`: VP of the building by one scoring.
        """
        columns = {
            name: np.concatenate([batch[name] for batch in self.batches])
            for name in self.batches[0]
        }
        order = np.argsort(columns["match"], kind="stable")
        columns = {name: column[order] for name, column in columns.items()}
        return columns | {"auction": np.cumsum(columns["begins"]) - 1}


def auctions(columns: dict[str, Array], deals: int) -> Iterator[Figure]:
    """Yield the figures of auctions by the columns of :meth:`Bidding.columns`."""
    number = columns["begins"].sum()
    wins = columns["wins"]
    done = columns["action"] == BID_DONE
    paid = columns["cards"][wins]
    black = columns["black"][wins]
    bidders = columns["auction"] * MAX_PLAYERS + columns["seat"]
    first = np.unique(bidders, return_index=True)[1]
    yield spread("auctions", np.bincount(columns["match"][columns["begins"]], minlength=deals))
    yield figure("bidders", "", [len(np.unique(bidders[done])) / number])
    yield share("no player wins", 1 - wins.sum() / number)
    yield spread("price", columns["total"][wins])
    yield spread("cards", paid)
    yield share("black", black.sum() / paid.sum())
    yield share("stops", (columns["action"][wins] == STOP).mean())
    raises = done & (columns["highest"] > 0)
    above = (columns["total"] - columns["highest"])[raises]
    yield spread("opening", columns["total"][done & ~raises])
    yield spread("raise", above)
    yield share("jump", (above > max(CARD_VALUES)).mean())
    yield share("passes", 1 - np.isin(bidders[first], bidders[done]).mean())
    yield share("can't bid", (columns["legal"][first] == 1).mean())
    built = columns["builds"]
    for low, high in itertools.pairwise((4, 10, 15, 20, 100)):
        band = built & (columns["total"] >= low) & (columns["total"] < high)
        if band.any():
            yield spread(f"{low} to {high - 1}", columns["vp"][band], "VP")
    vp_per_card = columns["vp"][built].sum() / columns["cards"][built].sum()
    yield figure("a card", "VP", [float(vp_per_card)])


class Gift(Onlooker):
    """An observer that gives a seat of each game additional black cards before the first turn.

    Args:
        seats: int64 (k,), the seat in each game.
    """

    def __init__(self, seats: Int64) -> None:
        self.seats = seats

    def decided(self, games: Games, rows: Int64, matches: Int64, actions: Int64) -> None:
        """See :class:`skyenv.arena.matches.Onlooker`."""
        new = games.state["decisions"][rows] == 0
        state = games.state
        seat = self.seats[matches[new]]
        state["hand"][rows[new], seat, BLACK] += GIFT
        state["face_down"][rows[new], BLACK] -= GIFT
        state["unknown"][rows[new], seat, BLACK] += GIFT.sum(dtype=np.int8)


def black_card(name: str, players: int, side: str, deals: int) -> Iterator[Figure]:
    """Play mirror games in which one seat has more black cards; yield the gains per card."""
    each = np.repeat(np.arange(deals), players)
    gifted = np.tile(np.arange(players), deals)
    seating = np.zeros((len(each), players), np.int64)
    gift = Gift(gifted)
    played = play_games([make_agent(name)], seating, each, side, secret=SECRET, onlooker=gift)
    weights = Weights.draw(np.random.default_rng(0), deals, players)
    row = np.arange(len(each))
    cards = GIFT.sum()
    others = (played.scores.sum(axis=1) - played.scores[row, gifted]) / (players - 1)
    vp = weights.mean((played.scores[row, gifted] - others) / cards, each)
    wins = weights.mean((played.shares[row, gifted] - 1 / players) / cards, each)
    yield of_estimate("black card", vp, "VP", deals)
    yield percent("black card wins", wins)
