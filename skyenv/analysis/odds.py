"""Draw odds and the worth of an auction, from what a seat knows.

:func:`draw_odds`: exact probabilities of the next cards and of Alea's bid. :func:`bid_worth`: what
the hand can win and its VP, the chance that Alea bids more, and the others' highest bids.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.array_types import Float64, Int64
from skyenv.engine.knowledge import view
from skyenv.engine.rewards import CARD_VP
from skyenv.render.reasons import allowed_colours, build_limit, can_build, is_full
from skyenv.rules.components import (
    BLACK,
    BUILD_LIMIT,
    CARD_COLOURS,
    CARD_VALUES,
    CENTRAL_PARK,
    COLOURS,
    NUM_RANKS,
    PLOT_VALUE,
    TILES_TURNED_UP,
)
from skyenv.rules.state import ALEA_WAITS, GAME_DTYPE, NONE, PHASE_BID

Chances = Float64


class Stacks(NamedTuple):
    """The stacks of cards as an observer knows them.

    An observer who can't tell which cards lie face down and which are in hands expects each of
    them next with equal probability.

    Attributes:
        game: the known part of the position, GAME_DTYPE.
        pool: int (6, 3), [colour, rank]: the cards that can come next.
        number: int (6,), the number of them that lie face down.
    """

    game: Any
    pool: Int64
    number: Int64

    @classmethod
    def of_view(cls, seen: Any) -> "Stacks":
        """Return the stacks as the seat of a view, VIEW_DTYPE, knows them."""
        pool = seen["unseen"].astype(np.int64)
        others = [other for other in range(2) if other != seen["seat"]]
        pool[BLACK] -= seen["game"]["deduced"][others].sum(axis=0)
        return cls(seen["game"], pool, seen["num_face_down"].astype(np.int64))

    @classmethod
    def of(cls, position: Any, seat: int | None) -> "Stacks":
        """Return the stacks of a position, GAME_DTYPE, as a seat knows them; None: all open."""
        if seat is not None:
            return cls.of_view(view(np.array([position], GAME_DTYPE), [seat])[0])
        down = position["face_down"].astype(np.int64)
        return cls(position, down, down.sum(axis=1))

    def next_card(self, colour: int) -> Chances | None:
        """Return the probabilities of 4, 5 and 6 as the next card of a stack, float64 (3,); None
        if no card is left (AUC-8, AUC-9).
        """
        if self.number[colour]:
            cards = self.pool[colour]
        elif colour == BLACK:
            cards = self.game["black_face_up"]  # shuffled first
        elif self.game["num_returned"][colour] and self.game["top"][colour] != NONE:
            cards = np.arange(NUM_RANKS) == self.game["returned"][colour, 0]
        else:
            cards = np.zeros(NUM_RANKS)
        return cards / cards.sum() if cards.any() else None

    def alea(self) -> dict[int, float]:
        """Return totals of Alea's next bid, ascending, with their probabilities."""
        return alea_totals(self.pool[BLACK], int(self.number[BLACK]), self.game["black_face_up"])


def draw_odds(position: Any, seat: int | None) -> dict[str, Any]:
    """Return the draw odds of a position.

    Args:
        position: GAME_DTYPE.
        seat: the seat whose knowledge counts; None: all hands are open.

    Returns:
        ``cards``: for each stack its name and the probabilities of 4, 5 and 6 as the next card
        behind the visible one, or as the next black one; null if there is none. ``alea``: totals of
        Alea's bid with their probabilities; null without Alea (ALEA-1; not in all tasks).
    """
    stacks = Stacks.of(position, seat)
    return {
        "cards": [
            {"stack": name, "chances": None if chances is None else chances.round(4).tolist()}
            for name, chances in zip(CARD_COLOURS, map(stacks.next_card, range(6)), strict=True)
        ],
        "alea": [[total, round(chance, 4)] for total, chance in stacks.alea().items()]
        if position["num_players"] == 2 and position["alea_supply"] != NONE
        else None,
    }


def alea_totals(pool: Sequence[int], number: int, up: Sequence[int]) -> dict[int, float]:
    """Return the totals of Alea's bid, ascending, with their probabilities (ALEA-2: cards are
    turned up until a value appears for the second time).

    Args:
        pool: number of black cards by rank (3,), of which `number` lie face down.
        number: how many cards lie face down.
        up: black cards by rank (3,) that lie face up below them; they are shuffled once the others
            are used up (AUC-9).
    """
    totals: defaultdict[int, float] = defaultdict(float)

    def turn(
        pool: list[int], number: int, up: list[int], seen: frozenset[int], total: int, chance: float
    ) -> None:
        if not number:
            pool, number, up = up, sum(up), [0] * NUM_RANKS
        if not number:
            totals[total] += chance  # no black cards left
            return
        for rank in range(NUM_RANKS):
            if not pool[rank]:
                continue
            more, share = total + CARD_VALUES[rank], chance * pool[rank] / sum(pool)
            if rank in seen:
                totals[more] += share
            else:
                left = [cards - (other == rank) for other, cards in enumerate(pool)]
                turn(left, number - 1, up, seen | {rank}, more, share)

    turn([*map(int, pool)], number, [*map(int, up)], frozenset(), 0, 1.0)
    return dict(sorted(totals.items()))


# ---- the worth of an auction ----

DISTRICT: Final = (
    "VP are those of one scoring with today's businesses. A district that isn't stopped is scored "
    "once at the end; each scoring before brings as much again."
)
PARK: Final = (
    "VP are what a skyscraper brings on average at the end, with the businesses that lie there now."
)


