"""Auction values of the heuristic agents: likely bids, likely winners, and the cheapest cards.

Arguments are named as in :mod:`skyenv_agents.heuristic.features`.
"""

import math
from typing import Final

from skyenv.rules.actions import BID
from skyenv.rules.auction import highest_rank
from skyenv.rules.compiling import called_rule
from skyenv.rules.components import (
    BLACK,
    BUILD_LIMIT,
    CENTRAL_PARK,
    LOWEST_CARD,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_RANKS,
)
from skyenv.rules.state import ALEA, ALEA_WAITS, BID_BLACK, BID_COLOURED, NONE, GameRecord
from skyenv_agents.heuristic.features import (
    MAX_POINTS,
    NEVER,
    HeuristicRecord,
    WeightsRecord,
    nearness,
    park_value,
)
from skyenv_agents.heuristic.values import building_value, entry_value, stop_value

ALEA_POINTS: Final = 14.0  # typical total of Alea (ALEA-2)
# Cap on the points of a likely bid.
MAX_LIKELY_BID: Final = 30.0


# ---- effects of winning ----


@called_rule
def winner_effect(
    game: GameRecord,
    w: WeightsRecord,
    h: HeuristicRecord,
    me: int,
    district: int,
    winner: int,
    plot: int,
) -> float:
    """Return the effect on me if a seat wins a district's auction and builds on a plot; NONE: it
    can't build.
    """
    floors = min(float(game.supply[winner]), w.floors)
    built = 0.0
    if plot != NONE:
        built = floors * h.value[district, plot]
        if h.plot[district, winner] == NONE and floors > 0.0:
            built += entry_value(game, w, h, winner)
    value = built if winner == me else -h.rival[winner] * built
    if h.empty[district] == 0:
        stop = stop_value(game, h, me, district, winner)
        if plot == NONE and w.appraises:
            return stop
        value = max(value, stop) if winner == me else min(value, stop)
    return float(value)


@called_rule
def best_plot(game: GameRecord, h: HeuristicRecord, district: int, seat: int) -> int:
    """Return the plot on which a seat builds: its own, else the best empty one, or NONE."""
    own = int(h.plot[district, seat])
    if own != NONE:
        return own
    best = NONE
    for plot in range(NUM_COLOURS):
        empty = game.owner[district, plot] == NONE and h.types[district, plot] == 0
        if empty and (best == NONE or h.value[district, plot] > h.value[district, best]):
            best = plot
    return best


@called_rule
def alea_effect(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, district: int
) -> float:
    """Return the effect on me if Alea wins a district's auction (ALEA-6, ALEA-7)."""
    if h.empty[district] == 0:
        return stop_value(game, h, me, district, ALEA)
    if h.plot[district, me] != NONE:
        return 0.0
    return float(-w.alea * h.value[district, best_plot(game, h, district, me)])


# ---- likely bids ----


@called_rule
def likely_bid(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, district: int, seat: int
) -> tuple[float, float]:
    """Return a seat's likely highest bid in a district (AUC-4, AUC-5) and the effect on me if it
    wins; 0 points if it can't bid.

    The seat bids in the colour of its highest bid, limited by its points as far as I know. For the
    appraiser it is also limited by the value of winning with that colour.
    """
    own = int(h.plot[district, seat])
    full = h.empty[district] == 0
    most = 0.0
    effect = 0.0
    for plot in range(NUM_COLOURS):
        free = own == NONE and game.owner[district, plot] == NONE
        allowed = plot == own or (free and (full or h.types[district, plot] == 0))
        if not allowed or h.points[seat, plot] <= 0.0:
            continue
        points = min(h.points[seat, plot] + h.points[seat, BLACK], MAX_LIKELY_BID)
        gain = 0.0
        if w.appraises:
            built = NONE if own == NONE and full else plot
            gain = winner_effect(game, w, h, me, district, seat, built)
            points = min(points, (gain if seat == me else -gain) / (w.limit * h.point))
        if points > most:
            most = points
            effect = gain
    if most > 0.0 and not w.appraises:
        plot = best_plot(game, h, district, seat)
        effect = winner_effect(game, w, h, me, district, seat, plot)
    return most, effect


@called_rule
def likely_park_bid(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, seat: int
) -> tuple[float, float]:
    """Return a seat's likely highest bid in the park area (AUC-12) and the effect on me if it wins;
    0 points if it can't bid.
    """
    most = 0.0
    for colour in range(NUM_COLOURS):
        most = max(most, h.points[seat, colour])
    if most == 0.0:
        return 0.0, 0.0
    points = min(most + h.points[seat, BLACK], MAX_LIKELY_BID)
    gain = min(float(game.supply[seat]), w.floors) * w.park * park_value(game)
    if w.appraises:
        points = min(points, gain / (w.limit * h.point))
    return points, gain if seat == me else -h.rival[seat] * gain


