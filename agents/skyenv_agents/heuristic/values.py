"""Values in VP for the heuristic agents: skyscrapers, businesses, cards, moves, stops, the end.

Arguments are named as in :mod:`skyenv_agents.heuristic.features`.
"""

from typing import Final

from skyenv.rules.businesses import bonus_vp
from skyenv.rules.compiling import called_rule
from skyenv.rules.components import (
    BONUS_DISTRICTS,
    BONUS_EVERY,
    BONUS_VP,
    BUILD_LIMIT,
    BUSINESSES_TO_PLACE,
    CENTRAL_PARK,
    CITY_HALL,
    LOWEST_CARD,
    MAX_PLAYERS,
    MAX_STOPS,
    NUM_COLOURS,
    NUM_DISTRICTS,
    PLOT_VALUE,
)
from skyenv.rules.scoring import count_types, district_vp
from skyenv.rules.state import ALEA, NONE, GameRecord
from skyenv_agents.heuristic.features import (
    NEVER,
    UNKNOWN_POINTS,
    HeuristicRecord,
    WeightsRecord,
    best_other_standing,
    grown_value,
    is_open_to,
    nearness,
    neighbour,
    ring_size,
)

WIN: Final = 60.0  # value of ending the game ahead, and cost of ending it behind


# ---- skyscrapers, presence, the end ----


@called_rule
def supply_value(w: WeightsRecord, h: HeuristicRecord, number: int) -> float:
    """Return the value of a number of skyscrapers in the supply."""
    value = 0.0
    following = w.sky * h.left
    for _ in range(number):
        value += following
        following *= w.decay
    return value


@called_rule
def entry_value(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, seat: int) -> float:
    """Return the value to a seat of presence in one more district (BUS-4)."""
    value = w.presence * h.left
    bonus = int(game.placed) // BONUS_EVERY
    if bonus < len(BONUS_VP):
        missing = int(BONUS_DISTRICTS[bonus]) - int(h.presence[seat])
        if missing > 0:
            value += w.entry * BONUS_VP[bonus] / missing
    return float(value)


@called_rule
def end_value(game: GameRecord, h: HeuristicRecord, me: int) -> float:
    """Return the value of ending the game now, after the changes in `h.delta` (END-4)."""
    margin = h.standing[me] + h.delta[me] - best_other_standing(game, h, me)
    if margin == 0.0:
        return 0.0
    return float(margin + (WIN if margin > 0.0 else -WIN))


@called_rule
def stop_value(
    game: GameRecord, h: HeuristicRecord, me: int, district: int, declarer: int
) -> float:
    """Return the value to me of any seat's building stop (STOP-2 to STOP-6)."""
    skyscrapers = 0
    for plot in range(NUM_COLOURS):
        skyscrapers += int(game.floors[district, plot])
    value = 0.0
    for seat in range(game.num_players):
        now = district_vp(game, district, seat)
        vp = skyscrapers if seat == declarer else now // 2
        h.delta[seat] = float(vp - now)
        value += vp if seat == me else -h.rival[seat] * vp
    if game.stops + 1 >= MAX_STOPS:
        return end_value(game, h, me)
    return float(value - h.scorings * h.net[district] + h.push)


@called_rule
def building_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, seat: int, plot_value: float, limit: int
) -> float:
    """Return the value of the best number of skyscrapers up to `limit`, minus their value in the
    supply (AUC-10).
    """
    supply = int(game.supply[seat])
    best = 0.0
    for number in range(1, min(limit, supply) + 1):
        value = (
            number * plot_value - supply_value(w, h, supply) + supply_value(w, h, supply - number)
        )
        best = max(best, value)
    return best


@called_rule
def drawn_cards(game: GameRecord, h: HeuristicRecord, me: int, district: int) -> float:
    """Return my black cards by scoring a district, minus those of the others (SCO-3)."""
    cards = 2.0 if h.plot[district, me] != NONE else 3.0
    for seat in range(game.num_players):
        if seat != me and h.plot[district, seat] == NONE:
            cards -= h.rival[seat]
    return cards


# ---- businesses ----


@called_rule
def best_business(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, business: int
) -> float:
    """Return the value of a business on the best plot (BUS-2)."""
    best = NEVER
    for district in range(NUM_DISTRICTS):
        for position in range(ring_size(game)):
            if h.room[district, game.ring[district, position]] > 0:
                best = max(best, business_value(game, w, h, me, district, position, business))
    return best


@called_rule
def business_value(
    game: GameRecord,
    w: WeightsRecord,
    h: HeuristicRecord,
    me: int,
    district: int,
    position: int,
    business: int,
) -> float:
    """Return the value of a business at a position of a district's ring (BUS-2 to BUS-5)."""
    for seat in range(MAX_PLAYERS):
        h.delta[seat] = 0.0
    plot = int(game.ring[district, position])
    value = neighbour_value(game, w, h, me, district, position, -1, business)
    value += neighbour_value(game, w, h, me, district, position, 1, business)
    if game.placed + 1 == BUSINESSES_TO_PLACE:
        return end_value(game, h, me)
    if game.placed + 2 == BUSINESSES_TO_PLACE:
        value += w.brink * end_value(game, h, me)
    if plot < NUM_COLOURS and h.types[district, plot] == 0:
        value += block_value(game, w, h, me, district) + h.filling[district]
    if (game.placed + 1) % BONUS_EVERY == 0:
        bonus = int(game.placed) // BONUS_EVERY
        for seat in range(game.num_players):
            vp = bonus_vp(game, seat, bonus)
            value += w.bonus * (vp if seat == me else -h.rival[seat] * vp)
    return float(value + h.push)