def bid_worth(seen: Any) -> dict[str, Any] | None:
    """Return what winning is worth for the seat to act, and what it costs.

    Args:
        seen: its view, a record of VIEW_DTYPE.

    Returns:
        ``colours``: for each colour in which its hand has a bid ``{"name", "vp", "builds",
            "cards"}``: VP of a skyscraper there when it is scored, and :func:`largest_build`;
        ``stop``: ``{"vp", "must", "others"}`` of a building stop: its VP, whether it is compulsory
            (STOP-1), and ``{"seat", "vp"}`` of the other seats (STOP-3); null if there can be none;
        ``when``, ``assumes``: which scoring the VP are those of, in two words, and in a sentence;
        ``laid``: the number of cards that the seat has on the table;
        ``card``: VP that bidding tasks charge for a card paid;
        ``alea``: ``[total, chance that Alea bids more]`` for every total that a bid of Alea can
            exceed, exact given the seat's knowledge; null where Alea bids no more;
        ``others``: ``{"seat", "most"}`` of the other seats still bidding: the highest total that
            each could bid, as far as this seat knows;
        null if no bid is open.
    """
    game, seat = seen["game"], int(seen["seat"])
    if game["phase"] != PHASE_BID or game["seat"] != seat:
        return None
    place = int(game["auction_place"])
    in_park = place == CENTRAL_PARK
    colours = [
        {
            "name": COLOURS[colour],
            "vp": park_vp(game) if in_park else int(game["value"][place, colour]),
            "builds": build[0],
            "cards": build[1],
        }
        for colour in allowed_colours(game, seat)
        if (build := largest_build(game, seat, colour)) is not None
    ]
    others = [other for other in range(int(game["num_players"])) if other != seat]
    has_alea = game["num_players"] == 2 and game["alea"] == ALEA_WAITS
    alea = Stacks.of_view(seen).alea() if has_alea else {}
    return {
        "colours": colours,
        "stop": stop_worth(game, seat) if not in_park and is_full(game, place) else None,
        "when": "at the end" if in_park else "per scoring",
        "assumes": PARK if in_park else DISTRICT,
        "laid": int(game["bid_cards"][seat].sum()),
        "card": CARD_VP,
        "alea": [
            [total, round(sum(chance for other, chance in alea.items() if other > total), 4)]
            for total in range(max(alea))
        ]
        if alea
        else None,
        "others": [
            {"seat": other, "most": most_bid(seen, other)}
            for other in others
            if not game["out"][other]
        ],
    }


def largest_build(game: Any, seat: int, colour: int) -> tuple[int, int] | None:
    """Return the largest build that a seat's hand can win with a bid in a colour, and the fewest
    cards, with those on the table, of such a bid; None if its hand has no higher bid (AUC-3,
    AUC-4, AUC-10).
    """
    missing = int(game["highest"] - game["bid_total"][seat])
    laid, must_open = int(game["bid_cards"][seat].sum()), game["bid_colour"][seat] == NONE
    limits = [can_build(game, seat), *([build_limit(game, seat)] if laid else [])]
    found = []
    for rank in range(NUM_RANKS):  # the highest card's: low ones allow more skyscrapers
        coloured, black = (
            np.repeat(
                CARD_VALUES, game["hand"][seat, one] * (np.arange(NUM_RANKS) <= rank)
            ).tolist()
            for one in (colour, BLACK)
        )
        first = [coloured.pop()] if must_open and coloured else []
        rest = [] if must_open and not first else sorted([*coloured, *black], reverse=True)
        enough = np.flatnonzero(np.cumsum([*first, *rest]) > missing)
        if enough.size:
            found.append((min(*limits, int(BUILD_LIMIT[rank])), laid + int(enough[0]) + 1))
    return max(found, key=lambda one: (one[0], -one[1]), default=None)


def stop_worth(game: Any, seat: int) -> dict[str, Any]:
    """Return what a building stop in the full district under auction would bring, as for
    :func:`bid_worth` (STOP-1 to STOP-3).
    """
    place = int(game["auction_place"])
    owner, floors = game["owner"][place], game["floors"][place].astype(np.int64)
    scores = [
        int((floors * game["value"][place])[owner == one].sum())
        for one in range(int(game["num_players"]))
    ]
    return {
        "vp": int(floors.sum()),
        "must": not (owner == seat).any(),
        "others": [
            {"seat": other, "vp": score // 2}
            for other, score in enumerate(scores)
            if other != seat and score > 1
        ],
    }


def park_vp(game: Any) -> float:
    """Return the mean VP of a skyscraper in the park area with the tiles there (END-3)."""
    tiles = np.repeat(np.arange(len(game["park_tiles"])), game["park_tiles"]).tolist()
    sets = list(combinations(tiles, min(TILES_TURNED_UP, len(tiles))))
    return round(sum(int(PLOT_VALUE[len(set(one))]) for one in sets) / len(sets), 2)


def most_bid(seen: Any, seat: int) -> int:
    """Return the highest total that another seat could bid in the current auction with the best
    cards that it may have (AUC-4, AUC-5).
    """
    game = seen["game"]

    def most(colour: int) -> int:
        known = int(game["hand"][seat, colour] @ np.array(CARD_VALUES))
        best = np.repeat(CARD_VALUES[::-1], seen["unseen"][colour][::-1])
        return known + int(best[: int(seen["unknown"][seat, colour])].sum())

    coloured = [most(colour) for colour in allowed_colours(game, seat)]
    laid = int(game["bid_total"][seat])
    best = max(coloured, default=0)
    return laid + best + most(BLACK) if best or laid else 0