@called_rule
def extract_auctions(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Write the expected value for me of an auction in every district and the park area, and of
    filling a plot there.
    """
    for district in range(NUM_DISTRICTS):
        h.auction[district] = 0.0
        if game.stopped[district] == 0:
            extract_auction(game, w, h, me, district)
    h.auction[CENTRAL_PARK] = auction_value(game, w, h, me, CENTRAL_PARK)


@called_rule
def extract_auction(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, district: int
) -> None:
    """Write the expected value for me of an auction in a district, and of filling a plot there, as
    a full district can be stopped.
    """
    h.auction[district] = auction_value(game, w, h, me, district)
    h.filling[district] = 0.0
    empty = int(h.empty[district])
    if w.appraises and 0 < empty <= 2:
        h.empty[district] = 0
        full = auction_value(game, w, h, me, district)
        h.empty[district] = empty
        share = w.full if empty == 1 else w.fuller
        h.filling[district] = (
            share * nearness(game, district, w.remote) * (full - h.auction[district])
        )


@called_rule
def auction_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, place: int
) -> float:
    """Return the expected value for me of a place's auction; a bidder's win probability grows with
    its points.
    """
    park = place == CENTRAL_PARK
    alea = math.exp(ALEA_POINTS / w.sharp) if game.num_players == 2 else 0.0
    chances = alea if park else 0.0
    value = 0.0
    for seat in range(game.num_players):
        points, effect = (
            likely_park_bid(game, w, h, me, seat)
            if park
            else likely_bid(game, w, h, me, place, seat)
        )
        if points > 0.0:
            chance = math.exp(points / w.sharp)
            chances += chance
            value += chance * (max(effect - h.point * w.target, 0.0) if seat == me else effect)
    if game.num_players == 2 and not park:
        chances += alea
        value += alea * alea_effect(game, w, h, me, place)
    return value / chances if chances > 0.0 else 0.0


# ---- the current auction ----


@called_rule
def winning_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, colour: int, limit: int
) -> float:
    """Return the value of winning the current auction with a colour, before the price (AUC-10,
    AUC-12, STOP-1).
    """
    place = int(game.auction_place)
    if place == CENTRAL_PARK:
        return building_value(game, w, h, me, w.park * park_value(game), limit)
    own = int(h.plot[place, me])
    stop = stop_value(game, h, me, place, me) if h.empty[place] == 0 else NEVER
    if own == NONE and h.empty[place] == 0:
        return stop
    value = building_value(game, w, h, me, h.value[place, colour], limit)
    if own == NONE and value > 0.0:
        value += entry_value(game, w, h, me) + h.filling[place]
    return max(value, stop)


@called_rule
def deny_value(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> float:
    """Return the value of preventing the otherwise winning seat's win; for greedy this is the
    highest bidder, or Alea.
    """
    if w.appraises:
        return deny_bidders_value(game, w, h, me)
    place = int(game.auction_place)
    bidder = int(game.highest_bidder)
    if bidder == NONE and game.alea == ALEA_WAITS:
        bidder = ALEA
    if bidder == NONE or (bidder == ALEA and place == CENTRAL_PARK):
        return 0.0
    if bidder == ALEA:
        return float(-w.deny * alea_effect(game, w, h, me, place))
    if place == CENTRAL_PARK:
        limit = int(BUILD_LIMIT[int(highest_rank(game, bidder))])
        return float(
            w.deny * h.rival[bidder] * building_value(game, w, h, bidder, park_value(game), limit)
        )
    plot = best_plot(game, h, place, bidder)
    return float(-w.deny * winner_effect(game, w, h, me, place, bidder, plot))


@called_rule
def deny_bidders_value(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> float:
    """Return the value of preventing the remaining bidders' wins, whose probabilities grow with
    their likely bids.
    """
    place = int(game.auction_place)
    park = place == CENTRAL_PARK
    chances = 1.0 if game.highest_bidder == NONE else 0.0  # the case of no bid
    value = 0.0
    for seat in range(game.num_players):
        if seat == me or game.out[seat]:
            continue
        points, effect = (
            likely_park_bid(game, w, h, me, seat)
            if park
            else likely_bid(game, w, h, me, place, seat)
        )
        if game.highest_bidder == seat:
            points = max(points, min(float(game.highest), MAX_LIKELY_BID))
        if points > game.highest or game.highest_bidder == seat:
            chance = math.exp(points / w.sharp)
            chances += chance
            value += chance * effect
    if game.highest_bidder == ALEA or (game.alea == ALEA_WAITS and game.highest < ALEA_POINTS):
        chance = math.exp(max(ALEA_POINTS, min(float(game.highest), MAX_LIKELY_BID)) / w.sharp)
        chances += chance
        value += chance * alea_effect(game, w, h, me, place) if not park else 0.0
    share = w.deny_stop if not park and h.empty[place] == 0 else w.deny
    return float(-share * value / chances) if chances > 0.0 else 0.0


# ---- the cards of a bid ----


@called_rule
def plan_value(
    game: GameRecord,
    w: WeightsRecord,
    h: HeuristicRecord,
    me: int,
    colour: int,
    highest: int,
    missing: int,
    deny: float,
) -> tuple[float, int]:
    """Return the value of winning with cards of one colour and black, none above a rank, and the
    cards to lay down now.

    A bid that must be raised later, such as the first one before Alea's, is valued by the expected
    price of winning.
    """
    gain = deny + winning_value(game, w, h, me, colour, int(BUILD_LIMIT[highest]))
    on_table = table_price(game, w, h, me, colour)
    cost, cards = cheapest_cards(game, h, me, colour, highest, missing)
    if cards == 0:
        return NEVER, 0
    now = gain - on_table - cost
    expected = int(w.target) - int(game.bid_total[me])
    if expected <= missing or (game.num_players == 2 and game.alea != ALEA_WAITS):
        return now, cards
    later_cost, later_cards = cheapest_cards(game, h, me, colour, highest, expected)
    later = gain - on_table - later_cost
    if later_cards != 0 and later > 0.0:
        return later, cards
    # The others may give up early, so this is slightly better than passing.
    return min(now, 0.001 * now), cards


@called_rule
def table_price(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, colour: int
) -> float:
    """Return the value to me of my cards on the table, whose coloured ones share a colour."""
    # Both branches differ only in rounding, and greedy's scores must stay bit for bit the same.
    scale, coloured, black = (
        (1.0, h.price[colour], h.price[BLACK]) if w.appraises else (h.point, 1.0, w.black)
    )
    value = 0.0
    for rank in range(NUM_RANKS):
        number = int(game.bid_cards[me, BID_COLOURED, rank])
        number_black = int(game.bid_cards[me, BID_BLACK, rank])
        value += (rank + LOWEST_CARD) * (coloured * number + black * number_black)
    return float(scale * value)


@called_rule
def cheapest_cards(
    game: GameRecord, h: HeuristicRecord, me: int, colour: int, highest: int, missing: int
) -> tuple[float, int]:
    """Return the cheapest cards of a colour and black, none above a rank, with at least `missing`
    points.

    Returns:
        Their cost, and their counts in 5 bits for each place of the laying order; 0 for no cards.
    """
    if missing > MAX_POINTS:
        return NEVER, 0
    size = missing + LOWEST_CARD + NUM_RANKS - 1
    for total in range(size):
        h.cost[total] = -NEVER
        h.cards[total] = 0
    h.cost[0] = 0.0
    laid = int(game.laid)
    for rank in range(max(laid, 0), highest + 1):
        add_cards(h, size, int(game.hand[me, colour, rank]), rank, h.price[colour], rank)
    if game.bid_colour[me] == NONE:
        h.cost[0] = -NEVER  # AUC-4: the first card is coloured
    for rank in range(max(laid - NUM_RANKS, 0), highest + 1):
        add_cards(h, size, int(game.hand[me, BLACK, rank]), rank, h.price[BLACK], NUM_RANKS + rank)
    best = missing
    for total in range(missing, size):
        if h.cost[total] < h.cost[best]:
            best = total
    return h.cost[best], h.cards[best]


@called_rule
def add_cards(
    h: HeuristicRecord, size: int, number: int, rank: int, price: float, place: int
) -> None:
    """Extend the cheapest cards for every total below `size` by a number of cards of one kind."""
    value = rank + LOWEST_CARD
    for _ in range(min(number, (size - 1) // value)):
        for total in range(size - 1, value - 1, -1):
            cost = h.cost[total - value] + price * value
            if cost < h.cost[total]:
                h.cost[total] = cost
                h.cards[total] = h.cards[total - value] + (1 << (5 * place))


@called_rule
def next_card(cards: int, colour: int) -> int:
    """Return the first of some cards in the laying order as an action ("One choice, one path" of
    INTERFACE.md).
    """
    place = 0
    while (cards >> (5 * place)) & 31 == 0:
        place += 1
    if place < NUM_RANKS:
        return BID + NUM_RANKS * colour + place
    return BID + NUM_RANKS * BLACK + place - NUM_RANKS