@called_rule
def neighbour_value(
    game: GameRecord,
    w: WeightsRecord,
    h: HeuristicRecord,
    me: int,
    district: int,
    position: int,
    step: int,
    business: int,
) -> float:
    """Return the value of a business to the skyscrapers on one adjacent plot (SCO-2)."""
    plot = neighbour(game, district, position, step)
    if plot >= NUM_COLOURS:
        return 0.0
    owner = int(game.owner[district, plot])
    if owner in (NONE, ALEA):
        return 0.0
    target = int(game.ring[district, position])
    beyond = neighbour(game, district, position, 2 * step)
    types = int(h.types[district, target]) | int(h.types[district, beyond]) | (1 << business)
    before = int(game.value[district, plot])
    after = int(PLOT_VALUE[count_types(types)])
    room = int(h.room[district, target]) + int(h.room[district, beyond])
    floors = int(game.floors[district, plot])
    h.delta[owner] += floors * (after - before)
    rise = grown_value(w, h, after, room - 1) - grown_value(w, h, before, room)
    value = (floors + w.more * h.left) * h.scorings * rise
    return float(value if owner == me else -h.rival[owner] * value)


@called_rule
def block_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, district: int
) -> float:
    """Return the value of filling an empty plot, which denies it to seats without presence there
    (AUC-5).
    """
    mine = h.plot[district, me] != NONE
    value = 0.0
    for seat in range(game.num_players):
        if seat != me and (h.plot[district, seat] != NONE) != mine:
            value += h.rival[seat] * (w.block if mine else -w.block)
    return value


# ---- coloured cards ----


@called_rule
def card_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, colour: int
) -> float:
    """Return the value of a stack's visible card by its points, its limit, and the plots of its
    colour (TURN-4).
    """
    rank = int(game.top[colour])
    fit = 0.0
    for district in range(NUM_DISTRICTS):
        if is_open_to(game, h, me, district, colour):
            fit += h.value[district, colour] * nearness(game, district, w.far)
    value = h.point * (rank + LOWEST_CARD) + w.low * BUILD_LIMIT[rank] + w.fit * h.left * fit
    return float(value + w.synergy * h.points[me, colour] / UNKNOWN_POINTS)


@called_rule
def second_card_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, first: int
) -> float:
    """Return the value of the best second card after one of a colour, or 0 (TURN-4)."""
    best = 0.0
    for colour in range(first + 1, NUM_COLOURS):
        if game.top[colour] != NONE:
            best = max(best, card_value(game, w, h, me, colour))
    return best


@called_rule
def best_pair_value(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> float:
    """Return the value of the best two visible cards (TURN-4)."""
    best = 0.0
    for colour in range(NUM_COLOURS):
        if game.top[colour] != NONE:
            value = card_value(game, w, h, me, colour) + second_card_value(game, w, h, me, colour)
            best = max(best, value)
    return best


# ---- commissioners ----


@called_rule
def move_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, commissioner: int, place: int
) -> float:
    """Return the value of a move by the scorings that it offers or removes, and the auctions that
    it starts or prepares (MOVE-2 to MOVE-4).
    """
    origin = int(game.place[commissioner])
    value = scorings_value(game, w, h, me, commissioner, place)
    if place < NUM_DISTRICTS:
        return float(value + w.lead * h.auction[place])
    auctions = h.auction[CENTRAL_PARK]
    for i in range(game.markers[commissioner]):
        auctions += h.auction[game.visited[commissioner, i]]
    if place == CITY_HALL:
        return float(value + w.call * auctions)
    if origin < NUM_DISTRICTS:
        auctions += h.auction[origin]
    return float(value + w.near * auctions)


@called_rule
def scorings_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, commissioner: int, place: int
) -> float:
    """Return the value of scorings that a commissioner's move offers, minus those that it removes
    (SCO-1).

    Greedy adds the places' values; the appraiser values both commissioners' places together.
    """
    other = int(game.place[1 - commissioner])
    if w.appraises:
        return float(places_value(game, w, h, me, place, other) - h.places)
    origin = int(game.place[commissioner])
    value = 0.0
    if origin != other:
        value -= place_value(game, w, h, me, origin)
    if place != other:
        value += place_value(game, w, h, me, place)
    return value


@called_rule
def place_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, place: int
) -> float:
    """Return the value to me of a commissioner in a place, where it allows scoring (SCO-1)."""
    if place >= NUM_DISTRICTS:
        return 0.0
    value = w.stand_own * max(h.net[place], 0.0)
    for seat in range(game.num_players):
        if seat != me:
            value -= w.stand_other * h.rival[seat] * scoring_threat(game, seat, place)
    return float(value)


@called_rule
def places_value(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, first: int, second: int
) -> float:
    """Return the value to me of the scorings at two commissioners' places (SCO-1).

    Each other seat takes its better one and leaves me at least the worse one.
    """
    mine = max(h.net[first], 0.0) if first < NUM_DISTRICTS else 0.0
    other = max(h.net[second], 0.0) if second < NUM_DISTRICTS and second != first else 0.0
    value = w.stand_own * max(mine, other) + w.stand_both * min(mine, other)
    for seat in range(game.num_players):
        if seat != me:
            threat = scoring_threat(game, seat, first)
            if second != first:
                further = scoring_threat(game, seat, second)
                threat = max(threat, further) + w.second * min(threat, further)
            value -= w.stand_other * h.rival[seat] * threat
    return float(value)


@called_rule
def scoring_threat(game: GameRecord, seat: int, place: int) -> float:
    """Return a seat's VP gain over the others' mean by scoring a place, at least 0 (SCO-2)."""
    if place >= NUM_DISTRICTS:
        return 0.0
    players = int(game.num_players)
    vp = float(district_vp(game, place, seat))
    for third in range(players):
        if third != seat:
            vp -= district_vp(game, place, third) / (players - 1)
    return max(vp, 0.0)
